"""The tokens of one trajectory, as a tree of what was added turn by turn.

A path from the root is exactly the sequence of ids that the engine saw. A history that was
rewritten does not change what was recorded: it opens a new branch, with the reason.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal

import numpy as np

from hexathlon.baselines.algorithms.samples import Sample

__all__ = ["Kind", "Node", "Outcome", "TokenTree"]

Kind = Literal["prompt", "sampled", "told", "observation", "scaffold"]
"""`sampled` is what the policy drew, `told` a turn that another took in its place, `observation`
what the environment wrote, `scaffold` what the chat template put around it."""


@dataclass(frozen=True, slots=True)
class Node:
    """Tokens that were added at once.

    Raises:
        ValueError: If sampled tokens come without one log-probability each.
    """

    ids: tuple[int, ...]
    kind: Kind
    parent: int = -1
    """Number of the node before it; -1 at the root."""

    turn: int = -1
    """The turn that it is; -1 for all that no assistant said."""

    log_probabilities: tuple[float, ...] = ()
    versions: tuple[int, ...] = ()
    """Policy version of each sampled token."""

    reason: str = ""
    """Why it does not follow the newest node; empty where it does."""

    finish: str = ""
    """How the engine ended sampled tokens: `stop`, `length` or `abort`."""

    state: str = ""
    """Hash of the messages that the policy heard before it drew; empty unless sampled."""

    trial: int = -1
    """Number of the trial that drew it: rollouts that were forked share the turns of one."""

    def __post_init__(self) -> None:
        wanted = len(self.ids) if self.kind == "sampled" else 0
        if len(self.log_probabilities) != wanted:
            raise ValueError(
                f"{len(self.ids)} {self.kind} tokens came with "
                f"{len(self.log_probabilities)} log-probabilities, not {wanted}"
            )


@dataclass(frozen=True, slots=True)
class Outcome:
    """How the environment ended a path."""

    rewards: tuple[float, ...]
    """After each turn."""

    states: tuple[str, ...] = ()
    """Hash of what stood before each turn."""

    branches: tuple[str, ...] = ()
    """Name of each turn; rollouts that share a turn share its name."""

    finished: bool = True
    objectives: tuple[float, ...] = ()
    flawed: bool = False


@dataclass(slots=True)
class TokenTree:
    """Nodes in the order in which they came."""

    nodes: list[Node] = field(default_factory=list)

    def add(self, node: Node) -> int:
        """Append a node and return its number.

        Raises:
            ValueError: If its parent does not exist.
        """
        if not -1 <= node.parent < len(self.nodes):
            raise ValueError(f"node {node.parent} does not exist; there are {len(self.nodes)}")
        self.nodes.append(node)
        return len(self.nodes) - 1

    def path(self, leaf: int) -> list[int]:
        """Return the numbers of the nodes from the root to a leaf."""
        found = []
        while leaf >= 0:
            found.append(leaf)
            leaf = self.nodes[leaf].parent
        return found[::-1]

    def ids(self, leaf: int) -> list[int]:
        """Return the tokens from the root to a leaf."""
        return [token for number in self.path(leaf) for token in self.nodes[number].ids]

    def as_json(self) -> list[dict[str, Any]]:
        """Return the nodes as JSON values; fields at their defaults are left out."""
        return [_node_json(node) for node in self.nodes]

    @staticmethod
    def from_json(rows: Sequence[Mapping[str, Any]]) -> "TokenTree":
        """Read what `as_json` returned."""
        tree = TokenTree()
        for row in rows:
            lists = {name: tuple(value) for name, value in row.items() if type(value) is list}
            tree.add(Node(**{**row, **lists}))
        return tree

    def leaves(self) -> list[int]:
        """Return the nodes that nothing follows, in order."""
        parents = {node.parent for node in self.nodes}
        return [number for number in range(len(self.nodes)) if number not in parents]

    def samples(self, outcome: Outcome, key: str = "") -> list[Sample]:
        """Return one sample per leaf that a turn led to; no sampled token is in two of them.

        Where branches share turns, these are trained with the first of the branches.
        """
        trained: set[int] = set()
        samples = []
        for leaf in self.leaves():
            path = self.path(leaf)
            fresh = {n for n in path if self.nodes[n].kind == "sampled"} - trained
            if fresh:
                samples.append(self._sample(path, fresh, outcome, key))
                trained |= fresh
        return samples

    def _sample(self, path: Sequence[int], fresh: set[int], outcome: Outcome, key: str) -> Sample:
        nodes = [self.nodes[number] for number in path]
        own = [number in fresh for number in path]
        first = next(place for place, node in enumerate(nodes) if node.kind == "sampled")
        lengths = [len(node.ids) for node in nodes]
        observed = [
            place > first and node.kind == "observation" for place, node in enumerate(nodes)
        ]
        turns = [node.turn if mine else -1 for node, mine in zip(nodes, own, strict=True)]
        behaviour = [
            value
            for node, mine in zip(nodes, own, strict=True)
            for value in (node.log_probabilities if mine else (0.0,) * len(node.ids))
        ]
        versions = [
            version
            for node, mine in zip(nodes, own, strict=True)
            for version in (node.versions if mine else (-1,) * len(node.ids))
        ]
        return Sample(
            ids=np.array([token for node in nodes for token in node.ids], dtype=np.int64),
            sampled=np.repeat(np.array(own), lengths),
            observed=np.repeat(np.array(observed), lengths),
            behaviour=np.array(behaviour, dtype=np.float64),
            turn=np.repeat(np.array(turns, dtype=np.int64), lengths),
            rewards=outcome.rewards,
            states=outcome.states,
            branches=outcome.branches,
            version=np.array(versions, dtype=np.int64),
            finished=outcome.finished,
            objectives=outcome.objectives,
            flawed=outcome.flawed,
            key=key,
        )


def _node_json(node: Node) -> dict[str, Any]:
    values = {one.name: (getattr(node, one.name), one.default) for one in fields(node)}
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, (value, default) in values.items()
        if value != default
    }
