"""Small samples and groups for tests of algorithms."""

from collections.abc import Sequence

import numpy as np

from hexathlon.baselines.algorithms.samples import Group, Sample


def sample(
    rewards: Sequence[float],
    *,
    lengths: Sequence[int] | None = None,
    states: Sequence[str] = (),
    **more: object,
) -> Sample:
    """Return a prompt of two tokens, then for each reward a sampled turn and an observation."""
    lengths = lengths or [2] * len(rewards)
    sampled, observed, turn = [False, False], [False, False], [-1, -1]
    for number, length in enumerate(lengths):
        sampled += [True] * length + [False]
        observed += [False] * length + [True]
        turn += [number] * length + [-1]
    count = len(sampled)
    return Sample(
        ids=np.arange(count, dtype=np.int64),
        sampled=np.array(sampled),
        observed=np.array(observed),
        behaviour=np.where(sampled, -1.0, 0.0),
        turn=np.array(turn, dtype=np.int64),
        rewards=tuple(map(float, rewards)),
        states=tuple(states),
        **more,  # type: ignore[arg-type]
    )


def group(rewards: Sequence[float], task: str = "task") -> Group:
    """Return one-turn rollouts with these rewards."""
    return Group(task, tuple(sample([reward]) for reward in rewards))


def first(advantages: Sequence[np.ndarray], groups: Sequence[Group]) -> list[float]:
    """Return the advantage at each sample's first sampled token."""
    samples = [one for each in groups for one in each.samples]
    return [float(a[s.sampled][0]) for a, s in zip(advantages, samples, strict=True)]
