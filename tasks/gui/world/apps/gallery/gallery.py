"""The gallery app."""

from collections.abc import Callable
from typing import Any, ClassVar

from hexathlon.tasks.gui.world.apps.gallery.content import seed_gallery
from hexathlon.tasks.gui.world.apps.gallery.editing import edit_list, edited_scene, editor_screen
from hexathlon.tasks.gui.world.kit.dates import month_text
from hexathlon.tasks.gui.world.kit.events import do, go, put
from hexathlon.tasks.gui.world.kit.widgets import (
    AppPage,
    BarAction,
    BottomSheet,
    Button,
    Choice,
    Columns,
    Heading,
    IconButton,
    ListRow,
    Picture,
    ScreenWidget,
    Select,
    Tabs,
    TextField,
    TextLabel,
    Tile,
    TileGrid,
    Toggle,
)
from hexathlon.tasks.gui.world.phone.app import ContentDraws, PhoneApp
from hexathlon.tasks.gui.world.phone.context import AppActs, AppView
from hexathlon.tasks.gui.world.phone.core import PhoneRow

__all__ = ["GalleryApp"]


class GalleryApp(PhoneApp):
    """Photos and albums."""

    name: ClassVar[str] = "gallery"
    icon: ClassVar[str] = "image"
    colour = (60, 130, 190)
    tables = {"photos": (), "albums": (), "prefs": ()}

    def seed(self, draws: ContentDraws) -> None:
        """Draw photos, albums, and receipts for payments in the bank app."""
        seed_gallery(draws)

    # Screens -----------------------------------------------------------------------------------

    def screen_home(self, view: AppView) -> ScreenWidget:
        """Photos by month, or albums."""
        tab = view.value("tab", "photos")
        tabs = Tabs([Choice(view(name), put("tab", name), tab == name, icon)
                     for name, icon in (("photos", "image"), ("albums", "folder"))])  # fmt: skip
        if tab == "photos":
            rows = [row for row in view.rows("photos") if not row["trashed"]]
            body: list[Any] = _by_month(view, rows)
        else:
            body = self._albums(view)
        return AppPage(view("app_title"), body, [
            BarAction("search", view("search"), go("search")),
            BarAction("delete", view("bin"), go("bin"), rare=True),
            BarAction("gear", view("settings"), go("settings"), rare=True),
        ], BarAction("plus", view("new_album"), go("album_name")) if tab == "albums" else None,
            tabs, home=True)  # fmt: skip

    def _albums(self, view: AppView) -> list[Any]:
        rows = [row for row in view.rows("photos") if not row["trashed"]]
        liked = [row for row in rows if row["liked"]]
        scans = [row for row in rows if row["kind"] == "receipt"]
        tiles = [_album_tile(view, view("liked"), liked, "liked"),
                 _album_tile(view, view("scans"), scans, "scans")]  # fmt: skip
        for album in view.rows("albums"):
            inside = [row for row in rows if row["album"] == album["id"]]
            tiles.append(_album_tile(view, album["name"], inside, album["id"]))
        return [TileGrid(tiles, 2)]

    def screen_album(self, view: AppView) -> ScreenWidget:
        """The photos of an album."""
        key = view.params["id"]
        tests: dict[Any, Callable[[PhoneRow], Any]] = {
            "liked": lambda row: row["liked"],
            "scans": lambda row: row["kind"] == "receipt",
        }
        tests.setdefault(key, lambda row: row["album"] == key)
        rows = [row for row in view.rows("photos") if not row["trashed"] and tests[key](row)]
        album = view.row("albums", key)
        name = (
            album["name"] if album else view(key) if key in ("liked", "scans") else view("albums")
        )
        actions = [
            BarAction("edit", view("rename"), go("album_name", id=key), rare=True),
            BarAction("delete", view("delete_album"), do("ask_album", id=key), rare=True),
        ] if album else []  # fmt: skip
        return AppPage(name, _by_month(view, rows), actions)

    def screen_album_name(self, view: AppView) -> ScreenWidget:
        """The name of an album."""
        key = view.params.get("id")
        row = view.row("albums", key) if key else None
        return AppPage(view("rename" if key else "new_album"), [
            TextField("name", view("album_name"), row["name"] if row else ""),
        ], [BarAction("check", view("save"), do("album_name", id=key))])  # fmt: skip

    def screen_photo(self, view: AppView) -> ScreenWidget:
        """One photo."""
        row = view.row("photos", view.params["id"])
        if row is None:
            return AppPage(view("photo"), [TextLabel(view("nothing"), "dim")])
        key = row["id"]
        if row["trashed"]:
            return AppPage(
                row["name"],
                [Picture(edited_scene(row), 360, row["name"]), TextLabel(view("in_bin"), "dim")],
                [
                    BarAction("undo", view("restore"), do("restore", id=key)),
                    BarAction("delete", view("forever"), do("ask_forever", id=key)),
                ],
            )
        return AppPage(row["name"], [
            Picture(edited_scene(row), 360, row["caption"] or row["name"]),
            TextLabel(row["caption"]) if row["caption"] else None,
            TextLabel(f"{view.day(row['taken'][:10])}, {view.time(row['taken'][11:])}", "dim"),
        ], [
            BarAction("crop", view("edit_photo"), go("editor", id=key)),
            BarAction("share", view("share"), do("share", id=key)),
            BarAction("delete", view("delete"), do("ask_delete", id=key), rare=True),
        ], bottom=[Columns((
            IconButton("heart", view("unlike" if row["liked"] else "like"), do("like", id=key),
                       row["liked"]),
            IconButton("folder", view("move"), go("move", id=key)),
            IconButton("info", view("details"), go("details", id=key)),
        ))])  # fmt: skip

    def screen_move(self, view: AppView) -> ScreenWidget:
        """The album to which a photo belongs."""
        key = view.params["id"]
        row = view.row("photos", key)
        chosen = row["album"] if row else 0
        return BottomSheet(view("move"), [
            ListRow(view("no_album"), on=do("move", id=key, album=0), selected=chosen == 0),
            *(ListRow(album["name"], on=do("move", id=key, album=album["id"]), icon="folder",
                      selected=chosen == album["id"]) for album in view.rows("albums")),
        ])  # fmt: skip

    def screen_details(self, view: AppView) -> ScreenWidget:
        """A photo's properties and the text in it."""
        row = view.row("photos", view.params["id"])
        if row is None:
            return AppPage(view("details"), [TextLabel(view("nothing"), "dim")])
        album = view.row("albums", row["album"])
        edits = ", ".join(f"{view(name)} {value}" for name, value in row["edits"])
        return AppPage(view("details"), [
            TextField("caption", view("caption"), row["caption"]),
            TextField("place", view("place"), row["place"]),
            Button(view("save"), do("details", id=row["id"]), "outlined"),
            ListRow(view("file"), row["name"], icon="file"),
            ListRow(view("taken"), f"{view.day(row['taken'][:10])}, "
                                   f"{view.time(row['taken'][11:])}", icon="calendar"),
            ListRow(view("album"), album["name"] if album else view("no_album"), icon="folder"),
            ListRow(view("edits"), edits, icon="crop") if edits else None,
            Heading(view("text_in_photo")) if row["lines"] else None,
            *(TextLabel(line) for line in row["lines"]),
        ])  # fmt: skip

    def screen_editor(self, view: AppView) -> ScreenWidget:
        """Rotation, cropping and brightness of a photo."""
        row = view.row("photos", view.params["id"])
        if row is None:
            return AppPage(view("edit_photo"), [TextLabel(view("nothing"), "dim")])
        return editor_screen(view, row)

    def screen_search(self, view: AppView) -> ScreenWidget:
        """Photos by caption, place, name or text in them."""
        wanted = str(view.value("query")).casefold().strip()
        rows = [row for row in view.rows("photos") if wanted and not row["trashed"] and any(
            wanted in text.casefold()
            for text in (row["caption"], row["place"], row["name"], *row["lines"]))]  # fmt: skip
        found = [ListRow(row["name"], _about(view, row), go("photo", id=row["id"]),
                         picture=edited_scene(row)) for row in reversed(rows)]  # fmt: skip
        none = TextLabel(view("nothing"), "dim", centre=True) if wanted and not rows else None
        return AppPage(view("search"), [*found, none],
                       search=TextField("query", view("search"), kind="search"))  # fmt: skip

    def screen_bin(self, view: AppView) -> ScreenWidget:
        """Deleted photos."""
        rows = [row for row in view.rows("photos") if row["trashed"]]
        found: list[Any] = [TileGrid([_tile(view, row) for row in rows], 3)] if rows else [
            TextLabel(view("nothing"), "dim", centre=True)]  # fmt: skip
        actions = [BarAction("delete", view("empty_bin"), do("ask_empty"))] if rows else []
        return AppPage(view("bin"), found, actions)

    def screen_settings(self, view: AppView) -> ScreenWidget:
        """Settings of the app."""
        return AppPage(view("settings"), [
            Select("columns", view("columns"), [(str(each), str(each)) for each in (2, 3, 4)],
                   str(_pref(view, "columns")), do("set", name="columns")),
            Toggle(view("ask"), _pref(view, "ask"),
                   do("set", name="ask", value=not _pref(view, "ask"))),
        ])  # fmt: skip

    # Handlers ----------------------------------------------------------------------------------

    def do_set(self, acts: AppActs, name: str, value: Any) -> None:
        """Change a setting."""
        acts.change("prefs", name, value=int(value) if name == "columns" else value)

    def do_like(self, acts: AppActs, id: int) -> None:
        """Mark or unmark a photo as a favourite."""
        row = acts.row("photos", id)
        acts.change("photos", id, liked=not (row and row["liked"]))

    def do_move(self, acts: AppActs, id: int, album: int) -> None:
        """Put a photo into an album."""
        acts.back()
        acts.change("photos", id, album=album)
        acts.toast(acts("saved"))

    def do_share(self, acts: AppActs, id: int) -> None:
        """Share a photo as a file."""
        row = acts.row("photos", id)
        if row is not None:
            acts.share(row["caption"], file=row["name"])

    def do_details(self, acts: AppActs, id: int) -> None:
        """Store caption and place."""
        row = acts.row("photos", id) or {"caption": "", "place": ""}
        values = {name: str(acts.value(name, row[name])).strip() for name in ("caption", "place")}
        acts.back()
        acts.change("photos", id, **values)
        acts.toast(acts("saved"))

    def do_ask_delete(self, acts: AppActs, id: int) -> None:
        """Put a photo into the bin, after confirmation if the settings require it."""
        row = acts.row("photos", id)
        if _pref(acts, "ask"):
            acts.confirm(acts("delete_question"), do("delete", id=id), acts("delete"),
                         row["name"] if row else "")  # fmt: skip
        else:
            self.do_delete(acts, id)

    def do_delete(self, acts: AppActs, id: int) -> None:
        """Put a photo into the bin."""
        acts.change("photos", id, trashed=True)
        acts.back()
        acts.toast(acts("moved_to_bin"))

    def do_restore(self, acts: AppActs, id: int) -> None:
        """Take a photo out of the bin."""
        acts.change("photos", id, trashed=False)
        acts.back()
        acts.toast(acts("restored"))

    def do_ask_forever(self, acts: AppActs, id: int) -> None:
        """Ask before a photo is deleted permanently."""
        acts.confirm(acts("forever_question"), do("forever", id=id), acts("forever"))

    def do_forever(self, acts: AppActs, id: int) -> None:
        """Delete a photo permanently."""
        acts.back()
        acts.remove("photos", id)

    def do_ask_empty(self, acts: AppActs) -> None:
        """Ask before the bin is emptied."""
        acts.confirm(acts("empty_question"), do("empty"), acts("empty_bin"))

    def do_empty(self, acts: AppActs) -> None:
        """Remove the photos of the bin."""
        for row in acts.rows("photos"):
            if row["trashed"]:
                acts.remove("photos", row["id"])

    def do_album_name(self, acts: AppActs, id: int | None) -> None:
        """Store the name of an album; names are unique."""
        row = acts.row("albums", id) if id else None
        name = str(acts.value("name", row["name"] if row else "")).strip()
        if not name or any(each["name"] == name and each["id"] != id
                           for each in acts.rows("albums")):  # fmt: skip
            acts.toast(acts("name_taken" if name else "name_missing"))
            return
        acts.back()
        if id:
            acts.change("albums", id, name=name)
        else:
            acts.add("albums", name=name)
        acts.toast(acts("saved"))

    def do_ask_album(self, acts: AppActs, id: int) -> None:
        """Ask before an album is deleted; its photos stay."""
        row = acts.row("albums", id)
        acts.confirm(acts("album_question"), do("album", id=id), acts("delete_album"),
                     row["name"] if row else "")  # fmt: skip

    def do_album(self, acts: AppActs, id: int) -> None:
        """Delete an album."""
        for row in acts.rows("photos"):
            if row["album"] == id:
                acts.change("photos", row["id"], album=0)
        acts.remove("albums", id)
        acts.back()

    def do_store(self, acts: AppActs, id: int, copy: bool) -> None:
        """Store the edits, in the photo or in a copy."""
        row = acts.row("photos", id)
        if row is None:
            return
        edits = edit_list(acts, row)
        acts.back()
        if copy:
            stem = row["name"].removesuffix(".jpg")
            taken = {each["name"] for each in acts.rows("photos")}
            number = next(n for n in range(1, 1000) if f"{stem}_{n}.jpg" not in taken)
            values = {name: value for name, value in row.items() if name != "id"}
            acts.add("photos", **{**values, "edits": edits, "name": f"{stem}_{number}.jpg"})
        else:
            acts.change("photos", id, edits=edits)
        acts.toast(acts("saved"))


