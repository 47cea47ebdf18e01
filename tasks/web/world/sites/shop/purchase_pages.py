"""Purchase pages: cart, coupon, checkout and payment."""

from collections.abc import Mapping
from datetime import date
from typing import Any

from markupsafe import Markup

from hexathlon.tasks.web.world.blocks import block_page, section
from hexathlon.tasks.web.world.exchange import WebResponse
from hexathlon.tasks.web.world.site import Call, get, post
from hexathlon.tasks.web.world.sites.shop.pricing import (
    CartTotals,
    cart_lines,
    coupon_problem,
    line_discounts,
    price_totals,
    settings_of,
)
from hexathlon.tasks.web.world.sites.shop.vocabulary import METHODS, shop_label
from hexathlon.tasks.web.world.store import StoreRow
from hexathlon.tasks.web.world.ui import FormField

__all__ = ["PurchasePages", "check_payment"]

PAYMENT_DELAY = 2
"""Number of actions after which a card's bank answers."""

_EMPTY = {"address": 0, "method": "standard", "slot": 0, "payment": 0, "insurance": 1,
          "wrapping": 0, "newsletter": 1, "note": ""}  # fmt: skip


class PurchasePages:
    """Handlers of cart and checkout."""

    @get("/cart")
    def cart(self, call: Call) -> WebResponse:
        """Show the cart."""
        words, ui = call.words, call.ui
        lines = cart_lines(call.store, call.login)
        if not lines:
            return block_page(call, words("cart"), Markup("<p>{}</p>").format(words("cart_empty")))
        rows = []
        for line in lines:
            change = ui.form(
                f"/cart/{line['id']}",
                [
                    FormField(
                        "quantity",
                        f"{words('quantity')} {line['variant']}",
                        "number",
                        line["quantity"],
                    )
                ],
                words("change"),
            )
            rows.append(
                [
                    ui.link(line["title"], f"/products/{line['product']}"),
                    line["options"],
                    ui.money(line["price"]),
                    change,
                    ui.money(line["price"] * line["quantity"]),
                    ui.post_button(
                        f"{words('delete')} {line['variant']}", f"/cart/{line['id']}/remove"
                    ),
                ]
            )
        columns = [words("title"), words("variant"), words("price"), words("quantity"),
                   words("sum"), ""]  # fmt: skip
        coupon = _coupon(call, lines)
        code = _coupon_code(call)
        applied = coupon["code"] if coupon else ""
        forms = ui.form(
            "/cart/coupon", [FormField("code", words("code"), "text", code)], words("use_code")
        )
        totals = price_totals(lines, coupon, "standard", 0, settings_of(call.store))
        order = ui.link(words("checkout"), "/checkout", class_="button primary")
        return block_page(
            call,
            words("cart"),
            ui.table(columns, rows),
            order,
            side=section(words("summary"), _totals(call, totals, applied), forms),
        )

    @post("/cart/coupon")
    def use_coupon(self, call: Call) -> WebResponse:
        """Use a coupon, or none if the code is empty."""
        code = call.arg("code").upper()
        call.store.execute("DELETE FROM _coupon WHERE person = ?", (call.login,))
        if not code:
            return call.redirect("/cart", call.words("code_removed"))
        coupon = call.store.row("SELECT * FROM coupons WHERE code = ?", (code,))
        problem = coupon_problem(coupon, cart_lines(call.store, call.login), call.clock.today)
        if problem:
            return call.redirect("/cart", call.words(problem), "error")
        call.store.insert("_coupon", person=call.login, code=code)
        return call.redirect("/cart", call.words("code_used"))

    @post("/cart/{number:int}")
    def change_line(self, call: Call, number: int) -> WebResponse:
        """Change the quantity of a line."""
        line = next(
            (each for each in cart_lines(call.store, call.login) if each["id"] == number), None
        )
        if line is None:
            return call.not_found()
        quantity = call.number("quantity", -1)
        if not 0 <= quantity <= 20:
            return call.redirect("/cart", call.words("quantity_range"), "error")
        if quantity > line["stock"]:
            return call.redirect("/cart", call.words("only_left", count=line["stock"]), "error")
        if quantity == 0:
            return self.remove_line(call, number)
        call.store.execute("UPDATE cart SET quantity = ? WHERE id = ?", (quantity, number))
        return call.redirect("/cart", call.words("saved"))

    @post("/cart/{number:int}/remove")
    def remove_line(self, call: Call, number: int) -> WebResponse:
        """Remove a line."""
        call.store.execute("DELETE FROM cart WHERE id = ? AND person = ?", (number, call.login))
        return call.redirect("/cart", call.words("removed"))

    @get("/checkout")
    def checkout(self, call: Call) -> WebResponse:
        """Show the order form."""
        if not cart_lines(call.store, call.login):
            return call.redirect("/cart")
        known = call.store.row("SELECT * FROM _checkout WHERE person = ?", (call.login,))
        return _checkout_page(call, known or _EMPTY, {})

    @get("/checkout/slots")
    def slot_field(self, call: Call) -> WebResponse:
        """Return the delivery windows of a method."""
        return call.fragment("field.html", field=_slot_field(call, call.arg("method"), 0, ""))

    @post("/checkout")
    def choose(self, call: Call) -> WebResponse:
        """Check the order form and go on to the summary."""
        values: dict[str, Any] = {
            "address": call.number("address"),
            "method": call.arg("method"),
            "slot": call.number("slot"),
            "payment": call.number("payment"),
            "insurance": int(call.arg("insurance") == "1"),
            "wrapping": int(call.arg("wrapping") == "1"),
            "newsletter": int(call.arg("newsletter") == "1"),
            "note": call.arg("note"),
        }
        errors = _checkout_errors(call, values)
        if errors:
            return _checkout_page(call, values, errors)
        call.store.execute("DELETE FROM _checkout WHERE person = ?", (call.login,))
        call.store.insert("_checkout", person=call.login, coupon=_coupon_code(call), **values)
        return call.redirect("/checkout/summary")

    @get("/checkout/summary")
    def summary(self, call: Call) -> WebResponse:
        """Show the summary of the order."""
        chosen = call.store.row("SELECT * FROM _checkout WHERE person = ?", (call.login,))
        lines = cart_lines(call.store, call.login)
        if chosen is None or not lines:
            return call.redirect("/cart")
        words, ui = call.words, call.ui
        totals, coupon = _priced(call, chosen, lines)
        address, slot, payment = _chosen_rows(call, chosen)
        columns = [words("title"), words("variant"), words("quantity"), words("sum")]
        rows = [[line["title"], line["options"], line["quantity"],
                 ui.money(line["price"] * line["quantity"])] for line in lines]  # fmt: skip
        extras = [name for name in ("insurance", "wrapping", "newsletter") if chosen[name]]
        facts = [
            (
                words("address"),
                f"{address['label']}: {address['street']}, {address['postcode']} {address['city']}",
            ),
            (words("method"), shop_label(chosen["method"], call.language)),
            (words("slot"), _slot_text(call, slot)),
            (words("payment"), payment["label"]),
            (words("extras"), ", ".join(words(name) for name in extras) or "–"),
            (words("note"), chosen["note"] or "–"),
        ]
        place = ui.confirm(
            words("place_order"),
            words("place_question", total=ui.money(totals.total)),
            "/checkout/place",
            words("place_order"),
            kind="primary",
        )
        return block_page(
            call,
            words("summary"),
            ui.grid(columns, rows),
            ui.facts(facts),
            place,
            ui.link(words("back_to_form"), "/checkout"),
            side=_totals(call, totals, coupon["code"] if coupon else ""),
        )

    @post("/checkout/place")
    def place(self, call: Call) -> WebResponse:
        """Place the order; the card is charged a moment later."""
        chosen = call.store.row("SELECT * FROM _checkout WHERE person = ?", (call.login,))
        lines = cart_lines(call.store, call.login)
        if chosen is None or not lines:
            return call.redirect("/cart")
        if any(line["quantity"] > line["stock"] for line in lines):
            return call.redirect("/cart", call.words("not_enough"), "error")
        totals, coupon = _priced(call, chosen, lines)
        address, slot, payment = _chosen_rows(call, chosen)
        number = 1 + call.store.value("SELECT max(number) FROM orders")
        call.store.insert(
            "orders", number=number, person=call.login, placed=call.clock.stamp, status="placed",
            delivered="", address=address["label"], method=chosen["method"],
            slot=f"{slot['day']} {slot['hours']}" if slot else "", payment=payment["label"],
            coupon=coupon["code"] if coupon else "", goods=totals.goods, discount=totals.discount,
            shipping=totals.shipping, insurance=totals.insurance, wrapping=totals.wrapping,
            total=totals.total, newsletter=chosen["newsletter"], note=chosen["note"],
        )  # fmt: skip
        for line, share in zip(lines, line_discounts(coupon, lines), strict=True):
            call.store.insert(
                "items", number=number, variant=line["variant"], title=line["title"],
                options=line["options"], department=line["department"], price=line["price"],
                quantity=line["quantity"], discount=share, return_days=line["return_days"],
                category=line["category"],
            )  # fmt: skip
            call.store.execute(
                "UPDATE variants SET stock = stock - ? WHERE id = ?",
                (line["quantity"], line["variant"]),
            )
        if slot:
            call.store.execute("UPDATE slots SET places = places - 1 WHERE id = ?", (slot["id"],))
        for table in ("cart", "_checkout", "_coupon"):
            call.store.execute(f"DELETE FROM {table} WHERE person = ?", (call.login,))
        call.later(PAYMENT_DELAY, "charge", str(number))
        return call.redirect(f"/orders/{number}", call.words("ordered", number=number))

    @post("/orders/{number:int}/pay")
    def pay(self, call: Call, number: int) -> WebResponse:
        """Pay an order again with another card."""
        row = call.store.row(
            "SELECT * FROM orders WHERE number = ? AND person = ?", (number, call.login)
        )
        payment = call.store.row(
            "SELECT * FROM payments WHERE id = ? AND person = ?",
            (call.number("payment"), call.login),
        )
        if row is None or payment is None or row["status"] != "unpaid":
            return call.not_found()
        if payment["expires"] < call.clock.today.isoformat()[:7]:
            return call.redirect(f"/orders/{number}", call.words("card_expired"), "error")
        call.store.execute(
            "UPDATE orders SET payment = ?, status = 'placed' WHERE number = ?",
            (payment["label"], number),
        )
        call.later(PAYMENT_DELAY, "charge", str(number))
        return call.redirect(f"/orders/{number}", call.words("paid_again"))


