"""The music app."""

from typing import Any, ClassVar

from hexathlon.tasks.gui.world.apps.music.content import seed_music
from hexathlon.tasks.gui.world.kit.events import do, go, put
from hexathlon.tasks.gui.world.kit.widgets import (
    AppPage,
    BarAction,
    BottomSheet,
    Choice,
    Columns,
    Heading,
    IconButton,
    ListRow,
    ListView,
    Picture,
    Radio,
    ScreenWidget,
    Slider,
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

__all__ = ["MusicApp"]

_SLEEP = (0, 15, 30, 45, 60)
_REPEAT = {"off": "all", "all": "one", "one": "off"}


class MusicApp(PhoneApp):
    """Songs and playlists."""

    name: ClassVar[str] = "music"
    icon: ClassVar[str] = "music"
    colour = (170, 40, 90)
    tables = {"songs": (), "playlists": (), "entries": (), "player": (), "prefs": ()}
    references = {"entries": {"playlist": "music.playlists"}}

    def seed(self, draws: ContentDraws) -> None:
        """Draw a collection."""
        seed_music(draws)

    # Screens -----------------------------------------------------------------------------------

    def screen_home(self, view: AppView) -> ScreenWidget:
        """Songs, albums, or playlists."""
        tab = view.value("tab", "songs")
        tabs = Tabs([Choice(view(name), put("tab", name), tab == name, icon) for name, icon in (
            ("songs", "music"), ("albums", "grid"), ("playlists", "list"))])  # fmt: skip
        body: list[Any]
        if tab == "songs":
            songs = sorted(view.rows("songs"), key=lambda row: (str(row["title"]), row["id"]))
            body = [ListView(songs, lambda row: _song(view, row), view("nothing"))]
        elif tab == "albums":
            albums = {(row["artist"], row["album"]): row for row in view.rows("songs")}
            body = [TileGrid([Tile(album, go("album", artist=artist, album=album),
                                   picture=("pattern", row["art"]), mark=artist)
                              for (artist, album), row in sorted(albums.items())], 2)]  # fmt: skip
        else:
            liked = sum(row["liked"] for row in view.rows("songs"))
            body = [ListRow(view("liked"), view("count", n=liked), go("liked"), icon="heart")]
            for row in view.rows("playlists"):
                count = sum(each["playlist"] == row["id"] for each in view.rows("entries"))
                body.append(ListRow(row["name"], view("count", n=count),
                                    go("playlist", id=row["id"]), icon="list"))  # fmt: skip
        create = BarAction("plus", view("new_playlist"), go("playlist_name"))
        return AppPage(
            view("app_title"),
            body,
            [
                BarAction("search", view("search"), go("search")),
                BarAction("gear", view("settings"), go("settings"), rare=True),
            ],
            create if tab == "playlists" else None,
            tabs,
            bottom=[_bar(view)],
            home=True,
        )

    def screen_album(self, view: AppView) -> ScreenWidget:
        """The songs of an album."""
        rows = [row for row in view.rows("songs") if row["artist"] == view.params["artist"]
                and row["album"] == view.params["album"]]  # fmt: skip
        if not rows:
            return AppPage(view("albums"), [TextLabel(view("nothing"), "dim")])
        minutes = sum(row["seconds"] for row in rows) // 60
        return AppPage(view.params["album"], [
            Picture(("pattern", rows[0]["art"]), 150, view.params["album"]),
            TextLabel(view.params["artist"], "title"),
            TextLabel(f"{rows[0]['year']} · {view('count', n=len(rows))} · "
                      f"{view('minutes', n=minutes)}", "dim"),
            *(_song(view, row) for row in rows),
        ], bottom=[_bar(view)])  # fmt: skip

    def screen_liked(self, view: AppView) -> ScreenWidget:
        """Liked songs."""
        rows = [row for row in view.rows("songs") if row["liked"]]
        return AppPage(view("liked"), [ListView(rows, lambda row: _song(view, row),
                                                view("nothing"))], bottom=[_bar(view)])  # fmt: skip

    def screen_playlist(self, view: AppView) -> ScreenWidget:
        """The songs of a playlist, in its order."""
        row = view.row("playlists", view.params["id"])
        if row is None:
            return AppPage(view("playlists"), [TextLabel(view("nothing"), "dim")])
        key = row["id"]

        def build(entry: PhoneRow) -> ListRow:
            song = view.row("songs", entry["song"])
            title = song["title"] if song else ""
            return ListRow(title, song["artist"] if song else "",
                           go("entry", id=entry["id"]), picture=("pattern", song["art"])
                           if song else None, swipe_left=do("drop", id=entry["id"]),
                           trailing=IconButton("up", f"{view('earlier')}: {title}",
                                               do("earlier", id=entry["id"])))  # fmt: skip

        return AppPage(row["name"], [ListView(_entries(view, key), build, view("nothing"))], [
            BarAction("edit", view("rename"), go("playlist_name", id=key), rare=True),
            BarAction("share", view("share"), do("share", id=key), rare=True),
            BarAction("delete", view("delete_playlist"), do("ask_delete", id=key), rare=True),
        ], bottom=[_bar(view)])  # fmt: skip

    def screen_entry(self, view: AppView) -> ScreenWidget:
        """Actions for a song in a playlist."""
        entry = view.row("entries", view.params["id"])
        song = view.row("songs", entry["song"]) if entry else None
        return BottomSheet(song["title"] if song else "", [
            ListRow(view("play"), on=do("play", id=song["id"] if song else 0), icon="play"),
            ListRow(view("drop"), on=do("drop_here", id=view.params["id"]), icon="delete"),
            ListRow(view("earlier"), on=do("earlier_here", id=view.params["id"]), icon="up"),
        ])  # fmt: skip

    def screen_playlist_name(self, view: AppView) -> ScreenWidget:
        """The name of a playlist."""
        key = view.params.get("id")
        row = view.row("playlists", key) if key else None
        return AppPage(view("rename" if key else "new_playlist"), [
            TextField("name", view("name"), row["name"] if row else ""),
        ], [BarAction("check", view("save"), do("playlist_name", id=key))])  # fmt: skip

    def screen_song(self, view: AppView) -> ScreenWidget:
        """Actions for a song."""
        row = view.row("songs", view.params["id"])
        if row is None:
            return BottomSheet("", [TextLabel(view("nothing"))])
        key = row["id"]
        return BottomSheet(row["title"], [
            TextLabel(f"{row['artist']} · {row['album']} · {_length(row)}", "dim"),
            ListRow(view("play"), on=do("play", id=key), icon="play"),
            ListRow(view("add_to"), on=go("add_to", id=key), icon="plus"),
            ListRow(view("unlike" if row["liked"] else "like"), on=do("like", id=key),
                    icon="heart"),
            ListRow(view("offline_off" if row["offline"] else "offline_on"),
                    on=do("offline", id=key), icon="download"),
        ])  # fmt: skip

    def screen_add_to(self, view: AppView) -> ScreenWidget:
        """The playlists that a song can be added to."""
        return BottomSheet(view("add_to"), [
            ListRow(row["name"], on=do("add_to", song=view.params["id"], playlist=row["id"]),
                    icon="list") for row in view.rows("playlists")
        ])  # fmt: skip

    def screen_player(self, view: AppView) -> ScreenWidget:
        """The current song."""
        now = _now(view)
        song = view.row("songs", now["song"])
        if song is None:
            return AppPage(view("player"), [TextLabel(view("nothing"), "dim")])
        return AppPage(view("player"), [
            Picture(("pattern", song["art"]), 230, song["album"]),
            TextLabel(song["title"], "big", 2, True),
            TextLabel(f"{song['artist']} · {song['album']}", "dim", 1, True),
            Columns((
                IconButton("shuffle", view("shuffle"), do("player", column="shuffle"),
                           now["shuffle"]),
                IconButton("previous", view("previous"), do("skip", by=-1)),
                IconButton("pause" if now["playing"] else "play",
                           view("pause" if now["playing"] else "play"),
                           do("player", column="playing"), True),
                IconButton("next", view("next"), do("skip", by=1)),
                IconButton("repeat", view("repeat"), do("repeat"), now["repeat"] != "off"),
            )),
            TextLabel(view(f"repeat_{now['repeat']}"), "small", 1, True),
            Columns((
                IconButton("heart", view("unlike" if song["liked"] else "like"),
                           do("like_here", id=song["id"]), song["liked"]),
                IconButton("timer", view("sleep"), go("sleep"), now["sleep"] > 0),
                IconButton("plus", view("add_to"), go("add_to", id=song["id"])),
            )),
            TextLabel(view("sleeps", n=now["sleep"]), "small", 1, True) if now["sleep"] else None,
        ])  # fmt: skip

    def screen_sleep(self, view: AppView) -> ScreenWidget:
        """The sleep timer."""
        options = [(str(each), view("minutes", n=each) if each else view("never"))
                   for each in _SLEEP]  # fmt: skip
        return BottomSheet(
            view("sleep"),
            [Radio("sleep", view("sleep"), options, str(_now(view)["sleep"]), do("sleep"))],
        )

    def screen_search(self, view: AppView) -> ScreenWidget:
        """Songs by title, artist or album."""
        wanted = str(view.value("query")).casefold().strip()
        rows = [row for row in view.rows("songs") if wanted and any(
            wanted in row[name].casefold() for name in ("title", "artist", "album"))]  # fmt: skip
        return AppPage(view("search"), [ListView(rows, lambda row: _song(view, row),
                                                 view("nothing") if wanted else "")],
                       search=TextField("query", view("search"), kind="search"))  # fmt: skip

    def screen_settings(self, view: AppView) -> ScreenWidget:
        """Settings of the app."""
        return AppPage(view("settings"), [
            Heading(view("sound")),
            Slider("crossfade", view("crossfade"), _pref(view, "crossfade"), 0, 12, 1,
                   do("set", name="crossfade")),
            TextLabel(view("seconds", n=_pref(view, "crossfade")), "dim"),
            *(Toggle(view(name), _pref(view, name),
                     do("set", name=name, value=not _pref(view, name)))
              for name in ("loudness", "wifi_only")),
        ])  # fmt: skip

    # Handlers ----------------------------------------------------------------------------------

    def do_set(self, acts: AppActs, name: str, value: Any) -> None:
        """Change a setting."""
        acts.change("prefs", name, value=value)

    def do_play(self, acts: AppActs, id: int) -> None:
        """Play a song."""
        acts.back()
        acts.change("player", "now", song=id, playing=True)

    def do_player(self, acts: AppActs, column: str) -> None:
        """Play or pause; shuffle or not."""
        acts.change("player", "now", **{column: not _now(acts)[column]})

    def do_repeat(self, acts: AppActs) -> None:
        """Repeat nothing, all songs, or one."""
        acts.change("player", "now", repeat=_REPEAT[_now(acts)["repeat"]])

    def do_skip(self, acts: AppActs, by: int) -> None:
        """Play the next or the previous song of the collection."""
        keys = [row["id"] for row in acts.rows("songs")]
        place = keys.index(_now(acts)["song"]) + by
        acts.change("player", "now", song=keys[place % len(keys)], playing=True)

    def do_sleep(self, acts: AppActs, value: str) -> None:
        """Set the sleep timer."""
        acts.back()
        acts.change("player", "now", sleep=int(value))

    def do_like(self, acts: AppActs, id: int) -> None:
        """Like or unlike a song, from its sheet."""
        acts.back()
        self.do_like_here(acts, id)

    def do_like_here(self, acts: AppActs, id: int) -> None:
        """Like or unlike a song."""
        row = acts.row("songs", id)
        acts.change("songs", id, liked=not (row and row["liked"]))

    def do_offline(self, acts: AppActs, id: int) -> None:
        """Download a song, or remove the download."""
        row = acts.row("songs", id)
        acts.back()
        acts.change("songs", id, offline=not (row and row["offline"]))

    def do_add_to(self, acts: AppActs, song: int, playlist: int) -> None:
        """Append a song to a playlist, unless it is already there."""
        inside = _entries(acts, playlist)
        if any(entry["song"] == song for entry in inside):
            acts.toast(acts("already"))
            return
        acts.back()
        if acts.core.top.name == "song":
            acts.back()
        acts.add("entries", playlist=playlist, song=song,
                 place=max((entry["place"] for entry in inside), default=0) + 1)  # fmt: skip
        acts.toast(acts("added"))

    def do_drop_here(self, acts: AppActs, id: int) -> None:
        """Take a song out of a playlist, from its sheet."""
        acts.back()
        self.do_drop(acts, id)

    def do_drop(self, acts: AppActs, id: int) -> None:
        """Take a song out of a playlist; later ones move up."""
        entry = acts.row("entries", id)
        acts.remove("entries", id)
        if entry is not None:
            for place, each in enumerate(_entries(acts, entry["playlist"]), 1):
                if each["place"] != place:
                    acts.change("entries", each["id"], place=place)

    def do_earlier_here(self, acts: AppActs, id: int) -> None:
        """Move a song up, from its sheet."""
        acts.back()
        self.do_earlier(acts, id)

    def do_earlier(self, acts: AppActs, id: int) -> None:
        """Swap a song of a playlist with the one before it."""
        entry = acts.row("entries", id)
        if entry is None:
            return
        for other in _entries(acts, entry["playlist"]):
            if other["place"] == entry["place"] - 1:
                acts.change("entries", other["id"], place=entry["place"])
                acts.change("entries", id, place=entry["place"] - 1)

    def do_playlist_name(self, acts: AppActs, id: int | None) -> None:
        """Create or rename a playlist; names are unique."""
        row = acts.row("playlists", id) if id else None
        name = str(acts.value("name", row["name"] if row else "")).strip()
        if not name or any(each["name"] == name and each["id"] != id
                           for each in acts.rows("playlists")):  # fmt: skip
            acts.toast(acts("name_taken" if name else "name_missing"))
            return
        acts.back()
        if id:
            acts.change("playlists", id, name=name)
        else:
            acts.add("playlists", name=name)
        acts.toast(acts("saved"))

    def do_share(self, acts: AppActs, id: int) -> None:
        """Share the titles of a playlist as text."""
        row = acts.row("playlists", id)
        songs = [acts.row("songs", entry["song"]) for entry in _entries(acts, id)]
        if row is not None:
            acts.share(row["name"], "\n".join(f"{song['title']} – {song['artist']}"
                                              for song in songs if song))  # fmt: skip

    def do_ask_delete(self, acts: AppActs, id: int) -> None:
        """Ask before a playlist is deleted."""
        row = acts.row("playlists", id)
        acts.confirm(acts("delete_question"), do("delete", id=id), acts("delete_playlist"),
                     row["name"] if row else "")  # fmt: skip

    def do_delete(self, acts: AppActs, id: int) -> None:
        """Delete a playlist; its songs stay in the collection."""
        for entry in _entries(acts, id):
            acts.remove("entries", entry["id"])
        acts.remove("playlists", id)
        acts.back()
        acts.toast(acts("deleted"))


def _pref(view: AppView, name: str) -> Any:
    row = view.row("prefs", name)
    return row["value"] if row else None


def _now(view: AppView) -> PhoneRow:
    row = view.row("player", "now")
    assert row is not None
    return row


def _length(row: PhoneRow) -> str:
    return f"{row['seconds'] // 60}:{row['seconds'] % 60:02d}"


def _entries(view: AppView, playlist: int) -> list[PhoneRow]:
    rows = [row for row in view.rows("entries") if row["playlist"] == playlist]
    return sorted(rows, key=lambda row: (row["place"], row["id"]))


def _song(view: AppView, row: PhoneRow) -> ListRow:
    return ListRow(row["title"], f"{row['artist']} · {row['album']}", go("song", id=row["id"]),
                   value=_length(row), picture=("pattern", row["art"]),
                   icon="heart" if row["liked"] else "")  # fmt: skip


def _bar(view: AppView) -> Columns:
    """Return the bar that shows the current song."""
    now = _now(view)
    song = view.row("songs", now["song"])
    return Columns((
        ListRow(song["title"] if song else "", song["artist"] if song else "", go("player"),
                picture=("pattern", song["art"]) if song else None),
        IconButton("pause" if now["playing"] else "play",
                   view("pause" if now["playing"] else "play"), do("player", column="playing")),
    ), (5, 1))  # fmt: skip
