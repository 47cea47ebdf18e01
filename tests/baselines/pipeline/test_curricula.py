"""Samplers, allocators, shapings and horizons of curricula: hand-computed values."""

import numpy as np
import pytest

from hexathlon.baselines.algorithms.samples import Group
from hexathlon.baselines.pipeline.allocation import extra_rollouts
from hexathlon.baselines.pipeline.catalogue import ALLOCATORS, HORIZONS, SAMPLERS, SHAPINGS
from hexathlon.baselines.pipeline.curricula import embedded, predicted_success
from hexathlon.baselines.pipeline.shaping import shape
from hexathlon.baselines.pipeline.task_statistics import TaskStatistics
from hexathlon.tasks.seeding import generator_for
from support.samples import group, sample


def statistics(**successes: int) -> TaskStatistics:
    """Tasks with this many successes in ten rollouts."""
    result = TaskStatistics()
    result.observe([group([1.0] * n + [0.0] * (10 - n), task) for task, n in successes.items()])
    return result


@pytest.mark.parametrize(
    ("hardness", "most", "extra"),
    [(False, 32, [24, 11, 3, 1, 0]), (True, 64, [56, 24, 8, 3, 0])],
)
def test_darss_additional_rollouts(hardness, most, extra):
    """After eight rollouts with 0 to 4 successes, as the reference code computes them."""
    assert [extra_rollouts(n / 8, 8, most, hardness=hardness) for n in range(5)] == extra


def test_hard_tasks_get_more_of_a_fixed_budget():
    given = ALLOCATORS["dars"](np.array([0.1, 0.25, 0.5, 0.9]), 64)
    assert given[0] > given[1] > given[2] == given[3]


def test_rollouts_go_where_the_interval_shrinks_most():
    given = ALLOCATORS["uncertainty"](np.array([0.0, 0.5, 0.9]), 30, explore=0.0)
    assert given[0] == 2 and given[1] > given[2] > 2
    # With no difference between tasks, the bonus divides the budget evenly.
    assert ALLOCATORS["uncertainty"](np.array([1.0, 1.0, 1.0]), 30) == [10, 10, 10]


def test_half_solved_tasks_are_expected_to_progress():
    known = statistics(never=0, half=5, always=10)
    names = ["never", "always", "half", "new"]
    chosen = SAMPLERS["solving_progress"](names, known, 4, generator_for("progress"))
    assert [names[place] for place in chosen][:2] == ["half", "new"]
    # An unsolved task advances more often than a solved one falls back.
    assert [names[place] for place in chosen][2:] == ["never", "always"]
    with pytest.raises(ValueError, match="between 0 and 0.5, got learns=0.5"):
        SAMPLERS["solving_progress"](names, known, 1, generator_for("progress"), learns=0.5)


def test_harder_bins_are_drawn_more_often():
    known = statistics(hard=0, harder=0, easy=10, easier=10)
    names, draw = ["hard", "harder", "easy", "easier"], generator_for("bins")

    def share(eta: float) -> float:
        drawn = [SAMPLERS["gdro"](names, known, 1, draw, eta=eta)[0] for _ in range(2000)]
        return float(np.mean(np.array(drawn) < 2))

    failure = 11 / 12, 1 / 12
    expected = 1 / (1 + np.exp(2.0 * (failure[1] - failure[0])))
    assert share(2.0) == pytest.approx(expected, abs=0.04)
    assert share(0.0) == pytest.approx(0.5, abs=0.04)
    with pytest.raises(ValueError, match="got attempts=8 and bins=0"):
        SAMPLERS["gdro"](names, known, 1, draw, bins=0)


def rewards(name: str, one: Group, **parameters: float) -> list[float]:
    (shaped,) = SHAPINGS[name]([one], **parameters)
    return shaped.rewards.tolist()


def test_long_successes_lose_their_reward():
    lengths = (2, 4, 6, 4)  # the mean is 4
    won = (1.0, 1.0, 1.0, 0.0)
    one = Group("task", tuple(sample([r], lengths=[n]) for n, r in zip(lengths, won, strict=True)))
    assert rewards("effort", one, share=1.0) == pytest.approx([1.0, 1.0, 0.5, 0.0])
    assert rewards("effort", one, share=0.5) == pytest.approx([1.0, 0.0, 0.0, 0.0])
    with pytest.raises(ValueError, match="share must be positive, got 0"):
        rewards("effort", one, share=0.0)


def test_lengths_are_compared_with_a_running_mean():
    known = TaskStatistics(decay=0.75)
    for length in (8, 4):
        known.observe([Group("task", (sample([1.0], lengths=[length]),))])
    assert known.lengths == {"task": 7.0}
    one = Group("task", (sample([1.0], lengths=[7]), sample([1.0], lengths=[14])))
    (shaped,) = shape("effort", [one], known, share=1.0, running=True)
    assert shaped.rewards.tolist() == [1.0, 0.0]
    (plain,) = shape("effort", [one], known, share=1.0)
    assert plain.rewards.tolist() == pytest.approx([1.0, 1 - (14 / 10.5 - 1)])


