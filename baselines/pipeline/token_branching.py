"""Structures that branch at uncertain tokens, inside turns, too: LATR, ETTRL and ECHO.

They need a policy that keeps its tokens. Choices by entropy and pruning change the distribution of
rollouts, see `branching`.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from hexathlon.baselines.pipeline.growth import Branch, RolloutTree, TreeGrowth, chain_count
from hexathlon.baselines.pipeline.structures import STRUCTURES
from hexathlon.baselines.pipeline.voting import BallotKind, check_answer, confidence, majority
from hexathlon.baselines.rollout.prefix import Prefix
from hexathlon.baselines.tokens.trajectory import Trajectory
from hexathlon.baselines.tokens.tree import Node, TokenTree

__all__ = ["TokenPlace", "distance", "echo_ttrl", "ettrl", "latr", "token_places"]


class TokenPlace(NamedTuple):
    """A token at which a rollout can branch."""

    branch: Branch
    entropy: float
    """Entropy of the token's distribution, in nats."""

    drawn: int
    """Number of tokens that the policy had sampled before it in the episode."""


def token_places(tree: RolloutTree) -> list[TokenPlace]:
    """Return every token at which a rollout can branch and has not, once each."""
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
                TokenPlace(Branch(leaf, turn, token), float(entropies[token]), drawn + token)
                for token in range(own + 1, len(node.ids))
                if (leaf, turn, token) not in tree.tried
            ]
            drawn += len(node.ids)
    return places


def _node(outcome: Trajectory | Prefix, turn: int) -> Node | None:
    """Return the tokens of a turn of a branch; None for agents without tokens."""
    tokens = outcome.tokens if isinstance(outcome, Trajectory) else None
    if isinstance(outcome, Prefix) and outcome.memory is not None:
        tokens = outcome.memory.conversation.tree
    nodes = (tokens or TokenTree()).nodes
    return next((node for node in nodes if node.turn == turn and node.kind == "sampled"), None)


def _most_uncertain(places: Sequence[TokenPlace], count: int) -> list[Branch]:
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
        return _most_uncertain(token_places(tree), min(tree.room, len(tree.kept)))

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
        return _most_uncertain(token_places(tree), min(tree.room, len(tree.kept)))

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
        places = token_places(tree)
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
