"""Plays the planned trials that have no record yet.

Starting and resuming a run are the same operation: the plan is built from the configuration, must
equal the one stored in the run directory, and every key without a record is played. A run killed
at any point is therefore continued by the command that started it.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple

from hexathlon.baselines import interrupts
from hexathlon.baselines.agents.base import AgentMismatch
from hexathlon.baselines.engines.errors import EngineError, EngineMissing
from hexathlon.baselines.harness.budget import RunBudget
from hexathlon.baselines.harness.config import EvalConfig, ExecutionConfig
from hexathlon.baselines.harness.environments import refuse_retired
from hexathlon.baselines.harness.errors import (
    CommandError,
    EnvironmentUnavailable,
    PlanDiffers,
    UsageError,
)
from hexathlon.baselines.harness.models import OpenedModel, open_model
from hexathlon.baselines.harness.plan import build_plan, read_salt
from hexathlon.baselines.harness.player import (
    OpenPlayers,
    RemotePlayers,
    RemoteSetup,
    TrialPlayer,
)
from hexathlon.baselines.harness.progress import Progress
from hexathlon.baselines.harness.tokens import TokenLog
from hexathlon.baselines.rollout.rollout import FatalError, Rollout
from hexathlon.evaluators.records import (
    RecordError,
    RecordWriter,
    completed_keys,
    read_records,
    record_key,
    records_file,
    stored_media,
)
from hexathlon.evaluators.records.plan import (
    PLAN_FILE,
    UNHASHED,
    PlanError,
    TrialKey,
    plan_differences,
    plan_hash,
    read_plan,
    write_plan,
)
from hexathlon.tasks.validation import reason

__all__ = ["RunOutcome", "evaluate", "resume", "stored_config", "stored_plan"]


class RunOutcome(NamedTuple):
    """Counts of one call of `evaluate` or `resume`."""

    run: Path
    planned: int
    recorded: int
    """Trials that have a record now."""

    played: int
    """Trials played by this call."""

    torn: int
    """Bytes of an unfinished record that were moved to `records.torn`."""

    stopped: str | None = None
    """The exhausted budget that stopped the run before its end; None if it is complete."""


def evaluate(
    config: EvalConfig,
    execution: ExecutionConfig,
    run: Path,
    *,
    force_new: bool = False,
    model: OpenedModel | None = None,
    progress: Progress | None = None,
    played: Sequence[Path] = (),
    open_players: OpenPlayers | None = None,
) -> RunOutcome:
    """Plan a run and play it, or continue the run if the directory contains the same plan.

    Args:
        config: Model, tasks and limits.
        execution: Settings of the execution, which do not change results.
        run: The run directory.
        force_new: Move a directory with a different plan aside instead of raising.
        model: An agent opened by the caller; by default the one that `config.model` names.
        progress: Advanced after every trial; by default a progress bar on the terminal.
        played: Directories of runs that differ from this one only in their tasks, such as shards
            played by other processes; their scored records are copied instead of played again.
            Their plans are compared.
        open_players: Opens other processes that play the trials; by default, this process does.

    Raises:
        PlanDiffers: If the directory contains a different plan; the message lists the fields.
        CommandError: If the run cannot be planned or played.
    """
    interrupts.check()
    stored = stored_plan(run)
    if model is None:
        dialect = None if stored is None else stored["model"].get("dialect")
        model = open_model(config, execution, dialect, logs=run)
    if execution.keep_tokens and not getattr(model.agent, "keeps_tokens", False):
        raise UsageError(
            "--keep-tokens needs a checkpoint directory as MODEL; "
            f"{config.model} produces text without tokens"
        )
    interrupts.check()
    plan = build_plan(config, execution, model)
    if stored is not None and plan_hash(stored) != plan_hash(plan):
        if not force_new:
            raise PlanDiffers(_difference(run, stored, plan))
        _move_aside(run)
    with _command_errors():
        shards = [folder for folder in played if _is_shard(folder, plan)]
    _make_folder(run)
    with (
        _command_errors(),
        interrupts.deferred(),
        RecordWriter(run, plan_hash(plan), execution.fsync) as writer,
    ):
        if not (run / PLAN_FILE).exists():
            write_plan(run, plan)
        _copy_scored(run, plan, shards, writer)
        return _play_remaining(run, plan, model, execution, writer, progress, open_players)


def resume(
    run: Path, execution: ExecutionConfig, open_players: OpenPlayers | None = None
) -> RunOutcome:
    """Continue a run with its stored configuration.

    Args:
        run: The run directory.
        execution: Settings of the execution.
        open_players: Opens other processes that play the trials; by default, this process does.

    Raises:
        PlanDiffers: If code, tasks or model no longer produce the stored plan.
        CommandError: If there is no run, or it cannot be played.
    """
    stored = stored_plan(run)
    if stored is None:
        raise UsageError(f"{run} has no {PLAN_FILE}: expected a run directory of `hexathlon eval`")
    refuse_retired(str(row.get("id")) for row in stored["envs"])
    return evaluate(stored_config(stored), execution, run, open_players=open_players)


def stored_config(plan: Mapping[str, Any]) -> EvalConfig:
    """Return the configuration that a plan was built from.

    Raises:
        UsageError: If it is not valid in this version.
    """
    try:
        team = plan.get("team", "")
        return EvalConfig(**{**plan["config"], "limits": plan["limits"], "team": team})
    except KeyError as error:
        raise UsageError(f"the plan has no {error}") from None
    except (TypeError, ValueError) as error:
        raise UsageError(f"the plan's configuration is invalid: {error}") from None


def stored_plan(run: Path) -> dict[str, Any] | None:
    """Return the plan of a run directory, or None if it has none.

    Raises:
        UsageError: If the file cannot be read or was changed.
    """
    if not (run / PLAN_FILE).exists():
        return None
    try:
        return read_plan(run)
    except PlanError as error:
        raise UsageError(str(error)) from None


def _difference(run: Path, stored: Mapping[str, Any], plan: Mapping[str, Any]) -> str:
    fields = [
        place
        for name in plan_differences(stored, plan)
        for place in _places(name, stored.get(name), plan.get(name))
    ]
    return (
        f"{run} contains a different plan: {'; '.join(fields[:6])}. "
        "Choose another --out, or move the old run aside with --force-new"
    )


def _places(name: str, old: Any, new: Any) -> Iterator[str]:
    """Name the innermost fields in which two JSON values differ, with both values."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted({*old, *new}):
            if old.get(key) != new.get(key):
                yield from _places(f"{name}.{key}", old.get(key), new.get(key))
    elif isinstance(old, list) and isinstance(new, list) and len(old) != len(new):
        yield f"{name} ({len(old)} items stored, {len(new)} now)"
    elif isinstance(old, list) and isinstance(new, list):
        index = next(
            index for index, pair in enumerate(zip(old, new, strict=True)) if pair[0] != pair[1]
        )
        yield from _places(f"{name}[{index}]", old[index], new[index])
    else:
        yield f"{name} ({old!r:.80} stored, {new!r:.80} now)"


