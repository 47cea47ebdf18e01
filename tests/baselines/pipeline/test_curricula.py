"""Samplers, allocators, shapings and horizons of curricula: hand-computed values."""

import numpy as np
import pytest

from hexathlon.baselines.algorithms.samples import Group
from hexathlon.baselines.pipeline.allocation import extra_rollouts
from hexathlon.baselines.pipeline.catalogue import ALLOCATORS, HORIZONS, SAMPLERS, SHAPINGS
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
