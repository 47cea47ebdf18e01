"""Trees on a small decision process: expectations over all outcomes, budgets, choices, votes."""

import asyncio
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from hexathlon.baselines.algorithms.catalogue import ESTIMATORS
from hexathlon.baselines.pipeline.catalogue import STRUCTURES
from hexathlon.baselines.pipeline.collect import MOST_DRAWN, Collected, Collector
from hexathlon.baselines.pipeline.growth import Branch, Leaf, RolloutTree, TreeGrowth
from hexathlon.baselines.pipeline.structures import ForkPoint
from hexathlon.baselines.pipeline.token_branching import distance, token_places
from hexathlon.baselines.pipeline.voting import confidence, elected, majority
from hexathlon.baselines.rollout.executor import Request
from hexathlon.baselines.tokens.tree import TokenTree
from hexathlon.tasks.seeding import generator_for
from support.enumerating import (
    HISTORIES,
    ONE,
    TURNS,
    EnumeratedExecutor,
    collected,
    gradient,
    outcomes,
    plan,
    value,
)
from support.samples import group

GROWING = [name for name in STRUCTURES if isinstance(STRUCTURES[name](), TreeGrowth)]
PLAIN = [name for name in GROWING if name not in ("cleaner", "scope", "intervention")]
TURNWISE = [name for name in PLAIN if name not in ("latr", "ettrl", "echo_ttrl")]
"""Structures that branch at turns only; the others need a policy that keeps its tokens."""

UNBIASED: dict[str, dict[str, Any]] = {
    "random_branches": {"growth": STRUCTURES["random_branches"](chains=0.3)},
    "treepo": {"growth": STRUCTURES["treepo"]()},
    "vines": {"growth": STRUCTURES["vines"]()},
    "forked": {"splits": (ForkPoint(1, 3),)},
    "independent": {},
}


def mean_gradient(played: Collected, estimator: str) -> dict[tuple[int, ...], float]:
    """The policy gradient of a group by the logit after each history, per rollout."""
    credit = ESTIMATORS[estimator](played.groups)
    result = dict.fromkeys(HISTORIES, 0.0)
    samples = played.groups[0].samples
    for sample, advantage, weight in zip(samples, credit.advantages, credit.weights, strict=True):
        bits = tuple(int(bit) for bit in sample.ids[1:])
        for turn, bit in enumerate(bits):
            history = bits[:turn]
            step = advantage[turn + 1] * weight[turn + 1] * (bit - ONE[history])
            result[history] += float(step) / len(samples)
    return result


@pytest.mark.parametrize("name", UNBIASED)
def test_a_trees_mean_reward_and_gradient_are_unbiased(name: str) -> None:
    possible = outcomes(2 if name == "independent" else 3, **UNBIASED[name])
    assert sum(one.probability for one in possible) == pytest.approx(1.0)
    mean = sum(one.probability * one.collected.groups[0].rewards.mean() for one in possible)
    assert mean == pytest.approx(value(()))
    expected = dict.fromkeys(HISTORIES, 0.0)
    for one in possible:
        for history, slope in mean_gradient(one.collected, "reinforce").items():
            expected[history] += one.probability * slope
    assert expected == pytest.approx({history: gradient(history) for history in HISTORIES})


def test_choices_by_reward_bias_a_trees_mean() -> None:
    """TRACE looks at rewards, so its rollouts are not a sample of the policy's."""
    possible = outcomes(3, growth=STRUCTURES["trace"](chains=0.3, prior=0.5))
    mean = sum(one.probability * one.collected.groups[0].rewards.mean() for one in possible)
    assert abs(mean - value(())) > 1e-3


def test_expected_steps_of_a_full_tree() -> None:
    """With k ways at every fork, `tree_steps` has (k - 1) / k of the gradient of forked turns."""
    possible = outcomes(4, splits=(ForkPoint(1, 2), ForkPoint(2, 2)))
    expected = dict.fromkeys(HISTORIES, 0.0)
    for one in possible:
        for history, slope in mean_gradient(one.collected, "tree_steps").items():
            expected[history] += one.probability * slope
    # Turn t has 1, 2 or 4 nodes; the sum over nodes is divided by the 4 rollouts.
    nodes = {0: 0.0, 1: 2 / 4, 2: 4 / 4}
    for history in HISTORIES:
        assert expected[history] == pytest.approx(
            gradient(history) * nodes[len(history)] / 2, abs=1e-12
        )


def policy(seed: int = 0) -> Any:
    draw = generator_for("policy", seed)
    return lambda history: int(draw.random() < ONE[history])


