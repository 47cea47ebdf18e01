"""The notation of category files, and its parser.

A category is a text file of sections. A section starts with a bracketed line and has `name: value`
lines and rows; fields are separated by `|`, English before Chinese, and alternatives by `/`:

    [category headphones] Headphones | 耳机     with `department:` and `price:` (least, greatest)
    [kinds]                                      slug | English | Chinese
    [attribute NAME PLACE] label                 rows of values; optional `plain:` (see `Attribute`)
                                                 and `say SLUG:`, a phrase for one value
    [ranked NAME PLACE more|less] label          the same for values in ascending order;
                                                 optional `exact:`
    [scale NAME PLACE more|less] label           `numbers:`, `unit:` and `asks:` with {} for them
    [colours] slugs      [warranty]              shared ones
    [blurb]  [praise]                            English | Chinese

A value is `slug | shop's English | shop's Chinese`, then the shopper's words in both languages,
then, for review-only values, the reviewers' sentences in both languages.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import cast, get_args

from hexathlon.tasks.bilingual import BilingualText
from hexathlon.tasks.catalogue.grammar import (
    Attribute,
    AttributeValue,
    Category,
    GoodsKind,
    Order,
    Place,
)

__all__ = ["NotationError", "read_category"]

_PLAIN = BilingualText("has {}", "是{}的")
_COLOURS = {
    "black": BilingualText("black", "黑色"),
    "white": BilingualText("white", "白色"),
    "grey": BilingualText("grey", "灰色"),
    "navy": BilingualText("navy blue", "藏青色"),
    "teal": BilingualText("teal", "青绿色"),
    "green": BilingualText("forest green", "墨绿色"),
    "red": BilingualText("brick red", "砖红色"),
    "burgundy": BilingualText("burgundy", "酒红色"),
    "coral": BilingualText("coral pink", "珊瑚粉色"),
    "sand": BilingualText("sand", "沙色"),
    "lavender": BilingualText("lavender", "淡紫色"),
    "mustard": BilingualText("mustard yellow", "姜黄色"),
}
_SETTINGS = ("department", "price", "plain", "exact", "say", "numbers", "unit", "asks")
_WARRANTY_YEARS = (1, 2, 3, 5)
_WARRANTY_ASKS_EN = (
    "is guaranteed by the maker for {} years or longer",
    "is repaired free by the maker for at least {} years",
)
_WARRANTY_ASKS_ZH = ("厂家保修至少{}年", "{}年之内坏了厂家包修")


class NotationError(ValueError):
    """A category file has invalid syntax."""


@dataclass
class _Section:
    words: list[str]
    label: str
    settings: dict[str, str] = field(default_factory=dict)
    rows: list[list[str]] = field(default_factory=list)


def read_category(text: str) -> Category:
    """Parse one category.

    Raises:
        NotationError: If the text has invalid syntax; the message names the section.
    """
    sections = _sections(text)
    head = sections[0]
    named = {section.words[0]: section for section in sections}
    properties = [
        _READERS[section.words[0]](section) for section in sections if section.words[0] in _READERS
    ]
    low, high = (int(number) * 100 for number in head.settings["price"].split())
    return Category(
        slug=head.words[1],
        text=_pair(head.label),
        department=_pair(head.settings["department"]),
        kinds=tuple(GoodsKind(slug, BilingualText(en, zh)) for slug, en, zh in named["kinds"].rows),
        price_cents=(low, high),
        attributes=tuple(item for item in properties if item.place != "option"),
        options=tuple(item for item in properties if item.place == "option"),
        blurb=tuple(BilingualText(en, zh) for en, zh in named["blurb"].rows),
        praise=tuple(BilingualText(en, zh) for en, zh in named["praise"].rows),
    )


def _sections(text: str) -> list[_Section]:
    found: list[_Section] = []
    for line in text.splitlines():
        if line.startswith("["):
            inside, _, label = line[1:].partition("]")
            found.append(_Section(inside.split(), label.strip()))
        elif line.strip():
            name, colon, value = line.partition(": ")
            if colon and name.split()[0] in _SETTINGS:
                found[-1].settings[name] = value
            else:
                found[-1].rows.append(_fields(line))
    return found


def _attribute(section: _Section) -> Attribute:
    _, name, place, *order = section.words
    if place not in get_args(Place):
        raise NotationError(f"{name}: {place!r} is not a place")
    said = {
        key.removeprefix("say "): _pair(text)
        for key, text in section.settings.items()
        if key.startswith("say ")
    }
    unknown = said.keys() - {fields[0] for fields in section.rows}
    if unknown:
        raise NotationError(f"{name} says {', '.join(sorted(unknown))} and has no such value")
    return Attribute(
        name,
        _pair(section.label),
        cast(Place, place),
        tuple(_value(name, fields, said.get(fields[0])) for fields in section.rows),
        cast(Order, order[0] if order else "none"),
        _pair(section.settings["plain"]) if "plain" in section.settings else _PLAIN,
        _pair(section.settings["exact"]) if "exact" in section.settings else None,
    )


def _scale(section: _Section) -> Attribute:
    _, name, place, order = section.words
    unit = _pair(section.settings["unit"])
    asks_en, asks_zh = map(_alternatives, _fields(section.settings["asks"]))
    values = tuple(
        _number(number, unit, asks_en, asks_zh) for number in section.settings["numbers"].split()
    )
    return Attribute(
        name,
        _pair(section.label),
        cast(Place, place),
        values,
        cast(Order, order),
        _PLAIN,
    )


def _warranty(section: _Section) -> Attribute:
    unit = BilingualText("{} y", "{}年")
    values = tuple(
        _number(str(years), unit, _WARRANTY_ASKS_EN, _WARRANTY_ASKS_ZH) for years in _WARRANTY_YEARS
    )
    label = BilingualText("Warranty", "质保")
    return Attribute("warranty", label, "specification", values, "more", _PLAIN)


def _colours(section: _Section) -> Attribute:
    values = tuple(AttributeValue(slug, _COLOURS[slug]) for slug in section.label.split())
    return Attribute(
        "colour",
        BilingualText("Colour", "颜色"),
        "option",
        values,
        "none",
        BilingualText("comes in {}", "是{}"),
    )


_READERS: dict[str, Callable[[_Section], Attribute]] = {
    "attribute": _attribute,
    "ranked": _attribute,
    "scale": _scale,
    "warranty": _warranty,
    "colours": _colours,
}


def _number(
    number: str, unit: BilingualText, asks_en: tuple[str, ...], asks_zh: tuple[str, ...]
) -> AttributeValue:
    return AttributeValue(
        number,
        BilingualText(unit.en.format(number), unit.zh.format(number)),
        tuple(ask.format(number) for ask in asks_en),
        tuple(ask.format(number) for ask in asks_zh),
    )


def _value(name: str, fields: list[str], plain: BilingualText | None) -> AttributeValue:
    slug, en, zh, *more = fields
    if len(more) not in (0, 2, 4):
        raise NotationError(f"{name}: a value has 3, 5 or 7 fields, not {len(fields)}: {fields}")
    asks_en, asks_zh, says_en, says_zh = (*map(_alternatives, more), (), (), (), ())[:4]
    if len(says_en) != len(says_zh):
        raise NotationError(f"{name}: {slug} has unequal numbers of review sentences")
    return AttributeValue(slug, BilingualText(en, zh), asks_en, asks_zh, says_en, says_zh, plain)


def _fields(line: str) -> list[str]:
    return [part.strip() for part in line.split("|")]


def _pair(text: str) -> BilingualText:
    english, chinese = _fields(text)
    return BilingualText(english, chinese)


def _alternatives(part: str) -> tuple[str, ...]:
    return tuple(each.strip() for each in part.split("/") if each.strip())
