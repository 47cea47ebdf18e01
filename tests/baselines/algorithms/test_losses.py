"""Losses: the golden values of two small sequences, gradients, and the averages."""

import math

import pytest
import torch

from hexathlon.baselines.algorithms.aggregation import AGGREGATIONS, count
from hexathlon.baselines.algorithms.bounds import BOUNDS
from hexathlon.baselines.algorithms.catalogue import SURROGATES
from hexathlon.baselines.algorithms.corrections import CORRECTIONS, interpolated_proximal
from hexathlon.baselines.algorithms.divergences import DIVERGENCES
from hexathlon.baselines.algorithms.losses import TokenBatch, sequence_mean, value_loss

MASK = torch.tensor([[1.0, 1, 0, 0], [1, 1, 1, 0]], dtype=torch.float64)
INF = math.inf


def padded(first, second):
    rows = [[*first, 0, 0], [*second, 0]]
    return torch.tensor(rows, dtype=torch.float64)


def golden(**more) -> TokenBatch:
    parts = {
        "current": padded((-0.5, -1), (-0.2, -2, -0.7)),
        "proximal": padded((-0.7, -0.9), (-0.6, -1.5, -0.7)),
        "behaviour": padded((-0.6, -2), (-0.5, -1.6, -0.6)),
        "advantage": torch.tensor([[1.0], [-1.0]], dtype=torch.float64).expand(2, 4),
        "mask": MASK,
        "turn": torch.tensor([[0, 1, -1, -1], [0, 0, 1, -1]]),
    }
    return TokenBatch(**{**parts, **more})


def averaged(values, rule, **parameters):
    return float((values * AGGREGATIONS[rule](MASK, count(MASK), **parameters)).sum())


@pytest.mark.parametrize(
    ("surrogate", "bounds", "parameters", "rule", "expected"),
    [
        ("ppo", (0.8, 1.2), {}, "token_mean", 0.237397),
        ("ppo", (0.8, 1.2), {}, "sequence_mean", 0.022428),
        ("ppo", (0.8, 1.2), {}, "sequence_sum", 0.593494),
        ("ppo", (0.8, 1.28), {"dual": 3.0}, "token_mean", 0.233117),
        ("gspo", (0.8, 1.28), {}, "sequence_mean", -0.042027),
        ("gspo", (0.8, 1.28), {"per_token": True}, "sequence_mean", -0.042027),
        ("cispo", (0.8, 1.28), {}, "token_mean", -0.208092),
        ("cispo", (0.0, 1.28), {}, "token_mean", -0.130705),
        ("sft", (0, INF), {}, "token_mean", 0.88),
        ("reinforce", (0, INF), {}, "token_mean", (1.5 - 2.9) / 5),
    ],
)
def test_surrogates(surrogate, bounds, parameters, rule, expected):
    values = SURROGATES[surrogate](golden(), bounds, **parameters).values
    assert averaged(values, rule) == pytest.approx(expected, abs=1e-6)


def test_constant_length():
    values = SURROGATES["ppo"](golden(), (0.8, 1.2)).values
    assert averaged(values, "constant", length=4) == pytest.approx(0.148373, abs=1e-6)


@pytest.mark.parametrize(
    ("correction", "parameters", "bounds", "expected"),
    [
        ("tis", {"cap": 2.0}, (0.8, 1.28), 0.044797),
        ("icepop", {"low": 0.5, "high": 2.0}, (0.8, 1.28), 0.406732),
        ("tis", {"cap": INF}, (0.8, 1.2), -0.133051),
    ],
)
def test_corrections(correction, parameters, bounds, expected):
    batch = golden()
    values = SURROGATES["ppo"](batch, bounds).values
    weight = CORRECTIONS[correction](batch, **parameters)
    assert averaged(values * weight, "token_mean") == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("level", "first", "second"),
    [("sequence", 2.718282, 0.904837), ("geometric", 1.648721, 0.967216)],
)
def test_sequence_weights(level, first, second):
    weight = CORRECTIONS["tis"](golden(), cap=INF, level=level)
    assert weight[:, 0].tolist() == pytest.approx([first, second], abs=1e-6)


def test_masks_are_0_or_1_and_follow_their_level():
    batch = golden()
    by_token = CORRECTIONS["mask"](batch, low=0.5, high=2.0, level="token") * MASK
    assert by_token.tolist() == [[1, 0, 0, 0], [1, 1, 1, 0]]
    by_sequence = CORRECTIONS["mask"](batch, low=0.5, high=2.0) * MASK
    assert by_sequence.tolist() == [[0, 0, 0, 0], [1, 1, 1, 0]]
    by_turn = CORRECTIONS["chunk_band"](batch, low=0.5, high=2.0) * MASK
    assert by_turn.tolist() == [[1, 0, 0, 0], [1, 1, 1, 0]]


def test_unknown_level_is_rejected():
    with pytest.raises(ValueError, match="got 'word'"):
        CORRECTIONS["tis"](golden(), level="word")


def test_dppo_masks_large_divergences():
    batch = golden()
    moved = batch.current.exp() - batch.behaviour.exp()
    kept = CORRECTIONS["dppo_tv"](batch, low=0.1, high=0.2)
    assert kept[0, :2].tolist() == [float(moved[0, 0] <= 0.2), float(moved[0, 1] <= 0.2)]
    assert kept[0, :2].tolist() == [1.0, 0.0]
    assert kept[1, :3].tolist() == [float(gap >= -0.1) for gap in moved[1, :3].tolist()]


