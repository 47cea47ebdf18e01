"""Judges the trials of a run and puts the scores beside its records.

The records are only read. Planted controls are judged among the trials; where one of them comes out
wrong, the whole file says so and its scores are not to be published.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from hexathlon.baselines.engines.base import Usage
from hexathlon.baselines.engines.errors import EngineError
from hexathlon.baselines.harness.errors import EnvironmentUnavailable, UsageError, near_miss
from hexathlon.baselines.harness.plan import open_row
from hexathlon.baselines.harness.progress import Progress
from hexathlon.baselines.judging.client import JudgeClient
from hexathlon.baselines.judging.comparing import GroupScores, GroupwiseJudge, PairwiseJudge
from hexathlon.baselines.judging.concurrency import at_once
from hexathlon.baselines.judging.judged_file import (
    JudgedError,
    JudgedWriter,
    last_of_controls,
    last_of_trials,
    read_judged,
    spoilt,
)
from hexathlon.evaluators.judges.aggregate import score
from hexathlon.evaluators.judges.audit.document import Audit
from hexathlon.evaluators.judges.families import family_of, kinship
from hexathlon.evaluators.judges.labels import Decision
from hexathlon.evaluators.judges.rubric import Control, Criterion, Rubric, RubricError, get_rubric
from hexathlon.evaluators.judges.transcript import Transcript
from hexathlon.evaluators.plan import PlanError, TrialKey, read_plan
from hexathlon.evaluators.records import RecordError, check_chain, read_records, record_key
from hexathlon.tasks.errors import TaskError
from hexathlon.tasks.taskset import TaskSet

__all__ = ["JudgeOfCriteria", "Judged", "JudgingPlan", "judge_run", "judge_transcripts"]

Job = Callable[[], Awaitable[None]]
KINDS = ("pointwise", "pairwise", "groupwise")


class JudgeOfCriteria(Protocol):
    """What decides single criteria: a pointwise judge or a panel."""

    async def decide(
        self, criterion: Criterion, transcript: Transcript, *, repeat: int = 0
    ) -> Decision:
        """Decide one criterion."""
        ...

    async def decide_all(
        self, rubric: Rubric, transcript: Transcript, *, repeat: int = 0
    ) -> list[Decision]:
        """Decide all criteria of a rubric."""
        ...


@dataclass(frozen=True, slots=True)
class JudgingPlan:
    """What is judged, by whom."""

    run: Path
    rubric: Rubric | None
    """None takes each task's own."""

    kind: str = "pointwise"
    judges: Sequence[Mapping[str, Any]] = ()
    """Identities, as records hold them; none where code decides everything."""

    families: tuple[str, ...] = ()
    audits: Sequence[Audit | None] = ()
    """Each judge's audit, None for an unaudited judge."""

    permutations: int = 2
    salt: str | None = None


class Judged(NamedTuple):
    """What judging a run came to."""

    path: Path
    trials: int
    scored: int
    controls: int
    missed: tuple[str, ...]
    """Controls that came out wrong, with what was said."""

    usage: Usage


class _Trial(NamedTuple):
    record: Mapping[str, Any]
    rubric: Rubric

    @property
    def key(self) -> TrialKey:
        return record_key(self.record)


def judge_run(
    plan: JudgingPlan, clients: Sequence[JudgeClient], judge: JudgeOfCriteria, concurrency: int
) -> Judged:
    """Judge every trial of a run that is not judged yet.

    Args:
        plan: What is judged.
        clients: Ask the models: one, several of a panel, or none where code decides everything.
        judge: Decides single criteria.
        concurrency: Trials under way at once.

    Raises:
        UsageError: The run does not read, or no rubric can be had.
        EnvironmentUnavailable: The judge's server fails for good.
    """
    try:
        header, trials = _read(plan)
        with JudgedWriter(plan.run, header) as writer:
            work = _Work(plan, clients, judge, writer, concurrency)
            try:
                return asyncio.run(work.all(trials))
            except EngineError as error:
                raise EnvironmentUnavailable(f"{error.kind}: {error}") from None
    except (PlanError, RecordError, JudgedError, OSError) as error:
        raise UsageError(str(error)) from None


async def judge_transcripts(
    judge: JudgeOfCriteria,
    rubric: Rubric,
    transcripts: Iterable[Transcript],
    done: Callable[[int, list[Decision]], None],
    concurrency: int = 64,
) -> None:
    """Judge transcripts by a rubric, so many at once, and hand over each as it is done.

    Args:
        judge: Decides single criteria.
        rubric: What is asked.
        transcripts: Read one by one as places become free.
        done: Gets the transcript's number and its decisions.
        concurrency: Transcripts under way at once.
    """

    async def one(pair: tuple[int, Transcript]) -> None:
        done(pair[0], await judge.decide_all(rubric, pair[1]))

    await at_once(enumerate(transcripts), one, concurrency)


