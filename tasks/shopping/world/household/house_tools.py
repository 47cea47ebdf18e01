"""Tool schemas of a household."""

from hexathlon.tasks.shopping.world.tools import schema

__all__ = ["HOUSE_REASONS", "HOUSE_TOPICS", "HOUSE_TOOLS"]

HOUSE_REASONS = (
    "over_budget", "no_approval", "not_entitled", "under_way", "window_passed",
)  # fmt: skip
"""Reasons for which a request can be declined."""

HOUSE_TOPICS = ("details", "day", "quantity", "approval", "size", "budget", "tradeoff")
"""What members can be asked about."""

_ID = {"type": "string", "maxLength": 60}
_LINES = {"type": "array", "items": _ID, "maxItems": 20}
_CENTS = {"type": "integer", "minimum": -10_000_000, "maximum": 10_000_000}

HOUSE_TOOLS = (
    schema("read_rules", "Read the rules of the house."),
    schema("read_notices", "Read what people have put on the notice board so far."),
    schema("show_member", "Show what is known of a person.", member=_ID),
    schema("show_supplies", "Show supplies in the house with daily use, and devices."),
    schema("show_calendar", "Show the calendar of the month."),
    schema("show_history", "Show orders of earlier months."),
    schema("list_orders", "List this month's orders with their parcels."),
    schema("list_offers", "List the market's offers of one kind of goods.", kind=_ID),
    schema("show_offers", "Show up to four offers in full.",
           offers={**_LINES, "maxItems": 4}),
    schema("read_reviews", "Read the reviews of an offer.", offer=_ID),
    schema("list_sellers", "List the sellers with their terms."),
    schema("ask", "Ask a person about one topic of the request in hand.", member=_ID,
           topic={"type": "string", "enum": list(HOUSE_TOPICS)}),
    schema("place_order", "Order packs of offers for the request in hand, such as "
           '["F101 x 2", "F230 x 1"]; it replaces what the request has ordered so far.',
           lines=_LINES),
    schema("give_back", "Cancel packs of an order that have not been sent, or return packs that "
           "have arrived; the price of the packs is refunded.", order=_ID, offer=_ID,
           packs={"type": "integer", "minimum": 1, "maximum": 99}),
    schema("decline", "Decline the request or one part of it: a reason and the record that shows "
           "it (an order such as R2, an offer such as F101, a person, or budget). Reason none "
           "takes it back.", reason={"type": "string", "enum": [*HOUSE_REASONS, "none"]},
           record=_ID),
    schema("finish_request", "Finish the request; the next one follows. State what is left of the "
           "month's budget, in cents.", left_cents=_CENTS),
)  # fmt: skip
