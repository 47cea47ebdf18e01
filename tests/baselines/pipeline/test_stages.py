"""Pipeline stages on small cases: samplers, allocators, replay, hints and trees."""

import numpy as np
import pytest

from hexathlon.baselines.algorithms.catalogue import ESTIMATORS
from hexathlon.baselines.algorithms.registry import UnknownPart
from hexathlon.baselines.algorithms.samples import Group
from hexathlon.baselines.pipeline.catalogue import ALLOCATORS, HINTS, REPLAYS, SAMPLERS, STRUCTURES
from hexathlon.baselines.pipeline.hints import fitted_share
from hexathlon.baselines.pipeline.replay import Memory
from hexathlon.baselines.pipeline.structures import leaves
from hexathlon.baselines.pipeline.task_statistics import TaskStatistics
from hexathlon.tasks.seeding import generator_for
from support.samples import group, sample

TASKS = [f"task {number}" for number in range(10)]


def known(**more) -> TaskStatistics:
    """Task n succeeds n times in ten."""
    result = TaskStatistics(**more)
    groups = [group([1.0] * n + [0.0] * (10 - n), task) for n, task in enumerate(TASKS)]
    result.observe(groups)
    return result


@pytest.mark.parametrize("name", list(SAMPLERS))
def test_samplers_are_distinct_and_reproducible(name):
    first, again = (
        SAMPLERS[name](TASKS, known(), 6, generator_for("sampler", 1)) for _ in range(2)
    )
    assert first == again
    assert len(set(first)) == 6
    other = SAMPLERS[name](TASKS, known(), 6, generator_for("sampler", 2))
    assert (other == first) == (name in ("first", "solving_progress"))  # the latter draws ties only


@pytest.mark.parametrize("name", ["frontier", "thompson"])
def test_samplers_prefer_tasks_solved_half_of_the_time(name):
    draw = generator_for("preference")
    drawn = [place for _ in range(300) for place in SAMPLERS[name](TASKS, known(), 2, draw)]
    counts = np.bincount(drawn, minlength=len(TASKS))
    assert counts[4:7].sum() > 1.7 * counts[[0, 1, 9]].sum()


def test_too_few_candidates_are_an_error():
    with pytest.raises(ValueError, match="11 tasks requested from 10 candidates"):
        SAMPLERS["uniform"](TASKS, TaskStatistics(), 11, generator_for("few"))


def test_older_counts_of_a_task_are_discounted():
    result = known(decay=0.5)
    before = result.success(TASKS)
    assert before.tolist() == pytest.approx([(n + 1) / 12 for n in range(10)])
    result.observe([group([1.0] * 10, "task 0")])
    assert result.success(["task 0"])[0] == pytest.approx(11 / (2 + 5 + 10))
    assert result.success(["never tried"])[0] == 0.5


def test_counts_of_idle_tasks_fade():
    result = TaskStatistics()
    result.observe([group([1.0] * 4 + [0.0] * 2, "idle")])
    for _ in range(2):
        result.observe([group([1.0, 0.0], "busy")])
    assert result.posterior(["idle", "new"], idle=0.5).tolist() == [[2.0, 1.5], [1.0, 1.0]]
    assert result.posterior(["idle"]).tolist() == [[5.0, 3.0]]
    assert result.posterior(["busy"], idle=0.5).tolist() == result.posterior(["busy"]).tolist()
    names, draw = ["idle", "busy"], generator_for("idle")
    result.observe([group([1.0] * 50, "idle")])
    result.observe([group([1.0] * 40 + [0.0] * 10, "busy")])

    def chosen(idle: float) -> float:
        drawn = [SAMPLERS["thompson"](names, result, 1, draw, idle=idle)[0] for _ in range(200)]
        return drawn.count(0) / 200

    assert chosen(1.0) < 0.1, "it was always solved"
    assert chosen(0.01) > 0.3, "a neglected task is uncertain again"
    with pytest.raises(ValueError, match="at most 1, got 0"):
        SAMPLERS["thompson"](names, result, 1, draw, idle=0)


@pytest.mark.parametrize("name", list(ALLOCATORS))
def test_allocators_spend_the_budget(name):
    success = np.array([0.0, 0.02, 0.1, 0.5, 0.9, 1.0])
    for budget in (12, 48, 97, 200):
        given = ALLOCATORS[name](success, budget, least=2, most=40)
        assert sum(given) == budget
        assert min(given) >= 2
        assert max(given) <= 40


