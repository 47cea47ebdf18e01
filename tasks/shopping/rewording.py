"""Shoppers' phrases that replace those of the categories, and conditions that no request makes.

The goods belong to the catalogue, which other sources share; what a customer says about them is
this source's own: in the shopper's words in `phrases.txt`, in the shop's in `plain_phrases.txt`.
"""

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from importlib.resources import files

from hexathlon.tasks.bilingual import Language
from hexathlon.tasks.catalogue import Constraint, Product
from hexathlon.tasks.shopping.world.fitting import left_out

__all__ = ["ANY_NUMBER", "askable", "plain_phrases", "reworded", "rewordings", "terms"]

ANY_NUMBER = "*"
"""Stands for every number of a property; the number replaces `{}` in its phrases."""

_Phrases = tuple[Sequence[str], Sequence[str]]
"""English and Chinese."""

_NOT_ASKED: Mapping[str, Collection[str]] = {
    "bottles": ("wall",), "face_creams": ("ph",), "power_banks": ("cell",),
}  # fmt: skip
"""Properties by category that no customer has a wish about."""

_NOT_WANTED = {
    ("bottles", "leaks", "drips"), ("bottles", "washing", "hand"),
    ("coffee_makers", "descale", "manual"), ("headphones", "codec", "sbc"),
    ("jackets", "pockets", "two"), ("jackets", "rustle", "crisp"), ("keyboards", "hotswap", "no"),
    ("keyboards", "noise", "loud"),
    ("office_chairs", "lift", "class3"), ("office_chairs", "lift", "class4"),
    ("pans", "warp", "domed"), ("power_banks", "heat", "warm"), ("running_shoes", "fit", "small"),
}  # fmt: skip
"""Values, by category and property, that nobody asks for."""

_TERMS: Mapping[str, _Phrases] = {
    "price": (("costs no more than {}", "costs at most {}"), ("价格不超过{}", "价格在{}以内")),
    "rating": (("is rated {} stars or better", "has at least {} stars from other buyers"),
               ("评分不低于{}星", "买家打分至少{}星")),
    "seller": (("is sold by {}",), ("在{}买",)),
    "shipping": (("arrives within {} days", "gets here in {} days at the latest"),
                 ("{}天之内送到", "最晚{}天内到货")),
    "returns": (("can be returned for at least {} days", "gives me at least {} days to return it"),
                ("收货后{}天内都能退", "退货期至少{}天")),
}  # fmt: skip


def terms(kind: str, language: Language, shown: str) -> Sequence[str]:
    """Return phrases of a condition on price, rating, seller, delivery or returns.

    Args:
        kind: The kind of condition.
        language: The language.
        shown: Its value, as a customer writes it.
    """
    return [each.format(shown) for each in _TERMS[kind][language == "zh"]]


@cache
def plain_phrases() -> Mapping[tuple[str, str, str], _Phrases]:
    """Return phrases in the shop's words that replace those of the categories."""
    return _read("plain_phrases.txt")


@cache
def rewordings() -> Mapping[tuple[str, str, str], _Phrases]:
    """Return phrases in the shopper's words by category, property and value."""
    return _read("phrases.txt")


def _read(name: str) -> Mapping[tuple[str, str, str], _Phrases]:
    """Read a file of phrases.

    Raises:
        ValueError: If a row does not have three fields.
    """
    found: dict[tuple[str, str, str], _Phrases] = {}
    text = files("hexathlon.tasks.shopping").joinpath(name).read_text(encoding="utf-8")
    category = item = ""
    for line in text.splitlines():
        if line.startswith("["):
            category, item = line.strip("[]").split()
        elif line and not line.startswith("#"):
            value, english, chinese = line.split(" | ")
            found[category, item, value] = (english.split(" / "), chinese.split(" / "))
    return found


def reworded(
    constraint: Constraint, language: Language, category: str, phrases: Sequence[str]
) -> Sequence[str]:
    """Return the phrases of a constraint, with their replacements.

    A single phrase is in the shop's words, several are in the shopper's.
    """
    known, value = plain_phrases() if len(phrases) < 2 else rewordings(), str(constraint.value)
    found = known.get((category, constraint.name, value))
    if found is None:
        found = known.get((category, constraint.name, ANY_NUMBER), (phrases, phrases))
    said = found[1] if language == "zh" else found[0]
    return [each.replace("{}", value) for each in said]


def askable(product: Product, axes: Collection[str]) -> bool:
    """Whether a request for a product may rest on its values of these properties."""
    never = left_out(product).union(_NOT_ASKED.get(product.category, ()))
    return never.isdisjoint(axes) and not any(
        (product.category, name, product.attributes.get(name)) in _NOT_WANTED for name in axes
    )
