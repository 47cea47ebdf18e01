"""Requests that cannot be fulfilled, each with a feasible twin.

The only product that meets every other condition is sold out, too expensive or too slow. The
expected answer is the reason together with the id of that record; in the twin, the product is
available and must be bought.
"""

from collections.abc import Sequence
from dataclasses import replace

from hexathlon.tasks.catalogue import Constraint, Product, Variant
from hexathlon.tasks.shopping.scene import HEAD, ShoppingScene, WantedVariant, answering
from hexathlon.tasks.shopping.templates.draft import (
    Near,
    OrderLine,
    ShoppingDraft,
    near_of,
    sourced,
)
from hexathlon.tasks.shopping.templates.words import (
    details_text,
    goods_text,
    last_words,
    request_text,
)
from hexathlon.tasks.shopping.world.facts import category_of

__all__ = ["IMPOSSIBLE"]


def _drafted(
    scene: ShoppingScene,
    product: Product,
    variant: Variant,
    constraints: Sequence[Constraint],
    near: Sequence[Near],
    reason: str | None,
    last: Sequence[str] = (),
) -> ShoppingDraft:
    details = [c for c in constraints if c.name not in HEAD]
    goods = goods_text(scene, product, ("brand", "series"))
    request = request_text(scene, goods, details_text(scene, product, details, last=last))
    return ShoppingDraft(
        instruction=f"{request} {last_words(scene)}",
        lines=[] if reason else [OrderLine(product, variant)],
        near=near,
        wanted=[] if reason else [sourced(constraints)],
        answer={"reason": reason, "records": _records(product, variant, reason)}
        if reason
        else None,
        twin=True,
    )


def _records(product: Product, variant: Variant, reason: str) -> list[str]:
    """Return the records accepted as evidence; "sold out" refers to a variant."""
    return [variant.id] if reason == "out_of_stock" else [variant.id, product.id]


def sold_out(scene: ShoppingScene) -> ShoppingDraft | None:
    """Everything fits, but the variant is sold out; the twin asks for another value."""
    wish = scene.wish()
    if wish is None:
        return None
    free = [o.name for o in category_of(wish.product.category).options]
    fixed = [c for c in wish.details if c.name not in free]
    if not fixed:
        return None
    gone = [v for v in wish.product.variants if v.stock == 0]
    if not gone:
        return None
    empty = scene.pick(gone)
    constraints = _chosen(wish, fixed, empty)
    everything = answering(scene.catalogue, wish.family, constraints, in_stock=False)
    if everything != [empty.id] or answering(scene.catalogue, wish.family, constraints):
        return None
    if scene.side == 0:
        near = _near_blocked(scene, wish, constraints, empty.id)
        return _drafted(scene, wish.product, empty, constraints, near, "out_of_stock")
    feasible = _chosen(wish, fixed, wish.variant)
    return _drafted(scene, wish.product, wish.variant, feasible, near_of(wish), None)


def _chosen(
    wish: WantedVariant, fixed: Sequence[Constraint], variant: Variant
) -> tuple[Constraint, ...]:
    options = [Constraint("option", name, "==", slug) for name, slug in variant.options.items()]
    return (*wish.head, *fixed, *options)


def over_budget(scene: ShoppingScene) -> ShoppingDraft | None:
    """The only match costs more than the bound; in the twin it costs less."""
    wish = _without(scene, ("price",))
    if wish is None:
        return None
    grain = 100
    low = (wish.variant.price_cents - 1) // grain * grain
    high = (wish.variant.price_cents // grain + 1) * grain
    bound = Constraint("price", "price", "<=", low if scene.side == 0 else high)
    return _bounded(scene, wish, bound, "over_budget")


def too_late(scene: ShoppingScene) -> ShoppingDraft | None:
    """The only match arrives too late; in the twin there is enough time."""
    wish = _without(scene, ("shipping",))
    if wish is None or wish.product.shipping.days <= 2:
        return None
    days = wish.product.shipping.days - 1 if scene.side == 0 else wish.product.shipping.days + 1
    bound = Constraint("shipping", "days", "<=", days)
    return _bounded(scene, wish, bound, "too_late")


def _without(scene: ShoppingScene, kinds: Sequence[str]) -> WantedVariant | None:
    """Return a wish without conditions of these kinds."""
    wish = scene.wish()
    if wish is None or any(constraint.kind in kinds for constraint in wish.details):
        return None
    return wish


def _bounded(
    scene: ShoppingScene, wish: WantedVariant, bound: Constraint, reason: str
) -> ShoppingDraft | None:
    constraints = (*wish.constraints, bound)
    found = answering(scene.catalogue, wish.family, constraints)
    if found != ([] if scene.side == 0 else [wish.variant.id]):
        return None
    draft = _drafted(
        scene,
        wish.product,
        wish.variant,
        wish.constraints,
        near_of(wish),
        reason if scene.side == 0 else None,
        [scene.phrase(bound, wish.product.category)],
    )
    if scene.side == 0:
        blocked = Near("what does not fit the bound", 0, wish.product, wish.variant)
        return replace(draft, near=[*near_of(wish), blocked])
    return replace(draft, wanted=[sourced(constraints)])


def _near_blocked(
    scene: ShoppingScene, wish: WantedVariant, constraints: Sequence[Constraint], blocked: str
) -> list[Near]:
    """Return alternatives to the sold-out variant that fail on one condition."""
    near = [Near("another variant", 0, wish.product, wish.variant)]
    for product_id in scene.catalogue.family(wish.family):
        product = scene.catalogue.product(product_id)
        for variant in product.variants:
            broken = scene.catalogue.violations(product_id, variant.id, constraints)
            if variant.stock and len(broken) == 1 and variant.id != wish.variant.id:
                near.append(Near(f"{constraints[broken[0]].name} is off", 0, product, variant))
                break
        if len(near) == 4:
            break
    return near


IMPOSSIBLE = {"sold_out": sold_out, "over_budget": over_budget, "too_late": too_late}