def test_allocator_prefers_tasks_with_reward_variance():
    given = ALLOCATORS["variance"](np.array([0.0, 0.5, 0.9, 1.0]), 64, least=2, most=64)
    assert given == [2, 38, 22, 2]
    spread = np.array([0.5, 0.3])  # n by the deviation: no other split has a smaller variance
    best = min(range(1, 64), key=lambda n: spread[0] ** 2 / n + spread[1] ** 2 / (64 - n))
    assert abs(ALLOCATORS["variance"](np.array([0.5, 0.9]), 64, least=1)[0] - best) <= 1


def test_a_budget_out_of_range_is_an_error():
    with pytest.raises(ValueError, match="3 rollouts is out of range for 2 tasks with 2 to 64"):
        ALLOCATORS["variance"](np.array([0.5, 0.5]), 3)


def test_old_groups_join_fresh_ones():
    memory = Memory(groups=4)
    memory.keep([group([0.0, 1.0], f"old {n}") for n in range(6)])
    memory.keep([group([1.0, 1.0], "flat")])
    fresh = [group([0.0, 1.0], f"new {n}") for n in range(3)]
    mixed = REPLAYS["recent"](fresh, memory, generator_for("replay"), share=0.5)
    assert [one.task for one in mixed[:3]] == ["new 0", "new 1", "new 2"]
    assert {one.task for one in mixed[3:]} <= {"old 2", "old 3", "old 4", "old 5"}
    assert len(mixed) == 6
    assert REPLAYS["none"](fresh, memory, generator_for("replay")) == fresh


def test_a_stored_success_rescues_a_failed_group():
    memory = Memory()
    memory.keep([group([0.0, 1.0], "hard")])
    groups = [group([0.0, 0.0, 0.0], "hard"), group([0.0, 0.0], "unknown"), group([0.0, 1.0])]
    made = REPLAYS["rescue"](groups, memory, generator_for("rescue"))
    assert sorted(made[0].rewards) == [0.0, 0.0, 1.0]
    assert memory.successes["hard"] in made[0].samples
    assert made[1:] == groups[1:]
    # Its tokens carry the log-probabilities of their sampling.
    assert ESTIMATORS["grpo"](made).advantages[0].any()


def test_memory_evicts_the_oldest_success():
    memory = Memory(tasks=2)
    memory.keep([group([1.0], "a"), group([1.0], "b"), group([1.0], "a"), group([1.0], "c")])
    assert list(memory.successes) == ["a", "c"]


def test_hints_by_difficulty():
    assert [HINTS["fading"](p, 10) for p in (0.0, 0.5, 1.0)] == [8, 5, 0]
    # The prior alone is 0.5, eight failures make it 0.1.
    assert [HINTS["rescue"](p, 10) for p in (0.1, 0.2, 0.5)] == [5, 5, 0]
    assert [HINTS["rescue"](p, 10, below=0) for p in (0.0, 0.1)] == [5, 0]
    assert HINTS["none"](0.0, 10) == 0


def test_hint_lengths_follow_an_item_response_model():
    rounds = [(share, 1 / (1 + np.exp(-8 * (share - 0.6)))) for share in (0.2, 0.5, 0.8)]
    counts = [(share, 100 * rate, 100 * (1 - rate)) for share, rate in rounds]
    assert fitted_share(counts, 0.5) == pytest.approx(0.6)
    assert fitted_share(counts, 0.8) == pytest.approx(0.6 + np.log(4) / 8)
    assert HINTS["item_response"](0.1, 20, counts) == 12
    assert [HINTS["item_response"](p, 10) for p in (0.0, 0.4, 1.0)] == [9, 6, 0], "no rounds yet"
    # Hints that always or never suffice move the length down or up.
    assert HINTS["item_response"](0.1, 10, [(0.6, 8, 0)]) < 6
    assert HINTS["item_response"](0.1, 10, [(0.6, 0, 8)]) > 6
    with pytest.raises(ValueError, match="target must be between 0 and 1, got 1.0"):
        HINTS["item_response"](0.1, 10, target=1.0)


def test_rounds_with_hints_are_counted_apart():
    result = TaskStatistics(most=1)
    for share in (0.1, 0.2):
        result.observe_hinted(group([1.0, 0.0, 0.0], "a"), share)
    assert result.hinted == {"a": [(0.1, 1, 2), (0.2, 1, 2)]} and not result.counts
    result.observe_hinted(group([1.0], "b"), 0.5)
    assert list(result.hinted) == ["b"]


