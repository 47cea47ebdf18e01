"""tau2's retail desk: its sixteen tools over users, products and orders.

Behaviour follows tau2-bench's retail domain (its data files and documented tool contracts), with
one fix: a modification of several items gives each item its own new price and options, where tau2
writes those of the last item to all. Arguments are plain values, results are JSON text.
"""

import inspect
import json
from collections.abc import Callable
from typing import Any, cast

from hexathlon.tasks.shopping.world.arithmetic import ArithmeticProblem, calculate
from hexathlon.tasks.shopping.world.retail_lookup import DeskProblem, find_user, fold, item_index
from hexathlon.tasks.shopping.world.retail_tools import ADDRESS
from hexathlon.tasks.shopping.world.tables import Base, Record, Tables

__all__ = ["DeskProblem", "RetailDesk", "replay"]


class RetailDesk:
    """The tools over one episode's tables."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables

    def call(self, name: str, arguments: dict[str, Any]) -> str:
        """Run one tool.

        Raises:
            DeskProblem: If the call cannot be carried out; nothing has changed then.
        """
        method = cast("Callable[..., str] | None", getattr(self, f"do_{name}", None))
        if method is None:
            raise DeskProblem(f"there is no tool {name!r}")
        return method(**arguments)

    # Reading -----------------------------------------------------------------------------------

    def do_calculate(self, expression: str) -> str:
        """Evaluate an expression, rounded to cents."""
        try:
            return str(round(calculate(expression), 2))
        except ArithmeticProblem as problem:
            raise DeskProblem(str(problem)) from None

    def do_find_user_id_by_name_zip(self, first_name: str, last_name: str, zip: str) -> str:
        """Find a user by name and postcode, ignoring case and accents."""
        wanted = (fold(first_name), fold(last_name), zip)
        return find_user(self.tables, "name_zip", wanted)

    def do_find_user_id_by_email(self, email: str) -> str:
        """Find a user by email."""
        return find_user(self.tables, "email", fold(email))

    def do_get_order_details(self, order_id: str) -> str:
        """Show an order."""
        self._record("orders", order_id, "Order")
        return self.tables.text("orders", order_id)

    def do_get_product_details(self, product_id: str) -> str:
        """Show a product."""
        self._record("products", product_id, "Product")
        return self.tables.text("products", product_id)

    def do_get_item_details(self, item_id: str) -> str:
        """Show a variant."""
        index = item_index(self.tables.base)
        if item_id not in index:
            raise DeskProblem("Item not found")
        return json.dumps(self._record("products", index[item_id], "Item")["variants"][item_id])

    def do_get_user_details(self, user_id: str) -> str:
        """Show a user."""
        self._record("users", user_id, "User")
        return self.tables.text("users", user_id)

    def do_list_all_product_types(self) -> str:
        """List product names with ids."""
        products = self.tables.base.tables["products"].values()
        return json.dumps({p["name"]: p["product_id"] for p in products}, sort_keys=True)

    def do_transfer_to_human_agents(self, summary: str) -> str:
        """Transfer to a human; no table changes."""
        return "Transfer successful"

    # Writing -----------------------------------------------------------------------------------

    def do_cancel_pending_order(self, order_id: str, reason: str) -> str:
        """Cancel an order and refund it."""
        order = self._order(order_id, "pending", "Non-pending order cannot be cancelled")
        if reason not in ("no longer needed", "ordered by mistake"):
            raise DeskProblem("Invalid reason")
        refunds = [{**p, "transaction_type": "refund"} for p in order["payment_history"]]
        for payment in order["payment_history"]:
            method = payment["payment_method_id"]
            self._method(order["user_id"], method)
            self._pay(order["user_id"], method, -payment["amount"])
        return self._write_order(
            order,
            status="cancelled",
            cancel_reason=reason,
            payment_history=[*order["payment_history"], *refunds],
        )

    def do_exchange_delivered_order_items(
        self, order_id: str, item_ids: list[str], new_item_ids: list[str], payment_method_id: str
    ) -> str:
        """Request an exchange."""
        order = self._order(order_id, "delivered", "Non-delivered order cannot be exchanged")
        pairs = self._pairs(order, item_ids, new_item_ids)
        difference = round(sum(new["price"] - old["price"] for old, new in pairs), 2)
        self._require_balance(order["user_id"], payment_method_id, difference)
        return self._write_order(
            order,
            status="exchange requested",
            exchange_items=sorted(item_ids),
            exchange_new_items=sorted(new_item_ids),
            exchange_payment_method_id=payment_method_id,
            exchange_price_difference=difference,
        )

    def do_modify_pending_order_address(self, order_id: str, **address: str) -> str:
        """Change an order's address."""
        order = self._pending(order_id)
        return self._write_order(order, address={key: address[key] for key in ADDRESS})

    def do_modify_pending_order_items(
        self, order_id: str, item_ids: list[str], new_item_ids: list[str], payment_method_id: str
    ) -> str:
        """Change an order's variants before shipping."""
        order = self._order(order_id, "pending", "Non-pending order cannot be modified")
        if any(old == new for old, new in zip(item_ids, new_item_ids, strict=False)):
            raise DeskProblem("The new item id should be different from the old item id")
        pairs = self._pairs(order, item_ids, new_item_ids)
        difference = round(sum(new["price"] - old["price"] for old, new in pairs), 2)
        self._require_balance(order["user_id"], payment_method_id, difference)
        payment = {
            "transaction_type": "payment" if difference > 0 else "refund",
            "amount": abs(difference),
            "payment_method_id": payment_method_id,
        }
        self._pay(order["user_id"], payment_method_id, difference)
        return self._write_order(
            order,
            items=_replaced(order["items"], pairs),
            payment_history=[*order["payment_history"], payment],
            status="pending (item modified)",
        )

    def do_modify_pending_order_payment(self, order_id: str, payment_method_id: str) -> str:
        """Change an order's payment method."""
        order = self._pending(order_id)
        method = self._method(order["user_id"], payment_method_id)
        history = order["payment_history"]
        if len(history) != 1 or history[0]["transaction_type"] != "payment":
            raise DeskProblem("There should be exactly one payment for a pending order")
        old, amount = history[0]["payment_method_id"], history[0]["amount"]
        if old == payment_method_id:
            raise DeskProblem("The new payment method should be different from the current one")
        if method["source"] == "gift_card" and method["balance"] < amount:
            raise DeskProblem("Insufficient gift card balance to pay for the order")
        self._pay(order["user_id"], payment_method_id, amount)
        self._pay(order["user_id"], old, -amount)
        moved = [("payment", payment_method_id), ("refund", old)]
        added = [
            {"transaction_type": kind, "amount": amount, "payment_method_id": used}
            for kind, used in moved
        ]
        return self._write_order(order, payment_history=[*history, *added])

    def do_modify_user_address(self, user_id: str, **address: str) -> str:
        """Change a user's default address."""
        user = self._record("users", user_id, "User")
        place = {key: address[key] for key in ADDRESS}
        self.tables.put("users", user_id, {**user, "address": place})
        return self.tables.text("users", user_id)

    def do_return_delivered_order_items(
        self, order_id: str, item_ids: list[str], payment_method_id: str
    ) -> str:
        """Request a return."""
        order = self._order(order_id, "delivered", "Non-delivered order cannot be returned")
        method = self._method(order["user_id"], payment_method_id)
        original = order["payment_history"][0]["payment_method_id"]
        if method["source"] != "gift_card" and payment_method_id != original:
            raise DeskProblem("Payment method should be the original payment method")
        self._require_items(order, item_ids)
        return self._write_order(
            order,
            status="return requested",
            return_items=sorted(item_ids),
            return_payment_method_id=payment_method_id,
        )

    # Parts -------------------------------------------------------------------------------------

    def _record(self, table: str, key: str, noun: str) -> Record:
        record = self.tables.get(table, key)
        if record is None:
            raise DeskProblem(f"{noun} not found")
        return record

    def _order(self, order_id: str, status: str, otherwise: str) -> Record:
        order = self._record("orders", order_id, "Order")
        if order["status"] != status:
            raise DeskProblem(otherwise)
        return order

    def _pending(self, order_id: str) -> Record:
        order = self._record("orders", order_id, "Order")
        if "pending" not in order["status"]:
            raise DeskProblem("Non-pending order cannot be modified")
        return order

    def _method(self, user_id: str, method_id: str) -> Record:
        methods = self._record("users", user_id, "User")["payment_methods"]
        if method_id not in methods:
            raise DeskProblem("Payment method not found")
        return cast("Record", methods[method_id])

    def _require_balance(self, user_id: str, method_id: str, amount: float) -> None:
        method = self._method(user_id, method_id)
        if method["source"] == "gift_card" and method["balance"] < amount:
            raise DeskProblem("Insufficient gift card balance to pay for the price difference")

    def _require_items(self, order: Record, item_ids: list[str]) -> None:
        held = [item["item_id"] for item in order["items"]]
        for item_id in item_ids:
            if item_ids.count(item_id) > held.count(item_id):
                raise DeskProblem(f"Item {item_id} not found in the order that many times")

    def _pairs(
        self, order: Record, item_ids: list[str], new_item_ids: list[str]
    ) -> list[tuple[Record, Record]]:
        self._require_items(order, item_ids)
        if len(item_ids) != len(new_item_ids):
            raise DeskProblem("The number of items to be exchanged should match")
        pairs = []
        for old_id, new_id in zip(item_ids, new_item_ids, strict=True):
            old = next(item for item in order["items"] if item["item_id"] == old_id)
            product = self._record("products", old["product_id"], "Product")
            if new_id not in product["variants"]:
                raise DeskProblem("Variant not found")
            new = product["variants"][new_id]
            if not new["available"]:
                raise DeskProblem(f"New item {new_id} not found or available")
            pairs.append((old, new))
        return pairs

    def _pay(self, user_id: str, method_id: str, amount: float) -> None:
        """Charge an amount to a gift card; other methods are settled elsewhere."""
        user = self._record("users", user_id, "User")
        method = user["payment_methods"][method_id]
        if method["source"] == "gift_card":
            paid = {**method, "balance": round(method["balance"] - amount, 2)}
            methods = {**user["payment_methods"], method_id: paid}
            self.tables.put("users", user_id, {**user, "payment_methods": methods})

    def _write_order(self, order: Record, **fields: Any) -> str:
        self.tables.put("orders", order["order_id"], {**order, **fields})
        return self.tables.text("orders", order["order_id"])


def replay(base: Base, actions: list[dict[str, Any]]) -> tuple[Tables, list[str]]:
    """Run reference actions on a fresh state.

    Returns:
        The tables and the desk's refusals, which tau2 treats as warnings only.
    """
    desk, refused = RetailDesk(Tables(base)), []
    for action in actions:
        name, arguments = action["name"], action["arguments"]
        try:
            # Some references name arguments that the tool does not accept.
            inspect.signature(getattr(desk, f"do_{name}")).bind(**arguments)
            desk.call(name, arguments)
        except (DeskProblem, TypeError) as problem:
            refused.append(f"{name}: {problem}")
    return desk.tables, refused


def _replaced(items: list[Record], pairs: list[tuple[Record, Record]]) -> list[Record]:
    """Return the items, replacing the first match of each old item."""
    result = list(items)
    open_places = list(range(len(items)))
    for old, new in pairs:
        place = next(i for i in open_places if items[i]["item_id"] == old["item_id"])
        open_places.remove(place)
        change = {"item_id": new["item_id"], "price": new["price"], "options": new["options"]}
        result[place] = {**items[place], **change}
    return result
