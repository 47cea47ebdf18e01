"""Structures that grow trees: which states of the rollouts so far get further branches.

Each is a function of the tree alone, so that a resumed run repeats it. Where a paper's abstract
leaves a choice open, the docstring says what was chosen. Only structures whose choices depend
neither on rewards nor on sampled tokens leave the mean over rollouts unbiased: `random_branches`,
`treepo` and `vines`, between episodes of equal length.
"""

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from hexathlon.baselines.pipeline.growth import Branch, RolloutTree, TreeGrowth
from hexathlon.baselines.pipeline.structures import STRUCTURES
from hexathlon.baselines.pipeline.voting import BallotKind, check_answer, confidence, majority
from hexathlon.baselines.rollout.prefix import Prefix
from hexathlon.baselines.tokens.trajectory import Trajectory
from hexathlon.baselines.tokens.tree import Node, TokenTree

__all__ = [
    "aepo",
    "arpo",
    "chain_count",
    "distance",
    "echo_ttrl",
    "ettrl",
    "latr",
    "random_branches",
    "reex",
    "trace",
    "tree_ps",
    "treepo",
    "vines",
]


def chain_count(share: float) -> Callable[[int], int]:
    """Return the function from the size of a group to the number of chains it starts with.

    Raises:
        ValueError: If the share is not in (0, 1].
    """
    if not 0 < share <= 1:
        raise ValueError(f"chains must be above 0 and at most 1, got {share}")
    return lambda members: max(1, round(share * members))


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
        places = [branch for branch, _, _ in _places(tree)] if inside else tree.states()
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
            places = _places(tree)
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
    fewest ways out come first, then shallow ones; each gets at most `width`, and a branch whose
    first action equals that of another way out is pruned.
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


def _node(outcome: Trajectory | Prefix, turn: int) -> Node | None:
    """Return the tokens of a turn of a branch; None for agents without tokens."""
    tokens = outcome.tokens if isinstance(outcome, Trajectory) else None
    if isinstance(outcome, Prefix) and outcome.memory is not None:
        tokens = outcome.memory.conversation.tree
    nodes = (tokens or TokenTree()).nodes
    return next((node for node in nodes if node.turn == turn and node.kind == "sampled"), None)


def _places(tree: RolloutTree) -> list[tuple[Branch, float, int]]:
    """Return every token at which a rollout can branch and has not, once each.

    Returns:
        The branch, the entropy of the token there, and the number of tokens that the policy had
        sampled before it in the episode.
    """
    places = []
    for leaf in tree.kept:
        found = tree.leaves[leaf]
        drawn = sum(
            len(node.ids)
            for turn, node in found.turns.items()
            if turn < found.branch.after and node.kind == "sampled"
        )
        for turn in tree.own_turns(leaf):
            node = found.turns.get(turn)
            if node is None or node.kind != "sampled":
                continue
            own = (
                found.branch.token if turn == found.branch.after and found.branch.leaf >= 0 else -1
            )
            entropies = node.entropies or [-value for value in node.log_probabilities]
            places += [
                (Branch(leaf, turn, token), float(entropies[token]), drawn + token)
                for token in range(own + 1, len(node.ids))
                if (leaf, turn, token) not in tree.tried
            ]
            drawn += len(node.ids)
    return places


def _most_uncertain(places: Sequence[tuple[Branch, float, int]], count: int) -> list[Branch]:
    """Return the places with the highest entropy, at most one per rollout and turn."""
    best: dict[tuple[int, int], tuple[float, Branch]] = {}
    for branch, entropy, _ in places:
        if entropy > best.get(branch[:2], (-1.0, branch))[0]:
            best[branch[:2]] = (entropy, branch)
    ranked = sorted(best.values(), key=lambda item: (-item[0], item[1][:3]))
    return [branch for _, branch in ranked[: max(count, 0)]]


def distance(first: Sequence[int], second: Sequence[int]) -> float:
    """Return the edit distance of two sequences over the longer one's length, in [0, 1]."""
    row = list(range(len(second) + 1))
    for i, token in enumerate(first, 1):
        previous, row[0] = row[0], i
        for j, other in enumerate(second, 1):
            change = previous + (token != other)
            previous, row[j] = row[j], min(change, row[j] + 1, row[j - 1] + 1)
    return row[-1] / max(len(first), len(second), 1)


