"""Pages of the shop's staff: stock and prices, orders, returns and reviews."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from markupsafe import Markup

from hexathlon.tasks.web.world.blocks import block_page, paged, parse_cents, section
from hexathlon.tasks.web.world.exchange import WebResponse
from hexathlon.tasks.web.world.site import Call, get, post
from hexathlon.tasks.web.world.sites.shop.account_pages import (
    item_table,
    order_facts,
)
from hexathlon.tasks.web.world.sites.shop.catalogue_pages import is_staff
from hexathlon.tasks.web.world.sites.shop.parts import choices
from hexathlon.tasks.web.world.sites.shop.vocabulary import (
    ORDER_STATES,
    REFUSALS,
    REVIEW_REASONS,
    shop_label,
)
from hexathlon.tasks.web.world.store import StoreRow
from hexathlon.tasks.web.world.ui import FormField

__all__ = ["StaffPages"]

_PER_PAGE = 15
_RETURN_STATES = ("requested", "approved", "refused")
_VARIANT_SORTS = {"id": "v.id", "stock": "v.stock DESC, v.id", "rating": "p.rating, v.id"}


class StaffPages:
    """Handlers that only staff may use."""

    @get("/admin/goods")
    def stock_list(self, call: Call) -> WebResponse:
        """List variants with stock, prices and ratings."""
        if not is_staff(call):
            return call.forbidden()
        words, ui = call.words, call.ui
        where, values, kept = "1", list[Any](), {}
        if call.arg("kind"):
            where, kept["kind"] = "p.kind = ?", call.arg("kind")
            values.append(call.arg("kind"))
        if call.arg("q"):
            where, kept["q"] = f"{where} AND (p.title LIKE ? OR v.id LIKE ?)", call.arg("q")
            values += [f"%{call.arg('q')}%"] * 2
        order = _VARIANT_SORTS.get(call.arg("sort"), "v.id")
        if call.arg("sort") in _VARIANT_SORTS:
            kept["sort"] = call.arg("sort")
        sql = (
            "SELECT v.*, p.title, p.rating FROM variants v JOIN products p ON p.id = v.product "
            f"WHERE {where} ORDER BY {order}"
        )
        base = "/admin/goods?" + (urlencode(kept) + "&" if kept else "")
        rows, pager = paged(call, sql, values, _PER_PAGE, base)
        body = [
            [
                ui.link(row["id"], f"/admin/goods/{row['id']}"),
                row["title"],
                row["options"],
                ui.money(row["price"]),
                ui.money(row["cost"]),
                row["stock"],
                f"{row['rating'] / 10:.1f}",
                ui.date(row["repriced"]),
            ]
            for row in rows
        ]
        kinds = call.store.rows("SELECT DISTINCT kind FROM products ORDER BY kind")
        fields = [
            FormField("q", words("search"), "text", call.arg("q")),
            FormField(
                "kind",
                words("kind"),
                "select",
                call.arg("kind"),
                [("", words("all")), *((row["kind"], row["kind"]) for row in kinds)],
            ),
            FormField(
                "sort",
                words("sort"),
                "select",
                call.arg("sort") or "id",
                [("id", words("article")), ("stock", words("stock")), ("rating", words("rating"))],
            ),
        ]
        columns = [words(name) for name in ("article", "title", "variant", "price", "cost", "stock",
                                            "rating", "repriced")]  # fmt: skip
        return block_page(
            call,
            words("admin_goods"),
            ui.grid(columns, body),
            ui.pager(pager),
            side=ui.form("/admin/goods", fields, words("filter"), method="get"),
        )

    @get("/admin/goods/{key}")
    def variant(self, call: Call, key: str) -> WebResponse:
        """Show the form for a variant."""
        row = _variant(call, key)
        if not is_staff(call):
            return call.forbidden()
        return call.not_found() if row is None else _variant_page(call, row, {}, {})

    @post("/admin/goods/{key}")
    def save_variant(self, call: Call, key: str) -> WebResponse:
        """Save price and stock of a variant."""
        if not is_staff(call):
            return call.forbidden()
        row = _variant(call, key)
        if row is None:
            return call.not_found()
        values = {"price": call.arg("price"), "stock": call.arg("stock")}
        price, errors = parse_cents(values["price"]), {}
        if not price:
            errors["price"] = call.words("amount_form")
        if call.number("stock", -1) < 0:
            errors["stock"] = call.words("required")
        if errors or price is None:
            return _variant_page(call, row, values, errors)
        if price != row["price"]:
            call.store.execute(
                "UPDATE variants SET price = ?, repriced = ? WHERE id = ?",
                (price, call.clock.today.isoformat(), key),
            )
            call.store.execute(
                "UPDATE products SET price = (SELECT min(price) FROM variants WHERE product = ?1) "
                "WHERE id = ?1",
                (row["product"],),
            )
        call.store.execute(
            "UPDATE variants SET stock = ? WHERE id = ?", (call.number("stock"), key)
        )
        return call.redirect(f"/admin/goods/{key}", call.words("saved"))

    @get("/admin/orders")
    def all_orders(self, call: Call) -> WebResponse:
        """List everybody's orders."""
        if not is_staff(call):
            return call.forbidden()
        words, ui = call.words, call.ui
        where, values, kept = "1", list[Any](), {}
        if call.arg("status") in ORDER_STATES:
            where, kept["status"] = "status = ?", call.arg("status")
            values.append(call.arg("status"))
        if call.arg("q"):
            where += " AND (CAST(number AS TEXT) = ? OR a.name LIKE ?)"
            values += [call.arg("q"), f"%{call.arg('q')}%"]
            kept["q"] = call.arg("q")
        sql = (
            "SELECT o.*, a.name FROM orders o JOIN _accounts a ON a.login = o.person "
            f"WHERE {where} ORDER BY number DESC"
        )
        base = "/admin/orders?" + (urlencode(kept) + "&" if kept else "")
        rows, pager = paged(call, sql, values, _PER_PAGE, base)
        body = [
            [
                ui.link(f"#{row['number']}", f"/admin/orders/{row['number']}"),
                row["name"],
                ui.date(row["placed"][:10]),
                ui.badge(shop_label(row["status"], call.language)),
                ui.money(row["total"]),
            ]
            for row in rows
        ]
        fields = [
            FormField("q", words("search"), "text", call.arg("q")),
            FormField("status", words("status"), "select", call.arg("status"),
                  [("", words("all")), *choices(call, ORDER_STATES)]),
        ]  # fmt: skip
        columns = [words(name) for name in ("order", "customer", "placed", "status", "total_sum")]
        return block_page(
            call,
            words("admin_orders"),
            ui.table(columns, body),
            ui.pager(pager),
            side=ui.form("/admin/orders", fields, words("filter"), method="get"),
        )

    @get("/admin/orders/{number:int}")
    def any_order(self, call: Call, number: int) -> WebResponse:
        """Show somebody's order."""
        row = call.store.row("SELECT * FROM orders WHERE number = ?", (number,))
        if not is_staff(call):
            return call.forbidden()
        if row is None:
            return call.not_found()
        return block_page(
            call,
            call.words("order_title", number=number),
            item_table(call, row),
            side=order_facts(call, row),
        )

    @get("/admin/returns")
    def all_returns(self, call: Call) -> WebResponse:
        """List return requests."""
        if not is_staff(call):
            return call.forbidden()
        words, ui = call.words, call.ui
        state = call.arg("state") if call.arg("state") in _RETURN_STATES else ""
        where, values = ("r.state = ?", (state,)) if state else ("1", ())
        sql = (
            "SELECT r.*, i.title, i.number, a.name FROM returns r JOIN items i ON i.id = r.item "
            "JOIN "
            "orders o ON o.number = i.number JOIN _accounts a ON a.login = o.person "
            f"WHERE {where} ORDER BY r.id"
        )
        rows, pager = paged(
            call, sql, values, _PER_PAGE, "/admin/returns?" + (f"state={state}&" if state else "")
        )
        body = [
            [ui.link(f"R{row['id']}", f"/admin/returns/{row['id']}"), row["title"], row["name"],
             shop_label(row["condition"], call.language), ui.date(row["created"][:10]),
             ui.badge(shop_label(row["state"], call.language))]
            for row in rows
        ]  # fmt: skip
        field = FormField("state", words("status"), "select", state,
                      [("", words("all")), *choices(call, _RETURN_STATES)])  # fmt: skip
        columns = [
            words(name)
            for name in ("request", "title", "customer", "condition", "placed", "status")
        ]
        return block_page(
            call,
            words("admin_returns"),
            ui.table(columns, body),
            ui.pager(pager),
            side=ui.form("/admin/returns", [field], words("filter"), method="get"),
        )

    @get("/admin/returns/{number:int}")
    def any_return(self, call: Call, number: int) -> WebResponse:
        """Show a request with the decision forms."""
        if not is_staff(call):
            return call.forbidden()
        row = _return(call, number)
        return call.not_found() if row is None else _decision_page(call, row, {})

    @post("/admin/returns/{number:int}")
    def decide(self, call: Call, number: int) -> WebResponse:
        """Approve or refuse a request."""
        if not is_staff(call):
            return call.forbidden()
        row = _return(call, number)
        if row is None or row["state"] != "requested":
            return call.not_found()
        if call.arg("decision") == "refused":
            code = call.arg("code")
            if code not in REFUSALS:
                return _decision_page(call, row, {"code": call.words("required")})
            values = ("refused", 0, code, number)
        else:
            amount = parse_cents(call.arg("refund"))
            if not amount:
                return _decision_page(call, row, {"refund": call.words("amount_form")})
            values = ("approved", amount, "", number)
        call.store.execute(
            "UPDATE returns SET state = ?, refund = ?, code = ? WHERE id = ?", values
        )
        return call.redirect("/admin/returns?state=requested", call.words("decided", number=number))

    @get("/admin/reviews")
    def flagged_reviews(self, call: Call) -> WebResponse:
        """List reported reviews."""
        if not is_staff(call):
            return call.forbidden()
        words, ui = call.words, call.ui
        sql = (
            "SELECT r.*, p.title FROM reviews r JOIN products p ON p.id = r.product "
            "WHERE r.flagged > 0 AND r.state = 'shown' ORDER BY r.day, r.id"
        )
        rows, pager = paged(call, sql, (), 6, "/admin/reviews?")
        entries = Markup("").join(
            Markup(
                "<article><h3>{} {}: {}</h3><p>{}, {}, {}/5, {}</p><p>{}</p>{}</article>"
            ).format(
                words("review"),
                row["id"],
                ui.link(row["title"], f"/products/{row['product']}"),
                row["author"],
                ui.date(row["day"]),
                row["stars"],
                words("reports", count=row["flagged"]),
                row["body"],
                ui.confirm(
                    f"{words('hide')} {row['id']}",
                    words("hide_question"),
                    f"/admin/reviews/{row['id']}/hide",
                    words("hide"),
                    fields=[
                        FormField(
                            "reason",
                            words("reason"),
                            "select",
                            "",
                            [("", "–"), *choices(call, REVIEW_REASONS)],
                        )
                    ],
                ),
            )
            for row in rows
        )
        return block_page(
            call, words("admin_reviews"), entries or words("empty_list"), ui.pager(pager)
        )

    @post("/admin/reviews/{number:int}/hide")
    def hide(self, call: Call, number: int) -> WebResponse:
        """Hide a review."""
        if not is_staff(call):
            return call.forbidden()
        if call.arg("reason") not in REVIEW_REASONS:
            return call.redirect("/admin/reviews", call.words("required"), "error")
        call.store.execute(
            "UPDATE reviews SET state = 'hidden', reason = ? WHERE id = ?",
            (call.arg("reason"), number),
        )
        return call.redirect("/admin/reviews", call.words("saved"))


