"""WebShop's product, attribute and instruction files, parsed into products and goals.

Field names are WebShop's. Two defects of the original are fixed: a goal's price bound was drawn
before any seed was set, and is here a function of the goal; and `search[<r> …]`, `<a>`, `<c>`,
`<q>` retrieved products by undocumented means, and are here ordinary words.
"""

import json
import random  # noqa: TID251 - a private generator; WebShop's goal order is Python's shuffle
import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from hexathlon.tasks.errors import MissingData
from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.shopping.loaders.data import data_file
from hexathlon.tasks.shopping.world.bm25 import Bm25

__all__ = ["FILES", "FOLDER", "WebShopData", "read_webshop"]

FOLDER = "webshop"
PRODUCTS, ATTRIBUTES, HUMAN = "items_shuffle.json", "items_ins_v2.json", "items_human_ins.json"
FILES = (PRODUCTS, ATTRIBUTES, HUMAN)
_ORDER_SEED = 233
_BOUNDS = [10.0 * tens for tens in range(1, 100)]
_NO_BOUND = 1_000_000.0


@dataclass(frozen=True)
class WebShopData:
    """Products by asin, and goals in WebShop's published order."""

    products: dict[str, dict[str, Any]]
    goals: list[dict[str, Any]]

    @cached_property
    def index(self) -> Bm25:
        """The index of title, description, first bullet and options, as in WebShop."""
        return Bm25(_indexed_text(product) for product in self.products.values())

    @cached_property
    def asins(self) -> list[str]:
        """Asins in index order."""
        return list(self.products)


@lru_cache(maxsize=1)
def read_webshop() -> WebShopData:
    """Read the three files, once per process.

    Raises:
        MissingData: If the product or the attribute file does not exist.
    """
    attributes = json.loads(data_file(FOLDER, ATTRIBUTES).read_text())
    try:
        human = json.loads(data_file(FOLDER, HUMAN).read_text())
    except MissingData:
        human = None
    products: dict[str, dict[str, Any]] = {}
    for record in json.loads(data_file(FOLDER, PRODUCTS).read_text()):
        asin = str(record["asin"])
        if asin != "nan" and len(asin) <= 10 and asin not in products:
            products[asin] = _product(record, attributes.get(asin, {}))
    goals = _goals(products, attributes, human)
    random.Random(_ORDER_SEED).shuffle(goals)
    return WebShopData(products, goals)


def _product(record: dict[str, Any], attributes: dict[str, Any]) -> dict[str, Any]:
    bullets = record.get("small_description") or []
    prices = _prices(record.get("pricing"))
    tag = " to ".join(f"${price}" for price in prices)
    # For a price range, WebShop draws one price per product; here it derives from the asin.
    low, high = prices[0], prices[-1]
    drawn = float(generator_for("webshop price", str(record["asin"])).uniform(low, high))
    return {
        "asin": str(record["asin"]),
        "name": record["name"],
        "Title": record["name"],
        "category": record.get("category", ""),
        "query": str(record.get("query", "")).lower().strip(),
        "product_category": record.get("product_category", ""),
        "Description": record.get("full_description") or "",
        "BulletPoints": bullets if isinstance(bullets, list) else [bullets],
        "Attributes": attributes.get("attributes") or ["DUMMY_ATTR"],
        "options": _options(record.get("customization_options")),
        "price_tag": tag,
        "price": low if low == high else drawn,
    }


def _prices(pricing: str | None) -> list[float]:
    if not pricing:
        return [100.0]
    return [float(re.sub(r"[^\d.]", "", part)) for part in pricing.split("$")[1:]][:2] or [100.0]


def _options(customization: dict[str, Any] | None) -> dict[str, list[str]]:
    return {
        name.lower(): [content["value"].strip().replace("/", " | ").lower() for content in contents]
        for name, contents in (customization or {}).items()
        if contents is not None
    }


def _goals(
    products: dict[str, dict[str, Any]],
    attributes: dict[str, Any],
    human: dict[str, list[dict[str, Any]]] | None,
) -> list[dict[str, Any]]:
    goals = []
    for asin, product in products.items():
        for place, wish in enumerate(_wishes(asin, attributes, human)):
            if not wish.get("instruction_attributes"):
                continue
            bound = _bound(asin, place, product["price"])
            text = str(wish["instruction"]).strip(".")
            if bound < _NO_BOUND:
                text += f", and price lower than {bound:.2f} dollars"
            goals.append(
                {
                    "asin": asin,
                    "instruction_text": text,
                    "attributes": list(wish["instruction_attributes"]),
                    "goal_options": _option_values(wish.get("instruction_options") or []),
                    "price_upper": bound,
                    **{key: product[key] for key in ("name", "query", "product_category")},
                }
            )
    return goals


def _wishes(
    asin: str, attributes: dict[str, Any], human: dict[str, list[dict[str, Any]]] | None
) -> list[dict[str, Any]]:
    if human is not None:
        return human.get(asin, [])
    own = attributes.get(asin, {})
    return [own] if own.get("instruction") else []


def _option_values(options: Any) -> list[str]:
    return [str(value) for value in (options.values() if isinstance(options, dict) else options)]


def _bound(asin: str, place: int, price: float) -> float:
    """Return a price limit, drawn as WebShop does from the next four multiples of ten."""
    above = [bound for bound in _BOUNDS if bound > price][:4]
    if len(above) < 2:
        return _NO_BOUND
    drawn = generator_for("webshop bound", asin, place).permutation(len(above))[:2]
    return above[int(max(drawn))]


def _indexed_text(product: dict[str, Any]) -> str:
    options = " ".join(
        f"{name}: {', '.join(values)}" for name, values in product["options"].items()
    )
    first = product["BulletPoints"][:1]
    return " ".join([product["Title"], product["Description"], *map(str, first), options])
