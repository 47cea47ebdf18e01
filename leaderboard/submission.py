"""One submission: a run directory read once, checked, summarised and indexed.

Memory grows by a short tuple per trial; trajectories are not kept, since the pages are written in a
second pass over the file.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from hexathlon.evaluators.anchors import CEILING_AGENT, FLOOR_AGENTS
from hexathlon.evaluators.records.chain import chain_head, check_chain
from hexathlon.evaluators.records.consistency import RecordConsistency, plan_contradictions
from hexathlon.evaluators.records.plan import SUBMITTER, PlanError, read_plan
from hexathlon.evaluators.records.reader import TornLineWarning, read_records, records_file
from hexathlon.evaluators.records.trial import RecordError
from hexathlon.evaluators.summary import EnvSummary, Summariser, Summary
from hexathlon.leaderboard.judged import Judgements, load_judgements
from hexathlon.leaderboard.text import slug


class SubmissionRejected(Exception):
    """A run that may not appear: its plan or its chain of records is invalid."""


class TrialLine(NamedTuple):
    """A run's index entry for one trial."""

    line: int
    """Line in the record file; names the trial's page."""
    env: str
    task: str
    template: str
    level: str
    seed: int
    trial: int
    attempt: int
    status: str
    reward: float | None
    cause: str | None
    stop: str
    turns: int
    tokens: int
    seconds: float | None
    started: str

    @property
    def outcome(self) -> str:
        """``infra``, ``unscored``, ``failed``, ``partly`` or ``passed``."""
        if self.status != "scored" or self.reward is None:
            return self.status
        if self.reward == 1.0:
            return "passed"
        return "failed" if self.reward == 0.0 else "partly"

    @property
    def page(self) -> str:
        """Path of the trial's page within its run's folder."""
        return f"t/{self.line // 1000:03d}/{self.line:06d}.html"


OUTCOMES = ("infra", "unscored", "failed", "partly", "passed")
"""Failures first."""


