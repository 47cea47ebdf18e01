"""The expenses app."""

from typing import Any, ClassVar

from hexathlon.tasks.gui.world.kit.dates import month_text
from hexathlon.tasks.gui.world.kit.events import do, go, put
from hexathlon.tasks.gui.world.kit.widgets import (
    AppPage,
    BarAction,
    Button,
    Card,
    Chips,
    Choice,
    Columns,
    DateField,
    IconButton,
    ListRow,
    ListView,
    Picture,
    ScreenWidget,
    Select,
    Tabs,
    TextField,
    TextLabel,
    Toggle,
)
from hexathlon.tasks.gui.world.phone.app import ContentDraws, PhoneApp
from hexathlon.tasks.gui.world.phone.context import AppActs, AppView
from hexathlon.tasks.gui.world.phone.core import PhoneRow
from hexathlon.tasks.gui.world.phone.money import cents_of, cents_text, plain_cents

__all__ = ["EXPENSE_CATEGORIES", "ExpensesApp"]

EXPENSE_CATEGORIES = ("food", "groceries", "transport", "health", "shopping", "leisure", "travel")
_ICONS = {"food": "cake", "groceries": "cart", "transport": "map", "health": "heart",
          "shopping": "shop", "leisure": "music", "travel": "airplane"}  # fmt: skip
_THINGS = (
    ("Lunch with {p}|和{p}的午餐", "food"), ("Team coffee|团队咖啡", "food"),
    ("Sandwiches|三明治", "food"), ("Weekly shop|每周采购", "groceries"),
    ("Fruit and milk|水果和牛奶", "groceries"), ("Market visit|赶集", "groceries"),
    ("Taxi to the station|打车去车站", "transport"),
    ("Taxi from the station|打车离站", "transport"),
    ("Day ticket|一日票", "transport"), ("Parking|停车费", "transport"),
    ("Cold medicine|感冒药", "health"), ("Plasters|创可贴", "health"),
    ("Dentist share|牙医自费", "health"), ("Gift for {p}|给{p}的礼物", "shopping"),
    ("Printer paper|打印纸", "shopping"), ("Winter gloves|冬季手套", "shopping"),
    ("Cinema with {p}|和{p}看电影", "leisure"), ("Museum|博物馆", "leisure"),
    ("Swimming|游泳", "leisure"), ("Hotel night|酒店住宿", "travel"),
    ("Luggage locker|行李寄存", "travel"), ("City tax|城市税", "travel"),
    ("Guide book|旅行指南", "travel"), ("Breakfast rolls|早餐面包", "food"),
)  # fmt: skip


