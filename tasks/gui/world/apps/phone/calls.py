"""The phone app."""

from typing import Any, ClassVar

from hexathlon.tasks.gui.world.kit.events import BACK, do, go, open_app, put
from hexathlon.tasks.gui.world.kit.widgets import (
    AppPage,
    BarAction,
    Button,
    Chips,
    Choice,
    Columns,
    Dialog,
    Heading,
    IconButton,
    ListRow,
    ListView,
    ScreenWidget,
    Spacer,
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
from hexathlon.tasks.gui.world.phone.people import draw_person

__all__ = ["PhoneCallsApp", "caller_name"]

_KINDS = ("in", "out", "missed")
_ICONS = {"in": "down", "out": "up", "missed": "close"}
_KEYS = (("1", ""), ("2", "ABC"), ("3", "DEF"), ("4", "GHI"), ("5", "JKL"), ("6", "MNO"),
         ("7", "PQRS"), ("8", "TUV"), ("9", "WXYZ"), ("*", ""), ("0", "+"), ("#", ""))  # fmt: skip
_MESSAGES = (
    "Please call me back about booking {n}.|请就预订{n}给我回电。",
    "The delivery is now planned for {h} o'clock.|送货时间现改为{h}点。",
    "I could not reach you. The code is {n}.|没联系上您，口令是{n}。",
    "It's me. We meet at {h}, at the side entrance.|是我。我们{h}点在侧门见。",
    "Your glasses are ready, ticket {n}.|您的眼镜配好了，单号{n}。",
    "Could you bring {m} plates on Sunday?|周日能带{m}个盘子来吗？",
    "The appointment has to be moved, ring {n} please.|预约需要改期，请拨分机{n}。",
    "Nothing urgent, just saying hello.|没什么急事，只是问候一下。",
)  # fmt: skip


class PhoneCallsApp(PhoneApp):
    """Calls and voicemail."""

    name: ClassVar[str] = "phone"
    icon: ClassVar[str] = "phone"
    colour = (40, 150, 80)
    tables = {"calls": ("time", "seconds"), "voicemails": ("heard",), "favourites": (),
              "blocked": (), "prefs": (), "incoming": ("time",)}  # fmt: skip
    sends = {"calls": {"kind": "out"}}
    ephemeral = ("incoming",)

    def seed(self, draws: ContentDraws) -> None:
        """Draw calls of the last weeks, voicemails and favourites."""
        contacts = draws.rows("contacts.contacts")
        people = [
            (row["name"], row["phone"]) for row in draws.sample(contacts, 8 + 3 * draws.scale)
        ]
        people += [("", draw_person(draws).phone) for _ in range(3 + draws.scale)]
        count = 20 + 20 * draws.scale
        for number in range(count):
            day = -((count - number) * 30 // count) - 1
            name, phone = draws.pick(people)
            kind = draws.pick(("in", "out", "missed", "out"))
            seconds = 0 if kind == "missed" else draws.between(8, 1900)
            draws.add("calls", name=name, number=phone, kind=kind, seconds=seconds,
                      time=draws.stamp(day, 7 + number % 15, draws.between(0, 59)))  # fmt: skip
        side = 1 if draws.language == "zh" else 0
        for number in range(4 + 3 * draws.scale):
            name, phone = draws.pick(people)
            text = (
                draws.pick(_MESSAGES)
                .split("|")[side]
                .format(n=draws.between(1000, 9999), h=draws.between(9, 18), m=draws.between(4, 24))
            )
            draws.add(
                "voicemails",
                name=name,
                number=phone,
                text=text,
                seconds=draws.between(6, 70),
                heard=draws.chance(0.5),
                time=draws.stamp(-number - 1, draws.between(8, 20), draws.between(0, 59)),
            )
        for row in draws.sample(contacts, 4):
            draws.add("favourites", name=row["name"], number=row["phone"])
        for _ in range(2):
            draws.add("blocked", number=draw_person(draws).phone)
        draws.add("prefs", id="forward_to", value="")
        draws.add("prefs", id="waiting", value=draws.chance(0.5))
        draws.add("prefs", id="hide_number", value=False)
        draws.add("prefs", id="greeting", value=draws.say("Leave a message, please.",
                                                          "请留言。"))  # fmt: skip

    # Screens -----------------------------------------------------------------------------------

    def screen_home(self, view: AppView) -> ScreenWidget:
        """Recent calls, favourites, the keypad or voicemail."""
        tab = view.value("tab", "recents")
        children = {"recents": self._recents, "favourites": self._favourites,
                    "keypad": self._keypad, "voicemail": self._voicemail}[tab](view)  # fmt: skip
        tabs = Tabs([
            Choice(view(name), put("tab", name), tab == name, icon)
            for name, icon in (("recents", "calls"), ("favourites", "star"), ("keypad", "grid"),
                               ("voicemail", "mic"))
        ])  # fmt: skip
        create = None
        if tab == "favourites":
            create = BarAction("plus", view("add_favourite"), go("pick"))
        actions = [
            BarAction("search", view("search"), go("search")),
            BarAction("gear", view("settings"), go("settings"), rare=True),
        ]
        return AppPage(view("app_title"), children, actions, create, tabs, home=True)

    def _recents(self, view: AppView) -> list[Any]:
        chosen = view.value("kind", "")
        rows = [row for row in view.rows("calls") if chosen in ("", row["kind"])]
        rows += [row for row in view.rows("incoming") if chosen in ("", row["kind"])]
        chips = [Choice(view("all"), put("kind", ""), chosen == "")]
        chips += [Choice(view(kind), put("kind", kind), chosen == kind) for kind in _KINDS]
        return [Chips(chips), self._list(view, rows)]

    def _list(self, view: AppView, rows: list[PhoneRow]) -> ListView:
        rows = sorted(rows, key=lambda row: (row["time"], str(row["id"])), reverse=True)

        def build(row: PhoneRow) -> ListRow:
            name = caller_name(view, row["number"])
            detail = view(row["kind"])
            if row["seconds"]:
                detail = f"{detail} · {_span(row['seconds'])}"
            return ListRow(name or row["number"], detail, go("number", number=row["number"]),
                           value=view.moment(row["time"]), icon=_ICONS[row["kind"]],
                           swipe_left=do("drop_call", id=row["id"]),
                           danger=row["kind"] == "missed",
                           trailing=IconButton("phone", "",
                                               do("call", number=row["number"])))  # fmt: skip

        return ListView(rows, build, view("nothing"))

    def _favourites(self, view: AppView) -> list[Any]:
        rows = view.rows("favourites")

        def build(row: PhoneRow) -> ListRow:
            return ListRow(row["name"], row["number"], do("call", number=row["number"]),
                           avatar=row["name"], swipe_left=do("drop_favourite", id=row["id"]),
                           trailing=IconButton("close", view("drop_favourite", name=row["name"]),
                                               do("drop_favourite", id=row["id"])))  # fmt: skip

        return [ListView(rows, build, view("nothing"))]

    def _keypad(self, view: AppView) -> list[Any]:
        typed = view.value("typed")
        name = caller_name(view, typed)
        tiles = [Tile(key, do("dial", key=key), text=key, mark=letters, caption=False)
                 for key, letters in _KEYS]  # fmt: skip
        return [
            Spacer(16), TextLabel(typed or " ", "big", centre=True),
            TextLabel(name, "dim", centre=True),
            TileGrid(tiles, 3, 60),
            Columns((
                Button(view("call"), do("call_typed")),
                IconButton("erase", view("erase"), do("erase")),
            ), (4, 1)),
        ]  # fmt: skip

    def _voicemail(self, view: AppView) -> list[Any]:
        rows = sorted(view.rows("voicemails"), key=lambda row: (row["time"], row["id"]),
                      reverse=True)  # fmt: skip

        def build(row: PhoneRow) -> ListRow:
            name = caller_name(view, row["number"]) or row["number"]
            return ListRow(name, row["text"], do("hear", id=row["id"]), icon="mic",
                           value=view.moment(row["time"]), bold=not row["heard"],
                           swipe_left=do("ask_drop", id=row["id"]))  # fmt: skip

        return [ListView(rows, build, view("nothing"))]

    def screen_search(self, view: AppView) -> ScreenWidget:
        """Calls by name or number."""
        wanted = view.value("query").casefold().strip()
        rows = [row for row in view.rows("calls")
                if wanted and wanted in
                f"{row['number']} {caller_name(view, row['number']).casefold()}"]  # fmt: skip
        return AppPage(view("search"), [self._list(view, rows) if wanted else None],
                    search=TextField("query", view("search"), kind="search"))  # fmt: skip

    def screen_number(self, view: AppView) -> ScreenWidget:
        """One number: its contact and all calls."""
        number = view.params["number"]
        name = caller_name(view, number)
        rows = [row for row in view.rows("calls") if row["number"] == number]
        blocked = any(row["number"] == number for row in view.rows("blocked"))
        actions = [
            BarAction("block", view("unblock" if blocked else "block"),
                      do("block" if not blocked else "unblock", number=number), rare=True),
            BarAction("share", view("share"), do("share", number=number), rare=True),
            BarAction("delete", view("clear_calls"), do("ask_clear", number=number), rare=True),
        ]  # fmt: skip
        if not name:
            new = open_app("contacts", "edit", phone=number)
            actions.insert(0, BarAction("person_add", view("add_contact"), new, rare=True))
        return AppPage(name or number, [
            TextLabel(number if name else view("unknown"), "dim", centre=True),
            TextLabel(view("is_blocked"), "error", centre=True) if blocked else None,
            Columns((
                Button(view("call"), do("call", number=number)),
                Button(view("message"), open_app("messages", "compose", to=name or number,
                                                 number=number), "outlined"),
            )),
            Heading(view("recents")), self._list(view, rows),
        ], actions)  # fmt: skip

    def screen_voicemail(self, view: AppView) -> ScreenWidget:
        """One voicemail, with its transcript."""
        row = view.row("voicemails", view.params["id"])
        if row is None:
            return AppPage(view("voicemail"), [TextLabel(view("nothing"), "dim")])
        name = caller_name(view, row["number"])
        day, time = view.day(row["time"][:10]), view.time(row["time"][11:])
        return AppPage(view("voicemail"), [
            TextLabel(name or row["number"], "title"),
            TextLabel(f"{day} {time} · {_span(row['seconds'])}", "small"), TextLabel(row["text"]),
            Columns((
                Button(view("call_back"), do("call", number=row["number"])),
                Button(view("message"), open_app("messages", "compose", to=name or row["number"],
                                                 number=row["number"]), "outlined"),
            )),
        ], [
            BarAction("share", view("share"), do("share_voicemail", id=row["id"])),
            BarAction("delete", view("delete"), do("ask_drop", id=row["id"])),
        ])  # fmt: skip

    def screen_pick(self, view: AppView) -> ScreenWidget:
        """Contacts that can become favourites."""
        wanted = view.value("query").casefold().strip()
        taken = {row["number"] for row in view.rows("favourites")}
        rows = [row for row in view.rows("contacts.contacts")
                if row["phone"] not in taken and wanted in row["name"].casefold()]  # fmt: skip
        rows.sort(key=lambda row: row["name"].casefold())

        def build(row: PhoneRow) -> ListRow:
            return ListRow(row["name"], row["phone"], do("add_favourite", name=row["name"],
                                                         number=row["phone"]),
                           avatar=row["name"])  # fmt: skip

        return AppPage(view("add_favourite"), [ListView(rows, build, view("nothing"))],
                    search=TextField("query", view("search"), kind="search"))  # fmt: skip

    def screen_call(self, view: AppView) -> ScreenWidget:
        """An outgoing call."""
        number = view.params["number"]
        name = caller_name(view, number)
        muted, loud = view.value("muted", False), view.value("loud", False)
        return AppPage(view("calling"), [
            Spacer(40), TextLabel(name or number, "big", centre=True),
            TextLabel(number, "dim", centre=True), Spacer(60),
            Columns((
                Button(view("mute"), put("muted", not muted), "filled" if muted else "outlined"),
                Button(view("speaker"), put("loud", not loud), "filled" if loud else "outlined"),
            )),
            Spacer(20), Button(view("hang_up"), BACK, "danger"),
        ], home=True)  # fmt: skip

    def screen_settings(self, view: AppView) -> ScreenWidget:
        """Forwarding, voicemail and blocked numbers."""
        values = {row["id"]: row["value"] for row in view.rows("prefs")}
        return AppPage(view("settings"), [
            ListRow(view("forward"), values["forward_to"] or view("none"),
                    go("text", name="forward_to"), icon="forward"),
            ListRow(view("greeting"), values["greeting"], go("text", name="greeting"), icon="mic"),
            Toggle(view("waiting"), bool(values["waiting"]),
                   do("set", name="waiting", value=not values["waiting"])),
            Toggle(view("hide_number"), bool(values["hide_number"]),
                   do("set", name="hide_number", value=not values["hide_number"])),
            ListRow(view("blocked_numbers"), on=go("blocked"), icon="block",
                    value=str(len(view.rows("blocked")))),
        ])  # fmt: skip

    def screen_text(self, view: AppView) -> ScreenWidget:
        """Prompt for a number to forward to, or for the greeting."""
        name = view.params["name"]
        row = view.row("prefs", name) or {"value": ""}
        title = view("forward" if name == "forward_to" else name)
        kind: Any = "phone" if name == "forward_to" else "text"
        return Dialog(title, "", [TextField("text", title, row["value"], kind=kind)], (
            (view("save"), do("text", name=name)), (view("cancel"), BACK),
        ))  # fmt: skip

    def screen_blocked(self, view: AppView) -> ScreenWidget:
        """Blocked numbers."""
        rows: list[Any] = [
            ListRow(caller_name(view, row["number"]) or row["number"], row["number"],
                    icon="block", trailing=IconButton(
                        "close", view("unblock_number", name=row["number"]),
                        do("unblock", number=row["number"])))
            for row in view.rows("blocked")
        ]  # fmt: skip
        return AppPage(view("blocked_numbers"), rows or [TextLabel(view("nothing"), "dim")], (),
                    BarAction("plus", view("block_number"), go("block")))  # fmt: skip

    def screen_block(self, view: AppView) -> ScreenWidget:
        """Prompt for a number to block."""
        return Dialog(view("block_number"), "", [
            TextField("text", view("number"), kind="phone"),
        ], ((view("block"), do("block_typed")), (view("cancel"), BACK)))  # fmt: skip

    # Handlers ----------------------------------------------------------------------------------

    def do_dial(self, acts: AppActs, key: str) -> None:
        """Press a key of the keypad."""
        acts.put("typed", (acts.value("typed") + key)[:24])

    def do_erase(self, acts: AppActs) -> None:
        """Remove the last digit."""
        acts.put("typed", acts.value("typed")[:-1])

    def do_call_typed(self, acts: AppActs) -> None:
        """Call the number on the keypad."""
        typed = acts.value("typed")
        if not typed:
            acts.toast(acts("no_number"))
            return
        plain = _digits(typed)
        number = next((row["phone"] for row in acts.rows("contacts.contacts")
                       if _digits(row["phone"]) == plain), typed)  # fmt: skip
        self.do_call(acts, number)

    def do_call(self, acts: AppActs, number: str) -> None:
        """Call a number; in airplane mode nothing happens."""
        if acts.setting("airplane"):
            acts.toast(acts("no_signal"))
            return
        acts.add("calls", name=caller_name(acts, number), number=number, kind="out", seconds=0,
                 time=acts.stamp)  # fmt: skip
        acts.go("call", number=number)

    def do_drop_call(self, acts: AppActs, id: int | str) -> None:
        """Remove one call from the list."""
        acts.remove("calls" if isinstance(id, int) else "incoming", id)

    def do_ask_clear(self, acts: AppActs, number: str) -> None:
        """Ask before all calls with a number are removed."""
        acts.confirm(acts("clear_question"), do("clear", number=number), acts("delete"), number)

    def do_clear(self, acts: AppActs, number: str) -> None:
        """Remove all calls with a number."""
        for row in acts.rows("calls"):
            if row["number"] == number:
                acts.remove("calls", row["id"])

    def do_block(self, acts: AppActs, number: str) -> None:
        """Block a number."""
        if all(row["number"] != number for row in acts.rows("blocked")):
            acts.add("blocked", number=number)
        acts.toast(acts("is_blocked"))

    def do_block_typed(self, acts: AppActs) -> None:
        """Block the number that was entered."""
        number = str(acts.value("text")).strip()
        acts.back()
        if number:
            self.do_block(acts, number)

    def do_unblock(self, acts: AppActs, number: str) -> None:
        """Unblock a number."""
        for row in acts.rows("blocked"):
            if row["number"] == number:
                acts.remove("blocked", row["id"])

    def do_add_favourite(self, acts: AppActs, name: str, number: str) -> None:
        """Add a contact to the favourites."""
        acts.back()
        acts.add("favourites", name=name, number=number)

    def do_drop_favourite(self, acts: AppActs, id: int) -> None:
        """Remove a favourite."""
        acts.remove("favourites", id)

    def do_hear(self, acts: AppActs, id: int) -> None:
        """Listen to a voicemail."""
        acts.change("voicemails", id, heard=True)
        acts.go("voicemail", id=id)

    def do_ask_drop(self, acts: AppActs, id: int) -> None:
        """Ask before a voicemail is deleted."""
        acts.confirm(acts("drop_question"), do("drop", id=id), acts("delete"))

    def do_drop(self, acts: AppActs, id: int) -> None:
        """Delete a voicemail."""
        if acts.core.top.name == "voicemail":
            acts.back()
        acts.remove("voicemails", id)
        acts.toast(acts("deleted"))

    def do_share(self, acts: AppActs, number: str) -> None:
        """Share a number as text."""
        acts.share(caller_name(acts, number), number)

    def do_share_voicemail(self, acts: AppActs, id: int) -> None:
        """Share the transcript of a voicemail."""
        row = acts.row("voicemails", id)
        if row is not None:
            acts.share(caller_name(acts, row["number"]) or row["number"], row["text"])

    def do_text(self, acts: AppActs, name: str) -> None:
        """Store the number or the greeting that was entered."""
        row = acts.row("prefs", name)
        text = str(acts.value("text", row["value"] if row else "")).strip()
        acts.back()
        acts.change("prefs", name, value=text)

    def do_set(self, acts: AppActs, name: str, value: Any) -> None:
        """Change a setting."""
        acts.change("prefs", name, value=value)


def caller_name(view: AppView, number: str) -> str:
    """Return the name of the contact with a number; empty if there is none."""
    return next((row["name"] for row in view.rows("contacts.contacts")
                 if row["phone"] == number), "")  # fmt: skip


def _digits(number: str) -> str:
    return "".join(char for char in number if char.isdigit() or char in "*#+")


def _span(seconds: int) -> str:
    return f"{seconds // 60}:{seconds % 60:02d}"
