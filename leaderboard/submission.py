"""One submission: a run directory read once, checked, summarised and indexed.

A submission keeps no trials: what boards compare is in its summary and, per event, in sums over the
units of the paired tests. Its memory does not grow with the number of trials.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from hexathlon.evaluators.anchors import CEILING_AGENT, FLOOR_AGENTS
from hexathlon.evaluators.records.canonical import content_hash, text_hash
from hexathlon.evaluators.records.chain import ChainFault, CheckedLine, checked_lines
from hexathlon.evaluators.records.consistency import RecordConsistency, plan_contradictions
from hexathlon.evaluators.records.plan import SUBMITTER, PlanError, read_plan, work_hash
from hexathlon.evaluators.records.reader import records_file
from hexathlon.evaluators.records.trial import RecordError
from hexathlon.evaluators.statistics import UnitSums, repeat_deviation
from hexathlon.evaluators.summary import EnvSummary, Summariser, Summary
from hexathlon.evaluators.tally import trial_seconds
from hexathlon.leaderboard.judged import Judgements, load_judgements
from hexathlon.leaderboard.predicting import EndingsSeen, Predictability
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


OUTCOMES = ("infra", "unscored", "failed", "partly", "passed")
"""Failures first."""

Trial = tuple[str, int, int]
"""(task, seed, trial)."""


class PlannedTrials(NamedTuple):
    """The trials that a plan has for one environment; equal digests mean equal trials."""

    digest: str
    number: int
    path: Path
    """The run directory."""
    env: str

    def load(self) -> frozenset[Trial]:
        """Read the trials from the plan."""
        return _trials_of(self.path, self.env)


@functools.lru_cache(maxsize=8)
def _trials_of(path: Path, env: str) -> frozenset[Trial]:
    return frozenset((t, s, n) for e, t, s, n in read_plan(path)["keys"] if e == env)


@dataclass(frozen=True, slots=True)
class Submission:
    """A run that may appear on a page."""

    path: Path
    plan: dict[str, Any]
    """Without its ``keys``; see ``planned``."""
    summary: Summary
    planned: Mapping[str, PlannedTrials]
    """By environment."""
    units: Mapping[tuple[str, str], UnitSums]
    """Sums for paired tests, by environment and version; unscored trials count as failed."""
    noise: Mapping[tuple[str, str], float | None]
    """Standard deviation of its score over repeat runs, by environment and version; None if a task
    has fewer than two trials.
    """
    work: str
    """Hash of the plan without its submitter; see `work_hash`."""
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
    predictable: Mapping[tuple[str, str], Predictability] = field(default_factory=dict)
    """Of the oracle's endings, by environment and version; empty for all other agents."""
    entry: Any = None
    """Its statement and signatures, a `SubmissionEntry`; None for a bare run."""
    begun: Callable[[], frozenset[str]] = field(default=frozenset, compare=False)
    """Returns digests of its trials with their start times."""

    @property
    def name(self) -> str:
        """The model's name, or the built-in agent's."""
        return _name(self.plan)

    @property
    def team(self) -> str:
        """The submitter of the run; empty if neither the plan nor a statement names one."""
        if self.entry is not None:
            return str(self.entry.stated.organisation)
        return str(self.plan.get(SUBMITTER, "")).strip()

    @property
    def agent(self) -> str:
        """Name and version of the agent around the model."""
        agent = self.plan.get("agent", {})
        return " ".join(str(agent[part]) for part in ("name", "version") if agent.get(part))

    @property
    def identity(self) -> str:
        """A hash of model, agent and limits: equal for repeat runs of one agent."""
        return content_hash([self.plan.get(part) for part in ("model", "agent", "limits")])

    @property
    def reference(self) -> str | None:
        """``floor`` or ``ceiling`` for the built-in agents that define them, else None."""
        return reference_of(self.plan)

    @property
    def date(self) -> str:
        """Date of the run, as YYYY-MM-DD; empty if the plan does not say."""
        found = re.match(r"\d{4}-\d{2}-\d{2}", str(self.plan.get("created", "")))
        return found.group() if found else ""

    @property
    def weights(self) -> str:
        """``open`` for checkpoints and declared open weights, ``program`` for built-in agents."""
        model = self.plan.get("model", {})
        if model.get("kind") == "agent":
            return "program"
        if self.entry is not None and self.entry.stated.model.open_weights is not None:
            return "open" if self.entry.stated.model.open_weights else "closed"
        return (
            "open" if model.get("kind") == "checkpoint" or model.get("open_weights") else "closed"
        )

    @property
    def missing(self) -> int:
        """Planned trials without a record."""
        return max(0, self.trials - self.summary.records)

    @property
    def trials(self) -> int:
        """Number of planned trials."""
        return sum(planned.number for planned in self.planned.values())

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
    reading = Reading(path)
    for _ in reading.lines():
        pass
    return reading.finish(verified, obstacle)


