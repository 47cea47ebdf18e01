"""Bilingual sentences of requests."""

import re
from collections.abc import Sequence

from hexathlon.tasks.catalogue import Constraint, Product
from hexathlon.tasks.shopping.scene import ShoppingScene
from hexathlon.tasks.shopping.world.facts import category_of

__all__ = [
    "articled",
    "aversion",
    "details_text",
    "goods_text",
    "join",
    "last_words",
    "request_text",
    "without_aversion",
]


_AVERSIONS = 4
"""Maximum number of values that a request names as unwanted."""
_AVERSION_WORDS = (
    ("has nothing of the one I sent back ({})", "别像我退掉的那个（{}）"),
    ("is not like my brother's ({})", "不要我哥那种（{}）"),
    ("has nothing of what I had before ({})", "以前那种都不要（{}）"),
)
_UNWANTED = re.compile(
    "|".join(
        re.escape(words).replace(re.escape("{}"), "[^)）]*")
        for pair in _AVERSION_WORDS
        for words in pair
    )
)


def join(scene: ShoppingScene, parts: Sequence[str]) -> str:
    """Join phrases into one list."""
    if scene.language == "zh":
        return "，".join(parts)
    return ", ".join(parts[:-1]) + f" and {parts[-1]}" if len(parts) > 1 else "".join(parts)


def goods_text(scene: ShoppingScene, product: Product, named: Sequence[str]) -> str:
    """Name the goods by kind and by further properties: `brand`, `series`."""
    kind = category_of(product.category).kind(product.kind).text[scene.language]
    brand = product.brand[scene.language] if "brand" in named else ""
    series = product.series[scene.language] if "series" in named else ""
    if scene.language == "zh":
        return f"{brand}{series}{kind}"
    return " ".join(filter(None, [brand, series, kind]))


def details_text(
    scene: ShoppingScene,
    product: Product,
    details: Sequence[Constraint],
    *,
    gap: bool | None = None,
    last: Sequence[str] = (),
    beside: Sequence[Product] = (),
) -> str:
    """Phrase the conditions in random order, followed by further remarks.

    At `medium` and `hard`, one phrase among them is an `aversion`; `beside` are further products
    that it must not describe.
    """
    order = scene.rng.permutation(len(details)).tolist()
    said = [scene.phrase(details[i], product.category, gap=gap) for i in order]
    disliked = aversion(scene, (product, *beside))
    if disliked:
        said.insert(int(scene.rng.integers(len(said) + 1)), disliked)
    return join(scene, [*said, *last])


def aversion(scene: ShoppingScene, targets: Sequence[Product]) -> str:
    """Say, as a condition, what the customer does not want; empty at `tiny` and `easy`.

    It names values of the family, in the shop's words, that none of the targets has. The words
    that a request shares with pages then do not lead to the target.
    """
    if not scene.gap:
        return ""
    first = targets[0]
    category = category_of(first.category)
    wanted = {each for target in targets for each in _page_values(target)}
    unwanted = dict.fromkeys(
        each
        for product_id in scene.catalogue.family(first.family)
        for each in _page_values(scene.catalogue.product(product_id))
        if each not in wanted
    )
    values: dict[str, list[str]] = {}
    for name, slug in unwanted:
        text = category.by_name[name].values[category.by_name[name].code(slug)].text
        said = values.setdefault(name, [])
        if text[scene.language] not in said:
            said.append(text[scene.language])
    names = [list(values)[i] for i in scene.rng.permutation(len(values)).tolist()]
    chosen = [scene.pick(values[name]) for name in names[:_AVERSIONS]]
    if not chosen:
        return ""
    shown = scene.say(" / ".join(chosen), "、".join(chosen))
    en, zh = scene.pick(_AVERSION_WORDS)
    return scene.say(en, zh).format(shown)


def without_aversion(text: str) -> str:
    """Return a request without what an `aversion` says."""
    return _UNWANTED.sub("", text)


def _page_values(product: Product) -> tuple[tuple[str, str], ...]:
    """Return (property, value) for what the item's page and table state in words, not numbers."""
    category = category_of(product.category)
    told = (
        (item.name, product.attributes[item.name])
        for item in category.attributes
        if item.place != "review" and item.order == "none"
    )
    offered = (
        (item.name, slug)
        for item in category.options
        for slug in product.options[item.name]
        if item.order == "none"
    )
    return tuple(dict.fromkeys((*told, *offered)))  # in this order, which requests are drawn from


def request_text(scene: ShoppingScene, goods: str, details: str, quantity: int = 1) -> str:
    """Ask for goods with conditions; a quantity of 0 is unspecified."""
    if scene.language == "zh":
        number = f"{quantity}件" if quantity else ""
        return scene.pick(
            (
                f"请帮我买{number}{goods}，要求：{details}。",
                f"我想要{number}{goods}，{details}。请直接下单。",
                f"帮我下单{number}{goods}，必须满足：{details}。",
            )
        )
    named = articled(goods)
    if quantity > 1:
        return scene.pick(
            (
                f"Please order {quantity} pieces of one item: {named} that {details}.",
                f"I need {quantity} pieces of {named} that {details}. Order them for me.",
                f"Buy me {quantity} of these: {named} that {details}.",
            )
        )
    one = "a sort" if named.startswith("some ") else "one"
    return scene.pick(
        (
            f"Please order {named}: {one} that {details}.",
            f"I need {named}, {one} that {details}. Order it for me.",
            f"Buy me {named}; it has to be {one} that {details}.",
        )
    )


def articled(goods: str) -> str:
    """Phrase English goods as the object of a request.

    >>> articled("Aro dome tent"), articled("Solva running shoes"), articled("Mei tea bags")
    ('an Aro dome tent', 'a pair of Solva running shoes', 'some Mei tea bags')
    """
    if goods.endswith(("shoes", "headphones")):
        return f"a pair of {goods}"
    if goods.endswith(("tea", "tea bags")):
        return f"some {goods}"
    return f"{'an' if goods[0] in 'AEIO' else 'a'} {goods}"


def last_words(scene: ShoppingScene) -> str:
    """Return the remarks implied in every request."""
    return scene.say(
        "Order nothing else. If it cannot be had, report that instead.",
        "不要下单其他东西；如果买不到，请报告原因。",
    )
