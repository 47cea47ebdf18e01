"""Money, options and labels in the shop's two languages."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from hexathlon.tasks.bilingual import Language
from hexathlon.tasks.catalogue.grammar import Attribute
from hexathlon.tasks.catalogue.product import Product, Variant
from hexathlon.tasks.shopping.world.facts import category_of

__all__ = ["STATUSES", "TIERS", "address_text", "chosen_text", "days_text", "enumerated",
           "find_variant", "model_text", "money", "offered_text", "round_money", "say"]  # fmt: skip

_PARTS = re.compile(r"[,;|、，；]")
_NAMED = re.compile(r"[:=：]")
STATUSES = {"pending": "待发货", "packed": "已打包", "shipped": "已发出", "delivered": "已签收",
            "cancelled": "已取消"}  # fmt: skip
"""Statuses of orders in Chinese."""

TIERS = {"standard": ("standard", "普通会员"), "plus": ("Plus", "Plus会员")}
"""Tiers of customers in English and Chinese."""


def say(language: Language, en: str, zh: str) -> str:
    """Return the text in the given language."""
    return zh if language == "zh" else en


def money(cents: int, language: Language) -> str:
    """Format an amount of money.

    >>> money(1250, "en"), money(1250, "zh")
    ('$12.50', '¥12.50')
    """
    sign = "-" if cents < 0 else ""
    return f"{sign}{say(language, '$', '¥')}{abs(cents) / 100:.2f}"


def round_money(cents: int, language: Language) -> str:
    """Format an amount as people write it.

    >>> round_money(4000, "en"), round_money(4050, "zh")
    ('$40', '40.50元')
    """
    whole = f"{cents // 100}" if cents % 100 == 0 else f"{cents / 100:.2f}"
    return say(language, f"${whole}", f"{whole}元")


def enumerated(names: Sequence[str], language: Language) -> str:
    """Return one or more names as an enumeration.

    >>> enumerated(["a", "b", "c"], "en"), enumerated(["甲", "乙", "丙"], "zh")
    ('a, b and c', '甲、乙和丙')
    """
    if len(names) == 1:
        return names[0]
    between = say(language, ", ", "、")
    return f"{between.join(names[:-1])}{say(language, ' and ', '和')}{names[-1]}"


def offered_text(product: Product, language: Language) -> str:
    """Return a product's options with their values, one line each."""
    lines = []
    for option in category_of(product.category).options:
        values = [
            option.values[option.code(slug)].text[language] for slug in product.options[option.name]
        ]
        lines.append(f"{option.label[language]} ({option.name}): {' | '.join(values)}")
    return "\n".join(lines)


def address_text(place: Mapping[str, str], language: Language) -> str:
    """Return an address on one line."""
    return say(
        language,
        f"{place['street']}, {place['city']} {place['postcode']}",
        f"{place['city']}{place['street']}，邮编{place['postcode']}",
    )


def chosen_text(product: Product, variant: Variant, language: Language) -> str:
    """Return a variant's options on one line, without the options' names."""
    return say(language, ", ", "，").join(_values(product, variant, language))


def days_text(order: Mapping[str, Any], language: Language) -> str:
    """Return the days on which an order was placed, promised and delivered."""
    words = [("placed", "下单"), ("promised", "承诺送达"), ("delivered", "签收")]
    days = [(en, zh, order[en]) for en, zh in words if order[en] is not None]
    return say(
        language,
        ", ".join(f"{en} day {day}" for en, _, day in days),
        "，".join(f"第{day}天{zh}" for _, zh, day in days),
    )


def model_text(product: Product, variant: Variant, language: Language) -> str:
    """Return how a customer names a variant: "in sand, for 4 people"."""
    if language == "zh":
        return "、".join(_values(product, variant, language)) + "的"
    words = []
    for value in _values(product, variant, language):
        sleeps = value.removeprefix("sleeps ")
        if sleeps != value:
            words.append(f"for {sleeps} {'person' if sleeps == '1' else 'people'}")
        else:
            words.append(f"with {value}" if value.endswith("legends") else value)
    text = ", ".join(words)
    return text if text.startswith(("for ", "with ")) else f"in {text}"


def _values(product: Product, variant: Variant, language: Language) -> list[str]:
    """Return a variant's values; a Chinese layout of keys needs its noun."""
    values = []
    for option in category_of(product.category).options:
        text = option.values[option.code(variant.options[option.name])].text[language]
        values.append(f"{text}键位" if language == "zh" and option.name == "legend" else text)
    return values


def find_variant(
    product: Product, wanted: Mapping[str, object] | str, language: Language
) -> Variant | str:
    """Return the variant with these options, or an error message.

    Names and values may be labels or slugs in either language, in any case. In plain text such as
    "red, 45" or "colour: red; size: 45", a value alone identifies its option.
    """
    options = category_of(product.category).options
    if isinstance(wanted, str):
        wanted = _read(wanted, options)
    chosen: dict[str, str] = {}
    for name, value in wanted.items():
        option = next((o for o in options if _fold(name) in _names(o)), None)
        if option is None:
            known = ", ".join(o.name for o in options)
            return say(
                language,
                f"{product.id} has no option {str(name)[:40]!r}; it has {known}",
                f"{product.id} 没有选项 {str(name)[:40]!r}；可选：{known}",
            )
        slug = _slug_of(option, str(value))
        if slug not in product.options[option.name]:
            return say(
                language,
                f"{product.id} is not offered in {str(value)[:40]!r}.\n"
                f"{offered_text(product, language)}",
                f"{product.id} 没有 {str(value)[:40]!r} 这一款。\n"
                f"{offered_text(product, language)}",
            )
        chosen[option.name] = str(slug)
    missing = [o.name for o in options if o.name not in chosen]
    if missing:
        return say(
            language,
            f"choose {', '.join(missing)} as well.\n{offered_text(product, language)}",
            f"还需选择 {'、'.join(missing)}。\n{offered_text(product, language)}",
        )
    return next(v for v in product.variants if dict(v.options) == chosen)


def _read(text: str, options: Sequence[Attribute]) -> dict[str, str]:
    """Parse a text of values, with or without the names of their options."""
    found: dict[str, str] = {}
    for part in filter(None, map(str.strip, _PARTS.split(text))):
        name, *value = (piece.strip() for piece in _NAMED.split(part, maxsplit=1))
        if value:
            found[name] = value[0]
            continue
        owner = next((o for o in options if _slug_of(o, part) is not None), None)
        found[owner.name if owner else part] = part
    return found


def _names(option: Attribute) -> set[str]:
    return {_fold(option.name), _fold(option.label.en), _fold(option.label.zh)}


def _slug_of(option: Attribute, value: str) -> str | None:
    folded = _fold(value)
    for known in option.values:
        if folded in (_fold(known.slug), _fold(known.text.en), _fold(known.text.zh)):
            return known.slug
    return None


def _fold(text: object) -> str:
    return " ".join(str(text).casefold().split())
