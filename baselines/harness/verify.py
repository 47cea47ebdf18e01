"""Verifies a run: the hash chain, the plan, and every trial by playing its actions again.

A replay rebuilds the task, takes the recorded actions in a fresh environment and compares all that
the record says of the course and its outcome. What no replay can show (token counts, clocks, which
model it was) is named as not verifiable.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from hexathlon.baselines.agents.base import Episode
from hexathlon.baselines.agents.replay import ReplayPlayer
from hexathlon.baselines.harness.environments import find_environment, make_environment
from hexathlon.baselines.harness.errors import EnvironmentUnavailable, UsageError
from hexathlon.baselines.harness.plan import open_row
from hexathlon.baselines.harness.progress import Progress
from hexathlon.baselines.harness.run import stored_config
from hexathlon.baselines.rollout.course import play
from hexathlon.baselines.rollout.rollout import EnvironmentSlot, Fatal, Rollout
from hexathlon.envs.status import Status
from hexathlon.evaluators.records import (
    RecordError,
    TrialRecord,
    check_chain,
    completed_keys,
    read_records,
    record_key,
)
from hexathlon.evaluators.records.plan import PlanError, TrialKey, plan_keys, read_plan
from hexathlon.tasks.validation import reason

__all__ = ["NOT_VERIFIABLE", "Finding", "Verification", "replay_differences", "verify_run"]

NOT_VERIFIABLE = (
    "usage",
    "timing",
    "earlier",
    "flags",
    "steps[].said",
    "steps[].tokens",
    "the model's identity",
)
"""What a replay cannot show."""

_COURSE = ("task_hash", "system_prompt_hash", "opening", "template", "level", "split")
_OUTCOME = ("stop", "status", "reward", "partial", "terms", "evidence", "checks", "judges")
_COUNTS = ("turns", "tool_errors", "cut_chars", "sandbox", "env_version", "final_state")
_STEP = ("observation", "reward", "status")
_FROM_OUTSIDE = (Status.TRUNCATED_LENGTH, Status.TRUNCATED_TIME, Status.ABORTED)
_MOST_FINDINGS = 50


class Finding(NamedTuple):
    """One thing that is not as it has to be."""

    trial: str
    """The trial's key as text; `plan` or `records` for the whole."""

    field: str
    message: str

    def __str__(self) -> str:
        return f"{self.trial}: {self.field}: {self.message}"


class Verification(NamedTuple):
    """The outcome of verifying a run."""

    planned: int
    replayed: int
    findings: tuple[Finding, ...]
    """The first fifty."""

    @property
    def sound(self) -> bool:
        """Whether nothing was found."""
        return not self.findings


def verify_run(run: Path, salt: str | None = None, *, whole: bool = True) -> Verification:
    """Verify a run folder.

    Args:
        run: The folder.
        salt: The secret of a held-out round.
        whole: Whether a trial of the plan without a record is a finding.

    Raises:
        UsageError: There is no run that could be read.
        EnvironmentUnavailable: Its environment is not on this machine.
    """
    try:
        plan = read_plan(run)
        findings = [
            Finding("records", f"line {fault.line}, {fault.field}", fault.message)
            for fault in check_chain(run, plan["plan_hash"])
        ]
    except PlanError as error:
        raise UsageError(str(error)) from None
    except OSError as error:
        raise UsageError(f"cannot read {error.filename or run}: {reason(error)}") from None
    keys = plan_keys(plan)
    replayed = 0
    if not findings:
        findings += _plan_findings(plan, salt)
        findings += _missing(run, keys) if whole else []
        with Progress("verifying", len(keys)) as progress:
            for found in _replays(run, plan, set(keys), salt):
                findings += found
                replayed += 1
                progress.advance()
                if len(findings) >= _MOST_FINDINGS:
                    break
    return Verification(len(keys), replayed, tuple(findings[:_MOST_FINDINGS]))


