"""Pages on which mail is read: lists, conversations, attachments and the handbook."""

from urllib.parse import urlencode

from hexathlon.tasks.web.world.exchange import WebResponse
from hexathlon.tasks.web.world.site import Call, get, post
from hexathlon.tasks.web.world.sites.mail.search import parse_query
from hexathlon.tasks.web.world.sites.mail.vocabulary import ACTIONS, FOLDERS
from hexathlon.tasks.web.world.store import StoreRow
from hexathlon.tasks.web.world.ui import FormField, Pager

__all__ = ["MailReading", "address_of", "folder_label", "folder_names", "visible_message"]

_PER_PAGE = 25


class MailReading:
    """Handlers of pages that only show mail."""

    @get("/")
    def start(self, call: Call) -> WebResponse:
        """Redirect to the inbox."""
        return call.redirect("/folder/inbox")

    @get("/folder/{name}")
    def folder(self, call: Call, name: str) -> WebResponse:
        """List a folder that every mailbox has."""
        return _folder(call, name)

    @get("/folder")
    def own_folder(self, call: Call) -> WebResponse:
        """List one of the user's folders."""
        return _folder(call, call.arg("name"))

    @get("/starred")
    def starred(self, call: Call) -> WebResponse:
        """List starred messages."""
        return _listing(call, call.words("starred"), "m.starred = 1", [], "/starred?")

    @get("/label")
    def label(self, call: Call) -> WebResponse:
        """List the messages with a label."""
        name = call.arg("name")
        if call.store.row("SELECT name FROM labels WHERE name = ?", (name,)) is None:
            return call.not_found()
        condition = "EXISTS (SELECT 1 FROM tagged g WHERE g.message = m.id AND g.label = ?)"
        return _listing(call, name, condition, [name], f"/label?{urlencode({'name': name})}&")

    @get("/search")
    def find(self, call: Call) -> WebResponse:
        """List the results of a query."""
        text = call.arg("q")
        condition, values = parse_query(text)
        return _listing(
            call,
            call.words("search_results"),
            condition,
            values,
            f"/search?{urlencode({'q': text})}&",
        )

    @get("/threads/{thread:int}")
    def thread(self, call: Call, thread: int) -> WebResponse:
        """Show a conversation, oldest message first."""
        messages = call.store.rows(
            "SELECT * FROM messages m WHERE thread = ? AND sent <= ? AND folder != 'drafts' "
            "ORDER BY sent, id",
            (thread, call.clock.stamp),
        )
        if not messages:
            return call.not_found()
        for message in messages:
            call.store.execute("INSERT OR IGNORE INTO _seen VALUES (?)", (message["id"],))
        ids = ", ".join(str(each["id"]) for each in messages)
        files = call.store.rows(f"SELECT * FROM _attachments WHERE message IN ({ids}) ORDER BY id")
        tags = call.store.rows(f"SELECT * FROM tagged WHERE message IN ({ids}) ORDER BY label")
        originals = {
            each["id"]: each
            for each in call.store.rows(
                f"SELECT o.* FROM messages o JOIN messages m ON m.forwarded = o.id "
                f"WHERE m.id IN ({ids})"
            )
        }
        labels = call.store.rows("SELECT name FROM labels ORDER BY name")
        return call.page(
            "thread.html",
            messages=messages,
            files=files,
            tags=tags,
            originals=originals,
            me=address_of(call),
            subject=messages[0]["subject"],
            folder_label=lambda name: folder_label(call, name),
            folders=folder_names(call),
            labels=[each["name"] for each in labels],
        )

    @get("/messages/{number:int}/body")
    def body(self, call: Call, number: int) -> WebResponse:
        """Show a designed message, such as a newsletter, for a frame."""
        message = visible_message(call, number)
        if message is None:
            return call.not_found()
        return call.fragment("designed.html", message=message)

    @post("/messages/{number:int}/follow")
    def follow(self, call: Call, number: int) -> WebResponse:
        """Follow a button inside a designed message, which notifies its sender."""
        if visible_message(call, number) is None:
            return call.not_found()
        call.store.insert("link_clicks", message=number)
        return call.fragment("followed.html")

    @get("/attachments/{number:int}")
    def attachment(self, call: Call, number: int) -> WebResponse:
        """Download an attachment."""
        row = call.store.row("SELECT * FROM _attachments WHERE id = ?", (number,))
        if row is None or visible_message(call, row["message"]) is None:
            return call.not_found()
        return call.download(row["filename"], row["content"])

    @get("/handbook")
    def handbook(self, call: Call) -> WebResponse:
        """List the pages of the office handbook."""
        pages = call.store.rows("SELECT * FROM _handbook ORDER BY title")
        return call.page("handbook.html", pages=pages)

    @get("/handbook/{name}")
    def handbook_page(self, call: Call, name: str) -> WebResponse:
        """Show a page of the office handbook."""
        page = call.store.row("SELECT * FROM _handbook WHERE name = ?", (name,))
        return call.page("handbook_page.html", page=page) if page else call.not_found()


