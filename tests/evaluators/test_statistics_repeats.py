"""Repeats and missing evidence: hand-computed golden values, definitions by enumeration."""

import itertools

import pytest

from hexathlon.evaluators.statistics import (
    denominators,
    normalised_score,
    outcome_consistency,
    pass_at_k,
    pass_hat_k,
)


def test_pass_at_k_and_pass_hat_k_by_hand():
    # n = 4, c = 2: any of 2 = 1 - 1/6, both of 2 = 1/6
    assert pass_at_k([2], [4], 2) == pytest.approx(5 / 6)
    assert pass_hat_k([2], [4], 2) == pytest.approx(1 / 6)
    assert pass_at_k([2, 0, 4], [4, 4, 4], 2) == pytest.approx((5 / 6 + 0 + 1) / 3)


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_pass_rates_are_shares_of_all_choices(k):
    for successes in range(6):
        outcomes = [True] * successes + [False] * (5 - successes)
        choices = list(itertools.combinations(outcomes, k))
        any_of = sum(any(choice) for choice in choices) / len(choices)
        all_of = sum(all(choice) for choice in choices) / len(choices)
        assert pass_at_k([successes], [5], k) == pytest.approx(any_of)
        assert pass_hat_k([successes], [5], k) == pytest.approx(all_of)


@pytest.mark.parametrize(
    ("successes", "trials", "k", "message"),
    [([1, 1], [4, 2], 3, "found 2"), ([1], [4], 0, "at least 1"), ([5], [4], 1, "5 successes"),
     ([], [], 1, "0 tasks"), ([1, 2], [4], 1, "2 tasks")],
)  # fmt: skip
def test_invalid_pass_rate_arguments_are_rejected(successes, trials, k, message):
    for function in (pass_at_k, pass_hat_k):
        with pytest.raises(ValueError, match=message):
            function(successes, trials, k)


def test_consistency_by_hand():
    assert outcome_consistency([4, 0], [4, 4]) == 1.0
    assert outcome_consistency([2], [4]) == 0.0
    assert outcome_consistency([3, 4], [4, 4]) == pytest.approx((0.25 + 1) / 2)
    with pytest.raises(ValueError, match="found 1"):
        outcome_consistency([1], [1])


def test_three_denominators_by_hand():
    # ten tasks, one trial each: 5 passed, 2 failed, 2 lost to infrastructure, 1 left open
    result = denominators(
        rewards=[1] * 5 + [0] * 5,
        scored=[1] * 7 + [0] * 3,
        unscored=[0] * 9 + [1],
        infra=[0] * 7 + [1, 1, 0],
    )
    assert result.excluded == pytest.approx(5 / 7)
    assert result.infra_as_failure == pytest.approx(5 / 9)
    assert (result.low, result.high) == (pytest.approx(0.5), pytest.approx(0.8))


def test_bounds_contain_the_score_with_exclusions():
    for counts in itertools.product(range(3), repeat=6):
        a, b = counts[:3], counts[3:]
        if sum(a) + sum(b) == 0 or a[0] + b[0] == 0:
            continue
        rewards = [a[0] * 0.5, b[0] * 1.0]
        scored, unscored, infra = zip(a, b, strict=True)
        result = denominators(rewards, scored, unscored, infra)
        assert result.excluded is not None
        assert result.low - 1e-12 <= result.excluded <= result.high + 1e-12


def test_nothing_scored_has_bounds_but_no_score():
    result = denominators([0, 0], [0, 0], [1, 0], [0, 1])
    assert result.excluded is None
    assert (result.infra_as_failure, result.low, result.high) == (0.0, 0.0, 1.0)
    with pytest.raises(ValueError, match="no trial"):
        denominators([0], [0], [0], [0])


def test_normalised_score():
    assert normalised_score(0.6, 0.2, 1.0) == pytest.approx(0.5)
    assert normalised_score(0.1, 0.2, 1.0) == pytest.approx(-0.125)
    assert normalised_score(0.5, 0.5, 0.5) is None
