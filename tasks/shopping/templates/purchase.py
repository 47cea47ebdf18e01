"""Single-turn purchases: near-identical goods, hidden facts, a vocabulary gap, a far page."""

from collections.abc import Sequence

from hexathlon.tasks.shopping.scene import HEAD, ShoppingScene, WantedVariant
from hexathlon.tasks.shopping.templates.draft import OrderLine, ShoppingDraft, near_of, sourced
from hexathlon.tasks.shopping.templates.words import (
    details_text,
    goods_text,
    last_words,
    request_text,
)

__all__ = ["PURCHASES"]

_FAR = 30
"""Minimum rank of a target beyond the third page."""


def _bought(
    scene: ShoppingScene,
    wish: WantedVariant | None,
    *,
    named: Sequence[str] = HEAD,
    gap: bool | None = None,
    quantity: int = 1,
) -> ShoppingDraft | None:
    if wish is None:
        return None
    details = details_text(scene, wish.product, wish.details, gap=gap)
    request = request_text(scene, goods_text(scene, wish.product, named), details, quantity)
    return ShoppingDraft(
        instruction=f"{request} {last_words(scene)}",
        lines=[OrderLine(wish.product, wish.variant, quantity)],
        near=near_of(wish),
        wanted=[sourced(wish.constraints)],
    )


def exact(scene: ShoppingScene) -> ShoppingDraft | None:
    """Conditions in the shop's own words."""
    return _bought(scene, scene.wish(), gap=False)


def options(scene: ShoppingScene) -> ShoppingDraft | None:
    """The options distinguish the goods."""
    return _bought(scene, scene.wish(kinds=("option",)))


def price_bound(scene: ShoppingScene) -> ShoppingDraft | None:
    """The price bound is the deciding condition."""
    return _bought(scene, scene.wish(kinds=("price",)))


def specification(scene: ShoppingScene) -> ShoppingDraft | None:
    """The deciding value is only in the specification."""
    return _bought(scene, scene.wish(kinds=("specification",)))


def review(scene: ShoppingScene) -> ShoppingDraft | None:
    """The deciding value is only in reviews."""
    return _bought(scene, scene.wish(kinds=("review",)))


def vocabulary(scene: ShoppingScene) -> ShoppingDraft | None:
    """All conditions use the shopper's words, none the shop's."""
    return _bought(scene, scene.wish(kinds=("attribute",)), gap=True)


def delivery(scene: ShoppingScene) -> ShoppingDraft | None:
    """The delivery time is the deciding condition."""
    return _bought(scene, scene.wish(kinds=("shipping",)))


def rating(scene: ShoppingScene) -> ShoppingDraft | None:
    """The rating is the deciding condition."""
    return _bought(scene, scene.wish(kinds=("rating",)))


def returns(scene: ShoppingScene) -> ShoppingDraft | None:
    """The return period is the deciding condition."""
    return _bought(scene, scene.wish(kinds=("returns",)))


def seller(scene: ShoppingScene) -> ShoppingDraft | None:
    """The seller is the deciding condition."""
    return _bought(scene, scene.wish(kinds=("seller",)))


def quantity(scene: ShoppingScene) -> ShoppingDraft | None:
    """An order of several pieces of one variant."""
    pieces = 2 + int(scene.rng.integers(4))
    return _bought(scene, scene.wish(stock=pieces + 1), quantity=pieces)


def far_page(scene: ShoppingScene) -> ShoppingDraft | None:
    """Only the brand is named, and the target is beyond the third page of results."""
    named = ("kind", "brand")
    wish = scene.wish(head=named)
    if wish is None:
        return None
    everywhere = scene.catalogue.constraints_of(wish.product.id, ("category",))
    if scene.catalogue.matching((*everywhere, *wish.constraints)) != [wish.product.id]:
        return None
    goods = goods_text(scene, wish.product, named)
    rank = scene.catalogue.rank(wish.product.id, goods, language=scene.language)
    if rank is None or rank <= _FAR:
        return None
    return _bought(scene, wish, named=named)


PURCHASES = {
    "exact": exact,
    "options": options,
    "price_bound": price_bound,
    "specification": specification,
    "review": review,
    "vocabulary": vocabulary,
    "delivery": delivery,
    "rating": rating,
    "returns": returns,
    "seller": seller,
    "quantity": quantity,
    "far_page": far_page,
}
