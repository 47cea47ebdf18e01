"""Bradley-Terry ratings on planted strengths."""

import itertools
import math

import numpy as np
import pytest

from hexathlon.evaluators.statistics.ratings import SCALE, Comparison, bradley_terry

PLANTED = {"a": 1.2, "b": 0.5, "c": 0.0, "d": -0.6, "e": -1.1}


def played(scenes, seed, strengths=PLANTED, ties=0.0):
    rng = np.random.default_rng(seed)
    found = []
    for scene in range(scenes):
        for first, second in itertools.combinations(strengths, 2):
            better = 1 / (1 + math.exp(strengths[second] - strengths[first]))
            result = 0.5 if rng.random() < ties else float(rng.random() < better)
            found.append(Comparison(first, second, result, f"s{scene}"))
    return found


@pytest.mark.parametrize("method", ["bootstrap", "hessian"])
def test_planted_strengths_are_within_the_intervals(method):
    ratings = bradley_terry(played(150, 1), method=method)
    assert [rating.player for rating in ratings] == list("abcde")
    for rating in ratings:
        assert rating.low < PLANTED[rating.player] * SCALE < rating.high
        assert rating.low < rating.rating < rating.high
        assert rating.comparisons == 600
    assert sum(rating.rating for rating in ratings) == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("method", ["bootstrap", "hessian"])
def test_coverage_of_the_intervals(method):
    covered = total = 0
    for seed in range(25):
        for one in bradley_terry(played(30, seed), method=method, resamples=80):
            covered += one.low <= PLANTED[one.player] * SCALE <= one.high
            total += 1
    assert 0.86 <= covered / total <= 1.0


def test_the_two_player_rating_is_the_log_odds():
    games = [Comparison("x", "y", 1.0, f"{i}") for i in range(30)]
    games += [Comparison("x", "y", 0.0, f"{i}") for i in range(10)]
    x, y = bradley_terry(games, prior=1e-9, method="hessian")
    assert x.rating - y.rating == pytest.approx(400 * math.log10(3), abs=1e-3)
    assert (x.score, y.score) == (0.75, 0.25)


def test_a_tie_is_half_a_win_and_order_does_not_matter():
    games = [Comparison("x", "y", 0.5, f"{i}") for i in range(20)]
    turned = [Comparison("y", "x", 0.5, f"{i}") for i in range(20)]
    for ratings in (bradley_terry(games), bradley_terry(turned)):
        assert [round(rating.rating, 9) for rating in ratings] == [0.0, 0.0]
    mixed = played(40, 3, ties=0.3)
    other = [Comparison(c.second, c.first, 1 - c.result, c.scene) for c in reversed(mixed)]
    pairs = zip(bradley_terry(mixed), bradley_terry(other), strict=True)
    assert all(a.rating == pytest.approx(b.rating) for a, b in pairs)


def test_undefeated_player_has_a_finite_rating():
    games = [Comparison("x", "y", 1.0, f"{i}") for i in range(50)]
    x, y = bradley_terry(games)
    assert 500 < x.rating - y.rating < 2_000 and math.isfinite(x.high)


def test_dependence_within_scenes_widens_the_bootstrap():
    once = played(12, 5)
    copied = [one for one in once for _ in range(10)]
    wide = {one.player: one.high - one.low for one in bradley_terry(once)}
    again = {one.player: one.high - one.low for one in bradley_terry(copied)}
    narrow = {one.player: one.high - one.low for one in bradley_terry(copied, method="hessian")}
    # The prior weighs less beside ten times as many comparisons; nothing else may change.
    assert all(0.8 < again[p] / wide[p] < 1.4 for p in wide)
    assert all(narrow[p] < 0.6 * again[p] for p in wide)


@pytest.mark.parametrize(
    ("games", "message"),
    [
        ([], "at least one comparison"),
        ([Comparison("x", "x", 1.0, "s")], "two players"),
        ([Comparison("x", "y", 1.5, "s")], "from 0 to 1"),
        ([Comparison("x", "y", math.nan, "s")], "from 0 to 1"),
    ],
)
def test_invalid_comparisons_are_rejected(games, message):
    with pytest.raises(ValueError, match=message):
        bradley_terry(games)


def test_unknown_method_is_rejected():
    with pytest.raises(ValueError, match="bootstrap"):
        bradley_terry(played(2, 0), method="guess")
