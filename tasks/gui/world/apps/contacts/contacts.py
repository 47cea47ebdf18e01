"""The contacts app."""

from typing import Any, ClassVar

from hexathlon.tasks.gui.world.kit.events import do, go, open_app, put
from hexathlon.tasks.gui.world.kit.widgets import (
    AppPage,
    BarAction,
    Button,
    Choice,
    Columns,
    DateField,
    ListRow,
    ListView,
    ScreenWidget,
    Select,
    Spacer,
    Tabs,
    TextField,
    TextLabel,
)
from hexathlon.tasks.gui.world.phone.app import ContentDraws, PhoneApp
from hexathlon.tasks.gui.world.phone.context import AppActs, AppView
from hexathlon.tasks.gui.world.phone.core import PhoneRow
from hexathlon.tasks.gui.world.phone.people import draw_person

__all__ = ["GROUPS", "ContactsApp"]

GROUPS = ("family", "friends", "work", "services")
_FIELDS = ("name", "phone", "email", "company", "address", "birthday", "group", "note")

_COMPANIES = (
    "Aster Dental|爱思牙科", "Birch & Daughters|桦木家居", "Cobalt Freight|钴蓝货运",
    "Delft Printing|德尔印刷", "Everline Studio|长线工作室", "Foxglove Garden|毛地黄园艺",
    "Granite Legal|磐石律师所", "Hollow Oak School|空橡学校", "Inkwell Press|墨池出版社",
    "Juniper Clinic|杜松诊所", "Kite Software|风筝软件", "Lantern Theatre|灯笼剧院",
)  # fmt: skip
_STREETS = (
    "Almond Row|杏仁巷", "Bell Lane|钟楼路", "Canal Street|运河街", "Dove Court|白鸽里",
    "Elm Terrace|榆树台", "Fountain Road|喷泉路", "Glass Alley|玻璃巷", "Harbour Way|港湾道",
    "Iris Close|鸢尾里", "Juniper Hill|杜松坡", "Kiln Street|窑炉街", "Linden Walk|椴树道",
)  # fmt: skip
_NOTES = (
    "Met at the market|集市上认识", "Prefers calls after six|六点后打电话",
    "Allergic to nuts|对坚果过敏",
    "Has our spare key|有备用钥匙", "Moves in summer|夏天搬家", "Owes me a book|欠我一本书",
    "Speaks Italian|会意大利语", "Neighbour upstairs|楼上邻居",
)  # fmt: skip


