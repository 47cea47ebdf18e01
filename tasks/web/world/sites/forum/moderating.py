"""Handlers of reports, sanctions and the handbook."""

from hexathlon.tasks.web.world.exchange import WebResponse
from hexathlon.tasks.web.world.site import Call, get, post
from hexathlon.tasks.web.world.sites.forum.reading import (
    board_options,
    choices,
    handles_of,
    pager_of,
    posts_where,
    sanction_fields,
    thread_of,
)
from hexathlon.tasks.web.world.sites.forum.vocabulary import KINDS, RULES, STATES, label_of
from hexathlon.tasks.web.world.ui import FormField

__all__ = ["Moderating"]

_PER_PAGE = 20


class Moderating:
    """The moderators' side of the forum."""

    @get("/reports")
    def reports(self, call: Call) -> WebResponse:
        """List reports by state and board."""
        state, board = call.arg("state", "open"), call.arg("board")
        where = "(? = '' OR r.state = ?) AND (? = '' OR t.board = ?)"
        values = (state, state, board, call.number("board"))
        joined = "FROM reports r JOIN posts p ON p.id = r.post JOIN threads t ON t.id = p.thread"
        total = call.store.value(f"SELECT count(*) {joined} WHERE {where}", values)
        pager = pager_of(call, total, _PER_PAGE, f"/reports?state={state}&board={board}&")
        rows = call.store.rows(
            f"SELECT r.*, t.title, t.board, p.author {joined} WHERE {where} ORDER BY r.id DESC "
            "LIMIT ? OFFSET ?",
            (*values, _PER_PAGE, (pager.page - 1) * _PER_PAGE),
        )
        everything = ("", call.words("all"))
        fields = [
            FormField(
                "state", call.words("state"), "select", state, [everything, *choices(call, STATES)]
            ),
            FormField(
                "board", call.words("board"), "select", board, [everything, *board_options(call)]
            ),
        ]
        people = handles_of(call, [row[key] for row in rows for key in ("author", "reporter")])
        return call.page(
            "reports.html", reports=rows, fields=fields, pager=pager, label=label_of, people=people
        )

    @get("/reports/{number:int}")
    def report(self, call: Call, number: int) -> WebResponse:
        """Show a report with the post it is about."""
        row = call.store.row("SELECT * FROM reports WHERE id = ?", (number,))
        if row is None:
            return call.not_found()
        about = posts_where(call, "p.id = ?", (row["post"],), 1)[0]
        thread = thread_of(call, about["thread"])
        people = handles_of(call, [row["reporter"]])
        fields = [
            FormField("state", call.words("outcome"), "radio", "upheld", choices(call, STATES[1:])),
            FormField("remark", call.words("remark"), "text"),
        ]
        return call.page(
            "report.html",
            report=row,
            post=about,
            thread=thread,
            label=label_of,
            people=people,
            fields=fields,
        )

    @post("/reports/{number:int}")
    def close_report(self, call: Call, number: int) -> WebResponse:
        """Close a report."""
        row = call.store.row("SELECT * FROM reports WHERE id = ?", (number,))
        if row is None or call.arg("state") not in STATES[1:]:
            return call.not_found()
        if row["state"] != "open":
            return call.redirect(f"/reports/{number}", call.words("report_done"), "error")
        call.store.execute(
            "UPDATE reports SET state = ?, remark = ? WHERE id = ?",
            (call.arg("state"), call.arg("remark"), number),
        )
        return call.redirect("/reports", call.words("report_closed"))

    @post("/posts/{number:int}/hide")
    def hide(self, call: Call, number: int) -> WebResponse:
        """Hide a post, or show it again."""
        row = call.store.row("SELECT * FROM posts WHERE id = ?", (number,))
        if row is None:
            return call.not_found()
        call.store.execute("UPDATE posts SET hidden = ? WHERE id = ?", (1 - row["hidden"], number))
        return call.redirect(f"/posts/{number}", call.words("done_note"))

    @get("/members/{number:int}/sanction")
    def sanction_form(self, call: Call, number: int) -> WebResponse:
        """Show the sanction form."""
        row = call.store.row("SELECT * FROM members WHERE id = ?", (number,))
        if row is None:
            return call.not_found()
        return call.page(
            "sanction.html", member=row, fields=sanction_fields(call, "", call.arg("post"))
        )

    @post("/members/{number:int}/sanction")
    def sanction(self, call: Call, number: int) -> WebResponse:
        """Record a sanction."""
        row = call.store.row("SELECT * FROM members WHERE id = ?", (number,))
        kind, rule, days = call.arg("kind"), call.arg("rule"), call.number("days")
        if row is None or kind not in KINDS or rule not in RULES:
            return call.not_found()
        problem = ""
        if (kind == "mute") != (days > 0):
            problem = call.words("wrong_days")
        owner = call.store.value("SELECT author FROM posts WHERE id = ?", (call.number("post"),))
        if owner != number:
            problem = call.words("wrong_post")
        if problem:
            fields = sanction_fields(call, problem, call.arg("post"))
            return call.page("sanction.html", 422, member=row, fields=fields)
        call.store.insert(
            "sanctions",
            member=number,
            kind=kind,
            days=days,
            rule=rule,
            post=call.number("post"),
            issued=call.clock.stamp,
            state="active",
        )
        return call.redirect(f"/members/{number}", call.words("sanctioned"))

    @post("/threads/{number:int}/lock")
    def lock(self, call: Call, number: int) -> WebResponse:
        """Lock a thread, or unlock it."""
        row = thread_of(call, number)
        if row is None:
            return call.not_found()
        call.store.execute(
            "UPDATE threads SET locked = ? WHERE id = ?", (1 - row["locked"], number)
        )
        return call.redirect(f"/threads/{number}", call.words("done_note"))

    @post("/threads/{number:int}/move")
    def transfer(self, call: Call, number: int) -> WebResponse:
        """Move a thread to another board, unless one of its posts is reported."""
        row, board = thread_of(call, number), call.number("board")
        if row is None or call.store.row("SELECT id FROM boards WHERE id = ?", (board,)) is None:
            return call.not_found()
        blocker = call.store.value(
            "SELECT min(r.id) FROM reports r JOIN posts p ON p.id = r.post WHERE p.thread = ? "
            "AND r.state = 'open'",
            (number,),
        )
        if blocker is not None:
            return call.redirect(
                f"/threads/{number}", call.words("move_blocked", number=blocker), "error"
            )
        call.store.execute("UPDATE threads SET board = ? WHERE id = ?", (board, number))
        return call.redirect(f"/threads/{number}", call.words("moved_note"))

    @get("/handbook")
    def handbook(self, call: Call) -> WebResponse:
        """List the chapters of the handbook."""
        return call.page(
            "handbook.html", chapters=call.store.rows("SELECT * FROM handbook ORDER BY title")
        )

    @get("/handbook/{number:int}")
    def chapter(self, call: Call, number: int) -> WebResponse:
        """Show a chapter of the handbook."""
        row = call.store.row("SELECT * FROM handbook WHERE id = ?", (number,))
        return call.not_found() if row is None else call.page("chapter.html", chapter=row)