def _make_folder(run: Path) -> None:
    try:
        run.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise UsageError(f"{run} is a file: expected a directory for the run") from None
    except OSError as error:
        raise UsageError(f"cannot create the run directory {run}: {reason(error)}") from None


def _move_aside(run: Path) -> None:
    number = 1
    while (target := run.with_name(f"{run.name}.old-{number}")).exists():
        number += 1
    run.rename(target)


@contextmanager
def _command_errors() -> Iterator[None]:
    """Convert errors that end a run into those that the command reports."""
    try:
        yield
    except FatalError as error:
        raise _fatal(error) from error
    except (PlanError, RecordError) as error:
        raise UsageError(str(error)) from None
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        raise CommandError(
            f"the run stopped: {place}{reason(error)}; fix this, then resume it"
        ) from error


def _fatal(error: FatalError) -> CommandError:
    cause = error.__cause__
    if isinstance(cause, AgentMismatch):
        return UsageError(str(error))
    if isinstance(cause, EngineError) and not isinstance(cause, EngineMissing):
        return UsageError(f"{cause.kind}: {error}")
    return EnvironmentUnavailable(str(error))


_SELECTION = ("envs", "taskset", "split", "level", "tasks", "task")
"""Fields of a configuration that select tasks."""


def _is_shard(folder: Path, plan: Mapping[str, Any]) -> bool:
    """Whether a folder has records to copy; False for one that was killed before its plan.

    Raises:
        PlanDiffers: If its plan differs in more than its tasks.
        PlanError: If its plan is missing or was changed.
    """
    if not (folder / PLAN_FILE).exists() and not records_file(folder).exists():
        return False
    stored = read_plan(folder)
    old, new = _without_tasks(stored, plan), _without_tasks(plan, stored)
    fields = [
        place
        for name in plan_differences(old, new)
        for place in _places(name, old.get(name), new.get(name))
    ]
    if fields:
        raise PlanDiffers(
            f"the records of {folder} cannot be copied: its plan differs in more than its tasks: "
            f"{'; '.join(fields[:6])}"
        )
    return True