def _variant(call: Call, key: str) -> StoreRow | None:
    return call.store.row(
        "SELECT v.*, p.title, p.rating, p.return_days FROM variants v JOIN products p "
        "ON p.id = v.product WHERE v.id = ?",
        (key,),
    )


def _variant_page(
    call: Call, row: StoreRow, values: Mapping[str, str], errors: Mapping[str, str]
) -> WebResponse:
    words, ui = call.words, call.ui
    period = (
        words("days_count", count=row["return_days"]) if row["return_days"] else words("final_sale")
    )
    facts = ui.facts(
        [
            (words("article"), row["id"]),
            (words("title"), row["title"]),
            (words("variant"), row["options"]),
            (words("cost"), ui.money(row["cost"])),
            (words("rating"), f"{row['rating'] / 10:.1f}"),
            (words("return_period"), period),
            (words("repriced"), ui.date(row["repriced"])),
        ]
    )
    fields = [
        FormField("price", words("price"), "text", values.get("price", f"{row['price'] / 100:.2f}"),
              error=errors.get("price", "")),
        FormField("stock", words("stock"), "number", values.get("stock", row["stock"]),
              error=errors.get("stock", "")),
    ]  # fmt: skip
    form = ui.form(f"/admin/goods/{row['id']}", fields, words("save"), cancel="/admin/goods")
    return block_page(call, row["id"], form, side=facts, status=422 if errors else 200)


