"""Verification of a run: its hash chain, its plan, and every trial by replaying its actions.

A replay rebuilds the task, takes the recorded actions in a fresh environment and compares every
field that describes the episode and its outcome. Fields that no replay can confirm (token counts,
clocks, the model's identity) are listed in `NOT_VERIFIABLE`.
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
from hexathlon.baselines.rollout.drivers import play
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
"""Parts of a record that a replay cannot confirm."""

_SETUP = ("task_hash", "system_prompt_hash", "opening", "template", "level", "split")
_OUTCOME = ("stop", "status", "reward", "partial", "terms", "evidence", "checks", "judges")
_COUNTS = ("turns", "tool_errors", "cut_chars", "sandbox", "env_version", "final_state")
_STEP = ("observation", "reward", "status")
_RUN_LIMITS = (Status.TRUNCATED_LENGTH, Status.TRUNCATED_TIME, Status.ABORTED)
_MAX_FINDINGS = 50


class Finding(NamedTuple):
    """One discrepancy between a run and its replay."""

    trial: str
    """The trial's key as text; `plan` or `records` for findings on the whole run."""

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
        """Whether there are no findings."""
        return not self.findings


def verify_run(run: Path, salt: str | None = None, *, whole: bool = True) -> Verification:
    """Verify a run directory.

    Args:
        run: The directory.
        salt: The secret of a held-out round.
        whole: Whether a planned trial without a record is a finding.

    Raises:
        UsageError: If the run is missing or cannot be read.
        EnvironmentUnavailable: If an environment of the run is not available on this machine.
    """
    try:
        plan = read_plan(run)
        findings = [
            Finding("records", f"line {fault.line}, {fault.field}", fault.message)
            for fault in check_chain(run, plan["plan_hash"])
        ]
    except (PlanError, OSError) as error:
        raise UsageError(str(error)) from None
    keys = plan_keys(plan)
    replayed = 0
    if not findings:
        findings += _plan_findings(plan, salt)
        findings += _missing(run, keys) if whole else []
        with Progress("verifying", len(keys)) as progress:
            for trial_findings in _replays(run, plan, set(keys), salt):
                findings += trial_findings
                replayed += 1
                progress.advance()
                if len(findings) >= _MAX_FINDINGS:
                    break
    return Verification(len(keys), replayed, tuple(findings[:_MAX_FINDINGS]))


def replay_differences(
    record: Mapping[str, Any], replayed: Mapping[str, Any]
) -> list[tuple[str, str]]:
    """Return (field, difference) for every field in which a replay contradicts a record.

    A trial that ended in an infrastructure failure is compared up to the failure. Verdicts are not
    compared if a check is not deterministic, or if the verifier or judge failed.
    """
    names = [*_SETUP]
    if record["status"] != "infra":
        names += [name for name in _COUNTS if name != "turns"]
        names += [*_OUTCOME] if _reproducible_verdict(record) else ["checks"]
    differences = [
        (name, _difference(record[name], replayed[name]))
        for name in names
        if record[name] != replayed[name] and not (name == "stop" and _stopped_by_run(record))
    ]
    return differences + list(_step_differences(record, replayed))


def _reproducible_verdict(record: Mapping[str, Any]) -> bool:
    deterministic = all(check["deterministic"] for check in record["checks"])
    return deterministic and record["cause"] not in ("verifier", "judge")


def _stopped_by_run(record: Mapping[str, Any]) -> bool:
    """Whether the record says that a limit of the run, not the environment, ended the trial."""
    steps = record["steps"]
    return (not steps or steps[-1]["status"] == Status.ONGOING) and record["stop"] in _RUN_LIMITS


def _step_differences(
    record: Mapping[str, Any], replayed: Mapping[str, Any]
) -> Iterator[tuple[str, str]]:
    if record["turns"] != len(record["steps"]):
        yield "turns", f"recorded {record['turns']}, but there are {len(record['steps'])} steps"
    if len(replayed["steps"]) != len(record["steps"]):
        count = f"the replay ended after {len(replayed['steps'])} of {len(record['steps'])} steps"
        yield "steps", f"{count} ({replayed['error'] or replayed['stop']})"
    for step, other in zip(record["steps"], replayed["steps"], strict=False):
        for name in _STEP:
            if step[name] != other[name]:
                yield f"steps[{step['index']}].{name}", _difference(step[name], other[name])


def _difference(recorded: Any, replayed: Any) -> str:
    return f"recorded {_abridged(recorded)}, replayed {_abridged(replayed)}"


def _abridged(value: Any) -> str:
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
                    f"the plan has {row.get(name)}, this installation {value}",
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
                yield [Finding(_key_text(key), "key", "is not in the plan")]
                continue
            if key[0] not in slots:
                find_environment(key[0])
                slots[key[0]] = EnvironmentSlot(make_environment(key[0], limits))
            replayed = _replay(record, slots[key[0]], salt)
            differences = replay_differences(record, replayed)
            yield [Finding(_key_text(key), *difference) for difference in differences]
    except RecordError as error:
        raise UsageError(str(error)) from None
    finally:
        for slot in slots.values():
            slot.close()


def _replay(record: Mapping[str, Any], slot: EnvironmentSlot, salt: str | None) -> TrialRecord:
    rollout = Rollout(_RecordedAgent(record), retries=0, salt=salt)
    try:
        return play(rollout.trial(slot, record_key(record))).record
    except Fatal as error:
        raise EnvironmentUnavailable(str(error)) from error


def _key_text(key: TrialKey) -> str:
    env, task, seed, trial = key
    return f"{env} {task} seed {seed} trial {trial}"


class _RecordedAgent:
    """Replays the actions of one record."""

    name = "replay"
    version = "1"
    asynchronous = False

    def __init__(self, record: Mapping[str, Any]) -> None:
        self._actions = [step["action"] for step in record["steps"]]

    def begin(self, episode: Episode) -> ReplayPlayer:
        return ReplayPlayer(self._actions)
