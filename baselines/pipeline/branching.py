"""Structures that grow trees: which states of the rollouts so far get further branches.

Each is a function of the tree alone, so that a resumed run repeats it. Where a paper's abstract
leaves a choice open, the docstring says what was chosen. Only structures whose choices depend
neither on rewards nor on sampled tokens leave the mean over rollouts unbiased: `random_branches`,
`treepo` and `vines`, between episodes of equal length.
"""

import math
from collections.abc import Iterator, Sequence

import numpy as np

from hexathlon.baselines.pipeline.growth import Branch, RolloutTree, TreeGrowth, chain_count
from hexathlon.baselines.pipeline.structures import STRUCTURES
from hexathlon.baselines.pipeline.token_branching import token_places
from hexathlon.baselines.rollout.prefix import Prefix
from hexathlon.baselines.tokens.trajectory import Trajectory

__all__ = [
    "aepo",
    "arpo",
    "random_branches",
    "reex",
    "trace",
    "tree_ps",
    "treepo",
    "vines",
]


def _drawn(states: Sequence[Branch], room: int, draw: np.random.Generator) -> list[Branch]:
    """Return states drawn at random, with repetition."""
    if not states:
        return []
    return [states[int(n)] for n in draw.integers(len(states), size=max(room, 0))]


@STRUCTURES.register("random_branches")
def random_branches(*, chains: float = 0.25, inside: bool = False) -> TreeGrowth:
    """Branch at states drawn evenly: the control that other choices must beat.

    Args:
        chains: Share of the group that starts from the task's start. Each round adds at most as
            many rollouts as there are, so branches branch again.
        inside: Whether to branch at any sampled token instead, drawn evenly, too.
    """

    def choose(tree: RolloutTree, draw: np.random.Generator) -> list[Branch]:
        places = [branch for branch, _, _ in token_places(tree)] if inside else tree.states()
        return _drawn(places, min(tree.room, len(tree.kept)), draw)

    return TreeGrowth(chain_count(chains), choose)


def _rises(tree: RolloutTree, tokens: int) -> Iterator[tuple[Branch, float]]:
    """Yield the states that were not considered yet, with their rise in entropy.

    That is the entropy of the turn after the state less that of the rollout's first turn, over the
    largest of the tree.
    """
    turns = [(leaf, turn) for leaf in tree.kept for turn in tree.leaves[leaf].turns]
    largest = max((tree.entropy(leaf, turn, tokens) for leaf, turn in turns), default=0.0)
    for state in tree.states():
        if state[:2] not in tree.considered:
            tree.considered.add(state[:2])
            rise = tree.entropy(state.leaf, state.after, tokens)
            rise -= tree.entropy(state.leaf, tree.first, tokens)
            yield state, rise / largest if largest > 0 else 0.0


@STRUCTURES.register("arpo")
def arpo(
    *, chains: float = 0.5, base: float = 0.5, gain: float = 0.5, beam: int = 2, tokens: int = 20
) -> TreeGrowth:
    """Branch where entropy rises after an observation (ARPO, Dong et al. 2025).

    P(branch) = clip(base + gain * dH, 0, 1), with dH the entropy of the turn's first `tokens` less
    that of the first turn. Each state is considered once and branches into at most `beam` ways; the
    remaining slots are chains. Chosen here: entropies are of whole distributions, not of the top 10
    tokens, and dH is divided by the tree's largest entropy, not by the logarithm of the vocabulary.
    """
    if beam < 2:
        raise ValueError(f"beam must be at least 2, got {beam}")

    def choose(tree: RolloutTree, draw: np.random.Generator) -> list[Branch]:
        chosen: list[Branch] = []
        for state, rise in _rises(tree, tokens):
            probability = float(np.clip(base + gain * rise, 0.0, 1.0))
            chosen += [state] * int((draw.random(beam - 1) < probability).sum())
        return chosen[: tree.room]

    return TreeGrowth(chain_count(chains), choose, entropies=True)