@dataclass(frozen=True, slots=True)
class Submission:
    """A run that may appear on a page."""

    path: Path
    plan: dict[str, Any]
    summary: Summary
    trials: tuple[TrialLine, ...]
    """In the order of their pages: failures first, then by task."""
    head: str
    """Hash of the last record."""
    slug: str
    verified: bool
    """Whether the builder of the site replayed the run."""
    obstacle: str
    """Why an attempted replay was not possible; empty if it succeeded or was not attempted."""
    torn: bool
    """Whether the record file ends in an unfinished line."""
    rerun_by: tuple[str, ...] = ()
    """Other teams that ran the same plan independently and obtained the same score."""
    judged: Judgements = Judgements()
    """Judges' summaries of the trials; they affect neither score nor rank."""
    contradiction: str | None = None
    """The first contradiction between its own statements; such a run has no rank."""

    @property
    def name(self) -> str:
        """The model's name, or the built-in agent's."""
        return _name(self.plan)

    @property
    def team(self) -> str:
        """The submitter of the run; empty if the plan names none."""
        return str(self.plan.get(SUBMITTER, "")).strip()

    @property
    def agent(self) -> str:
        """Name and version of the agent around the model."""
        agent = self.plan.get("agent", {})
        return " ".join(str(agent[part]) for part in ("name", "version") if agent.get(part))

    @property
    def reference(self) -> str | None:
        """``floor`` or ``ceiling`` for the built-in agents that define them, else None."""
        model = self.plan.get("model", {})
        if model.get("kind") != "agent":
            return None
        if model.get("name") == CEILING_AGENT:
            return "ceiling"
        return "floor" if model.get("name") in FLOOR_AGENTS else None

    @property
    def missing(self) -> int:
        """Planned trials without a record."""
        return max(0, len(self.plan["keys"]) - self.summary.records)

    def records(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield (line number, record), read again from the file."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TornLineWarning)
            yield from enumerate(read_records(self.path), start=1)

    def env(self, env: str, version: str) -> EnvSummary | None:
        """Return the summary of one environment version."""
        matching = [e for e in self.summary.envs if (e.env, e.version) == (env, version)]
        return matching[0] if matching else None


def load_submission(path: Path, verified: bool = False, obstacle: str = "") -> Submission:
    """Read and check a run directory.

    Args:
        path: The directory.
        verified: Whether its caller has replayed it.
        obstacle: Why its caller could not.

    Raises:
        SubmissionRejected: If it is invalid; the message has the first fault and its location.
    """
    try:
        plan = read_plan(path)
        torn = _check(path, plan["plan_hash"])
        summary, trials, contradiction = _read(path, plan)
    except (PlanError, RecordError) as error:
        raise SubmissionRejected(str(error)) from None
    head = chain_head(path, plan["plan_hash"])
    return Submission(
        path=path,
        plan=plan,
        summary=summary,
        trials=trials,
        head=head,
        slug=f"{slug(_name(plan))}-{head[:10]}",
        verified=verified,
        obstacle=obstacle,
        torn=torn,
        judged=load_judgements(path, plan["plan_hash"]),
        contradiction=contradiction,
    )


def _name(plan: dict[str, Any]) -> str:
    model = plan.get("model", {})
    return str(model.get("name") or model.get("kind") or "unnamed")


def _check(path: Path, plan_hash: str) -> bool:
    """Return whether the file ends in a torn line; every other fault rejects."""
    if not records_file(path).exists():
        raise SubmissionRejected(f"{path} contains a plan but no records")
    faults = check_chain(path, plan_hash)
    torn = bool(faults) and faults[-1].message.startswith("unfinished")
    real = faults[:-1] if torn else faults
    if real:
        more = f" (and {len(real) - 1} more faults)" if len(real) > 1 else ""
        raise SubmissionRejected(f"{records_file(path).name}, {real[0]}{more}")
    return torn


def _read(path: Path, plan: dict[str, Any]) -> tuple[Summary, tuple[TrialLine, ...], str | None]:
    planned = {(env, task, seed, trial) for env, task, seed, trial in plan["keys"]}
    summariser, consistency = Summariser(), RecordConsistency(plan)
    found = next((f"plan, {one.field}: {one.message}" for one in plan_contradictions(plan)), None)
    lines = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TornLineWarning)
        for number, record in enumerate(read_records(path), start=1):
            key = record["key"]
            if (key["env"], key["task"], key["seed"], key["trial"]) not in planned:
                raise SubmissionRejected(
                    f"line {number}: the plan has no trial {tuple(key.values())}"
                )
            summariser.count(record)
            for fault in consistency.contradictions(record):
                found = found or f"line {number}, {fault.field}: {fault.message}"
            lines.append(_trial_line(number, record))
    if not lines:
        raise SubmissionRejected(f"{path} contains no finished trial")
    lines.sort(key=lambda line: (OUTCOMES.index(line.outcome), line.env, line.task, line.line))
    return summariser.finish(plan), tuple(lines), found


def _trial_line(number: int, record: dict[str, Any]) -> TrialLine:
    key, timing = record["key"], record["timing"]
    parts = [timing.get(name) for name in ("reset", "agent", "env", "grade")]
    known = [float(part) for part in parts if part is not None]
    return TrialLine(
        line=number,
        env=key["env"],
        task=key["task"],
        template=record["template"],
        level=record["level"],
        seed=key["seed"],
        trial=key["trial"],
        attempt=record["attempt"],
        status=record["status"],
        reward=record["reward"],
        cause=record["cause"],
        stop=record["stop"],
        turns=record["turns"],
        tokens=sum(
            int(use.get("input") or 0) + int(use.get("output") or 0)
            for use in record["usage"].values()
        ),
        seconds=math.fsum(known) if known else None,
        started=str(timing.get("started", "")),
    )