class ExpensesApp(PhoneApp):
    """Expenses and budgets."""

    name: ClassVar[str] = "expenses"
    icon: ClassVar[str] = "receipt"
    colour = (150, 78, 160)
    tables = {"entries": (), "budgets": (), "prefs": ()}
    receives = {"file": "edit", "text": "edit"}

    def seed(self, draws: ContentDraws) -> None:
        """Draw entries of three months, some of which look alike, and budgets."""
        side = 1 if draws.language == "zh" else 0
        people = draws.rows("contacts.contacts")
        things = draws.own(_THINGS)
        found = []
        for _ in range(16 + 12 * draws.scale):
            text, category = draws.pick(things)
            title = text.split("|")[side].format(p=draws.pick(people)["name"])
            found.append({"title": title, "category": category,
                          "amount": draws.between(180, 7900), "note": "", "receipt": "",
                          "day": draws.day(-draws.between(0, 25 + 15 * draws.scale)),
                          "method": "cash" if draws.chance(0.4) else "card"})  # fmt: skip
        for row in sorted(found, key=lambda row: str(row["day"])):
            draws.add("entries", **row)
        for name in EXPENSE_CATEGORIES:
            draws.add("budgets", id=name, limit=100 * draws.between(6, 40) * 10)
        for name, value in (("method", "card"), ("warn", True), ("cents", True)):
            draws.add("prefs", id=name, value=value)

    # Screens -----------------------------------------------------------------------------------

    def screen_home(self, view: AppView) -> ScreenWidget:
        """The entries of a month, their sums by category, or budgets."""
        tab = view.value("tab", "entries")
        month = view.value("month", view.today.isoformat()[:7])
        rows = [row for row in view.rows("entries") if row["day"][:7] == month]
        total = sum(row["amount"] for row in rows)
        head = Card([
            Columns((
                IconButton("left", view("earlier"), put("month", _month(month, -1))),
                TextLabel(month_text(int(month[:4]), int(month[5:]), view.language), "title",
                          centre=True),
                IconButton("right", view("later"), put("month", _month(month, 1))),
            ), (1, 4, 1)),
            TextLabel(cents_text(total, view.language), "big", centre=True),
        ])  # fmt: skip
        body = {"entries": self._entries, "sums": self._sums, "budgets": self._budgets}[tab]
        tabs = Tabs([Choice(view(f"tab_{name}"), put("tab", name), tab == name, icon)
                     for name, icon in (("entries", "list"), ("sums", "chart"),
                                        ("budgets", "flag"))])  # fmt: skip
        return AppPage(view("app_title"), [head, *body(view, rows)], [
            BarAction("search", view("search"), go("search")),
            BarAction("gear", view("settings"), go("settings"), rare=True),
        ], BarAction("plus", view("new_entry"), go("edit")), tabs, home=True)  # fmt: skip

    def _entries(self, view: AppView, rows: list[PhoneRow]) -> list[Any]:
        rows = sorted(rows, key=lambda row: (row["day"], row["id"]), reverse=True)
        return [ListView(rows, lambda row: _entry(view, row), view("nothing"))]

    def _sums(self, view: AppView, rows: list[PhoneRow]) -> list[Any]:
        sums = _by_category(rows)
        most = max(sums.values(), default=1)
        found: list[Any] = []
        for name, cents in sorted(sums.items(), key=lambda pair: -pair[1]):
            share = max(1, round(20 * cents / most))
            found.append(
                ListRow(
                    view(name),
                    "▇" * share,
                    go(
                        "category", name=name, month=view.value("month", view.today.isoformat()[:7])
                    ),
                    value=cents_text(cents, view.language),
                    icon=_ICONS[name],
                )
            )
        return found or [TextLabel(view("nothing"), "dim", centre=True)]

    def _budgets(self, view: AppView, rows: list[PhoneRow]) -> list[Any]:
        sums = _by_category(rows)
        found: list[Any] = []
        for row in view.rows("budgets"):
            spent = sums.get(row["id"], 0)
            over = _pref(view, "warn") and spent > row["limit"]
            state = view("over") if over else view(
                "left", amount=cents_text(max(0, row["limit"] - spent), view.language))  # fmt: skip
            found.append(ListRow(view(row["id"]), state, go("budget", name=row["id"]),
                                 value=cents_text(row["limit"], view.language), danger=bool(over),
                                 icon=_ICONS[row["id"]]))  # fmt: skip
        return found

    def screen_category(self, view: AppView) -> ScreenWidget:
        """The entries of a category in a month."""
        name, month = view.params["name"], view.params["month"]
        rows = [row for row in view.rows("entries")
                if row["category"] == name and row["day"][:7] == month]  # fmt: skip
        rows.sort(key=lambda row: (row["day"], row["id"]), reverse=True)
        return AppPage(view(name), [ListView(rows, lambda row: _entry(view, row),
                                             view("nothing"))])  # fmt: skip

    def screen_search(self, view: AppView) -> ScreenWidget:
        """Entries by title, note or amount, optionally in one category."""
        wanted = str(view.value("query")).casefold().strip()
        chosen = view.value("category", "")
        rows = [row for row in view.rows("entries") if (wanted or chosen)
                and chosen in ("", row["category"]) and (
                    wanted in row["title"].casefold() or wanted in row["note"].casefold()
                    or wanted in plain_cents(row["amount"]))]  # fmt: skip
        rows.sort(key=lambda row: (row["day"], row["id"]), reverse=True)
        chips = [Choice(view(name), put("category", "" if chosen == name else name),
                        chosen == name) for name in EXPENSE_CATEGORIES]  # fmt: skip
        shown = wanted or chosen
        total = sum(row["amount"] for row in rows)
        return AppPage(view("search"), [
            Chips(chips),
            TextLabel(view("sum", amount=cents_text(total, view.language)), "dim")
            if rows else None,
            ListView(rows, lambda row: _entry(view, row), view("nothing") if shown else ""),
        ], search=TextField("query", view("search"), kind="search"))  # fmt: skip

    def screen_entry(self, view: AppView) -> ScreenWidget:
        """One entry."""
        row = view.row("entries", view.params["id"])
        if row is None:
            return AppPage(view("entry"), [TextLabel(view("nothing"), "dim")])
        receipt = next((photo for photo in view.rows("gallery.photos")
                        if row["receipt"] and photo["name"] == row["receipt"]), None)  # fmt: skip
        return AppPage(
            view("entry"),
            [
                TextLabel(row["title"], "title"),
                TextLabel(cents_text(row["amount"], view.language), "big"),
                ListRow(view("category"), view(row["category"]), icon=_ICONS[row["category"]]),
                ListRow(view("day"), view.day(row["day"]), icon="calendar"),
                ListRow(view("method"), view(row["method"]), icon="card"),
                ListRow(view("note"), row["note"], lines=3) if row["note"] else None,
                ListRow(view("receipt"), row["receipt"] or view("none"), icon="attach"),
                Picture(("receipt", receipt["art"], *receipt["lines"]), 260, row["receipt"])
                if receipt
                else None,
            ],
            [
                BarAction("edit", view("edit"), go("edit", id=row["id"])),
                BarAction("share", view("share"), do("share", id=row["id"]), rare=True),
                BarAction("repeat", view("copy"), do("copy", id=row["id"]), rare=True),
                BarAction("delete", view("delete"), do("ask_delete", id=row["id"]), rare=True),
            ],
        )

    def screen_edit(self, view: AppView) -> ScreenWidget:
        """The entry form, which also receives shared files and texts."""
        key = view.params.get("id")
        row = (view.row("entries", key) if key else None) or _new(view)
        categories = [(name, view(name)) for name in EXPENSE_CATEGORIES]
        receipt = view.value("receipt", row["receipt"])
        return AppPage(view("edit" if key else "new_entry"), [
            TextField("title", view("title"), row["title"]),
            TextField("amount", view("amount"), plain_cents(row["amount"]) if row["amount"] else "",
                      kind="number"),
            Select("category", view("category"), categories, row["category"]),
            DateField("day", view("day"), row["day"]),
            Select("method", view("method"), [(name, view(name)) for name in ("card", "cash")],
                   row["method"]),
            TextField("note", view("note"), row["note"], multiline=True),
            ListRow(view("receipt"), receipt or view("none"), icon="attach", trailing=IconButton(
                "close", view("remove_receipt"), put("receipt", "")) if receipt else None),
        ], [BarAction("check", view("save"), do("save", id=key))])  # fmt: skip

    def screen_budget(self, view: AppView) -> ScreenWidget:
        """The budget form."""
        name = view.params["name"]
        row = view.row("budgets", name)
        return AppPage(view("budget"), [
            TextLabel(view(name), "title"),
            TextField("limit", view("limit"), plain_cents(row["limit"]) if row else "",
                      kind="number"),
            Button(view("save"), do("budget", name=name)),
        ])  # fmt: skip

    def screen_settings(self, view: AppView) -> ScreenWidget:
        """Settings of the app."""
        return AppPage(view("settings"), [
            Select("method", view("usual"), [(name, view(name)) for name in ("card", "cash")],
                   _pref(view, "method"), do("set", name="method")),
            Toggle(view("warn"), _pref(view, "warn"),
                   do("set", name="warn", value=not _pref(view, "warn"))),
        ])  # fmt: skip

    # Handlers ----------------------------------------------------------------------------------

    def do_set(self, acts: AppActs, name: str, value: Any) -> None:
        """Change a setting."""
        acts.change("prefs", name, value=value)

    def do_save(self, acts: AppActs, id: int | None) -> None:
        """Store the form, if it has a title, an amount and a category."""
        row = (acts.row("entries", id) if id else None) or _new(acts)
        values = {
            name: str(acts.value(name, row[name])).strip()
            for name in ("title", "category", "day", "method", "note", "receipt")
        }
        shown = acts.value("amount", plain_cents(row["amount"]) if row["amount"] else "")
        amount = cents_of(str(shown))
        if not values["title"]:
            acts.toast(acts("title_missing"))
        elif amount is None:
            acts.toast(acts("amount_wrong"))
        elif not values["category"]:
            acts.toast(acts("category_missing"))
        elif values["day"] > acts.today.isoformat():
            acts.toast(acts("day_wrong"))
        else:
            acts.back()
            if id:
                acts.change("entries", id, **values, amount=amount)
            else:
                acts.add("entries", **values, amount=amount)
            acts.toast(acts("saved"))

    def do_budget(self, acts: AppActs, name: str) -> None:
        """Store a budget."""
        row = acts.row("budgets", name)
        limit = cents_of(str(acts.value("limit", plain_cents(row["limit"]) if row else "")))
        if limit is None:
            acts.toast(acts("amount_wrong"))
            return
        acts.back()
        acts.change("budgets", name, limit=limit)
        acts.toast(acts("saved"))

    def do_copy(self, acts: AppActs, id: int) -> None:
        """Open the form for a new entry like this one, dated today."""
        row = acts.row("entries", id)
        if row is not None:
            acts.go("edit", title=row["title"], amount=row["amount"], category=row["category"],
                    method=row["method"])  # fmt: skip

    def do_share(self, acts: AppActs, id: int) -> None:
        """Share an entry as text."""
        row = acts.row("entries", id)
        if row is not None:
            acts.share(row["title"], f"{row['title']} {cents_text(row['amount'], acts.language)} "
                                     f"{row['day']}")  # fmt: skip

    def do_ask_delete(self, acts: AppActs, id: int) -> None:
        """Ask before an entry is deleted."""
        row = acts.row("entries", id)
        acts.confirm(acts("delete_question"), do("delete", id=id), acts("delete"),
                     row["title"] if row else "")  # fmt: skip

    def do_delete(self, acts: AppActs, id: int) -> None:
        """Delete an entry."""
        acts.remove("entries", id)
        if acts.screen.name == "entry":
            acts.back()
        acts.toast(acts("deleted"))


