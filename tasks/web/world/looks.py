"""Looks: the appearance of sites. Content and functions are the same in every look.

Training uses four looks, evaluation four others: with different layouts, label wordings and forms
of lists.
"""

from typing import Literal, NamedTuple

import numpy as np

from hexathlon.tasks.task import Split

__all__ = ["LOOKS", "Look", "draw_look", "looks_of"]

PageLayout = Literal["topbar", "sidebar", "dense", "cards", "ribbon", "split"]
Listing = Literal["table", "cards", "lines"]
Form = Literal["stacked", "inline", "grid"]
DateStyle = Literal["iso", "long", "short", "dotted"]


class Look(NamedTuple):
    """One appearance."""

    name: str
    layout: PageLayout
    listing: Listing
    form: Form
    wording: int
    """Wording of labels, see `hexathlon.tasks.web.world.words`."""

    dates: DateStyle
    actions_first: bool
    """Whether the actions of a record come before its content."""

    density: Literal["compact", "normal", "roomy"]
    theme: str
    """Name of a colour theme of the style sheet."""

    order: int = 0
    """Rotation of navigation items."""


LOOKS: dict[str, Look] = {
    look.name: look
    for look in (
        Look("harbour", "topbar", "table", "stacked", 0, "long", False, "normal", "blue"),
        Look("orchard", "sidebar", "lines", "inline", 1, "iso", True, "roomy", "green", 1),
        Look("ledger", "dense", "table", "grid", 1, "short", False, "compact", "grey", 2),
        Look("gallery", "cards", "cards", "stacked", 0, "long", True, "roomy", "violet"),
        Look("foundry", "ribbon", "table", "inline", 2, "dotted", True, "compact", "amber", 3),
        Look("lagoon", "split", "cards", "grid", 3, "short", False, "normal", "teal", 1),
        Look("studio", "ribbon", "lines", "stacked", 3, "iso", False, "roomy", "rose", 2),
        Look("night", "split", "table", "inline", 2, "dotted", True, "normal", "dark"),
    )
}
"""All looks by name: the first four are those of training, the others those of evaluation."""

_TRAINING = tuple(LOOKS)[:4]


def looks_of(split: Split) -> tuple[str, ...]:
    """Return the names of the looks that a split draws from."""
    return _TRAINING if split == "train" else tuple(LOOKS)[len(_TRAINING) :]


def draw_look(split: Split, rng: np.random.Generator) -> Look:
    """Draw a look of the split."""
    names = looks_of(split)
    return LOOKS[names[int(rng.integers(len(names)))]]