class ContactsApp(PhoneApp):
    """People with their numbers and addresses."""

    name: ClassVar[str] = "contacts"
    icon: ClassVar[str] = "person"
    colour = (46, 125, 90)
    tables = {"contacts": ()}

    def seed(self, draws: ContentDraws) -> None:
        """Draw contacts, some of them relatives with nearly the same name."""
        names: set[str] = set()
        family = ""
        for _ in range(12 + 14 * draws.scale):
            person = draw_person(draws, family if draws.chance(0.2) else "")
            if person.name in names:
                continue
            names.add(person.name)
            family = person.family
            side = 1 if draws.language == "zh" else 0
            number = draws.between(2, 98)
            street = draws.pick(draws.own(_STREETS)).split("|")[side]
            draws.add(
                "contacts", name=person.name, phone=person.phone,
                email=person.email if draws.chance(0.8) else "",
                company=draws.pick(draws.own(_COMPANIES)).split("|")[side]
                if draws.chance(0.6) else "",
                address=draws.say(f"{number} {street}", f"{street}{number}号")
                if draws.chance(0.6) else "",
                birthday=f"{draws.between(1950, 2004)}-{draws.between(1, 12):02d}"
                         f"-{draws.between(1, 28):02d}" if draws.chance(0.5) else "",
                group=draws.pick(GROUPS) if draws.chance(0.8) else "",
                note=draws.pick(draws.own(_NOTES)).split("|")[side] if draws.chance(0.3) else "",
                starred=draws.chance(0.2),
            )  # fmt: skip

    # Screens -----------------------------------------------------------------------------------

    def screen_home(self, view: AppView) -> ScreenWidget:
        """All contacts, favourites, or those of a group."""
        tab = view.value("tab", "all")
        rows = sorted(view.rows("contacts"), key=lambda row: row["name"].casefold())
        children: list[Any]
        if tab == "groups":
            counts = {group: sum(row["group"] == group for row in rows) for group in GROUPS}
            children = [
                ListRow(view(group), on=go("group", group=group), value=str(counts[group]),
                        icon="group")
                for group in GROUPS
            ]  # fmt: skip
        else:
            shown = [row for row in rows if tab == "all" or row["starred"]]
            children = [ListView(shown, _row, view("nothing"))]
        tabs = Tabs([
            Choice(view("all"), put("tab", "all"), tab == "all", "person"),
            Choice(view("favourites"), put("tab", "favourites"), tab == "favourites", "star"),
            Choice(view("groups"), put("tab", "groups"), tab == "groups", "group"),
        ])  # fmt: skip
        return AppPage(
            view("app_title"),
            children,
            [BarAction("search", view("search"), go("search"))],
            BarAction("plus", view("new_contact"), go("edit")),
            tabs,
            home=True,
        )

    def screen_group(self, view: AppView) -> ScreenWidget:
        """The contacts of a group."""
        group = view.params["group"]
        rows = [row for row in view.rows("contacts") if row["group"] == group]
        rows.sort(key=lambda row: row["name"].casefold())
        return AppPage(view(group), [ListView(rows, _row, view("nothing"))])

    def screen_search(self, view: AppView) -> ScreenWidget:
        """Contacts by any of their data."""
        wanted = view.value("query").casefold().strip()
        rows = [
            row for row in view.rows("contacts")
            if wanted and any(wanted in str(row[name]).casefold() for name in _FIELDS)
        ]  # fmt: skip
        rows.sort(key=lambda row: row["name"].casefold())

        def build(row: PhoneRow) -> ListRow:
            shown = ("name", "phone")
            if any(wanted in row[name].casefold() for name in shown):
                return _row(row)
            why = next(str(row[name]) for name in _FIELDS if wanted in str(row[name]).casefold())
            return _row(row)._replace(detail=why.replace("\n", " "))

        return AppPage(view("search"), [ListView(rows, build, view("nothing") if wanted else "")],
                    search=TextField("query", view("search"), kind="search"))  # fmt: skip

    def screen_contact(self, view: AppView) -> ScreenWidget:
        """One contact."""
        row = view.row("contacts", view.params["id"])
        if row is None:
            return AppPage(view("app_title"), [TextLabel(view("nothing"), "dim")])
        facts: list[Any] = []
        for name, icon in (("phone", "phone"), ("email", "mail"), ("company", "work"),
                           ("address", "place"), ("birthday", "cake"), ("group", "group"),
                           ("note", "note")):  # fmt: skip
            value = row[name]
            if value:
                if name == "birthday":
                    value = view.day(value)
                elif name == "group":
                    value = view(value)
                facts.append(ListRow(value, view(name), icon=icon))
        star = view("unstar" if row["starred"] else "star")
        actions = [
            BarAction("star!" if row["starred"] else "star", star, do("star", id=row["id"])),
            BarAction("edit", view("edit"), go("edit", id=row["id"])),
            BarAction("share", view("share"), do("share", id=row["id"]), rare=True),
            BarAction("delete", view("delete"), do("ask_delete", id=row["id"]), rare=True),
        ]
        write = open_app("messages", "compose", to=row["name"], number=row["phone"])
        return AppPage(row["name"], [
            Spacer(8), TextLabel(row["name"], "big", centre=True), Spacer(4),
            Columns((
                Button(view("call"), do("call", number=row["phone"]), "outlined"),
                Button(view("message"), write, "outlined"),
            ) if row["phone"] else (Button(view("message"), write, "outlined"),)), *facts,
        ], actions)  # fmt: skip

    def screen_edit(self, view: AppView) -> ScreenWidget:
        """The contact form."""
        key = view.params.get("id")
        row: PhoneRow = (view.row("contacts", key) if key else None) or {}
        groups = [("", view("none")), *((group, view(group)) for group in GROUPS)]
        return AppPage(view("edit_contact" if key else "new_contact"), [
            TextField("name", view("name"), view.params.get("name") or row.get("name", "")),
            TextField("phone", view("phone"), view.params.get("phone") or row.get("phone", ""),
                      kind="phone"),
            TextField("email", view("email"), row.get("email", "")),
            TextField("company", view("company"), row.get("company", "")),
            TextField("address", view("address"), row.get("address", "")),
            DateField("birthday", view("birthday"), row.get("birthday", "")),
            Select("group", view("group"), groups, row.get("group", "")),
            TextField("note", view("note"), row.get("note", ""), multiline=True),
        ], [BarAction("check", view("save"), do("save", id=key))])  # fmt: skip

    # Handlers ----------------------------------------------------------------------------------

    def do_call(self, acts: AppActs, number: str) -> None:
        """Call a number."""
        acts.core.dispatch("phone", do("call", number=number))

    def do_save(self, acts: AppActs, id: int | None) -> None:
        """Store the form."""
        row = (acts.row("contacts", id) if id else None) or {
            name: acts.params.get(name) or "" for name in _FIELDS
        }
        values = {name: acts.value(name, row[name]) for name in _FIELDS}
        values = {name: value.strip() for name, value in values.items()}
        if not values["name"]:
            acts.toast(acts("name_missing"))
            return
        acts.back()
        if id:
            acts.change("contacts", id, **values)
        else:
            key = acts.add("contacts", **values, starred=False)
            acts.go("contact", id=key)
        acts.toast(acts("saved"))

    def do_star(self, acts: AppActs, id: int) -> None:
        """Set or remove the star."""
        row = acts.row("contacts", id)
        acts.change("contacts", id, starred=not (row and row["starred"]))

    def do_ask_delete(self, acts: AppActs, id: int) -> None:
        """Ask before a contact is deleted."""
        row = acts.row("contacts", id)
        acts.confirm(acts("delete_question"), do("delete", id=id), acts("delete"),
                     row["name"] if row else "")  # fmt: skip

    def do_delete(self, acts: AppActs, id: int) -> None:
        """Delete a contact."""
        acts.remove("contacts", id)
        acts.back()
        acts.toast(acts("deleted"))

    def do_share(self, acts: AppActs, id: int) -> None:
        """Share a contact as text."""
        row = acts.row("contacts", id)
        if row is not None:
            acts.share(row["name"], f"{row['name']}, {row['phone']}")


def _row(row: PhoneRow) -> ListRow:
    return ListRow(row["name"], row["phone"], go("contact", id=row["id"]),
                   avatar=row["name"], value="★" if row["starred"] else "")  # fmt: skip
