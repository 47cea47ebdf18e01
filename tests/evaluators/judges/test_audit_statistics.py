"""Statistics of audits: golden values by hand and from the literature, coverage by simulation."""

import math

import numpy as np
import pytest

from hexathlon.evaluators.judges.audit.agreement import (
    alpha,
    alpha_estimate,
    kappa,
    kappa_estimate,
)
from hexathlon.evaluators.judges.audit.biases import (
    flip_rate,
    length_slope,
    place_rate,
    rank_agreement,
    self_preference,
    swap_test,
)
from hexathlon.evaluators.judges.audit.corrected import corrected_rate, powered_mean
from hexathlon.evaluators.judges.audit.estimates import (
    difference_of_means,
    mean_estimate,
    rate_estimate,
    score_estimate,
    slope_estimate,
)
from hexathlon.evaluators.judges.families import family_of, kinship
from hexathlon.evaluators.judges.gap import watch_gap
from hexathlon.evaluators.judges.labels import Decision
from hexathlon.evaluators.judges.process import (
    fapo_reward,
    worst_step,
)

KRIPPENDORFF = [  # Computing Krippendorff's alpha-reliability (2011), four observers, twelve units
    "1 1 . 1", "2 2 3 2", "3 3 3 3", "3 3 3 3", "2 2 2 2", "1 2 3 4", "4 4 4 4", "1 1 2 1",
    "2 2 2 2", ". 5 5 5", ". . 1 1", ". 3 . .",
]  # fmt: skip
UNITS = [[None if c == "." else c for c in row.split()] for row in KRIPPENDORFF]


def test_kappa_by_hand():
    a = ["y"] * 25 + ["n"] * 25
    b = ["y"] * 20 + ["n"] * 5 + ["y"] * 10 + ["n"] * 15
    assert kappa(a, b) == pytest.approx((0.7 - 0.5) / 0.5)
    assert kappa(["y", "n"], ["y", "n"]) == 1.0
    assert kappa(["y", "y"], ["y", "y"]) is None
    assert kappa(["y"] * 9 + ["n"], ["y"] * 10) == pytest.approx(0.0)


