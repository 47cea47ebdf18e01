"""R-EMID on distributions whose mutual information is known in closed form."""

import math

import numpy as np
import pytest

from hexathlon.evaluators.roleplay.emid import (
    Exchange,
    effective_information,
    information,
    information_by_part,
    role_play_shift,
)

HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)


def normal_log_density(x, mean, sd):
    return -HALF_LOG_2PI - math.log(sd) - 0.5 * ((x - mean) / sd) ** 2


def correlated(rho, count, seed):
    """Standard normal pairs with correlation rho, and the true conditional."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(count)
    y = rho * x + math.sqrt(1 - rho**2) * rng.standard_normal(count)
    return list(x), list(y), lambda a, b: normal_log_density(b, rho * a, math.sqrt(1 - rho**2))


@pytest.mark.parametrize("rho", [0.0, 0.3, 0.6, 0.8])
def test_plug_in_estimate_on_normal_pairs(rho):
    x, y, score = correlated(rho, 500, 1)
    result = information(score, x, y, estimator="plug_in", negatives=200_000)
    truth = -0.5 * math.log(1 - rho**2)
    assert abs(result.value - truth) < 4 * result.standard_error + 0.02


@pytest.mark.parametrize("rho", [0.0, 0.3, 0.6])
def test_club_matches_its_closed_form_upper_bound(rho):
    # With the true conditional of standard normal pairs CLUB is rho^2 / (1 - rho^2).
    x, y, score = correlated(rho, 1_000, 2)
    result = information(score, x, y, negatives=100_000)
    assert abs(result.value - rho**2 / (1 - rho**2)) < 5 * result.standard_error + 0.01
    assert result.value > -0.5 * math.log(1 - rho**2) - 5 * result.standard_error - 0.01


@pytest.mark.parametrize("flip", [0.05, 0.2, 0.5])
def test_a_binary_symmetric_channel(flip):
    rng = np.random.default_rng(3)
    x = [int(b) for b in rng.integers(2, size=500)]
    y = [int(b ^ (rng.random() < flip)) for b in x]

    def score(a, b):
        return math.log(flip if a != b else 1 - flip)

    entropy = -sum(p * math.log(p) for p in (flip, 1 - flip))
    result = information(score, x, y, estimator="plug_in", negatives=300_000)
    assert abs(result.value - (math.log(2) - entropy)) < 4 * result.standard_error + 0.01
    # CLUB: the mean of log p(y|x) over independent pairs is known as well.
    club = information(score, x, y, negatives=300_000).value
    assert abs(club - (-entropy - 0.5 * (math.log(flip) + math.log(1 - flip)))) < 0.15


def test_a_length_divides_the_estimate():
    x, y, score = correlated(0.6, 300, 4)
    whole = information(score, x, y)
    per_unit = information(score, x, y, length=lambda reply: 4.0)
    assert per_unit.value == pytest.approx(whole.value / 4)
    assert per_unit.standard_error == pytest.approx(whole.standard_error / 4)


def test_the_chain_rule_splits_the_information_by_part():
    # y = u + c + noise, all independent: I(u;y) = log(3/2)/2, I(c;y|u) = log(2)/2.
    rng = np.random.default_rng(5)
    parts = rng.standard_normal((400, 3))
    contexts = [{"user": u, "character": c} for u, c, _ in parts]
    y = [float(row.sum()) for row in parts]

    def score(context, reply):
        sd = math.sqrt(3 - len(context))
        return normal_log_density(reply, sum(context.values()), sd)

    result = information_by_part(
        score, contexts, y, ["user", "character"], estimator="plug_in", negatives=160_000
    )
    assert result["user"] == pytest.approx(0.5 * math.log(1.5), abs=0.1)
    assert result["character"] == pytest.approx(0.5 * math.log(2), abs=0.1)
    whole = information(score, contexts, y, estimator="plug_in", negatives=160_000).value
    assert sum(result.values()) == pytest.approx(whole)


def exchanges(rho, count, seed):
    """References with correlation 0.7, and replies with correlation rho, on one context."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(count)
    noise, other = rng.standard_normal((2, count))
    replies = rho * x + math.sqrt(1 - rho**2) * noise
    references = 0.7 * x + math.sqrt(0.51) * other
    return [Exchange(*row) for row in zip(x, replies, references, strict=True)]


def club_value(rho):
    """CLUB of standard normal pairs correlated by rho, under the scorer below."""
    return 0.7 * rho / 0.51


def score(x, y):
    return normal_log_density(y, 0.7 * x, math.sqrt(0.51))


def test_reference_like_replies_have_zero_emi():
    result = effective_information(score, exchanges(0.7, 1_500, 6), negatives=60_000)
    assert abs(result.value) < 0.2
    assert result.value == result.of_replies.value - result.of_references.value


def test_planted_shift_is_within_the_interval():
    inside, shifted = exchanges(0.7, 400, 7), exchanges(0.2, 400, 8)
    result = role_play_shift(score, inside, shifted, negatives=20_000)
    truth = club_value(0.7) - club_value(0.2)
    assert result.interval[0] < truth < result.interval[1]
    assert result.interval[0] > 0, "a loss as large as this one differs from none"
    assert result.value == result.in_distribution.value - result.shifted.value


def test_coverage_of_the_interval_without_loss():
    covered = 0
    for trial in range(40):
        inside, other = exchanges(0.7, 150, 100 + trial), exchanges(0.7, 150, 200 + trial)
        result = role_play_shift(score, inside, other, negatives=1_500)
        covered += result.interval[0] < 0 < result.interval[1]
    assert covered >= 34


def test_estimates_do_not_depend_on_the_process():
    x, y, score = correlated(0.5, 50, 10)
    assert information(score, x, y, seed=1) == information(score, x, y, seed=1)
    assert information(score, x, y, seed=1, negatives=200) != information(
        score, x, y, seed=2, negatives=200
    )


@pytest.mark.parametrize(("x", "y"), [([1.0], [1.0]), ([1.0, 2.0], [1.0]), ([], [])])
def test_too_few_samples_are_rejected(x, y):
    with pytest.raises(ValueError, match="at least two"):
        information(lambda a, b: 0.0, x, y)
