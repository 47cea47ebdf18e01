"""Ways of using the shop, shared by the scripts of its tasks."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from hexathlon.tasks.source import Script
from hexathlon.tasks.web.pilot import Pilot
from hexathlon.tasks.web.templates.draft import WebScene
from hexathlon.tasks.web.world.network import Edit, WorldPlan, initial_blobs, people_of
from hexathlon.tasks.web.world.sites.shop.vocabulary import shop_label
from hexathlon.tasks.web.world.store import SiteStore, StoreRow

__all__ = [
    "GOODS",
    "add_goods",
    "ask_return",
    "euros",
    "fill_checkout",
    "goods_of",
    "order_rows",
    "place_order",
    "shop_words",
    "staff_edit",
    "unique_titles",
]

GOODS = (
    "SELECT v.id AS variant, v.options, v.price, v.cost, v.stock, v.repriced, p.id AS product, "
    "p.title, p.brand, p.kind, p.category, p.department, p.seller, p.rating, p.days, "
    "p.return_days, p.spec, p.features FROM variants v JOIN products p ON p.id = v.product"
)
"""Query of all variants with their products."""


@lru_cache(maxsize=8)
def goods_of(plan: WorldPlan) -> tuple[StoreRow, ...]:
    """Return all variants of a plan's shop, with `owned`: whether the user ordered the title."""
    store = SiteStore(dict(initial_blobs(plan))["shop"])
    owned = {
        row["title"]
        for row in store.rows(
            "SELECT i.title FROM items i JOIN orders o ON o.number = i.number WHERE o.person = ?",
            (people_of(plan)[0].login,),
        )
    }
    rows = store.rows(f"{GOODS} ORDER BY v.id")
    store.close()
    return tuple({**row, "owned": row["title"] in owned} for row in rows)


def euros(cents: int) -> str:
    """Write an amount as tasks ask for it, such as `1234.50`."""
    return f"{cents / 100:.2f}"


def shop_words(pilot: Pilot, key: str) -> tuple[str, ...]:
    """Return every wording of a label of the shop."""
    return pilot.words("shop", key)


def unique_titles(store: SiteStore) -> list[StoreRow]:
    """Return products whose title no other product has."""
    return store.rows("SELECT * FROM products GROUP BY title HAVING count(*) = 1 ORDER BY id")


def staff_edit(scene: WebScene, plan: WorldPlan) -> Edit:
    """Return the edit that makes the user one of the shop's staff."""
    login = scene.people(plan)[0].login
    return ("shop", "UPDATE _accounts SET role = 'admin' WHERE login = ?", (login,))


def add_goods(pilot: Pilot, variant: str, quantity: int = 1) -> Script:
    """Put a variant into the cart."""
    yield from pilot.goto("shop", f"/products/{variant.partition('-')[0]}")
    yield from pilot.select(shop_words(pilot, "variant"), variant)
    if quantity != 1:
        yield from pilot.fill(shop_words(pilot, "quantity"), str(quantity), role="spinbutton")
    yield from pilot.click("button", shop_words(pilot, "add_to_cart"))


def fill_checkout(
    pilot: Pilot, *, address: int, method: str, slot: int, payment: int,
    keep: Sequence[str] = (), coupon: str = "", note: str = "",
) -> Script:  # fmt: skip
    """Use a coupon and fill in the order form; ids as values of the lists.

    Args:
        pilot: Reads the screen.
        address: Id of the address.
        method: Delivery method.
        slot: Id of the delivery window; 0 for none.
        payment: Id of the card.
        keep: Extras that stay ticked or become ticked.
        coupon: Code of the coupon; none if empty.
        note: Text of the note.
    """
    if coupon:
        yield from pilot.goto("shop", "/cart")
        yield from pilot.fill(shop_words(pilot, "code"), coupon)
        yield from pilot.click("button", shop_words(pilot, "use_code"))
    yield from pilot.goto("shop", "/checkout")
    yield from pilot.select(shop_words(pilot, "address"), str(address))
    yield from pilot.select(shop_words(pilot, "payment"), str(payment))
    for extra, ticked, price in (
        ("insurance", True, " (€2.90)"),
        ("wrapping", False, " (€3.50)"),
        ("newsletter", True, ""),
    ):
        if (extra in keep) != ticked:
            names = tuple(word + price for word in shop_words(pilot, extra))
            yield from pilot.click("checkbox", names)
    if note:
        yield from pilot.fill(shop_words(pilot, "note"), note)
    yield from pilot.select(shop_words(pilot, "method"), shop_label(method, pilot.language))
    if slot:
        yield from pilot.select(shop_words(pilot, "slot"), str(slot))
    yield from pilot.click("button", shop_words(pilot, "to_summary"))


def place_order(pilot: Pilot) -> Script:
    """Confirm the summary."""
    yield from pilot.click("button", shop_words(pilot, "place_order"))
    yield from pilot.click("button", shop_words(pilot, "place_order"))


def ask_return(pilot: Pilot, number: int, item: int, *, reason: str, condition: str, method: str,
               refund: int, quantity: int = 1) -> Script:  # fmt: skip
    """Request the return of an item."""
    yield from pilot.goto("shop", f"/orders/{number}/return")
    yield from pilot.select(shop_words(pilot, "item_number"), str(item))
    if quantity != 1:
        yield from pilot.fill(shop_words(pilot, "quantity"), str(quantity), role="spinbutton")
    for key, value in (("reason", reason), ("condition", condition), ("return_method", method)):
        yield from pilot.select(shop_words(pilot, key), shop_label(value, pilot.language))
    yield from pilot.fill(shop_words(pilot, "expected_refund"), euros(refund))
    yield from pilot.click("button", shop_words(pilot, "request_return"))


def order_rows(
    lines: Sequence[StoreRow], *, person: str, totals: Any, shares: Sequence[int], **columns: Any
) -> dict[str, Any]:
    """Expect a new order of these lines: rows of `orders`, `items` and changed stock.

    Args:
        lines: Goods with `quantity`.
        person: Who orders.
        totals: The priced cart.
        shares: Share of the discount of every line.
        **columns: Further columns of the order.
    """
    order = {
        "person": person, "status": "placed", "delivered": "", "slot": "", "coupon": "",
        "newsletter": 0, "note": "", "goods": totals.goods, "discount": totals.discount,
        "shipping": totals.shipping, "insurance": totals.insurance, "wrapping": totals.wrapping,
        "total": totals.total, **columns,
    }  # fmt: skip
    items = [
        {"variant": line["variant"], "title": line["title"], "options": line["options"],
         "department": line["department"], "price": line["price"], "quantity": line["quantity"],
         "discount": share, "return_days": line["return_days"], "category": line["category"]}
        for line, share in zip(lines, shares, strict=True)
    ]  # fmt: skip
    stock = [[line["variant"], {"stock": line["stock"] - line["quantity"]}] for line in lines]
    return {"orders": {"added": [order]}, "items": {"added": items}, "variants": {"changed": stock}}
