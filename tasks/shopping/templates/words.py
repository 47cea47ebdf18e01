"""Sentences of requests, in both languages."""

from collections.abc import Sequence

from hexathlon.tasks.shopping.catalogue import Constraint, Product
from hexathlon.tasks.shopping.facts import category_of
from hexathlon.tasks.shopping.scene import Scene

__all__ = ["articled", "details_text", "goods_text", "join", "last_words", "request_text"]


def join(scene: Scene, parts: Sequence[str]) -> str:
    """Join phrases into one."""
    if scene.language == "zh":
        return "，".join(parts)
    return ", ".join(parts[:-1]) + f" and {parts[-1]}" if len(parts) > 1 else "".join(parts)


def goods_text(scene: Scene, product: Product, named: Sequence[str]) -> str:
    """Name the goods by kind and by what else is told: `brand`, `series`."""
    kind = category_of(product.category).kind(product.kind).text[scene.language]
    brand = product.brand[scene.language] if "brand" in named else ""
    series = product.series[scene.language] if "series" in named else ""
    if scene.language == "zh":
        return f"{brand}{series}{kind}"
    return " ".join(filter(None, [brand, series, kind]))


def details_text(
    scene: Scene, product: Product, details: Sequence[Constraint], *, gap: bool | None = None
) -> str:
    """Say the conditions, in an order of their own."""
    order = scene.rng.permutation(len(details)).tolist()
    return join(scene, [scene.phrase(details[i], product.category, gap=gap) for i in order])


def request_text(scene: Scene, goods: str, details: str, quantity: int = 1) -> str:
    """Ask for goods with conditions; a quantity of 0 is left open."""
    if scene.language == "zh":
        number = f"{quantity}件" if quantity else ""
        return scene.pick(
            (
                f"请帮我买{number}{goods}，要求：{details}。",
                f"我想要{number}{goods}，{details}。请直接下单。",
                f"帮我下单{number}{goods}，必须满足：{details}。",
            )
        )
    one = _one(goods)
    many = f"{quantity} pieces, of {one} that" if quantity > 1 else f"{one} that"
    return scene.pick(
        (
            f"Please order {articled(goods)}: {many} {details}.",
            f"I need {articled(goods)}, {many} {details}. Order it for me.",
            f"Buy me {articled(goods)}; it has to be {many} {details}.",
        )
    )


def articled(goods: str) -> str:
    """Put "a" or "an" before goods that are counted one by one.

    >>> articled("Aro dome tent"), articled("Solva running shoes"), articled("Mei pressed tea")
    ('an Aro dome tent', 'Solva running shoes', 'Mei pressed tea')
    """
    if goods.endswith(("s", "tea")):
        return goods
    return f"{'an' if goods[0] in 'AEIO' else 'a'} {goods}"


def _one(goods: str) -> str:
    if goods.endswith(("shoes", "headphones")):
        return "a pair"
    return "a sort" if goods.endswith(("s", "tea")) else "one"


def last_words(scene: Scene) -> str:
    """Say what is understood in every request."""
    return scene.say(
        "Order nothing else. If it cannot be had, report that instead.",
        "不要下单其他东西；如果买不到，请报告原因。",
    )
