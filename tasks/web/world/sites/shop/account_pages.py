"""Pages of the account: orders, returns, addresses, messages."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from markupsafe import Markup

from hexathlon.tasks.seeding import derive_seed
from hexathlon.tasks.web.world.blocks import block_page, paged, parse_cents, section
from hexathlon.tasks.web.world.exchange import WebResponse
from hexathlon.tasks.web.world.site import Call, get, post
from hexathlon.tasks.web.world.sites.shop.parts import choices
from hexathlon.tasks.web.world.sites.shop.vocabulary import (
    CONDITIONS,
    ORDER_STATES,
    RETURN_METHODS,
    RETURN_REASONS,
    TOPICS,
    shop_label,
)
from hexathlon.tasks.web.world.store import StoreRow
from hexathlon.tasks.web.world.ui import FormField

__all__ = ["AccountPages", "item_table", "order_facts"]

_PER_PAGE = 8
_ADDRESS = ("label", "name", "street", "city", "postcode", "phone", "note")


class AccountPages:
    """Handlers of the customer's own pages."""

    @get("/orders")
    def orders(self, call: Call) -> WebResponse:
        """List the person's orders, newest first."""
        words, ui = call.words, call.ui
        where, values, kept = "person = ?", [call.login], {}
        if call.arg("status") in ORDER_STATES:
            where, kept["status"] = f"{where} AND status = ?", call.arg("status")
            values.append(call.arg("status"))
        if call.arg("q"):
            where += (" AND (CAST(number AS TEXT) = ? OR number IN (SELECT i.number FROM items i "
                      "WHERE i.title LIKE ?))")  # fmt: skip
            values += [call.arg("q"), f"%{call.arg('q')}%"]
            kept["q"] = call.arg("q")
        base = "/orders?" + (urlencode(kept) + "&" if kept else "")
        rows, pager = paged(
            call,
            f"SELECT * FROM orders WHERE {where} ORDER BY number DESC",
            values,
            _PER_PAGE,
            base,
        )
        body = [
            [ui.link(f"#{row['number']}", f"/orders/{row['number']}"), ui.date(row["placed"][:10]),
             ui.badge(shop_label(row["status"], call.language)), ui.money(row["total"])]
            for row in rows
        ]  # fmt: skip
        fields = [
            FormField("q", words("search"), "text", call.arg("q")),
            FormField("status", words("status"), "select", call.arg("status"),
                  [("", words("all")), *choices(call, ORDER_STATES)]),
        ]  # fmt: skip
        columns = [words("order"), words("placed"), words("status"), words("total_sum")]
        return block_page(
            call,
            words("orders"),
            ui.table(columns, body),
            ui.pager(pager),
            side=ui.form("/orders", fields, words("filter"), method="get"),
        )

    @get("/orders/{number:int}")
    def order(self, call: Call, number: int) -> WebResponse:
        """Show an order."""
        row = _own_order(call, number)
        if row is None:
            return call.not_found()
        words, ui = call.words, call.ui
        actions = [ui.link(words("invoice"), f"/orders/{number}/invoice", download=True)]
        if row["status"] == "delivered":
            actions.append(ui.link(words("return_items"), f"/orders/{number}/return"))
        if row["status"] in ("placed", "unpaid"):
            actions.append(
                ui.confirm(
                    words("cancel_order"),
                    words("cancel_question"),
                    f"/orders/{number}/cancel",
                    words("cancel_order"),
                )
            )
        if row["status"] == "unpaid":
            payments = call.store.rows("SELECT * FROM payments WHERE person = ? ORDER BY id",
                                       (call.login,))  # fmt: skip
            field = FormField("payment", words("payment"), "select", "",
                          [(str(each["id"]), each["label"]) for each in payments])  # fmt: skip
            actions.append(ui.form(f"/orders/{number}/pay", [field], words("pay_again")))
        actions.append(ui.link(words("contact"), f"/contact?number={number}"))
        return block_page(call, words("order_title", number=number), item_table(call, row),
                         Markup(" ").join(actions), side=order_facts(call, row))  # fmt: skip

    @get("/orders/{number:int}/invoice")
    def invoice(self, call: Call, number: int) -> WebResponse:
        """Download an order's invoice as text."""
        row = _own_order(call, number)
        if row is None:
            return call.not_found()
        lines = [f"INVOICE {number}", f"Date: {row['placed'][:10]}", f"Paid with: {row['payment']}"]
        for item in call.store.rows("SELECT * FROM items WHERE number = ? ORDER BY id", (number,)):
            amount = item["price"] * item["quantity"] - item["discount"]
            lines.append(f"{item['quantity']} x {item['title']} ({item['options']}): "
                         f"{amount / 100:.2f}")  # fmt: skip
        for name in ("shipping", "insurance", "wrapping"):
            lines.append(f"{name}: {row[name] / 100:.2f}")
        lines.append(f"Total EUR: {row['total'] / 100:.2f}")
        return call.download(f"invoice-{number}.txt", "\n".join(lines) + "\n")

    @post("/orders/{number:int}/cancel")
    def cancel(self, call: Call, number: int) -> WebResponse:
        """Cancel an order that has not been shipped; the goods return to stock."""
        row = _own_order(call, number)
        if row is None:
            return call.not_found()
        if row["status"] not in ("placed", "unpaid"):
            return call.redirect(f"/orders/{number}", call.words("too_late"), "error")
        call.store.execute("UPDATE orders SET status = 'cancelled' WHERE number = ?", (number,))
        for item in call.store.rows("SELECT * FROM items WHERE number = ?", (number,)):
            call.store.execute("UPDATE variants SET stock = stock + ? WHERE id = ?",
                               (item["quantity"], item["variant"]))  # fmt: skip
        return call.redirect(f"/orders/{number}", call.words("cancelled_note"))

    @get("/orders/{number:int}/return")
    def return_form(self, call: Call, number: int) -> WebResponse:
        """Show the return form."""
        row = _own_order(call, number)
        if row is None or row["status"] != "delivered":
            return call.not_found()
        return _return_page(call, row, {}, {})

    @post("/orders/{number:int}/return")
    def request_return(self, call: Call, number: int) -> WebResponse:
        """Request a return; the staff decide later."""
        row = _own_order(call, number)
        if row is None or row["status"] != "delivered":
            return call.not_found()
        values = {name: call.arg(name) for name in ("item", "quantity", "reason", "condition",
                                                    "method", "refund", "comment")}  # fmt: skip
        item = call.store.row("SELECT * FROM items WHERE id = ? AND number = ?",
                              (call.number("item"), number))  # fmt: skip
        errors = {
            name: call.words("required")
            for name, options in (
                ("reason", RETURN_REASONS),
                ("condition", CONDITIONS),
                ("method", RETURN_METHODS),
            )
            if values[name] not in options
        }
        refund = parse_cents(values["refund"])
        if item is None:
            errors["item"] = call.words("required")
        elif not 1 <= call.number("quantity") <= item["quantity"]:
            errors["quantity"] = call.words("quantity_bought", count=item["quantity"])
        elif call.store.row("SELECT id FROM returns WHERE item = ?", (item["id"],)):
            errors["item"] = call.words("returned_before")
        if refund is None:
            errors["refund"] = call.words("amount_form")
        if errors or item is None:
            return _return_page(call, row, values, errors)
        call.store.insert(
            "returns", item=item["id"], quantity=call.number("quantity"), reason=values["reason"],
            condition=values["condition"], method=values["method"], state="requested",
            refund=refund, code="", comment=values["comment"], created=call.clock.stamp,
        )  # fmt: skip
        return call.redirect("/returns", call.words("return_requested"))

    @get("/returns")
    def returns(self, call: Call) -> WebResponse:
        """List the person's returns."""
        words, ui = call.words, call.ui
        sql = (
            "SELECT r.*, i.title, i.number FROM returns r JOIN items i ON i.id = r.item JOIN "
            "orders o "
            "ON o.number = i.number WHERE o.person = ? ORDER BY r.id DESC"
        )
        rows, pager = paged(call, sql, (call.login,), _PER_PAGE, "/returns?")
        body = [
            [
                row["title"],
                ui.link(f"#{row['number']}", f"/orders/{row['number']}"),
                row["quantity"],
                shop_label(row["condition"], call.language),
                ui.badge(shop_label(row["state"], call.language)),
                ui.money(row["refund"]),
            ]
            for row in rows
        ]
        columns = [words("title"), words("order"), words("quantity"), words("condition"),
                   words("status"), words("refund")]  # fmt: skip
        return block_page(call, words("returns"), ui.table(columns, body), ui.pager(pager))

    @get("/addresses")
    def addresses(self, call: Call) -> WebResponse:
        """List addresses."""
        words, ui = call.words, call.ui
        rows = call.store.rows(
            "SELECT * FROM addresses WHERE person = ? ORDER BY id", (call.login,)
        )
        body = [[ui.link(row["label"], f"/addresses/{row['id']}"), row["name"], row["street"],
                 f"{row['postcode']} {row['city']}", row["phone"]] for row in rows]  # fmt: skip
        columns = [words(name) for name in ("label", "name", "street", "city", "phone")]
        return block_page(call, words("addresses"), ui.table(columns, body),
                         ui.link(words("new_address"), "/addresses/new"))  # fmt: skip

    @get("/addresses/new")
    def new_address(self, call: Call) -> WebResponse:
        """Show the form for a new address."""
        return _address_page(call, "/addresses/new", {}, {})

    @post("/addresses/new")
    def create_address(self, call: Call) -> WebResponse:
        """Save a new address."""
        values, errors = _address_values(call)
        if errors:
            return _address_page(call, "/addresses/new", values, errors)
        call.store.insert("addresses", person=call.login, **values)
        return call.redirect("/addresses", call.words("saved"))

    @get("/addresses/{number:int}")
    def edit_address(self, call: Call, number: int) -> WebResponse:
        """Show the form for an address."""
        row = call.store.row("SELECT * FROM addresses WHERE id = ? AND person = ?",
                             (number, call.login))  # fmt: skip
        return (
            call.not_found()
            if row is None
            else _address_page(call, f"/addresses/{number}", row, {})
        )

    @post("/addresses/{number:int}")
    def save_address(self, call: Call, number: int) -> WebResponse:
        """Save changes to an address."""
        if call.store.row("SELECT id FROM addresses WHERE id = ? AND person = ?",
                          (number, call.login)) is None:  # fmt: skip
            return call.not_found()
        values, errors = _address_values(call)
        if errors:
            return _address_page(call, f"/addresses/{number}", values, errors)
        marks = ", ".join(f"{name} = ?" for name in values)
        call.store.execute(f"UPDATE addresses SET {marks} WHERE id = ?", (*values.values(), number))
        return call.redirect("/addresses", call.words("saved"))

    @get("/contact")
    def contact(self, call: Call) -> WebResponse:
        """Show the contact form."""
        return _contact_page(call, {"number": call.arg("number")}, {})

    @post("/contact")
    def send_message(self, call: Call) -> WebResponse:
        """Send a message about an order."""
        values = {name: call.arg(name) for name in ("number", "topic", "amount", "body")}
        errors = {}
        if _own_order(call, call.number("number")) is None:
            errors["number"] = call.words("order_unknown")
        if values["topic"] not in TOPICS:
            errors["topic"] = call.words("required")
        amount = parse_cents(values["amount"] or "0")
        if amount is None:
            errors["amount"] = call.words("amount_form")
        if errors:
            return _contact_page(call, values, errors)
        call.store.insert("messages", person=call.login, number=call.number("number"),
                          topic=values["topic"], amount=amount, body=values["body"],
                          created=call.clock.stamp)  # fmt: skip
        return call.redirect("/orders", call.words("message_sent"))


