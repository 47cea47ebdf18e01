"""Past orders, returns and carts of a new shop."""

from datetime import timedelta

import numpy as np

from hexathlon.tasks.web.world.site import SiteBrief
from hexathlon.tasks.web.world.sites.shop.pricing import line_discounts, price_totals
from hexathlon.tasks.web.world.store import SiteStore

__all__ = ["add_history"]

_USER_ORDERS = (5, 12, 24, 48)
_OTHER_ORDERS = (8, 40, 110, 300)
_ITEM_COLUMNS = ("number", "variant", "title", "options", "department", "price", "quantity",
                 "discount", "return_days", "category")  # fmt: skip
_ORDER_COLUMNS = ("number", "person", "placed", "status", "delivered", "address", "method", "slot",
                  "payment", "coupon", "goods", "discount", "shipping", "insurance", "wrapping",
                  "total", "newsletter", "note")  # fmt: skip


def add_history(
    store: SiteStore, brief: SiteBrief, rng: np.random.Generator, settings: dict[str, int]
) -> None:
    """Add past orders of the user and of others, with a few returns."""
    goods = store.rows(
        "SELECT v.id AS variant, v.options, v.price, p.title, p.department, p.category, "
        "p.return_days FROM variants v JOIN products p ON p.id = v.product ORDER BY v.id"
    )
    coupons = store.rows("SELECT * FROM coupons ORDER BY code")
    user, others = brief.people[0].login, [person.login for person in brief.people[1:]]
    labels = [row["label"] for row in store.rows("SELECT label FROM addresses ORDER BY id")]
    cards = [row["label"] for row in store.rows("SELECT label FROM payments ORDER BY id")]
    total = _USER_ORDERS[brief.scale - 1] + _OTHER_ORDERS[brief.scale - 1]
    mine = set(rng.permutation(total)[: _USER_ORDERS[brief.scale - 1]].tolist())
    hours = np.sort(rng.integers(3, 24 * 190, size=total))[::-1].tolist()
    orders, items = [], []
    number = 20_000 + int(rng.integers(0, 4_000))
    for place in range(total):
        number += int(rng.integers(1, 4))
        placed = brief.clock.start - timedelta(hours=int(hours[place]))
        days = int(rng.integers(2, 6))
        arrived = placed.date() + timedelta(days=days)
        status = "delivered" if arrived < brief.clock.today else "placed"
        if status == "placed" and hours[place] > 30:
            status = "shipped"
        if rng.random() < 0.06:
            status = "cancelled"
        own = place in mine
        lines = []
        count = int(rng.choice((1, 2, 3), p=(0.5, 0.3, 0.2)))
        for i in np.unique(rng.integers(len(goods), size=count)):
            quantity = int(rng.choice((1, 2, 3), p=(0.75, 0.2, 0.05)))
            lines.append({**goods[int(i)], "quantity": quantity})
        coupon = coupons[int(rng.integers(len(coupons)))] if rng.random() < 0.25 else None
        shares = line_discounts(coupon, lines)
        if sum(shares) == 0:
            coupon = None
        totals = price_totals(lines, coupon, "standard", 0, settings)
        orders.append((
            number, user if own else others[int(rng.integers(len(others)))],
            placed.isoformat(" ", "seconds"), status,
            arrived.isoformat() if status == "delivered" else "",
            labels[int(rng.integers(len(labels)))] if own else "", "standard", "",
            cards[int(rng.integers(len(cards)))] if own else "", coupon["code"] if coupon else "",
            totals.goods, totals.discount, totals.shipping, 0, 0, totals.total, 0, "",
        ))  # fmt: skip
        items += [
            (number, line["variant"], line["title"], line["options"], line["department"],
             line["price"], line["quantity"], share, line["return_days"], line["category"])
            for line, share in zip(lines, shares, strict=True)
        ]  # fmt: skip
    store.insert_many("orders", _ORDER_COLUMNS, orders)
    store.insert_many("items", _ITEM_COLUMNS, items)