def test_tools_are_rewarded_only_where_they_help():
    without, used = sample([0.0]), sample([0.0, 1.0])
    assert rewards("tool_gain", Group("task", (without, used))) == pytest.approx([0.0, 1.1])
    solved = sample([1.0])
    assert rewards("tool_gain", Group("task", (solved, used))) == pytest.approx([1.0, 1.0])
    assert rewards("tool_gain", Group("task", (used, used))) == pytest.approx([1.0, 1.0])


def test_cost_counts_where_the_shortest_mode_suffices():
    short, long = sample([1.0], lengths=[2]), sample([0.0, 1.0], lengths=[4, 4])
    assert rewards("mode_cost", Group("task", (short, long))) == pytest.approx(
        [1 - 0.3 * 2 / 8, 1 - 0.3]
    )
    failed = sample([0.0], lengths=[2])
    assert rewards("mode_cost", Group("task", (failed, long))) == [0.0, 1.0]


def test_a_growing_horizon():
    turns = [HORIZONS["growing"](step, 10, first=4, every=2) for step in range(7)]
    assert turns == [4, 4, 8, 8, 10, 10, 10]
    assert HORIZONS["fixed"](3, 10) == 10
    with pytest.raises(ValueError, match="got first=0 and every=10"):
        HORIZONS["growing"](0, 10, first=0)


def test_the_price_of_rollouts_divides_the_budget_by_the_square_root_rule():
    success = np.array([0.05, 0.15, 0.5])  # three bins of pass@8: 0.34, 0.73, 1.0
    given = ALLOCATORS["shadow_price"](success, 640, least=1, most=640)
    root = np.sqrt(success * (1 - success))
    assert given == pytest.approx(640 * root / root.sum(), abs=1.0)
    # Where a limit binds, the others still share the rest by their roots.
    capped = ALLOCATORS["shadow_price"](success, 200, least=1, most=80)
    assert capped[2] == 80
    assert capped[:2] == pytest.approx(120 * root[:2] / root[:2].sum(), abs=1.0)
    # Tasks of one bin have the same price and the same noise.
    assert ALLOCATORS["shadow_price"](np.array([0.5, 0.9, 1.0]), 30, least=2) == [10, 10, 10]
    with pytest.raises(ValueError, match="got attempts=0 and bins=5"):
        ALLOCATORS["shadow_price"](success, 30, attempts=0)


def test_difficulty_is_predicted_from_similar_tasks():
    known = statistics(**{"join orders and customers": 5, "count late trains": 0})
    names = ["join customers and addresses", "count early trains", "join orders and goods"]
    vectors = embedded([*names, "Join, ORDERS: and 7 goods!"])
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0)
    assert vectors[2].tolist() == vectors[3].tolist(), "letters decide"
    low, high = known.success(["count late trains", "join orders and customers"])
    predicted = predicted_success(names, known, references=10, sharpness=30.0)
    assert predicted[[0, 2]] == pytest.approx(high, abs=0.02)
    assert predicted[1] == pytest.approx(low, abs=0.02)
    assert predicted_success(names, known, 10, 1e-9) == pytest.approx((low + high) / 2)
    assert predicted_success(names, TaskStatistics(), 10, 1.0).tolist() == [0.5] * 3
    chosen = SAMPLERS["reference"](names, known, 2, generator_for("reference"), temperature=0.01)
    assert set(chosen) == {0, 2}
    with pytest.raises(ValueError, match="positive values, got temperature=0"):
        SAMPLERS["reference"](names, known, 1, generator_for("reference"), temperature=0.0)


def test_environments_at_the_frontier_are_played_at_their_level():
    known = statistics(
        **{
            "s/a/easy/train/0": 10, "s/a/hard/train/0": 4, "s/b/easy/train/0": 0,
            "s/b/hard/train/0": 0, "s/c/easy/train/0": 10,
        }
    )  # fmt: skip
    names = [
        f"s/{template}/{level}/train/{number}"
        for template in "abcd"
        for level in ("easy", "hard")
        for number in (1, 2)
    ]
    draw = generator_for("environments")
    # d is untried, at both levels; a is at its hard level; c's hard level is untried.
    chosen = {names[n] for n in SAMPLERS["environments"](names, known, 6, draw, active=3)}
    assert {name for name in chosen if "/a/" in name} == {"s/a/hard/train/1", "s/a/hard/train/2"}
    assert {name for name in chosen if "/c/" in name} == {"s/c/hard/train/1", "s/c/hard/train/2"}
    assert len({name.split("/")[2] for name in chosen if "/d/" in name}) == 1
    assert not any("/b/" in name for name in chosen), "hopeless environments rotate out"
    more = [names[n] for n in SAMPLERS["environments"](names, known, 8, draw, active=3)]
    assert all("/b/" in name for name in more[6:])
    with pytest.raises(ValueError, match="at least 1, got active=0"):
        SAMPLERS["environments"](names, known, 1, draw, active=0)