def parcel_of(order: int) -> str:
    """Return the parcel number of an order."""
    return f"FF{derive_seed('web parcel', order) % 10**9:09d}"


def order_facts(call: Call, row: StoreRow) -> Markup:
    """Properties of an order."""
    words, ui = call.words, call.ui
    delivered = ui.date(row["delivered"]) if row["delivered"] else "–"
    pairs = [
        (words("placed"), ui.date(row["placed"])),
        (words("status"), ui.badge(shop_label(row["status"], call.language))),
        (words("delivered_on"), delivered),
        (words("address"), row["address"]),
        (words("method"), shop_label(row["method"], call.language)),
        (words("slot"), row["slot"] or "–"),
        (words("payment"), row["payment"]),
        (words("code"), row["coupon"] or "–"),
        (words("goods_value"), ui.money(row["goods"])),
        (words("discount"), ui.money(-row["discount"])),
        (words("shipping"), ui.money(row["shipping"])),
        (words("insurance"), ui.money(row["insurance"])),
        (words("wrapping"), ui.money(row["wrapping"])),
        (words("total_sum"), ui.money(row["total"])),
        (words("note"), row["note"] or "–"),
    ]
    if row["status"] in ("shipped", "delivered"):
        pairs.append((words("parcel"), parcel_of(row["number"])))
    return ui.facts(pairs)


