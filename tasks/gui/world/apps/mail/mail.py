"""The mail app."""

from typing import Any, ClassVar

from hexathlon.tasks.gui.world.apps.mail.letters import draw_mails
from hexathlon.tasks.gui.world.kit.events import BACK, PhoneEvent, do, go, open_app, put
from hexathlon.tasks.gui.world.kit.widgets import (
    AppPage,
    BarAction,
    Button,
    Choice,
    Columns,
    Dialog,
    Divider,
    IconButton,
    ListRow,
    ListView,
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

__all__ = ["MAIL_FOLDERS", "MailApp"]

MAIL_FOLDERS = ("inbox", "archive", "sent", "drafts", "spam", "bin")
_ICONS = {"inbox": "inbox", "archive": "archive", "sent": "send", "drafts": "edit",
          "spam": "block", "bin": "delete"}  # fmt: skip
_SUGGESTIONS = 6


class MailApp(PhoneApp):
    """Emails in folders."""

    name: ClassVar[str] = "mail"
    icon: ClassVar[str] = "mail"
    colour = (196, 60, 50)
    tables = {"mails": ("time", "unread"), "prefs": ()}
    sends = {"mails": {"folder": "sent"}}
    receives = {"text": "compose", "file": "compose"}

    def seed(self, draws: ContentDraws) -> None:
        """Draw emails and settings."""
        draw_mails(draws)
        draws.add("prefs", id="signature", value=draws.say("Best wishes", "此致敬礼"))
        draws.add("prefs", id="sign", value=draws.chance(0.3))
        draws.add("prefs", id="swipe", value="archive")
        draws.add("prefs", id="images", value=draws.chance(0.5))

    # Lists -------------------------------------------------------------------------------------

    def screen_home(self, view: AppView) -> ScreenWidget:
        """The inbox, starred emails or the folders."""
        tab = view.value("tab", "inbox")
        rows = view.rows("mails")
        children: list[Any]
        if tab == "folders":
            children = []
            for name in MAIL_FOLDERS:
                inside = [row for row in rows if row["folder"] == name]
                unread = sum(row["unread"] for row in inside)
                detail = view("unread_count", n=unread) if unread else ""
                children.append(ListRow(view(name), detail, go("folder", name=name),
                                        value=str(len(inside)), icon=_ICONS[name]))  # fmt: skip
        elif tab == "starred":
            children = [self._list(view, [row for row in rows if row["starred"]])]
        else:
            children = [self._list(view, [row for row in rows if row["folder"] == "inbox"])]
        tabs = Tabs([
            Choice(view("inbox"), put("tab", "inbox"), tab == "inbox", "inbox"),
            Choice(view("starred"), put("tab", "starred"), tab == "starred", "star"),
            Choice(view("folders"), put("tab", "folders"), tab == "folders", "folder"),
        ])  # fmt: skip
        actions = [
            BarAction("search", view("search"), go("search")),
            BarAction("check", view("all_read"), do("all_read"), rare=True),
            BarAction("gear", view("settings"), go("settings"), rare=True),
        ]
        return AppPage(view("app_title"), children, actions,
                    BarAction("edit", view("compose"), go("compose")), tabs, home=True)  # fmt: skip

    def screen_folder(self, view: AppView) -> ScreenWidget:
        """One folder."""
        name = view.params["name"]
        rows = [row for row in view.rows("mails") if row["folder"] == name]
        actions = [BarAction("search", view("search"), go("search"))]
        if name == "bin" and rows:
            actions.append(BarAction("delete", view("empty_bin"), do("ask_empty"), rare=True))
        return AppPage(view(name), [self._list(view, rows)], actions)

    def screen_search(self, view: AppView) -> ScreenWidget:
        """Emails by sender, recipient, subject or text, in all folders."""
        wanted = view.value("query").casefold().strip()
        rows = [
            row for row in view.rows("mails")
            if wanted and any(wanted in row[name].casefold()
                              for name in ("name", "address", "to", "subject", "body", "file"))
        ]  # fmt: skip
        return AppPage(view("search"), [self._list(view, rows, folders=True) if wanted else None],
                    search=TextField("query", view("search"), kind="search"))  # fmt: skip

    def _list(self, view: AppView, rows: list[PhoneRow], *, folders: bool = False) -> ListView:
        rows = sorted(rows, key=lambda row: (row["time"], row["id"]), reverse=True)
        swipe = view.row("prefs", "swipe")

        def build(row: PhoneRow) -> ListRow:
            key = row["id"]
            who = row["name"] or view("to_whom", who=row["to"] or "…")
            detail = row["subject"] or view("no_subject")
            if row["file"]:
                detail = f"{detail} · {row['file']}"
            if folders:
                detail = f"{view(row['folder'])} · {detail}"
            left = do("put_away", id=key) if swipe and swipe["value"] == "archive" else (
                do("delete", id=key))  # fmt: skip
            return ListRow(
                who, detail, do("open", id=key), do("menu", id=key),
                value=view.moment(row["time"]), avatar=row["name"] or row["to"] or "?",
                bold=row["unread"],
                swipe_left=left if row["folder"] not in ("sent", "drafts") else None,
                trailing=IconButton("star!" if row["starred"] else "star", "",
                                    do("star", id=key), row["starred"]),
            )  # fmt: skip

        return ListView(rows, build, view("nothing"))

    # One email ---------------------------------------------------------------------------------

    def screen_mail(self, view: AppView) -> ScreenWidget:
        """One email."""
        row = view.row("mails", view.params["id"])
        if row is None:
            return AppPage(view("app_title"), [TextLabel(view("nothing"), "dim")])
        key = row["id"]
        day, time = view.day(row["time"][:10]), view.time(row["time"][11:])
        children: list[Any] = [TextLabel(row["subject"] or view("no_subject"), "title")]
        if row["name"]:
            children.append(ListRow(row["name"], row["address"], avatar=row["name"],
                                    on=go("sender", id=key)))  # fmt: skip
        if row["to"]:
            children.append(TextLabel(f"{view('to')}: {row['to']}", "small"))
        if row["cc"]:
            children.append(TextLabel(f"{view('cc')}: {row['cc']}", "small"))
        children += [TextLabel(f"{day} {time}", "small"), Divider(), TextLabel(row["body"])]
        if row["file"]:
            children.append(ListRow(row["file"], view("attachment"), do("file", id=key),
                                    icon="file"))  # fmt: skip
        bottom = []
        if row["name"]:
            bottom = [Columns((
                Button(view("reply"), do("reply", id=key), "outlined"),
                Button(view("forward"), do("forward", id=key), "outlined"),
            ))]  # fmt: skip
        binned = row["folder"] == "bin"
        actions = [
            BarAction("star!" if row["starred"] else "star",
                      view("unstar" if row["starred"] else "star"), do("star", id=key)),
            BarAction("archive", view("archive_it"), do("put_away", id=key)),
            BarAction("delete", view("delete"), do("ask_delete" if binned else "delete", id=key)),
            BarAction("folder", view("move"), do("move", id=key), rare=True),
            BarAction("mail", view("mark_unread"), do("mark_unread", id=key), rare=True),
            BarAction("calendar", view("to_calendar"),
                      open_app("calendar", "edit", title=row["subject"], note=row["body"]),
                      rare=True),
            BarAction("share", view("share"), do("share", id=key), rare=True),
        ]  # fmt: skip
        return AppPage(view(row["folder"]), children, actions, bottom=bottom)

    def screen_sender(self, view: AppView) -> ScreenWidget:
        """The sender of an email, and their other emails."""
        row = view.row("mails", view.params["id"])
        if row is None:
            return AppPage(view("app_title"), [TextLabel(view("nothing"), "dim")])
        rows = [each for each in view.rows("mails") if each["address"] == row["address"]]
        new = open_app("contacts", "edit", name=row["name"])
        known = any(each["email"] == row["address"] for each in view.rows("contacts.contacts"))
        return AppPage(row["name"], [
            TextLabel(row["address"], "dim"),
            Button(view("write_to"), go("compose", to=row["address"]), "outlined"),
            None if known else Button(view("add_contact"), new, "text"),
            self._list(view, rows),
        ])  # fmt: skip

    # Writing -----------------------------------------------------------------------------------

    def screen_compose(self, view: AppView) -> ScreenWidget:
        """The email form, which also receives what other apps share."""
        first = _first(view)
        wanted = str(view.value("to", first["to"])).rpartition(",")[2].casefold().strip()
        people = [
            row for row in view.rows("contacts.contacts")
            if row["email"] and (wanted in row["name"].casefold() or wanted in row["email"])
            and wanted != row["email"]
        ][:_SUGGESTIONS] if wanted and view.focused == "to" else []  # fmt: skip
        more = view.value("more", first["cc"] != "")
        file = first["file"]
        return AppPage(view("new_mail"), [
            TextField("to", view("to"), first["to"]),
            *[ListRow(row["name"], row["email"], do("choose", address=row["email"]),
                      avatar=row["name"]) for row in people],
            TextField("cc", view("cc"), first["cc"]) if more else (
                Button(view("show_cc"), put("more", True), "text")),
            TextField("subject", view("subject"), first["subject"]),
            TextField("body", view("text"), first["body"], multiline=True),
            TextLabel(view.params["quote"], "dim") if view.params.get("quote") else None,
            ListRow(file, view("attachment"), icon="file") if file else None,
        ], [
            BarAction("send", view("send"), do("send")),
            BarAction("note", view("save_draft"), do("save_draft"), rare=True),
        ], back=do("leave"))  # fmt: skip

    def screen_leave(self, view: AppView) -> ScreenWidget:
        """Asks what to do with an unsent email."""
        return Dialog(view("leave_question"), "", (), (
            (view("save_draft"), do("keep")), (view("discard"), do("discard")),
            (view("cancel"), BACK),
        ))  # fmt: skip

    def screen_settings(self, view: AppView) -> ScreenWidget:
        """Signature and swipes."""
        values = {row["id"]: row["value"] for row in view.rows("prefs")}
        swipes = [("archive", view("archive_it")), ("delete", view("delete"))]
        return AppPage(view("settings"), [
            Toggle(view("sign"), bool(values["sign"]),
                   do("set", name="sign", value=not values["sign"])),
            ListRow(view("signature"), values["signature"], go("signature"), icon="edit"),
            Select("swipe", view("swipe"), swipes, values["swipe"], do("set", name="swipe")),
            Toggle(view("images"), bool(values["images"]),
                   do("set", name="images", value=not values["images"])),
        ])  # fmt: skip

    def screen_signature(self, view: AppView) -> ScreenWidget:
        """Prompt for the signature."""
        row = view.row("prefs", "signature") or {"value": ""}
        return Dialog(view("signature"), "", [
            TextField("signature", view("signature"), row["value"]),
        ], ((view("save"), do("signature")), (view("cancel"), BACK)))  # fmt: skip

    # Handlers ----------------------------------------------------------------------------------

    def do_open(self, acts: AppActs, id: int) -> None:
        """Show an email; drafts open in the form."""
        row = acts.row("mails", id)
        if row is None:
            return
        if row["folder"] == "drafts":
            acts.go("compose", draft=id)
            return
        acts.change("mails", id, unread=False)
        acts.go("mail", id=id)

    def do_star(self, acts: AppActs, id: int) -> None:
        """Set or remove the star."""
        row = acts.row("mails", id)
        acts.change("mails", id, starred=not (row and row["starred"]))

    def do_all_read(self, acts: AppActs) -> None:
        """Mark the whole inbox as read."""
        for row in acts.rows("mails"):
            if row["folder"] == "inbox" and row["unread"]:
                acts.change("mails", row["id"], unread=False)
        acts.toast(acts("saved"))

    def do_mark_unread(self, acts: AppActs, id: int) -> None:
        """Mark an email as unread."""
        acts.back()
        acts.change("mails", id, unread=True)

    def do_menu(self, acts: AppActs, id: int) -> None:
        """Actions for an email in a list."""
        acts.choose("", [
            (acts("archive_it"), do("put_away", id=id)), (acts("move"), do("move", id=id)),
            (acts("mark_unread"), do("unread", id=id)), (acts("delete"), do("delete", id=id)),
        ])  # fmt: skip

    def do_unread(self, acts: AppActs, id: int) -> None:
        """Mark an email in a list as unread."""
        acts.change("mails", id, unread=True)

    def do_put_away(self, acts: AppActs, id: int) -> None:
        """Archive an email."""
        self.do_place(acts, id, "archive")

    def do_delete(self, acts: AppActs, id: int) -> None:
        """Put an email into the bin."""
        self.do_place(acts, id, "bin")

    def do_move(self, acts: AppActs, id: int) -> None:
        """Choose a folder for an email."""
        row = acts.row("mails", id)
        here = row["folder"] if row else ""
        acts.choose(acts("move"), [
            (acts(name), do("place", id=id, name=name))
            for name in ("inbox", "archive", "spam", "bin") if name != here
        ])  # fmt: skip

    def do_place(self, acts: AppActs, id: int, name: str) -> None:
        """Put an email into a folder."""
        if acts.core.top.name == "mail":
            acts.back()
        acts.change("mails", id, folder=name)
        acts.toast(acts("moved", folder=acts(name)))

    def do_ask_delete(self, acts: AppActs, id: int) -> None:
        """Ask before an email is deleted permanently."""
        acts.confirm(acts("erase_question"), do("erase", id=id), acts("delete"))

    def do_erase(self, acts: AppActs, id: int) -> None:
        """Delete an email permanently."""
        acts.back()
        acts.remove("mails", id)
        acts.toast(acts("deleted"))

    def do_ask_empty(self, acts: AppActs) -> None:
        """Ask before the bin is emptied."""
        acts.confirm(acts("empty_question"), do("empty"), acts("empty_bin"))

    def do_empty(self, acts: AppActs) -> None:
        """Empty the bin."""
        for row in acts.rows("mails"):
            if row["folder"] == "bin":
                acts.remove("mails", row["id"])

    def do_file(self, acts: AppActs, id: int) -> None:
        """Share an attachment."""
        row = acts.row("mails", id)
        if row is not None:
            acts.share(file=row["file"])

    def do_share(self, acts: AppActs, id: int) -> None:
        """Share an email as text."""
        row = acts.row("mails", id)
        if row is not None:
            acts.share(row["subject"], row["body"])

    def do_reply(self, acts: AppActs, id: int) -> None:
        """Reply to an email."""
        row = acts.row("mails", id)
        if row is not None:
            acts.go("compose", to=row["address"], subject=_prefixed("Re: ", row["subject"]))

    def do_forward(self, acts: AppActs, id: int) -> None:
        """Forward an email."""
        row = acts.row("mails", id)
        if row is not None:
            sender = f"{row['name']} <{row['address']}>" if row["name"] else acts("sent")
            quote = acts("quoted", sender=sender, subject=row["subject"], text=row["body"])
            acts.go("compose", subject=_prefixed("Fwd: ", row["subject"]), quote=quote,
                    file=row["file"])  # fmt: skip

    def do_choose(self, acts: AppActs, address: str) -> None:
        """Choose a suggested recipient."""
        written = str(acts.value("to", _first(acts)["to"])).rpartition(",")[0].strip()
        acts.put("to", f"{written}, {address}" if written else address)
        acts.core.focus = ""

    def do_send(self, acts: AppActs) -> None:
        """Send the email."""
        values = _with_quote(acts)
        addresses = [each.strip() for each in values["to"].split(",") if each.strip()]
        wrong = [each for each in addresses if "@" not in each or " " in each]
        if not addresses or wrong:
            acts.toast(acts("wrong_address", what=wrong[0]) if wrong else acts("no_recipient"))
            return
        sign = acts.row("prefs", "sign")
        signature = acts.row("prefs", "signature")
        if sign and signature and sign["value"] and signature["value"]:
            values["body"] = f"{values['body']}\n{signature['value']}".strip()
        self._store(acts, {**values, "to": ", ".join(addresses)}, "sent")
        acts.back()
        acts.toast(acts("was_sent"))

    def do_save_draft(self, acts: AppActs) -> None:
        """Save the email as a draft."""
        self._store(acts, _with_quote(acts), "drafts")
        acts.back()
        acts.toast(acts("draft_saved"))

    def do_leave(self, acts: AppActs) -> None:
        """Ask what to do with an unfinished email."""
        if _written(acts) == _first(acts):
            acts.back()
        else:
            acts.go("leave")

    def do_keep(self, acts: AppActs) -> None:
        """Save the email below the dialog as a draft."""
        acts.back()
        acts.core.dispatch(self.name, PhoneEvent("do", "save_draft"))

    def do_discard(self, acts: AppActs) -> None:
        """Discard the email below the dialog."""
        acts.back(2)

    def _store(self, acts: AppActs, values: dict[str, str], folder: str) -> None:
        draft = acts.params.get("draft")
        row = {"folder": folder, "name": "", "address": "", **values, "time": acts.stamp,
               "unread": False, "starred": False}  # fmt: skip
        if draft:
            acts.change("mails", draft, **row)
        else:
            acts.add("mails", **row)

    def do_set(self, acts: AppActs, name: str, value: Any) -> None:
        """Change a setting."""
        acts.change("prefs", name, value=value)

    def do_signature(self, acts: AppActs) -> None:
        """Change the signature."""
        row = acts.row("prefs", "signature")
        text = str(acts.value("signature", row["value"] if row else "")).strip()
        acts.back()
        acts.change("prefs", "signature", value=text)


def _prefixed(prefix: str, subject: str) -> str:
    return subject if subject.startswith(prefix) else prefix + subject


def _first(view: AppView) -> dict[str, str]:
    """Return the form's initial values: a draft's, or those passed in."""
    draft = view.row("mails", view.params.get("draft")) if view.params.get("draft") else None
    if draft is not None:
        return {name: draft[name] for name in ("to", "cc", "subject", "body", "file")}
    given = view.params
    return {"to": given.get("to", ""), "cc": "",
            "subject": given.get("subject") or given.get("title", ""),
            "body": given.get("text", ""), "file": given.get("file", "")}  # fmt: skip


def _written(view: AppView) -> dict[str, str]:
    return {name: str(view.value(name, value)).strip() for name, value in _first(view).items()}


def _with_quote(view: AppView) -> dict[str, str]:
    """Return the text in the form, with the forwarded email below it."""
    values = _written(view)
    quote = view.params.get("quote", "")
    return {**values, "body": f"{values['body']}\n\n{quote}".strip()} if quote else values
