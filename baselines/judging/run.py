"""Judges the trials of a run and writes the scores to a file beside its records.

Records are never modified. Planted controls are judged among the trials; if one of them is decided
wrongly, the file says so and its scores must not be published.
"""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from hexathlon.baselines import interrupts
from hexathlon.baselines.engines.base import Usage
from hexathlon.baselines.engines.errors import EngineError
from hexathlon.baselines.harness.errors import EnvironmentUnavailable, UsageError
from hexathlon.baselines.harness.progress import Progress
from hexathlon.baselines.judging.client import JudgeClient
from hexathlon.baselines.judging.comparing import GroupScores, GroupwiseJudge, PairwiseJudge
from hexathlon.baselines.judging.concurrency import run_concurrently
from hexathlon.baselines.judging.plan import JudgedTrial, JudgingPlan, trials_of
from hexathlon.evaluators.judged.consistency import COMPARISONS
from hexathlon.evaluators.judged.file import (
    JudgedError,
    JudgedWriter,
    is_infra_failure,
    last_of_controls,
    last_of_trials,
    read_judged,
)
from hexathlon.evaluators.judges.aggregate import score
from hexathlon.evaluators.judges.labels import Decision
from hexathlon.evaluators.judges.rubric import Control, Criterion, Rubric
from hexathlon.evaluators.judges.transcript import JudgedTranscript
from hexathlon.evaluators.records import RecordError, record_key
from hexathlon.evaluators.records.plan import PlanError

__all__ = ["CriterionJudge", "JudgingSummary", "judge_run"]

Job = Callable[[], Awaitable[None]]


class CriterionJudge(Protocol):
    """Interface of judges that decide single criteria, such as a pointwise judge or a panel."""

    async def decide(
        self, criterion: Criterion, transcript: JudgedTranscript, *, repeat: int = 0
    ) -> Decision:
        """Decide one criterion."""
        ...

    async def decide_all(
        self, rubric: Rubric, transcript: JudgedTranscript, *, repeat: int = 0
    ) -> list[Decision]:
        """Decide all criteria of a rubric."""
        ...


class JudgingSummary(NamedTuple):
    """Summary of judging a run."""

    path: Path
    trials: int
    scored: int
    controls: int
    missed: tuple[str, ...]
    """Controls that were decided wrongly, with expected and actual label."""

    usage: Usage


def judge_run(
    plan: JudgingPlan, clients: Sequence[JudgeClient], judge: CriterionJudge, concurrency: int
) -> JudgingSummary:
    """Judge all trials of a run that have not been judged yet.

    Args:
        plan: The run, its judges and the rubric.
        clients: Clients of the models: one, several for a panel, none if code decides everything.
        judge: Decides single criteria.
        concurrency: Maximum number of trials judged concurrently.

    Raises:
        UsageError: If the run cannot be read, or there is no rubric.
        EnvironmentUnavailable: If the judge's server fails permanently.
    """
    try:
        header, trials = trials_of(plan)
        with JudgedWriter(plan.run, header) as writer:
            work = _Work(plan, clients, judge, writer, concurrency)
            try:
                return interrupts.run(work.all(trials))
            except EngineError as error:
                raise EnvironmentUnavailable(f"{error.kind}: {error}") from None
    except (PlanError, RecordError, JudgedError, OSError) as error:
        raise UsageError(str(error)) from None