@STRUCTURES.register("aepo")
def aepo(
    *, beta: float = 1.0, base: float = 0.5, gain: float = 0.5, tokens: int = 20
) -> TreeGrowth:
    """Balance chains and branches by entropy, and do not branch again and again (AEPO).

    One chain is played first. Of k rollouts, k * sigmoid(beta * (H_root - mean H of later turns))
    are chains. P(branch) = (base + gain * dH) / (1 + l), where l counts the high-entropy branches
    in a row before the state. Chosen here: 1 / (1 + l) as the penalty, dH as in `arpo`.
    """

    def choose(tree: RolloutTree, draw: np.random.Generator) -> list[Branch]:
        if tree.drawn == 1 and tree.kept:
            root = tree.entropy(0, tree.first, tokens)
            later = [tree.entropy(0, turn, tokens) for turn in tree.own_turns(0)[1:]] or [root]
            share = 1.0 / (1.0 + math.exp(-beta * (root - float(np.mean(later)))))
            more = round(tree.members * share) - 1
            if more > 0:
                return [Branch()] * min(more, tree.room)
        chosen: list[Branch] = []
        in_a_row, leaf = 0, -1
        for state, rise in _rises(tree, tokens):
            in_a_row, leaf = (in_a_row if state.leaf == leaf else 0), state.leaf
            if draw.random() < (base + gain * rise) / (1 + in_a_row):
                chosen.append(state)
                in_a_row = in_a_row + 1 if rise > 0 else 0
        return chosen[: tree.room]

    return TreeGrowth(lambda members: 1, choose, entropies=True)


