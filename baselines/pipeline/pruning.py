"""Pruning: which rollouts of a group go on after their first turns.

A quality head predicts each rollout's success from its first turns; a rule gives each the
probability with which it goes on. Rollouts that are stopped are absent from their group, like
failed ones. The estimator `survivors` corrects for rules that stop by chance.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from hexathlon.baselines.algorithms.registry import Registry
from hexathlon.baselines.algorithms.samples import Array
from hexathlon.baselines.algorithms.token_rules import end_blocks
from hexathlon.baselines.pipeline.task_statistics import TaskStatistics
from hexathlon.baselines.rollout.prefix import Prefix
from hexathlon.baselines.tokens.trajectory import Trajectory
from hexathlon.evaluators.records import TrialKey
from hexathlon.tasks.seeding import generator_for

__all__ = ["PRUNINGS", "Pruner", "Pruning", "QualityHead", "balanced", "features_of", "hopeless"]


Pruning = Callable[..., Array]
"""Maps the predicted success of a group's rollouts to the probability that each goes on."""


PRUNINGS: Registry[Pruning] = Registry("pruning")
_MOST_SETS = 20_000


@PRUNINGS.register("balanced")
def balanced(predicted: Array, *, share: float = 0.5) -> Array:
    """Keep the share of the rollouts whose mean predicted success is closest to a half (ARRoL).

    All sets are compared up to 20,000 of them; in larger groups, those of a block from each end of
    the order. Chosen here: the head is a logistic regression on the first turns, not on hidden
    states, and rollouts are stopped between turns instead of inside the engine.

    Raises:
        ValueError: If `share` is not in (0, 1].
    """
    if not 0 < share <= 1:
        raise ValueError(f"share must be above 0 and at most 1, got {share}")
    size = len(predicted)
    keep = min(size, max(2, int(np.ceil(share * size - 1e-9))))
    order = np.argsort(predicted, kind="stable")
    few = math.comb(size, keep) <= _MOST_SETS
    sets = np.array([*combinations(range(size), keep)] if few else end_blocks(order, keep))
    off = np.abs(predicted[sets].mean(axis=1) - 0.5)
    result = np.zeros(size)
    result[sets[np.argmin(off)]] = 1.0
    return result


@PRUNINGS.register("hopeless")
def hopeless(predicted: Array, *, below: float = 0.1, chance: float = 0.25) -> Array:
    """Stop most rollouts whose predicted success is below a bound; `chance` of them go on.

    With the estimator `survivors` the sum of the policy gradient's terms stays unbiased, however
    wrong the predictions are, since every rollout goes on with a known probability above 0.

    Raises:
        ValueError: If `below` is not in [0, 1], or `chance` not in (0, 1].
    """
    if not (0 <= below <= 1 and 0 < chance <= 1):
        raise ValueError(
            f"expected below from 0 to 1 and chance above 0, got below={below} and chance={chance}"
        )
    return np.where(predicted < below, chance, 1.0)


def features_of(prefix: Prefix, success: float) -> Array:
    """Return what the quality head knows about a paused rollout, `[6]`.

    A constant, the mean log-probability of its sampled tokens, the logarithm of their number, the
    share of turns with failed calls, the reward so far, and the task's expected success.
    """
    conversation = getattr(prefix.memory, "conversation", None)
    nodes = [] if conversation is None else conversation.tree.nodes
    logs = [value for node in nodes for value in node.log_probabilities]
    failed = sum(count > 0 for count in prefix.spent.errors) / max(prefix.turns, 1)
    reward = sum(float(step["reward"]) for step in prefix.steps)
    mean = float(np.mean(logs)) if logs else 0.0
    return np.array([1.0, mean, np.log1p(len(logs)) / 5.0, failed, reward, 2.0 * success - 1.0])


class QualityHead:
    """A logistic regression from the features of first turns to success, trained online.

    Args:
        rate: Step size.
    """

    def __init__(self, rate: float = 0.5) -> None:
        self.weights = np.zeros(6)
        self._rate = rate

    def predict(self, features: Array) -> Array:
        """Return the probability of success, `[rollouts, 6]` to `[rollouts]`."""
        predicted: Array = 1.0 / (1.0 + np.exp(-np.clip(features @ self.weights, -30.0, 30.0)))
        return predicted

    def state(self) -> list[float]:
        """Return the weights as plain values."""
        return [float(weight) for weight in self.weights]

    def load(self, state: Sequence[float]) -> None:
        """Restore the result of `state`."""
        self.weights = np.array(state, dtype=np.float64)

    def update(self, features: Array, solved: Array, weights: Array, steps: int = 20) -> None:
        """Take steps on the weighted cross-entropy, `[rollouts, 6]`, `[rollouts]` each."""
        for _ in range(steps if len(features) else 0):
            gap = weights * (self.predict(features) - solved)
            self.weights = self.weights - self._rate * gap @ features / weights.sum()


class Pruner:
    """Stops rollouts after their first turns, and learns from those that went on.

    Args:
        name: Name of the rule.
        parameters: Its parameters.
        after: Number of the policy's turns before the decision.
        known: Expected success of tasks.
    """

    def __init__(
        self, name: str, parameters: Mapping[str, Any], after: int, known: TaskStatistics
    ) -> None:
        self.after = after
        self.head = QualityHead()
        self._stopped = 0
        self._name = name
        self._parameters = parameters
        self._known = known
        self._waiting: dict[TrialKey, tuple[Array, float]] = {}

    def chosen(self, paused: Sequence[tuple[TrialKey, Prefix]]) -> list[bool]:
        """Return which rollouts go on; groups are told apart by their keys."""
        groups: dict[TrialKey, list[int]] = {}
        for number, (key, _) in enumerate(paused):
            groups.setdefault((*key[:3], 0), []).append(number)
        going = [False] * len(paused)
        for first, members in groups.items():
            success = float(self._known.success([first[1]])[0])
            features = np.array([features_of(paused[n][1], success) for n in members])
            chances = PRUNINGS[self._name](self.head.predict(features), **self._parameters)
            drawn = generator_for("pruning", *first).random(len(members)) < chances
            for number, feature, chance, goes in zip(
                members, features, chances, drawn, strict=True
            ):
                going[number] = bool(goes)
                if goes:
                    self._waiting[paused[number][0]] = (feature, float(chance))
        self._stopped += going.count(False)
        return going

    def take_stopped(self) -> int:
        """Return the number of rollouts stopped since the last call."""
        stopped, self._stopped = self._stopped, 0
        return stopped

    def survival(self, key: TrialKey) -> float:
        """Return the probability with which a rollout went on; 1 if there was no decision."""
        return self._waiting[key][1] if key in self._waiting else 1.0

    def learn(self, played: Sequence[Trajectory]) -> None:
        """Update the head from the rollouts that went on and have a score."""
        rows = [
            (*self._waiting[each.key], float(each.record["reward"] or 0.0) >= self._known.threshold)
            for each in played
            if each.scored and each.key in self._waiting
        ]
        self._waiting.clear()
        if rows:
            features, chances, solved = (np.array(column) for column in zip(*rows, strict=True))
            self.head.update(features, solved.astype(np.float64), 1.0 / chances)
