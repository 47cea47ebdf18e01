"""Handlers of the maps site: places, reviews, lists and help pages."""

from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any, ClassVar
from urllib.parse import urlencode

from hexathlon.tasks.web.world.exchange import WebResponse
from hexathlon.tasks.web.world.site import Call, Site, SiteBrief, get, post
from hexathlon.tasks.web.world.sites.maps.bookings import Bookings
from hexathlon.tasks.web.world.sites.maps.content import populate
from hexathlon.tasks.web.world.sites.maps.pricing import hours_on
from hexathlon.tasks.web.world.sites.maps.travel import Travel
from hexathlon.tasks.web.world.sites.maps.vocabulary import (
    CATEGORIES,
    DISTRICTS,
    label_of,
    weekday_of,
)
from hexathlon.tasks.web.world.store import SiteStore, StoreRow
from hexathlon.tasks.web.world.ui import FormField, Pager

__all__ = ["SITE", "Maps"]

_PER_PAGE = 12
_MAX_SAVED = 40


class Maps(Bookings, Travel, Site):
    """Places, routes and bookings of one city."""

    name: ClassVar[str] = "maps"
    schema: ClassVar[str] = (
        resources.files("hexathlon.tasks.web.world.sites.maps")
        .joinpath("schema.sql")
        .read_text("utf-8")
    )
    volatile: ClassVar[Mapping[str, Sequence[str]]] = {
        "reviews": ("id", "created"),
        "lists": ("id",),
        "saved": ("id",),
        "bookings": ("id", "made"),
    }

    def populate(self, store: SiteStore, brief: SiteBrief) -> None:
        """Fill the city."""
        populate(store, brief)

    def navigation(self, call: Call) -> Sequence[tuple[str, str]]:
        """Return the main navigation."""
        words = call.words
        return [
            (words("places"), "/places"),
            (words("map"), "/map"),
            (words("stays"), "/stays"),
            (words("trains"), "/trains"),
            (words("lists"), "/lists"),
            (words("bookings"), "/bookings"),
            (words("help"), "/help"),
        ]

    @get("/")
    def start(self, call: Call) -> WebResponse:
        """Redirect to the search for places."""
        return call.redirect("/places")

    @get("/places")
    def places(self, call: Call) -> WebResponse:
        """Search places."""
        conditions, values, query = ["1"], list[Any](), dict[str, str]()
        for name in ("category", "district"):
            if call.arg(name):
                conditions.append(f"{name} = ?")
                values.append(call.arg(name))
                query[name] = call.arg(name)
        if call.arg("q"):
            conditions.append("(name LIKE ? OR address LIKE ?)")
            values += [f"%{call.arg('q')}%"] * 2
            query["q"] = call.arg("q")
        stars = call.arg("stars") if call.arg("stars") in ("2", "3", "4") else ""
        if stars:
            conditions.append("stars >= ?")
            values.append(float(stars))
            query["stars"] = stars
        source = (
            "(SELECT p.*, (SELECT avg(stars) FROM reviews r WHERE r.place = p.id) AS stars "
            f"FROM places p) WHERE {' AND '.join(conditions)}"
        )
        total = call.store.value(f"SELECT count(*) FROM {source}", values)
        pages = max(1, -(-total // _PER_PAGE))
        page = min(max(1, call.number("page", 1)), pages)
        order = "stars DESC, name, id" if call.arg("sort") == "stars" else "name, id"
        if call.arg("sort") == "stars":
            query["sort"] = "stars"
        rows = call.store.rows(
            f"SELECT * FROM {source} ORDER BY {order} LIMIT ? OFFSET ?",
            (*values, _PER_PAGE, (page - 1) * _PER_PAGE),
        )
        base = f"/places?{urlencode(query)}&" if query else "/places?"
        return call.page(
            "places.html",
            places=rows,
            pager=Pager(page, pages, total, base),
            fields=_search_fields(call, stars),
            label=label_of,
        )

    @get("/places/{number:int}")
    def place(self, call: Call, number: int) -> WebResponse:
        """Show a place."""
        row = place_of(call.store, number)
        if row is None:
            return call.not_found()
        hours = call.store.rows(
            "SELECT * FROM hours WHERE place = ? ORDER BY weekday, opens", (number,)
        )
        week = [
            (
                weekday_of(day, call.language),
                ", ".join(
                    f"{each['opens']}–{each['closes']}" for each in hours if each["weekday"] == day
                )
                or call.words("shut"),
            )
            for day in range(7)
        ]
        notices = call.store.rows(
            "SELECT * FROM notices WHERE place = ? ORDER BY date, id", (number,)
        )
        lists = call.store.rows("SELECT * FROM lists WHERE owner = ? ORDER BY id", (call.login,))
        chooser = FormField(
            "list",
            call.words("list"),
            "select",
            "",
            [(str(each["id"]), each["name"]) for each in lists],
        )
        today = ", ".join("–".join(each) for each in hours_on(call.store, number, call.clock.today))
        return call.page("place.html", place=row, week=week, special=notices, label=label_of,
                         chooser=chooser, today=today or call.words("shut"))  # fmt: skip

    @get("/places/{number:int}/reviews")
    def reviews(self, call: Call, number: int) -> WebResponse:
        """List the reviews of a place."""
        row = place_of(call.store, number)
        if row is None:
            return call.not_found()
        return self._reviews_page(call, row, "", 200)

    @post("/places/{number:int}/reviews")
    def review(self, call: Call, number: int) -> WebResponse:
        """Add a review."""
        row = place_of(call.store, number)
        if row is None:
            return call.not_found()
        if not 1 <= call.number("stars") <= 5 or not call.arg("text"):
            return self._reviews_page(call, row, call.words("required"), 422)
        account = call.account()
        assert account is not None
        call.store.insert(
            "reviews",
            place=number,
            author=account["name"],
            stars=call.number("stars"),
            body=call.arg("text"),
            created=call.clock.stamp,
        )
        return call.redirect(f"/places/{number}/reviews", call.words("thanks"))

    @post("/places/{number:int}/save")
    def save_place(self, call: Call, number: int) -> WebResponse:
        """Save a place in a list."""
        chosen = call.store.row(
            "SELECT * FROM lists WHERE id = ? AND owner = ?", (call.number("list"), call.login)
        )
        if chosen is None or place_of(call.store, number) is None:
            return call.not_found()
        held = call.store.rows("SELECT place FROM saved WHERE list = ?", (chosen["id"],))
        if any(each["place"] == number for each in held) or len(held) >= _MAX_SAVED:
            return call.redirect(f"/places/{number}", call.words("is_saved"), "warning")
        call.store.insert("saved", list=chosen["id"], place=number, note="")
        return call.redirect(f"/places/{number}", call.words("saved_in", name=chosen["name"]))

    @get("/lists")
    def own_lists(self, call: Call) -> WebResponse:
        """Show the person's lists."""
        rows = call.store.rows(
            "SELECT l.*, (SELECT count(*) FROM saved s WHERE s.list = l.id) AS count FROM lists l "
            "WHERE owner = ? ORDER BY id",
            (call.login,),
        )
        return call.page(
            "lists.html", lists=rows, fields=[FormField("name", call.words("name"), "text", "")]
        )

    @post("/lists")
    def new_list(self, call: Call) -> WebResponse:
        """Create a list."""
        name = call.arg("name")
        if not name:
            return call.redirect("/lists", call.words("required"), "error")
        number = call.store.insert("lists", owner=call.login, name=name)
        return call.redirect(f"/lists/{number}")

    @get("/lists/{number:int}")
    def saved_list(self, call: Call, number: int) -> WebResponse:
        """Show a list."""
        row = call.store.row("SELECT * FROM lists WHERE id = ? AND owner = ?", (number, call.login))
        if row is None:
            return call.not_found()
        items = call.store.rows(
            "SELECT s.id AS item, p.*, s.note AS remark FROM saved s JOIN places p ON "
            "p.id = s.place WHERE s.list = ? ORDER BY s.id",
            (number,),
        )
        return call.page("list.html", list=row, items=items, label=label_of)

    @post("/saved/{number:int}/remove")
    def remove(self, call: Call, number: int) -> WebResponse:
        """Remove a place from a list."""
        row = call.store.row(
            "SELECT s.* FROM saved s JOIN lists l ON l.id = s.list WHERE s.id = ? AND l.owner = ?",
            (number, call.login),
        )
        if row is None:
            return call.not_found()
        call.store.execute("DELETE FROM saved WHERE id = ?", (number,))
        return call.redirect(f"/lists/{row['list']}", call.words("removed"))

    @get("/help")
    def help_pages(self, call: Call) -> WebResponse:
        """Show the help pages."""
        rows = call.store.rows("SELECT * FROM guides ORDER BY id")
        return call.page("help.html", guides=rows)

    def _reviews_page(self, call: Call, place: StoreRow, problem: str, status: int) -> WebResponse:
        rows = call.store.rows(
            "SELECT * FROM reviews WHERE place = ? ORDER BY created DESC, id DESC", (place["id"],)
        )
        pages = max(1, -(-len(rows) // 6))
        page = min(max(1, call.number("page", 1)), pages)
        fields = [
            FormField("stars", call.words("stars"), "select", call.arg("stars"),
                      [("", "–"), *((str(i), str(i)) for i in range(1, 6))], problem),
            FormField("text", call.words("your_review"), "textarea", call.arg("text")),
        ]  # fmt: skip
        pager = Pager(page, pages, len(rows), f"/places/{place['id']}/reviews?")
        return call.page("reviews.html", status, place=place, reviews=rows[6 * page - 6 : 6 * page],
                         pager=pager, fields=fields)  # fmt: skip


def place_of(store: SiteStore, number: int) -> StoreRow | None:
    """Return a place with the mean and the number of its reviews."""
    return store.row(
        "SELECT p.*, (SELECT avg(stars) FROM reviews r WHERE r.place = p.id) AS stars, "
        "(SELECT count(*) FROM reviews r WHERE r.place = p.id) AS count FROM places p WHERE id = ?",
        (number,),
    )


def _search_fields(call: Call, stars: str) -> list[FormField]:
    words, everything = call.words, ("", call.words("all"))
    return [
        FormField("q", words("search"), "text", call.arg("q")),
        FormField("category", words("category"), "select", call.arg("category"),
                  [everything, *((each, label_of(each, call.language)) for each in CATEGORIES)]),
        FormField("district", words("district"), "select", call.arg("district"),
                  [everything, *((each, label_of(each, call.language)) for each in DISTRICTS)]),
        FormField("stars", words("at_least"), "select", stars,
                  [everything, *((each, f"★ {each}") for each in ("2", "3", "4"))]),
        FormField("sort", words("sort"), "select", call.arg("sort"),
                  [("", words("name")), ("stars", words("stars"))]),
    ]  # fmt: skip


SITE = Maps()
