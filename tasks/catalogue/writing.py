"""The texts of a product, in both languages at once, from its codes and the words of its category.

Title, features and specification state all values that are located there. The description is
decorative and never decides anything. At least two reviews reveal each review-only value.
"""

from collections.abc import Mapping, Sequence
from itertools import product as combinations

from hexathlon.tasks.bilingual import BilingualText
from hexathlon.tasks.catalogue.grammar import Attribute, AttributeValue, Category
from hexathlon.tasks.catalogue.names import author
from hexathlon.tasks.catalogue.noise import Stream, mix
from hexathlon.tasks.catalogue.product import (
    Features,
    Product,
    Review,
    Specification,
    Variant,
)

__all__ = ["ProductWriter"]

_ORIGINS = (("Portugal", "葡萄牙"), ("Vietnam", "越南"), ("Poland", "波兰"), ("Mexico", "墨西哥"),
            ("Italy", "意大利"), ("Türkiye", "土耳其"))  # fmt: skip
_CLOSINGS = (
    BilingualText("See the specification for everything else.", "其余参数请看规格表。"),
    BilingualText("Questions are answered by the seller within a day.", "卖家一天之内答复咨询。"),
    BilingualText("Pictures may differ slightly from the goods.", "图片与实物可能略有出入。"),
)


