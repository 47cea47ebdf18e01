"""The notes app."""

from typing import Any, ClassVar

from hexathlon.tasks.gui.world.kit.events import do, go, put
from hexathlon.tasks.gui.world.kit.widgets import (
    AppPage,
    BarAction,
    Chips,
    Choice,
    ListRow,
    ListView,
    ScreenWidget,
    Select,
    TextField,
    TextLabel,
)
from hexathlon.tasks.gui.world.phone.app import ContentDraws, PhoneApp
from hexathlon.tasks.gui.world.phone.context import AppActs, AppView
from hexathlon.tasks.gui.world.phone.core import PhoneRow

__all__ = ["NOTE_LABELS", "NotesApp"]

NOTE_LABELS = ("home", "work", "ideas", "travel")

_SUBJECTS = (
    "Paint for the hall|走廊的油漆", "Bike service|自行车保养", "Garden plan|花园计划",
    "Book list|书单", "Gift ideas|礼物点子", "Boiler manual|锅炉说明", "Trip to the coast|海边之行",
    "Meeting points|会议要点", "Soup recipe|汤的做法", "Moving boxes|搬家箱子",
    "Choir dates|合唱团日期", "Garage code|车库密码", "Bread hydration|面包含水量",
    "Camera settings|相机设置", "Allotment rota|菜园值班", "Curtain sizes|窗帘尺寸",
    "Tyre pressure|轮胎气压", "Wine for Sunday|周日的酒", "Film night|电影之夜",
    "Quarter goals|季度目标", "Route by train|火车路线", "School forms|学校表格",
    "Pharmacy|药店", "Insurance numbers|保险号码",
)  # fmt: skip
_LINES = (
    "Ask for the price of {s} litres|问一下{s}升的价格", "Bring {s} copies|带{s}份复印件",
    "Order at least {s}|至少订购{s}个", "Locker {n}|储物柜{n}号", "Room {n}|房间{n}",
    "Width {n} cm|宽{n}厘米", "Reference {n}|编号{n}", "Call back about offer {n}|就报价{n}回电",
    "{s} chairs are enough|{s}把椅子够了", "Platform {s}|{s}号站台",
)  # fmt: skip


