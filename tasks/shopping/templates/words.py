"""Bilingual sentences of requests."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from hexathlon.tasks.catalogue import Constraint, Product
from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.shopping.scene import ShoppingScene
from hexathlon.tasks.shopping.world.facts import category_of
from hexathlon.tasks.shopping.world.fitting import left_out
from hexathlon.tasks.shopping.world.wording import enumerated

__all__ = [
    "Details",
    "articled",
    "as_written",
    "aversion",
    "details_text",
    "further_text",
    "goods_text",
    "join",
    "last_words",
    "listed",
    "measure_word",
    "option_text",
    "request_text",
    "sentences",
    "wish_text",
    "without_aversion",
]


_BETWEEN = re.compile("(?<=[。！？～：”]) ")
_AVERSIONS = 4
"""Maximum number of values that a request names as unwanted."""
_AVERSION_WORDS = (
    ("I sent back what I had before ({}), so nothing like that, please.",
     "上次那个（{}）退掉了，别再买那样的。"),
    ("Nothing like what I had before, please ({}).", "不要我以前那种（{}）。"),
    ("Please avoid all of these ({}).", "这些我都不想要（{}）。"),
)  # fmt: skip
_UNWANTED = re.compile(
    "|".join(
        re.escape(words).replace(re.escape("{}"), "[^)）]*")
        for pair in _AVERSION_WORDS
        for words in pair
    )
)


_NOUNS = {
    ("office_chairs", "lift"): ("{} gas lift", "{}气杆"),
    ("building_sets", "norm"): ("{} mark", "{}标志"),
    ("keyboards", "legend"): ("{}", "{}键位"),
    ("coffee_makers", "filter"): ("{}", "{}过滤"),
}
"""Nouns without which values of a property are not understood, by category and property."""


_ARTICLE = re.compile("^an? ")


class Details(NamedTuple):
    """The conditions of a request in words."""

    chosen: str
    """Options and seller, right after the goods: " in teal, size 41"."""

    told: str
    """Everything else, as predicates."""

    disliked: str
    """An `aversion`; empty if there is none."""


def sentences(scene: ShoppingScene, text: str) -> str:
    """Return a text without spaces between Chinese sentences."""
    return _BETWEEN.sub("", text) if scene.language == "zh" else text


def join(scene: ShoppingScene, parts: Sequence[str]) -> str:
    """Join predicates into one list; English ones share the verb "has"."""
    if scene.language == "zh":
        return "，".join(parts)
    owned = [part.removeprefix("has ") for part in parts if part.startswith("has ")]
    others = [part for part in parts if not part.startswith("has ")]
    if owned:
        others.append(f"has {enumerated(owned, 'en')}")
    return enumerated(others, "en") if others else ""


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
) -> Details:
    """Phrase the conditions in random order, followed by further remarks.

    At `medium`, there is an `aversion`; `beside` are further products that it must not describe.
    """
    order = scene.rng.permutation(len(details)).tolist()
    shuffled = [details[i] for i in order]
    told = [
        listed(scene, scene.phrase(constraint, product.category, gap=gap))
        for constraint in shuffled
        if not _beside_goods(scene, constraint)
    ]
    chosen = _chosen(scene, product, [c for c in shuffled if _beside_goods(scene, c)])
    return Details(chosen, join(scene, [*told, *last]), aversion(scene, (product, *beside)))


def _beside_goods(scene: ShoppingScene, constraint: Constraint) -> bool:
    return constraint.kind == "option" or (scene.language == "en" and constraint.kind == "seller")


def option_text(scene: ShoppingScene, category: str, constraint: Constraint) -> str:
    """Return a chosen option in words, without its name."""
    item = category_of(category).attribute(constraint.name)
    text = item.values[item.code(str(constraint.value))].text[scene.language]
    return f"{text}键位" if scene.language == "zh" and constraint.name == "legend" else text


def _chosen(scene: ShoppingScene, product: Product, chosen: Sequence[Constraint]) -> str:
    """Return options and seller as they follow the name of the goods."""
    if scene.language == "zh":
        ordered = sorted(chosen, key=lambda constraint: constraint.name != "colour")
        values = [option_text(scene, product.category, constraint) for constraint in ordered]
        return "、".join(values) + "的" if values else ""
    parts = []
    for constraint in chosen:
        if constraint.kind == "seller":
            parts.append((2, f" from {scene.seller(str(constraint.value))}"))
            continue
        text = option_text(scene, product.category, constraint)
        match constraint.name:
            case "colour":
                parts.append((0, f" in {text}"))
            case "berths":
                sleeps = text.removeprefix("sleeps ")
                parts.append((1, f" for {sleeps} {'person' if sleeps == '1' else 'people'}"))
            case "legend":
                parts.append((1, f" with {text}"))
            case _:
                parts.append((3, f", {text}"))
    return "".join(text for _, text in sorted(parts))


_ONE = {"running_shoes": "a pair", "headphones": "a pair", "tea": "a kind"}
"""What one piece of a category is called, unless it is "one"."""


def wish_text(
    scene: ShoppingScene, constraint: Constraint, category: str, *, gap: bool | None = None
) -> str:
    """Return a condition as the object of "want"."""
    if constraint.kind == "option":
        text = option_text(scene, category, constraint)
        if scene.language == "zh":
            return f"{text}的"
        match constraint.name:
            case "berths":
                sleeps = text.removeprefix("sleeps ")
                return f"one for {sleeps} {'person' if sleeps == '1' else 'people'}"
            case "legend":
                return f"one with {text}"
        return text
    if constraint.kind == "seller":
        name = scene.seller(str(constraint.value))
        return scene.say(f"one from {name}", f"{name}卖的")
    phrase = scene.phrase(constraint, category, gap=gap)
    if scene.language == "en":
        return f"{_ONE.get(category, 'one')} that {phrase}"
    phrase = listed(scene, phrase)
    return phrase if phrase.endswith("的") else f"{phrase}的"


def listed(scene: ShoppingScene, phrase: str) -> str:
    """Return a phrase as one of several; Chinese ones lose 是.

    A predicate such as 是卷顶的 becomes 卷顶的.
    """
    if scene.language == "en" or not phrase.startswith("是"):
        return phrase
    return phrase[1:] if phrase.endswith("的") else f"{phrase[1:]}的"


def aversion(scene: ShoppingScene, targets: Sequence[Product]) -> str:
    """Say, in a sentence, what the customer does not want; empty at `tiny` and `easy`.

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
        noun = scene.say(*_NOUNS.get((category.slug, name), ("{}", "{}")))
        shown = noun.format(_ARTICLE.sub("", text[scene.language]).replace(", short", ""))
        said = values.setdefault(name, [])
        if shown not in said:
            said.append(shown)
    names = [list(values)[i] for i in scene.rng.permutation(len(values)).tolist()]
    chosen = [scene.pick(values[name]) for name in names[:_AVERSIONS]]
    if not chosen:
        return ""
    shown = scene.say(", ".join(chosen), "、".join(chosen))
    en, zh = scene.pick(_AVERSION_WORDS)
    return scene.say(en, zh).format(shown)


