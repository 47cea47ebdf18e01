"""Tool schemas of the service desk."""

from hexathlon.tasks.shopping.world.tools import schema
from hexathlon.tasks.task import ToolSchema

__all__ = ["DESK_TOOLS", "DESK_WRITES"]

_ID = {"type": "string", "maxLength": 60}
_TEXT = {"type": "string", "maxLength": 200}
_LINES = {"type": "array", "items": _ID, "maxItems": 20}

DESK_TOOLS: tuple[ToolSchema, ...] = (
    schema("read_policy", "Read the service policy."),
    schema(
        "find_customer",
        "Find a customer by email, or by name and postcode.",
        email={**_TEXT, "default": ""},
        name={**_TEXT, "default": ""},
        postcode={**_TEXT, "default": ""},
    ),
    schema("show_customer", "Show a customer's record with their orders.", customer=_ID),
    schema("show_order", "Show an order with its lines.", order=_ID),
    schema("open_item", "Show an item's page with its options.", item=_ID),
    schema("list_variants", "List an item's variants with price and stock.", item=_ID),
    schema(
        "cancel_order",
        "Cancel an order.",
        order=_ID,
        reason={"type": "string", "enum": ["not_needed", "mistake"]},
    ),
    schema(
        "return_items",
        "Take lines of an order back; the refund goes to a payment method of the customer.",
        order=_ID,
        lines=_LINES,
        refund_to=_ID,
    ),
    schema(
        "exchange_item",
        "Exchange a delivered line for another variant of the same item.",
        order=_ID,
        line=_ID,
        variant=_ID,
    ),
    schema(
        "change_item",
        "Change a line to another variant of the same item before it is sent.",
        order=_ID,
        line=_ID,
        variant=_ID,
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
        "refund_delivery",
        "Refund for a late delivery, in whole cents.",
        order=_ID,
        cents={"type": "integer", "minimum": 1, "maximum": 10_000_000},
        refund_to=_ID,
    ),
    schema("finish_case", "Close the case: everything asked for has been done."),
)

DESK_WRITES = (
    "cancel_order",
    "return_items",
    "exchange_item",
    "change_item",
    "change_address",
    "refund_delivery",
)
