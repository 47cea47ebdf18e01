"""Growing trees of rollouts: after each round, a structure chooses where to branch next.

A group starts with chains, rollouts from the task's start that keep the state before every turn.
Branches restore such a state: environment, tokens and the engine's cached keys and values are
shared, and the rest is sampled with the branch's own draws. A structure names only the branches;
`Collector` plays them. A round that names none fills half of the room with further chains.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from hexathlon.baselines.agents.policy import PolicyMemory, Told
from hexathlon.baselines.rollout.executor import Request
from hexathlon.baselines.rollout.prefix import Prefix
from hexathlon.baselines.tokens.requests import Finish, TokenReply, spans_of
from hexathlon.baselines.tokens.trajectory import Trajectory
from hexathlon.baselines.tokens.tree import Node, TokenTree

__all__ = ["Branch", "Leaf", "RolloutTree", "TreeGrowth", "chain_count", "reply_of"]


class Branch(NamedTuple):
    """Where a rollout leaves another one."""

    leaf: int = -1
    """Index of the rollout in the tree; -1 for a chain from the task's start."""

    after: int = 0
    """Number of turns that both share, counting those of a hint."""

    token: int = 0
    """Number of tokens of the next turn that both share, too."""

    forced: tuple[TokenReply | Told, ...] = ()
    """Turns that the branch takes before it samples its own."""

    replaces: int = -1
    """Index of a rollout that the branch replaces if it scores at least as much; -1 for none."""


@dataclass(frozen=True, slots=False)
class Leaf:
    """One rollout of a tree."""

    trajectory: Trajectory
    branch: Branch = Branch()

    @property
    def scored(self) -> bool:
        """Whether the rollout has a reward and sampled tokens; others are absent from the tree."""
        return self.trajectory.scored and self.trajectory.tokens is not None

    @property
    def reward(self) -> float:
        """Reward of the episode; 0 without a score."""
        return float(self.trajectory.record["reward"] or 0.0)

    @cached_property
    def turns(self) -> dict[int, Node]:
        """The turns by their number."""
        tokens = self.trajectory.tokens or TokenTree()
        return {node.turn: node for node in tokens.nodes if node.turn >= 0}