def replay_differences(
    record: Mapping[str, Any], again: Mapping[str, Any]
) -> list[tuple[str, str]]:
    """Return (field, what differs) for all in which a replay contradicts a record.

    A spoilt trial is compared as far as it went; a verdict that the recorded checks cannot give
    twice, or that no verifier reached, is left out.
    """
    names = [*_COURSE]
    if record["status"] != "infra":
        names += [name for name in _COUNTS if name != "turns"]
        names += [*_OUTCOME] if _judged_alike(record) else ["checks"]
    differences = [
        (name, f"recorded {_shown(record[name])}, the replay gives {_shown(again[name])}")
        for name in names
        if record[name] != again[name] and not (name == "stop" and _stopped_outside(record))
    ]
    return differences + list(_step_differences(record, again))


def _judged_alike(record: Mapping[str, Any]) -> bool:
    fixed = all(check["deterministic"] for check in record["checks"])
    return fixed and record["cause"] not in ("verifier", "judge")


def _stopped_outside(record: Mapping[str, Any]) -> bool:
    """Whether the record says that a budget of the run, not the environment, ended the trial."""
    steps = record["steps"]
    return (not steps or steps[-1]["status"] == Status.ONGOING) and (
        record["stop"] in _FROM_OUTSIDE
    )


def _step_differences(
    record: Mapping[str, Any], again: Mapping[str, Any]
) -> Iterator[tuple[str, str]]:
    if record["turns"] != len(record["steps"]):
        yield "turns", f"recorded {record['turns']}, there are {len(record['steps'])} steps"
    if len(again["steps"]) != len(record["steps"]):
        count = f"the replay ended after {len(again['steps'])} of {len(record['steps'])} steps"
        yield "steps", f"{count} ({again['error'] or again['stop']})"
    for step, other in zip(record["steps"], again["steps"], strict=False):
        for name in _STEP:
            if step[name] != other[name]:
                yield (
                    f"steps[{step['index']}].{name}",
                    f"recorded {_shown(step[name])}, the replay gives {_shown(other[name])}",
                )


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 160 else f"{text[:160]}…"


def _plan_findings(plan: Mapping[str, Any], salt: str | None) -> Iterator[Finding]:
    for index, row in enumerate(plan["envs"]):
        tasks = open_row(row, salt)
        for name, value in (
            ("taskset_version", tasks.version),
            ("taskset_hash", tasks.content_hash),
        ):
            if row.get(name) != value:
                yield Finding(
                    "plan",
                    f"envs[{index}].{name}",
                    f"the plan names {row.get(name)}, here it is {value}",
                )


def _missing(run: Path, keys: Sequence[TrialKey]) -> Iterator[Finding]:
    done = completed_keys(run)
    missing = [key for key in keys if key not in done]
    if missing:
        yield Finding(
            "records",
            "count",
            f"{len(missing)} of {len(keys)} planned trials have no record, first {missing[0]}",
        )


def _replays(
    run: Path, plan: Mapping[str, Any], keys: set[TrialKey], salt: str | None
) -> Iterator[list[Finding]]:
    limits = stored_config(plan).limits
    slots: dict[str, EnvironmentSlot] = {}
    try:
        for record in read_records(run):
            key = record_key(record)
            if key not in keys:
                yield [Finding(_named(key), "key", "is not in the plan")]
                continue
            if key[0] not in slots:
                find_environment(key[0])
                slots[key[0]] = EnvironmentSlot(make_environment(key[0], limits))
            again = _replay(record, slots[key[0]], salt)
            yield [Finding(_named(key), *found) for found in replay_differences(record, again)]
    except RecordError as error:
        raise UsageError(str(error)) from None
    finally:
        for slot in slots.values():
            slot.close()


def _replay(record: Mapping[str, Any], slot: EnvironmentSlot, salt: str | None) -> TrialRecord:
    rollout = Rollout(_Recorded(record), retries=0, salt=salt)
    try:
        return play(rollout.trial(slot, record_key(record))).record
    except Fatal as error:
        raise EnvironmentUnavailable(str(error)) from error


def _named(key: TrialKey) -> str:
    env, task, seed, trial = key
    return f"{env} {task} seed {seed} trial {trial}"


class _Recorded:
    """Plays the actions of one record."""

    name = "replay"
    version = "1"
    asynchronous = False

    def __init__(self, record: Mapping[str, Any]) -> None:
        self._actions = [step["action"] for step in record["steps"]]

    def begin(self, episode: Episode) -> ReplayPlayer:
        return ReplayPlayer(self._actions)
