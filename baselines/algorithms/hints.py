"""Training on prompts without the hints that their rollouts had (Guide, HiFPO).

The hint's tokens are cut out of the sample. The log-probabilities of the sampled tokens remain
those of the hinted prompt, so that the importance ratio corrects for it.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from hexathlon.baselines.algorithms.samples import Sample

__all__ = ["PLAIN", "hint_free"]

PLAIN = " without context"
"""End of the keys of copies without their context."""


def hint_free(sample: Sample, hints: Sequence[tuple[int, int]]) -> Sample:
    """Return a sample without the tokens of its hints.

    Args:
        sample: A rollout whose context contains hints.
        hints: Start and end positions of each hint's tokens, the end excluded.

    Raises:
        ValueError: If a hint lies outside the sample, or contains sampled tokens.
    """
    kept = np.ones(len(sample.ids), dtype=np.bool_)
    for start, stop in hints:
        if not 0 <= start <= stop <= len(sample.ids):
            raise ValueError(
                f"the hint at tokens {start} to {stop} is outside the sample of {len(sample.ids)}"
            )
        kept[start:stop] = False
    if (sample.sampled & ~kept).any():
        raise ValueError("a hint contains tokens that the policy sampled; expected context only")
    return replace(
        sample,
        ids=sample.ids[kept], sampled=sample.sampled[kept], observed=sample.observed[kept],
        behaviour=sample.behaviour[kept], turn=sample.turn[kept],
        version=None if sample.version is None else sample.version[kept],
        withheld=None if sample.withheld is None else sample.withheld[kept],
        hints=(),
    )  # fmt: skip