def item_table(call: Call, row: StoreRow) -> Markup:
    """Goods of an order, with the amount paid for each."""
    words, ui = call.words, call.ui
    body = []
    for item in call.store.rows(
        "SELECT * FROM items WHERE number = ? ORDER BY id", (row["number"],)
    ):
        gross = item["price"] * item["quantity"]
        period = (
            words("days_count", count=item["return_days"])
            if item["return_days"]
            else words("final_sale")
        )
        body.append(
            [
                f"{item['id']}",
                ui.link(item["title"], f"/products/{item['variant'].partition('-')[0]}"),
                item["options"],
                ui.money(item["price"]),
                item["quantity"],
                ui.money(-item["discount"]),
                ui.money(gross - item["discount"]),
                period,
            ]
        )
    columns = [
        words("item_number"),
        words("title"),
        words("variant"),
        words("price"),
        words("quantity"),
        words("discount"),
        words("paid"),
        words("return_period"),
    ]
    return ui.grid(columns, body)


def _own_order(call: Call, number: int) -> StoreRow | None:
    return call.store.row(
        "SELECT * FROM orders WHERE number = ? AND person = ?", (number, call.login)
    )


def _return_page(
    call: Call, row: StoreRow, values: Mapping[str, str], errors: Mapping[str, str]
) -> WebResponse:
    words, empty = call.words, ("", "–")
    items = call.store.rows("SELECT * FROM items WHERE number = ? ORDER BY id", (row["number"],))
    fields = [
        FormField("item", words("item_number"), "select", values.get("item", ""),
              [empty, *((str(each["id"]), f"{each['id']}: {each['title']}") for each in items)],
              errors.get("item", "")),
        FormField("quantity", words("quantity"), "number", values.get("quantity", "1"),
              error=errors.get("quantity", "")),
        FormField("reason", words("reason"), "select", values.get("reason", ""),
              [empty, *choices(call, RETURN_REASONS)], errors.get("reason", "")),
        FormField("condition", words("condition"), "select", values.get("condition", ""),
              [empty, *choices(call, CONDITIONS)], errors.get("condition", "")),
        FormField("method", words("return_method"), "select", values.get("method", ""),
              [empty, *choices(call, RETURN_METHODS)], errors.get("method", "")),
        FormField("refund", words("expected_refund"), "text", values.get("refund", ""),
              error=errors.get("refund", ""), help=words("amount_form")),
        FormField("comment", words("note"), "text", values.get("comment", "")),
    ]  # fmt: skip
    form = call.ui.form(f"/orders/{row['number']}/return", fields, words("request_return"),
                        cancel=f"/orders/{row['number']}")  # fmt: skip
    policy = call.ui.link(words("rules"), "/help/returns")
    return block_page(
        call,
        words("return_items"),
        item_table(call, row),
        form,
        side=section(words("help"), policy),
        status=422 if errors else 200,
    )