def check_payment(call: Call, number: int) -> None:
    """Charge the card of an order; without enough funds the order waits for another payment."""
    row = call.store.row("SELECT * FROM orders WHERE number = ?", (number,))
    if row is None or row["status"] != "placed":
        return
    funds = call.store.value("SELECT funds FROM _funds WHERE label = ?", (row["payment"],))
    if funds is None or funds >= row["total"]:
        call.store.execute(
            "UPDATE _funds SET funds = funds - ? WHERE label = ?", (row["total"], row["payment"])
        )
        return
    call.store.execute("UPDATE orders SET status = 'unpaid' WHERE number = ?", (number,))
    text = call.words("declined", number=number, card=row["payment"])
    call.store.insert("_notices", person=row["person"], kind="error", text=text)


def _priced(
    call: Call, chosen: StoreRow, lines: list[StoreRow]
) -> tuple[CartTotals, StoreRow | None]:
    coupon = _coupon(call, lines)
    slot = call.store.row("SELECT * FROM slots WHERE id = ?", (chosen["slot"],))
    totals = price_totals(
        lines,
        coupon,
        chosen["method"],
        slot["fee"] if slot else 0,
        settings_of(call.store),
        insurance=bool(chosen["insurance"]),
        wrapping=bool(chosen["wrapping"]),
    )
    return totals, coupon


