"""What the algorithms see of a rollout: flat arrays, one entry per token.

A sample is one linear path of a trajectory. It does not depend on the text of the tokens, the
chat template or the environment.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

__all__ = ["Array", "Group", "Mask", "Sample", "spread", "turns_of"]

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """One sequence of tokens and what is known of each.

    Raises:
        ValueError: The arrays differ in length, or a trained token belongs to no turn.
    """

    ids: NDArray[np.int64]
    """Token ids, `[tokens]`: prompt, sampled tokens and observations, as the engine saw them."""

    sampled: Mask
    """Tokens that the policy drew; only these carry a policy gradient."""

    observed: Mask
    """Tokens that the environment wrote after the first action, without the template's own."""

    behaviour: Array
    """Log-probability of each sampled token when it was drawn; 0 elsewhere."""

    turn: NDArray[np.int64]
    """Number of the turn that a sampled token belongs to, from 0; -1 elsewhere."""

    rewards: tuple[float, ...]
    """Reward after each turn."""

    states: tuple[str, ...] = ()
    """Hash of what the policy saw before each turn; empty where it is not known."""

    branches: tuple[str, ...] = ()
    """Node of a tree of rollouts that each turn is; empty where episodes were not forked."""

    version: NDArray[np.int64] | None = None
    """Policy version that drew each token; -1 where none did."""

    finished: bool = True
    """False where a budget cut the rollout off."""

    objectives: tuple[float, ...] = ()
    """Scores of several rubric dimensions, where the reward is made of them."""

    flawed: bool = False
    """The result is right and the way there is not, by a process judge."""

    key: str = ""
    """The trajectory that it was cut from."""

    def __post_init__(self) -> None:
        lengths = {len(self.ids), len(self.sampled), len(self.observed)}
        lengths |= {len(self.behaviour), len(self.turn)}
        if len(lengths) != 1:
            raise ValueError(f"the arrays of a sample have different lengths: {sorted(lengths)}")
        if self.sampled.any() and int(self.turn[self.sampled].max()) >= len(self.rewards):
            raise ValueError(
                f"a sampled token belongs to turn {int(self.turn.max())}, "
                f"but there are rewards for {len(self.rewards)} turns"
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
        """Whether two members differ in reward; if not, a baseline leaves nothing to learn."""
        rewards = self.rewards
        return bool(len(rewards) > 1 and rewards.max() > rewards.min())


def spread(sample: Sample, values: Sequence[float] | Array) -> Array:
    """Give every sampled token its turn's value, `[turns]` to `[tokens]`; 0 elsewhere."""
    by_turn = np.asarray(values, dtype=np.float64)
    result = np.zeros(len(sample.ids))
    result[sample.sampled] = by_turn[sample.turn[sample.sampled]]
    return result


def turns_of(sample: Sample) -> list[NDArray[np.int64]]:
    """Return the positions of each turn's sampled tokens."""
    return [
        np.flatnonzero(sample.sampled & (sample.turn == turn))
        for turn in range(len(sample.rewards))
    ]
