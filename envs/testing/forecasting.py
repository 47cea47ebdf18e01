"""Predictability of endings: how well the end of a solved task is known before it is played.

An ending is the last calls of the oracle's episode with their common argument values. Classifiers
predict it from the task's id and numbers, from the part of them that agents see, and from tools and
opening text. A useful id would show here; whether one is a fault is decided by `identity_checks`.
"""

from collections import Counter, defaultdict
from collections.abc import Container, Hashable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hexathlon.envs.testing.likeness import Texts
from hexathlon.envs.testing.solving import Solved, calls_in, scalars_of
from hexathlon.tasks.source import parse_address

__all__ = [
    "COMMON",
    "CONSTANT",
    "LAST",
    "SEEN_ID",
    "TEXTS",
    "TOOLS",
    "WHOLE_ID",
    "Foreknown",
    "bits_of",
    "endings",
    "forecasts",
    "left_one_out",
    "names_in",
    "text_predictions",
]

COMMON = 0.03
"""Minimum share of the solutions with an argument value; rarer values are ignored."""

LAST = 3
"""Maximum number of actions of an ending."""

CONSTANT = "most frequent ending"
SEEN_ID = "the digest"
WHOLE_ID = "the whole id"
TOOLS = "the tools"
TEXTS = ("similar openings", "openings of similar wording")

_BITS = 8
_NEAREST = 9
"""Number of similar openings that vote on an ending."""

_WORDING = 0.01
"""Minimum share of the openings that have a word; names and values of single tasks are rarer."""


class Foreknown(NamedTuple):
    """What can be known of a task before it is played.

    Of these, agents see tools, opening and, as `Task.opaque_id`, generator and hash.
    """

    generator: str
    template: str
    level: str
    tools: tuple[str, ...]
    opening: str
    numbers: Mapping[str, int]
    """`index`, `seed` and `hash`, or those of them that are known."""

    @classmethod
    def of(cls, solved: Solved) -> "Foreknown":
        """Return what is known of a solved task."""
        task = solved.task
        return cls(
            task.generator,
            task.template,
            task.level,
            tuple(schema.name for schema in task.tools),
            solved.opening,
            {"index": parse_address(task.id).index, "seed": task.seed, "hash": _short(task.hash)},
        )

    @classmethod
    def of_record(cls, task_id: str, level: str, task_hash: str, opening: str) -> "Foreknown":
        """Return what is known of a recorded task; records contain neither tools nor seeds."""
        address = parse_address(task_id)
        numbers = {"index": address.index, "hash": _short(task_hash)}
        return cls(address.source, address.template, level, (), opening, numbers)


def forecasts(known: Sequence[Foreknown], ends: Sequence[str]) -> dict[str, list[bool]]:
    """Return, for each classifier, which endings it predicts.

    Classifiers on numbers choose the bit that predicts best on the other half of the tasks:
    `WHOLE_ID` within template and level, `SEEN_ID` on the hash alone. `TOOLS` needs tasks that say
    which tools they offer.
    """
    guesses = {
        CONSTANT: [Counter(ends).most_common(1)[0][0]] * len(ends),
        SEEN_ID: _by_bits(
            [each.generator for each in known],
            [{"hash": each.numbers["hash"]} for each in known],
            ends,
        ),
        **({TOOLS: left_one_out([each.tools for each in known], ends)} if known[0].tools else {}),
        **text_predictions([each.opening for each in known], ends),
        "template and level": left_one_out([(each.template, each.level) for each in known], ends),
        WHOLE_ID: _by_bits(
            [(each.template, each.level) for each in known],
            [each.numbers for each in known],
            ends,
        ),
    }
    return {
        name: [end == guess for end, guess in zip(ends, each, strict=True)]
        for name, each in guesses.items()
    }


