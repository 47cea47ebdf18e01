"""One rollout as plain data: the trial record, its token tree, and its images and files.

Trajectories are sent between processes, stored, and converted to training samples. Evaluations
write their records, whose format is defined by `hexathlon.evaluators.records`.
"""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from hexathlon.baselines.algorithms.samples import Sample
from hexathlon.baselines.tokens.tree import PathOutcome, TokenTree
from hexathlon.evaluators.records import TrialKey, TrialRecord, record_key

__all__ = ["Trajectory"]


@dataclass(frozen=True, slots=True)
class Trajectory:
    """The result of one rollout."""

    record: TrialRecord
    """The trial record, without its chain hashes."""

    tokens: TokenTree | None = None
    """All prompt and sampled tokens of the policy; None for agents that work on text."""

    system_prompt: str = ""
    tools: Sequence[Mapping[str, Any]] = ()
    """Schemas of the tools available to the agent."""

    media: Mapping[str, bytes] = field(default_factory=dict)
    """Bytes of images and files, by the hash in the record."""

    points: tuple[Any, ...] = field(default=(), compare=False, repr=False)
    """States of the episode from which other rollouts can fork, in order of their turns: prefixes,
    see `hexathlon.baselines.rollout.prefix`. Neither stored nor sent as JSON."""

    errors: tuple[int, ...] = ()
    """Number of failed tool calls in each turn; empty if unknown."""

    survival: float = 1.0
    """As in `Sample`."""

    started: int = 0
    """As in `Sample`."""

    @property
    def key(self) -> TrialKey:
        """Environment id, task id, seed, trial."""
        return record_key(self.record)

    @property
    def scored(self) -> bool:
        """Whether the trial has a reward; False after a failure of infrastructure or verifier."""
        return self.record["status"] == "scored"

    @property
    def sampled_tokens(self) -> int:
        """Number of tokens that the policy sampled."""
        nodes = [] if self.tokens is None else self.tokens.nodes
        return sum(len(node.ids) for node in nodes if node.kind == "sampled")

    def samples(self) -> list[Sample]:
        """Return the training samples, one per branch of the token tree; none if unscored."""
        if self.tokens is None or not self.scored:
            return []
        turns = {node.turn: node for node in self.tokens.nodes if node.turn >= 0}
        sampled = [node for node in turns.values() if node.kind in ("sampled", "corrected")]
        if not sampled:
            return []
        count = max(turns) + 1
        rewards = [step["reward"] for step in self.record["steps"]]
        rewards = [*rewards, *[0.0] * count][:count]
        # Rewards must add up to the verdict, so the last turn receives the remainder.
        rewards[-1] += float(self.record["reward"] or 0.0) - sum(rewards)
        cut = any(node.finish == "length" for node in sampled)
        outcome = PathOutcome(
            tuple(rewards),
            tuple(turns[number].state for number in range(count)),
            tuple(f"{turns[number].trial}.{number}" for number in range(count)),
            finished=not (cut or self.record["stop"].startswith("truncated")),
            objectives=tuple(float(value) for _, value in sorted(self.record["terms"].items())),
            errors=(*self.errors, *[0] * count)[:count] if self.errors else (),
            survival=self.survival,
            started=self.started,
        )
        _, task, _, trial = self.key
        return self.tokens.samples(outcome, f"{task}#{trial}")

    def as_json(self) -> dict[str, Any]:
        """Return the trajectory as JSON values; floats round-trip exactly."""
        return {
            "record": self.record,
            "tokens": None if self.tokens is None else self.tokens.as_json(),
            "system_prompt": self.system_prompt,
            "tools": list(self.tools),
            "media": {
                name: base64.b64encode(data).decode("ascii") for name, data in self.media.items()
            },
            **({"pruning": [self.survival, self.started]} if self.started else {}),
            **({"errors": list(self.errors)} if self.errors else {}),
        }

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> "Trajectory":
        """Build a trajectory from the result of `as_json`."""
        tokens = data["tokens"]
        return Trajectory(
            cast("TrialRecord", data["record"]),
            None if tokens is None else TokenTree.from_json(tokens),
            data["system_prompt"],
            tuple(data["tools"]),
            {name: base64.b64decode(text) for name, text in data["media"].items()},
            errors=tuple(data.get("errors", ())),
            survival=data.get("pruning", [1.0, 0])[0],
            started=data.get("pruning", [1.0, 0])[1],
        )
