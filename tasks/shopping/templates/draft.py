"""A template's result: the request, the customer, and the expected final state."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hexathlon.tasks.catalogue import Constraint, Product, Variant, price_cart
from hexathlon.tasks.shopping.scene import WantedVariant
from hexathlon.tasks.shopping.world.settings import StoreSettings, cart_line

__all__ = ["Near", "OrderLine", "ShoppingDraft", "near_of", "order_of", "sourced"]


@dataclass(frozen=True)
class OrderLine:
    """A line of the requested order."""

    product: Product
    variant: Variant
    quantity: int = 1


@dataclass(frozen=True)
class Near:
    """A product that must not be bought in place of a line."""

    label: str
    line: int
    product: Product
    variant: Variant


@dataclass(frozen=True)
class ShoppingDraft:
    """A task under construction."""

    instruction: str
    lines: Sequence[OrderLine] = ()
    near: Sequence[Near] = ()
    wanted: Sequence[Sequence[dict[str, Any]]] = ()
    """The conditions of each line, with their sources."""

    lures: Sequence[Constraint] = ()
    answer: Mapping[str, Any] | None = None
    """`reason` and `records`, any of which is accepted."""

    coupons: Sequence[str] = ()
    wrong_coupons: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Sequences of valid but suboptimal coupons, by name."""

    address: str = "home"
    speed: str = "standard"
    params: Mapping[str, Any] = field(default_factory=dict)
    """Additional parameters of the world: profile, history, coupons, addresses, user."""

    dialogue: bool = False
    personal: bool = False
    asks: Sequence[str] = ()
    """Questions that elicit every slot."""

    changes: bool = False
    """Whether the customer changes their mind."""

    twin: bool = False
    """Whether the other side of the pair differs only in the deciding fact."""


def sourced(
    constraints: Sequence[Constraint], sources: Mapping[int, str] | None = None
) -> list[dict[str, Any]]:
    """Return conditions as JSON, each with its source; `request` by default."""
    known = sources or {}
    return [
        {"constraint": constraint.as_json(), "source": known.get(i, "request")}
        for i, constraint in enumerate(constraints)
    ]


def order_of(settings: StoreSettings, draft: ShoppingDraft) -> dict[str, Any]:
    """Return the order that the draft expects, priced."""
    price = price_cart(
        [cart_line(line.product, line.variant, line.quantity) for line in draft.lines],
        [settings.coupons[code] for code in draft.coupons],
        settings.addresses[draft.address],
        settings.rules,
        draft.speed,  # type: ignore[arg-type]
    )
    return {
        "lines": [
            {"product": line.product.id, "variant": line.variant.id, "quantity": line.quantity}
            for line in draft.lines
        ],
        "coupons": list(price.coupon_cents),
        "address": draft.address,
        "speed": draft.speed,
        "total_cents": price.total_cents,
    }


def near_of(wish: WantedVariant, line: int = 0) -> list[Near]:
    """Return the near misses of a wish, named after the failed condition."""
    return [
        Near(f"{wish.details[position].name} is off", line, product, variant)
        for position, product, variant in wish.near
    ]