class NotesApp(PhoneApp):
    """Short texts."""

    name: ClassVar[str] = "notes"
    icon: ClassVar[str] = "note"
    colour = (214, 158, 20)
    tables = {"notes": ("changed",)}
    receives = {"text": "edit"}

    def seed(self, draws: ContentDraws) -> None:
        """Draw notes; some share their first words."""
        side = 1 if draws.language == "zh" else 0
        subjects = draws.sample(draws.own(_SUBJECTS), 2 + draws.scale)
        for number in range(5 + 5 * draws.scale):
            subject = subjects[number] if number < len(subjects) else draws.pick(subjects)
            title = subject.split("|")[side]
            if number >= len(subjects):
                title = f"{title} {draws.between(2, 40)}"
            lines = [
                line.split("|")[side].format(n=draws.between(3, 980), s=draws.between(2, 40))
                for line in draws.sample(_LINES, draws.between(1, 4))
            ]
            draws.add("notes", title=title, text="\n".join(lines),
                      label=draws.pick(NOTE_LABELS) if draws.chance(0.7) else "",
                      pinned=draws.chance(0.12), archived=draws.chance(0.12),
                      changed=draws.stamp(-draws.between(0, 60), draws.between(7, 21),
                                          draws.between(0, 59)))  # fmt: skip

    # Screens -----------------------------------------------------------------------------------

    def screen_home(self, view: AppView) -> ScreenWidget:
        """All notes, pinned ones first."""
        chosen = view.value("label", "")
        rows = [
            row for row in view.rows("notes")
            if not row["archived"] and chosen in ("", row["label"])
        ]  # fmt: skip
        rows.sort(key=lambda row: (row["pinned"], row["changed"], row["id"]), reverse=True)
        chips = [Choice(view("all"), put("label", ""), chosen == "")]
        chips += [Choice(view(f"{name}_label"), put("label", name), chosen == name)
                  for name in NOTE_LABELS]  # fmt: skip
        actions = [
            BarAction("search", view("search"), go("search")),
            BarAction("archive", view("archived"), go("archived"), rare=True),
        ]
        return AppPage(view("app_title"), [Chips(chips), self._list(view, rows)], actions,
                    BarAction("plus", view("new_note"), go("edit")), home=True)  # fmt: skip

    def screen_archived(self, view: AppView) -> ScreenWidget:
        """Archived notes."""
        rows = [row for row in view.rows("notes") if row["archived"]]
        return AppPage(view("archived"), [self._list(view, rows)])

    def screen_search(self, view: AppView) -> ScreenWidget:
        """Notes by title or text."""
        wanted = view.value("query").casefold().strip()
        rows = [
            row for row in view.rows("notes")
            if wanted and (wanted in row["title"].casefold() or wanted in row["text"].casefold())
        ]  # fmt: skip
        return AppPage(view("search"), [self._list(view, rows) if wanted else None],
                    search=TextField("query", view("search"), kind="search"))  # fmt: skip

    def _list(self, view: AppView, rows: list[PhoneRow]) -> ListView:
        def build(row: PhoneRow) -> ListRow:
            put_away = None if row["archived"] else do("archive", id=row["id"])
            return ListRow(row["title"] or row["text"], row["text"].partition("\n")[0],
                           go("note", id=row["id"]), value=_listed_when(view, row),
                           icon="pin" if row["pinned"] else "", swipe_left=put_away)  # fmt: skip

        return ListView(rows, build, view("nothing"))

    def screen_note(self, view: AppView) -> ScreenWidget:
        """One note."""
        row = view.row("notes", view.params["id"])
        if row is None:
            return AppPage(view("note"), [TextLabel(view("nothing"), "dim")])
        key = row["id"]
        actions = [
            BarAction("edit", view("edit"), go("edit", id=key)),
            BarAction("pin", view("unpin" if row["pinned"] else "pin"), do("pin", id=key)),
            BarAction("share", view("share"), do("share", id=key), rare=True),
            BarAction("archive", view("unarchive" if row["archived"] else "archive"),
                      do("archive", id=key), rare=True),
            BarAction("delete", view("delete"), do("ask_delete", id=key), rare=True),
        ]  # fmt: skip
        about = _listed_when(view, row)
        if row["label"]:
            about = f"{view(row['label'] + '_label')} · {about}"
        return AppPage(view("note"), [
            TextLabel(row["title"], "title"), TextLabel(about, "small"), TextLabel(row["text"]),
        ], actions)  # fmt: skip

    def screen_edit(self, view: AppView) -> ScreenWidget:
        """The note form, which also receives shared texts."""
        key = view.params.get("id")
        row = (view.row("notes", key) if key else None) or _shared(view)
        options = [("", view("none"))]
        options += [(name, view(f"{name}_label")) for name in NOTE_LABELS]
        return AppPage(view("edit" if key else "new_note"), [
            TextField("title", view("title"), row["title"]),
            TextField("text", view("text"), row["text"], multiline=True),
            Select("label", view("labels"), options, row["label"]),
        ], [BarAction("check", view("save"), do("save", id=key))])  # fmt: skip

    # Handlers ----------------------------------------------------------------------------------

    def do_save(self, acts: AppActs, id: int | None) -> None:
        """Store the form."""
        row = (acts.row("notes", id) if id else None) or _shared(acts)
        values = {name: str(acts.value(name, row[name])).strip()
                  for name in ("title", "text", "label")}  # fmt: skip
        acts.back()
        if not values["title"] and not values["text"]:
            acts.toast(acts("empty_note"))
            return
        if id:
            acts.change("notes", id, **values, changed=acts.stamp)
        else:
            acts.add("notes", **values, pinned=False, archived=False, changed=acts.stamp)
        acts.toast(acts("saved"))

    def do_pin(self, acts: AppActs, id: int) -> None:
        """Pin or unpin a note."""
        row = acts.row("notes", id)
        acts.change("notes", id, pinned=not (row and row["pinned"]))

    def do_archive(self, acts: AppActs, id: int) -> None:
        """Archive or restore a note."""
        row = acts.row("notes", id)
        acts.change("notes", id, archived=not (row and row["archived"]))
        if acts.screen.name == "note":
            acts.back()
        acts.toast(acts("saved"))

    def do_ask_delete(self, acts: AppActs, id: int) -> None:
        """Ask before a note is deleted."""
        row = acts.row("notes", id)
        acts.confirm(acts("delete_question"), do("delete", id=id), acts("delete"),
                     row["title"] if row else "")  # fmt: skip

    def do_delete(self, acts: AppActs, id: int) -> None:
        """Delete a note."""
        acts.remove("notes", id)
        acts.back()
        acts.toast(acts("deleted"))

    def do_share(self, acts: AppActs, id: int) -> None:
        """Share a note's text."""
        row = acts.row("notes", id)
        if row is not None:
            acts.share(row["title"], row["text"])


def _listed_when(view: AppView, row: PhoneRow) -> str:
    """Return when a note was changed, preceded by the pin mark if it is pinned."""
    when = view.moment(row["changed"])
    return f"{view('pinned')} · {when}" if row["pinned"] else when


def _shared(view: AppView) -> dict[str, Any]:
    """Return the columns of a new note, from the content that another app shared."""
    return {"title": view.params.get("title", ""), "text": view.params.get("text", ""), "label": ""}
