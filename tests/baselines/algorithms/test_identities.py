"""Identities on a decision process small enough to enumerate.

Two tokens from an alphabet of three; the second is drawn from a table that depends on the first.
Expectations are sums over all nine sequences, so the tests are deterministic.
"""

import itertools

import pytest
import torch

from hexathlon.baselines.algorithms import group_relative  # noqa: F401
from hexathlon.baselines.algorithms.aggregation import AGGREGATIONS, count
from hexathlon.baselines.algorithms.corrections import CORRECTIONS
from hexathlon.baselines.algorithms.divergences import DIVERGENCES
from hexathlon.baselines.algorithms.estimators import ESTIMATORS
from hexathlon.baselines.algorithms.losses import SURROGATES, TokenBatch
from hexathlon.baselines.algorithms.samples import Group
from support.samples import first, sample

SEQUENCES = list(itertools.product(range(3), repeat=2))
REWARDS = torch.tensor([0.0, 1, 0, 1, 0, 0, 0, 0, 1], dtype=torch.float64)
WIDE = (0.0, 1e9)


def table(seed: int) -> torch.Tensor:
    """Logits: row 0 for the first token, rows 1 to 3 for the second after each first one."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(4, 3, generator=generator, dtype=torch.float64)


def log_probabilities(logits: torch.Tensor) -> torch.Tensor:
    """Log-probabilities of both tokens of every sequence, `[9, 2]`."""
    table_ = logits.log_softmax(-1)
    rows = [torch.stack([table_[0, a], table_[1 + a, b]]) for a, b in SEQUENCES]
    return torch.stack(rows)


def exact_gradient(logits: torch.Tensor) -> torch.Tensor:
    """Exact gradient of the expected reward."""
    free = logits.clone().requires_grad_()
    (log_probabilities(free).sum(-1).exp() * REWARDS).sum().backward()
    assert free.grad is not None
    return free.grad


def batch_of(current, proximal, behaviour, advantage, reference=None) -> TokenBatch:
    mask = torch.ones(len(advantage), 2, dtype=torch.float64)
    turn = torch.tensor([[0, 1]]).expand(len(advantage), 2)
    advantages = advantage[:, None].expand(-1, 2)
    return TokenBatch(current, proximal, behaviour, advantages, mask, turn, reference)


def expected_gradient(surrogate, logits, sampler, advantage=REWARDS, correction="none", **kwargs):
    """Minus the mean gradient of a loss over sequences drawn from `sampler`."""
    free = logits.clone().requires_grad_()
    current, drawn = log_probabilities(free), log_probabilities(sampler).detach()
    batch = batch_of(current, current.detach(), drawn, advantage)
    weight = CORRECTIONS[correction](batch, **kwargs)
    values = (SURROGATES[surrogate](batch, WIDE).values * weight).sum(-1)
    (values * drawn.sum(-1).exp()).sum().backward()
    assert free.grad is not None
    return -free.grad


@pytest.mark.parametrize("surrogate", ["reinforce", "ppo", "cispo"])
def test_on_policy_losses_have_the_exact_gradient(surrogate):
    logits = table(0)
    assert torch.allclose(expected_gradient(surrogate, logits, logits), exact_gradient(logits))


def test_a_constant_baseline_does_not_bias():
    logits = table(1)
    result = expected_gradient("reinforce", logits, logits, REWARDS - 0.37)
    assert torch.allclose(result, exact_gradient(logits))


def test_uncapped_sequence_weights_are_unbiased_and_capped_ones_are_not():
    logits, sampler = table(2), table(3)
    exact = exact_gradient(logits)
    whole = expected_gradient(
        "reinforce", logits, sampler, correction="tis", cap=1e9, level="sequence"
    )
    capped = expected_gradient(
        "reinforce", logits, sampler, correction="tis", cap=1.0, level="sequence"
    )
    assert torch.allclose(whole, exact)
    assert not torch.allclose(capped, exact, atol=1e-3)


@pytest.mark.parametrize(
    ("estimator", "share"), [("rloo", 1.0), ("dr_grpo", 0.5), ("reinforce", 1.0)]
)
def test_estimators_over_all_pairs(estimator, share):
    """Groups of two: leave-one-out is unbiased, the group's own mean shrinks by (n - 1) / n."""
    logits = table(4)
    free = logits.clone().requires_grad_()
    current = log_probabilities(free).sum(-1)
    chance = current.detach().exp()
    total = torch.zeros((), dtype=torch.float64)
    for one, other in itertools.product(range(9), repeat=2):
        rewards = [float(REWARDS[one]), float(REWARDS[other])]
        groups = [Group("t", tuple(sample([reward]) for reward in rewards))]
        a, b = first(ESTIMATORS[estimator](groups).advantages, groups)
        total = total - chance[one] * chance[other] * (a * current[one] + b * current[other]) / 2
    total.backward()
    assert free.grad is not None
    assert torch.allclose(-free.grad, share * exact_gradient(logits))


