"""Customers and orders of a shop, drawn from its seed; a task overlays a few of its own records.

They belong to a catalogue: orders refer to its products and variants. They are built once per
process and shared by all episodes.
"""

from collections.abc import Container
from functools import lru_cache
from typing import Any

import numpy as np

from hexathlon.tasks.bilingual import Language
from hexathlon.tasks.catalogue import Catalogue, open_catalogue
from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.shopping.world.fitting import can_exist
from hexathlon.tasks.shopping.world.tables import Base

__all__ = ["draw_address", "draw_customer", "draw_number", "draw_order", "service_base"]

_CUSTOMERS = 150
_FIRST = ("Ada", "Bela", "Carla", "Dario", "Emre", "Flora", "Gita", "Hana", "Ivo", "Jana", "Kofi",
          "Lina", "Milo", "Nadia", "Otis", "Pilar", "Rafi", "Sena", "Tomas", "Yara")  # fmt: skip
_LAST = ("Abadi", "Brandt", "Castel", "Dorn", "Eklund", "Ferro", "Grau", "Horvat", "Ibsen",
         "Jansky", "Keller", "Lopes", "Marin", "Novak", "Okafor", "Petri", "Rossi", "Sato",
         "Tran", "Weiss")  # fmt: skip
_STREETS = ("Mill Lane", "Harbour Road", "Station Street", "Chestnut Avenue", "Garden Walk",
            "Bridge Street", "Market Square", "Hill Road")  # fmt: skip
_CITIES = ("Northam", "Eastvale", "Port Lorne", "Ashby", "Westmere", "Highfield")
_FAMILY_ZH = (
    ("王", "wang"),
    ("李", "li"),
    ("张", "zhang"),
    ("刘", "liu"),
    ("陈", "chen"),
    ("杨", "yang"),
    ("赵", "zhao"),
    ("黄", "huang"),
    ("周", "zhou"),
    ("吴", "wu"),
    ("徐", "xu"),
    ("孙", "sun"),
    ("胡", "hu"),
    ("朱", "zhu"),
    ("高", "gao"),
    ("林", "lin"),
    ("何", "he"),
    ("郭", "guo"),
    ("罗", "luo"),
    ("郑", "zheng"),
)
_GIVEN_ZH = (("丽", "li"), ("建国", "jianguo"), ("晓梅", "xiaomei"), ("洋", "yang"),
             ("静", "jing"), ("磊", "lei"), ("婷", "ting"), ("海燕", "haiyan"), ("刚", "gang"),
             ("洁", "jie"), ("志强", "zhiqiang"), ("雪", "xue"), ("文博", "wenbo"), ("敏", "min"),
             ("佳怡", "jiayi"), ("鹏", "peng"), ("秀兰", "xiulan"), ("浩", "hao"),
             ("思远", "siyuan"), ("欣", "xin"))  # fmt: skip
_STREETS_ZH = ("人民路", "中山路", "解放街", "花园路", "文化路", "和平大街", "湖滨路", "学院路")
_CITIES_ZH = ("青川市", "临江市", "安平市", "海宁市", "新河市", "东岭市")
_STATUSES = ("pending", "shipped", "delivered", "delivered", "delivered")


@lru_cache(maxsize=16)
def service_base(seed: int, size: int, language: Language) -> Base:
    """Return the customers and orders of a shop; names and addresses are of the language."""
    catalogue = open_catalogue(seed, size)
    rng = generator_for("service base", seed, size)
    customers: dict[str, Any] = {}
    orders: dict[str, Any] = {}
    for _ in range(_CUSTOMERS):
        customer = draw_customer(rng, draw_number(rng, "C", customers), language)
        for _ in range(1 + int(rng.integers(3))):
            order = draw_order(rng, catalogue, customer, draw_number(rng, "O", orders))
            orders[order["id"]] = order
            customer["orders"].append(order["id"])
        customers[customer["id"]] = customer
    return Base({"customers": customers, "orders": orders})


