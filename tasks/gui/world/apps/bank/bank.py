"""The bank app."""

from typing import Any, ClassVar

from hexathlon.tasks.gui.world.apps.bank.content import seed_bank
from hexathlon.tasks.gui.world.kit.events import do, go, open_app, put
from hexathlon.tasks.gui.world.kit.widgets import (
    AppPage,
    BarAction,
    Button,
    Card,
    Chips,
    Choice,
    Columns,
    Divider,
    Heading,
    ListRow,
    ListView,
    ScreenWidget,
    Select,
    Slider,
    Tabs,
    TextField,
    TextLabel,
    Toggle,
)
from hexathlon.tasks.gui.world.phone.app import ContentDraws, PhoneApp
from hexathlon.tasks.gui.world.phone.context import AppActs, AppView
from hexathlon.tasks.gui.world.phone.core import PhoneRow
from hexathlon.tasks.gui.world.phone.money import cents_of, cents_text, plain_cents

__all__ = ["BANK_REASONS", "BankApp"]

BANK_REASONS = ("unknown", "amount", "twice", "returned")
"""Reasons for disputing an entry."""

_KINDS = ("all", "card", "transfer", "in")


class BankApp(PhoneApp):
    """Accounts and payments."""

    name: ClassVar[str] = "bank"
    icon: ClassVar[str] = "bank"
    colour = (24, 92, 84)
    tables = {"accounts": (), "entries": (), "payees": (), "standing": (), "cards": (),
              "prefs": ()}  # fmt: skip

    def seed(self, draws: ContentDraws) -> None:
        """Draw accounts, several months of entries, payees, standing orders and cards."""
        seed_bank(draws)

    # Screens -----------------------------------------------------------------------------------

    def screen_home(self, view: AppView) -> ScreenWidget:
        """Accounts, payments or cards."""
        tab = view.value("tab", "accounts")
        tabs = Tabs([
            Choice(view("accounts"), put("tab", "accounts"), tab == "accounts", "bank"),
            Choice(view("payments"), put("tab", "payments"), tab == "payments", "send"),
            Choice(view("cards"), put("tab", "cards"), tab == "cards", "card"),
        ])  # fmt: skip
        children = {"accounts": self._accounts, "payments": self._payments,
                    "cards": self._cards}[tab](view)  # fmt: skip
        actions = [BarAction("search", view("search"), go("search")),
                   BarAction("gear", view("settings"), go("settings"), rare=True)]  # fmt: skip
        return AppPage(
            view("app_title"),
            children,
            actions,
            BarAction("plus", view("transfer"), go("transfer")),
            tabs,
            home=True,
        )

    def _accounts(self, view: AppView) -> list[Any]:
        hidden = _pref(view, "hide_balances")
        rows: list[Any] = []
        for row in view.rows("accounts"):
            shown = "••••" if hidden else cents_text(row["balance"], view.language)
            rows.append(ListRow(row["name"], row["number"], go("account", id=row["id"]),
                                value=shown, icon="bank"))  # fmt: skip
        recent = sorted(view.rows("entries"), key=_newest, reverse=True)[:6]
        return [*rows, Heading(view("latest")), *(_entry_row(view, row) for row in recent)]

    def _payments(self, view: AppView) -> list[Any]:
        names = {row["id"]: row["name"] for row in view.rows("payees")}
        rows: list[Any] = [
            ListRow(
                view("payees"),
                view.say("People and firms you pay", "您付款的个人和公司"),
                go("payees"),
                icon="group",
            ),
            Heading(view("standing")),
        ]
        for row in view.rows("standing"):
            day = view.say(f"Day {row['day']} of each month", f"每月{row['day']}日")
            state = "" if row["active"] else f" · {view('paused')}"
            rows.append(ListRow(names.get(row["payee"], ""), f"{row['reference']} · {day}{state}",
                                go("order", id=row["id"]),
                                value=cents_text(row["amount"], view.language)))  # fmt: skip
        rows.append(Button(view("new_order"), go("edit_order"), "outlined"))
        return rows

    def _cards(self, view: AppView) -> list[Any]:
        return [ListRow(row["name"], f"•••• {row['last']}", go("card", id=row["id"]), icon="card",
                        value=view("frozen") if row["frozen"] else "")
                for row in view.rows("cards")]  # fmt: skip

    def screen_account(self, view: AppView) -> ScreenWidget:
        """The entries of one account."""
        account = view.row("accounts", view.params["id"])
        if account is None:
            return AppPage(view("accounts"), [TextLabel(view("nothing"), "dim")])
        kind = view.value("kind", "all")
        rows = [row for row in view.rows("entries")
                if row["account"] == account["id"] and _of_kind(row, kind)]  # fmt: skip
        rows.sort(key=_newest, reverse=True)
        chips = Chips([Choice(view(f"kind_{each}"), put("kind", each), kind == each)
                       for each in _KINDS])  # fmt: skip
        balance = "••••" if _pref(view, "hide_balances") else cents_text(
            account["balance"], view.language)  # fmt: skip
        return AppPage(account["name"], [
            Card([TextLabel(account["number"], "dim"), TextLabel(balance, "big")]), chips,
            ListView(rows, lambda row: _entry_row(view, row), view("nothing")),
        ], [BarAction("search", view("search"), go("search"))],
            BarAction("plus", view("transfer"), go("transfer", account=account["id"])))  # fmt: skip

    def screen_entry(self, view: AppView) -> ScreenWidget:
        """One entry."""
        row = view.row("entries", view.params["id"])
        if row is None:
            return AppPage(view("entry"), [TextLabel(view("nothing"), "dim")])
        account = view.row("accounts", row["account"])
        amount = cents_text(row["amount"], view.language)
        sent = _of_kind(row, "transfer")
        kind = "in" if row["kind"] == "transfer" and not sent else row["kind"]
        parts: list[Any] = [
            TextLabel(row["title"], "title"), TextLabel(amount, "big"),
            ListRow(view("booked"), view.day(row["day"])),
            ListRow(view("account"), account["name"] if account else ""),
            ListRow(view("kind"), view(f"kind_{kind}")),
            ListRow(view("reference"), row["reference"] or "–"),
            ListRow(view("note"), row["note"] or view("none"), go("note", id=row["id"]),
                    icon="edit"),
        ]  # fmt: skip
        if row["disputed"]:
            parts.append(TextLabel(f"{view('disputed')}: {view('reason_' + row['disputed'])}",
                                   "error"))  # fmt: skip
            parts.append(Button(view("withdraw"), do("withdraw", id=row["id"]), "outlined"))
        elif row["kind"] == "card":
            parts.append(Button(view("dispute"), go("dispute", id=row["id"]), "outlined"))
        actions = [
            BarAction("share", view("share"), do("share", id=row["id"])),
            BarAction("receipt", view("as_expense"), open_app(
                "expenses", "edit", title=row["title"], amount=-row["amount"], day=row["day"]),
                rare=True),
        ]  # fmt: skip
        if sent:
            actions.append(BarAction("repeat", view("pay_again"), do("again", id=row["id"]),
                                     rare=True))  # fmt: skip
        return AppPage(view("entry"), parts, actions)

    def screen_note(self, view: AppView) -> ScreenWidget:
        """The user's note on an entry."""
        row = view.row("entries", view.params["id"]) or {"note": ""}
        return AppPage(
            view("note"),
            [TextField("note", view("note"), row["note"])],
            [BarAction("check", view("save"), do("note", id=view.params["id"]))],
        )

    def screen_dispute(self, view: AppView) -> ScreenWidget:
        """Dispute of a card payment."""
        row = view.row("entries", view.params["id"]) or {"title": "", "amount": 0}
        reasons = [(name, view(f"reason_{name}")) for name in BANK_REASONS]
        return AppPage(view("dispute"), [
            TextLabel(row["title"], "title"), TextLabel(cents_text(row["amount"], view.language)),
            Select("reason", view("reason"), reasons, ""),
            Toggle(view("freeze_card"), False, key="freeze"),
            Button(view("send_dispute"), do("dispute", id=view.params["id"])),
        ])  # fmt: skip

    def screen_transfer(self, view: AppView) -> ScreenWidget:
        """The transfer form."""
        accounts = [(str(row["id"]), f"{row['name']} · {cents_text(row['balance'], view.language)}")
                    for row in view.rows("accounts")]  # fmt: skip
        payees = [
            (str(row["id"]), f"{row['name']} · {row['number'][-4:]}")
            for row in sorted(view.rows("payees"), key=lambda row: str(row["name"]))
        ]
        return AppPage(view("transfer"), [
            Select("from", view("from"), accounts, str(view.params.get("account", 1))),
            Select("payee", view("payee"), payees, str(view.params.get("payee", ""))),
            TextField("amount", view("amount"), str(view.params.get("amount", "")),
                      kind="number"),
            TextField("reference", view("reference"), str(view.params.get("reference", ""))),
            Button(view("continue"), do("check_transfer")),
        ])  # fmt: skip

    def screen_payees(self, view: AppView) -> ScreenWidget:
        """The payees."""
        wanted = str(view.value("query")).casefold().strip()
        rows = sorted((row for row in view.rows("payees") if wanted in row["name"].casefold()
                       or wanted in row["number"]), key=lambda row: str(row["name"]))  # fmt: skip
        return AppPage(view("payees"), [ListView(rows, lambda row: ListRow(
            row["name"], row["number"], go("payee", id=row["id"]), avatar=row["name"],
            swipe_left=do("ask_remove", id=row["id"])), view("nothing"))],
            create=BarAction("plus", view("new_payee"), go("payee")),
            search=TextField("query", view("search"), kind="search"))  # fmt: skip

    def screen_payee(self, view: AppView) -> ScreenWidget:
        """The payee form."""
        key = view.params.get("id")
        row = (view.row("payees", key) if key else None) or {"name": "", "number": "", "nick": ""}
        actions = [BarAction("check", view("save"), do("save_payee", id=key))]
        if key:
            actions += [
                BarAction("send", view("pay"), go("transfer", payee=key), rare=True),
                BarAction("delete", view("delete"), do("ask_remove", id=key), rare=True),
            ]
        return AppPage(view("payee" if key else "new_payee"), [
            TextField("name", view("name"), row["name"]),
            TextField("number", view("account_number"), row["number"]),
            TextField("nick", view("nick"), row["nick"]),
        ], actions)  # fmt: skip

    def screen_order(self, view: AppView) -> ScreenWidget:
        """One standing order."""
        row = view.row("standing", view.params["id"])
        payee = view.row("payees", row["payee"]) if row else None
        if row is None or payee is None:
            return AppPage(view("order"), [TextLabel(view("nothing"), "dim")])
        return AppPage(
            view("order"),
            [
                TextLabel(payee["name"], "title"),
                TextLabel(cents_text(row["amount"], view.language), "big"),
                ListRow(view("reference"), row["reference"]),
                ListRow(view("month_day"), str(row["day"])),
                Toggle(view("active"), row["active"], do("pause", id=row["id"])),
            ],
            [
                BarAction("edit", view("edit"), go("edit_order", id=row["id"])),
                BarAction("delete", view("delete"), do("ask_cancel", id=row["id"]), rare=True),
            ],
        )

    def screen_edit_order(self, view: AppView) -> ScreenWidget:
        """The standing-order form."""
        key = view.params.get("id")
        row = view.row("standing", key) if key else None
        payees = [
            (str(each["id"]), f"{each['name']} · {each['number'][-4:]}")
            for each in sorted(view.rows("payees"), key=lambda each: str(each["name"]))
        ]
        return AppPage(view("edit" if key else "new_order"), [
            Select("payee", view("payee"), payees, str(row["payee"]) if row else ""),
            TextField("amount", view("amount"), plain_cents(row["amount"]) if row else "",
                      kind="number"),
            TextField("reference", view("reference"), row["reference"] if row else ""),
            Select("day", view("month_day"), [(str(day), str(day)) for day in range(1, 29)],
                   str(row["day"]) if row else "1"),
        ], [BarAction("check", view("save"), do("save_order", id=key))])  # fmt: skip

    def screen_card(self, view: AppView) -> ScreenWidget:
        """One card with its limits."""
        row = view.row("cards", view.params["id"])
        if row is None:
            return AppPage(view("cards"), [TextLabel(view("nothing"), "dim")])
        key = row["id"]
        return AppPage(row["name"], [
            Card([TextLabel(f"•••• {row['last']}", "title"),
                  Columns((TextLabel(view("valid"), "dim"), TextLabel(row["valid"])))]),
            Toggle(view("freeze"), row["frozen"], do("card", id=key, column="frozen")),
            Toggle(view("online"), row["online"], do("card", id=key, column="online")),
            Toggle(view("abroad"), row["abroad"], do("card", id=key, column="abroad")),
            Divider(),
            Slider("limit", view("daily_limit"), row["limit"], 100, 2000, 100,
                   do("limit", id=key)),
            TextLabel(view.say(f"${row['limit']} a day", f"每天¥{row['limit']}"), "dim"),
        ])  # fmt: skip

    def screen_search(self, view: AppView) -> ScreenWidget:
        """Entries by name, reference, note or amount."""
        wanted = str(view.value("query")).casefold().strip()
        rows = [row for row in view.rows("entries") if wanted and any(
            wanted in text.casefold() for text in
            (row["title"], row["reference"], row["note"], plain_cents(row["amount"])))]  # fmt: skip
        rows.sort(key=_newest, reverse=True)
        return AppPage(view("search"), [ListView(rows, lambda row: _entry_row(view, row),
                                                 view("nothing") if wanted else "")],
                       search=TextField("query", view("search"), kind="search"))  # fmt: skip

    def screen_settings(self, view: AppView) -> ScreenWidget:
        """Settings of the app."""
        return AppPage(view("settings"), [
            Toggle(view(name), bool(_pref(view, name)),
                   do("set", name=name, value=not _pref(view, name)))
            for name in ("hide_balances", "notify_card", "monthly_mail")
        ])  # fmt: skip

    # Handlers ----------------------------------------------------------------------------------

    def do_set(self, acts: AppActs, name: str, value: Any) -> None:
        """Change a setting."""
        acts.change("prefs", name, value=value)

    def do_note(self, acts: AppActs, id: int) -> None:
        """Store a note on an entry."""
        text = _form(acts, "entries", id, "note")
        acts.back()
        acts.change("entries", id, note=text)
        acts.toast(acts("saved"))

    def do_share(self, acts: AppActs, id: int) -> None:
        """Share an entry as text."""
        row = acts.row("entries", id)
        if row is not None:
            acts.share(row["title"], f"{row['title']} {cents_text(row['amount'], acts.language)} "
                                     f"{row['day']}")  # fmt: skip

    def do_again(self, acts: AppActs, id: int) -> None:
        """Open a transfer form with the values of an earlier transfer."""
        row = acts.row("entries", id)
        if row is not None:
            payee = next((each["id"] for each in acts.rows("payees")
                          if each["name"] == row["title"]), "")  # fmt: skip
            acts.go("transfer", account=row["account"], payee=payee,
                    amount=plain_cents(-row["amount"]), reference=row["reference"])  # fmt: skip

    def do_dispute(self, acts: AppActs, id: int) -> None:
        """Submit a dispute, if a reason was chosen."""
        reason = acts.value("reason")
        if not reason:
            acts.toast(acts("reason_missing"))
            return
        freeze = bool(acts.value("freeze", False))
        row = acts.row("entries", id)
        acts.back()
        acts.change("entries", id, disputed=reason)
        if freeze and row is not None:
            acts.change("cards", row["card"], frozen=True)
        acts.toast(acts("dispute_sent"))

    def do_withdraw(self, acts: AppActs, id: int) -> None:
        """Withdraw a dispute."""
        acts.change("entries", id, disputed="")

    def do_check_transfer(self, acts: AppActs) -> None:
        """Check the form, and ask for confirmation before money is sent."""
        account = acts.row("accounts", int(acts.value("from", acts.params.get("account", 1))))
        key = acts.value("payee", acts.params.get("payee", ""))
        amount = cents_of(str(acts.value("amount", acts.params.get("amount", ""))))
        payee = acts.row("payees", int(key)) if key else None
        if payee is None:
            acts.toast(acts("payee_missing"))
        elif amount is None:
            acts.toast(acts("amount_wrong"))
        elif account is None or amount > account["balance"]:
            acts.toast(acts("too_much"))
        else:
            reference = str(acts.value("reference", acts.params.get("reference", ""))).strip()
            event = do("send", account=account["id"], payee=payee["id"], amount=amount,
                       reference=reference)  # fmt: skip
            acts.confirm(acts("send_question", amount=cents_text(amount, acts.language),
                              name=payee["name"]), event, acts("send"),
                         f"{payee['number']} · {reference}")  # fmt: skip

    def do_send(self, acts: AppActs, account: int, payee: int, amount: int,
                reference: str) -> None:  # fmt: skip
        """Send money."""
        source, target = acts.row("accounts", account), acts.row("payees", payee)
        if source is None or target is None:
            return
        acts.add("entries", account=account, day=acts.today.isoformat(), title=target["name"],
                 amount=-amount, kind="transfer", reference=reference, note="", disputed="",
                 card=0, category="")  # fmt: skip
        acts.change("accounts", account, balance=source["balance"] - amount)
        acts.back()
        acts.toast(acts("sent"))

    def do_save_payee(self, acts: AppActs, id: int | None) -> None:
        """Store the payee form."""
        values = {name: _form(acts, "payees", id, name) for name in ("name", "number", "nick")}
        if not values["name"] or len(values["number"].replace(" ", "")) < 8:
            acts.toast(acts("payee_wrong"))
            return
        acts.back()
        if id:
            acts.change("payees", id, **values)
        else:
            acts.add("payees", **values)
        acts.toast(acts("saved"))

    def do_ask_remove(self, acts: AppActs, id: int) -> None:
        """Ask before a payee is removed; a payee with a standing order cannot be removed."""
        row = acts.row("payees", id)
        if any(order["payee"] == id for order in acts.rows("standing")):
            acts.toast(acts("payee_needed"))
        else:
            acts.confirm(acts("remove_question"), do("remove", id=id), acts("delete"),
                         row["name"] if row else "")  # fmt: skip

    def do_remove(self, acts: AppActs, id: int) -> None:
        """Remove a payee."""
        acts.remove("payees", id)
        acts.back_to("payees", "home")
        acts.toast(acts("deleted"))

    def do_save_order(self, acts: AppActs, id: int | None) -> None:
        """Store the standing-order form."""
        payee = str(_form(acts, "standing", id, "payee"))
        row = acts.row("standing", id) if id else None
        shown = acts.value("amount", plain_cents(row["amount"]) if row else "")
        amount = cents_of(str(shown))
        if not payee:
            acts.toast(acts("payee_missing"))
            return
        if amount is None:
            acts.toast(acts("amount_wrong"))
            return
        values = {"payee": int(payee), "amount": amount,
                  "reference": _form(acts, "standing", id, "reference"),
                  "day": int(_form(acts, "standing", id, "day") or 1)}  # fmt: skip
        acts.back()
        if id:
            acts.change("standing", id, **values)
        else:
            acts.add("standing", **values, account=1, active=True)
        acts.toast(acts("saved"))

    def do_pause(self, acts: AppActs, id: int) -> None:
        """Pause or resume a standing order."""
        row = acts.row("standing", id)
        acts.change("standing", id, active=not (row and row["active"]))

    def do_ask_cancel(self, acts: AppActs, id: int) -> None:
        """Ask before a standing order is deleted."""
        acts.confirm(acts("cancel_question"), do("cancel", id=id), acts("delete"))

    def do_cancel(self, acts: AppActs, id: int) -> None:
        """Delete a standing order."""
        acts.remove("standing", id)
        acts.back()
        acts.toast(acts("deleted"))

    def do_card(self, acts: AppActs, id: int, column: str) -> None:
        """Turn a feature of a card on or off."""
        row = acts.row("cards", id)
        acts.change("cards", id, **{column: not (row and row[column])})

    def do_limit(self, acts: AppActs, id: int, value: int) -> None:
        """Set the daily limit of a card."""
        acts.change("cards", id, limit=value)


def _pref(view: AppView, name: str) -> Any:
    row = view.row("prefs", name)
    return row["value"] if row else None


def _form(acts: AppActs, table: str, key: int | None, name: str) -> str:
    """Return a field of the form, or the row's value."""
    row = acts.row(table, key) if key else None
    return str(acts.value(name, row[name] if row else "")).strip()


def _newest(row: PhoneRow) -> tuple[str, int]:
    return row["day"], row["id"]


def _of_kind(row: PhoneRow, kind: str) -> bool:
    if kind == "in":
        return bool(row["amount"] > 0)
    return kind == "all" or bool(row["kind"] == kind and row["amount"] < 0)


def _entry_row(view: AppView, row: PhoneRow) -> ListRow:
    detail = view.short_day(row["day"])
    if row["reference"]:
        detail = f"{detail} · {row['reference']}"
    return ListRow(row["title"], detail, go("entry", id=row["id"]),
                   value=cents_text(row["amount"], view.language),
                   icon="flag" if row["disputed"] else "")  # fmt: skip