@STRUCTURES.register("latr")
def latr(*, chains: float = 0.25, least: float = 0.3, tokens: int = 24) -> TreeGrowth:
    """Branch at uncertain tokens, look ahead, prune branches that stay similar (LATR).

    Each round branches at the tokens with the highest entropy, inside turns, too. A branch goes on
    if the edit distance of the next `tokens` tokens of its turn to those of the rollout that it
    left is at least `least` of their length. Chosen here: the look-ahead is the rest of the turn.
    """

    def choose(tree: RolloutTree, draw: np.random.Generator) -> list[Branch]:
        return _most_uncertain(_places(tree), min(tree.room, len(tree.kept)))

    def keep(tree: RolloutTree, branch: Branch, outcome: Trajectory | Prefix) -> bool:
        own, other = _node(outcome, branch.after), tree.leaves[branch.leaf].turns[branch.after]
        window = slice(branch.token, branch.token + tokens)
        return own is not None and distance(own.ids[window], other.ids[window]) >= least

    return TreeGrowth(chain_count(chains), choose, keep, entropies=True)


@STRUCTURES.register("ettrl")
def ettrl(*, chains: float = 0.25, by: BallotKind = "action") -> TreeGrowth:
    """Branch at the most uncertain tokens; the majority is right (ETTRL, test-time training).

    Rewards are 1 for rollouts whose answer is the most frequent one, see `majority`: the verifier
    is not used. Use the estimator `entropy_damped`. Chosen here: each round at most doubles the
    tree, with one branch per turn.
    """
    check_answer(by)

    def choose(tree: RolloutTree, draw: np.random.Generator) -> list[Branch]:
        return _most_uncertain(_places(tree), min(tree.room, len(tree.kept)))

    return TreeGrowth(
        chain_count(chains),
        choose,
        labels=lambda played: majority(played, by),
        entropies=True,
    )


@STRUCTURES.register("echo_ttrl")
def echo_ttrl(
    *, chains: float = 0.25, width: int = 3, margin: float = 0.5, by: BallotKind = "action"
) -> TreeGrowth:
    """Branch width by entropy and agreement, pruned by confidence (ECHO, test-time training).

    At uncertain tokens, 1 to `width` branches: more where entropy is high and where the rollouts
    agree less. A branch is pruned if the mean log-probability of its turn is more than `margin`
    below that of the turn that it left. Rewards are majority labels as in `ettrl`. Chosen here:
    width = 1 + round((width - 1) * H / max H * (1 - share of the majority)).
    """
    check_answer(by)

    def choose(tree: RolloutTree, draw: np.random.Generator) -> list[Branch]:
        agreed = confidence([tree.leaves[n].trajectory for n in tree.kept], by)
        places = _places(tree)
        entropy = {branch: value for branch, value, _ in places}
        largest = max(entropy.values(), default=0.0)
        chosen: list[Branch] = []
        for branch in _most_uncertain(places, min(tree.room, len(tree.kept))):
            share = entropy[branch] / max(largest, 1e-9)
            chosen += [branch] * (1 + round((width - 1) * share * (1.0 - agreed)))
        return chosen[: tree.room]

    def keep(tree: RolloutTree, branch: Branch, outcome: Trajectory | Prefix) -> bool:
        own, other = _node(outcome, branch.after), tree.leaves[branch.leaf].turns[branch.after]
        if own is None:
            return False
        return float(np.mean(own.log_probabilities) - np.mean(other.log_probabilities)) >= -margin

    return TreeGrowth(
        chain_count(chains),
        choose,
        keep,
        lambda played: majority(played, by),
        entropies=True,
    )


@STRUCTURES.register("reex")
def reex(*, chains: float = 0.25, width: int = 2) -> TreeGrowth:
    """Expand alternatives after executed queries, least confident turns first (ReEx-SQL).

    States whose last call was executed without an error get up to `width` ways out; those whose
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
