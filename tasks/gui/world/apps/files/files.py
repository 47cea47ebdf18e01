"""The files app."""

from typing import Any, ClassVar

from hexathlon.tasks.gui.world.apps.files.content import seed_files
from hexathlon.tasks.gui.world.kit.events import do, go, open_app, put
from hexathlon.tasks.gui.world.kit.widgets import (
    AppPage,
    BarAction,
    Button,
    Choice,
    Heading,
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

__all__ = ["FilesApp"]

_ICONS = {"doc": "file", "sheet": "grid", "image": "image", "archive": "archive",
          "audio": "music"}  # fmt: skip
_SORTS = ("name", "newest", "largest")


class FilesApp(PhoneApp):
    """Folders and files."""

    name: ClassVar[str] = "files"
    icon: ClassVar[str] = "folder"
    colour = (90, 120, 60)
    tables = {"folders": (), "files": (), "prefs": ()}
    receives = {"file": "receive", "text": "receive"}

    def seed(self, draws: ContentDraws) -> None:
        """Draw folders and files."""
        seed_files(draws)

    # Screens -----------------------------------------------------------------------------------

    def screen_home(self, view: AppView) -> ScreenWidget:
        """Folders, recent files or starred files."""
        tab = view.value("tab", "browse")
        tabs = Tabs([Choice(view(name), put("tab", name), tab == name, icon)
                     for name, icon in (("browse", "folder"), ("recent", "clock"),
                                        ("starred", "star"))])  # fmt: skip
        files = [row for row in view.rows("files") if not row["trashed"]]
        if tab == "browse":
            used = sum(row["size"] for row in view.rows("files"))
            body: list[Any] = [TextLabel(view("used", size=_size(used)), "dim"),
                               *self._folder(view, 0)]  # fmt: skip
        elif tab == "recent":
            files.sort(key=lambda row: (row["changed"], row["id"]), reverse=True)
            body = [ListView(files[:30], lambda row: _file(view, row, where=True), view("nothing"))]
        else:
            files = [row for row in files if row["starred"]]
            body = [ListView(files, lambda row: _file(view, row, where=True), view("nothing"))]
        return AppPage(view("app_title"), body, [
            BarAction("search", view("search"), go("search")),
            BarAction("delete", view("bin"), go("bin"), rare=True),
            BarAction("gear", view("settings"), go("settings"), rare=True),
        ], BarAction("plus", view("new_folder"), go("folder_name", parent=0))
            if tab == "browse" else None, tabs, home=True)  # fmt: skip

    def _folder(self, view: AppView, key: int) -> list[Any]:
        inside = [row for row in view.rows("folders") if row["parent"] == key]
        inside.sort(key=lambda row: str(row["name"]))
        rows: list[Any] = [ListRow(row["name"], view("items", n=_count(view, row["id"])),
                                   go("folder", id=row["id"]), icon="folder")
                           for row in inside]  # fmt: skip
        files = _sorted(view, [row for row in view.rows("files")
                               if row["folder"] == key and not row["trashed"]])  # fmt: skip
        rows += [_file(view, row) for row in files]
        return rows or [TextLabel(view("nothing"), "dim", centre=True)]

    def screen_folder(self, view: AppView) -> ScreenWidget:
        """The contents of a folder."""
        row = view.row("folders", view.params["id"])
        if row is None:
            return AppPage(view("app_title"), [TextLabel(view("nothing"), "dim")])
        key = row["id"]
        return AppPage(row["name"], [TextLabel(_path(view, row["parent"]), "small"),
                                     *self._folder(view, key)], [
            BarAction("search", view("search"), go("search")),
            BarAction("edit", view("rename"), go("folder_name", id=key), rare=True),
            BarAction("delete", view("delete_folder"), do("ask_folder", id=key), rare=True),
        ], BarAction("plus", view("new_folder"), go("folder_name", parent=key)))  # fmt: skip

    def screen_folder_name(self, view: AppView) -> ScreenWidget:
        """The name of a folder."""
        key = view.params.get("id")
        row = view.row("folders", key) if key else None
        return AppPage(view("rename" if key else "new_folder"), [
            TextField("name", view("folder_name"), row["name"] if row else ""),
        ], [BarAction("check", view("save"),
                      do("folder_name", id=key, parent=view.params.get("parent", 0)))])  # fmt: skip

    def screen_file(self, view: AppView) -> ScreenWidget:
        """One file, with a preview of its text."""
        row = view.row("files", view.params["id"])
        if row is None:
            return AppPage(view("file"), [TextLabel(view("nothing"), "dim")])
        key = row["id"]
        if row["trashed"]:
            return AppPage(row["name"], [TextLabel(view("in_bin"), "dim")], [
                BarAction("undo", view("restore"), do("restore", id=key)),
                BarAction("delete", view("forever"), do("ask_forever", id=key))])  # fmt: skip
        lines = row["text"].split("\n") if row["text"] else []
        picture: Any = None
        if row["kind"] == "image":
            picture = Picture(("landscape", key), 180, row["name"])
        return AppPage(row["name"], [
            picture, *(TextLabel(line) for line in lines),
            Heading(view("about")),
            ListRow(view("folder"), _path(view, row["folder"]), go("folder", id=row["folder"])
                    if row["folder"] else None, icon="folder"),
            ListRow(view("size"), _size(row["size"]), icon=_ICONS[row["kind"]]),
            ListRow(view("changed"), view.day(row["changed"]), icon="calendar"),
        ], [
            BarAction("star", view("unstar" if row["starred"] else "star"), do("star", id=key)),
            BarAction("share", view("share"), do("share", id=key)),
            BarAction("edit", view("rename_file"), go("file_name", id=key), rare=True),
            BarAction("folder", view("move"), go("move", ids=[key]), rare=True),
            BarAction("note", view("to_note"), open_app("notes", "edit", title=row["name"],
                                                        text=row["text"]), rare=True),
            BarAction("delete", view("delete"), do("trash", id=key), rare=True),
        ])  # fmt: skip

    def screen_file_name(self, view: AppView) -> ScreenWidget:
        """The name of a file."""
        row = view.row("files", view.params["id"])
        return AppPage(view("rename_file"), [
            TextField("name", view("file_name"), row["name"] if row else ""),
        ], [BarAction("check", view("save"), do("file_name", id=view.params["id"]))])  # fmt: skip

    def screen_move(self, view: AppView) -> ScreenWidget:
        """The folder that files are put into."""
        at = view.value("at", 0)
        inside = sorted((row for row in view.rows("folders") if row["parent"] == at),
                        key=lambda row: str(row["name"]))  # fmt: skip
        here = view.row("folders", at)
        return AppPage(view("move"), [
            TextLabel(_path(view, at), "dim"),
            ListRow(view("up"), on=put("at", here["parent"]), icon="up") if here else None,
            *(ListRow(row["name"], on=put("at", row["id"]), icon="folder") for row in inside),
        ], bottom=[Button(view("move_here"), do("move", ids=view.params["ids"]))])  # fmt: skip

    def screen_receive(self, view: AppView) -> ScreenWidget:
        """Store what another app shared."""
        name = view.params.get("file") or f"{view.params.get('title') or view('shared')}.txt"
        folders = [("0", view("root"))]
        folders += [(str(row["id"]), _path(view, row["id"])) for row in view.rows("folders")]
        return AppPage(view("store"), [
            TextField("name", view("file_name"), name),
            Select("folder", view("folder"), folders, "2"),
            TextLabel(view.params.get("text", ""), "dim", 4),
        ], [BarAction("check", view("save"), do("receive"))])  # fmt: skip

    def screen_search(self, view: AppView) -> ScreenWidget:
        """Files by name or text."""
        wanted = str(view.value("query")).casefold().strip()
        rows = [
            row
            for row in view.rows("files")
            if wanted
            and not row["trashed"]
            and (wanted in row["name"].casefold() or wanted in row["text"].casefold())
        ]
        return AppPage(view("search"), [ListView(
            _sorted(view, rows), lambda row: _file(view, row, where=True),
            view("nothing") if wanted else "")],
            search=TextField("query", view("search"), kind="search"))  # fmt: skip

    def screen_bin(self, view: AppView) -> ScreenWidget:
        """Deleted files."""
        rows = [row for row in view.rows("files") if row["trashed"]]
        actions = [BarAction("delete", view("empty_bin"), do("ask_empty"))] if rows else []
        return AppPage(view("bin"), [ListView(rows, lambda row: _file(view, row, where=True),
                                              view("nothing"))], actions)  # fmt: skip

    def screen_settings(self, view: AppView) -> ScreenWidget:
        """Settings of the app."""
        return AppPage(view("settings"), [
            Select("sort", view("sort"), [(name, view(f"sort_{name}")) for name in _SORTS],
                   _pref(view, "sort"), do("set", name="sort")),
            Toggle(view("sizes"), _pref(view, "sizes"),
                   do("set", name="sizes", value=not _pref(view, "sizes"))),
        ])  # fmt: skip

    # Handlers ----------------------------------------------------------------------------------

    def do_set(self, acts: AppActs, name: str, value: Any) -> None:
        """Change a setting."""
        acts.change("prefs", name, value=value)

    def do_star(self, acts: AppActs, id: int) -> None:
        """Star or unstar a file."""
        row = acts.row("files", id)
        acts.change("files", id, starred=not (row and row["starred"]))

    def do_share(self, acts: AppActs, id: int) -> None:
        """Share a file."""
        row = acts.row("files", id)
        if row is not None:
            acts.share(row["name"], file=row["name"])

    def do_trash(self, acts: AppActs, id: int) -> None:
        """Put a file into the bin, from which it can be restored."""
        acts.change("files", id, trashed=True)
        if acts.screen.name == "file":
            acts.back()
        acts.toast(acts("moved_to_bin"))

    def do_restore(self, acts: AppActs, id: int) -> None:
        """Take a file out of the bin; its name must be free."""
        row = acts.row("files", id)
        if row is not None and _taken(acts, row["folder"], row["name"], id):
            acts.toast(acts("name_taken"))
            return
        acts.change("files", id, trashed=False)
        acts.back()
        acts.toast(acts("restored"))

    def do_ask_forever(self, acts: AppActs, id: int) -> None:
        """Ask before a file is deleted permanently."""
        acts.confirm(acts("forever_question"), do("forever", id=id), acts("forever"))

    def do_forever(self, acts: AppActs, id: int) -> None:
        """Delete a file permanently."""
        acts.back()
        acts.remove("files", id)

    def do_ask_empty(self, acts: AppActs) -> None:
        """Ask before the bin is emptied."""
        acts.confirm(acts("empty_question"), do("empty"), acts("empty_bin"))

    def do_empty(self, acts: AppActs) -> None:
        """Remove the files of the bin."""
        for row in acts.rows("files"):
            if row["trashed"]:
                acts.remove("files", row["id"])

    def do_file_name(self, acts: AppActs, id: int) -> None:
        """Rename a file."""
        row = acts.row("files", id)
        name = str(acts.value("name", row["name"] if row else "")).strip()
        if row is None or not _free(acts, row["folder"], name, id):
            return
        acts.back()
        acts.change("files", id, name=name)
        acts.toast(acts("saved"))

    def do_move(self, acts: AppActs, ids: list[int]) -> None:
        """Put files into the chosen folder."""
        folder = acts.value("at", 0)
        rows = [row for row in (acts.row("files", key) for key in ids) if row is not None]
        if any(_taken(acts, folder, row["name"], row["id"]) for row in rows):
            acts.toast(acts("name_taken"))
            return
        acts.back()
        for row in rows:
            acts.change("files", row["id"], folder=folder)
        acts.toast(acts("moved"))

    def do_receive(self, acts: AppActs) -> None:
        """Store what was shared as a new file."""
        default = acts.params.get("file") or f"{acts.params.get('title') or acts('shared')}.txt"
        name = str(acts.value("name", default)).strip()
        folder = int(acts.value("folder", "2"))
        if not _free(acts, folder, name, None):
            return
        text = acts.params.get("text", "")
        ending = name.rpartition(".")[2].lower()
        kind = {"jpg": "image", "png": "image", "xlsx": "sheet", "zip": "archive",
                "mp3": "audio"}.get(ending, "doc")  # fmt: skip
        acts.back()
        acts.add("files", name=name, folder=folder, kind=kind, size=1 + len(text) // 100, text=text,
                 starred=False, trashed=False, changed=acts.today.isoformat())  # fmt: skip
        acts.toast(acts("saved"))

    def do_folder_name(self, acts: AppActs, id: int | None, parent: int) -> None:
        """Create or rename a folder; names are unique within a folder."""
        row = acts.row("folders", id) if id else None
        name = str(acts.value("name", row["name"] if row else "")).strip()
        inside = row["parent"] if row else parent
        if not name:
            acts.toast(acts("name_missing"))
        elif any(each["name"] == name and each["parent"] == inside and each["id"] != id
                 for each in acts.rows("folders")):  # fmt: skip
            acts.toast(acts("name_taken"))
        else:
            acts.back()
            if id:
                acts.change("folders", id, name=name)
            else:
                acts.add("folders", name=name, parent=parent)
            acts.toast(acts("saved"))

    def do_ask_folder(self, acts: AppActs, id: int) -> None:
        """Ask before a folder is deleted; only empty ones can be."""
        row = acts.row("folders", id)
        if _count(acts, id):
            acts.toast(acts("not_empty"))
        else:
            acts.confirm(acts("folder_question"), do("delete_folder", id=id),
                         acts("delete_folder"), row["name"] if row else "")  # fmt: skip

    def do_delete_folder(self, acts: AppActs, id: int) -> None:
        """Delete an empty folder."""
        for row in acts.rows("files"):
            if row["folder"] == id:  # files in the bin would be restored to the top
                acts.change("files", row["id"], folder=0)
        acts.remove("folders", id)
        acts.back()


def _pref(view: AppView, name: str) -> Any:
    row = view.row("prefs", name)
    return row["value"] if row else None


def _size(kilobytes: int) -> str:
    return f"{kilobytes} KB" if kilobytes < 1000 else f"{kilobytes / 1000:.1f} MB"


def _path(view: AppView, key: int) -> str:
    """Return the folders from the top down to this one."""
    names: list[str] = []
    row = view.row("folders", key)
    while row is not None:
        names.insert(0, row["name"])
        row = view.row("folders", row["parent"])
    return " / ".join([view("root"), *names])


def _count(view: AppView, key: int) -> int:
    files = [row for row in view.rows("files") if row["folder"] == key and not row["trashed"]]
    return len(files) + len([row for row in view.rows("folders") if row["parent"] == key])


def _sorted(view: AppView, rows: list[PhoneRow]) -> list[PhoneRow]:
    order = _pref(view, "sort")
    if order == "newest":
        return sorted(rows, key=lambda row: (row["changed"], row["id"]), reverse=True)
    if order == "largest":
        return sorted(rows, key=lambda row: (-row["size"], row["id"]))
    return sorted(rows, key=lambda row: (str(row["name"]), row["id"]))


def _file(view: AppView, row: PhoneRow, *, where: bool = False) -> ListRow:
    detail = _path(view, row["folder"]) if where else view.day(row["changed"])
    return ListRow(row["name"], detail, go("file", id=row["id"]), icon=_ICONS[row["kind"]],
                   value=_size(row["size"]) if _pref(view, "sizes") else "",
                   swipe_left=None if row["trashed"] else do("trash", id=row["id"]))  # fmt: skip


def _taken(acts: AppActs, folder: int, name: str, but: int | None) -> bool:
    return any(row["name"] == name and row["folder"] == folder and row["id"] != but
               and not row["trashed"] for row in acts.rows("files"))  # fmt: skip


def _free(acts: AppActs, folder: int, name: str, but: int | None) -> bool:
    """Whether a file may have this name; if not, tells the user why."""
    if not name:
        acts.toast(acts("name_missing"))
        return False
    if _taken(acts, folder, name, but):
        acts.toast(acts("name_taken"))
        return False
    return True