def _address_values(call: Call) -> tuple[dict[str, str], dict[str, str]]:
    values = {name: call.arg(name) for name in _ADDRESS}
    errors = {name: call.words("required") for name in _ADDRESS[:-1] if not values[name]}
    if values["postcode"] and not (values["postcode"].isdigit() and len(values["postcode"]) == 5):
        errors["postcode"] = call.words("postcode_form")
    return values, errors


def _address_page(
    call: Call, action: str, values: Mapping[str, Any], errors: Mapping[str, str]
) -> WebResponse:
    fields = [
        FormField(name, call.words(name), "text", values.get(name, ""), error=errors.get(name, ""))
        for name in _ADDRESS
    ]
    form = call.ui.form(action, fields, call.words("save"), cancel="/addresses")
    return block_page(call, call.words("address"), form, status=422 if errors else 200)


def _contact_page(call: Call, values: Mapping[str, str], errors: Mapping[str, str]) -> WebResponse:
    words = call.words
    fields = [
        FormField(
            "number",
            words("order"),
            "text",
            values.get("number", ""),
            error=errors.get("number", ""),
        ),
        FormField(
            "topic",
            words("topic"),
            "select",
            values.get("topic", ""),
            [("", "–"), *choices(call, TOPICS)],
            errors.get("topic", ""),
        ),
        FormField(
            "amount",
            words("amount"),
            "text",
            values.get("amount", ""),
            error=errors.get("amount", ""),
            help=words("amount_form"),
        ),
        FormField("body", words("message"), "textarea", values.get("body", "")),
    ]
    return block_page(call, words("contact"), call.ui.form("/contact", fields, words("send")),
                     status=422 if errors else 200)  # fmt: skip
