"""torchrl's generalised advantages equal ours, by tokens and by turns."""

import pytest

pytest.importorskip("torchrl", reason="torchrl is not installed here: make test-oracles")
pytestmark = pytest.mark.oracles

import numpy as np
import torch
from torchrl.objectives.value.functional import (
    generalized_advantage_estimate,
    vec_generalized_advantage_estimate,
)

from hexathlon.baselines.algorithms.catalogue import ESTIMATORS
from hexathlon.baselines.algorithms.critic import gae
from hexathlon.baselines.algorithms.samples import Group
from support.samples import sample

CLOSE = 1e-5
"""torchrl's powers of the discount are single precision, and its vectorised form is truncated."""


def theirs(function, rewards, values, gamma, lam):
    steps = len(rewards)
    done = torch.zeros(steps, 1, dtype=torch.bool)
    done[-1] = True

    def column(array):
        return torch.tensor(np.asarray(array, dtype=np.float64))[:, None]

    following = np.append(values[1:], 0.0)
    advantage, target = function(
        gamma, lam, column(values), column(following), column(rewards), done
    )
    return advantage[:, 0].numpy(), target[:, 0].numpy()


@pytest.mark.parametrize(
    "function", [generalized_advantage_estimate, vec_generalized_advantage_estimate]
)
@pytest.mark.parametrize(("gamma", "lam"), [(1.0, 1.0), (0.99, 0.95), (0.9, 0.1)])
def test_one_episode(function, gamma, lam):
    draw = np.random.default_rng(7)
    for steps in (1, 2, 5, 17):
        rewards, values = draw.normal(size=(2, steps))
        expected, targets = theirs(function, rewards, values, gamma, lam)
        found = gae(rewards, values, gamma, lam)
        np.testing.assert_allclose(found, expected, atol=CLOSE)
        np.testing.assert_allclose(found + values, targets, atol=CLOSE)


@pytest.mark.parametrize(("gamma", "lam"), [(1.0, 0.95), (0.9, 0.5)])
def test_turns_of_an_episode(gamma, lam):
    one = sample([0.25, 0.0, 1.0], lengths=[2, 1, 3])
    values = np.random.default_rng(3).normal(size=len(one.ids))
    credit = ESTIMATORS["gae_turns"](
        [Group("task", (one,))], [values], gamma=gamma, lam=lam, whitened=False
    )
    firsts = [int(np.flatnonzero(one.turn == turn)[0]) for turn in range(3)]
    expected, targets = theirs(
        generalized_advantage_estimate, one.rewards, values[firsts], gamma, lam
    )
    np.testing.assert_allclose(credit.advantages[0][firsts], expected, atol=CLOSE)
    np.testing.assert_allclose(credit.returns[0][firsts], targets, atol=CLOSE)
