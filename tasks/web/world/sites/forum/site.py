"""Handlers of the forum: boards, threads, posts, votes, members and messages."""

from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any, ClassVar
from urllib.parse import quote

from hexathlon.tasks.web.world.exchange import WebResponse
from hexathlon.tasks.web.world.people import Person
from hexathlon.tasks.web.world.site import Call, Site, SiteBrief, get, post
from hexathlon.tasks.web.world.sites.forum.content import populate
from hexathlon.tasks.web.world.sites.forum.moderating import Moderating
from hexathlon.tasks.web.world.sites.forum.reading import (
    board_options,
    handles_of,
    member_by_login,
    pager_of,
    posts_where,
    thread_of,
)
from hexathlon.tasks.web.world.sites.forum.vocabulary import label_of
from hexathlon.tasks.web.world.store import SiteStore
from hexathlon.tasks.web.world.ui import FormField

__all__ = ["SITE", "Forum"]

_PER_PAGE = 20
_POSTS = 10


class Forum(Moderating, Site):
    """A forum of a region."""

    name: ClassVar[str] = "forum"
    schema: ClassVar[str] = (
        resources.files("hexathlon.tasks.web.world.sites.forum")
        .joinpath("schema.sql")
        .read_text("utf-8")
    )
    volatile: ClassVar[Mapping[str, Sequence[str]]] = {
        "threads": ("id", "created", "latest"),
        "posts": ("id", "created", "score"),
        "votes": ("id",),
        "reports": ("remark",),
        "sanctions": ("id", "issued"),
        "messages": ("id", "created"),
        "subscriptions": ("id",),
    }

    def populate(self, store: SiteStore, brief: SiteBrief) -> None:
        """Fill members, threads and reports."""
        populate(store, brief)

    def role_of(self, brief: SiteBrief, person: Person) -> str:
        """Make the user a moderator."""
        return "moderator" if person in brief.people[:3] else "member"

    def navigation(self, call: Call) -> Sequence[tuple[str, str]]:
        """Return the main navigation."""
        items = [
            ("boards", "/boards"),
            ("everything", "/search"),
            ("members", "/members"),
            ("messages", "/messages"),
            ("subscriptions", "/subscriptions"),
            ("reports", "/reports"),
            ("handbook", "/handbook"),
        ]
        return [(call.words(key), path) for key, path in items]

    def run_job(self, call: Call, kind: str, subject: str) -> None:
        """Report that a vote was not saved."""
        number, _, login = subject.partition(" ")
        call.store.insert(
            "_notices", person=login, kind="error", text=call.words("vote_failed", number=number)
        )

    @get("/")
    def start(self, call: Call) -> WebResponse:
        """Redirect to the boards."""
        return call.redirect("/boards")

    @get("/boards")
    def boards(self, call: Call) -> WebResponse:
        """List boards with the number of their threads."""
        rows = call.store.rows(
            "SELECT b.*, (SELECT count(*) FROM threads t WHERE t.board = b.id) AS count FROM "
            "boards b ORDER BY b.id"
        )
        latest = call.store.rows(
            "SELECT id, title, latest FROM threads ORDER BY latest DESC, id LIMIT 6"
        )
        return call.page("boards.html", boards=rows, latest=latest)

    @get("/boards/{number:int}")
    def board(self, call: Call, number: int) -> WebResponse:
        """List the threads of a board, pinned ones first."""
        row = call.store.row("SELECT * FROM boards WHERE id = ?", (number,))
        if row is None:
            return call.not_found()
        text = call.arg("q")
        where, values = "t.board = ? AND t.title LIKE ?", (number, f"%{text}%")
        total = call.store.value(f"SELECT count(*) FROM threads t WHERE {where}", values)
        pager = pager_of(call, total, _PER_PAGE, f"/boards/{number}?q={quote(text)}&")
        threads = call.store.rows(
            "SELECT t.*, m.handle, (SELECT count(*) FROM posts p WHERE p.thread = t.id) AS count "
            f"FROM threads t JOIN members m ON m.id = t.author WHERE {where} ORDER BY t.pinned "
            "DESC, t.latest DESC, t.id LIMIT ? OFFSET ?",
            (*values, _PER_PAGE, (pager.page - 1) * _PER_PAGE),
        )
        field = FormField("q", call.words("title_label"), "text", text)
        return call.page("board.html", board=row, threads=threads, pager=pager, field=field)

    @get("/threads/{number:int}")
    def thread(self, call: Call, number: int) -> WebResponse:
        """Show a thread, ten posts per page."""
        row = thread_of(call, number)
        if row is None:
            return call.not_found()
        total = call.store.value("SELECT count(*) FROM posts WHERE thread = ?", (number,))
        pager = pager_of(call, total, _POSTS, f"/threads/{number}?")
        posts = posts_where(
            call, "p.thread = ?", (number,), _POSTS, (pager.page - 1) * _POSTS, "p.created, p.id"
        )
        me = member_by_login(call)
        votes = {
            each["post"]
            for each in call.store.rows("SELECT post FROM votes WHERE member = ?", (me,))
        }
        followed = call.store.row(
            "SELECT id FROM subscriptions WHERE thread = ? AND member = ?", (number, me)
        )
        return call.page(
            "thread.html",
            thread=row,
            posts=posts,
            pager=pager,
            votes=votes,
            followed=followed is not None,
            reply=FormField("body", call.words("reply"), "textarea"),
            target=FormField(
                "board",
                call.words("target_board"),
                "select",
                str(row["board"]),
                board_options(call),
            ),
        )

    @post("/threads/{number:int}/reply")
    def answer(self, call: Call, number: int) -> WebResponse:
        """Add a post to a thread that is not locked."""
        row, body = thread_of(call, number), call.arg("body")
        if row is None:
            return call.not_found()
        if row["locked"]:
            return call.redirect(f"/threads/{number}", call.words("locked_note"), "error")
        if not body:
            return call.redirect(f"/threads/{number}", call.words("required"), "error")
        call.store.insert(
            "posts",
            thread=number,
            author=member_by_login(call),
            created=call.clock.stamp,
            body=body.replace("\r\n", "\n"),
            score=0,
            hidden=0,
        )
        call.store.execute("UPDATE threads SET latest = ? WHERE id = ?", (call.clock.stamp, number))
        last = call.store.value("SELECT count(*) FROM posts WHERE thread = ?", (number,))
        return call.redirect(f"/threads/{number}?page={-(-last // _POSTS)}", call.words("replied"))

    @post("/threads/{number:int}/follow")
    def follow(self, call: Call, number: int) -> WebResponse:
        """Subscribe to a thread, or end the subscription."""
        if thread_of(call, number) is None:
            return call.not_found()
        me = member_by_login(call)
        here = call.store.value(
            "SELECT id FROM subscriptions WHERE thread = ? AND member = ?", (number, me)
        )
        if here is None:
            call.store.insert("subscriptions", thread=number, member=me)
            return call.redirect(f"/threads/{number}", call.words("subscribed"))
        call.store.execute("DELETE FROM subscriptions WHERE id = ?", (here,))
        return call.redirect(f"/threads/{number}", call.words("unsubscribed"))

    @get("/posts/{number:int}")
    def single(self, call: Call, number: int) -> WebResponse:
        """Open the page of the thread that contains a post."""
        row = call.store.row("SELECT * FROM posts WHERE id = ?", (number,))
        if row is None:
            return call.not_found()
        before = call.store.value(
            "SELECT count(*) FROM posts WHERE thread = ? AND (created < ? OR (created = ? AND id "
            "< ?))",
            (row["thread"], row["created"], row["created"], number),
        )
        return call.redirect(f"/threads/{row['thread']}?page={before // _POSTS + 1}")

    @post("/posts/{number:int}/vote")
    def vote(self, call: Call, number: int) -> WebResponse:
        """Vote for a post; the page shows the vote before it is saved."""
        row, me = (
            call.store.row("SELECT * FROM posts WHERE id = ?", (number,)),
            member_by_login(call),
        )
        if row is None:
            return call.not_found()
        if call.store.row("SELECT post FROM _faults WHERE post = ?", (number,)):
            call.store.execute("DELETE FROM _faults WHERE post = ?", (number,))
            call.later(1, "vote", f"{number} {call.login}")
        elif (
            call.store.row("SELECT id FROM votes WHERE post = ? AND member = ?", (number, me))
            is None
        ):
            call.store.insert("votes", post=number, member=me)
            call.store.execute("UPDATE posts SET score = score + 1 WHERE id = ?", (number,))
        return call.redirect(f"/posts/{number}")

    @post("/posts/{number:int}/unvote")
    def unvote(self, call: Call, number: int) -> WebResponse:
        """Withdraw a vote."""
        me = member_by_login(call)
        here = call.store.value("SELECT id FROM votes WHERE post = ? AND member = ?", (number, me))
        if here is not None:
            call.store.execute("DELETE FROM votes WHERE id = ?", (here,))
            call.store.execute("UPDATE posts SET score = score - 1 WHERE id = ?", (number,))
        return call.redirect(f"/posts/{number}")

    @get("/search")
    def search(self, call: Call) -> WebResponse:
        """Search posts by text, member and board."""
        text, who, board = call.arg("q"), call.arg("member"), call.arg("board")
        where = "p.body LIKE ? AND (? = '' OR m.handle = ?) AND (? = '' OR t.board = ?)"
        values: tuple[Any, ...] = (
            f"%{text}%",
            who,
            who,
            board,
            call.number("board"),
        )
        fields = [
            FormField("q", call.words("search"), "text", text),
            FormField("member", call.words("handle"), "text", who),
            FormField(
                "board",
                call.words("board"),
                "select",
                board,
                [("", call.words("all")), *board_options(call)],
            ),
        ]
        total = call.store.value(
            "SELECT count(*) FROM posts p JOIN threads t ON t.id = p.thread JOIN members m ON "
            f"m.id = p.author WHERE {where}",
            values,
        )
        base = f"/search?q={quote(text)}&member={quote(who)}&board={quote(board)}&"
        pager = pager_of(call, total if text or who or board else 0, _PER_PAGE, base)
        found = (
            posts_where(call, where, values, _PER_PAGE, (pager.page - 1) * _PER_PAGE)
            if pager.total
            else []
        )
        boards = dict(board_options(call))
        return call.page("search.html", posts=found, pager=pager, fields=fields, boards=boards)

    @get("/members")
    def members(self, call: Call) -> WebResponse:
        """List members by handle."""
        text = call.arg("q")
        total = call.store.value("SELECT count(*) FROM members WHERE handle LIKE ?", (f"%{text}%",))
        pager = pager_of(call, total, _PER_PAGE, f"/members?q={quote(text)}&")
        rows = call.store.rows(
            "SELECT * FROM members WHERE handle LIKE ? ORDER BY handle LIMIT ? OFFSET ?",
            (f"%{text}%", _PER_PAGE, (pager.page - 1) * _PER_PAGE),
        )
        field = FormField("q", call.words("search"), "text", text)
        return call.page("members.html", members=rows, pager=pager, field=field, label=label_of)

    @get("/members/{number:int}")
    def member(self, call: Call, number: int) -> WebResponse:
        """Show a member with sanctions and latest posts."""
        row = call.store.row("SELECT * FROM members WHERE id = ?", (number,))
        if row is None:
            return call.not_found()
        sanctions = call.store.rows(
            "SELECT * FROM sanctions WHERE member = ? ORDER BY issued DESC", (number,)
        )
        posts = posts_where(call, "p.author = ?", (number,), 8)
        return call.page(
            "member.html", member=row, sanctions=sanctions, posts=posts, label=label_of
        )

    @get("/messages")
    def messages(self, call: Call) -> WebResponse:
        """List received and sent messages."""
        me = member_by_login(call)
        rows = call.store.rows(
            "SELECT * FROM messages WHERE recipient = ? OR sender = ? ORDER BY id DESC", (me, me)
        )
        people = handles_of(call, [row[key] for row in rows for key in ("sender", "recipient")])
        return call.page("messages.html", messages=rows, people=people)

    @get("/messages/new")
    def compose(self, call: Call) -> WebResponse:
        """Show the form for a message."""
        return self._compose(call, "")

    @post("/messages/new")
    def send(self, call: Call) -> WebResponse:
        """Send a message."""
        to = call.store.value("SELECT id FROM members WHERE handle = ?", (call.arg("recipient"),))
        problem = (
            call.words("no_member")
            if to is None
            else ""
            if call.arg("body")
            else call.words("required")
        )
        if problem:
            return self._compose(call, problem)
        call.store.insert(
            "messages",
            sender=member_by_login(call),
            recipient=to,
            subject=call.arg("subject"),
            body=call.arg("body").replace("\r\n", "\n"),
            created=call.clock.stamp,
        )
        return call.redirect("/messages", call.words("sent_note"))

    @get("/messages/{number:int}")
    def message(self, call: Call, number: int) -> WebResponse:
        """Show one of the user's messages."""
        me = member_by_login(call)
        row = call.store.row(
            "SELECT * FROM messages WHERE id = ? AND (recipient = ? OR sender = ?)",
            (number, me, me),
        )
        if row is None:
            return call.not_found()
        return call.page(
            "message.html", message=row, people=handles_of(call, [row["sender"], row["recipient"]])
        )

    @get("/subscriptions")
    def subscriptions(self, call: Call) -> WebResponse:
        """List followed threads."""
        rows = call.store.rows(
            "SELECT t.* FROM subscriptions s JOIN threads t ON t.id = s.thread WHERE s.member = "
            "? ORDER BY t.latest DESC",
            (member_by_login(call),),
        )
        return call.page("subscriptions.html", threads=rows)

    def _compose(self, call: Call, problem: str) -> WebResponse:
        fields = [
            FormField(
                "recipient",
                call.words("recipient"),
                "text",
                call.arg("recipient") or call.arg("to"),
                error=problem,
            ),
            FormField("subject", call.words("subject"), "text", call.arg("subject")),
            FormField("body", call.words("message"), "textarea", call.arg("body")),
        ]
        return call.page("compose.html", 422 if problem else 200, fields=fields)


SITE = Forum()
