"""The podcasts app."""

from typing import Any, ClassVar

from hexathlon.tasks.gui.world.apps.podcasts.content import PODCAST_TOPICS, seed_podcasts
from hexathlon.tasks.gui.world.kit.events import do, go, put
from hexathlon.tasks.gui.world.kit.widgets import (
    AppPage,
    BarAction,
    Button,
    Chips,
    Choice,
    Columns,
    IconButton,
    ListRow,
    ListView,
    Picture,
    ScreenWidget,
    Select,
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

__all__ = ["PodcastsApp"]

_SKIPS = ("10", "15", "30", "60")


class PodcastsApp(PhoneApp):
    """Shows and episodes."""

    name: ClassVar[str] = "podcasts"
    icon: ClassVar[str] = "podcast"
    colour = (120, 70, 190)
    tables = {"shows": (), "episodes": (), "queue": (), "prefs": ()}

    def seed(self, draws: ContentDraws) -> None:
        """Draw shows and episodes."""
        seed_podcasts(draws)

    # Screens -----------------------------------------------------------------------------------

    def screen_home(self, view: AppView) -> ScreenWidget:
        """New episodes, subscribed shows, or the queue."""
        tab = view.value("tab", "latest")
        tabs = Tabs([Choice(view(name), put("tab", name), tab == name, icon) for name, icon in (
            ("latest", "podcast"), ("shows", "grid"), ("queue", "list"))])  # fmt: skip
        shows = {row["id"]: row for row in view.rows("shows") if row["subscribed"]}
        body: list[Any]
        if tab == "latest":
            hide = view.value("unplayed", False)
            rows = [row for row in view.rows("episodes")
                    if row["show"] in shows and not (hide and row["played"])]  # fmt: skip
            rows.sort(key=lambda row: (row["published"], row["id"]), reverse=True)
            body = [Chips([Choice(view("unplayed"), put("unplayed", not hide), hide)]),
                    ListView(rows, lambda row: _episode(view, row), view("nothing"))]  # fmt: skip
        elif tab == "shows":
            body = [TileGrid([Tile(row["title"], go("show", id=row["id"]),
                                   picture=("pattern", row["art"], row["title"]))
                              for row in shows.values()], 2),
                    Button(view("discover"), go("discover"), "outlined")]  # fmt: skip
        else:
            body = self._queue(view)
        return AppPage(view("app_title"), body, [
            BarAction("search", view("search"), go("search")),
            BarAction("plus", view("discover"), go("discover"), rare=True),
            BarAction("gear", view("settings"), go("settings"), rare=True),
        ], tabs=tabs, home=True)  # fmt: skip

    def _queue(self, view: AppView) -> list[Any]:
        rows: list[Any] = []
        total = 0
        for entry in _queued(view):
            row = view.row("episodes", entry["episode"])
            show = view.row("shows", row["show"]) if row else None
            if row is None or show is None:
                continue
            total += row["minutes"]
            rows.append(ListRow(row["title"], f"{show['title']} · {_minutes(view, row)}",
                                go("episode", id=row["id"]), picture=("pattern", show["art"]),
                                swipe_left=do("unqueue", id=row["id"]),
                                trailing=IconButton("up", f"{view('sooner')}: {row['title']}",
                                                    do("sooner", id=entry["id"]))))  # fmt: skip
        if not rows:
            return [TextLabel(view("nothing"), "dim", centre=True)]
        return [TextLabel(view("total", n=total), "dim"), *rows]

    def screen_show(self, view: AppView) -> ScreenWidget:
        """One show with its episodes."""
        row = view.row("shows", view.params["id"])
        if row is None:
            return AppPage(view("shows"), [TextLabel(view("nothing"), "dim")])
        key = row["id"]
        rows = [each for each in view.rows("episodes") if each["show"] == key]
        rows.sort(key=lambda each: each["number"], reverse=True)
        return AppPage(
            row["title"],
            [
                Columns(
                    (
                        Picture(("pattern", row["art"], row["title"]), 96, row["title"]),
                        TextLabel(f"{row['host']}\n{view(row['topic'])}", "dim"),
                    ),
                    (2, 3),
                ),
                Button(
                    view("unsubscribe" if row["subscribed"] else "subscribe"),
                    do("subscribe", id=key),
                    "outlined" if row["subscribed"] else "filled",
                ),
                ListView(rows, lambda each: _episode(view, each), view("nothing")),
            ],
            [
                BarAction("gear", view("show_settings"), go("show_settings", id=key)),
                BarAction("share", view("share"), do("share", id=key), rare=True),
                BarAction("check", view("all_played"), do("ask_played", id=key), rare=True),
            ],
        )

    def screen_show_settings(self, view: AppView) -> ScreenWidget:
        """Speed and notifications of a show."""
        row = view.row("shows", view.params["id"])
        if row is None:
            return AppPage(view("show_settings"), [TextLabel(view("nothing"), "dim")])
        return AppPage(view("show_settings"), [
            TextLabel(row["title"], "title"),
            Slider("speed", view("speed"), row["speed"], 50, 200, 10, do("speed", id=row["id"])),
            TextLabel(f"{row['speed'] / 100:.1f} ×", "dim"),
            Toggle(view("notify"), row["notify"], do("notify", id=row["id"])),
        ])  # fmt: skip

    def screen_episode(self, view: AppView) -> ScreenWidget:
        """One episode."""
        row = view.row("episodes", view.params["id"])
        show = view.row("shows", row["show"]) if row else None
        if row is None or show is None:
            return AppPage(view("episode"), [TextLabel(view("nothing"), "dim")])
        key = row["id"]
        queued = any(entry["episode"] == key for entry in view.rows("queue"))
        return AppPage(view("episode"), [
            Picture(("pattern", show["art"], show["title"]), 150, show["title"]),
            TextLabel(row["title"], "title"),
            ListRow(show["title"], view("number", n=row["number"]), go("show", id=show["id"])),
            TextLabel(f"{view.day(row['published'])} · {_minutes(view, row)}", "dim"),
            Button(view("unqueue" if queued else "enqueue"),
                   do("unqueue" if queued else "enqueue", id=key)),
            Toggle(view("downloaded"), row["downloaded"], do("flip", id=key, column="downloaded")),
            Toggle(view("played"), row["played"], do("flip", id=key, column="played")),
        ], [BarAction("share", view("share"), do("share_episode", id=key))])  # fmt: skip

    def screen_discover(self, view: AppView) -> ScreenWidget:
        """Shows by topic."""
        topic = view.value("topic", "")
        rows = [row for row in view.rows("shows") if topic in ("", row["topic"])]
        chips = [Choice(view(name), put("topic", "" if topic == name else name), topic == name)
                 for name in PODCAST_TOPICS]  # fmt: skip
        return AppPage(view("discover"), [Chips(chips), ListView(
            rows, lambda row: ListRow(row["title"], f"{row['host']} · {view(row['topic'])}",
                                      go("show", id=row["id"]), picture=("pattern", row["art"]),
                                      icon="check" if row["subscribed"] else ""),
            view("nothing"))])  # fmt: skip

    def screen_search(self, view: AppView) -> ScreenWidget:
        """Episodes and shows by title."""
        wanted = str(view.value("query")).casefold().strip()
        names = {row["id"]: row["title"] for row in view.rows("shows")}
        rows = [
            row
            for row in view.rows("episodes")
            if wanted
            and (wanted in row["title"].casefold() or wanted in names[row["show"]].casefold())
        ]
        return AppPage(view("search"), [ListView(rows, lambda row: _episode(view, row),
                                                 view("nothing") if wanted else "")],
                       search=TextField("query", view("search"), kind="search"))  # fmt: skip

    def screen_settings(self, view: AppView) -> ScreenWidget:
        """Settings of the app."""
        skips = [(each, view("seconds", n=each)) for each in _SKIPS]
        return AppPage(view("settings"), [
            Select("skip", view("skip"), skips, str(_pref(view, "skip")), do("set", name="skip")),
            *(Toggle(view(name), _pref(view, name),
                     do("set", name=name, value=not _pref(view, name)))
              for name in ("wifi_only", "remove_played")),
        ])  # fmt: skip

    # Handlers ----------------------------------------------------------------------------------

    def do_set(self, acts: AppActs, name: str, value: Any) -> None:
        """Change a setting."""
        acts.change("prefs", name, value=int(value) if name == "skip" else value)

    def do_subscribe(self, acts: AppActs, id: int) -> None:
        """Subscribe to or unsubscribe from a show."""
        row = acts.row("shows", id)
        acts.change("shows", id, subscribed=not (row and row["subscribed"]))

    def do_speed(self, acts: AppActs, id: int, value: int) -> None:
        """Set a show's playback speed, in percent."""
        acts.change("shows", id, speed=value)

    def do_notify(self, acts: AppActs, id: int) -> None:
        """Turn notifications of new episodes on or off."""
        row = acts.row("shows", id)
        acts.change("shows", id, notify=not (row and row["notify"]))

    def do_flip(self, acts: AppActs, id: int, column: str) -> None:
        """Flip whether an episode is played or downloaded."""
        row = acts.row("episodes", id)
        acts.change("episodes", id, **{column: not (row and row[column])})

    def do_enqueue(self, acts: AppActs, id: int) -> None:
        """Put an episode at the end of the queue."""
        last = max((row["place"] for row in acts.rows("queue")), default=0)
        acts.add("queue", episode=id, place=last + 1)

    def do_unqueue(self, acts: AppActs, id: int) -> None:
        """Take an episode out of the queue; later ones move up."""
        for entry in acts.rows("queue"):
            if entry["episode"] == id:
                acts.remove("queue", entry["id"])
        for place, entry in enumerate(_queued(acts), 1):
            if entry["place"] != place:
                acts.change("queue", entry["id"], place=place)

    def do_sooner(self, acts: AppActs, id: int) -> None:
        """Swap an episode of the queue with the one before it."""
        entry = acts.row("queue", id)
        for other in _queued(acts):
            if entry is not None and other["place"] == entry["place"] - 1:
                acts.change("queue", other["id"], place=entry["place"])
                acts.change("queue", id, place=entry["place"] - 1)

    def do_ask_played(self, acts: AppActs, id: int) -> None:
        """Ask before all episodes are marked."""
        acts.confirm(acts("played_question"), do("all_played", id=id), acts("all_played"))

    def do_all_played(self, acts: AppActs, id: int) -> None:
        """Mark all episodes of a show as played."""
        for row in acts.rows("episodes"):
            if row["show"] == id and not row["played"]:
                acts.change("episodes", row["id"], played=True)

    def do_share(self, acts: AppActs, id: int) -> None:
        """Share a show as text."""
        row = acts.row("shows", id)
        if row is not None:
            acts.share(row["title"], row["title"])

    def do_share_episode(self, acts: AppActs, id: int) -> None:
        """Share an episode as text."""
        row = acts.row("episodes", id)
        show = acts.row("shows", row["show"]) if row else None
        if row is not None and show is not None:
            acts.share(row["title"], f"{show['title']}: {row['title']}")


def _pref(view: AppView, name: str) -> Any:
    row = view.row("prefs", name)
    return row["value"] if row else None


def _queued(view: AppView) -> list[PhoneRow]:
    return sorted(view.rows("queue"), key=lambda row: (row["place"], row["id"]))


def _minutes(view: AppView, row: PhoneRow) -> str:
    return view("minutes", n=row["minutes"])


def _episode(view: AppView, row: PhoneRow) -> ListRow:
    show = view.row("shows", row["show"])
    name = show["title"] if show else ""
    return ListRow(row["title"], f"{name} · {view.short_day(row['published'])}",
                   go("episode", id=row["id"]), value=_minutes(view, row), bold=not row["played"],
                   picture=("pattern", show["art"]) if show else None,
                   icon="download" if row["downloaded"] else "")  # fmt: skip
