"""Tool schemas of the shopping event."""

from typing import Any

from hexathlon.tasks.catalogue.search import SORTS
from hexathlon.tasks.task import ToolSchema

__all__ = ["REASONS", "decline_tool", "dialogue_tools", "report_tool", "schema", "store_tools"]

REASONS = (
    "out_of_stock",
    "over_budget",
    "no_such_item",
    "too_late",
    "window_passed",
    "final_sale",
    "already_shipped",
    "not_late",
    "not_owner",
)
"""Reasons why a request cannot be fulfilled; reported with the id of the record that shows it."""

_ID = {"type": "string", "maxLength": 60}
_TEXT = {"type": "string", "maxLength": 1_000}
_PAGE = {"type": "integer", "minimum": 1, "maximum": 500, "default": 1}
_OPTIONS = {"type": ["object", "string"], "default": {}}
_COUNT = {"type": "integer", "minimum": 1, "maximum": 99, "default": 1}


def schema(name: str, description: str, /, **properties: dict[str, Any]) -> ToolSchema:
    """Return a tool schema; properties with a default are optional."""
    required = [key for key, value in properties.items() if "default" not in value]
    parameters = {"type": "object", "properties": properties, "required": required}
    return ToolSchema(name=name, description=description, parameters=parameters)


_BROWSE = (
    schema(
        "search",
        "Search titles, features and options; empty words browse. Filters: price_min, price_max "
        "(in whole units of money), rating_min (stars), delivery_max (days), brand, seller and, "
        "with a "
        'category, what its result pages list, such as {"price_max": 50}.',
        query={"type": "string", "maxLength": 300},
        category={"type": "string", "maxLength": 60, "default": ""},
        filters={"type": "object", "default": {}},
        sort={"type": "string", "enum": list(SORTS), "default": "relevance"},
        page=_PAGE,
    ),
    schema("open_item", "Show an item's page: features, options, seller, delivery.", item=_ID),
    schema("read_description", "Read an item's description.", item=_ID),
    schema("read_specification", "Read an item's specification table.", item=_ID),
    schema("read_reviews", "Read an item's reviews.", item=_ID, page=_PAGE),
    schema(
        "choose_options",
        "Show price, stock and picture of the variant with these options, such as "
        '{"colour": "red"}. In place of item and options the id of a variant will do.',
        item=_ID,
        options=_OPTIONS,
    ),
    schema(
        "compare",
        "Show up to four items side by side.",
        items={"type": "array", "items": _ID, "maxItems": 4},
    ),
)
_BUY = (
    schema(
        "add_to_cart", "Put a variant into the cart.", item=_ID, options=_OPTIONS, quantity=_COUNT
    ),
    schema("remove_from_cart", "Take a variant out of the cart.", variant=_ID),
    schema("view_cart", "Show the cart and what it costs."),
    schema("read_rules", "Read the shop's rules: coupons, bundles, delivery, how prices add up."),
    schema("list_coupons", "List the coupons that the customer holds."),
    schema("apply_coupon", "Use a coupon on this cart.", code=_ID),
    schema("remove_coupon", "Do not use a coupon after all.", code=_ID),
    schema(
        "checkout",
        "Order what is in the cart and end. Use the home address and standard delivery unless "
        "asked otherwise.",
        address={"type": "string", "maxLength": 60, "default": "home"},
        speed={"type": "string", "enum": ["standard", "express"], "default": "standard"},
    ),
)
_CUSTOMER = (
    schema("view_profile", "Show what the shop knows about the customer."),
    schema("order_history", "List the customer's earlier orders."),
    schema("view_order", "Show one earlier order.", order=_ID),
)
_DIALOGUE = (
    schema(
        "ask_user", "Ask the customer. They lose patience with useless questions.", question=_TEXT
    ),
    schema("tell_user", "Tell the customer something.", message=_TEXT),
    schema(
        "offer",
        "Offer a variant to the customer, who accepts it or says what is wrong with it.",
        item=_ID,
        options=_OPTIONS,
    ),
)


def report_tool() -> ToolSchema:
    """Return the tool that ends an impossible task."""
    return schema(
        "report_impossible",
        "Say that the request cannot be met, with the reason and the id of the one record (item, "
        "variant or order) that shows it, and end. Sold out is said of a variant. Reasons: "
        f"{', '.join(REASONS)}.",
        reason={"type": "string", "enum": list(REASONS)},
        record=_ID,
    )


def decline_tool() -> ToolSchema:
    """Return the service desk's variant, whose policy has numbered paragraphs."""
    return schema(
        "report_impossible",
        "Decline what the policy does not allow, with the reason, the id of the one record (order, "
        "line such as O12345678/1, or variant) and the number of the policy's paragraph, and end. "
        f"Reasons: {', '.join(REASONS)}.",
        reason={"type": "string", "enum": list(REASONS)},
        record=_ID,
        paragraph={"type": "integer", "minimum": 1, "maximum": 99},
    )


def dialogue_tools() -> tuple[ToolSchema, ...]:
    """Return the tools for talking to the customer."""
    return _DIALOGUE


def store_tools(*, dialogue: bool, personal: bool) -> tuple[ToolSchema, ...]:
    """Return the tools of a purchase in one of the four settings."""
    customer = _CUSTOMER if personal else ()
    return (*_BROWSE, *_BUY, *customer, *(_DIALOGUE if dialogue else ()), report_tool())