def address_of(call: Call) -> str:
    """Return the signed-in person's address."""
    account = call.account()
    return "" if account is None else str(account["email"])


def folder_names(call: Call) -> list[str]:
    """Return the names of all folders."""
    own = call.store.rows("SELECT name FROM folders ORDER BY name")
    return [*FOLDERS, *(row["name"] for row in own)]


def folder_label(call: Call, name: str) -> str:
    """Return the label of a folder."""
    return call.words(name) if name in FOLDERS else name


def visible_message(call: Call, number: int) -> StoreRow | None:
    """Return a message that has arrived, or None."""
    return call.store.row(
        "SELECT * FROM messages WHERE id = ? AND sent <= ?", (number, call.clock.stamp)
    )


def folder_url(name: str) -> str:
    """Return the path of a folder."""
    return f"/folder/{name}" if name in FOLDERS else f"/folder?{urlencode({'name': name})}"


def _folder(call: Call, name: str) -> WebResponse:
    if name not in folder_names(call):
        return call.not_found()
    base = folder_url(name)
    return _listing(
        call, folder_label(call, name), "m.folder = ?", [name], base + ("&" if "?" in base else "?")
    )


def _listing(
    call: Call, title: str, condition: str, values: list[object], base: str
) -> WebResponse:
    where = f"{condition} AND m.sent <= ?"
    values = [*values, call.clock.stamp]
    total = call.store.value(f"SELECT count(*) FROM messages m WHERE {where}", values)
    pages = max(1, -(-total // _PER_PAGE))
    page = min(max(1, call.number("page", 1)), pages)
    rows = call.store.rows(
        f"SELECT m.*, s.message IS NULL AS unread FROM messages m LEFT JOIN _seen s "
        f"ON s.message = m.id WHERE {where} ORDER BY m.sent DESC, m.id DESC LIMIT ? OFFSET ?",
        (*values, _PER_PAGE, (page - 1) * _PER_PAGE),
    )
    ids = ", ".join(str(row["id"]) for row in rows) or "0"
    tags: dict[int, list[str]] = {}
    for tag in call.store.rows(
        f"SELECT * FROM tagged WHERE message IN ({ids}) ORDER BY message, label"
    ):
        tags.setdefault(tag["message"], []).append(tag["label"])
    labels = [row["name"] for row in call.store.rows("SELECT name FROM labels ORDER BY name")]
    actions = FormField(
        "action",
        call.words("with_ticked"),
        "select",
        "archive",
        [(each, call.words(f"do_{each}")) for each in ACTIONS],
    )
    own = [name for name in folder_names(call) if name not in FOLDERS]
    none = ("", call.words("not_chosen"))
    targets = FormField(
        "target",
        call.words("target"),
        "select",
        "",
        [none, *((name, name) for name in (*own, *labels))],
    )
    folders = [
        (folder_label(call, name), folder_url(name), _count(call, name))
        for name in folder_names(call)
    ]
    return call.page(
        "list.html",
        heading=title,
        messages=rows,
        tags=tags,
        labels=labels,
        pager=Pager(page, pages, total, base),
        me=address_of(call),
        query=call.arg("q"),
        actions=actions,
        targets=targets,
        folders=folders,
        back=f"{base}page={page}",
    )


def _count(call: Call, folder: str) -> int:
    if folder not in ("inbox", "drafts"):
        return 0
    return int(
        call.store.value(
            "SELECT count(*) FROM messages m WHERE folder = ? AND sent <= ? AND (folder = "
            "'drafts' OR "
            "NOT EXISTS (SELECT 1 FROM _seen s WHERE s.message = m.id))",
            (folder, call.clock.stamp),
        )
    )