@pytest.mark.parametrize("name", TURNWISE)
@pytest.mark.parametrize("members", [1, 6])
def test_the_budget_of_rollouts_is_kept(name: str, members: int) -> None:
    for seed in range(5):
        executor = EnumeratedExecutor(policy(seed))
        played = collected(executor, members, growth=STRUCTURES[name]())
        trials = [record["key"]["trial"] for record in played.records]
        assert len(trials) == len(set(trials)) == members
        assert len(played.groups[0].samples) == members
        assert executor.drawn <= MOST_DRAWN * members * TURNS + TURNS * members
        again = collected(EnumeratedExecutor(policy(seed)), members, growth=STRUCTURES[name]())
        assert again.records == played.records


@pytest.mark.parametrize("name", ["random_branches", "treepo", "vines", "trace", "reex"])
def test_a_tree_draws_less_than_its_rollouts_would_alone(name: str) -> None:
    executor = EnumeratedExecutor(policy())
    played = collected(executor, 8, growth=STRUCTURES[name]())
    nodes = {branch for sample in played.groups[0].samples for branch in sample.branches}
    assert executor.drawn == len(nodes) < 8 * TURNS


def test_a_failed_rollout_is_absent_and_has_no_branches() -> None:
    executor = EnumeratedExecutor(policy(), failing=0)
    played = collected(executor, 6, growth=STRUCTURES["random_branches"](chains=0.5))
    assert played.faults == 1
    assert len(played.records) == 6
    samples = played.groups[0].samples
    assert len(samples) == 5
    assert not any(node.startswith("0.") for sample in samples for node in sample.branches)
    lost = EnumeratedExecutor(policy(), failing=0)
    alone = collected(lost, 3, growth=STRUCTURES["treepo"]())
    assert len(alone.groups[0].samples) == 2


@pytest.mark.parametrize("name", ["tree_ps", "latr", "echo_ttrl"])
def test_a_branch_that_fails_at_once_is_a_failed_rollout(name: str) -> None:
    """It was not pruned: structures that look ahead are not asked about a turn it does not have."""
    tree, growth = grown((1, 0, 0)), STRUCTURES[name]()
    executor = EnumeratedExecutor((), failing=1, at_once=True)
    chosen = [(0, Branch(0, 1))]
    asyncio.run(Collector(executor, growth=growth)._branches(chosen, [tree], [REQUEST], growth))
    assert [leaf.scored for leaf in tree.leaves] == [True, False]
    assert tree.kept == [0] and tree.room == 14


def test_a_rollout_that_ends_before_its_turn_repeats_no_action() -> None:
    keep, tree = STRUCTURES["tree_ps"]().keep, grown((1, 0, 0))
    request = tree.request(Branch(0, 1), REQUEST)
    (failed,) = run(EnumeratedExecutor((), failing=1, at_once=True), request)
    short = replace(failed, record={**failed.record, "status": "scored", "reward": 0.0})
    assert len(short.record["steps"]) == 1
    assert keep(tree, Branch(0, 1), short)
    tree.add(Leaf(short, Branch(0, 1)))
    assert not keep(tree, Branch(0, 1), short)


def grown(*scripts: tuple[int, ...]) -> RolloutTree:
    """A tree of chains with these choices."""
    tree = RolloutTree(16)
    request = Request(("enumerated", plan(1).task, 0, 0))
    for script in scripts:
        (outcome,) = run(EnumeratedExecutor(script), tree.request(Branch(), request))
        tree.add(Leaf(outcome))
    return tree


def run(executor: EnumeratedExecutor, request: Request) -> Any:
    return asyncio.run(executor.run([request]))


def branched(tree: RolloutTree, branch: Branch, *bits: int) -> None:
    request = tree.request(branch, Request(("enumerated", plan(1).task, 0, 0)))
    (outcome,) = run(EnumeratedExecutor(bits), request)
    tree.add(Leaf(outcome, branch))


