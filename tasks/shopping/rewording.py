"""Shoppers' phrases that replace those of the categories, and conditions that no request makes.

The goods belong to the catalogue, which other sources share; what a customer says about them is
this source's own.
"""

from collections.abc import Collection, Mapping, Sequence

from hexathlon.tasks.bilingual import Language
from hexathlon.tasks.catalogue import Constraint

__all__ = ["REWORDED", "askable", "reworded"]

REWORDED: Mapping[tuple[str, str, str], tuple[Sequence[str], Sequence[str]]] = {
    ("tents", "poles", "aluminium"): (
        ("stands on light metal rods", "has rods of metal, neither glass nor air"),
        ("撑杆是轻金属", "撑杆要金属的"),
    ),
    ("tents", "poles", "fibre"): (
        ("stands on cheap bendy rods of glass", "has rods like an old angling rod"),
        ("撑杆便宜能弯、带玻璃丝", "撑杆像老鱼竿"),
    ),
    ("backpacks", "fabric", "cordura"): (
        ("takes scraping on rock for years", "has the hard-wearing cloth of army packs"),
        ("石头磨几年也没事", "军用包那种耐磨料"),
    ),
    ("tea", "aroma", "smoke"): (
        ("smells like a campfire", "was dried over a wood fire"),
        ("像篝火味", "用柴火熏过"),
    ),
    ("tea", "origin", "darjeeling"): (
        ("grows on Himalayan slopes in India", "comes from the hills of north-east India"),
        ("喜马拉雅山坡上的印度货", "印度东北山区产的"),
    ),
    ("coffee_makers", "filter", "gold"): (
        ("strains through a noble metal that adds no taste", "has a sieve with a precious coating"),
        ("贵金属涂层不串味", "筛子镀了贵金属"),
    ),
}
"""English and Chinese phrases by category, property and value."""

_NOT_ASKED: Mapping[str, Collection[str]] = {
    # A drip machine brews without a pump and does not foam milk.
    "drip": ("pressure", "milk"),
    "capsule": ("filter", "jug"),
}
"""Properties by kind of goods that no request mentions."""


def reworded(
    constraint: Constraint, language: Language, category: str, phrases: Sequence[str]
) -> Sequence[str]:
    """Return the phrases of a constraint, with replacements for those in the shopper's words.

    Phrases in the shop's words, of which there is one, are kept.
    """
    found = REWORDED.get((category, constraint.name, str(constraint.value)))
    if found is None or len(phrases) < 2:
        return phrases
    return found[1] if language == "zh" else found[0]


def askable(kind: str, axes: Collection[str]) -> bool:
    """Whether a request for goods of a kind may rest on these properties."""
    return not set(_NOT_ASKED.get(kind, ())).intersection(axes)
