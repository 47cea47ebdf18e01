"""Search for values that agree with the answers of their tasks more often than chance explains.

Short answers, such as a letter, a digit, or yes and no, occur in many texts, and a list of choices
contains some other tasks' answers, too. A place is a leak if it contains the answer of nearly every
task, although it would seldom contain all of them if the tasks' answers were exchanged.
"""

import math
import re
from collections.abc import Mapping, Sequence

__all__ = ["agreement", "words_in"]

_MOSTLY = 0.9
_SURE = 14.0
"""Natural logarithm of the odds against chance: one in a million."""

_WORD = re.compile(r"[^\W_]+")


def agreement(shown: Sequence[Mapping[str, Sequence[str]]], truth: Sequence[str]) -> str:
    """Return the first place that contains the answers of nearly all tasks; empty if none does.

    Args:
        shown: Values shown in each task, by place.
        truth: The answer of each task.
    """
    for place in sorted({place for values in shown for place in values}):
        values = [set(each.get(place, ())) for each in shown]
        own = sum(answer in each for answer, each in zip(truth, values, strict=True))
        if (
            own >= _MOSTLY * len(truth)
            and _odds(own, len(truth), _by_chance(values, truth)) > _SURE
        ):
            return place
    return ""


def words_in(text: str) -> list[str]:
    """Return the words and numbers of a text."""
    return _WORD.findall(text)


def _by_chance(values: Sequence[set[str]], truth: Sequence[str]) -> float:
    """Return the share of pairs of tasks in which one's values contain the other's answer."""
    pairs = len(truth) * (len(truth) - 1)
    hits = sum(
        answer in each
        for place, each in enumerate(values)
        for other, answer in enumerate(truth)
        if place != other
    )
    return hits / pairs if pairs else 1.0


def _odds(hits: int, trials: int, chance: float) -> float:
    """Return a lower bound of the negative log-probability of so many hits (Chernoff)."""
    share = hits / trials
    if share <= chance:
        return 0.0
    if chance == 0.0:
        return math.inf if hits >= 5 else 0.0
    rest = (1 - share) * math.log((1 - share) / (1 - chance)) if share < 1 else 0.0
    return trials * (share * math.log(share / chance) + rest)
