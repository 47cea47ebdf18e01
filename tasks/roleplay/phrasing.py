"""Wordings by split: test and held-out tasks share no sentence of cards and visitors with training.

`unseen.toml` repeats the phrases of `attributes.toml`, `pressure.toml` and `happenings.toml` in
other words. Facts, kinds and ranges stay in the tables themselves.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from hexathlon.tasks.roleplay.card import happenings, table

__all__ = ["attribute_phrases", "open_questions", "pressure_phrases", "time_phrase"]


@lru_cache(maxsize=64)
def attribute_phrases(name: str, other: bool) -> Mapping[str, Any]:
    """Return an attribute's frames: `card`, `ask`, `indirect`, `confirm`, `presuppose`."""
    base: Mapping[str, Any] = table("attributes")[name]
    return {**base, **table("unseen")["attributes"][name]} if other else base


@lru_cache(maxsize=2)
def pressure_phrases(other: bool) -> Mapping[str, Any]:
    """Return the lines by which visitors press for a secret."""
    base = table("pressure")
    if not other:
        return base
    own = table("unseen")["pressure"]
    return {**base, **own, "signed": {"lines": own["signed"]}}


def open_questions(kind: str, other: bool) -> Sequence[str]:
    """Return questions of a kind, `untold` or `foreign`, that no card answers."""
    return tuple(table("unseen")["happenings"][kind]) if other else happenings(kind)


def time_phrase(frame: str, usual: tuple[str, str], other: bool) -> str:
    """Return a question about time as a pair of languages, the usual one or its rewording."""
    reworded: str = table("unseen")["times"].get(frame, "|".join(usual))
    return reworded if other else "|".join(usual)
