"""Verification of a run: its hash chain, its plan, and every trial by replaying its actions.

The required trials are derived from the plan's configuration; each must have one outcome. Fields
that no replay can confirm are listed in `NOT_VERIFIABLE`; `docs/guides/verification.md` describes
what else a run's owner could forge.
"""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from hexathlon.baselines.harness.environments import refuse_retired
from hexathlon.baselines.harness.errors import UsageError
from hexathlon.baselines.harness.finding import Finding, key_text
from hexathlon.baselines.harness.plan_check import check_plan
from hexathlon.baselines.harness.processes import Distribute, distributed, workers_of
from hexathlon.baselines.harness.progress import Progress
from hexathlon.baselines.harness.replaying import ProgramReplay, Replayer
from hexathlon.baselines.harness.run import stored_config
from hexathlon.baselines.rollout.processes import Ordered
from hexathlon.evaluators.judged.consistency import judged_contradictions
from hexathlon.evaluators.judged.file import JUDGED_FOLDER, JudgedError, judged_files, read_judged
from hexathlon.evaluators.records import RecordError, check_chain, read_records, record_key
from hexathlon.evaluators.records.consistency import RecordConsistency
from hexathlon.evaluators.records.plan import PlanError, TrialKey, read_plan
from hexathlon.tasks.validation import reason

__all__ = ["NOT_VERIFIABLE", "Finding", "Verification", "verify_run"]

NOT_VERIFIABLE = (
    "the model's identity",
    "usage",
    "timing",
    "failures of a model's server",
    "hidden attempts",
    "a judge's labels",
)
"""Statements of a run that a replay cannot confirm."""

_MAX_FINDINGS = 50

_FEW = 100
"""Records below which starting processes costs more than it saves."""


class Verification(NamedTuple):
    """The outcome of verifying a run."""

    planned: int
    """Trials that the plan's configuration selects."""

    replayed: int
    findings: tuple[Finding, ...]
    """The first fifty."""

    missing: int = 0
    """Planned trials without a record."""

    unscored: int = 0
    """Planned trials with a record but without a score."""

    @property
    def sound(self) -> bool:
        """Whether there are no findings."""
        return not self.findings


def verify_run(
    run: Path,
    salt: str | None = None,
    *,
    whole: bool = True,
    workers: int = 1,
    distribute: Distribute = distributed,
    programs: ProgramReplay | None = None,
) -> Verification:
    """Verify a run directory.

    Args:
        run: The directory.
        salt: The secret of a held-out round.
        whole: Whether a planned trial without a record is a finding.
        workers: Number of processes; 0 for one per core if there are many records.
        distribute: Distributes the replays; by default over processes of this machine.
        programs: Answers programs that worked in the terminal event, which are run again.

    Raises:
        UsageError: If the run is missing or cannot be read, or the salt is not its round's.
        EnvironmentUnavailable: If an environment of the run is retired, or not available on this
            machine. The chain has been checked then.
    """
    with Progress("verifying", None) as progress:
        return _verified(run, salt, whole, workers, progress, distribute, programs)