@STRUCTURES.register("trace")
def trace(*, chains: float = 0.25, prior: float = 2.0) -> TreeGrowth:
    """Spend the budget where outcomes are most likely mixed (TRACE).

    Anchors are the start and all states; each next rollout goes to the anchor with the largest
    p (1 - p) / (1 + n), n the rollouts that left it. Chosen here: p is the mean reward below the
    anchor, shrunk towards that of the task by `prior` rollouts, instead of a learned predictor, so
    that a resumed run needs no further state; it is renewed four times per group.
    """

    def choose(tree: RolloutTree, draw: np.random.Generator) -> list[Branch]:
        rewards = [tree.leaves[n].reward for n in tree.kept]
        task = (sum(rewards) + 0.5 * prior) / (len(rewards) + prior)
        left = {Branch(): sum(leaf.branch.leaf < 0 for leaf in tree.leaves)}
        left |= {state: tree.children(state) for state in tree.states()}
        worth = {}
        for state in left:
            below = rewards if state.leaf < 0 else tree.below(state)
            success = (sum(below) + prior * task) / (len(below) + prior)
            worth[state] = max(success * (1.0 - success), 0.0)
        chosen: list[Branch] = []
        for _ in range(min(tree.room, -(-tree.members // 4))):
            best = max(worth, key=lambda state: worth[state] / (1 + left[state]))
            left[best] += 1
            chosen.append(best)
        return chosen

    return TreeGrowth(chain_count(chains), choose)


def _breadth_first(tree: RolloutTree, width: int, every: int) -> list[Branch]:
    """Return the branches that states after every so many turns lack, shallow states first."""
    missing: list[Branch] = []
    for state in sorted(tree.states(), key=lambda state: (state.after, state.leaf)):
        if (state.after - tree.first) % every == 0:
            missing += [state] * (width - tree.children(state))
    return missing[: tree.room]


@STRUCTURES.register("treepo")
def treepo(*, width: int = 2, every: int = 1, tokens: int = 0) -> TreeGrowth:
    """Split into `width` ways at every segment boundary, shallow ones first (TreePO).

    A segment is `every` turns, or `tokens` sampled tokens, which also splits turns. The tree starts
    with `width` chains. When no boundary is left, rollouts fall back to states drawn at random.
    Chosen here: turns as segments of an agent's episode; the rollouts of a tree end by themselves.
    """
    if width < 2 or every < 1 or tokens < 0:
        raise ValueError(
            f"expected width >= 2, every >= 1 and tokens >= 0, got {width}, {every} and {tokens}"
        )

    def choose(tree: RolloutTree, draw: np.random.Generator) -> list[Branch]:
        if tokens:
            places = token_places(tree)
            ends = [branch for branch, _, drawn in places if drawn and drawn % tokens == 0]
            missing = [branch for branch in ends for _ in range(width - 1)][: tree.room]
        else:
            missing = _breadth_first(tree, width, every)
        return missing or _drawn(tree.states(), tree.room, draw)

    return TreeGrowth(lambda members: min(width, members), choose)


@STRUCTURES.register("tree_ps")
def tree_ps(*, chains: float = 0.25, width: int = 3) -> TreeGrowth:
    """A shallow tree of different actions, for values per step (TreePS-RAG).

    Use the estimator `tree_steps`. Chosen here, as budgeted diverse construction: states with the
    fewest branches come first, then shallow ones; each gets at most `width`, and a branch whose
    first action equals that of another from the same state is pruned.
    """

    def choose(tree: RolloutTree, draw: np.random.Generator) -> list[Branch]:
        open_states = [state for state in tree.states() if tree.children(state) < width]
        open_states.sort(key=lambda state: (tree.children(state), state.after, state.leaf))
        return open_states[: min(tree.room, len(tree.kept))]

    def keep(tree: RolloutTree, branch: Branch, outcome: Trajectory | Prefix) -> bool:
        others = [branch.leaf, *(n for n in tree.kept if tree.leaves[n].branch[:2] == branch[:2])]
        known = [_action(tree.leaves[n].trajectory, branch.after) for n in others]
        return _action(outcome, branch.after) not in known

    return TreeGrowth(chain_count(chains), choose, keep)


@STRUCTURES.register("vines")
def vines(*, states: int = 1) -> TreeGrowth:
    """Vines from a few visited states (Polychromic objectives, after TRPO's vine sampling).

    One rollout visits states, `states` of them are drawn, and the group is divided among them. The
    first rollout is a vine of the first state, so that sets of consecutive rollouts share a state.
    Use the estimator `polychromic` with `size` the number of vines per state.
    """
    if states < 1:
        raise ValueError(f"states must be at least 1, got {states}")

    def choose(tree: RolloutTree, draw: np.random.Generator) -> list[Branch]:
        visited = tree.states()
        if tree.drawn > 1 or not visited:
            return []
        order = draw.permutation(len(visited))[:states]
        picked = [visited[int(n)] for n in sorted(order)]
        return sorted(picked[n % len(picked)] for n in range(tree.members))[1:]

    return TreeGrowth(lambda members: 1, choose)


def _action(outcome: Trajectory | Prefix, turn: int) -> str | None:
    """Return the action of a turn; None if the rollout ended before it, such as at a budget."""
    steps = outcome.record["steps"] if isinstance(outcome, Trajectory) else outcome.steps
    return str(steps[turn]["action"]) if turn < len(steps) else None


@STRUCTURES.register("reex")
def reex(*, chains: float = 0.25, width: int = 2) -> TreeGrowth:
    """Expand alternatives after executed queries, least confident turns first (ReEx-SQL).

    States whose last call was executed without an error get up to `width` branches; those whose
    next turn has the lowest mean log-probability come first. `elected` picks the tree's answer.
    Chosen here: the order, since the abstract names tree decoding only.
    """

    def choose(tree: RolloutTree, draw: np.random.Generator) -> list[Branch]:
        def doubt(state: Branch) -> float:
            node = tree.leaves[state.leaf].turns.get(state.after)
            values = node.log_probabilities if node is not None else ()
            return float(np.mean(values)) if values else 0.0

        states = [
            state
            for state in tree.states()
            if tree.children(state) < width and not tree.failed(state.leaf, state.after - 1)
        ]
        return sorted(states, key=doubt)[: min(tree.room, len(tree.kept))]

    return TreeGrowth(chain_count(chains), choose)
