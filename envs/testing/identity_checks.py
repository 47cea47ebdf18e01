"""Checks that a task's id, index, seed and hash reveal nothing about its solution.

Two tests, both on oracle episodes. *Numbers*: no bit of index, seed or hash may correlate with any
part of the solutions within a template, level, split and script (the Cochran-Mantel-Haenszel test,
over all templates and for each alone). *Names*: the template may not predict an episode's ending
better than the agent's own view does, that is, the tools on offer and similar openings.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hexathlon.envs.testing.forecasting import (
    COMMON,
    LAST,
    Foreknown,
    bits_of,
    endings,
    left_one_out,
    names_in,
    text_predictions,
)
from hexathlon.envs.testing.perturbing import neighbours
from hexathlon.envs.testing.report import CheckFailed, CheckSkipped, ConformanceCheck
from hexathlon.envs.testing.solving import Solved, scalars_of
from hexathlon.envs.testing.subject import Subject
from hexathlon.tasks.task import Task

__all__ = ["CHECKS", "FEWEST", "number_findings"]

FEWEST = 100
"""Minimum number of solved tasks; with fewer, a pattern may be chance."""

_SURE = 7.0
"""Standard deviations. Twins share a coin flip, which makes their deviations up to 1.4 times
larger.
"""

_CHANCE = 1e-6
_TRIALS = 2
"""Number of tasks per template in which an argument declared unscored is changed."""

_STRANGE = ("a value that no task has",)


def numbers_tell_nothing(subject: Subject) -> None:
    """Test every bit of index, seed and hash against every part of the solutions."""
    for finding in number_findings(_enough(subject)):
        raise CheckFailed(finding)


def names_tell_nothing(subject: Subject) -> None:
    """Predict endings from the template alone, and from the agent's view.

    Arguments shown not to affect the score are not part of an ending.
    """
    solved = _enough(subject)
    ends = endings([each.actions for each in solved], unscored(subject, solved))
    by_template = left_one_out([each.task.template for each in solved], ends)
    by_texts = text_predictions([each.opening for each in solved], ends).values()
    by_text = max(by_texts, key=lambda guesses: sum(map(str.__eq__, guesses, ends)))
    by_tools = _majorities([_tools(each.task) for each in solved], ends)
    for label in sorted(set(by_template)):
        places = [i for i, end in enumerate(by_template) if end == label != by_tools[i]]
        gained = sum(ends[i] == label != by_text[i] for i in places)
        lost = sum(ends[i] != label and ends[i] in (by_text[i], by_tools[i]) for i in places)
        if _chance(gained, gained + lost) < _CHANCE:
            names = sorted({solved[i].task.template for i in places})
            raise CheckFailed(
                f"the template's name predicts the ending {label} where tools and text do not: "
                f"{gained} tasks of {', '.join(names[:4])}"
            )


def number_findings(solved: Sequence[Solved]) -> Iterator[str]:
    """Yield a sentence per bit of index, seed or hash that correlates with a part of a solution."""
    bits = bits_of([Foreknown.of(each).numbers for each in solved])
    parts = _parts(solved)
    strata = _codes([_stratum(each) for each in solved])
    templates = np.array([each.task.template for each in solved])
    groups: dict[str, NDArray[np.bool_]] = {"": np.ones(len(solved), bool)}
    for template in sorted(set(templates.tolist())):
        groups[template] = templates == template
    for template, members in groups.items():
        for part, has in parts.items():
            for bit, is_set in bits.items():
                sure = _association(is_set[members], has[members], strata[members])
                if abs(sure) > _SURE:
                    where = f" of the template {template}" if template else ""
                    yield (
                        f"{bit} goes with {part} in the solutions{where} "
                        f"({abs(sure):.1f} standard deviations over {int(members.sum())} tasks)"
                    )


def unscored(subject: Subject, solved: Sequence[Solved]) -> set[str]:
    """Return the arguments, as `tool.argument`, of endings that do not affect the score.

    A declaration is not enough, since it may hold for one value, one template or some changes. Each
    argument that the source declares in `tolerated` is changed in solved episodes of every template
    that ends with it; it is left out only if all of them still score 1.
    """
    declared = {name.partition("alter:")[2] for name in subject.source.tolerated}
    candidates = {path for path in declared if path and "=" not in path}
    tried: Counter[tuple[str, str]] = Counter()
    env = subject.make()
    try:
        for each in solved:
            uses = {path for action in each.actions[-LAST:] for path, _ in scalars_of(action)}
            for path in sorted(uses & candidates):
                tried[path, each.task.template] += 1
                if tried[path, each.task.template] <= _TRIALS and not _decides_nothing(
                    subject, env, each, path
                ):
                    candidates.discard(path)
    finally:
        env.close()
    return candidates


def _decides_nothing(subject: Subject, env: Any, solved: Solved, path: str) -> bool:
    """Whether all changes of an argument in the ending of a solved episode score 1."""
    changed = [
        neighbour.actions
        for neighbour in neighbours(solved.task, solved.actions, {path: _STRANGE})
        if neighbour.kind.partition("=")[0] == f"alter:{path}"
        and neighbour.place >= len(solved.actions) - LAST
    ]
    episodes = [subject.play_actions(env, solved.task, actions) for actions in changed]
    return bool(episodes) and all(episode.reward == 1.0 for episode in episodes)


def _enough(subject: Subject) -> Sequence[Solved]:
    if len(subject.solved) < FEWEST:
        raise CheckSkipped(
            f"{len(subject.solved)} tasks cannot tell a pattern from chance, {FEWEST} can"
        )
    return subject.solved


def _parts(solved: Sequence[Solved]) -> dict[str, NDArray[np.bool_]]:
    """Return which solutions contain each common part: a tool, or a value of an argument."""
    held = [set(_said(each)) for each in solved]
    least = max(5.0, COMMON * len(solved))
    counts = Counter(part for parts in held for part in parts)
    common = sorted(p for p, n in counts.items() if least <= n <= len(solved) - least)
    return {part: np.array([part in parts for parts in held]) for part in common}


def _said(solved: Solved) -> Iterator[str]:
    for action in solved.actions:
        for name in names_in(action):
            yield f"the tool {name}"
        for path, value in scalars_of(action):
            yield f"{path}={value!r:.40}"


def _association(
    bit: NDArray[np.bool_], part: NDArray[np.bool_], strata: NDArray[np.int64]
) -> float:
    """Return the Cochran-Mantel-Haenszel deviate of two properties, given the strata."""
    size = np.bincount(strata).astype(float)
    ones = np.bincount(strata, weights=bit)
    with_part = np.bincount(strata, weights=part)
    both = np.bincount(strata, weights=bit & part)
    big = size > 1
    size, ones, with_part, both = size[big], ones[big], with_part[big], both[big]
    expected = ones * with_part / size
    variance = ones * (size - ones) * with_part * (size - with_part) / (size**2 * (size - 1))
    total = float(variance.sum())
    return float((both - expected).sum()) / math.sqrt(total) if total > 0 else 0.0


def _stratum(solved: Solved) -> Hashable:
    """Return the strata within which solutions are compared: template, level, split, script."""
    task = solved.task
    return task.template, task.level, task.split, _latin(solved)


def _latin(solved: Solved) -> bool:
    letters = [letter for letter in solved.opening if letter.isalpha()]
    return sum(letter <= "\u024f" for letter in letters) * 2 >= len(letters)


def _codes(keys: Sequence[Hashable]) -> NDArray[np.int64]:
    known: dict[Hashable, int] = {}
    return np.array([known.setdefault(key, len(known)) for key in keys], dtype=np.int64)


def _tools(task: Task) -> Hashable:
    return task.level, tuple(schema.name for schema in task.tools)


def _majorities(keys: Sequence[Hashable], labels: Sequence[str]) -> list[str]:
    """Return, for each label, the most frequent one with the same key."""
    counts: dict[Hashable, Counter[str]] = defaultdict(Counter)
    for key, label in zip(keys, labels, strict=True):
        counts[key][label] += 1
    return [counts[key].most_common(1)[0][0] for key in keys]


def _chance(gained: int, trials: int) -> float:
    """Return the probability of at least this many heads in fair coin flips."""
    return sum(math.comb(trials, k) for k in range(gained, trials + 1)) / (1 << trials)


CHECKS = (
    ConformanceCheck(
        "numbers_tell_nothing",
        "draw sides, traps and deals from the seed, not from the index: derive_seed(...) % 2",
        numbers_tell_nothing,
    ),
    ConformanceCheck(
        "names_tell_nothing",
        "give both sides of a pair neutral template names, and draw from the seed which is which",
        names_tell_nothing,
    ),
)
