"""Purchases for known customers: relevant and irrelevant profile facts, and order history.

Twins differ in one fact and have different targets: the second twin's target is the near miss of
the first on the personal condition.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from hexathlon.tasks.catalogue import Constraint, Product, Variant
from hexathlon.tasks.shopping.rewording import askable
from hexathlon.tasks.shopping.scene import ShoppingScene, WantedVariant, answering
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
    wish_text,
)
from hexathlon.tasks.shopping.world.desk.records import draw_number
from hexathlon.tasks.shopping.world.facts import category_of
from hexathlon.tasks.shopping.world.wording import chosen_text, money

__all__ = ["PERSONAL", "Fork", "fork_of", "order_record", "profile_of"]

_IRRELEVANT = (
    ("Has two cats.", "养了两只猫。"),
    ("Reads the newsletter every Friday.", "每周五看邮件通讯。"),
    ("Lives on the third floor without a lift.", "住三楼，没有电梯。"),
    ("Birthday in October.", "十月生日。"),
    ("Prefers to be addressed by first name.", "喜欢别人直呼其名。"),
    ("Once asked for gift wrapping.", "曾经要过礼品包装。"),
    ("Rides a bicycle to work.", "骑自行车上班。"),
)


@dataclass(frozen=True)
class Fork:
    """A wish with a personal condition, and the two targets that the condition separates."""

    wish: WantedVariant
    position: int
    """Position of the personal condition among the details."""

    values: tuple[Constraint, Constraint]
    targets: tuple[tuple[Product, Variant], tuple[Product, Variant]]

    def constraints(self, side: int) -> tuple[Constraint, ...]:
        """Return all conditions of one side."""
        return self.wish.with_detail(self.position, self.values[side])

    @property
    def products(self) -> tuple[Product, Product]:
        """The products of both targets."""
        return self.targets[0][0], self.targets[1][0]

    @property
    def others(self) -> list[Constraint]:
        """The details common to both sides."""
        return [c for i, c in enumerate(self.wish.details) if i != self.position]


def fork_of(
    scene: ShoppingScene, *, kinds: Sequence[str], degrees: Sequence[int] = ()
) -> Fork | None:
    """Return a wish with two targets, depending on one condition of the given kinds."""
    wish = scene.wish(kinds=kinds[:1] if len(kinds) == 1 else (), degrees=degrees)
    if wish is None:
        return None
    order = scene.rng.permutation(len(wish.near)).tolist()
    for place in order:
        position, product, variant = wish.near[place]
        detail = wish.details[position]
        if detail.kind not in kinds or detail.op != "==":
            continue
        if not askable(product, [detail.name]):
            continue
        other = _value_of(scene, detail, product, variant)
        flipped = wish.with_detail(position, other)
        found = answering(scene.catalogue, wish.family, flipped)
        if found == [variant.id]:
            targets = ((wish.product, wish.variant), (product, variant))
            return Fork(wish, position, (detail, other), targets)
    return None


def _value_of(
    scene: ShoppingScene, detail: Constraint, product: Product, variant: Variant
) -> Constraint:
    if detail.kind == "option":
        return Constraint("option", detail.name, "==", variant.options[detail.name])
    if detail.kind == "seller":
        return Constraint("seller", "seller", "==", product.seller.id)
    return Constraint(detail.kind, detail.name, "==", product.attributes[detail.name])


def profile_of(scene: ShoppingScene, facts: Sequence[str]) -> list[str]:
    """Return the facts mixed with ones unrelated to any purchase."""
    chosen = scene.rng.permutation(len(_IRRELEVANT)).tolist()[: 2 + int(scene.rng.integers(3))]
    lines = [*facts, *(scene.say(*_IRRELEVANT[i]) for i in chosen)]
    order = scene.rng.permutation(len(lines)).tolist()
    return [lines[i] for i in order]


def order_record(
    scene: ShoppingScene, number: int, product: Product, variant: Variant, note: str
) -> dict[str, str]:
    """Return an earlier order as the customer sees it; larger `number`s are later."""
    day = -400 + 40 * number
    order_id = draw_number(scene.rng, "O")
    title = product.title[scene.language]
    chosen = chosen_text(product, variant, scene.language)
    price = money(variant.price_cents, scene.language)
    kind = category_of(product.category).text[scene.language]
    when = scene.say(f"{-day} days ago", f"{-day}天前")
    seller = product.seller.name[scene.language]
    sold = scene.say(f"sold by {seller}", f"卖家：{seller}")
    return {
        "id": order_id,
        "summary": f"{order_id}  {when}  {kind}",
        "text": f"{order_id}  {when}\n{title} ({chosen}), {price}, {sold}. {note}",
    }


def _drafted(
    scene: ShoppingScene,
    fork: Fork,
    request: str,
    *,
    sources: str,
    lure: bool = False,
    **params: object,
) -> ShoppingDraft:
    side = scene.side
    product, variant = fork.targets[side]
    other = fork.targets[1 - side]
    position = fork.position + len(fork.wish.head)
    near = [Near("the other twin's target", 0, *other)]
    if side == 0:
        near += [n for n in near_of(fork.wish) if n.variant.id != other[1].id]
    else:
        near += _neighbours(scene, fork)
    return ShoppingDraft(
        instruction=f"{request} {last_words(scene)}",
        lines=[OrderLine(product, variant)],
        near=near,
        wanted=[sourced(fork.constraints(side), {position: sources})],
        lures=[fork.values[1 - side]] if lure else (),
        params=params,
        personal=True,
        twin=True,
    )


def _neighbours(scene: ShoppingScene, fork: Fork) -> list[Near]:
    """Return up to three products of the family that fail on the second twin's conditions."""
    constraints = fork.constraints(1)
    found = []
    for product_id in scene.catalogue.family(fork.wish.family):
        product = scene.catalogue.product(product_id)
        for variant in product.variants:
            broken = scene.catalogue.violations(product_id, variant.id, constraints)
            if variant.stock and len(broken) == 1 and variant.id != fork.targets[0][1].id:
                found.append(Near(f"{constraints[broken[0]].name} is off", 0, product, variant))
                break
        if len(found) == 3:
            break
    return found


