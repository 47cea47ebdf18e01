"""Pages of the goods: front page, lists, products, reviews, saved goods and help."""

import json
import math
from typing import Any
from urllib.parse import urlencode

from markupsafe import Markup

from hexathlon.tasks.web.world.blocks import block_page, paged, paragraphs, section
from hexathlon.tasks.web.world.exchange import WebResponse
from hexathlon.tasks.web.world.site import Call, get, post
from hexathlon.tasks.web.world.sites.shop.parts import stars
from hexathlon.tasks.web.world.store import StoreRow
from hexathlon.tasks.web.world.ui import FormField

__all__ = ["GoodsPages"]

_PER_PAGE = 12
_REVIEWS_PER_PAGE = 5
_WISHES = 15
_SORTS = {
    "relevance": "substr(id, 5), id",
    "price": "price, id",
    "price_down": "price DESC, id",
    "rating": "rating DESC, id",
    "delivery": "days, id",
}


class GoodsPages:
    """Handlers that show goods."""

    @get("/")
    def front(self, call: Call) -> WebResponse:
        """Show departments and offers."""
        words = call.words
        rows = call.store.rows(
            "SELECT department, category, kind, count(*) AS count FROM products WHERE listed "
            "GROUP BY department, kind ORDER BY department, kind"
        )
        links = [
            (
                row["department"],
                call.ui.link(
                    f"{row['kind']} ({row['count']})",
                    "/products?" + urlencode({"kind": row["kind"]}),
                ),
            )
            for row in rows
        ]
        best = call.store.rows(
            "SELECT * FROM products WHERE listed ORDER BY rating DESC, ratings DESC, id LIMIT 6"
        )
        searcher = call.ui.form(
            "/products",
            [FormField("q", words("search"), "text", "")],
            words("search"),
            method="get",
        )
        return block_page(
            call,
            words("welcome"),
            section(words("departments"), call.ui.facts(links)),
            section(words("bestsellers"), _list(call, best)),
            side=searcher,
        )

    @get("/products")
    def products(self, call: Call) -> WebResponse:
        """List goods; a new filter returns to the first page."""
        where, values, query = _filters(call)
        order = _SORTS.get(call.arg("sort"), _SORTS["relevance"])
        sql = f"SELECT * FROM products WHERE {where} ORDER BY {order}"
        rows, pager = paged(call, sql, values, _PER_PAGE, f"/products?{query}")
        form = call.ui.form(
            "/products",
            _filter_fields(call),
            call.words("filter"),
            method="get",
            label=call.words("filter"),
        )
        return block_page(
            call, call.words("goods"), _list(call, rows), call.ui.pager(pager), side=form
        )

    @get("/products/{key}")
    def product(self, call: Call, key: str) -> WebResponse:
        """Show a product."""
        row = call.store.row("SELECT * FROM products WHERE id = ? AND listed", (key,))
        if row is None:
            return call.not_found()
        return self._product_page(call, row)

    @post("/products/{key}/cart")
    def add_to_cart(self, call: Call, key: str) -> WebResponse:
        """Put a variant into the cart."""
        row = call.store.row("SELECT * FROM products WHERE id = ? AND listed", (key,))
        if row is None:
            return call.not_found()
        variant = call.store.row(
            "SELECT * FROM variants WHERE id = ? AND product = ?", (call.arg("variant"), key)
        )
        quantity = call.number("quantity")
        if variant is None:
            return self._product_page(call, row, {"variant": call.words("required")})
        if not 1 <= quantity <= 20:
            return self._product_page(call, row, {"quantity": call.words("quantity_range")})
        line = call.store.row(
            "SELECT * FROM cart WHERE person = ? AND variant = ?", (call.login, variant["id"])
        )
        wanted = quantity + (line["quantity"] if line else 0)
        if wanted > variant["stock"]:
            text = call.words("only_left", count=variant["stock"])
            return self._product_page(call, row, {"quantity": text})
        if line:
            call.store.execute("UPDATE cart SET quantity = ? WHERE id = ?", (wanted, line["id"]))
        else:
            call.store.insert("cart", person=call.login, variant=variant["id"], quantity=quantity)
        return call.redirect("/cart", call.words("added"))

    @get("/products/{key}/reviews")
    def reviews(self, call: Call, key: str) -> WebResponse:
        """Show reviews; the product page has them in a frame."""
        row = call.store.row("SELECT * FROM products WHERE id = ?", (key,))
        if row is None:
            return call.not_found()
        limit = call.number("stars")
        where = " AND stars = ?" if limit else ""
        values = (key, limit) if limit else (key,)
        sql = (
            f"SELECT * FROM reviews WHERE product = ? AND state = 'shown'{where} "
            "ORDER BY day DESC, id"
        )
        base = f"/products/{key}/reviews?" + (f"stars={limit}&" if limit else "")
        rows, pager = paged(call, sql, values, _REVIEWS_PER_PAGE, base)
        options = [("", call.words("all")), *((str(n), str(n)) for n in range(5, 0, -1))]
        chooser = call.ui.form(
            f"/products/{key}/reviews",
            [FormField("stars", call.words("stars"), "select", str(limit or ""), options)],
            call.words("filter"),
            method="get",
        )
        entries = Markup("").join(
            Markup("<article><h3>{}, {} – {}/5</h3><p>{}</p>{}</article>").format(
                each["author"],
                call.date(each["day"]),
                each["stars"],
                each["body"],
                call.ui.post_button(call.words("report"), f"/reviews/{each['id']}/report"),
            )
            for each in rows
        )
        return call.fragment("reviews.html", title=row["title"], chooser=chooser, entries=entries,
                             pager=call.ui.pager(pager))  # fmt: skip

    @post("/reviews/{number:int}/report")
    def report(self, call: Call, number: int) -> WebResponse:
        """Report a review to the staff."""
        row = call.store.row("SELECT * FROM reviews WHERE id = ?", (number,))
        if row is None:
            return call.not_found()
        call.store.execute("UPDATE reviews SET flagged = flagged + 1 WHERE id = ?", (number,))
        return call.redirect(f"/products/{row['product']}/reviews")

    @get("/wishes")
    def wishes(self, call: Call) -> WebResponse:
        """List saved goods."""
        rows = call.store.rows(
            "SELECT p.* FROM wishes w JOIN products p ON p.id = w.product WHERE w.person = ? "
            "ORDER BY w.id",
            (call.login,),
        )
        clear = [
            call.ui.post_button(
                f"{call.words('delete')}: {row['title']}", f"/products/{row['id']}/forget"
            )
            for row in rows
        ]
        return block_page(call, call.words("wishes"), _list(call, rows), Markup(" ").join(clear))

    @post("/products/{key}/wish")
    def wish(self, call: Call, key: str) -> WebResponse:
        """Save a product for later; refused when the list is full."""
        count = call.store.value("SELECT count(*) FROM wishes WHERE person = ?", (call.login,))
        known = call.store.value(
            "SELECT count(*) FROM wishes WHERE person = ? AND product = ?", (call.login, key)
        )
        if count >= _WISHES:
            return call.redirect("/wishes", call.words("wishes_full", count=_WISHES), "error")
        if not known and call.store.row("SELECT id FROM products WHERE id = ?", (key,)):
            call.store.insert("wishes", person=call.login, product=key)
        return call.redirect("/wishes")

    @post("/products/{key}/forget")
    def forget(self, call: Call, key: str) -> WebResponse:
        """Remove a product from the saved ones."""
        call.store.execute("DELETE FROM wishes WHERE person = ? AND product = ?", (call.login, key))
        return call.redirect("/wishes")

    @get("/offers")
    def offers(self, call: Call) -> WebResponse:
        """List coupons."""
        words, ui = call.words, call.ui
        rows = []
        for each in call.store.rows("SELECT * FROM coupons ORDER BY code"):
            worth = {
                "percent": f"{each['amount']} %",
                "amount": ui.money(each["amount"]),
                "shipping": words("free_delivery"),
            }[each["kind"]]
            rows.append([each["code"], worth, ui.money(each["minimum"]),
                         each["department"] or words("all"), ui.date(each["ends"])])  # fmt: skip
        columns = [words("code"), words("worth"), words("minimum"), words("department"),
                   words("ends")]  # fmt: skip
        return block_page(
            call,
            words("offers"),
            ui.grid(columns, rows),
            Markup("<p>{}</p>").format(ui.link(words("rules"), "/help/coupons")),
        )

    @get("/help")
    def help_pages(self, call: Call) -> WebResponse:
        """List pages of help; those for staff only to staff."""
        rows = call.store.rows(
            "SELECT * FROM help WHERE staff <= ? ORDER BY staff, key", (int(is_staff(call)),)
        )
        body = [
            [call.ui.link(row["title"], f"/help/{row['key']}"), call.date(row["since"])]
            for row in rows
        ]
        columns = [call.words("title"), call.words("since")]
        return block_page(call, call.words("help"), call.ui.table(columns, body))

    @get("/help/{key}")
    def help_page(self, call: Call, key: str) -> WebResponse:
        """Show a page of help."""
        row = call.store.row("SELECT * FROM help WHERE key = ?", (key,))
        if row is None:
            return call.not_found()
        if row["staff"] and not is_staff(call):
            return call.forbidden()
        since = Markup("<p>{}: {}</p>").format(call.words("since"), call.date(row["since"]))
        return block_page(call, row["title"], paragraphs(row["body"]), since)

    def _product_page(
        self, call: Call, row: StoreRow, errors: dict[str, str] | None = None
    ) -> WebResponse:
        words, ui, errors = call.words, call.ui, errors or {}
        variants = call.store.rows(
            "SELECT * FROM variants WHERE product = ? ORDER BY id", (row["id"],)
        )
        offers = [
            [each["options"], ui.money(each["price"]), _stock(call, each["stock"])]
            for each in variants
        ]
        options = [("", "–"), *((each["id"], each["options"]) for each in variants)]
        fields = [
            FormField("variant", words("variant"), "select", call.arg("variant"), options,
                  errors.get("variant", "")),
            FormField("quantity", words("quantity"), "number", call.arg("quantity") or 1,
                  error=errors.get("quantity", "")),
        ]  # fmt: skip
        buy = ui.form(f"/products/{row['id']}/cart", fields, words("add_to_cart"))
        wish = ui.button(
            words("wish"),
            type="button",
            data_optimistic=words("wished"),
            data_post=f"/products/{row['id']}/wish",
        )
        period = (
            words("days_count", count=row["return_days"])
            if row["return_days"]
            else words("final_sale")
        )
        facts = [
            (words("article"), row["id"]),
            (words("brand"), row["brand"]),
            (words("kind"), row["kind"]),
            (words("department"), row["department"]),
            (words("seller"), row["seller"]),
            (words("rating"), stars(call, row["rating"], row["ratings"])),
            (words("delivery_time"), words("days_count", count=row["days"])),
            (words("return_period"), period),
        ]
        features = Markup("").join(
            Markup("<li>{}</li>").format(line) for line in row["features"].splitlines()
        )
        spec = ui.facts([tuple(pair) for pair in json.loads(row["spec"])])
        return block_page(
            call,
            row["title"],
            _picture(row) + Markup("<p>{}</p><ul>{}</ul>").format(row["description"], features),
            ui.grid([words("variant"), words("price"), words("stock")], offers),
            buy,
            wish,
            section(words("specification"), spec),
            section(words("reviews"), ui.frame(f"/products/{row['id']}/reviews", words("reviews"))),
            side=ui.facts(facts),
            status=422 if errors else 200,
        )


