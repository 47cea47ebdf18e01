"""The texts of a product, in both languages at once, from its codes and the words of its category.

Titles, features and the specification are complete for their places; the description is colour
and never decides anything; a value that only reviews tell is told by two of them at least.
"""

from collections.abc import Mapping, Sequence
from itertools import product as combinations

from hexathlon.tasks.shopping.catalogue.grammar import Attribute, Category, Value
from hexathlon.tasks.shopping.catalogue.names import author
from hexathlon.tasks.shopping.catalogue.noise import Stream, mix
from hexathlon.tasks.shopping.catalogue.product import Product, Review, Variant
from hexathlon.tasks.shopping.catalogue.text import Language, Text

__all__ = ["write_description", "write_features", "write_reviews", "write_specification",
           "write_title", "write_variants"]  # fmt: skip

_ORIGINS = (("Portugal", "葡萄牙"), ("Vietnam", "越南"), ("Poland", "波兰"), ("Mexico", "墨西哥"),
            ("Italy", "意大利"), ("Türkiye", "土耳其"))  # fmt: skip
_CLOSINGS = (
    Text("See the specification for everything else.", "其余参数请看规格表。"),
    Text("Questions are answered by the seller within a day.", "卖家一天之内答复咨询。"),
    Text("Pictures may differ slightly from the goods.", "图片与实物可能略有出入。"),
)


def write_title(category: Category, product: Product) -> Text:
    """Write the one line that search results show."""
    kind = category.kind(product.kind).text
    told = [_value(item, product) for item in category.attributes if item.place == "title"]
    en = f"{product.brand.en} {product.series.en} {kind.en}"
    zh = f"{product.brand.zh} {product.series.zh} {kind.zh}"
    return Text(
        ", ".join([en, *(value.text.en for value in told)]),
        " ".join([zh, *(value.text.zh for value in told)]),
    )


def write_features(category: Category, product: Product) -> Mapping[Language, tuple[str, ...]]:
    """Write the bullet points: values of title and features, then what can be chosen."""
    shown = [item for item in category.attributes if item.place in ("title", "feature")]
    lines = [_line(item.label, _value(item, product).text) for item in shown]
    for option in category.options:
        values = [option.values[option.code(slug)].text for slug in product.options[option.name]]
        offered = Text(", ".join(v.en for v in values), "、".join(v.zh for v in values))
        lines.append(_line(option.label, offered))
    return {"en": tuple(line.en for line in lines), "zh": tuple(line.zh for line in lines)}


def write_specification(
    category: Category, product: Product, noise: int
) -> Mapping[Language, tuple[tuple[str, str], ...]]:
    """Write the table: everything but what only reviews tell, among rows that decide nothing."""
    told = [item for item in category.attributes if item.place != "review"]
    rows = [(item.label, _value(item, product).text) for item in told]
    rows.extend(_filler_rows(mix(noise, 41, product.number), mix(noise, 42, product.family)))
    rows = Stream(noise, 43, product.family).shuffled(rows)
    return {
        "en": tuple((label.en, text.en) for label, text in rows),
        "zh": tuple((label.zh, text.zh) for label, text in rows),
    }


def write_description(category: Category, product: Product, noise: int) -> Text:
    """Write a paragraph that names the goods and decides nothing."""
    stream = Stream(noise, 44, product.number)
    kind = category.kind(product.kind).text
    name = Text(f"{product.series.en} {kind.en}", f"{product.series.zh}{kind.zh}")
    blurbs = stream.shuffled(category.blurb)[:2]
    closing = stream.pick(_CLOSINGS)
    return Text(
        " ".join([*(blurb.en.format(name.en) for blurb in blurbs), closing.en]),
        "".join([*(blurb.zh.format(name.zh) for blurb in blurbs), closing.zh]),
    )