def _without_tasks(plan: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that two plans must share, and the task sets of both."""
    kept = {name: value for name, value in plan.items() if name not in (*UNHASHED, "keys", "envs")}
    config = {name: value for name, value in plan["config"].items() if name not in _SELECTION}
    theirs = {_task_set(row) for row in other["envs"]}
    rows = {_task_set(row): row for row in plan["envs"] if _task_set(row) in theirs}
    return {**kept, "config": config, "envs": [rows[name] for name in sorted(rows)]}


def _task_set(row: Mapping[str, Any]) -> tuple[str, str, str]:
    return str(row.get("id")), str(row.get("taskset")), str(row.get("split"))


def _copy_scored(
    run: Path, plan: Mapping[str, Any], played: Sequence[Path], writer: RecordWriter
) -> None:
    """Copy the scored records of other runs for trials that this run lacks."""
    missing = set(_keys(plan)) - set(completed_keys(run)) if played else set()
    for folder in played:
        for record in read_records(folder):
            if record["status"] == "scored" and record_key(record) in missing:
                writer.append(record, stored_media(folder, record))
                missing.remove(record_key(record))


def _play_remaining(
    run: Path,
    plan: Mapping[str, Any],
    model: OpenedModel,
    execution: ExecutionConfig,
    writer: RecordWriter,
    progress: Progress | None = None,
    open_players: OpenPlayers | None = None,
) -> RunOutcome:
    config = stored_config(plan)
    done = completed_keys(run, infra=not execution.retry_infra)
    attempts = _failed_attempts(run, done) if execution.retry_infra else {}
    planned, left = len(plan["keys"]), len(plan["keys"]) - len(done)
    salt = read_salt(execution.salt_file)
    rollout = Rollout(model.agent, config.limits, execution.retries, salt)
    budget = RunBudget(execution, read_records(run))
    versions = {row["id"]: row["version"] for row in plan["envs"]}
    token_log = TokenLog(run) if execution.keep_tokens else nullcontext()
    remote: AbstractContextManager[RemotePlayers | None] = nullcontext()
    if open_players is not None and left:
        asynchronous = model.agent.asynchronous
        remote = open_players(
            RemoteSetup(
                config, execution, model.description, asynchronous, salt, versions, run, left
            )
        )
    label = progress or Progress(model.agent.name, planned)
    with token_log as tokens, remote as players, label as bar:
        bar.done = planned - left
        player = TrialPlayer(
            rollout, config, versions, execution, writer, bar, attempts, budget, tokens, players
        )
        player.play((key for key in _keys(plan) if key not in done), left)
        played = bar.done - (planned - left)
    return RunOutcome(run, planned, bar.done, played, len(writer.torn), player.stopped)


def _keys(plan: Mapping[str, Any]) -> Iterator[TrialKey]:
    """Yield the keys of a plan as tuples, without copying the list."""
    return ((env, task, seed, trial) for env, task, seed, trial in plan["keys"])


def _failed_attempts(run: Path, done: Collection[TrialKey]) -> dict[TrialKey, int]:
    """Return the number of attempts of each trial that ended in infrastructure failures."""
    return {
        record_key(record): record["attempt"]
        for record in read_records(run)
        if record["status"] == "infra" and record_key(record) not in done
    }