def is_staff(call: Call) -> bool:
    """Return whether the signed-in person works for the shop."""
    account = call.account()
    return account is not None and account["role"] == "admin"


def _list(call: Call, rows: list[StoreRow]) -> Markup:
    words, ui = call.words, call.ui
    body = [
        [
            _picture(row) + ui.link(row["title"], f"/products/{row['id']}"),
            words("from_price", price=ui.money(row["price"])),
            f"{row['rating'] / 10:.1f} ({row['ratings']})",
            row["seller"],
            words("days_count", count=row["days"]),
        ]
        for row in rows
    ]
    columns = [words("title"), words("price"), words("rating"), words("seller"),
               words("delivery_time")]  # fmt: skip
    return ui.table(columns, body)


def _picture(row: StoreRow) -> Markup:
    """A picture of the goods, drawn by the style sheet."""
    return Markup('<span class="picture {}"></span>').format(row["category"])


def _stock(call: Call, stock: int) -> str:
    if stock == 0:
        return call.words("sold_out")
    return call.words("few_left", count=stock) if stock < 6 else call.words("in_stock")


def _filters(call: Call) -> tuple[str, list[Any], str]:
    """Return the condition, its values, and the query string of the current filters."""
    conditions, values, kept = ["listed"], list[Any](), {}
    for name in ("kind", "brand", "seller"):
        if call.arg(name):
            conditions.append(f"{name} = ?")
            values.append(call.arg(name))
            kept[name] = call.arg(name)
    for word in call.arg("q").split()[:40]:
        conditions.append("(title LIKE ? OR kind LIKE ? OR id = ?)")
        values += [f"%{word}%", f"%{word}%", word]
        kept["q"] = call.arg("q")
    for name, condition, factor in (
        ("least", "price >= ?", 100),
        ("most", "price <= ?", 100),
        ("rated", "rating >= ?", 10),
        ("within", "days <= ?", 1),
    ):
        number = _decimal(call.arg(name))
        if number is not None:
            conditions.append(condition)
            values.append(round(number * factor))
            kept[name] = call.arg(name)
    if call.arg("sort") in _SORTS:
        kept["sort"] = call.arg("sort")
    return " AND ".join(conditions), values, urlencode(kept) + "&" if kept else ""


