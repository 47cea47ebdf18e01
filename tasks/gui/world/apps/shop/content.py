"""Products, orders, addresses and vouchers of a new phone."""

from hexathlon.tasks.gui.world.apps.shop.goods import BRANDS, GOODS
from hexathlon.tasks.gui.world.phone.app import ContentDraws

__all__ = ["EXPRESS_FEE", "STANDARD_FEE", "seed_shop"]

STANDARD_FEE, EXPRESS_FEE = 390, 990
"""Delivery fees, in cents."""

_STREETS = (
    "Chestnut Row|栗树街", "Harbour Lane|港口巷", "Mill Street|磨坊街", "Station Road|车站路",
    "Meadow Close|草地里", "Castle View|望堡路", "Tanner Street|制革街", "Lime Walk|椴树道",
    "Orchard Way|果园路", "Quarry Hill|采石山", "Ferry Road|渡口路", "Bishop Street|主教街",
)  # fmt: skip
_STATES = ("delivered", "delivered", "delivered", "shipped", "placed", "cancelled")


def seed_shop(draws: ContentDraws) -> None:
    """Draw the tables of the shop."""
    side = 1 if draws.language == "zh" else 0
    brands = draws.own(BRANDS)
    for name, category, low, high, variants in GOODS:
        for brand in draws.sample(brands, 1 + (draws.scale + 1) // 2):
            base = draws.between(low // 100, high // 100) * 100 - draws.pick((1, 5, 10, 50))
            for number, variant in enumerate(draws.sample(variants, draws.between(1, 3))):
                words = variant.split("|")
                draws.add("products", title=f"{brand} {name.split('|')[side]}",
                          variant=words[min(side, len(words) - 1)], category=category, brand=brand,
                          price=base + 100 * number * draws.between(1, 6),
                          rating=draws.between(28, 50), reviews=draws.between(0, 900),
                          stock=0 if draws.chance(0.1) else draws.between(1, 40),
                          wished=draws.chance(0.06), art=draws.between(1, 9999))  # fmt: skip
    for en, zh in (("Home", "家"), ("Work", "公司"), ("Parents", "父母家"))[: 1 + draws.scale]:
        street = draws.pick(draws.own(_STREETS)).split("|")[side]
        number = draws.between(1, 120)
        draws.add("addresses", label=draws.say(en, zh),
                  text=draws.say(f"{number} {street}", f"{street}{number}号"))  # fmt: skip
    for kind in range(3):
        draws.add("vouchers", code=f"{draws.pick('BFKMT')}{draws.pick('AEOU')}"
                  f"{draws.between(1000, 9999)}", cents=500 + 500 * draws.between(0, 3),
                  minimum=1000 * draws.between(2, 9), until=draws.day(draws.between(3, 40)
                  if kind else -draws.between(2, 20)), used=False)  # fmt: skip
    _seed_orders(draws)
    for name, value in (("sort", "popular"), ("mails", True), ("in_stock", False)):
        draws.add("prefs", id=name, value=value)


def _seed_orders(draws: ContentDraws) -> None:
    products = draws.rows("products")
    addresses = draws.rows("addresses")
    for day in sorted(draws.sample(range(-60, -1), 3 + 2 * draws.scale)):
        state = draws.pick(_STATES)
        if day > -4 and state == "delivered":
            state = "shipped"
        if day < -14 and state in ("placed", "shipped"):
            state = "delivered"
        lines = draws.sample(products, draws.between(1, 3))
        counts = [draws.between(1, 2) for _ in lines]
        total = sum(row["price"] * count for row, count in zip(lines, counts, strict=True))
        key = draws.add("orders", number=f"M-{draws.between(10000, 99999)}", day=draws.day(day),
                        status=state, total=total + STANDARD_FEE, delivery="standard",
                        address=draws.pick(addresses)["text"], voucher="")  # fmt: skip
        for row, count in zip(lines, counts, strict=True):
            draws.add("lines", order=key, product=row["id"], count=count, price=row["price"],
                      returned="")  # fmt: skip
    for row in draws.sample(products, draws.between(0, 2)):
        draws.add("cart", product=row["id"], count=1)