def _pref(view: AppView, name: str) -> Any:
    row = view.row("prefs", name)
    return row["value"] if row else None


def _about(view: AppView, row: PhoneRow) -> str:
    parts = (row["caption"], row["place"], view.short_day(row["taken"][:10]))
    return " · ".join(part for part in parts if part)


def _tile(view: AppView, row: PhoneRow) -> Tile:
    return Tile(
        f"{row['name']}, {_about(view, row)}",
        go("photo", id=row["id"]),
        long=do("like", id=row["id"]),
        picture=edited_scene(row),
        caption=False,
    )


def _by_month(view: AppView, rows: list[PhoneRow]) -> list[Any]:
    """Return grids of photos under month headings, the latest first."""
    rows = sorted(rows, key=lambda row: (row["taken"], row["id"]), reverse=True)
    months: dict[str, list[PhoneRow]] = {}
    for row in rows:
        months.setdefault(row["taken"][:7], []).append(row)
    found: list[Any] = []
    for month, inside in months.items():
        found.append(Heading(month_text(int(month[:4]), int(month[5:]), view.language)))
        found.append(TileGrid([_tile(view, row) for row in inside], _pref(view, "columns")))
    return found or [TextLabel(view("nothing"), "dim", centre=True)]


def _album_tile(view: AppView, name: str, rows: list[PhoneRow], key: Any) -> Tile:
    last = max(rows, key=lambda row: str(row["taken"]), default=None)
    picture = edited_scene(last) if last else ("landscape", 0)
    return Tile(name, go("album", id=key), picture=picture, mark=str(len(rows)))