def test_states_and_the_rollouts_through_them() -> None:
    tree = grown((1, 0, 0), (0, 0, 0))
    branched(tree, Branch(0, 1), 1, 1)  # 1 1 1
    branched(tree, Branch(2, 2), 0)  # 1 1 0
    assert [state[:2] for state in tree.states()] == [(0, 1), (0, 2), (1, 1), (1, 2), (2, 2)]
    assert tree.below(Branch(0, 1)) == [1.0, 1.0, 0.0]
    assert tree.below(Branch(2, 2)) == [1.0, 0.0]
    assert tree.below(Branch(1, 2)) == [0.0]
    assert [tree.children(Branch(*at)) for at in ((0, 1), (0, 2), (2, 2))] == [2, 1, 2]
    assert tree.point(3, 1) is tree.point(0, 1) is not None
    assert tree.point(0, TURNS) is None
    assert tree.point(3, TURNS - 1) is tree.point(2, 2)  # which it left there
    assert tree.point(2, TURNS) is None and not tree.failed(2, 2)
    assert tree.failed(3, 2)  # its own last turn, of which no state is left
    later = tree.request(Branch(), REQUEST)  # a chain from the state that the first one kept
    assert later.start is tree.root is tree.point(1, 0) is not None and later.start.turns == 0
    with pytest.raises(ValueError, match="rollout 0 has no state after 3 turns"):
        tree.request(Branch(0, 3), Request(("enumerated", plan(1).task, 0, 0)))
    with pytest.raises(TypeError, match="a policy that keeps its tokens, got tuple"):
        tree.request(Branch(0, 1, token=1), Request(("enumerated", plan(1).task, 0, 0)))


def chosen(name: str, tree: RolloutTree, seed: int = 0, **parameters: Any) -> list[tuple[int, int]]:
    made = STRUCTURES[name](**parameters)
    return [branch[:2] for branch in made.choose(tree, generator_for("choice", seed))]


def test_trace_prefers_mixed_states() -> None:
    tree = grown((1, 0, 0), (0, 0, 0))
    branched(tree, Branch(0, 1), 1, 0)  # fails: outcomes after the first turn are mixed
    counts = Counter(chosen("trace", tree, prior=0.1))
    assert set(counts) <= {(0, 1), (-1, 0)}
    assert counts[0, 1] >= 1


def test_arpo_branches_where_entropy_rises() -> None:
    tree = grown((0, 1, 1))  # surprise after two turns: 0.36, 0.51, 0.36
    picks = Counter(
        pick for seed in range(200) for pick in chosen("arpo", fresh(tree), seed, gain=5.0, base=0)
    )
    assert picks[0, 1] == 200  # the rise is clipped to 1
    assert picks[0, 2] < 20
    once = fresh(tree)
    chosen("arpo", once)
    assert chosen("arpo", once) == []  # each state is considered once


def fresh(tree: RolloutTree) -> RolloutTree:
    again = RolloutTree(tree.members)
    again.leaves, again.drawn = [*tree.leaves], tree.drawn
    return again


def test_aepo_splits_the_budget_and_penalises_branches_in_a_row() -> None:
    tree = grown((0, 1, 1))
    assert set(chosen("aepo", tree)) == {(-1, 0)}
    assert len(chosen("aepo", tree, beta=0.0)) == 7  # half of 16, one is there
    assert len(chosen("aepo", tree, beta=-60.0)) > 7  # entropy rises later: more chains
    many = grown((0, 1, 1), (0, 1, 1))
    picks = Counter(
        pick for seed in range(400) for pick in chosen("aepo", fresh(many), seed, base=1.0, gain=0)
    )
    assert picks[0, 1] == picks[1, 1] == 400
    assert 140 < picks[0, 2] < 260  # after a high-entropy branch, half


def test_treepo_fills_shallow_boundaries_first() -> None:
    tree = grown((1, 0, 0), (0, 0, 0))
    assert (
        chosen("treepo", tree, width=3) == [(0, 1)] * 2 + [(1, 1)] * 2 + [(0, 2)] * 2 + [(1, 2)] * 2
    )
    assert chosen("treepo", tree, every=2) == [(0, 2), (1, 2)]
    for state in tree.states():
        branched(tree, state, *([0] * (TURNS - state.after)))
    assert chosen("treepo", tree) == [(2, 2), (4, 2)]  # the boundaries of the new rollouts
    for state in tree.states():
        if tree.children(state) < 2:
            branched(tree, state, 0)
    assert len(chosen("treepo", tree)) == tree.room == 8  # no boundary is left: drawn at random


def test_segments_of_tokens_count_sampled_ones_only() -> None:
    """A turn that a hint gave was not drawn, neither for a chain nor for its branches."""
    tree = grown((1, 0, 0))
    branched(tree, Branch(0, 1), 1, 1)
    for number, leaf in enumerate(tree.leaves):
        nodes = [
            replace(node, kind="told", log_probabilities=()) if node.turn == 0 else node
            for node in leaf.trajectory.tokens.nodes
        ]
        trajectory = replace(leaf.trajectory, tokens=TokenTree(nodes))
        tree.leaves[number] = replace(leaf, trajectory=trajectory)
    places = [(branch[:2], drawn) for branch, _, drawn in token_places(tree)]
    assert places == [((0, 2), 1), ((1, 2), 1)]  # (0, 1) has been tried