def _return(call: Call, number: int) -> StoreRow | None:
    return call.store.row(
        "SELECT r.*, i.title, i.number, i.category, o.person, o.delivered FROM returns r JOIN "
        "items i "
        "ON i.id = r.item JOIN orders o ON o.number = i.number WHERE r.id = ?",
        (number,),
    )


def _decision_page(call: Call, row: StoreRow, errors: Mapping[str, str]) -> WebResponse:
    words, ui = call.words, call.ui
    order = call.store.row("SELECT * FROM orders WHERE number = ?", (row["number"],))
    assert order is not None
    facts = ui.facts(
        [
            (words("item_number"), row["item"]),
            (words("title"), row["title"]),
            (words("order"), ui.link(f"#{row['number']}", f"/admin/orders/{row['number']}")),
            (words("quantity"), row["quantity"]),
            (words("reason"), shop_label(row["reason"], call.language)),
            (words("condition"), shop_label(row["condition"], call.language)),
            (words("placed"), ui.date(row["created"])),
            (words("note"), row["comment"] or "–"),
            (words("status"), ui.badge(shop_label(row["state"], call.language))),
        ]
    )
    parts: list[Any] = [facts, section(words("order"), item_table(call, order))]
    if row["state"] == "requested":
        approve = [FormField("refund", words("refund"), "text", "", error=errors.get("refund", ""))]
        refuse = [FormField("code", words("reason"), "select", "",
                        [("", "–"), *choices(call, REFUSALS)], errors.get("code", ""))]  # fmt: skip
        action = f"/admin/returns/{row['id']}"
        parts.append(ui.form(action, approve, words("approve"), hidden={"decision": "approved"}))
        parts.append(ui.form(action, refuse, words("refuse"), hidden={"decision": "refused"}))
    return block_page(call, words("request_title", number=row["id"]), *parts,
                     side=order_facts(call, order), status=422 if errors else 200)  # fmt: skip