def write_reviews(category: Category, product: Product, noise: int) -> tuple[Review, ...]:
    """Write the reviews, newest first."""
    stream = Stream(noise, 45, product.number)
    told = [item for item in category.attributes if item.place == "review"]
    sayings = [Text(en, zh) for item in told for en, zh in _sayings(_value(item, product), stream)]
    slots: list[list[Text]] = [[] for _ in range(len(sayings) + 1 + stream.below(3))]
    praise = stream.shuffled(category.praise)
    for i, slot in enumerate(slots):
        if i < len(sayings):
            slot.append(sayings[i])
        if i >= len(sayings) or stream.chance(60):
            slot.append(praise[i % len(praise)])
    days = sorted((-1 - stream.below(400) for _ in slots), reverse=True)
    reviews = []
    for day, parts in zip(days, stream.shuffled(slots), strict=True):
        stars = max(1, min(5, (product.rating_tenths + stream.below(16) - 5) // 10))
        text = Text(" ".join(p.en for p in parts), "".join(p.zh for p in parts))
        reviews.append(Review(author(stream.word()), stars, day, text))
    return tuple(reviews)


def write_variants(
    category: Category,
    product: Product,
    noise: int,
    surcharges: Mapping[str, Sequence[int]],
    distinct: Mapping[str, str],
) -> tuple[Variant, ...]:
    """Write every combination of the options offered.

    What has a value that only this product's group offers is always in stock, so that a designed
    target can be bought; of the rest about three in ten are sold out.
    """  # fmt: skip
    kind = category.kind(product.kind).text
    names = [option.name for option in category.options]
    variants = []
    for i, choice in enumerate(combinations(*(product.options[name] for name in names))):
        word = mix(noise, 46, product.number, i)
        kept = any(distinct[name] == slug for name, slug in zip(names, choice, strict=True))
        stock = 0 if not kept and word % 10 < 3 else 5 + word // 16 % 56
        values = [
            option.values[option.code(slug)]
            for option, slug in zip(category.options, choice, strict=True)
        ]
        extra = sum(
            surcharges[option.name][option.code(slug)]
            for option, slug in zip(category.options, choice, strict=True)
        )
        variants.append(
            Variant(
                f"{product.id}-{i + 1:02d}",
                dict(zip(names, choice, strict=True)),
                product.price_cents - _least_extra(product, category, surcharges) + extra,
                stock,
                _picture(kind, values),
            )
        )
    return tuple(variants)


def _least_extra(
    product: Product, category: Category, surcharges: Mapping[str, Sequence[int]]
) -> int:
    return sum(
        min(surcharges[option.name][option.code(slug)] for slug in product.options[option.name])
        for option in category.options
    )


def _picture(kind: Text, values: Sequence[Value]) -> Text:
    return Text(
        f"Photo: {kind.en}, {', '.join(value.text.en for value in values)}, on a plain ground",
        f"图片：{kind.zh}，{'，'.join(value.text.zh for value in values)}，纯色背景",
    )


def _value(item: Attribute, product: Product) -> Value:
    return item.values[item.code(product.attributes[item.name])]


def _line(label: Text, text: Text) -> Text:
    return Text(f"{label.en}: {text.en}", f"{label.zh}：{text.zh}")


def _filler_rows(word: int, family_word: int) -> list[tuple[Text, Text]]:
    grams = 80 + word % 900
    model = f"{chr(65 + word // 1024 % 26)}{chr(65 + word // 32768 % 26)}-{word // 2**20 % 90000 + 10000}"
    carton = " × ".join(str(12 + (family_word >> shift) % 40) for shift in (0, 6, 12))
    return [
        (Text("Model number", "型号"), Text(model, model)),
        (Text("Weight in the box", "含包装重量"), Text(f"{grams} g", f"{grams}克")),
        (Text("Carton", "外箱尺寸"), Text(f"{carton} cm", f"{carton}厘米")),
        (Text("Made in", "产地"), Text(*_ORIGINS[family_word // 2**20 % len(_ORIGINS)])),
    ]


def _sayings(value: Value, stream: Stream) -> list[tuple[str, str]]:
    pairs = list(zip(value.says_en, value.says_zh, strict=True))
    return stream.shuffled(pairs)[:2]
