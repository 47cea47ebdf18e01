"""Bradley-Terry ratings on planted strengths, by closed forms and by brute force."""

import importlib.util
import itertools
import math
from pathlib import Path

import numpy as np
import pytest

from hexathlon.evaluators.statistics.ratings import SCALE, Comparison, bradley_terry

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "rating_coverage.py"


def loaded(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


rating_coverage = loaded(BENCHMARK)

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


def rated(games, **options):
    (group,) = bradley_terry(games, **options)
    return group.ratings


def test_planted_strengths_are_within_the_intervals():
    ratings = rated(played(150, 1))
    assert [rating.player for rating in ratings] == list("abcde")
    for rating in ratings:
        assert rating.low < PLANTED[rating.player] * SCALE < rating.high
        assert rating.low < rating.rating < rating.high
        assert rating.comparisons == 600
    assert sum(rating.rating for rating in ratings) == pytest.approx(0, abs=1e-6)


def firth_of_two(won, lost):
    """Return the strength difference by its closed form: half a win is added to each side."""
    return math.log((won + 0.5) / (lost + 0.5))


@pytest.mark.parametrize(("won", "lost"), [(6, 0), (5, 0), (30, 10), (1, 1), (0.5, 6.5)])
def test_two_players_by_the_closed_form(won, lost):
    games = [Comparison("x", "y", 1.0, f"w{i}") for i in range(int(won))]
    games += [Comparison("x", "y", 0.0, f"l{i}") for i in range(int(lost))]
    games += [Comparison("x", "y", 0.5, "tie")] * (won % 1 == 0.5)
    ratings = {rating.player: rating for rating in rated(games)}
    x, y = ratings["x"], ratings["y"]
    assert x.rating - y.rating == pytest.approx(firth_of_two(won, lost) * SCALE, abs=1e-3)
    assert (x.low, x.high) == pytest.approx((-y.high, -y.low), abs=0.1)

    def value(difference):  # Jeffreys' prior on the chance: half a win and half a loss
        win, loss = -math.log1p(math.exp(-difference)), -math.log1p(math.exp(difference))
        return (won + 0.5) * win + (lost + 0.5) * loss

    top = value(firth_of_two(won, lost))
    for limit in (x.low, x.high):
        assert top - value(2 * limit / SCALE) == pytest.approx(1.96**2 / 2, abs=2e-3)


def test_the_maximum_is_the_jeffreys_mode_on_a_grid():
    """Three players, one of them undefeated: the mode and a profile by brute force."""
    strengths = {"a": 1.0, "b": 0.0, "c": -0.5}
    games = [game for game in played(3, 8, strengths) if "a" not in game]
    games += [Comparison("a", other, 1.0, f"s{i}") for i in range(3) for other in "bc"]
    games = [game._replace(scene=f"{i}") for i, game in enumerate(games)]
    wins = {pair: 0.0 for pair in itertools.permutations("abc", 2)}
    for game in games:
        wins[game.first, game.second] += game.result
        wins[game.second, game.first] += 1 - game.result
    # a = 2u, b = v - u, c = -v - u: u moves the rating of a alone.
    u, v = np.meshgrid(np.linspace(-1, 4, 1001), np.linspace(-3, 3, 601), indexing="ij")
    place = {"a": 2 * u, "b": v - u, "c": -v - u}
    slope = {"a": (2, 0), "b": (-1, 1), "c": (-1, -1)}
    total, information = 0.0, np.zeros((2, 2, *u.shape))
    for (i, j), won in wins.items():
        gap = place[i] - place[j]
        total = total - won * np.logaddexp(0, -gap)
        d = np.subtract(slope[i], slope[j])
        weight = won / (2 + np.exp(gap) + np.exp(-gap))
        information += np.multiply.outer(np.outer(d, d), weight)
    determinant = information[0, 0] * information[1, 1] - information[0, 1] ** 2
    total = total + 0.5 * np.log(determinant)
    profile = total.max(axis=1)
    inside = u[profile >= profile.max() - 1.96**2 / 2, 0]
    (a,) = (rating for rating in rated(games) if rating.player == "a")
    assert a.rating / SCALE == pytest.approx(2 * u[profile.argmax(), 0], abs=0.011)
    assert a.low / SCALE == pytest.approx(2 * inside.min(), abs=0.011)
    assert a.high / SCALE == pytest.approx(2 * inside.max(), abs=0.011)


def test_a_tie_is_half_a_win_and_order_does_not_matter():
    games = [Comparison("x", "y", 0.5, f"{i}") for i in range(20)]
    turned = [Comparison("y", "x", 0.5, f"{i}") for i in range(20)]
    for ratings in (rated(games), rated(turned)):
        assert [round(rating.rating, 6) for rating in ratings] == [0.0, 0.0]
    mixed = played(40, 3, ties=0.3)
    other = [Comparison(c.second, c.first, 1 - c.result, c.scene) for c in reversed(mixed)]
    pairs = zip(rated(mixed), rated(other), strict=True)
    assert all(a.rating == pytest.approx(b.rating, abs=1e-3) for a, b in pairs)


def test_undefeated_player_has_a_rating_and_an_interval():
    games = [Comparison("x", "y", 1.0, f"{i}") for i in range(50)]
    x, y = rated(games)
    assert 500 < x.rating - y.rating < 2_000 and (x.score, y.score) == (1.0, 0.0)
    assert y.high < 0 < x.low < x.rating < x.high < 2_500


def test_undefeated_in_repeats_of_few_scenes_counts_scenes():
    """Twenty repeats that all agree may be one fact told twenty times."""
    scenes = [Comparison("x", "y", 1.0, f"{i}") for i in range(6)]
    (once,), (often,) = bradley_terry(scenes), bradley_terry(scenes * 20)
    assert (once.inflation, often.inflation) == (1.0, 20.0)
    apart = rated([one._replace(scene=f"{i}") for i, one in enumerate(scenes * 20)])
    assert once.ratings[0].low < often.ratings[0].low < 0.5 * apart[0].low
    assert math.isfinite(often.ratings[0].high)


def test_dependence_within_scenes_widens_the_intervals():
    once = played(12, 5)
    copied = [one for one in once for _ in range(10)]
    apart = [one._replace(scene=f"{one.scene}-{i}") for i, one in enumerate(copied)]
    width = [
        {one.player: one.high - one.low for one in rated(games)} for games in (once, copied, apart)
    ]
    # The penalty matters less with ten times as many comparisons.
    assert all(0.7 < width[1][p] / width[0][p] < 1.5 for p in PLANTED)
    assert all(width[2][p] < 0.5 * width[1][p] for p in PLANTED)
    assert bradley_terry(apart)[0].inflation == 1.0


def test_players_without_connecting_comparisons_are_rated_separately():
    games = played(4, 2) + [Comparison("u", "v", float(i > 0), f"t{i}") for i in range(5)]
    whole, pair = bradley_terry(games)
    assert (whole.name, pair.name) == ("a, b, c, d, e", "u, v")
    assert whole == bradley_terry(played(4, 2))[0]
    assert [rating.player for rating in pair.ratings] == ["u", "v"]
    joined = bradley_terry([*games, Comparison("v", "a", 0.0, "t9")])
    assert [len(group.ratings) for group in joined] == [7]


@pytest.mark.parametrize("case", ["rating: 2 players, 5 scenes", "rating: 2 players, 20 scenes",
                                  "score: 5 tasks", "kappa: 10 items, 2 labels"])  # fmt: skip
def test_coverage_of_published_intervals(case):
    """Fixed draws, so the figure is the same everywhere; the long form is the benchmark."""
    (chosen,) = (one for one in rating_coverage.CASES if one.name == case)
    result = rating_coverage.coverage(chosen, 200)
    assert 0.9 <= result.covered <= 0.995
    assert result.below <= 0.1 and result.above <= 0.1


def test_coverage_of_ratings_of_several_players():
    case = rating_coverage.Case("3 players, 5 scenes", rating_coverage.ratings(3, 5))
    assert 0.88 <= rating_coverage.coverage(case, 40).covered <= 0.995


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


def test_confidence_outside_0_to_1_is_rejected():
    with pytest.raises(ValueError, match="between 0 and 1, got 95"):
        bradley_terry(played(2, 0), confidence=95)


def test_higher_confidence_is_a_wider_interval():
    games = played(5, 4)
    for a, b in zip(rated(games, confidence=0.8), rated(games, confidence=0.99), strict=True):
        assert b.low < a.low < a.rating == b.rating < a.high < b.high
