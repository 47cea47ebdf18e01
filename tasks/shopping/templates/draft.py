"""What a template hands over: the request, the customer, and what must stand at the end."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hexathlon.tasks.shopping.scene import Wish
from hexathlon.tasks.shopping.world.catalogue import Constraint, Product, Variant, price_cart
from hexathlon.tasks.shopping.world.settings import StoreSettings, cart_line

__all__ = ["Draft", "Line", "Near", "near_of", "order_of", "sourced"]


@dataclass(frozen=True)
class Line:
    """One line of the order asked for."""

    product: Product
    variant: Variant
    quantity: int = 1


@dataclass(frozen=True)
class Near:
    """Something that must not be bought in place of a line."""

    label: str
    line: int
    product: Product
    variant: Variant


@dataclass(frozen=True)
class Draft:
    """One task in the making."""

    instruction: str
    lines: Sequence[Line] = ()
    near: Sequence[Near] = ()
    wanted: Sequence[Sequence[dict[str, Any]]] = ()
    """For each line, its conditions with their sources."""

    lures: Sequence[Constraint] = ()
    answer: Mapping[str, Any] | None = None
    """`reason` and `records`, any of which will do."""

    coupons: Sequence[str] = ()
    wrong_coupons: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Sequences of coupons that hold and are not the best, by name."""

    address: str = "home"
    speed: str = "standard"
    params: Mapping[str, Any] = field(default_factory=dict)
    """What the world needs besides: profile, history, coupons, addresses, user."""

    dialogue: bool = False
    personal: bool = False
    asks: Sequence[str] = ()
    """Questions that bring out every slot."""

    changes: bool = False
    """Whether the customer changes their mind."""

    twin: bool = False
    """Whether the other side of the pair differs in the deciding fact only."""


def sourced(
    constraints: Sequence[Constraint], sources: Mapping[int, str] | None = None
) -> list[dict[str, Any]]:
    """Return conditions as JSON, each with where it comes from; `request` by default."""
    known = sources or {}
    return [
        {"constraint": constraint.as_json(), "source": known.get(i, "request")}
        for i, constraint in enumerate(constraints)
    ]


def order_of(settings: StoreSettings, draft: Draft) -> dict[str, Any]:
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


def near_of(wish: Wish, line: int = 0) -> list[Near]:
    """Return the near misses of a wish, named by what they fail on."""
    return [
        Near(f"{wish.details[position].name} is off", line, product, variant)
        for position, product, variant in wish.near
    ]