class _Work:
    """Judges trials, groups and controls, and writes what comes of them."""

    def __init__(
        self,
        plan: JudgingPlan,
        clients: Sequence[JudgeClient],
        judge: JudgeOfCriteria,
        writer: JudgedWriter,
        concurrency: int,
    ) -> None:
        self._plan, self._clients, self._judge = plan, clients, judge
        self._writer, self._concurrency = writer, concurrency
        self._done = {record_key(line) for line in last_of_trials(writer.done) if not spoilt(line)}
        self._controlled = {
            row["id"] for row in last_of_controls(writer.done) if row["why"] != "provider"
        }
        self._progress: Progress | None = None

    async def all(self, trials: Sequence[_Trial]) -> Judged:
        rubrics = {trial.rubric.hash: trial.rubric for trial in trials}
        controls = [pair for one in rubrics.values() for pair in _controls(one)]
        left = [trial for trial in trials if trial.key not in self._done]
        controls = [row for row in controls if row[0] not in self._controlled]
        jobs: list[Job]
        if self._plan.kind == "pointwise":
            planted: list[Job] = [partial(self._control, *row) for row in controls]
            jobs = _mixed([partial(self._one, trial) for trial in left], planted)
        else:
            groups = [group for group in _groups(trials) if not self._is_done(group)]
            jobs = [partial(self._group, group) for group in groups]
        try:
            with Progress("judging", len(jobs)) as self._progress:
                await at_once(jobs, self._run, self._concurrency)
        finally:
            for client in self._clients:
                await client.close()
        return self._judged()

    def _is_done(self, group: Sequence[_Trial]) -> bool:
        return all(trial.key in self._done for trial in group)

    async def _run(self, job: Job) -> None:
        await job()
        if self._progress is not None:
            self._progress.advance()

    async def _one(self, trial: _Trial) -> None:
        transcript = Transcript.of_record(trial.record)
        decisions = await self._judge.decide_all(trial.rubric, transcript)
        found = score(trial.rubric, {one.criterion: one.value for one in decisions})
        self._writer.append(
            {
                **_head(trial),
                "judges": [one.as_json() for one in decisions],
                "score": found.value,
                "bounds": [found.low, found.high],
                "undecided": found.undecided,
            }
        )

    async def _control(self, name: str, criterion: Criterion, control: Control) -> None:
        transcript = Transcript.of_reply(control.question, control.reply)
        decision = await self._judge.decide(criterion, transcript)
        row = {"id": name, "expected": control.label, "label": decision.label}
        hit = decision.label == control.label
        self._writer.append({"control": {**row, "hit": hit, "why": decision.why}})

    async def _group(self, group: Sequence[_Trial]) -> None:
        transcripts = [Transcript.of_record(trial.record) for trial in group]
        rubric = group[0].rubric
        found = await self._compared(rubric, transcripts, group[0].key[1])
        for trial, value, flags in zip(
            group, found.values, found.flags or ((),) * len(group), strict=True
        ):
            if trial.key in self._done:
                continue
            self._writer.append(
                {
                    **_head(trial),
                    "judges": [],
                    "score": value,
                    "bounds": [0.0, 1.0] if value is None else [value, value],
                    "undecided": int(value is None),
                    "group": {
                        "members": len(group),
                        "calls": found.calls,
                        "answered": found.answered,
                        "faults": list(found.faults),
                        "flags": list(flags),
                    },
                }
            )

    async def _compared(
        self, rubric: Rubric, transcripts: Sequence[Transcript], task: str
    ) -> GroupScores:
        (client,) = self._clients
        if self._plan.kind == "pairwise":
            return await PairwiseJudge(client).tournament(rubric, transcripts)
        judge = GroupwiseJudge(client, permutations=self._plan.permutations)
        return await judge.judge(rubric, transcripts, address=[task])

    def _judged(self) -> Judged:
        usage = Usage()
        for client in self._clients:
            usage = usage.plus(client.usage)
        if usage.calls:
            latencies = [value for client in self._clients for value in client.latencies]
            places = [client.identity.place for client in self._clients]
            timing = {"latencies": latencies, "places": places}
            self._writer.append({"usage": usage._asdict(), "timing": timing})
        lines = read_judged(self._writer.path).lines
        trials = last_of_trials(lines)
        controls = last_of_controls(lines)
        return Judged(
            self._writer.path,
            len(trials),
            sum(line["score"] is not None for line in trials),
            len(controls),
            tuple(
                f"{one['id']}: expected {one['expected']}, got {one['label']}"
                for one in controls
                if not one["hit"]
            ),
            usage,
        )