def _chosen_rows(call: Call, chosen: StoreRow) -> tuple[StoreRow, StoreRow | None, StoreRow]:
    address = call.store.row("SELECT * FROM addresses WHERE id = ?", (chosen["address"],))
    slot = call.store.row("SELECT * FROM slots WHERE id = ?", (chosen["slot"],))
    payment = call.store.row("SELECT * FROM payments WHERE id = ?", (chosen["payment"],))
    assert address is not None and payment is not None
    return address, slot, payment


def _coupon_code(call: Call) -> str:
    return str(call.store.value("SELECT code FROM _coupon WHERE person = ?", (call.login,)) or "")


def _coupon(call: Call, lines: list[StoreRow]) -> StoreRow | None:
    """Return the coupon in use, as long as it applies."""
    coupon = call.store.row("SELECT * FROM coupons WHERE code = ?", (_coupon_code(call),))
    return None if coupon_problem(coupon, lines, call.clock.today) else coupon


def _totals(call: Call, totals: CartTotals, code: str) -> Markup:
    words, money = call.words, call.ui.money
    pairs = [(words("goods_value"), money(totals.goods))]
    if totals.discount:
        pairs.append((f"{words('discount')} {code}", money(-totals.discount)))
    pairs.append((words("shipping"), money(totals.shipping)))
    for name in ("insurance", "wrapping"):
        if getattr(totals, name):
            pairs.append((words(name), money(getattr(totals, name))))
    pairs.append((words("total_sum"), money(totals.total)))
    return call.ui.facts(pairs)


