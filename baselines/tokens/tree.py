"""The tokens of one trajectory as a tree that grows turn by turn.

A path from the root is exactly the sequence of ids that the engine received. Rewriting the history
never changes recorded tokens: it starts a new branch, which stores the reason.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal

import numpy as np

from hexathlon.baselines.algorithms.samples import Sample

__all__ = ["Node", "NodeKind", "PathOutcome", "TokenTree"]

NodeKind = Literal["prompt", "sampled", "told", "corrected", "observation", "scaffold"]
"""`prompt` is the first prompt, `sampled` a turn of the policy, `told` a turn of another agent,
`corrected` one that the policy imitates instead of learning from its own turns, `observation` text
of the environment, `scaffold` text that the chat template adds."""


@dataclass(frozen=True, slots=True)
class Node:
    """A sequence of tokens of one kind.

    Raises:
        ValueError: If the number of log-probabilities is not that of the sampled tokens.
    """

    ids: tuple[int, ...]
    kind: NodeKind
    parent: int = -1
    """Index of the preceding node; -1 at the root."""

    turn: int = -1
    """Index of the assistant turn; -1 for other kinds."""

    log_probabilities: tuple[float, ...] = ()
    versions: tuple[int, ...] = ()
    """Policy version of each sampled token."""

    reason: str = ""
    """Why the node starts a new branch; empty if it continues the newest one."""

    finish: str = ""
    """Finish reason of sampled tokens: `stop`, `length` or `abort`."""

    state: str = ""
    """Hash of the messages before a sampled turn; empty for other kinds."""

    trial: int = -1
    """Number of the trial that sampled the turn; forked rollouts share turns of one trial."""

    hint: tuple[int, ...] = ()
    """Of a root with a context: start and end of its tokens in the prompt, which training may cut
    out."""

    context: str = ""
    """Of a root: the text of its context."""

    entropies: tuple[float, ...] = ()
    """Entropy of the distribution of each sampled token, in nats; empty if unknown."""

    def __post_init__(self) -> None:
        expected = len(self.ids) if self.kind == "sampled" else 0
        if len(self.log_probabilities) != expected:
            raise ValueError(
                f"expected {expected} log-probabilities for {len(self.ids)} {self.kind} tokens, "
                f"got {len(self.log_probabilities)}"
            )


@dataclass(frozen=True, slots=True)
class PathOutcome:
    """Rewards of a path and how it ended."""

    rewards: tuple[float, ...]
    """Reward after each turn."""

    states: tuple[str, ...] = ()
    """Hash of the messages before each turn."""

    branches: tuple[str, ...] = ()
    """Name of each turn; rollouts that share a turn share its name."""

    finished: bool = True
    """Whether the episode ended by itself, not by truncation."""

    objectives: tuple[float, ...] = ()
    """Reward terms, sorted by name."""

    flawed: bool = False
    errors: tuple[int, ...] = ()
    """Failed tool calls in each turn; empty if unknown."""

    survival: float = 1.0
    """As in `Sample`."""

    started: int = 0
    """As in `Sample`."""


@dataclass(slots=True)
class TokenTree:
    """Nodes in the order in which they were added."""

    nodes: list[Node] = field(default_factory=list)

    def add(self, node: Node) -> int:
        """Append a node and return its index.

        Raises:
            ValueError: If its parent does not exist.
        """
        if not -1 <= node.parent < len(self.nodes):
            raise ValueError(f"there are {len(self.nodes)} nodes, got {node.parent} as parent")
        self.nodes.append(node)
        return len(self.nodes) - 1

    def path(self, leaf: int) -> list[int]:
        """Return the indices of the nodes from the root to a leaf."""
        path = []
        while leaf >= 0:
            path.append(leaf)
            leaf = self.nodes[leaf].parent
        return path[::-1]

    def ids(self, leaf: int) -> list[int]:
        """Return the tokens from the root to a leaf."""
        return [token for number in self.path(leaf) for token in self.nodes[number].ids]

    def as_json(self) -> list[dict[str, Any]]:
        """Return the nodes as JSON values, without fields at their defaults."""
        return [_node_json(node) for node in self.nodes]

    @staticmethod
    def from_json(rows: Sequence[Mapping[str, Any]]) -> "TokenTree":
        """Build a tree from the result of `as_json`."""
        tree = TokenTree()
        for row in rows:
            lists = {name: tuple(value) for name, value in row.items() if type(value) is list}
            tree.add(Node(**{**row, **lists}))
        return tree

    def leaves(self) -> list[int]:
        """Return the indices of the nodes without successors, in order."""
        parents = {node.parent for node in self.nodes}
        return [number for number in range(len(self.nodes)) if number not in parents]

    def samples(self, outcome: PathOutcome, key: str = "") -> list[Sample]:
        """Return one training sample per branch that adds sampled tokens.

        Each sampled token is trained once: turns shared by several branches belong to the sample of
        the first branch. With a corrected turn, only corrected turns count as sampled.
        """
        trained: set[int] = set()
        samples = []
        corrected = any(node.kind == "corrected" for node in self.nodes)
        learned = "corrected" if corrected else "sampled"
        for leaf in self.leaves():
            path = self.path(leaf)
            untrained = {n for n in path if self.nodes[n].kind == learned} - trained
            if untrained:
                samples.append(self._sample(path, untrained, outcome, key))
                trained |= untrained
        return samples

    def _sample(
        self, path: Sequence[int], trained: set[int], outcome: PathOutcome, key: str
    ) -> Sample:
        """Return the sample of a path; its nodes in `trained` receive gradients."""
        nodes = [self.nodes[index] for index in path]
        mask = [index in trained for index in path]
        kinds = ("sampled", "corrected")
        first = next(index for index, node in enumerate(nodes) if node.kind in kinds)
        lengths = [len(node.ids) for node in nodes]
        observed = [
            index > first and node.kind == "observation" for index, node in enumerate(nodes)
        ]
        turns = [node.turn if masked else -1 for node, masked in zip(nodes, mask, strict=True)]
        behaviour = [
            value
            for node, masked in zip(nodes, mask, strict=True)
            for value in ((masked and node.log_probabilities) or (0.0,) * len(node.ids))
        ]
        versions = [
            version
            for node, masked in zip(nodes, mask, strict=True)
            for version in ((masked and node.versions) or (-1,) * len(node.ids))
        ]
        return Sample(
            ids=np.array([token for node in nodes for token in node.ids], dtype=np.int64),
            sampled=np.repeat(np.array(mask), lengths),
            observed=np.repeat(np.array(observed), lengths),
            behaviour=np.array(behaviour, dtype=np.float64),
            turn=np.repeat(np.array(turns, dtype=np.int64), lengths),
            rewards=outcome.rewards,
            states=outcome.states,
            branches=outcome.branches,
            version=np.array(versions, dtype=np.int64),
            finished=outcome.finished,
            objectives=outcome.objectives,
            errors=outcome.errors,
            flawed=outcome.flawed,
            survival=outcome.survival,
            started=outcome.started,
            context=nodes[0].context,
            hints=((nodes[0].hint[0], nodes[0].hint[1]),) if nodes[0].hint else (),
            key=key,
        )


def _node_json(node: Node) -> dict[str, Any]:
    values = {item.name: (getattr(node, item.name), item.default) for item in fields(node)}
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, (value, default) in values.items()
        if value != default
    }