def preference(scene: ShoppingScene) -> ShoppingDraft | None:
    """The profile supplies what the request leaves open."""
    fork = fork_of(scene, kinds=("attribute", "specification", "option"))
    if fork is None:
        return None
    product = fork.wish.product
    goods = goods_text(scene, product, ("brand", "series"))
    slot = scene.slot(fork.values[0], product.category)
    usual = scene.say(f"has the {slot} given in my profile", f"{slot}按我资料里写的")
    details = details_text(scene, product, fork.others, beside=fork.products, last=[usual])
    request = request_text(scene, goods, details)
    phrase = wish_text(scene, fork.values[scene.side], product.category, gap=False)
    kind = category_of(product.category).text[scene.language]
    fact = scene.say(f"{kind}: always wants {phrase}.", f"{kind}：一向只要{phrase}。")
    facts = [fact, *_foreign(scene, product)]
    return _drafted(scene, fork, request, sources="profile", profile=profile_of(scene, facts))


def override(scene: ShoppingScene) -> ShoppingDraft | None:
    """The request contradicts the profile and takes precedence."""
    fork = fork_of(scene, kinds=("attribute", "specification", "option"))
    if fork is None:
        return None
    product, side = fork.wish.product, scene.side
    goods = goods_text(scene, product, ("brand", "series"))
    asked = fork.values[side]
    this_time = scene.say(
        f"this time {scene.phrase(asked, product.category)}",
        f"这次要{wish_text(scene, asked, product.category)}",
    )
    details = details_text(scene, product, fork.others, beside=fork.products, last=[this_time])
    request = request_text(scene, goods, details)
    phrase = wish_text(scene, fork.values[1 - side], product.category, gap=False)
    kind = category_of(product.category).text[scene.language]
    fact = scene.say(f"{kind}: usually wants {phrase}.", f"{kind}：通常要{phrase}。")
    return _drafted(
        scene, fork, request, sources="request", lure=True, profile=profile_of(scene, [fact])
    )