def _checkout_errors(call: Call, values: Mapping[str, Any]) -> dict[str, str]:
    errors, words = {}, call.words
    mine = (call.login,)
    if (
        call.store.value(
            "SELECT 1 FROM addresses WHERE id = ? AND person = ?", (values["address"], *mine)
        )
        is None
    ):
        errors["address"] = words("required")
    if values["method"] not in METHODS:
        errors["method"] = words("required")
    payment = call.store.row(
        "SELECT * FROM payments WHERE id = ? AND person = ?", (values["payment"], *mine)
    )
    if payment is None:
        errors["payment"] = words("required")
    elif payment["expires"] < call.clock.today.isoformat()[:7]:
        errors["payment"] = words("card_expired")
    if values["method"] in ("standard", "express"):
        slot = call.store.row("SELECT * FROM slots WHERE id = ?", (values["slot"],))
        if slot is None or slot["method"] != values["method"]:
            errors["slot"] = words("required")
        elif slot["places"] < 1:
            errors["slot"] = words("slot_full")
    return errors


def _checkout_page(call: Call, values: Mapping[str, Any], errors: Mapping[str, str]) -> WebResponse:
    words, ui = call.words, call.ui
    addresses = call.store.rows(
        "SELECT * FROM addresses WHERE person = ? ORDER BY id", (call.login,)
    )
    payments = call.store.rows("SELECT * FROM payments WHERE person = ? ORDER BY id", (call.login,))
    methods = [(name, shop_label(name, call.language)) for name in METHODS]
    fields = [
        FormField("address", words("address"), "select", values["address"] or addresses[0]["id"],
              [(str(each["id"]), f"{each['label']}: {each['street']}, {each['city']}")
               for each in addresses], errors.get("address", "")),
        FormField("payment", words("payment"), "select", values["payment"] or payments[0]["id"],
              [(str(each["id"]), each["label"]) for each in payments], errors.get("payment", "")),
        FormField("insurance", f"{words('insurance')} (€2.90)", "checkbox", values["insurance"]),
        FormField("wrapping", f"{words('wrapping')} (€3.50)", "checkbox", values["wrapping"]),
        FormField("newsletter", words("newsletter"), "checkbox", values["newsletter"]),
        FormField("note", words("note"), "text", values["note"]),
        FormField("method", words("method"), "select", values["method"], methods,
              errors.get("method", ""), depends=("/checkout/slots", "slot-place")),
    ]  # fmt: skip
    slots = ui.field(_slot_field(call, values["method"], values["slot"], errors.get("slot", "")))
    place = Markup('<div id="slot-place">{}</div>').format(slots)
    form = ui.form("/checkout", fields, words("to_summary"), cancel="/cart", extra=place)
    return block_page(call, words("checkout"), form, status=422 if errors else 200)


def _slot_field(call: Call, method: str, value: Any, error: str) -> FormField:
    rows = call.store.rows("SELECT * FROM slots WHERE method = ? ORDER BY day, hours", (method,))
    options = [("0", "–"), *((str(row["id"]), _slot_text(call, row)) for row in rows)]
    return FormField("slot", call.words("slot"), "select", str(value), options, error)


def _slot_text(call: Call, slot: StoreRow | None) -> str:
    if slot is None:
        return "–"
    fee = f" (+{call.ui.money(slot['fee'])})" if slot["fee"] else ""
    full = "" if slot["places"] else f" – {call.words('full')}"
    return f"{call.date(date.fromisoformat(slot['day']))}, {slot['hours']}{fee}{full}"
