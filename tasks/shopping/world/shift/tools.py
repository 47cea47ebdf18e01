"""Tool schemas of a day at the counter."""

from hexathlon.tasks.shopping.world.shift.rulings import RULES
from hexathlon.tasks.shopping.world.shift.views import PARTS
from hexathlon.tasks.shopping.world.tools import schema
from hexathlon.tasks.task import ToolSchema

__all__ = ["SHIFT_TOOLS"]

_TOPICS = ("email", "order", "condition", "address", "variant", "wishes", "agreement")
"""Subjects on which customers can be asked."""

_ID = {"type": "string", "maxLength": 60}
_TEXT = {"type": "string", "maxLength": 200}
_LINES = {"type": "array", "items": _ID, "maxItems": 20}
_CENTS = {"type": "integer", "minimum": -10_000_000, "maximum": 10_000_000}
_AMOUNT = {**_CENTS, "minimum": 0}

SHIFT_TOOLS: tuple[ToolSchema, ...] = (
    schema(
        "read_policy",
        "Read a page of the policy; without a name, list the pages.",
        page={**_ID, "default": ""},
    ),
    schema("read_memos", "Read all memos and messages that have appeared so far."),
    schema(
        "find_customer",
        "List the accounts with an email, or with a name and, if given, a postcode.",
        email={**_TEXT, "default": ""},
        name={**_TEXT, "default": ""},
        postcode={**_TEXT, "default": ""},
    ),
    schema("show_customer", "Show an account with its orders.", customer=_ID),
    schema("show_order", "Show an order as it stands.", order=_ID),
    schema(
        "show_orders",
        "Show up to six orders as they stand.",
        orders={"type": "array", "items": _ID, "maxItems": 6},
    ),
    schema("show_history", "Show the history of an order.", order=_ID),
    schema(
        "show_parcel",
        "Show the parcel of an order that has not been sent: label and appointment.",
        order=_ID,
    ),
    schema("show_warranty", "Show which variants of a delivered order have warranty.", order=_ID),
    schema("list_variants", "List an item's variants with the units in stock.", item=_ID),
    schema("show_stock", "Show the stock of one variant and its reservations.", variant=_ID),
    schema("show_goodwill", "List this month's goodwill payments."),
    schema("list_sellers", "List partner sellers and their terms."),
    schema("list_offers", "List the partner sellers' offers of one kind of goods.", kind=_ID),
    schema("show_offer", "Show one offer with its reservations.", offer=_ID),
    schema(
        "ask_customer",
        "Ask the customer about one subject.",
        topic={"type": "string", "enum": list(_TOPICS)},
    ),
    schema(
        "guide_customer",
        "Explain to the customer a step that only the customer can do; a photo needs its line.",
        step={"type": "string", "enum": ["photo", "confirm_address"]},
        order=_ID,
        line={**_ID, "default": ""},
    ),
    schema("cancel_lines", "Cancel lines of an order.", order=_ID, lines=_LINES),
    schema(
        "return_lines",
        "Take lines of an order back.",
        order=_ID,
        lines=_LINES,
        damaged={"type": "boolean", "default": False},
    ),
    schema(
        "exchange_line",
        "Exchange a delivered line for another variant of its item.",
        order=_ID,
        line=_ID,
        variant=_ID,
    ),
    schema(
        "restore_lines",
        "Put lines that were cancelled, returned or exchanged back as ordered.",
        order=_ID,
        lines=_LINES,
    ),
    schema(
        "change_address",
        "Change where an order goes.",
        order=_ID,
        street=_TEXT,
        city=_TEXT,
        postcode=_TEXT,
    ),
    schema(
        "set_carrier",
        "Set the carrier of an order.",
        order=_ID,
        carrier={"type": "string", "enum": ["post", "courier", "locker"]},
    ),
    schema(
        "set_appointment",
        "Set the appointment for the delivery of an order.",
        order=_ID,
        day={"type": "integer", "minimum": 1, "maximum": 60},
        part={"type": "string", "enum": list(PARTS)},
    ),
    schema(
        "print_label",
        "Print the label of an order's parcel anew, with the address of the order.",
        order=_ID,
    ),
    schema("set_note", "Set the gift note of an order; empty removes it.", order=_ID, note=_TEXT),
    schema(
        "set_coupons",
        "Set the coupon codes that count on an order; an empty list takes them off.",
        order=_ID,
        codes={"type": "array", "items": _ID, "maxItems": 5},
    ),
    schema(
        "set_refund",
        "Set the total that is refunded for an order to one payment method, in cents; it replaces "
        "the former total to that method, and 0 removes it.",
        order=_ID,
        refund_to=_ID,
        cents=_AMOUNT,
    ),
    schema(
        "pay_goodwill",
        "Set the goodwill paid for an order, in cents; 0 takes it back.",
        order=_ID,
        cents=_AMOUNT,
    ),
    schema(
        "set_points",
        "Correct the points of an account; they are set to this number.",
        customer=_ID,
        points={"type": "integer", "minimum": 0, "maximum": 1_000_000},
    ),
    schema(
        "set_card",
        "Correct the balance of an account's gift card; it is set to this amount, in cents.",
        customer=_ID,
        cents=_AMOUNT,
    ),
    schema(
        "set_warranty",
        "Correct which variant has warranty for a line; empty ends it.",
        order=_ID,
        line=_ID,
        variant={**_ID, "default": ""},
    ),
    schema(
        "place_order",
        "Order a basket of offers for a customer; it replaces a former basket of that account.",
        customer=_ID,
        offers=_LINES,
        total_cents=_AMOUNT,
    ),
    schema(
        "decline",
        "Decline one part of a request: reason, record (order, line such as O12345678/1, or "
        "variant) and rule (such as R3) or memo (such as M2). The case stays open. Declining the "
        "same record again replaces the former answer; reason none takes it back.",
        reason={"type": "string", "enum": [*RULES, "none"]},
        record=_ID,
        rule=_ID,
    ),
    schema(
        "finish_case",
        "Close the case; the next customer follows. Tell the customer the net amount, in cents, "
        "that is refunded or paid as goodwill to them through this case; negative if refunds are "
        "taken back, 0 if nothing is booked. Prices of goods and corrections for earlier customers "
        "do not count.",
        net_cents=_CENTS,
    ),
)