class RolloutTree:
    """The rollouts of one group, in order of their creation.

    Args:
        members: Size of the group.
        start: The hint that all rollouts continue from, if any.
    """

    def __init__(self, members: int, start: Prefix | None = None) -> None:
        self.members = members
        self.leaves: list[Leaf] = []
        self.reference: Trajectory | None = None
        """A solution of the task by the oracle, if the structure asks for one."""

        self.first = 0 if start is None else start.turns
        """Number of turns before the first that the policy samples."""

        self.replaced: set[int] = set()
        """Rollouts that others have replaced."""

        self.tried: set[tuple[int, int, int]] = set()
        """`leaf`, `after` and `token` of the branches that have been played or pruned."""

        self.considered: set[tuple[int, int]] = set()
        """`leaf` and `after` of the states about which a structure decides only once."""

        self.drawn = 0
        """Number of rollouts begun, pruned ones included; names the next trial."""

    @property
    def room(self) -> int:
        """Number of rollouts that the group still needs."""
        return self.members - len(self.leaves) + len(self.replaced)

    @property
    def kept(self) -> list[int]:
        """Indices of the rollouts with a score that were not replaced."""
        numbers = range(len(self.leaves))
        return [n for n in numbers if self.leaves[n].scored and n not in self.replaced]

    def add(self, leaf: Leaf) -> None:
        """Add a rollout; a replacement that scores less than the original is dropped."""
        replaces = leaf.branch.replaces
        if replaces >= 0:
            if not leaf.scored or leaf.reward < self.leaves[replaces].reward:
                return
            self.replaced.add(replaces)
        self.leaves.append(leaf)

    def played(self) -> list[Trajectory]:
        """Return the group's trajectories, without states and replaced ones."""
        kept = [leaf for n, leaf in enumerate(self.leaves) if n not in self.replaced]
        return [replace(leaf.trajectory, points=()) for leaf in kept]

    def point(self, leaf: int, after: int) -> Prefix | None:
        """Return the state of a rollout after some turns; None if the episode had ended there."""
        while leaf >= 0:
            found = self.leaves[leaf]
            for point in found.trajectory.points:
                if point.turns == after:
                    return point  # type: ignore[no-any-return]
            if found.branch.leaf >= 0 and after > found.branch.after:
                return None
            leaf = found.branch.leaf
        return self.root if after == self.first else None

    @property
    def root(self) -> Prefix | None:
        """The state before the policy's first turn; None before the first chain has been played."""
        points = (point for leaf in self.leaves for point in leaf.trajectory.points[:1])
        return next((point for point in points if point.turns == self.first), None)

    def own_turns(self, leaf: int) -> range:
        """Return the turns that a rollout does not share whole with the one it left."""
        found = self.leaves[leaf]
        return range(max(found.branch.after, self.first), len(found.trajectory.record["steps"]))

    def states(self) -> list[Branch]:
        """Return the states after a turn at which a rollout can branch, each once, by rollout.

        The start is not among them: branching there is a chain.
        """
        return [Branch(leaf, after) for leaf in self.kept for after in self.own_turns(leaf)[1:]]

    def passes(self, leaf: int, state: Branch) -> bool:
        """Return whether a rollout went through a state."""
        while leaf != state.leaf:
            branch = self.leaves[leaf].branch
            if branch.leaf < 0 or branch.after < state.after:
                return False
            leaf = branch.leaf
        return len(self.leaves[leaf].trajectory.record["steps"]) > state.after

    def below(self, state: Branch) -> list[float]:
        """Return the rewards of the rollouts that went through a state."""
        return [self.leaves[n].reward for n in self.kept if self.passes(n, state)]

    def children(self, state: Branch) -> int:
        """Return the number of branches from a state, including the rollout that visited it."""
        return 1 + sum(
            leaf.branch.leaf == state.leaf and leaf.branch.after == state.after
            for leaf in self.leaves
        )

    def entropy(self, leaf: int, turn: int, tokens: int = 20) -> float:
        """Return the mean entropy of the first tokens of a turn, in nats.

        Where the engine does not tell entropies, that of the sampled tokens is estimated by their
        negative log-probability.
        """
        node = self.leaves[leaf].turns.get(turn)
        if node is None or not node.ids:
            return 0.0
        values = node.entropies or [-value for value in node.log_probabilities] or [0.0]
        return float(np.mean(values[:tokens]))

    def failed(self, leaf: int, turn: int) -> bool:
        """Return whether a call of a turn was malformed or an error, as the environment counts."""
        errors = self.leaves[leaf].trajectory.errors
        return turn < len(errors) and errors[turn] > 0

    def request(self, branch: Branch, root: Request) -> Request:
        """Return the request of a branch, which gets the next trial's number.

        Args:
            branch: The branch.
            root: The request of the group's chains.
        """
        env, task, seed, first = root.key
        key = (env, task, seed, first + self.drawn)
        self.drawn += 1
        self.tried.add(branch[:3])
        root = root._replace(key=key, points=True)
        if branch.leaf < 0:
            return root if self.root is None else root._replace(start=self.root)
        start = self.point(branch.leaf, branch.after)
        if start is None:
            raise ValueError(
                f"rollout {branch.leaf} has no state after {branch.after} turns to branch from"
            )
        memory = start.memory
        if isinstance(memory, PolicyMemory):
            pending, found = None, self.leaves[branch.leaf]
            if branch.token:
                pending = reply_of(found.turns[branch.after]).first(branch.token)
            # The session of the rollout that is left has the shared part of the turn, too.
            later = found.trajectory.points[-1] if found.trajectory.points else start
            memory = memory._replace(
                session=later.memory.session,
                pending=pending,
                shared=pending is not None,
                forced=branch.forced,
            )
        elif branch.token or branch.forced:
            raise TypeError(
                f"branches inside a turn need a policy that keeps its tokens, got "
                f"{type(memory).__name__}"
            )
        return root._replace(start=replace(start, memory=memory))


def reply_of(node: Node) -> TokenReply:
    """Return the reply that a sampled turn came from."""
    ids, log_probabilities = list(node.ids), list(node.log_probabilities)
    finish: Finish = "length" if node.finish == "length" else "stop"
    return TokenReply(ids, log_probabilities, finish, spans_of(node.versions), node.entropies)


def chain_count(share: float) -> Callable[[int], int]:
    """Return the function from the size of a group to the number of chains it starts with.

    Raises:
        ValueError: If the share is not in (0, 1].
    """
    if not 0 < share <= 1:
        raise ValueError(f"chains must be above 0 and at most 1, got {share}")
    return lambda members: max(1, round(share * members))


@dataclass(frozen=True, slots=True)
class TreeGrowth:
    """A structure whose branches depend on what was played."""

    chains: Callable[[int], int]
    """Maps the size of a group to the number of chains it starts with."""

    choose: Callable[[RolloutTree, np.random.Generator], Sequence[Branch]]
    """Names the next branches, at most `RolloutTree.room` and those that replace others; none if
    there is nothing to branch from."""

    keep: Callable[[RolloutTree, Branch, Trajectory | Prefix], bool] | None = None
    """Whether a branch goes on after its first turn; None keeps all. A pruned one is in no group,
    so estimates are those of the policy given that it was not pruned. Branches without a score are
    not asked about: they count as failed rollouts. One with a score may have ended before its first
    own turn did."""

    labels: Callable[[Sequence[Trajectory]], Sequence[float]] | None = None
    """Rewards to train on instead of the verifier's; None keeps those."""

    entropies: bool = False
    """Whether `choose` reads entropies, so that the engine tells them."""

    reference: bool = False
    """Whether `choose` reads the oracle's solution."""