@pytest.mark.parametrize("metric, expected", [
    ("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849),
])  # fmt: skip
def test_alpha_of_the_published_example(metric, expected):
    assert alpha(UNITS, list("12345"), metric) == pytest.approx(expected, abs=5e-4)
    result = alpha_estimate(UNITS, list("12345"), metric)
    assert result.value == pytest.approx(expected, abs=5e-4)
    assert result.low < expected < result.high and result.n == 11


def test_alpha_without_variation():
    assert alpha([["1", None], [None, "2"]], ["1", "2"]) is None
    assert alpha([["1", "1"], ["1", "1"]], ["1", "2"]) is None


def test_coverage_of_kappa_intervals():
    draw = np.random.default_rng(7)
    error, share = 0.15, 0.4
    q = share * (1 - error) + (1 - share) * error
    chance = share * q + (1 - share) * (1 - q)
    truth = (1 - error - chance) / (1 - chance)
    covered = 0
    for _ in range(200):
        a = draw.random(250) < share
        b = a ^ (draw.random(250) < error)
        result = kappa_estimate([str(x) for x in a], [str(x) for x in b])
        covered += result.holds(truth)
    assert 182 <= covered <= 200  # 91 % to 100 % at a nominal 95 %


def test_perfect_agreement_is_worth_its_number_of_items():
    few = kappa_estimate(["y", "n"] * 3, ["y", "n"] * 3)
    # Wilson on six of six is 0.61 to 1; half of the labels agree by chance.
    assert few.low == pytest.approx(2 * 6 / (6 + 1.96**2) - 1, abs=1e-3)
    assert (few.value, few.high, few.n) == (1.0, 1.0, 6)
    many = kappa_estimate(["y", "n"] * 50, ["y", "n"] * 50)
    assert 0.9 < many.low < many.high == 1.0
    assert kappa_estimate(["y"], ["n"]).n == 1 and kappa_estimate([], []) is None
    lopsided = kappa_estimate(["y"] * 9 + ["n"], ["y"] * 9 + ["n"])
    assert lopsided.value == 1.0 and lopsided.low < 0.0
    units = [["y", "y"], ["n", "n"]] * 3
    assert 0.2 < alpha_estimate(units, ["y", "n"]).low < 0.4


def test_intervals_of_agreement_by_the_delta_method():
    """The standard error of kappa by Fleiss, Cohen and Everitt (1969), balanced two by two."""
    a = ["y"] * 5_000 + ["n"] * 5_000
    b = ["y"] * 4_000 + ["n"] * 1_000 + ["y"] * 1_000 + ["n"] * 4_000
    result = kappa_estimate(a, b)
    half = 1.96 * 2 * math.sqrt(0.8 * 0.2 / 10_000)
    assert (result.low, result.high) == pytest.approx((0.6 - half, 0.6 + half), abs=5e-4)


def test_rank_agreement_excludes_missing_values():
    groups = [((0.0, 0.5, 1.0), (1, 2, 3)), ((1.0, 0.5, 0.0), (1, 2, 3)), ((None, 0.5), (1, 2))]
    assert rank_agreement(groups).value == 0.0
    assert rank_agreement(groups).n == 2


def test_places_in_groups_by_hand():
    known, order = (3.0, 2.0, 2.0), (2, 0, 1)
    by_place = [(order, (1.0, 0.5, 0.0)), (order[::-1], (1.0, 0.5, 0.0))]
    fair = [(order, (0.2, 1.0, 0.1)), (order[::-1], (0.1, 1.0, 0.2))]
    always = place_rate([(by_place, known)] * 6)
    assert always.value == 1.0 and 0.5 < always.low < 1.0
    assert place_rate([(fair, known)] * 6).value == 0.5
    mixed = place_rate([(by_place, known), (fair, known), (fair, known)])
    assert mixed.value == pytest.approx(2 / 3) and mixed.n == 3
    assert place_rate([([(order, None), (order[::-1], (1.0, 0.5, 0.0))], known)]) is None
    assert place_rate([(by_place, (1.0, 1.0, 1.0))]) is None


def test_swaps_by_hand():
    result = swap_test(
        [("first", "second"), ("first", "first"), ("second", "second"), ("tie", "tie"),
         ("tie", "first"), (None, "first"), ("first", "first")],
        ["first", "first", "second", "first", "second", "first", "second"],
    )  # fmt: skip
    assert result.consistency.value == pytest.approx(2 / 6)
    assert (result.first_rate.value, result.first_rate.n) == (pytest.approx(2 / 3), 3)
    assert result.accuracy.value == pytest.approx(1 / 6)
    assert result.unscored == 1


def test_flips_by_hand():
    result = flip_rate([["m"] * 5, ["m", "m", "m", "n", "n"], ["m", "m", "m", "m", None]])
    assert result.disagreement.value == pytest.approx((0 + 6 / 10 + 4 / 10) / 3)
    assert result.unstable.value == pytest.approx(2 / 3)
    assert result.askings == 15


def test_slopes_by_hand():
    result = slope_estimate([0, 1, 2, 3], [1, 3, 5, 7])
    assert (result.value, result.low, result.high) == pytest.approx((2, 2, 2))
    assert slope_estimate([1, 1, 1], [0, 1, 2]) is None
    lengths, judged = [100, 200, 400, 800], [0.0, 0.1, 0.2, 0.3]
    assert length_slope(lengths, judged, [0.0] * 4).value == pytest.approx(0.1)


def test_confounders_of_length_are_not_length_bias():
    """True replies are longer here; a judge with uniform errors has no slope within strata."""
    lengths = [100, 120, 140, 160, 400, 420, 440, 460]
    truth = [0.0] * 4 + [1.0] * 4
    judged = [0.2] * 4 + [0.8] * 4
    assert length_slope(lengths, judged, truth).value < -0.1
    assert length_slope(lengths, judged, truth, truth).value == pytest.approx(0.0, abs=1e-12)


def test_means_rates_and_differences():
    assert mean_estimate([1.0]) is None and rate_estimate(0, 0) is None
    assert mean_estimate([0.0, 1.0, 0.0, 1.0]).value == 0.5
    result = mean_estimate([0, 0, 1, 1], ["a", "a", "b", "b"])
    assert result.n == 2 and result.low < 0 < 1 < result.high
    assert rate_estimate(0, 100).high == pytest.approx(0.037, abs=1e-3)
    assert score_estimate([]) is None
    assert score_estimate([1.0] * 6).low == pytest.approx(6 / (6 + 1.96**2), abs=1e-3)
    trials = score_estimate([1.0] * 12, ["a", "b", "c", "d", "e", "f"] * 2)
    assert trials == score_estimate([1.0] * 6)
    assert score_estimate([1.0] * 5 + [0.0]).low < trials.low
    worst = score_estimate([-0.5] * 6, lowest=-0.5)
    assert (worst.value, worst.low) == (-0.5, -0.5)
    assert worst.high == pytest.approx(1.0 - 1.5 * trials.low)
    with pytest.raises(ValueError, match="between 0 and 1"):
        score_estimate([1.5])
    gap = difference_of_means([1.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 0.0])
    assert gap.value == 0.5 and gap.low < 0 < gap.high
    assert self_preference([0.5, 0.5], [0.0, 0.0]) == (0.5, 0.5, 0.5, 4, "welch")
    assert self_preference([], [0.1, 0.2]) is None


def test_prediction_powered_means_by_hand():
    result = powered_mean([1, 0, 1, 0], [(1, 1), (0, 1)])
    assert result.value == pytest.approx(0.0)
    half = 1.959964 * math.sqrt((1 / 3) / 4 + 0.5 / 2)
    assert (result.low, result.high) == pytest.approx((-half, half))
    assert powered_mean([1.0], [(1, 1), (0, 0)]) is None


def test_prediction_powered_intervals_cover_for_biased_judges():
    draw = np.random.default_rng(3)
    plain = powered = 0
    for _ in range(300):
        truth = (draw.random(600) < 0.4).astype(float)
        judged = np.maximum(truth, draw.random(600) < 0.25)  # too lenient by 0.15
        rows = list(zip(truth[:120].tolist(), judged[:120].tolist(), strict=True))
        powered += powered_mean(judged[120:].tolist(), rows).holds(0.4)
        plain += mean_estimate(judged[120:].tolist()).holds(0.4)
    assert plain == 0
    assert 273 <= powered <= 297  # 91 % to 99 %


def test_rates_corrected_by_known_errors():
    assert corrected_rate(0.6, 0.9, 0.8) == pytest.approx(0.4 / 0.7)
    assert corrected_rate(0.5, 0.5, 0.5) is None
    assert corrected_rate(0.99, 0.9, 0.9) == 1.0


def test_fapo():
    assert fapo_reward(True, False) == 1.0
    assert fapo_reward(True, True) == 0.0
    assert fapo_reward(True, True, penalty=0.5) == 0.5
    assert fapo_reward(False, None) == fapo_reward(False, True) == -1.0
    assert fapo_reward(True, None) is None


def test_flawed_rollouts_are_rewarded_while_most_are_wrong():
    """FAPO: the same flawed rollout has a positive advantage early and a negative one late."""
    early = [fapo_reward(True, True), *[fapo_reward(False, None)] * 3]
    late = [fapo_reward(True, True), *[fapo_reward(True, False)] * 3]
    assert early[0] > sum(early) / 4 and late[0] < sum(late) / 4


def steps(*values):
    return [
        Decision("s", None if v is None else str(v), v, why="malformed" if v is None else "")
        for v in values
    ]


def test_the_worst_step_decides():
    assert worst_step(steps(1.0, 0.5, 0.25, 0.25)).label == "0.25"
    assert worst_step(steps(0.0, 0.5), pitfall=True).value == 0.5
    assert worst_step(steps(None, 0.0)).value == 0.0
    assert worst_step(steps(1.0, None)).why == "malformed"
    assert worst_step(steps(0.5, None)).value is None
    with pytest.raises(ValueError, match="at least one step"):
        worst_step([])


def test_gaps():
    trained = [0.3, 0.4, 0.5, 0.6, 0.7, 0.8]
    assert watch_gap(trained, [0.3, 0.38, 0.42, 0.47, 0.49, 0.52]).alarm
    assert not watch_gap(trained, [0.29, 0.4, 0.49, 0.61, 0.69, 0.8]).alarm
    falling = watch_gap(trained[::-1], [0.75, 0.62, 0.5, 0.38, 0.25, 0.12])
    assert falling.low > 0 and not falling.alarm
    with pytest.raises(ValueError, match="at least 4"):
        watch_gap([0.1, 0.2], [0.1, 0.2])


def test_families():
    assert family_of("Qwen/Qwen3-8B") == ("qwen",)
    assert family_of("deepseek-r1-distill-qwen-7b") == ("deepseek", "qwen")
    assert family_of("my-model") == () and family_of("saphi-1") == ()
    assert kinship(("qwen",), ("deepseek", "qwen")) == "same"
    assert kinship(("qwen",), ("meta",)) == "different"
    assert kinship(("qwen",), ()) == "unknown"