@pytest.mark.parametrize(("name", "expected"), [("k1", 0.0), ("k2", 0.046), ("k3", 0.048589)])
def test_divergences(name, expected):
    batch = golden(reference=golden().proximal)
    assert averaged(DIVERGENCES[name](batch), "token_mean") == pytest.approx(expected, abs=1e-6)


def test_divergence_requires_a_reference():
    with pytest.raises(ValueError, match="reference"):
        DIVERGENCES["k3"](golden())


@pytest.mark.parametrize(
    ("recipe", "low", "high", "met"), [(True, 0.9, 3.0, False), (False, 0.9, 1.5, True)]
)
def test_bapo_finds_its_bounds(recipe, low, high, met):
    ratio = torch.tensor([0.5, 1.5, 0.5, 1.0], dtype=torch.float64)
    advantage = torch.tensor([1.0, 1, -1, -1], dtype=torch.float64)
    result = BOUNDS["bapo"](ratio, advantage, target=1.2, recipe=recipe)
    assert (result.low, result.high) == pytest.approx((low, high))
    assert result.met is met


def test_bapo_keeps_bounds_that_meet_the_target():
    result = BOUNDS["bapo"](torch.ones(3), torch.tensor([1.0, 1.0, -1.0]))
    assert (result.low, result.high, result.met) == (0.6, 1.2, True)


DETACHED = {"cispo", "ipa", "otr", "topr"}


@pytest.mark.parametrize("name", sorted(set(SURROGATES) - DETACHED))
def test_gradients_without_detach_agree_with_finite_differences(name):
    batch = golden()

    def loss(current):
        made = golden(current=current)
        return (SURROGATES[name](made, (0.8, 1.2)).values).sum()

    current = batch.current.clone().requires_grad_()
    assert torch.autograd.gradcheck(loss, (current,), eps=1e-7, atol=1e-6)


@pytest.mark.parametrize("name", sorted(DETACHED))
def test_weighted_score_functions(name):
    current = golden().current.clone().requires_grad_()
    batch = golden(current=current)
    SURROGATES[name](batch, (0.8, 1.28)).values.sum().backward()
    with torch.no_grad():
        values = SURROGATES[name](batch, (0.8, 1.28)).values
    expected = torch.where(MASK > 0, values / batch.current.detach(), torch.zeros_like(values))
    assert current.grad is not None
    assert torch.allclose(current.grad, expected)


def test_gspo_forms_have_one_gradient_where_the_advantage_is_constant():
    gradients = []
    for per_token in (False, True):
        current = golden().current.clone().requires_grad_()
        batch = golden(current=current)
        SURROGATES["gspo"](batch, (0.8, 1.28), per_token=per_token).values.sum().backward()
        gradients.append(current.grad)
    assert torch.allclose(*gradients)


def test_the_first_step_of_ppo_is_reinforce():
    gradients = []
    for name in ("ppo", "reinforce", "cispo", "gspo"):
        current = golden().proximal.clone().requires_grad_()
        batch = golden(current=current)
        values = SURROGATES[name](batch, (0.8, 1.2)).values
        scale = AGGREGATIONS["sequence_mean"](MASK, count(MASK))
        (values * scale).sum().backward()
        gradients.append(current.grad)
    for gradient in gradients[1:]:
        assert torch.allclose(gradients[0], gradient)


def test_a_broken_sampler_gives_a_large_loss_and_not_infinity():
    batch = golden(proximal=golden().proximal - 1000)
    values = SURROGATES["ppo"](batch, (0.8, 1.2)).values
    assert torch.isfinite(values).all()


@pytest.mark.parametrize("rule", sorted(set(AGGREGATIONS)))
def test_averages_are_independent_of_the_partition(rule):
    values = SURROGATES["ppo"](golden(), (0.8, 1.2)).values
    whole = count(MASK)
    split = [AGGREGATIONS[rule](MASK[row : row + 1], whole) for row in range(2)]
    together = AGGREGATIONS[rule](MASK, whole)
    assert torch.allclose(torch.cat(split), together)
    assert float((values * together).sum()) == pytest.approx(
        sum(float((values[row : row + 1] * split[row]).sum()) for row in range(2))
    )


def test_interpolated_proximal_of_fresh_tokens_is_the_behaviour():
    batch = golden()
    version = torch.tensor([[3, 2, -1, -1], [3, 1, 0, -1]])
    result = interpolated_proximal(batch.current, batch.behaviour, version, 3)
    share = torch.tensor([[0, 1 / 2, 0, 0], [0, 2 / 3, 3 / 4, 0]], dtype=torch.float64)
    expected = batch.behaviour + share * (batch.current - batch.behaviour)
    assert torch.allclose(result, expected)


def test_critic_loss():
    values, old = torch.tensor([[1.0, 2.0]]), torch.tensor([[0.5, 2.0]])
    returns, mask = torch.tensor([[1.0, 0.0]]), torch.tensor([[1.0, 1.0]])
    result = value_loss(values, old, returns, mask, 0.2)
    assert result.tolist() == [pytest.approx([0.5 * 0.3**2, 2.0])]


def test_sequence_means_of_empty_rows_are_0():
    assert sequence_mean(torch.ones(1, 3), torch.zeros(1, 3)).tolist() == [[0.0]]
