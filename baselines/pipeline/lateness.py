"""Late groups: rollouts with tokens of policies older than the recipe's staleness allows.

A late policy decides which sampled tokens of such a group are trained on. Long rollouts finish
late, so dropping late ones biases training towards short episodes; the metrics `length/offered` and
`length/trained` show by how much.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from hexathlon.baselines.algorithms.registry import Registry
from hexathlon.baselines.algorithms.samples import Group, Mask, Sample

__all__ = ["LATENESS", "Lateness", "drop", "pace", "token_mask", "withhold", "withheld_of"]


Lateness = Callable[..., Group | None]
"""Maps a group and the oldest version allowed to the group to train on; None drops it."""


LATENESS: Registry[Lateness] = Registry("late policy")


def _old(sample: Sample, oldest: int) -> Mask:
    """Return the sampled tokens of versions before the oldest allowed, `[tokens]`."""
    if sample.version is None:
        return np.zeros(len(sample.ids), dtype=np.bool_)
    return sample.sampled & (sample.version < oldest)


def _withheld(group: Group, masks: list[Mask]) -> Group:
    if not any(mask.any() for mask in masks):
        return group
    pairs = zip(group.samples, masks, strict=True)
    return replace(group, samples=tuple(replace(s, withheld=mask) for s, mask in pairs))


@LATENESS.register("pace")
def pace(group: Group, oldest: int) -> Group:
    """Train on every token; updates wait for groups that would be too old at the next one."""
    return group


@LATENESS.register("token_mask")
def token_mask(group: Group, oldest: int) -> Group:
    """Withhold the tokens that are too old, and train on the others."""
    return _withheld(group, [_old(sample, oldest) for sample in group.samples])


@LATENESS.register("withhold")
def withhold(group: Group, oldest: int) -> Group:
    """Withhold whole rollouts with a token that is too old.

    Their rewards still count in the group's mean and deviation, so that the baseline of the other
    rollouts includes the long ones.
    """
    masks = [sample.sampled & bool(_old(sample, oldest).any()) for sample in group.samples]
    return _withheld(group, masks)


@LATENESS.register("drop")
def drop(group: Group, oldest: int) -> Group | None:
    """Drop groups with a token that is too old; other groups replace them."""
    return None if any(_old(sample, oldest).any() for sample in group.samples) else group


def withheld_of(sample: Sample) -> Mask:
    """Return the sampled tokens that are not trained on, `[tokens]`."""
    if sample.withheld is None:
        return np.zeros(len(sample.ids), dtype=np.bool_)
    return sample.withheld