def _new(view: AppView) -> dict[str, Any]:
    """Return the columns of a new entry, from the values that another screen or app passed."""
    given = view.params
    return {"title": given.get("title", ""), "amount": given.get("amount", 0),
            "category": given.get("category", ""),
            "day": given.get("day", view.today.isoformat()),
            "method": given.get("method", _pref(view, "method")), "note": given.get("text", ""),
            "receipt": given.get("file", "")}  # fmt: skip


def _pref(view: AppView, name: str) -> Any:
    row = view.row("prefs", name)
    return row["value"] if row else None


def _entry(view: AppView, row: PhoneRow) -> ListRow:
    detail = f"{view.short_day(row['day'])} · {view(row['category'])} · {view(row['method'])}"
    return ListRow(row["title"], detail, go("entry", id=row["id"]),
                   value=cents_text(row["amount"], view.language), icon=_ICONS[row["category"]],
                   swipe_left=do("ask_delete", id=row["id"]))  # fmt: skip


def _by_category(rows: list[PhoneRow]) -> dict[str, int]:
    sums: dict[str, int] = {}
    for row in rows:
        sums[row["category"]] = sums.get(row["category"], 0) + row["amount"]
    return sums


def _month(month: str, by: int) -> str:
    number = int(month[:4]) * 12 + int(month[5:]) - 1 + by
    return f"{number // 12}-{number % 12 + 1:02d}"
