"""Bilingual sentences of requests."""

from collections.abc import Sequence

from hexathlon.tasks.catalogue import Constraint, Product
from hexathlon.tasks.shopping.scene import ShoppingScene
from hexathlon.tasks.shopping.world.facts import category_of

__all__ = ["articled", "details_text", "goods_text", "join", "last_words", "request_text"]


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
) -> str:
    """Phrase the conditions in random order, followed by further remarks."""
    order = scene.rng.permutation(len(details)).tolist()
    said = [scene.phrase(details[i], product.category, gap=gap) for i in order]
    return join(scene, [*said, *last])


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