def without_aversion(text: str) -> str:
    """Return a request without what an `aversion` says."""
    return _UNWANTED.sub("", text)


def _page_values(product: Product) -> tuple[tuple[str, str], ...]:
    """Return (property, value) for what the item's page and table state in words, not numbers."""
    category, hidden = category_of(product.category), left_out(product)
    told = (
        (item.name, product.attributes[item.name])
        for item in category.attributes
        if item.place != "review"
        and item.order == "none"
        and item.name not in (*hidden, "support")  # a word such as "neutral" says too little
    )
    offered = (
        (item.name, slug)
        for item in category.options
        for slug in product.options[item.name]
        if item.order == "none"
    )
    return tuple(dict.fromkeys((*told, *offered)))  # in this order, which requests are drawn from


_WRITTEN_EN = (
    "hi, looking for {goods}. pls order {it} for me, thx!",
    "Need {goods}. It's urgent, can you just order {it}?",
    "Can you get me {goods}? Go ahead and order, no need to ask.",
    "Hiya, could you order {goods}? Cheers!",
    "I'm after {goods}. Just order {it} please.",
    "Please order {goods}.",
)
_WRITTEN_ZH = (
    "在吗？想买{goods}。麻烦直接下单哈。",
    "亲，帮我拍{goods}，谢啦。",
    "求{goods}！合适的话直接拍就行，不用问我。",
    "hi，我要{goods}。帮我order一下，thx。",
    "想入手{goods}，急用，有的话就下单吧～",
    "请帮我买{goods}。",
)
"""Requests as people write them, at `medium`."""

_MEASURES = (
    ("灯", "盏"), ("鞋", "双"), ("帐篷", "顶"), ("耳机", "副"), ("椅", "把"), ("锅", "口"),
    ("机", "台"), ("套装", "套"), ("衣", "件"), ("夹克", "件"), ("霜", "瓶"), ("凝露", "瓶"),
    ("散茶", "份"), ("袋泡茶", "盒"), ("茶饼", "饼"), ("垫", "张"),
)  # fmt: skip
"""Measure words by the end of the name of the goods; of several, the first counts."""


