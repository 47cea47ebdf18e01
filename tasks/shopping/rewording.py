"""Shoppers' phrases that replace those of the categories, and conditions that no request makes.

The goods belong to the catalogue, which other sources share; what a customer says about them is
this source's own, in `phrases.txt`.
"""

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from importlib.resources import files

from hexathlon.tasks.bilingual import Language
from hexathlon.tasks.catalogue import Constraint

__all__ = ["ANY_NUMBER", "askable", "reworded", "rewordings", "sensible"]

ANY_NUMBER = "*"
"""Stands for every number of a property; the number replaces `{}` in its phrases."""

_NOT_ASKED: Mapping[str, Collection[str]] = {
    # A drip machine brews without a pump and does not foam milk.
    "drip": ("pressure", "milk"),
    "capsule": ("filter", "jug"),
}
"""Properties by kind of goods that no request mentions."""


@cache
def rewordings() -> Mapping[tuple[str, str, str], tuple[Sequence[str], Sequence[str]]]:
    """Return English and Chinese phrases by category, property and value.

    Raises:
        ValueError: If a row of `phrases.txt` does not have three fields.
    """
    found: dict[tuple[str, str, str], tuple[Sequence[str], Sequence[str]]] = {}
    category = name = ""
    text = files("hexathlon.tasks.shopping").joinpath("phrases.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        if line.startswith("["):
            category, name = line.strip("[]").split()
        elif line and not line.startswith("#"):
            value, english, chinese = line.split(" | ")
            found[category, name, value] = (english.split(" / "), chinese.split(" / "))
    return found


def reworded(
    constraint: Constraint, language: Language, category: str, phrases: Sequence[str]
) -> Sequence[str]:
    """Return the phrases of a constraint, with replacements for those in the shopper's words.

    Phrases in the shop's words, of which there is one, are kept.
    """
    if len(phrases) < 2:
        return phrases
    known, value = rewordings(), str(constraint.value)
    found = known.get((category, constraint.name, value))
    if found is None:
        found = known.get((category, constraint.name, ANY_NUMBER), (phrases, phrases))
    said = found[1] if language == "zh" else found[0]
    return [each.replace("{}", value) for each in said]


def askable(kind: str, axes: Collection[str]) -> bool:
    """Whether a request for goods of a kind may rest on these properties."""
    return not set(_NOT_ASKED.get(kind, ())).intersection(axes)


def sensible(attributes: Mapping[str, str], axes: Collection[str]) -> bool:
    """Whether a request may rest on these properties, given a product's others.

    Wired headphones have neither a battery nor a wireless format.
    """
    wired = attributes.get("link") in ("jack", "usb_c")
    return not (wired and {"battery", "codec"}.intersection(axes))
