"""The notation in which categories are written down.

A block of values has one line for each value, fields parted by `|`, alternatives by `/`:

    slug | shop's English | shop's Chinese | shopper's English | shopper's Chinese

and, for attributes that only reviews tell, two more fields with review sentences in English and
Chinese. `scale` writes the same for numbers with a unit.
"""

from collections.abc import Sequence

from hexathlon.tasks.shopping.catalogue.grammar import Attribute, Category, Kind, Order, Place, Value
from hexathlon.tasks.shopping.catalogue.text import Text

__all__ = ["WARRANTY", "attribute", "category", "colours", "kinds", "option", "scale", "texts"]


def texts(block: str) -> tuple[Text, ...]:
    """Read lines of `English | Chinese`."""
    return tuple(Text(*_fields(line)) for line in block.strip().splitlines())


def kinds(block: str) -> tuple[Kind, ...]:
    """Read lines of `slug | English | Chinese`."""
    rows = (_fields(line) for line in block.strip().splitlines())
    return tuple(Kind(slug, Text(en, zh)) for slug, en, zh in rows)


def attribute(
    name: str,
    label: str,
    place: Place,
    block: str,
    *,
    plain: str = "has {} | 是{}的",
    order: Order = "none",
) -> Attribute:
    """Read an attribute; `label` and `plain` are `English | Chinese`."""
    values = tuple(_value(line) for line in block.strip().splitlines())
    return Attribute(name, _pair(label), place, values, order, _pair(plain))


def scale(
    name: str,
    label: str,
    place: Place,
    numbers: Sequence[int | float],
    unit: str,
    asks: str,
    *,
    order: Order = "more",
) -> Attribute:
    """Read an attribute of numbers in ascending order.

    `unit` and the `asks` (alternatives parted by `/`) are `English | Chinese` with `{}` for the
    number.
    """
    unit_text, asks_text = _pair(unit), _pair(asks)
    values = tuple(
        Value(
            f"{number:g}",
            Text(unit_text.en.format(f"{number:g}"), unit_text.zh.format(f"{number:g}")),
            tuple(ask.format(f"{number:g}") for ask in _alternatives(asks_text.en)),
            tuple(ask.format(f"{number:g}") for ask in _alternatives(asks_text.zh)),
        )
        for number in numbers
    )
    return Attribute(name, _pair(label), place, values, order, Text("has {}", "是{}的"))


def option(name: str, label: str, block: str, *, plain: str, order: Order = "none") -> Attribute:
    """Read an option: an attribute that the buyer chooses."""
    return attribute(name, label, "option", block, plain=plain, order=order)


def colours(*slugs: str) -> Attribute:
    """Return the colour option with the colours named."""
    lines = {_fields(line)[0]: line for line in _COLOURS.strip().splitlines()}
    block = "\n".join(lines[slug] for slug in slugs)
    return option("colour", "Colour | 颜色", block, plain="comes in {} | 是{}的")


def category(
    slug: str,
    text: str,
    department: str,
    price: tuple[int, int],
    kind_block: str,
    attributes: Sequence[Attribute],
    options: Sequence[Attribute],
    blurb: str,
    praise: str,
) -> Category:
    """Put a category together; `price` is in whole units of money."""
    return Category(
        slug,
        _pair(text),
        _pair(department),
        kinds(kind_block),
        (price[0] * 100, price[1] * 100),
        tuple(attributes),
        tuple(options),
        texts(blurb),
        texts(praise),
    )


def _fields(line: str) -> list[str]:
    return [field.strip() for field in line.split("|")]


def _pair(text: str) -> Text:
    en, zh = _fields(text)
    return Text(en, zh)


def _alternatives(field: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in field.split("/") if part.strip())


def _value(line: str) -> Value:
    slug, en, zh, *more = _fields(line)
    if len(more) not in (0, 2, 4):
        raise ValueError(f"a value has 3, 5 or 7 fields, not {len(more) + 3}: {line!r}")
    asks_en, asks_zh, says_en, says_zh = (*map(_alternatives, more), (), (), (), ())[:4]
    return Value(slug, Text(en, zh), asks_en, asks_zh, says_en, says_zh)


WARRANTY = scale(
    "warranty",
    "Warranty | 质保",
    "specification",
    (1, 2, 3, 5),
    "{} y | {}年",
    "is guaranteed by the maker for {} years or longer / the maker repairs free for at least {} years"
    " | 厂家保修至少{}年 / {}年之内坏了厂家包修",
)

_COLOURS = """
black | black | 黑色
white | white | 白色
grey | grey | 灰色
navy | navy blue | 藏青色
teal | teal | 青绿色
green | forest green | 墨绿色
red | brick red | 砖红色
burgundy | burgundy | 酒红色
coral | coral pink | 珊瑚粉色
sand | sand | 沙色
lavender | lavender | 淡紫色
mustard | mustard yellow | 姜黄色
"""
