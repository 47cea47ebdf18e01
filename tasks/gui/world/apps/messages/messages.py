"""The messages app."""

from typing import Any, ClassVar

from hexathlon.tasks.gui.world.apps.messages.texts import draw_lines
from hexathlon.tasks.gui.world.kit.events import do, go, open_app
from hexathlon.tasks.gui.world.kit.widgets import (
    AppPage,
    BarAction,
    Bubble,
    Columns,
    Heading,
    IconButton,
    ListRow,
    ListView,
    ScreenWidget,
    TextField,
    TextLabel,
)
from hexathlon.tasks.gui.world.phone.app import ContentDraws, PhoneApp
from hexathlon.tasks.gui.world.phone.context import AppActs, AppView
from hexathlon.tasks.gui.world.phone.core import PhoneRow
from hexathlon.tasks.gui.world.phone.people import draw_person

__all__ = ["MessagesApp"]

_SUGGESTIONS = 8


class MessagesApp(PhoneApp):
    """Conversations."""

    name: ClassVar[str] = "messages"
    icon: ClassVar[str] = "chat"
    colour = (38, 110, 200)
    tables = {"threads": ("unread",), "messages": ("time",)}
    sends = {"messages": {"mine": True}}
    references = {"messages": {"thread": "messages.threads"}}
    receives = {"text": "compose", "file": "compose"}

    def seed(self, draws: ContentDraws) -> None:
        """Draw conversations with contacts, and one or two with unknown numbers."""
        contacts = draws.rows("contacts.contacts")
        people = [
            (row["name"], row["phone"]) for row in draws.sample(contacts, 4 + 3 * draws.scale)
        ]
        people += [("", draw_person(draws).phone) for _ in range(1 + draws.scale // 2)]
        for name, number in draws.sample(people, len(people)):
            thread = draws.add("threads", name=name, number=number, muted=draws.chance(0.1),
                               blocked=False, unread=draws.chance(0.25))  # fmt: skip
            day = -draws.between(0, 20)
            minute = draws.between(7 * 60, 12 * 60)
            for text, mine in draw_lines(draws, known=bool(name)):
                minute += draws.between(1, 40)
                day, minute = (day, minute) if minute < 1_260 else (min(day + 1, 0), 8 * 60)
                # Today's messages predate the phone's start time.
                stamp = draws.stamp(day if day < 0 else -1, minute // 60, minute % 60)
                draws.add("messages", thread=thread, text=text, mine=mine, time=stamp, file="")

    # Screens -----------------------------------------------------------------------------------

    def screen_home(self, view: AppView) -> ScreenWidget:
        """Conversations, the latest first."""
        last: dict[int, PhoneRow] = {}
        for row in view.rows("messages"):
            last[row["thread"]] = row
        threads = sorted(
            view.rows("threads"),
            key=lambda row: (last[row["id"]]["time"] if row["id"] in last else "", row["id"]),
            reverse=True,
        )

        def build(row: PhoneRow) -> ListRow:
            message = last.get(row["id"])
            return ListRow(
                row["name"] or row["number"], message["text"] if message else "",
                go("thread", id=row["id"]),
                value=view.moment(message["time"]) if message else "", bold=row["unread"],
                avatar=row["name"] or "#", icon="mute" if row["muted"] else "",
                long=do("ask_delete", id=row["id"]),
            )  # fmt: skip

        return AppPage(view("app_title"), [ListView(threads, build, view("nothing"))],
                    [BarAction("search", view("search"), go("search"))],
                    BarAction("plus", view("new_message"), go("compose")), home=True)  # fmt: skip

    def screen_search(self, view: AppView) -> ScreenWidget:
        """Messages by text."""
        wanted = view.value("query").casefold().strip()
        names = {row["id"]: row["name"] or row["number"] for row in view.rows("threads")}
        rows = [row for row in view.rows("messages")
                if wanted and wanted in row["text"].casefold()]  # fmt: skip
        rows.sort(key=lambda row: row["time"], reverse=True)

        def build(row: PhoneRow) -> ListRow:
            return ListRow(
                names.get(row["thread"], ""),
                row["text"],
                go("thread", id=row["thread"]),
                value=view.moment(row["time"]),
            )

        return AppPage(view("search"), [ListView(rows, build, view("nothing") if wanted else "")],
                    search=TextField("query", view("search"), kind="search"))  # fmt: skip

    def screen_thread(self, view: AppView) -> ScreenWidget:
        """One conversation."""
        thread = view.row("threads", view.params["id"])
        if thread is None:
            return AppPage(view("app_title"), [TextLabel(view("nothing"), "dim")])
        key = thread["id"]
        children: list[Any] = []
        day = ""
        for row in view.rows("messages"):
            if row["thread"] != key:
                continue
            if row["time"][:10] != day:
                day = row["time"][:10]
                shown = view("today") if day == view.today.isoformat() else view.day(day)
                children.append(TextLabel(shown, "small", centre=True))
            text = row["text"] or row["file"]
            children.append(Bubble(text, row["mine"], view.time(row["time"][11:]),
                                   long=do("message_menu", id=row["id"])))  # fmt: skip
        actions = [
            BarAction("mute", view("unmute" if thread["muted"] else "mute"), do("mute", id=key),
                      rare=True),
            BarAction("block", view("unblock" if thread["blocked"] else "block"),
                      do("block", id=key), rare=True),
            BarAction("delete", view("delete_thread"), do("ask_delete", id=key), rare=True),
        ]  # fmt: skip
        if not thread["name"]:
            new = open_app("contacts", "edit", phone=thread["number"])
            actions.insert(0, BarAction("person_add", view("add_contact"), new, rare=True))
        bottom: list[Any] = [Columns((
            TextField("text", "", hint=view("text"), on=do("send", id=key)),
            IconButton("send", view("send"), do("send", id=key)),
        ), (6, 1))]  # fmt: skip
        if thread["blocked"]:
            bottom = [TextLabel(view("blocked"), "dim", centre=True)]
        return AppPage(
            thread["name"] or thread["number"], children, actions, bottom=bottom, end=True
        )

    def screen_compose(self, view: AppView) -> ScreenWidget:
        """A new message; the name of a contact, or a number."""
        wanted = str(view.value("to", view.params.get("to", ""))).casefold().strip()
        shown = view.value("suggest", "") != wanted
        rows = [
            row for row in view.rows("contacts.contacts")
            if wanted and shown and (wanted in row["name"].casefold() or wanted in row["phone"])
        ][:_SUGGESTIONS] if view.focused == "to" or not view.params.get("to") else []  # fmt: skip
        suggestions: list[Any] = [Heading(view("suggestions"))] if rows else []
        suggestions += [
            ListRow(row["name"], row["phone"], do("choose", name=row["name"], number=row["phone"]),
                    avatar=row["name"])
            for row in rows
        ]  # fmt: skip
        file = view.params.get("file", "")
        return AppPage(view("new_message"), [
            TextField("to", view("to"), view.params.get("to", "")), *suggestions,
            ListRow(file, icon="file") if file else None,
            TextField("text", view("text"), view.params.get("text", ""), multiline=True),
        ], [BarAction("send", view("send"), do("send_new"))])  # fmt: skip

    # Handlers ----------------------------------------------------------------------------------

    def do_send(self, acts: AppActs, id: int) -> None:
        """Send the text typed in a conversation."""
        text = acts.value("text").strip()
        if not text:
            acts.toast(acts("no_text"))
            return
        acts.add("messages", thread=id, text=text, mine=True, time=acts.stamp, file="")
        acts.change("threads", id, unread=False)
        acts.put("text", "")
        acts.toast(acts("sent"))

    def do_choose(self, acts: AppActs, name: str, number: str) -> None:
        """Choose a suggested contact."""
        acts.put("to", name)
        acts.put("number", number)
        acts.put("suggest", name.casefold())

    def do_send_new(self, acts: AppActs) -> None:
        """Send a new message, in the conversation with its recipient."""
        to = str(acts.value("to", acts.params.get("to", ""))).strip()
        text = str(acts.value("text", acts.params.get("text", ""))).strip()
        file = acts.params.get("file", "")
        if not to:
            acts.toast(acts("no_recipient"))
            return
        if not text and not file:
            acts.toast(acts("no_text"))
            return
        name, number = _recipient(acts, to)
        thread = next((row["id"] for row in acts.rows("threads") if row["number"] == number), None)
        if thread is None:
            thread = acts.add("threads", name=name, number=number, muted=False, blocked=False,
                              unread=False)  # fmt: skip
        acts.add("messages", thread=thread, text=text, mine=True, time=acts.stamp, file=file)
        acts.replace("thread", id=thread)
        acts.toast(acts("sent"))

    def do_mute(self, acts: AppActs, id: int) -> None:
        """Mute or unmute a conversation."""
        row = acts.row("threads", id)
        acts.change("threads", id, muted=not (row and row["muted"]))

    def do_block(self, acts: AppActs, id: int) -> None:
        """Block or unblock a number."""
        row = acts.row("threads", id)
        acts.change("threads", id, blocked=not (row and row["blocked"]))

    def do_message_menu(self, acts: AppActs, id: int) -> None:
        """Actions for a message."""
        acts.choose("", [
            (acts("forward"), do("forward", id=id)),
            (acts("copy_to_note"), do("share", id=id)),
            (acts("delete_message"), do("delete_message", id=id)),
        ])  # fmt: skip

    def do_forward(self, acts: AppActs, id: int) -> None:
        """Write a new message with the text of this one."""
        row = acts.row("messages", id)
        if row is not None:
            acts.go("compose", text=row["text"])

    def do_share(self, acts: AppActs, id: int) -> None:
        """Share the text with another app."""
        row = acts.row("messages", id)
        if row is not None:
            acts.share("", row["text"])

    def do_delete_message(self, acts: AppActs, id: int) -> None:
        """Delete one message."""
        acts.remove("messages", id)

    def do_ask_delete(self, acts: AppActs, id: int) -> None:
        """Ask before a conversation is deleted."""
        row = acts.row("threads", id)
        acts.confirm(acts("delete_question"), do("delete", id=id), acts("delete"),
                     (row["name"] or row["number"]) if row else "")  # fmt: skip

    def do_delete(self, acts: AppActs, id: int) -> None:
        """Delete a conversation."""
        for row in acts.rows("messages"):
            if row["thread"] == id:
                acts.remove("messages", row["id"])
        acts.remove("threads", id)
        acts.back_to("home")
        acts.toast(acts("deleted"))


def _recipient(acts: AppActs, to: str) -> tuple[str, str]:
    """Return the name and number of the recipient that was entered."""
    contacts = acts.rows("contacts.contacts")
    number = acts.value("number") or acts.params.get("number", "")
    for row in contacts:
        if row["name"] == to and number in ("", row["phone"]):
            return row["name"], row["phone"]
    for row in contacts:
        if to in (row["phone"], row["name"]) or row["name"].casefold() == to.casefold():
            return row["name"], row["phone"]
    return "", to
