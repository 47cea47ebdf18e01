"""Bilingual sentences of requests."""

import re
from collections.abc import Sequence

from hexathlon.tasks.catalogue import Constraint, Product
from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.shopping.scene import ShoppingScene
from hexathlon.tasks.shopping.world.facts import category_of

__all__ = [
    "articled",
    "as_written",
    "aversion",
    "details_text",
    "further_text",
    "goods_text",
    "join",
    "last_words",
    "measure_word",
    "request_text",
    "sentences",
    "without_aversion",
]


_BETWEEN = re.compile("(?<=[。！？～：”]) ")
_AVERSIONS = 4
"""Maximum number of values that a request names as unwanted."""
_AVERSION_WORDS = (
    ("is not like the one I sent back ({})", "别像我退掉的那个（{}）"),
    ("comes without any of this ({})", "这些都不要（{}）"),
    ("is nothing like the last one I had ({})", "不要上次那样的（{}）"),
)
_UNWANTED = re.compile(
    "|".join(
        re.escape(words).replace(re.escape("{}"), "[^)）]*")
        for pair in _AVERSION_WORDS
        for words in pair
    )
)


def sentences(scene: ShoppingScene, text: str) -> str:
    """Return a text without spaces between Chinese sentences; unchanged at `tiny` and `easy`."""
    return _BETWEEN.sub("", text) if scene.gap and scene.language == "zh" else text


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

    At `medium`, one phrase among them is an `aversion`; `beside` are further products
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


_WRITTEN_EN = (
    "hi, looking for {named}, {one} that {details}. pls order it for me, thx!",
    "Need {named} asap. Should be {one} that {details}. Can you just order it?",
    "{named} wanted! {one} that {details}. go ahead and order, no need to ask.",
    "Bonjour, I'd like {named} pls, {one} that {details}. Order it if you have it, merci!",
    "I'm after {named}... {one} that {details}. Please go ahead an order it.",
    "Please order {named}: {one} that {details}.",
)
_WRITTEN_ZH = (
    "在吗？想买{number}{goods}，{details}。麻烦直接下单哈。",
    "亲，帮我拍{number}{goods}，{details}，谢啦。",
    "求{number}{goods}！{details}。合适的话直接拍就行，不用问我。",
    "hi，我要{number}{goods}，{details}。帮我order一下，thx。",
    "想入手{number}{goods}，急用。{details}，有的话就下单吧～",
    "请帮我买{number}{goods}，要求：{details}。",
)
"""Requests as people write them, at `medium`."""

_MEASURES = (
    ("灯", "盏"), ("鞋", "双"), ("帐篷", "顶"), ("耳机", "副"), ("椅", "把"), ("锅", "口"),
    ("机", "台"), ("套装", "套"), ("衣", "件"), ("夹克", "件"), ("霜", "瓶"), ("凝露", "瓶"),
    ("散茶", "份"), ("袋泡茶", "盒"), ("茶饼", "饼"), ("垫", "张"),
)  # fmt: skip
"""Measure words by the end of the name of the goods; of several, the first counts."""


def measure_word(scene: ShoppingScene, goods: str) -> str:
    """Return the Chinese measure word of goods; always 件 at `tiny` and `easy`."""
    return _measured(goods) if scene.gap else "件"


def _measured(goods: str) -> str:
    """Return the Chinese measure word of goods.

    >>> _measured("萨菲尔德台灯"), _measured("监听耳机"), _measured("书包")
    ('盏', '副', '个')
    """
    return next((word for end, word in _MEASURES if goods.endswith(end)), "个")


def further_text(scene: ShoppingScene, goods: str, details: str) -> str:
    """Ask for one further piece of goods within a request."""
    if not scene.gap:
        return request_text(scene, goods, details)
    named = articled(goods)
    return scene.say(
        f"{named}, {_one_of(scene, named)} that {details}.",
        f"1{measure_word(scene, goods)}{goods}，{details}。",
    )


def request_text(scene: ShoppingScene, goods: str, details: str, quantity: int = 1) -> str:
    """Ask for goods with conditions; a quantity of 0 is unspecified."""
    if scene.language == "zh":
        number = f"{quantity}{measure_word(scene, goods)}" if quantity else ""
        if scene.gap:
            return scene.pick(_WRITTEN_ZH).format(number=number, goods=goods, details=details)
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
    one = _one_of(scene, named)
    if scene.gap:
        written = scene.pick(_WRITTEN_EN).format(named=named, one=one, details=details)
        return written[0].upper() + written[1:] if written[0] == "a" else written
    return scene.pick(
        (
            f"Please order {named}: {one} that {details}.",
            f"I need {named}, {one} that {details}. Order it for me.",
            f"Buy me {named}; it has to be {one} that {details}.",
        )
    )


def _one_of(scene: ShoppingScene, named: str) -> str:
    """Return the pronoun for goods that were named with an article."""
    if named.startswith("some "):
        return "a sort"
    return "a pair" if scene.gap and named.startswith("a pair") else "one"


_SLIPS_EN = (
    ("I want to", "i wanna"), ("I would like", "I'd like"), ("Please ", "pls "),
    ("please", "pls"), ("I no longer need it", "dont need it anymore"),
    ("came late", "came way too late"), ("exchange", "swap"), ("it arrived damaged", "came broken"),
    ("address", "adress"), ("compensation", "compensaton"), ("my order with", "my oder with"),
    ("for this variant of it", "for this one"), ("Cancel order", "hi, need to cancel order"),
)  # fmt: skip
_SLIPS_ZH = (
    ("我要退掉", "想退个货，是"), ("请取消", "麻烦cancel一下"), ("请把", "麻烦把"),
    ("我不需要了", "用不上了"), ("送晚了", "送得太晚了"), ("我要求应得的补偿", "该赔的请赔一下"),
    ("我想把", "想把"), ("的订单", "的order"), ("到货就是坏的", "收到就是坏的"),
    ("改寄到", "改送到"),
)  # fmt: skip
"""Plain words and what people write instead; a note has at most two of them."""

_OPENINGS = (("hi there, ", "在吗，"), ("hello?? ", "您好，"), ("", "亲，"), ("", ""))
_CLOSINGS = ((" thx", "谢谢啦"), (" Merci!", "急，在线等"), ("", ""), ("", ""))


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
        "Order nothing else. If it cannot be had, report that instead.",
        "不要下单其他东西；如果买不到，请报告原因。",
    )
