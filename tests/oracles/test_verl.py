"""verl's core functions give the same advantages, losses, averages and weights as ours."""

import pytest

pytest.importorskip("verl", reason="verl is not installed here: make test-oracles")
pytestmark = pytest.mark.oracles

import numpy as np
import torch
from verl.trainer.ppo import core_algos
from verl.trainer.ppo.rollout_corr_helper import compute_rollout_correction_weights
from verl.workers.config.actor import ActorConfig

from hexathlon.baselines.algorithms.aggregation import AGGREGATIONS, count
from hexathlon.baselines.algorithms.catalogue import ESTIMATORS
from hexathlon.baselines.algorithms.corrections import CORRECTIONS
from hexathlon.baselines.algorithms.divergences import DIVERGENCES
from hexathlon.baselines.algorithms.losses import value_loss
from hexathlon.baselines.algorithms.samples import Group
from support.samples import sample
from support.token_batches import ours, same_value_and_gradient, token_batch

SEEDS = range(5)
AVERAGES = {
    "token-mean": ("token_mean", 0),
    "seq-mean-token-mean": ("sequence_mean", 0),
    "seq-mean-token-sum": ("sequence_sum", 0),
    "seq-mean-token-sum-norm": ("constant", 9),
}


def settings(low=0.2, high=0.28, average="token-mean", dual=1e9) -> ActorConfig:
    return ActorConfig(
        strategy="fsdp",
        rollout_n=1,
        ppo_micro_batch_size_per_gpu=1,
        clip_ratio_low=low,
        clip_ratio_high=high,
        clip_ratio_c=dual,
        loss_agg_mode=average,
    )


def rollouts(seed: int):
    """Four groups of one-turn and two-turn rollouts, in our form and in verl's."""
    draw = np.random.default_rng(seed)
    groups = []
    for number in range(4):
        members = []
        for _ in range(int(draw.integers(2, 6))):
            lengths = draw.integers(1, 4, size=2).tolist()
            members.append(sample([0.0, float(draw.integers(0, 3))], lengths=lengths))
        groups.append(Group(f"task {number}", tuple(members)))
    samples = [one for group in groups for one in group.samples]
    width = max(len(one.ids) for one in samples)
    mask, rewards = torch.zeros(2, len(samples), width, dtype=torch.float64)
    for row, one in enumerate(samples):
        mask[row, : len(one.ids)] = torch.from_numpy(one.sampled.astype(float))
        rewards[row, int(np.flatnonzero(one.sampled)[-1])] = one.reward
    index = np.array([group.task for group in groups for _ in group.samples])
    return groups, samples, rewards, mask, index


def check(advantages, samples, theirs, mask) -> None:
    found = torch.zeros_like(theirs)
    for row, array in enumerate(advantages):
        found[row, : len(array)] = torch.from_numpy(array)
    torch.testing.assert_close(found * mask, theirs * mask, rtol=1e-5, atol=1e-6)
    assert float(found.abs().max()) > 0
    assert len(samples) == len(found)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    ("name", "theirs", "more"),
    [
        ("grpo", core_algos.compute_grpo_outcome_advantage, {}),
        ("dr_grpo", core_algos.compute_grpo_outcome_advantage, {"norm_adv_by_std_in_grpo": False}),
        ("rloo", core_algos.compute_rloo_outcome_advantage, {}),
    ],
)
def test_group_advantages(name, theirs, more, seed):
    groups, samples, rewards, mask, index = rollouts(seed)
    expected, _ = theirs(rewards, mask, index, **more)
    check(ESTIMATORS[name](groups).advantages, samples, expected, mask)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("gamma", [1.0, 0.9])
def test_reinforce_pp(seed, gamma):
    groups, samples, rewards, mask, _ = rollouts(seed)
    config = type("Config", (), {"gamma": gamma})()
    expected, _ = core_algos.compute_reinforce_plus_plus_outcome_advantage(
        rewards, mask, config=config
    )
    check(ESTIMATORS["reinforce_pp"](groups, gamma=gamma).advantages, samples, expected, mask)


@pytest.mark.parametrize("seed", SEEDS)
def test_reinforce_pp_with_a_baseline(seed):
    groups, samples, rewards, mask, index = rollouts(seed)
    expected, _ = core_algos.compute_reinforce_plus_plus_baseline_outcome_advantage(
        rewards, mask, index
    )
    found = ESTIMATORS["reinforce_pp"](groups, baseline=True).advantages
    check(found, samples, expected, mask)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("gamma", "lam"), [(1.0, 0.95), (0.9, 0.8)])