class Reading:
    """One pass over a run directory: `lines`, then `finish`.

    Raises:
        SubmissionRejected: If there is no readable plan, or no file of records.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self.plan = read_plan(path)
        except PlanError as error:
            raise SubmissionRejected(str(error)) from None
        if not records_file(path).exists():
            raise SubmissionRejected(f"{path} contains a plan but no records")
        self.trials: list[TrialLine] = []
        """One per record, in the order of the file."""
        self._faults: list[ChainFault] = []
        self._unplanned = ""
        self._torn = False
        self._head: str = self.plan["plan_hash"]
        self._summariser = Summariser()
        self._contradiction: str | None = None
        self._endings = EndingsSeen() if reference_of(self.plan) == "ceiling" else None

    def lines(self) -> Iterator[CheckedLine]:
        """Yield the lines of the records without faults, after counting them."""
        planned = {(env, task, seed, trial) for env, task, seed, trial in self.plan["keys"]}
        consistency = RecordConsistency(self.plan)
        faults = map(str, (f"{one.field}: {one.message}" for one in plan_contradictions(self.plan)))
        first = next(faults, None)
        self._contradiction = f"plan, {first}" if first else None
        for one in checked_lines(self.path, self.plan["plan_hash"]):
            if one.faults or one.record is None:
                self._faults += one.faults
                self._torn = not one.line.endswith(b"\n")
                continue
            if not self._faults and not self._unplanned:
                self._count(one.number, one.record, planned, consistency)
                yield one

    def _count(
        self, number: int, record: dict[str, Any], planned: set[Any], rules: RecordConsistency
    ) -> None:
        key = record["key"]
        if (key["env"], key["task"], key["seed"], key["trial"]) not in planned:
            self._unplanned = f"line {number}: the plan has no trial {tuple(key.values())}"
            return
        self._summariser.count(record)
        if self._endings is not None:
            self._endings.add(record)
        self._head = record["hash"]
        for fault in rules.contradictions(record):
            found = f"line {number}, {fault.field}: {fault.message}"
            self._contradiction = self._contradiction or found
        self.trials.append(_trial_line(number, record))

    def finish(self, verified: bool = False, obstacle: str = "") -> Submission:
        """Return the submission.

        Raises:
            SubmissionRejected: If a line has a fault; the message has the first one.
        """
        self._reject_faults()
        if not self.trials:
            raise SubmissionRejected(f"{self.path} contains no finished trial")
        try:
            summary = self._summariser.finish(self.plan)
        except RecordError as error:
            raise SubmissionRejected(str(error)) from None
        starts = frozenset(map(start_digest, self.trials))
        return Submission(
            path=self.path,
            plan={name: value for name, value in self.plan.items() if name != "keys"},
            summary=summary,
            planned=_planned(self.path, self.plan),
            units={
                (env.env, env.version): UnitSums.of(env.rank_means(), env.clusters())
                for env in summary.envs
            },
            noise={(env.env, env.version): _noise(env) for env in summary.envs},
            work=work_hash(self.plan),
            head=self._head,
            slug=f"{slug(_name(self.plan))}-{self._head[:10]}",
            verified=verified,
            obstacle=obstacle,
            torn=self._torn,
            judged=load_judgements(self.path, self.plan["plan_hash"]),
            contradiction=self._contradiction,
            predictable=self._endings.finish() if self._endings is not None else {},
            begun=lambda: starts,
        )

    def _reject_faults(self) -> None:
        real = self._faults[:-1] if self._torn else self._faults
        if real:
            more = f" (and {len(real) - 1} more faults)" if len(real) > 1 else ""
            raise SubmissionRejected(f"{records_file(self.path).name}, {real[0]}{more}")
        if self._unplanned:
            raise SubmissionRejected(self._unplanned)


def reference_of(plan: Mapping[str, Any]) -> str | None:
    """Return what a plan's agent defines, ``floor`` or ``ceiling``; None for all others."""
    model = plan.get("model", {})
    if model.get("kind") != "agent":
        return None
    if model.get("name") == CEILING_AGENT:
        return "ceiling"
    return "floor" if model.get("name") in FLOOR_AGENTS else None


def start_digest(line: TrialLine) -> str:
    """Return a digest of a trial and its start time, equal for copies of a run."""
    return text_hash(f"{line.env} {line.task} {line.seed} {line.trial} {line.started}")[:16]


def _noise(env: EnvSummary) -> float | None:
    tasks = list(env.tally.tasks.values())
    return repeat_deviation([one.passed for one in tasks], [one.scored for one in tasks])


def _planned(path: Path, plan: Mapping[str, Any]) -> dict[str, PlannedTrials]:
    trials: dict[str, list[Trial]] = {}
    for env, task, seed, trial in plan["keys"]:
        trials.setdefault(env, []).append((task, seed, trial))
    return {
        env: PlannedTrials(content_hash(sorted(set(own))), len(own), path, env)
        for env, own in trials.items()
    }


def _name(plan: Mapping[str, Any]) -> str:
    model = plan.get("model", {})
    return str(model.get("name") or model.get("kind") or "unnamed")


def _trial_line(number: int, record: dict[str, Any]) -> TrialLine:
    key, timing, tokens = record["key"], record["timing"], 0
    for use in record["usage"].values():
        tokens += int(use.get("input") or 0) + int(use.get("output") or 0)
    return TrialLine(  # in the order of its fields: keywords double the time
        number,
        key["env"],
        key["task"],
        record["template"],
        record["level"],
        key["seed"],
        key["trial"],
        record["attempt"],
        record["status"],
        record["reward"],
        record["cause"],
        record["stop"],
        record["turns"],
        tokens,
        trial_seconds(timing),
        str(timing.get("started", "")),
    )