class _Work:
    """Judges trials, groups and controls, and writes the results."""

    def __init__(
        self,
        plan: JudgingPlan,
        clients: Sequence[JudgeClient],
        judge: CriterionJudge,
        writer: JudgedWriter,
        concurrency: int,
    ) -> None:
        self._plan, self._clients, self._judge = plan, clients, judge
        self._writer, self._concurrency = writer, concurrency
        self._done = {
            record_key(line) for line in last_of_trials(writer.done) if not is_infra_failure(line)
        }
        self._controlled = {
            row["id"] for row in last_of_controls(writer.done) if row["why"] != "provider"
        }
        self._images = any(client.identity.images for client in clients)
        self._progress: Progress | None = None

    async def all(self, trials: Sequence[JudgedTrial]) -> JudgingSummary:
        rubrics = {trial.rubric.hash: trial.rubric for trial in trials}
        controls = [row for rubric in rubrics.values() for row in _controls(rubric)]
        left = [trial for trial in trials if trial.key not in self._done]
        controls = [row for row in controls if row[0] not in self._controlled]
        jobs: list[Job]
        if self._plan.kind not in COMPARISONS:
            planted: list[Job] = [partial(self._control, *row) for row in controls]
            jobs = _interleaved([partial(self._trial, trial) for trial in left], planted)
        else:
            groups = [group for group in _groups(trials) if not self._is_done(group)]
            jobs = [partial(self._group, group) for group in groups]
        try:
            with Progress("judging", len(jobs)) as self._progress:
                await run_concurrently(jobs, self._run, self._concurrency)
        finally:
            for client in self._clients:
                await client.close()
        return self._summary()

    def _is_done(self, group: Sequence[JudgedTrial]) -> bool:
        return all(trial.key in self._done for trial in group)

    async def _run(self, job: Job) -> None:
        await job()
        if self._progress is not None:
            self._progress.advance()

    async def _trial(self, trial: JudgedTrial) -> None:
        transcript = trial.transcript(images=self._images)
        decisions = await self._judge.decide_all(trial.rubric, transcript)
        values = {decision.criterion: decision.value for decision in decisions}
        total = score(trial.rubric, values)
        self._writer.append(
            {
                **_head(trial),
                **_image_hashes(transcript),
                "judges": [decision.as_json() for decision in decisions],
                "score": total.value,
                "bounds": [total.low, total.high],
                "undecided": total.undecided,
            }
        )

    async def _control(self, name: str, criterion: Criterion, control: Control) -> None:
        transcript = JudgedTranscript.of_reply(control.question, control.reply)
        decision = await self._judge.decide(criterion, transcript)
        row = {"id": name, "expected": control.label, "label": decision.label}
        hit = decision.label == control.label
        self._writer.append({"control": {**row, "hit": hit, "why": decision.why}})

    async def _group(self, group: Sequence[JudgedTrial]) -> None:
        transcripts = [trial.transcript(images=self._images) for trial in group]
        rubric = group[0].rubric
        scores = await self._compare(rubric, transcripts, group[0].key[1])
        for trial, transcript, value, flags in zip(
            group, transcripts, scores.values, scores.flags, strict=True
        ):
            if trial.key in self._done:
                continue
            self._writer.append(
                {
                    **_head(trial),
                    **_image_hashes(transcript),
                    "judges": [],
                    "score": value,
                    "bounds": [0.0, 1.0] if value is None else [value, value],
                    "undecided": int(value is None),
                    "group": {
                        "members": len(group),
                        "calls": scores.calls,
                        "answered": scores.answered,
                        "faults": list(scores.faults),
                        "flags": list(flags),
                    },
                }
            )

    async def _compare(
        self, rubric: Rubric, transcripts: Sequence[JudgedTranscript], task: str
    ) -> GroupScores:
        (client,) = self._clients
        if self._plan.kind == "pairwise":
            return await PairwiseJudge(client).tournament(rubric, transcripts)
        judge = GroupwiseJudge(client, permutations=self._plan.permutations)
        return await judge.judge(rubric, transcripts, address=[task])

    def _summary(self) -> JudgingSummary:
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
        return JudgingSummary(
            self._writer.path,
            len(trials),
            sum(line["score"] is not None for line in trials),
            len(controls),
            tuple(
                f"{control['id']}: expected {control['expected']}, got {control['label']}"
                for control in controls
                if not control["hit"]
            ),
            usage,
        )


def _controls(rubric: Rubric) -> list[tuple[str, Criterion, Control]]:
    """Return (name, criterion, control) for all planted controls of a rubric."""
    return [
        (f"{rubric.id}/{criterion.id}/{number}", criterion, control)
        for criterion in rubric.judged
        for number, control in enumerate(criterion.controls, start=1)
    ]


def _interleaved(jobs: list[Job], planted: list[Job]) -> list[Job]:
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


def _groups(trials: Sequence[JudgedTrial]) -> list[list[JudgedTrial]]:
    """Return the trials of each task that has several, as groups."""
    groups: dict[tuple[str, str], list[JudgedTrial]] = {}
    for trial in trials:
        groups.setdefault((trial.key[0], trial.key[1]), []).append(trial)
    comparable = [group for group in groups.values() if len(group) > 1]
    if not comparable and trials:
        raise UsageError("comparisons need several trials per task; this run has one of each")
    return comparable


def _image_hashes(transcript: JudgedTranscript) -> dict[str, Any]:
    """Return the field with the hashes of images sent to the judge; empty without images."""
    images = transcript.images
    return {"images": [image.sha256 for image in images]} if images else {}


def _head(trial: JudgedTrial) -> dict[str, Any]:
    return {
        "key": dict(trial.head["key"]),
        "record": trial.head["hash"],
        "rubric": trial.rubric.hash,
        "reward": trial.head["reward"],
    }
