"""Handlers that move, file and redirect pages."""

from hexathlon.tasks.web.world.exchange import WebResponse
from hexathlon.tasks.web.world.site import Call, get, post
from hexathlon.tasks.web.world.sites.wiki.reading import page_of, refusal_of, show
from hexathlon.tasks.web.world.ui import FormField

__all__ = ["PageOrganising"]


class PageOrganising:
    """Moves, categories and redirects."""

    @get("/pages/{number:int}/move")
    def move_form(self, call: Call, number: int) -> WebResponse:
        """Show the form for a new title."""
        row = page_of(call, number)
        if row is None:
            return call.not_found()
        field = FormField("title", call.words("new_title"), "text", row["title"])
        return refusal_of(call, number) or show(call, "move.html", row, field=field)

    @post("/pages/{number:int}/move")
    def move(self, call: Call, number: int) -> WebResponse:
        """Rename a page; the old title becomes a redirect."""
        row, title = page_of(call, number), call.arg("title")
        if row is None:
            return call.not_found()
        refusal = refusal_of(call, number)
        if refusal is not None:
            return refusal
        problem = "" if title else call.words("required")
        if call.store.row("SELECT id FROM pages WHERE title = ?", (title,)):
            problem = call.words("title_taken")
        if problem:
            field = FormField("title", call.words("new_title"), "text", title, error=problem)
            return show(call, "move.html", row, 422, field=field)
        call.store.execute("UPDATE pages SET title = ? WHERE id = ?", (title, number))
        call.store.insert(
            "pages", title=row["title"], redirect=title, kind="redirect", created=call.clock.stamp
        )
        return call.redirect(f"/pages/{number}", call.words("moved_page"))

    @post("/pages/{number:int}/redirect")
    def retarget(self, call: Call, number: int) -> WebResponse:
        """Change where a redirect leads."""
        row, target = page_of(call, number), call.arg("redirect")
        if row is None or row["kind"] != "redirect":
            return call.not_found()
        place = f"/pages/{number}?stay=1"
        if call.store.row("SELECT id FROM pages WHERE title = ?", (target,)) is None:
            return call.redirect(place, call.words("no_such_page"), "error")
        call.store.execute("UPDATE pages SET redirect = ? WHERE id = ?", (target, number))
        return call.redirect(place, call.words("saved_edit"))

    @post("/pages/{number:int}/categories")
    def file(self, call: Call, number: int) -> WebResponse:
        """Put a page into a category."""
        row, name = page_of(call, number), call.arg("name")
        if row is None:
            return call.not_found()
        refusal = refusal_of(call, number)
        if refusal is not None:
            return refusal
        place = f"/pages/{number}?stay=1"
        if not name:
            return call.redirect(place, call.words("required"), "error")
        here = "SELECT id FROM categories WHERE page = ? AND name = ?"
        if call.store.row(here, (number, name)):
            return call.redirect(place, call.words("no_change"), "warning")
        call.store.insert("categories", page=number, name=name)
        return call.redirect(place, call.words("saved_edit"))

    @post("/pages/{number:int}/categories/{entry:int}/remove")
    def unfile(self, call: Call, number: int, entry: int) -> WebResponse:
        """Take a page out of a category."""
        refusal = refusal_of(call, number)
        if refusal is not None:
            return refusal
        call.store.execute("DELETE FROM categories WHERE page = ? AND id = ?", (number, entry))
        return call.redirect(f"/pages/{number}?stay=1", call.words("saved_edit"))