def divergence(logits: torch.Tensor, other: torch.Tensor, *, forward: bool = False) -> torch.Tensor:
    own, its = log_probabilities(logits).sum(-1), log_probabilities(other).sum(-1)
    return (its.exp() * (its - own)).sum() if forward else (own.exp() * (own - its)).sum()


def gradient_of(function, logits):
    free = logits.clone().requires_grad_()
    function(free).backward()
    assert free.grad is not None
    return free.grad


def divergence_loss(name, sampler, reference):
    """Mean of a sequence-level penalty over the sampler's sequences, as a function of logits."""

    def loss(free):
        whole = log_probabilities(free).sum(-1, keepdim=True)
        drawn = log_probabilities(sampler).sum(-1, keepdim=True).detach()
        other = log_probabilities(reference).sum(-1, keepdim=True).detach()
        ones = torch.ones_like(drawn)
        batch = TokenBatch(whole, whole.detach(), drawn, ones, ones, reference=other)
        return (DIVERGENCES[name](batch)[:, 0] * drawn[:, 0].exp()).sum()

    return loss


@pytest.mark.parametrize(("name", "unbiased"), [("k1", True), ("k3", True), ("k2", False)])
def test_values_of_divergences(name, unbiased):
    logits, reference = table(5), table(6)
    result = divergence_loss(name, logits, reference)(logits)
    assert torch.allclose(result, divergence(logits, reference)) is unbiased


def test_gradients_of_divergences():
    logits, reference = table(7), table(8)
    reverse = gradient_of(lambda free: divergence(free, reference), logits)
    forward = gradient_of(lambda free: divergence(free, reference, forward=True), logits)
    result = {
        name: gradient_of(divergence_loss(name, logits, reference), logits)
        for name in ("k1", "k2", "k3", "r_k3")
    }
    assert torch.allclose(result["k1"], torch.zeros_like(reverse), atol=1e-12)
    assert torch.allclose(result["k2"], reverse)
    assert torch.allclose(result["k3"], forward)
    assert torch.allclose(result["r_k3"], reverse)
    assert not torch.allclose(reverse, forward, atol=1e-3)


def test_step_by_step_ascent_reaches_the_best_sequence():
    """Exact-gradient steps with each estimator raise the expected reward to near its maximum."""
    for estimator in ("rloo", "dr_grpo", "grpo", "mc_grpo", "lite_ppo"):
        logits = table(9)
        for step in range(300):
            free = logits.clone().requires_grad_()
            current = log_probabilities(free)
            generator = torch.Generator().manual_seed(step)
            chance = current.detach().sum(-1).exp()
            drawn = torch.multinomial(chance, 16, replacement=True, generator=generator)
            groups = [Group("t", tuple(sample([float(REWARDS[d])]) for d in drawn))]
            credit = ESTIMATORS[estimator](groups)
            advantage = torch.tensor(first(credit.advantages, groups), dtype=torch.float64)
            weight = torch.tensor(first(credit.weights, groups), dtype=torch.float64)
            batch = batch_of(
                current[drawn], current[drawn].detach(), current[drawn].detach(), advantage
            )
            values = SURROGATES["ppo"](batch, (0.8, 1.2)).values * weight[:, None]
            scale = AGGREGATIONS["sequence_mean"](batch.mask, count(batch.mask))
            (values * scale).sum().backward()
            assert free.grad is not None
            logits = logits - 2.0 * free.grad
        reached = float((log_probabilities(logits).sum(-1).exp() * REWARDS).sum())
        assert reached > 0.95, estimator