def measure_word(goods: str) -> str:
    """Return the Chinese measure word of goods.

    >>> measure_word("萨菲尔德台灯"), measure_word("监听耳机"), measure_word("书包")
    ('盏', '副', '个')
    """
    return next((word for end, word in _MEASURES if goods.endswith(end)), "个")


def further_text(scene: ShoppingScene, goods: str, details: Details) -> str:
    """Return one further piece of goods with its conditions, as a sentence."""
    return f"{_wanted(scene, goods, details, 1)}{scene.say('.', '。')}{_after(scene, details)}"


def request_text(scene: ShoppingScene, goods: str, details: Details, quantity: int = 1) -> str:
    """Ask for goods with conditions; a quantity of 0 is unspecified."""
    wanted = _wanted(scene, goods, details, quantity)
    if scene.language == "zh":
        patterns = _WRITTEN_ZH if scene.gap else _PLAIN_ZH
        return scene.pick(patterns).format(goods=wanted) + _after(scene, details)
    if quantity == 0:
        return f"I'm looking for {wanted}.{_after(scene, details)}"
    pair = articled(goods).startswith("a pair")
    if quantity > 1:
        counted = "pairs" if pair else "packs" if goods.endswith(("tea", "tea bags")) else "of them"
        return f"I need {wanted}. Please order {quantity} {counted}.{_after(scene, details)}"
    written = scene.pick(_WRITTEN_EN if scene.gap else _PLAIN_EN)
    text = written.format(goods=wanted, it="them" if pair else "it")
    return text + _after(scene, details)


_PLAIN_EN = (
    "Please order {goods}.",
    "I need {goods}. Please order {it}.",
    "Please buy me {goods}.",
)
_PLAIN_ZH = ("请帮我买{goods}。", "我想要{goods}，请直接下单。", "帮我下单{goods}。")


def _wanted(scene: ShoppingScene, goods: str, details: Details, quantity: int) -> str:
    """Return goods with all that is wished of them, as the object of a request."""
    if scene.language == "zh":
        number = f"{quantity}{measure_word(goods)}" if quantity else ""
        return "，".join(filter(None, [f"{number}{goods}", details.chosen, details.told]))
    named = f"{articled(goods)}{details.chosen}"
    if not details.told:
        return named
    if goods.endswith(("tea", "tea bags")):
        return f"{named}, a kind that {details.told}"
    return f"{named}{',' if ',' in details.chosen else ''} that {details.told}"


def _after(scene: ShoppingScene, details: Details) -> str:
    return scene.say(" ", "") + details.disliked if details.disliked else ""


_SLIPS_EN = (
    ("I'd like to", "i wanna"), ("Please ", "pls "), ("please", "pls"),
    ("I don't need it any more", "dont need it anymore"), ("came late", "came way too late"),
    ("exchange", "swap"), ("it arrived damaged", "it came damaged"),
)  # fmt: skip
_SLIPS_ZH = (
    ("我要退", "想退"), ("请取消", "麻烦取消"), ("请把", "麻烦把"), ("不需要了", "用不上了"),
    ("送晚了", "送得太晚了"), ("请按规定补偿", "该赔的请赔一下"), ("我想把", "想把"),
    ("到货就破损了", "收到就是破的"), ("改寄到", "改送到"),
)  # fmt: skip
"""Plain words and what people write instead; a note has at most two of them."""

_OPENINGS = (("hi there, ", "在吗，"), ("hello?? ", "您好，"), ("", "亲，"), ("", ""))
_CLOSINGS = ((" thx", "谢谢啦"), (" thanks!!", "急，在线等"), ("", ""), ("", ""))


def as_written(scene: ShoppingScene, request: str, key: str) -> str:
    """Return a customer's note as people write it; unchanged at `tiny` and `easy`.

    Args:
        scene: The scene, whose random stream is not used.
        request: What the customer asks for; its facts stay as they are.
        key: Decides on the wording, so that twins have the same.
    """
    if not scene.gap:
        return request
    rng = generator_for("written", key)
    slips = _SLIPS_ZH if scene.language == "zh" else _SLIPS_EN
    known = [slip for slip in slips if slip[0] in request]
    for place in rng.permutation(len(known)).tolist()[:2]:
        plain, written = known[place]
        request = request.replace(plain, written, 1)
    opening = scene.say(*_OPENINGS[int(rng.integers(4))])
    closing = scene.say(*_CLOSINGS[int(rng.integers(4))])
    if opening and request.startswith(("hi", "麻烦")):
        opening = ""
    if opening and request[0] != "I" and scene.language == "en":
        request = request[0].lower() + request[1:]
    return f"{opening}{request}{closing}"


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
        "Don't order anything else. If it can't be had, report that instead.",
        "不要下单其他东西；如果买不到，请报告原因。",
    )