def _verified(
    run: Path,
    salt: str | None,
    whole: bool,
    workers: int,
    progress: Progress,
    distribute: Distribute,
    programs: ProgramReplay | None,
) -> Verification:
    try:
        plan = read_plan(run)
        faults = check_chain(run, plan["plan_hash"])
    except PlanError as error:
        raise UsageError(str(error)) from None
    except OSError as error:
        raise UsageError(f"cannot read {error.filename or run}: {reason(error)}") from None
    findings = [
        Finding("records", f"line {fault.line}, {fault.field}", fault.message) for fault in faults
    ]
    if findings:
        return Verification(len(plan["keys"]), 0, tuple(findings[:_MAX_FINDINGS]))
    refuse_retired(str(row.get("id")) for row in plan["envs"])
    try:
        config = stored_config(plan)
    except UsageError as error:
        return Verification(len(plan["keys"]), 0, (Finding("plan", "config", str(error)),))
    checked = check_plan(plan, config, salt)
    findings += checked.findings
    last = _last_attempts(run)
    missing = [key for key in checked.keys if key not in last]
    findings += _missing(missing, len(checked.keys)) if whole else []
    unscored = sum(last[key][1] != "scored" for key in checked.keys if key in last)
    replayed = 0
    env_ids = [str(row.get("id")) for row in plan["envs"]]
    count = workers_of(workers, len(last), env_ids, _FEW)
    progress.total = len(checked.keys)
    with distribute(partial(Replayer, config, salt, programs), count) as replays:
        for trial_findings in _trials(run, plan, set(checked.keys), last, replays):
            findings += trial_findings
            replayed += 1
            progress.advance()
            if len(findings) >= _MAX_FINDINGS:
                break
    findings += _judged(run, plan["plan_hash"])
    shown = tuple(findings[:_MAX_FINDINGS])
    return Verification(len(checked.keys), replayed, shown, len(missing), unscored)


def _last_attempts(run: Path) -> dict[TrialKey, tuple[int, str]]:
    """Return number and status of the last recorded attempt at each trial."""
    try:
        return {record_key(r): (r["attempt"], r["status"]) for r in read_records(run)}
    except RecordError as error:
        raise UsageError(str(error)) from None


def _missing(missing: Sequence[TrialKey], planned: int) -> Iterator[Finding]:
    if missing:
        count = f"{len(missing)} of {planned} planned trials have no record"
        yield Finding("records", "count", f"{count}, first {key_text(missing[0])}")


def _trials(
    run: Path,
    plan: Mapping[str, Any],
    keys: set[TrialKey],
    last: Mapping[TrialKey, tuple[int, str]],
    replays: Ordered[tuple[Mapping[str, Any], bool], list[tuple[str, str]]],
) -> Iterator[list[Finding]]:
    """Yield the findings of each record, those of its own fields first."""
    consistency = RecordConsistency(plan)
    waiting = deque[_Waiting]()

    def planned() -> Iterator[tuple[Mapping[str, Any], bool]]:
        for record in read_records(run):
            key = record_key(record)
            if key not in keys:
                waiting.append(_Waiting(key, {"key": "is not in the plan"}, replayed=False))
                continue
            fields = dict[str, str]()
            for field, message in consistency.contradictions(record):
                fields.setdefault(field, message)
            waiting.append(_Waiting(key, fields, replayed=True))
            yield record, record["attempt"] < last[key][0]

    for differences in replays(planned()):
        while not waiting[0].replayed:
            yield waiting.popleft().findings()
        one = waiting.popleft()
        for field, message in differences:
            one.fields.setdefault(field, message)
        yield one.findings()
    for one in waiting:
        yield one.findings()


class _Waiting(NamedTuple):
    """Facts about a record known before its replay."""

    key: TrialKey
    fields: dict[str, str]
    """Message by field."""

    replayed: bool
    """Whether the record is replayed at all."""

    def findings(self) -> list[Finding]:
        return [Finding(key_text(self.key), *item) for item in self.fields.items()]


def _judged(run: Path, plan_hash: str) -> Iterator[Finding]:
    """Yield the findings of a run's judged files; a label itself is not verifiable."""
    for path in judged_files(run):
        name = f"{JUDGED_FOLDER}/{path.name}"
        try:
            judged = read_judged(path)
            if judged.header["plan_hash"] != plan_hash:
                yield Finding(name, "header.plan_hash", "names the plan of another run")
                continue
            for field, message in judged_contradictions(judged, run):
                yield Finding(name, field, message)
        except JudgedError as error:
            yield Finding(name, "chain", str(error).replace(str(path), path.name))
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            yield Finding(name, "format", f"is not that of a judged file: {error!r}")