def test_vines_share_few_states() -> None:
    picks = chosen("vines", grown((1, 0, 0)), states=2)
    assert len(picks) == 15
    assert picks == sorted(picks)
    assert [count for _, count in sorted(Counter(picks).items())] == [7, 8]  # and the chain


def test_reex_skips_states_after_errors() -> None:
    tree = grown((1, 0, 0))  # choosing 0 counts as an error
    assert chosen("reex", tree) == [(0, 1)]
    assert tree.failed(0, 1) and not tree.failed(0, 0)


def test_equal_actions_are_pruned() -> None:
    keep = STRUCTURES["tree_ps"]().keep
    tree = grown((1, 0, 0))
    (same,) = run(EnumeratedExecutor((0, 0)), tree.request(Branch(0, 1), REQUEST))
    (other,) = run(EnumeratedExecutor((1, 0)), tree.request(Branch(0, 1), REQUEST))
    assert not keep(tree, Branch(0, 1), same)
    assert keep(tree, Branch(0, 1), other)
    tree.add(Leaf(other, Branch(0, 1)))
    assert not keep(tree, Branch(0, 1), other)


REQUEST = Request(("enumerated", plan(1).task, 0, 0))


def test_edit_distance() -> None:
    assert distance([1, 2, 3], [1, 2, 3]) == 0.0
    assert distance([1, 2, 3, 4], [1, 3, 4]) == 0.25
    assert distance([1], [2]) == 1.0
    assert distance([], []) == 0.0
    assert distance([1, 2], []) == 1.0


def test_majority_labels_replace_rewards_but_not_records() -> None:
    growth = STRUCTURES["ettrl"](by="state")
    labelled = TreeGrowth(lambda n: n, lambda tree, draw: [], labels=growth.labels)
    script = [0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 1, 1]
    played = collected(EnumeratedExecutor(script), 4, growth=labelled)
    assert played.groups[0].rewards.tolist() == [1.0, 0.0, 1.0, 0.0]
    assert [record["reward"] for record in played.records] == [0.0, 1.0, 0.0, 1.0]


def test_votes() -> None:
    tree = grown((0, 0, 0), (1, 0, 1), (0, 1, 1), (1, 1, 0))
    played = [leaf.trajectory for leaf in tree.leaves]
    assert majority(played) == [1.0, 0.0, 0.0, 1.0]  # a tie: the first answer wins
    assert majority(played, "state") == [1.0, 0.0, 0.0, 0.0]
    assert confidence(played) == 0.5
    assert elected(played) is played[0]
    assert majority([]) == [] and elected([]) is None and confidence([]) == 0.0
    played[0].record["stop"] = "truncated_turns"
    assert majority(played) == [0.0, 1.0, 1.0, 0.0]


@pytest.mark.parametrize(
    ("name", "bad", "said"),
    [
        ("arpo", {"chains": 0.0}, "chains must be above 0"),
        ("arpo", {"beam": 1}, "beam must be at least 2, got 1"),
        ("treepo", {"width": 1}, "expected width >= 2"),
        ("vines", {"states": 0}, "states must be at least 1, got 0"),
        ("ettrl", {"by": "vote"}, 'by must be "action" or "state"'),
        ("cleaner", {"similar": 2.0}, "similar must be between 0 and 1"),
        ("scope", {"late": -1.0}, "late must be between 0 and 1"),
    ],
)
def test_bad_parameters_are_errors(name: str, bad: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        STRUCTURES[name](**bad)


def test_entropy_shapes_advantages() -> None:
    one = group([1.0, 0.0])
    plain = ESTIMATORS["grpo"]([one]).advantages
    assert np.allclose(ESTIMATORS["entropy_damped"]([one]).advantages[0], plain[0])
    one.samples[0].behaviour[:] *= 0.5  # the success is more confident
    damped = ESTIMATORS["entropy_damped"]([one], damping=0.4).advantages
    assert np.allclose(damped[0], plain[0] * 0.8) and np.allclose(damped[1], plain[1])
    shaped = ESTIMATORS["aepo"]([one], gain=0.3).advantages
    assert np.allclose(shaped[0], plain[0] * 1.15) and np.allclose(shaped[1], plain[1] * 1.3)