class ProductWriter:
    """Writes texts for one row of codes; holds the data that the product itself lacks."""

    __slots__ = ("_category", "_distinct", "_noise", "_surcharges")

    def __init__(
        self,
        category: Category,
        noise: int,
        surcharges: Mapping[str, Sequence[int]],
        distinct: Mapping[str, str],
    ) -> None:
        self._category = category
        self._noise = noise
        self._surcharges = surcharges
        self._distinct = distinct

    def title(self, product: Product) -> BilingualText:
        """Write the title line of search results."""
        kind = self._category.kind(product.kind).text
        told = [
            _value(item, product) for item in self._category.attributes if item.place == "title"
        ]
        en = f"{product.brand.en} {product.series.en} {kind.en}"
        zh = f"{product.brand.zh} {product.series.zh} {kind.zh}"
        return BilingualText(
            ", ".join([en, *(value.text.en for value in told)]),
            " ".join([zh, *(value.text.zh for value in told)]),
        )

    def features(self, product: Product) -> Features:
        """Write the bullet points: values of title and features, then the options."""
        shown = [item for item in self._category.attributes if item.place in ("title", "feature")]
        lines = [_line(item.label, _value(item, product).text) for item in shown]
        for option in self._category.options:
            values = [
                option.values[option.code(slug)].text for slug in product.options[option.name]
            ]
            offered = BilingualText(
                ", ".join(v.en for v in values), "、".join(v.zh for v in values)
            )
            lines.append(_line(option.label, offered))
        return {"en": tuple(line.en for line in lines), "zh": tuple(line.zh for line in lines)}

    def specification(self, product: Product) -> Specification:
        """Write the table: everything except review-only values, among rows that decide nothing."""
        told = [item for item in self._category.attributes if item.place != "review"]
        rows = [(item.label, _value(item, product).text) for item in told]
        rows.extend(
            _filler_rows(mix(self._noise, 41, product.number), mix(self._noise, 42, product.family))
        )
        rows = Stream(self._noise, 43, product.family).shuffled(rows)
        return {
            "en": tuple((label.en, text.en) for label, text in rows),
            "zh": tuple((label.zh, text.zh) for label, text in rows),
        }

    def description(self, product: Product) -> BilingualText:
        """Write a decorative paragraph that names the goods."""
        stream = Stream(self._noise, 44, product.number)
        kind = self._category.kind(product.kind).text
        name = BilingualText(f"{product.series.en} {kind.en}", f"{product.series.zh}{kind.zh}")
        blurbs = stream.shuffled(self._category.blurb)[:2]
        closing = stream.pick(_CLOSINGS)
        return BilingualText(
            " ".join([*(blurb.en.format(name.en) for blurb in blurbs), closing.en]),
            "".join([*(blurb.zh.format(name.zh) for blurb in blurbs), closing.zh]),
        )

    def reviews(self, product: Product) -> tuple[Review, ...]:
        """Write the reviews, newest first."""
        stream = Stream(self._noise, 45, product.number)
        told = [item for item in self._category.attributes if item.place == "review"]
        sayings = [
            BilingualText(en, zh)
            for item in told
            for en, zh in _sayings(_value(item, product), stream)
        ]
        slots: list[list[BilingualText]] = [[] for _ in range(len(sayings) + 1 + stream.below(3))]
        praise = stream.shuffled(self._category.praise)
        for i, slot in enumerate(slots):
            if i < len(sayings):
                slot.append(sayings[i])
            if i >= len(sayings) or stream.chance(60):
                slot.append(praise[i % len(praise)])
        days = sorted((-1 - stream.below(400) for _ in slots), reverse=True)
        reviews = []
        for day, parts in zip(days, stream.shuffled(slots), strict=True):
            stars = max(1, min(5, (product.rating_tenths + stream.below(16) - 5) // 10))
            text = BilingualText(" ".join(p.en for p in parts), "".join(p.zh for p in parts))
            reviews.append(Review(author(stream.word()), stars, day, text))
        return tuple(reviews)

    def variants(self, product: Product) -> tuple[Variant, ...]:
        """List every combination of the options on offer.

        A variant with a value that distinguishes this product from its family is always in stock,
        so that a designed target can be bought; about three in ten of the others are sold out.
        """
        options = self._category.options
        ranks = [self._ranks(product, item) for item in options]
        base_cents = product.price_cents - self._extra(list(map(min, ranks)))
        return tuple(
            self._variant(product, i, choice, base_cents)
            for i, choice in enumerate(combinations(*ranks))
        )

    def _variant(
        self, product: Product, number: int, choice: Sequence[int], base_cents: int
    ) -> Variant:
        options = self._category.options
        values = [item.values[rank] for item, rank in zip(options, choice, strict=True)]
        chosen = {item.name: value.slug for item, value in zip(options, values, strict=True)}
        word = mix(self._noise, 46, product.number, number)
        kept = any(self._distinct[name] == slug for name, slug in chosen.items())
        return Variant(
            id=f"{product.id}-{number + 1:02d}",
            options=chosen,
            price_cents=base_cents + self._extra(choice),
            stock=0 if not kept and word % 10 < 3 else 5 + word // 16 % 56,
            image=_picture(self._category.kind(product.kind).text, values),
        )

    def _ranks(self, product: Product, item: Attribute) -> list[int]:
        return [item.code(slug) for slug in product.options[item.name]]

    def _extra(self, choice: Sequence[int]) -> int:
        """Return the surcharge of one value of each option, in cents."""
        return sum(
            self._surcharges[item.name][rank]
            for item, rank in zip(self._category.options, choice, strict=True)
        )


def _picture(kind: BilingualText, values: Sequence[AttributeValue]) -> BilingualText:
    return BilingualText(
        f"Photo: {kind.en}, {', '.join(value.text.en for value in values)}, on a plain ground",
        f"图片：{kind.zh}，{'，'.join(value.text.zh for value in values)}，纯色背景",
    )


def _value(item: Attribute, product: Product) -> AttributeValue:
    return item.values[item.code(product.attributes[item.name])]


def _line(label: BilingualText, text: BilingualText) -> BilingualText:
    return BilingualText(f"{label.en}: {text.en}", f"{label.zh}：{text.zh}")


def _filler_rows(word: int, family_word: int) -> list[tuple[BilingualText, BilingualText]]:
    letters = chr(65 + word // 2**10 % 26) + chr(65 + word // 2**15 % 26)
    model = f"{letters}-{word // 2**20 % 90_000 + 10_000}"
    carton = " × ".join(str(12 + (family_word >> shift) % 40) for shift in (0, 6, 12))
    return [
        (BilingualText("Model number", "型号"), BilingualText(model, model)),
        (
            BilingualText("Units per carton", "装箱数"),
            BilingualText(str(1 + word % 24), str(1 + word % 24)),
        ),
        (BilingualText("Carton", "外箱尺寸"), BilingualText(f"{carton} cm", f"{carton}厘米")),
        (
            BilingualText("Made in", "产地"),
            BilingualText(*_ORIGINS[family_word // 2**20 % len(_ORIGINS)]),
        ),
    ]


def _sayings(value: AttributeValue, stream: Stream) -> list[tuple[str, str]]:
    pairs = list(zip(value.says_en, value.says_zh, strict=True))
    return stream.shuffled(pairs)[:2]
