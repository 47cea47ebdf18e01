"""Tool schemas of one conversation."""

from hexathlon.tasks.shopping.world.tools import schema

__all__ = ["TALK_REASONS", "TALK_TOOLS", "TALK_TOPICS"]

TALK_REASONS = (
    "window_passed", "final_sale", "not_due", "not_promised", "works", "customer_declined",
    "not_allowed",
)  # fmt: skip
"""Reasons for which a matter can be declined."""

TALK_TOPICS = ("condition", "arrival", "address", "reason", "payment")
"""What the customer can be asked about."""

_ID = {"type": "string", "maxLength": 60}
_TEXT = {"type": "string", "maxLength": 200}
_LINES = {"type": "array", "items": _ID, "maxItems": 20}
_CENTS = {"type": "integer", "minimum": -10_000_000, "maximum": 10_000_000}

TALK_TOOLS = (
    schema("read_policy", "Read the service policy."),
    schema("show_account", "Show the customer's account with the orders."),
    schema("show_order", "Show an order.", order=_ID),
    schema("show_parcel", "Show the scans of an order's parcel.", order=_ID),
    schema("show_notes", "Show notes of colleagues on the account."),
    schema("show_variants", "Show the colours of a line's goods with today's price and stock.",
           order=_ID, line=_ID),
    schema("show_log", "Show what a connected device has reported.", order=_ID, line=_ID),
    schema("ask_customer", "Ask the customer about one topic, of one order where it matters.",
           topic={"type": "string", "enum": list(TALK_TOPICS)}, order={**_ID, "default": ""}),
    schema("anything_else", "Ask the customer whether there is anything else."),
    schema("guide_customer", "Explain to the customer how to reset a device; they do it.",
           order=_ID, line=_ID),
    schema("refund_lines", "Cancel lines of an unsent order, or take delivered lines back, with "
           "the amounts refunded to gift card and card; damaged names those that came damaged or "
           "are defective.",
           order=_ID, lines=_LINES, gift_cents=_CENTS, card_cents=_CENTS,
           damaged={**_LINES, "default": []}),
    schema("exchange_line", "Exchange a delivered line for another colour; extra_cents is what the "
           "customer pays on top (0 if nothing).", order=_ID, line=_ID, variant=_ID,
           extra_cents=_CENTS),
    schema("match_price", "Refund a difference in price of a line that the customer keeps.",
           order=_ID, line=_ID, gift_cents=_CENTS, card_cents=_CENTS),
    schema("pay_goodwill", "Pay goodwill for an order.", order=_ID, cents=_CENTS),
    schema("take_points", "Take points back from the account.",
           points={"type": "integer", "minimum": 1, "maximum": 1_000_000}),
    schema("change_address", "Send an unsent order elsewhere.", order=_ID, street=_TEXT,
           city=_TEXT, postcode=_TEXT),
    schema("decline", "Decline a matter: reason, record (order, line such as O12345678/1, or "
           "account) and rule (such as R3). Declining the same record again replaces the former "
           "answer; reason none takes it back.",
           reason={"type": "string", "enum": [*TALK_REASONS, "none"]}, record=_ID, rule=_ID),
    schema("finish_case", "Close the case. State the net amount that the customer receives "
           "through it, in cents: refunds and goodwill less what is paid on top.",
           net_cents=_CENTS),
)  # fmt: skip