def same_as_last(scene: ShoppingScene) -> ShoppingDraft | None:
    """The same option as in the latest order of such goods; an older order differs."""
    fork = fork_of(scene, kinds=("option",))
    if fork is None:
        return None
    product, side = fork.wish.product, scene.side
    goods = goods_text(scene, product, ("brand", "series"))
    slot = scene.slot(fork.values[0], product.category)
    kind = category_of(product.category).text[scene.language]
    like = scene.say(
        f"has the same {slot} as in my latest order of {kind.lower()}",
        f"{slot}和我最近一次买的{kind}一样",
    )
    details = details_text(scene, product, fork.others, beside=fork.products, last=[like])
    request = request_text(scene, goods, details)
    history = _history(scene, fork, latest=side)
    if history is None:
        return None
    return _drafted(
        scene, fork, request, sources="profile", lure=True,
        profile=profile_of(scene, []), history=history,
    )  # fmt: skip


def seller_as_last(scene: ShoppingScene) -> ShoppingDraft | None:
    """The same seller as in the latest order; goods from another seller were returned."""
    fork = fork_of(scene, kinds=("seller",))
    if fork is None:
        return None
    product, side = fork.wish.product, scene.side
    goods = goods_text(scene, product, ("brand", "series"))
    details = details_text(scene, product, fork.others, beside=fork.products)
    request = request_text(scene, goods, details) + scene.say(
        " Please choose the seller whose goods I kept, not the one whose goods I sent back.",
        "卖家要我没退过货的那家，不要退过货的那家。",
    )
    kept = scene.say("Kept.", "已确认收货。")
    returned = scene.say("Returned.", "已退货。")
    records = [
        order_record(scene, 3 + i, *fork.targets[i], kept if i == side else returned)
        for i in scene.rng.permutation(2).tolist()
    ]
    return _drafted(
        scene, fork, request, sources="profile", lure=True,
        profile=profile_of(scene, []), history=records,
    )  # fmt: skip


def _history(scene: ShoppingScene, fork: Fork, latest: int) -> list[dict[str, str]] | None:
    """Return two orders of such goods, the later one decisive, and an unrelated order."""
    name = fork.values[0].name
    category = fork.wish.product.category
    records = []
    for number, side in ((2, 1 - latest), (6, latest)):
        value = str(fork.values[side].value)
        found = _offering(scene, category, name, value)
        if found is None:
            return None
        records.append(order_record(scene, number, *found, ""))
    stranger = scene.catalogue.product_at(int(scene.rng.integers(scene.catalogue.size)))
    if stranger.category != category:
        records.append(order_record(scene, 8, stranger, stranger.variants[0], ""))
    order = scene.rng.permutation(len(records)).tolist()
    return [records[i] for i in order]


def _offering(
    scene: ShoppingScene, category: str, option: str, value: str
) -> tuple[Product, Variant] | None:
    families = scene.catalogue.families(category)
    for _ in range(60):
        product_id = scene.pick(scene.catalogue.family(scene.pick(families)))
        product = scene.catalogue.product(product_id)
        for variant in product.variants:
            if variant.options[option] == value:
                return product, variant
    return None


def _foreign(scene: ShoppingScene, product: Product) -> list[str]:
    """Return a preference about another category, which must be ignored."""
    other = scene.catalogue.product_at(int(scene.rng.integers(scene.catalogue.size)))
    if other.category == product.category:
        return []
    category = category_of(other.category)
    option = category.options[0]
    value = Constraint("option", option.name, "==", scene.pick(option.values).slug)
    kind = category.text[scene.language]
    liked = wish_text(scene, value, other.category)
    return [scene.say(f"{kind}: likes {liked}.", f"{kind}：喜欢{liked}。")]


PERSONAL = {
    "preference": preference,
    "override": override,
    "same_as_last": same_as_last,
    "seller_as_last": seller_as_last,
}
