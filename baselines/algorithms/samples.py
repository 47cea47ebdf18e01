"""Samples: rollouts as the algorithms see them, flat arrays with one entry per token.

A sample is one linear path of a trajectory. It does not depend on the text of the tokens, the
chat template or the environment.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

__all__ = ["Array", "Group", "Mask", "Sample", "spread", "turns_given", "turns_of"]

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """A sequence of tokens, with per-token arrays.

    Raises:
        ValueError: If the arrays differ in length, or a sampled token has a turn without reward.
    """

    ids: NDArray[np.int64]
    """Token ids, `[tokens]`: prompt, sampled tokens and observations, exactly as in the engine."""

    sampled: Mask
    """Tokens sampled by the policy; only these have a policy gradient."""

    observed: Mask
    """Tokens of observations after the first action, without the chat template's own."""

    behaviour: Array
    """Log-probability of each sampled token when it was sampled; 0 elsewhere."""

    turn: NDArray[np.int64]
    """Number of each sampled token's turn, from 0; -1 elsewhere."""

    rewards: tuple[float, ...]
    """Reward after each turn."""

    states: tuple[str, ...] = ()
    """Hash of the policy's input before each turn; empty if unknown."""

    branches: tuple[str, ...] = ()
    """Each turn's node in a tree of rollouts; empty if episodes were not forked."""

    version: NDArray[np.int64] | None = None
    """Policy version that sampled each token; -1 where none did."""

    finished: bool = True
    """False if a budget cut the rollout off."""

    external: bool = False
    """Whether another policy, or an older one, wrote it; see the estimator `rl_plus`."""

    objectives: tuple[float, ...] = ()
    """Scores of the rubric's dimensions, if the reward comes from a rubric."""

    feedback: tuple[float, ...] = ()
    """A judge's score of each turn's action; empty where the steps were not judged."""

    errors: tuple[int, ...] = ()
    """Number of failed tool calls in each turn; empty if unknown."""

    flawed: bool = False
    """Whether a process judge found a correct result with a flawed process."""

    context: str = ""
    """Text in the prompt besides the task, such as a hint or a strategy."""

    hints: tuple[tuple[int, int], ...] = ()
    """Start and end of the tokens of each such text, for `hint_free`."""

    survival: float = 1.0
    """Probability with which the rollout went on when others of its group were stopped."""

    started: int = 0
    """Rollouts that were started in its group, stopped ones included; 0 if none can be stopped."""

    key: str = ""
    """Key of its trajectory."""

    withheld: Mask | None = None
    """Sampled tokens that are not trained on, such as those of too old a policy; None for no token.
    Averages over tokens count them, so that withholding some does not inflate the others."""

    def __post_init__(self) -> None:
        lengths = {len(self.ids), len(self.sampled), len(self.observed)}
        lengths |= {len(self.behaviour), len(self.turn)}
        if len(lengths) != 1:
            raise ValueError(f"expected arrays of equal length, got lengths {sorted(lengths)}")
        if self.sampled.any() and int(self.turn[self.sampled].max()) >= len(self.rewards):
            raise ValueError(
                f"a sampled token is in turn {int(self.turn.max())} (from 0), but there are "
                f"rewards for {len(self.rewards)} turns"
            )

    @property
    def reward(self) -> float:
        """Sum of the turns' rewards."""
        return float(sum(self.rewards))

    @property
    def tokens(self) -> int:
        """Number of sampled tokens."""
        return int(self.sampled.sum())


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Rollouts of one task from the same start."""

    task: str
    samples: tuple[Sample, ...]
    metrics: dict[str, float] = field(default_factory=dict)

    @property
    def rewards(self) -> Array:
        """The members' rewards, `[members]`."""
        return np.array([sample.reward for sample in self.samples], dtype=np.float64)

    @property
    def varies(self) -> bool:
        """Whether rewards differ; if not, every advantage over a baseline is 0."""
        rewards = self.rewards
        return bool(len(rewards) > 1 and rewards.max() > rewards.min())


def spread(sample: Sample, values: Sequence[float] | Array) -> Array:
    """Give every sampled token its turn's value, `[turns]` to `[tokens]`; 0 elsewhere."""
    by_turn = np.asarray(values, dtype=np.float64)
    result = np.zeros(len(sample.ids))
    result[sample.sampled] = by_turn[sample.turn[sample.sampled]]
    return result


def turns_given(sample: Sample) -> int:
    """Return the number of turns before the policy's first, which were given to it as a hint."""
    return int(sample.turn[sample.sampled].min()) if sample.sampled.any() else 0


def turns_of(sample: Sample) -> list[NDArray[np.int64]]:
    """Return the positions of each turn's sampled tokens."""
    return [
        np.flatnonzero(sample.sampled & (sample.turn == turn))
        for turn in range(len(sample.rewards))
    ]
