"""The log of one attempt, filled turn by turn, and the trial record built from it.

Taking the turns is left to `hexathlon.baselines.rollout.attempt`.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, cast

from hexathlon.baselines.engines.base import Usage
from hexathlon.baselines.rollout.faults import Fault
from hexathlon.baselines.rollout.prefix import Prefix, ResourcesUsed
from hexathlon.envs.base import Environment
from hexathlon.envs.messages import Message
from hexathlon.envs.status import Status
from hexathlon.evaluators.content import content_to_json, joined, media_of
from hexathlon.evaluators.records import RECORD_SCHEMA, TrialKey, TrialRecord
from hexathlon.evaluators.records.canonical import content_hash, text_hash
from hexathlon.evaluators.records.trial import JsonContent
from hexathlon.evaluators.verdict import Verdict
from hexathlon.evaluators.verifier import get_verifier
from hexathlon.tasks.source import parse_address
from hexathlon.tasks.task import Task

__all__ = ["TrialLog", "checks_of"]


@dataclass(slots=True)
class TrialLog:
    """State of one attempt at one trial; times in seconds."""

    key: TrialKey
    attempt: int
    """From 1; earlier attempts ended in infrastructure failures."""

    task: Task | None = None
    env: Environment | None = None
    verdict: Verdict | None = None
    fault: Fault | None = None
    """A verifier fault; the trial is then unscored."""

    stop: Status = Status.ONGOING
    system_prompt: str = ""
    tools: Sequence[Mapping[str, Any]] = ()
    opening: JsonContent = ""
    steps: list[dict[str, Any]] = field(default_factory=list)
    context: str = ""
    """As in `Prefix`; not recorded."""

    pending: str | None = None
    """The action in progress; stays set if the environment fails."""

    media: dict[str, bytes] = field(default_factory=dict)
    flags: list[str] = field(default_factory=list)
    final_state: dict[str, Any] = field(default_factory=dict)
    usage: Usage = Usage()
    errors: list[int] = field(default_factory=list)
    """Failed tool calls of each turn."""

    cut_chars: int = 0
    latencies: list[float] = field(default_factory=list)
    """Duration of each model call, without time in queues."""

    aborted_s: float = 0.0
    """Time already spent on an aborted turn; counts towards its latency."""

    reset_s: float = 0.0
    agent_s: float = 0.0
    env_s: float = 0.0
    grade_s: float = 0.0
    waited: float = 0.0
    """Time in queues and between retries."""

    started_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    started: float = field(default_factory=time.perf_counter)
    """`time.perf_counter()` at the start, moved back by the time that a prefix took."""

    def end(self, flag: str, status: Status) -> None:
        """End the trial for a reason outside the environment."""
        self.flags.append(flag)
        self.stop = status

    def recorded(self, observation: Any, messages: Sequence[Message]) -> JsonContent:
        """Return the content of new messages as recorded; keep the bytes of images and files."""
        contents = [message["content"] for message in messages]
        if all(isinstance(content, str) for content in contents):
            return cast("str", observation)
        self.media = media_of(contents, self.media)
        return content_to_json(joined(contents))

    def spent(self) -> ResourcesUsed:
        """Return the resources used so far."""
        return ResourcesUsed(
            self.usage,
            self.waited,
            time.perf_counter() - self.started,
            tuple(self.latencies),
            tuple(self.errors),
            self.cut_chars,
            self.aborted_s,
            self.reset_s,
            self.agent_s,
            self.env_s,
        )

    def resume_from(self, start: Prefix) -> None:
        """Adopt steps, media and resources of a prefix."""
        spent = start.spent
        self.steps = [dict(step) for step in start.steps]
        self.media |= start.media
        self.usage, self.waited, self.latencies = spent.usage, spent.waited, [*spent.latencies]
        self.aborted_s = spent.aborted
        self.reset_s += spent.reset
        self.agent_s += spent.agent
        self.env_s += spent.env
        self.started -= spent.seconds
        if start.state is not None:  # otherwise the replayed actions have been counted
            self.errors, self.cut_chars = [*spent.errors], spent.cut_chars
        if self.steps:
            self.stop = Status(self.steps[-1]["status"])

    def record(self, earlier: Sequence[Any], fault: Fault | None, version: str) -> TrialRecord:
        """Return the trial's record, without its chain hashes.

        Args:
            earlier: Earlier attempts, as in records.
            fault: The infrastructure failure that ended this attempt, if any.
            version: The environment's version, used if no environment could be created.
        """
        env_id, task_id, seed, trial = self.key
        address = parse_address(task_id)
        infra, fault = fault is not None, fault or self.fault
        verdict = self.verdict
        scored = not infra and verdict is not None and verdict.status == "scored"
        return cast(
            "TrialRecord",
            {
                "schema": RECORD_SCHEMA,
                "key": {"env": env_id, "task": task_id, "seed": seed, "trial": trial},
                "attempt": self.attempt,
                "earlier": list(earlier),
                "task_hash": self.task.hash if self.task else "",
                "template": address.template,
                "level": address.level,
                "split": address.split,
                "stop": (Status.ERROR_ENV if infra else self.stop).value,
                "status": "infra" if infra else "scored" if scored else "unscored",
                "cause": fault.cause if fault else None if scored else "judge",
                "error": fault.message if fault else None,
                "reward": verdict.score if scored and verdict else None,
                "partial": verdict.partial if scored and verdict else None,
                "terms": dict(verdict.terms) if verdict else {},
                "evidence": dict(verdict.evidence) if verdict else {},
                "checks": checks_of(self.task) if self.task else [],
                "judges": self._judges(),
                "usage": {"agent": _usage(self.usage)} if self.usage.calls else {},
                "turns": len(self.steps),
                "tool_errors": sum(self.errors),
                "cut_chars": self.cut_chars,
                "sandbox": self.env.sandbox if self.env else "simulated",
                "flags": self.flags,
                "system_prompt_hash": text_hash(self.system_prompt),
                "opening": self.opening,
                "steps": self.steps,
                "final_state": self.final_state,
                "final_state_hash": content_hash(self.final_state),
                "env_version": self.env.version if self.env else version,
                "timing": self._timing(),
                **({"failed_action": self.pending} if infra and self.pending is not None else {}),
            },
        )

    def _judges(self) -> list[dict[str, Any]]:
        if self.task is None or self.task.rubric is None:
            return []
        from hexathlon.evaluators.judges.recorded import decided_by_code

        return decided_by_code(self.task.rubric, self.opening, self.steps)

    def _timing(self) -> dict[str, Any]:
        return {
            "started": self.started_at.isoformat(timespec="milliseconds"),
            "ended": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "reset": round(self.reset_s, 6),
            "agent": round(self.agent_s, 6),
            "env": round(self.env_s, 6),
            "grade": round(self.grade_s, 6),
            "waited": round(self.waited, 6),
            "latencies": self.latencies,
        }


def checks_of(task: Task) -> list[dict[str, Any]]:
    """Return the `checks` of a record: name, version and determinism of each verifier."""
    verifiers = [get_verifier(check.name) for check in task.checks]
    return [
        {
            "name": verifier.name,
            "version": verifier.version,
            "deterministic": verifier.deterministic,
        }
        for verifier in verifiers
    ]


def _usage(usage: Usage) -> dict[str, Any]:
    return {
        "input": usage.input,
        "output": usage.output,
        "calls": usage.calls,
        "cached": usage.cached,
        "reasoning": usage.reasoning,
        "cost": usage.cost,
    }