def test_generalised_advantages(seed, gamma, lam):
    groups, samples, rewards, mask, _ = rollouts(seed)
    values = torch.randn(
        rewards.shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64
    )
    expected, targets = core_algos.compute_gae_advantage_return(rewards, values, mask, gamma, lam)
    held = [values[row, : len(one.ids)].numpy() for row, one in enumerate(samples)]
    credit = ESTIMATORS["gae"](groups, held, gamma=gamma, lam=lam)
    check(credit.advantages, samples, expected, mask)
    check(credit.returns, samples, targets, mask)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("average", AVERAGES)
@pytest.mark.parametrize("dual", [1e9, 3.0, 1.1])
def test_clipped_and_dual_clipped_loss(seed, average, dual):
    batch = token_batch(seed)
    rule, length = AVERAGES[average]
    theirs, _ = core_algos.compute_policy_loss_vanilla(
        batch.proximal,
        batch.current,
        batch.advantage,
        batch.mask,
        average,
        settings(average=average, dual=dual),
    )
    found = ours(batch, "ppo", (0.8, 1.28), rule, length=length, dual=dual)
    same_value_and_gradient(found, theirs, batch)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("average", AVERAGES)
@pytest.mark.parametrize(
    ("surrogate", "theirs", "bounds", "more"),
    [
        ("gspo", core_algos.compute_policy_loss_gspo, (0.9, 1.1), {"per_token": True}),
        ("cispo", core_algos.compute_policy_loss_cispo, (0.8, 1.28), {}),
    ],
)
def test_other_losses(surrogate, theirs, bounds, more, average, seed):
    batch = token_batch(seed)
    rule, length = AVERAGES[average]
    config = settings(1 - bounds[0], bounds[1] - 1, average)
    expected, _ = theirs(
        batch.proximal, batch.current, batch.advantage, batch.mask, average, config
    )
    found = ours(batch, surrogate, bounds, rule, length=length, **more)
    same_value_and_gradient(found, expected, batch)


@pytest.mark.parametrize("seed", SEEDS)
def test_dppo_drops_the_same_tokens(seed):
    """verl measures from the proximal point and keeps a truncated ratio; so do we, as an option."""
    batch = token_batch(seed)
    config = settings(0.05, 0.08, dual=20.0)
    theirs, _ = core_algos.compute_policy_loss_dppo_tv(
        batch.behaviour, batch.current, batch.advantage, batch.mask, "token-mean", config
    )
    kept = CORRECTIONS["dppo_tv"](batch, low=0.05, high=0.08)
    assert 0 < float((kept * batch.mask).sum()) < float(batch.mask.sum())
    aligned = type(batch)(
        batch.current, batch.behaviour, batch.behaviour, batch.advantage, batch.mask, batch.turn
    )
    found = ours(aligned, "cispo", (0.0, 20.0), "token_mean", kept)
    same_value_and_gradient(found, theirs, batch)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("level", ["token", "sequence"])
@pytest.mark.parametrize(
    ("name", "parameters", "threshold"),
    [("tis", {"cap": 1.3}, 1.3), ("icepop", {"low": 0.5, "high": 1.6}, "0.5_1.6")],
)
def test_corrections(name, parameters, threshold, level, seed):
    batch = token_batch(seed)
    expected, _ = compute_rollout_correction_weights(
        batch.proximal - batch.behaviour, batch.mask, level, threshold
    )
    found = CORRECTIONS[name](batch, level=level, **parameters)
    torch.testing.assert_close(found * batch.mask, expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", ["k1", "k2", "k3"])
def test_divergences(kind, seed):
    batch = token_batch(seed)
    theirs = core_algos.kl_penalty(batch.current, batch.reference, kind) * batch.mask
    found = DIVERGENCES[kind](batch) * batch.mask
    same_value_and_gradient(found.sum(), theirs.sum(), batch)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("average", AVERAGES)
def test_the_critics_loss(average, seed):
    batch = token_batch(seed)
    rule, length = AVERAGES[average]
    old, returns = batch.proximal, batch.behaviour
    theirs, _ = core_algos.compute_value_loss(
        batch.current, returns, old, batch.mask, 0.2, loss_agg_mode=average
    )
    fixed = {"length": length} if length else {}
    scale = AGGREGATIONS[rule](batch.mask, count(batch.mask), **fixed)
    found = (value_loss(batch.current, old, returns, batch.mask, 0.2) * scale).sum()
    same_value_and_gradient(found, theirs, batch)
