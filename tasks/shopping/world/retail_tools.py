"""Schemas of tau2's sixteen retail tools."""

from typing import Any

from hexathlon.tasks.task import ToolSchema

__all__ = ["ADDRESS", "RETAIL_TOOLS", "RETAIL_WRITES"]

_TEXT = {"type": "string", "maxLength": 400}
_IDS = {"type": "array", "items": _TEXT, "maxItems": 50}
ADDRESS = ("address1", "address2", "city", "state", "country", "zip")
"""Address fields, in tau2's order."""


def _schema(name: str, description: str, **properties: dict[str, Any]) -> ToolSchema:
    parameters = {"type": "object", "properties": properties, "required": list(properties)}
    return ToolSchema(name=name, description=description, parameters=parameters)


_PLACE = dict.fromkeys(ADDRESS, _TEXT)
_SWAP = {
    "order_id": _TEXT,
    "item_ids": _IDS,
    "new_item_ids": _IDS,
    "payment_method_id": _TEXT,
}

RETAIL_TOOLS = (
    _schema("calculate", "Work out an arithmetic expression.", expression=_TEXT),
    _schema(
        "cancel_pending_order",
        "Cancel a pending order. The reason is 'no longer needed' or 'ordered by mistake'.",
        order_id=_TEXT,
        reason=_TEXT,
    ),
    _schema(
        "exchange_delivered_order_items",
        "Exchange items of a delivered order for other variants of the same products; once only.",
        **_SWAP,
    ),
    _schema(
        "find_user_id_by_name_zip",
        "Find a user by first name, last name and zip code.",
        first_name=_TEXT,
        last_name=_TEXT,
        zip=_TEXT,
    ),
    _schema("find_user_id_by_email", "Find a user by email.", email=_TEXT),
    _schema("get_order_details", "Show an order; ids begin with '#W'.", order_id=_TEXT),
    _schema("get_product_details", "Show a product and its variants.", product_id=_TEXT),
    _schema("get_item_details", "Show one variant.", item_id=_TEXT),
    _schema("get_user_details", "Show a user with payment methods and orders.", user_id=_TEXT),
    _schema("list_all_product_types", "List product names with their ids."),
    _schema(
        "modify_pending_order_address",
        "Change the shipping address of a pending order.",
        order_id=_TEXT,
        **_PLACE,
    ),
    _schema(
        "modify_pending_order_items",
        "Change items of a pending order to other variants of the same products; once only.",
        **_SWAP,
    ),
    _schema(
        "modify_pending_order_payment",
        "Change the payment method of a pending order.",
        order_id=_TEXT,
        payment_method_id=_TEXT,
    ),
    _schema("modify_user_address", "Change a user's default address.", user_id=_TEXT, **_PLACE),
    _schema(
        "return_delivered_order_items",
        "Return items of a delivered order.",
        order_id=_TEXT,
        item_ids=_IDS,
        payment_method_id=_TEXT,
    ),
    _schema(
        "transfer_to_human_agents",
        "Hand the customer over to a human agent, with a summary.",
        summary={"type": "string", "maxLength": 4000},
    ),
)

RETAIL_WRITES = frozenset(
    {
        "cancel_pending_order",
        "exchange_delivered_order_items",
        "modify_pending_order_address",
        "modify_pending_order_items",
        "modify_pending_order_payment",
        "modify_user_address",
        "return_delivered_order_items",
    }
)
"""Tools that modify records."""
