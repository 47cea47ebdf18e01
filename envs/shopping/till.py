"""Contents and price of a cart, and the record of the resulting order."""

from collections.abc import Sequence
from typing import Any

from hexathlon.tasks.catalogue.money import PriceBreakdown, price_cart
from hexathlon.tasks.catalogue.product import Product, Variant
from hexathlon.tasks.shopping.world.facts import facts_of
from hexathlon.tasks.shopping.world.settings import StoreSettings, cart_line

__all__ = ["Bought", "lines_of", "order_record", "priced"]

Bought = tuple[Product, Variant, int]
"""Product, variant, quantity."""


def lines_of(settings: StoreSettings, cart: Sequence[tuple[str, str, int]]) -> list[Bought]:
    """Return the lines of a cart given by ids."""
    lines = []
    for product_id, variant_id, quantity in cart:
        product = settings.catalogue.product(product_id)
        lines.append((product, product.variant(variant_id), quantity))
    return lines


def priced(
    settings: StoreSettings,
    lines: Sequence[Bought],
    coupons: Sequence[str],
    address: str,
    speed: str,
) -> PriceBreakdown:
    """Price a cart."""
    return price_cart(
        [cart_line(*line) for line in lines],
        [settings.coupons[code] for code in coupons],
        settings.addresses[address],
        settings.rules,
        speed,  # type: ignore[arg-type]
    )


def order_record(
    lines: Sequence[Bought], price: PriceBreakdown, address: str, speed: str
) -> dict[str, Any]:
    """Return an order as verifiers read it, with the facts of the items bought."""
    return {
        "lines": [
            {
                "product": product.id,
                "variant": variant.id,
                "quantity": quantity,
                "facts": facts_of(product, variant),
            }
            for product, variant, quantity in lines
        ],
        "coupons": list(price.coupon_cents),
        "address": address,
        "speed": speed,
        "total_cents": price.total_cents,
    }