def text_predictions(openings: Sequence[str], ends: Sequence[str]) -> dict[str, list[str]]:
    """Predict each ending as the most frequent one of the most similar other openings."""
    texts = (Texts(openings), Texts(openings, _WORDING))
    return {
        name: [
            Counter(ends[i] for i in near).most_common(1)[0][0]
            for near in each.nearest_others(_NEAREST)
        ]
        for name, each in zip(TEXTS, texts, strict=True)
    }


def left_one_out(keys: Sequence[Hashable], labels: Sequence[str]) -> list[str]:
    """Predict each label as the most frequent one among the others with the same key."""
    counts: dict[Hashable, Counter[str]] = defaultdict(Counter)
    for key, label in zip(keys, labels, strict=True):
        counts[key][label] += 1
    overall = Counter(labels)
    predicted = []
    for key, label in zip(keys, labels, strict=True):
        others = counts[key].copy()
        others[label] -= 1
        best = max(others, key=lambda each: (others[each], overall[each], each))
        predicted.append(best if others[best] > 0 else overall.most_common(1)[0][0])
    return predicted


def bits_of(numbers: Sequence[Mapping[str, int]]) -> dict[str, NDArray[np.bool_]]:
    """Return each number's lowest bits and small remainders over tasks, without constant ones."""
    columns = {name: [each[name] for each in numbers] for name in numbers[0]}
    bits = {
        f"bit {place} of the {name}": np.array([bool(value >> place & 1) for value in values])
        for name, values in columns.items()
        for place in range(_BITS)
    }
    bits |= {
        f"the {name} modulo {by} being 0": np.array([value % by == 0 for value in values])
        for name, values in columns.items()
        for by in (3, 5, 7)
    }
    return {name: values for name, values in bits.items() if values.any() and not values.all()}


def _by_bits(
    kinds: Sequence[Hashable], numbers: Sequence[Mapping[str, int]], ends: Sequence[str]
) -> list[str]:
    """Predict each half's endings by the bit that does best on the other half."""
    bits = {"none": np.zeros(len(ends), bool), **bits_of(numbers)}
    tables = {
        name: left_one_out(list(zip(kinds, is_set.tolist(), strict=True)), ends)
        for name, is_set in bits.items()
    }
    predicted = [""] * len(ends)
    for half in (0, 1):
        other, own = range(1 - half, len(ends), 2), range(half, len(ends), 2)
        best = max(tables, key=lambda name: sum(tables[name][i] == ends[i] for i in other))
        for i in own:
            predicted[i] = tables[best][i]
    return predicted


def endings(episodes: Sequence[Sequence[str]], unscored: Container[str] = ()) -> list[str]:
    """Return how each episode ended: its last calls with their common argument values.

    If almost all end in the same way, as with a closing call, the preceding calls are included.

    Args:
        episodes: The actions of each; its last `LAST` ones suffice.
        unscored: Arguments, as `tool.argument`, that are not part of a solution.
    """
    labels: list[str] = []
    for count in range(1, LAST + 1):
        labels = _endings([actions[-count:] for actions in episodes], unscored)
        if Counter(labels).most_common(1)[0][1] <= (1 - COMMON) * len(labels):
            break
    return labels


def _endings(last: Sequence[Sequence[str]], unscored: Container[str]) -> list[str]:
    held = [
        {item for action in actions for item in scalars_of(action) if item[0] not in unscored}
        for actions in last
    ]
    common = Counter(item for items in held for item in items)
    least = max(3.0, COMMON * len(last))
    return [
        " ".join(
            [name for action in actions for name in names_in(action)]
            + sorted(f"{path}={value!r:.40}" for path, value in own if common[path, value] >= least)
        )
        for actions, own in zip(last, held, strict=True)
    ]


def names_in(action: str) -> list[str]:
    """Return the names of an action's calls; prose is `prose`."""
    return [name or "prose" for name, _ in calls_in(action)]


def _short(task_hash: str) -> int:
    return int(task_hash[:8], 16)