def tree() -> Group:
    """Two rollouts that share their first turn; a third is separate."""
    paths = [("a", "b"), ("a", "c"), ("d", "e")]
    samples = [sample([0.0, r], branches=p) for p, r in zip(paths, (1.0, 0.0, 0.0), strict=True)]
    return Group("task", tuple(samples))


def by_turn(arrays, one: Group) -> list[list[float]]:
    return [
        [float(a[s.turn == turn][0]) for turn in range(len(s.rewards))]
        for a, s in zip(arrays, one.samples, strict=True)
    ]


def test_steps_of_a_tree():
    credit = ESTIMATORS["tree_steps"]([tree()])
    third = 1 / 3
    wanted = [[0.5 - third, 0.5], [0.5 - third, -0.5], [-third, 0.0]]
    for result, expected in zip(by_turn(credit.advantages, tree()), wanted, strict=True):
        assert result == pytest.approx(expected)
    assert by_turn(credit.weights, tree()) == [[0.5, 1.0], [0.5, 1.0], [1.0, 1.0]]


def test_subtrees_weigh_by_their_size():
    credit = ESTIMATORS["tree_groups"]([tree()], whitened=False)
    result = [turns[0] for turns in by_turn(credit.advantages, tree())]
    third = 1 / 3
    first = (3 * (1 - third) + 2 * 0.5) / 5
    second = (3 * -third + 2 * -0.5) / 5
    assert result == pytest.approx([first, second, -third])


def test_the_sum_of_a_trees_steps_is_its_leafs_gain():
    for sample_turns, one in zip(
        by_turn(ESTIMATORS["tree_steps"]([tree()]).advantages, tree()), tree().samples, strict=True
    ):
        assert sum(sample_turns) == pytest.approx(one.reward - tree().rewards.mean())


@pytest.mark.parametrize("name", ["tree_steps", "tree_groups"])
def test_rollouts_without_nodes_are_rejected(name):
    with pytest.raises(ValueError, match="expected a node of the tree for each of the"):
        ESTIMATORS[name]([group([0.0, 1.0])])


def test_turns_at_which_a_structure_forks():
    assert STRUCTURES["independent"]() == ()
    splits = STRUCTURES["forked"](after=[3, 1], width=3)
    assert splits == ((1, 3), (3, 3))
    assert leaves(splits) == 9
    assert leaves(()) == 1
    with pytest.raises(ValueError, match=r"expected turns of at least 1 .*, got after=\[0\]"):
        STRUCTURES["forked"](after=[0])


@pytest.mark.parametrize("registry", [ALLOCATORS, HINTS, REPLAYS, SAMPLERS, STRUCTURES])
def test_unknown_names_are_errors(registry):
    with pytest.raises(UnknownPart, match="there are"):
        registry["nothing"]


def test_least_recent_task_is_evicted_first():
    result = TaskStatistics(most=2)
    for task in ("a", "b", "a", "c"):
        result.observe([group([1.0, 0.0], task)])
    assert list(result.counts) == ["a", "c"]
    assert result.success(["b"]).tolist() == [0.5]


@pytest.mark.parametrize(
    ("name", "given"),
    [("fading", {"most": 1}), ("rescue", {"share": 0, "below": 0.5})],
)
def test_integers_are_accepted_as_floats(name, given):
    assert HINTS.resolve(name, given).items() >= given.items()
    assert STRUCTURES.resolve("forked", {"after": [1, 2]})["after"] == [1, 2]


@pytest.mark.parametrize(
    ("registry", "name", "given"),
    [
        (HINTS, "fading", {"most": True}),
        (ALLOCATORS, "variance", {"least": 1.5}),
        (STRUCTURES, "forked", {"after": [1, "2"]}),
        (STRUCTURES, "forked", {"after": 2}),
        (ESTIMATORS, "gigpo", {"scale": 1}),
    ],
)
def test_values_of_another_type_are_errors(registry, name, given):
    with pytest.raises(ValueError, match=f"{next(iter(given))} of the .*; expected a value like"):
        registry.resolve(name, given)


def test_rollouts_that_were_rarely_kept_count_for_those_that_were_stopped():
    """Stopping half of the failures at random does not make a task look easier."""
    kept = [sample([1.0], lengths=[4]), sample([0.0], lengths=[10], survival=0.5)]
    result = TaskStatistics(prior=(0.0, 0.0))
    result.observe([Group("task", tuple(kept))])
    assert result.counts["task"] == (1.0, 2.0)
    assert result.lengths["task"] == pytest.approx(8.0)