def _read(plan: JudgingPlan) -> tuple[dict[str, Any], list[_Trial]]:
    if plan.kind not in KINDS:
        raise UsageError(near_miss("kind of judge", plan.kind, KINDS))
    if plan.kind != "pointwise" and len(plan.judges) != 1:
        raise UsageError(f"judging {plan.kind} needs one model: --model")
    stored = read_plan(plan.run)
    faults = check_chain(plan.run, stored["plan_hash"])
    if faults:
        raise UsageError(f"{plan.run}: {faults[0]}; a run whose chain is broken is not judged")
    records = {record_key(one): one for one in read_records(plan.run) if one["status"] != "infra"}
    rubric_of = _rubrics(plan, stored)
    trials = [
        _Trial(record, rubric)
        for record in records.values()
        if (rubric := rubric_of(record)) is not None
    ]
    if not plan.judges and any(trial.rubric.judged for trial in trials):
        raise UsageError("the rubric has criteria that no code decides: give a judge by --model")
    if not trials:
        raise UsageError(
            f"no trial of {plan.run} can be judged: its tasks name none; give one by --rubric"
        )
    return _header(plan, stored, trials), trials


def _header(
    plan: JudgingPlan, stored: Mapping[str, Any], trials: Sequence[_Trial]
) -> dict[str, Any]:
    model = stored["model"]
    own = () if model["kind"] == "agent" else family_of(str(model["name"]))
    kin = "different" if model["kind"] == "agent" else kinship(plan.families, own)
    rubrics = {trial.rubric.hash: trial.rubric for trial in trials}
    return {
        "run_id": stored["run_id"],
        "plan_hash": stored["plan_hash"],
        "kind": plan.kind,
        "judges": [dict(one) for one in plan.judges],
        "rubrics": {name: one.model_dump(mode="json") for name, one in sorted(rubrics.items())},
        "audits": [None if one is None else one.hash for one in plan.audits],
        "audited": bool(plan.audits) and all(one is not None for one in plan.audits),
        "experimental": _experimental(plan.audits, list(rubrics.values())),
        "kinship": kin if len(plan.families) < 3 else "panel",
        "permutations": plan.permutations if plan.kind == "groupwise" else None,
    }


def _experimental(audits: Sequence[Audit | None], rubrics: Sequence[Rubric]) -> list[str]:
    """Return the judged criteria that not every judge's audit establishes."""
    found: set[str] = set()
    for rubric in rubrics:
        for audit in audits or (None,):
            ids = [one.id for one in rubric.judged]
            found.update(ids if audit is None else audit.experimental(rubric))
    return sorted(found)


def _rubrics(
    plan: JudgingPlan, stored: Mapping[str, Any]
) -> Callable[[Mapping[str, Any]], Rubric | None]:
    """Return a function from a record to its rubric."""
    if plan.rubric is not None:
        chosen = plan.rubric
        return lambda record: chosen
    sets: dict[tuple[str, str], TaskSet] = {
        (row["taskset"], row["split"]): open_row(row, plan.salt) for row in stored["envs"]
    }

    def named(record: Mapping[str, Any]) -> Rubric | None:
        task_id = record["key"]["task"]
        try:
            task = sets[task_id.partition("/")[0], record["split"]].get(task_id)
            return None if task.rubric is None else get_rubric(task.rubric)
        except (KeyError, TaskError, RubricError) as error:
            raise UsageError(f"{task_id}: {error}") from None

    return named


def _controls(rubric: Rubric) -> list[tuple[str, Criterion, Control]]:
    """Return the planted controls of a rubric's judged criteria, each with a name."""
    return [
        (f"{rubric.id}/{one.id}/{number}", one, control)
        for one in rubric.judged
        for number, control in enumerate(one.controls, start=1)
    ]


def _mixed(jobs: list[Job], planted: list[Job]) -> list[Job]:
    """Spread the planted jobs evenly among the others."""
    if not planted:
        return jobs
    every = max(1, len(jobs) // len(planted))
    mixed: list[Job] = []
    waiting = list(planted)
    for number, job in enumerate(jobs):
        if number % every == 0 and waiting:
            mixed.append(waiting.pop(0))
        mixed.append(job)
    return mixed + waiting


def _groups(trials: Sequence[_Trial]) -> list[list[_Trial]]:
    """Return the trials of each task that has several."""
    groups: dict[tuple[str, str], list[_Trial]] = {}
    for trial in trials:
        groups.setdefault((trial.key[0], trial.key[1]), []).append(trial)
    found = [group for group in groups.values() if len(group) > 1]
    if not found and trials:
        raise UsageError("comparing needs tasks with several trials; this run has one of each")
    return found


def _head(trial: _Trial) -> dict[str, Any]:
    return {
        "key": dict(trial.record["key"]),
        "record": trial.record["hash"],
        "rubric": trial.rubric.hash,
        "reward": trial.record["reward"],
    }
