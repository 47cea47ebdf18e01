"""Batches of samples."""

import pytest

torch = pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")

import numpy as np

from hexathlon.baselines.algorithms.samples import Sample
from hexathlon.baselines.learner.batching import Example, parts_of
from hexathlon.baselines.tokens.patches import BLANK, FIRST_PATCH, patch_ids
from hexathlon.evaluators.content import Image


def example(ids):
    sampled = np.arange(len(ids)) == len(ids) - 1
    sample = Sample(ids=np.array(ids, dtype=np.int64), sampled=sampled, rewards=(1.0,),
                    behaviour=np.zeros(len(ids)), observed=np.zeros(len(ids), bool),
                    turn=np.where(sampled, 0, -1))  # fmt: skip
    return Example(sample, np.zeros(len(ids)), sampled.astype(np.float64))


@pytest.mark.parametrize("packed", [False, True])
def test_patches_keep_all_of_their_63_bits(packed):
    """A float has 53: blank patches would become black ones, one column further."""
    pixels = np.full((45, 60, 3), 255, np.uint8)
    pixels[20:30, 40:50] = 80
    shown = [5, *patch_ids(Image.from_array(pixels)), 7, 7]
    short = [5, FIRST_PATCH + BLANK, 7]
    (part,) = parts_of([example(shown), example(short)], 64, torch.device("cpu"), torch.float32,
                       packed=packed)  # fmt: skip
    rows = dict(zip(part.rows, part.ids.tolist(), strict=True))
    assert rows[0] == shown
    assert rows[1] == short + [0] * (len(shown) - len(short))