def draw_number(rng: np.random.Generator, letter: str, taken: Container[str] = ()) -> str:
    """Draw an id of eight digits that is not taken; numbers say nothing about their records."""
    while True:
        drawn = f"{letter}{int(rng.integers(10_000_000, 100_000_000))}"
        if drawn not in taken:
            return drawn


def draw_customer(rng: np.random.Generator, customer_id: str, language: Language) -> dict[str, Any]:
    """Draw a customer without orders."""
    name, mailbox = _draw_name(rng, language)
    card, gift = (f"{kind}-{int(rng.integers(1000, 9999))}" for kind in ("card", "gift"))
    return {
        "id": customer_id,
        "name": name,
        "email": f"{mailbox}{int(rng.integers(10, 99))}@example.com",
        "tier": "plus" if rng.random() < 0.3 else "standard",
        "address": draw_address(rng, language),
        "payments": {
            card: {"kind": "card"},
            gift: {"kind": "gift card", "balance_cents": int(rng.integers(0, 90)) * 100},
        },
        "orders": [],
    }


def _draw_name(rng: np.random.Generator, language: Language) -> tuple[str, str]:
    """Draw a name and the beginning of an email address that fits it."""
    if language == "zh":
        family, given = (names[int(rng.integers(len(names)))] for names in (_FAMILY_ZH, _GIVEN_ZH))
        return family[0] + given[0], f"{family[1]}.{given[1]}"
    first, last = (names[int(rng.integers(len(names)))] for names in (_FIRST, _LAST))
    return f"{first} {last}", f"{first}.{last}".casefold()


def draw_address(rng: np.random.Generator, language: Language) -> dict[str, str]:
    """Draw an address."""
    streets, cities = (_STREETS_ZH, _CITIES_ZH) if language == "zh" else (_STREETS, _CITIES)
    street = streets[int(rng.integers(len(streets)))]
    number = int(rng.integers(1, 200))
    return {
        "street": f"{street}{number}号" if language == "zh" else f"{number} {street}",
        "city": cities[int(rng.integers(len(cities)))],
        "postcode": f"{int(rng.integers(10000, 99999))}",
    }


def draw_order(
    rng: np.random.Generator,
    catalogue: Catalogue,
    customer: dict[str, Any],
    order_id: str,
    *,
    status: str | None = None,
    pieces: int | None = None,
    least_cents: int = 0,
) -> dict[str, Any]:
    """Draw an order of goods from the catalogue, with at most one line per category.

    No line costs less than `least_cents`.
    """
    chosen = status or _STATUSES[int(rng.integers(len(_STATUSES)))]
    promised = -int(rng.integers(3, 60)) if chosen == "delivered" else int(rng.integers(1, 6))
    lines: list[dict[str, Any]] = []
    categories: set[str] = set()
    while len(lines) < (pieces or 1 + int(rng.integers(3))):
        product = catalogue.product_at(int(rng.integers(catalogue.size)))
        if product.category in categories or not any(v.stock for v in product.variants):
            continue
        if not can_exist(product) or product.price_cents < least_cents:
            continue
        categories.add(product.category)
        variant = product.variants[int(rng.integers(len(product.variants)))]
        lines.append(
            {
                "line": str(len(lines) + 1),
                "product": product.id,
                "variant": variant.id,
                "cents": variant.price_cents,
                "final_sale": bool(rng.random() < 0.15),
            }
        )
    return {
        "id": order_id,
        "customer": customer["id"],
        "status": chosen,
        "placed": promised - 6,
        "promised": promised,
        "delivered": promised + int(rng.integers(-1, 3)) if chosen == "delivered" else None,
        "address": customer["address"],
        "payment": next(iter(customer["payments"])),
        "delivery_cents": 390 + 100 * int(rng.integers(6)),
        "lines": lines,
    }