def _decimal(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _filter_fields(call: Call) -> list[FormField]:
    words, everything = call.words, ("", call.words("all"))

    def values(column: str) -> list[tuple[str, str]]:
        rows = call.store.rows(
            f"SELECT DISTINCT {column} AS v FROM products WHERE listed ORDER BY 1"
        )
        return [everything, *((row["v"], row["v"]) for row in rows)]

    sorts = [(name, words(f"sort_{name}")) for name in _SORTS]
    return [
        FormField("q", words("search"), "text", call.arg("q")),
        FormField("kind", words("kind"), "select", call.arg("kind"), values("kind")),
        FormField("brand", words("brand"), "select", call.arg("brand"), values("brand")),
        FormField("seller", words("seller"), "select", call.arg("seller"), values("seller")),
        FormField("least", words("least"), "number", call.arg("least")),
        FormField("most", words("most"), "number", call.arg("most")),
        FormField("rated", words("rated_least"), "select", call.arg("rated"),
              [everything, ("3", "3.0"), ("4", "4.0"), ("4.5", "4.5")]),
        FormField("within", words("within"), "select", call.arg("within"),
              [everything, *((str(n), words("days_count", count=n)) for n in (2, 4, 8))]),
        FormField("sort", words("sort"), "select", call.arg("sort"), sorts),
    ]  # fmt: skip
