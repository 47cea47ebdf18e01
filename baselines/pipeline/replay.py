"""Replay: reuse of rollouts from earlier steps.

Samples keep the log-probabilities and the policy version that they were sampled with, so
corrections treat them like any other late rollout.
"""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from hexathlon.baselines.algorithms.registry import Registry
from hexathlon.baselines.algorithms.samples import Group, Sample
from hexathlon.tasks.seeding import generator_for

__all__ = [
    "REPLAYS",
    "Memory",
    "Replay",
    "ReplayStage",
    "corrections",
    "external",
    "recent",
    "rescue",
]


class Memory:
    """The newest groups, and each task's newest success.

    Args:
        groups: Maximum number of groups.
        tasks: Maximum number of tasks with a success.
    """

    def __init__(self, groups: int = 256, tasks: int = 4096) -> None:
        self.groups: deque[Group] = deque(maxlen=groups)
        self.successes: dict[str, Sample] = {}
        self._tasks = tasks

    def keep(self, groups: Sequence[Group], threshold: float = 1.0) -> None:
        """Store groups whose rewards differ, and the newest success of each task."""
        self.groups.extend(group for group in groups if group.varies)
        for group in groups:
            for sample in group.samples:
                if sample.reward >= threshold:
                    self.successes.pop(group.task, None)
                    self.successes[group.task] = sample
        while len(self.successes) > self._tasks:
            del self.successes[next(iter(self.successes))]

    def state(self) -> dict[str, Any]:
        """Return the content as lists, dictionaries, arrays and plain values."""
        return {
            "groups": [
                {
                    "task": group.task,
                    "samples": [asdict(sample) for sample in group.samples],
                    "metrics": group.metrics,
                }
                for group in self.groups
            ],
            "successes": {task: asdict(sample) for task, sample in self.successes.items()},
        }

    def load(self, state: Mapping[str, Any]) -> None:
        """Restore the content from the result of `state`."""
        self.groups.clear()
        self.groups.extend(
            Group(row["task"], tuple(Sample(**sample) for sample in row["samples"]), row["metrics"])
            for row in state["groups"]
        )
        self.successes = {task: Sample(**sample) for task, sample in state["successes"].items()}


Replay = Callable[..., list[Group]]
"""Maps fresh groups, a memory and a random generator to the groups of an update."""


REPLAYS: Registry[Replay] = Registry("replay")
_REPAIRING = frozenset({"corrections", "external", "rescue"})
"""Replays that change failed groups, so they run before the filters, which drop such groups; the
others add groups after the filters."""


@REPLAYS.register("none")
def none(groups: Sequence[Group], memory: Memory, draw: np.random.Generator) -> list[Group]:
    """The fresh groups alone."""
    return list(groups)


@REPLAYS.register("recent")
def recent(
    groups: Sequence[Group], memory: Memory, draw: np.random.Generator, *, share: float = 0.5
) -> list[Group]:
    """Add older groups until these are `share` of all (rollout replay).

    Raises:
        ValueError: If `share` is not in [0, 1).
    """
    if not 0 <= share < 1:
        raise ValueError(f"share must be at least 0 and less than 1, got {share}")
    count = round(len(groups) * share / (1.0 - share))
    places = sorted(draw.permutation(len(memory.groups))[:count])
    return [*groups, *(memory.groups[int(place)] for place in places)]


def _better(group: Group, memory: Memory) -> Sample | None:
    """Return the stored success of a group's task; None if a rollout of the group scores as much.

    Node names are unique only within a step: a prefix prevents clashes.
    """
    stored = memory.successes.get(group.task)
    if stored is None or group.rewards.max() >= stored.reward:
        return None
    branches = tuple(f"stored {name}" for name in stored.branches)
    return replace(stored, branches=branches) if branches else stored


@REPLAYS.register("rescue")
def rescue(groups: Sequence[Group], memory: Memory, draw: np.random.Generator) -> list[Group]:
    """Replace one rollout of a group without a success by a stored success (DART-GUI)."""
    repaired = []
    for group in groups:
        stored = _better(group, memory)
        if stored is not None and not group.varies:
            place = int(draw.integers(len(group.samples)))
            samples = [*group.samples]
            samples[place] = stored
            group = replace(group, samples=tuple(samples))
        repaired.append(group)
    return repaired


@REPLAYS.register("external")
def external(groups: Sequence[Group], memory: Memory, draw: np.random.Generator) -> list[Group]:
    """Add a stored success of its task to every group without a success (RL-PLUS).

    The sample is marked as external. Combine with the estimator and the surrogate `rl_plus`. Chosen
    here: external solutions are earlier successes of the run itself.
    """
    mixed = []
    for group in groups:
        stored = _better(group, memory)
        if stored is not None:
            added = replace(stored, external=True)
            group = replace(group, samples=(*group.samples, added))
        mixed.append(group)
    return mixed


@REPLAYS.register("corrections")
def corrections(groups: Sequence[Group], memory: Memory, draw: np.random.Generator) -> list[Group]:
    """Turn failures into supervision where they left the way to a success (EvoCUA).

    A group without a success gets the stored success of its task, in which only the turns at which
    a failure first acted differently in the same state are trained on; the rest is context.
    A success that shares no such turn is not added. Chosen here: the correction is what a success
    did in the state of the failure's first deviation, which needs no judge.
    """
    repaired = []
    for group in groups:
        stored = _better(group, memory)
        if stored is not None:
            turns = {_deviation(sample, stored) for sample in group.samples} - {-1}
            if turns:
                rest = stored.sampled & ~np.isin(stored.turn, sorted(turns))
                added = replace(stored, withheld=rest)
                group = replace(group, samples=(*group.samples, added))
        repaired.append(group)
    return repaired


def _deviation(failure: Sample, success: Sample) -> int:
    """Return the first turn with the same state and another action; -1 if there is none.

    Turns that a hint gave to either have no state and no action of the policy; the state after them
    tells whether both went the same way.
    """
    for turn, (one, other) in enumerate(zip(failure.states, success.states, strict=False)):
        actions = [each.ids[each.sampled & (each.turn == turn)] for each in (failure, success)]
        if not all(map(len, actions)):
            continue
        if one != other:
            return -1
        if not np.array_equal(*actions):
            return turn
    return -1


class ReplayStage:
    """The replay stage of a run: a replay and its memory.

    Args:
        name: Name of the replay.
        parameters: Its parameters.
        memory: Stored rollouts; the stage adds to it.
        seed: Seed of all draws.
    """

    def __init__(self, name: str, parameters: Mapping[str, Any], memory: Memory, seed: int) -> None:
        self.memory = memory
        self._name = name
        self._parameters = parameters
        self._seed = seed

    @property
    def active(self) -> bool:
        """Whether the recipe replays anything."""
        return self._name != "none"

    def repaired(self, groups: list[Group], step: int, attempt: int) -> list[Group]:
        """Put stored successes into failed groups, before the filters drop those groups."""
        if self._name not in _REPAIRING:
            return groups
        repaired = self._replayed(groups, step, attempt)
        self.memory.keep(groups)
        return repaired

    def joined(self, groups: list[Group], step: int) -> list[Group]:
        """Add groups of earlier steps to the fresh ones that passed the filters."""
        if self._name in _REPAIRING:
            return groups
        joined = self._replayed(groups, step, 0)
        if self.active:
            self.memory.keep(groups)
        return joined

    def _replayed(self, groups: list[Group], step: int, attempt: int) -> list[Group]:
        draw = generator_for("replay", self._seed, step, attempt)
        return REPLAYS[self._name](groups, self.memory, draw, **self._parameters)
