"""Runs what a plan lists and no record holds yet.

Starting, continuing and finishing a run are one act: the plan is made again from the
configuration, must be the one that the folder holds, and the difference between its keys and the
recorded ones is played. So a run that was killed anywhere is continued by the same command.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple

from hexathlon.baselines import interrupts
from hexathlon.baselines.agents.base import AgentMismatch
from hexathlon.baselines.engines.errors import EngineError, EngineMissing
from hexathlon.baselines.harness.config import EvalConfig, ExecutionConfig
from hexathlon.baselines.harness.errors import (
    CommandError,
    EnvironmentUnavailable,
    PlanDiffers,
    UsageError,
)
from hexathlon.baselines.harness.models import OpenedModel, open_model
from hexathlon.baselines.harness.plan import build_plan, read_salt
from hexathlon.baselines.harness.player import Player
from hexathlon.baselines.harness.progress import Progress
from hexathlon.baselines.harness.tokens import TokenLog
from hexathlon.baselines.rollout.rollout import Fatal, Rollout
from hexathlon.evaluators.records import (
    RecordError,
    RecordWriter,
    completed_keys,
    read_records,
    record_key,
    stored_media,
)
from hexathlon.evaluators.records.plan import (
    PLAN_FILE,
    PlanError,
    TrialKey,
    plan_differences,
    plan_hash,
    read_plan,
    write_plan,
)

__all__ = ["Outcome", "evaluate", "resume", "stored_config", "stored_plan"]


class Outcome(NamedTuple):
    """What a command did to a run folder."""

    run: Path
    planned: int
    played: int
    """Trials played now; the others were recorded before."""

    torn: int
    """Bytes of an unfinished record that were put aside."""


def evaluate(
    config: EvalConfig,
    execution: ExecutionConfig,
    run: Path,
    *,
    force_new: bool = False,
    model: OpenedModel | None = None,
    progress: Progress | None = None,
    played: Sequence[Path] = (),
) -> Outcome:
    """Plan a run and play it; a folder that holds the same plan is continued.

    Args:
        config: What is run.
        execution: How it is run.
        run: The run folder.
        force_new: Move a folder with another plan aside instead of refusing it.
        model: Who plays, where the caller has an agent of its own; else what `config.model` names.
        progress: Is told of every trial; by default a bar on the terminal.
        played: Folders of runs that differ from this one in their tasks alone, such as shares of
            it that other processes played: what they scored is taken over, not played again.

    Raises:
        PlanDiffers: The folder holds another plan; the message names the fields.
        CommandError: The run cannot be planned or played.
    """
    stored = stored_plan(run)
    if model is None:
        dialect = None if stored is None else stored["model"].get("dialect")
        model = open_model(config, execution, dialect)
    if execution.keep_tokens and not getattr(model.agent, "keeps_tokens", False):
        raise UsageError(
            f"--keep-tokens needs a checkpoint directory as MODEL; {config.model} works on text "
            "and has no tokens to keep"
        )
    plan = build_plan(config, execution, model)
    if stored is not None and plan_hash(stored) != plan_hash(plan):
        if not force_new:
            raise PlanDiffers(_difference(run, stored, plan))
        _move_aside(run)
    _make_folder(run)
    with (
        _reported(),
        interrupts.deferred(),
        RecordWriter(run, plan_hash(plan), execution.fsync) as writer,
    ):
        if not (run / PLAN_FILE).exists():
            write_plan(run, plan)
        _take_over(run, plan, played, writer)
        return _play_rest(run, plan, model, execution, writer, progress)


def resume(run: Path, execution: ExecutionConfig) -> Outcome:
    """Continue a run by its own stored configuration.

    Raises:
        PlanDiffers: Code, tasks or model no longer give the stored plan.
        CommandError: There is no run, or it cannot be played.
    """
    stored = stored_plan(run)
    if stored is None:
        raise UsageError(f"{run} holds no {PLAN_FILE}: expected a run folder of `hexathlon eval`")
    return evaluate(stored_config(stored), execution, run)


def stored_config(plan: Mapping[str, Any]) -> EvalConfig:
    """Return the configuration that a plan was made from."""
    try:
        team = plan.get("team", "")
        return EvalConfig(**{**plan["config"], "limits": plan["limits"], "team": team})
    except (TypeError, ValueError) as error:
        raise UsageError(f"the plan's configuration does not read: {error}") from None


def stored_plan(run: Path) -> dict[str, Any] | None:
    """Return the plan of a run folder, or None where there is none.

    Raises:
        UsageError: The file does not read or was changed.
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
        f"{run} holds another plan; it differs in {'; '.join(fields[:6])}. "
        "Choose another --out, or --force-new to move the old run aside"
    )


def _places(name: str, old: Any, new: Any) -> Iterator[str]:
    """Name the innermost fields in which two JSON values differ, with both values."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted({*old, *new}):
            if old.get(key) != new.get(key):
                yield from _places(f"{name}.{key}", old.get(key), new.get(key))
    elif isinstance(old, list) and isinstance(new, list) and len(old) != len(new):
        yield f"{name} ({len(old)} there, {len(new)} now)"
    elif isinstance(old, list) and isinstance(new, list):
        index = next(
            index for index, pair in enumerate(zip(old, new, strict=True)) if pair[0] != pair[1]
        )
        yield from _places(f"{name}[{index}]", old[index], new[index])
    else:
        yield f"{name} ({old!r:.80} there, {new!r:.80} now)"


def _make_folder(run: Path) -> None:
    try:
        run.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise UsageError(f"{run} is a file: expected a folder for the run") from None
    except OSError as error:
        raise UsageError(f"cannot make the run folder {run}: {error.strerror}") from None


def _move_aside(run: Path) -> None:
    number = 1
    while (target := run.with_name(f"{run.name}.old-{number}")).exists():
        number += 1
    run.rename(target)


@contextmanager
def _reported() -> Iterator[None]:
    """Turn what ends a run into the error that the command reports."""
    try:
        yield
    except Fatal as error:
        raise _fatal(error) from error
    except (PlanError, RecordError) as error:
        raise UsageError(str(error)) from None
    except OSError as error:
        raise CommandError(f"the run stopped: {error}; resume it when that is mended") from error


def _fatal(error: Fatal) -> CommandError:
    cause = error.__cause__
    if isinstance(cause, AgentMismatch):
        return UsageError(str(error))
    if isinstance(cause, EngineError) and not isinstance(cause, EngineMissing):
        return UsageError(f"{cause.kind}: {error}")
    return EnvironmentUnavailable(str(error))


def _take_over(
    run: Path, plan: Mapping[str, Any], played: Sequence[Path], writer: RecordWriter
) -> None:
    """Write down what other runs scored of this one's trials."""
    wanted = set(_keys(plan)) - set(completed_keys(run)) if played else set()
    for folder in played:
        for record in read_records(folder):
            if record["status"] == "scored" and record_key(record) in wanted:
                writer.append(record, stored_media(folder, record))
                wanted.remove(record_key(record))


def _play_rest(
    run: Path,
    plan: Mapping[str, Any],
    model: OpenedModel,
    execution: ExecutionConfig,
    writer: RecordWriter,
    progress: Progress | None = None,
) -> Outcome:
    config = stored_config(plan)
    done = completed_keys(run, infra=not execution.retry_infra)
    spoilt = _spoilt(run, done) if execution.retry_infra else {}
    planned, left = len(plan["keys"]), len(plan["keys"]) - len(done)
    rollout = Rollout(model.agent, config.limits, execution.retries, read_salt(execution.salt_file))
    versions = {row["id"]: row["version"] for row in plan["envs"]}
    kept = TokenLog(run) if execution.keep_tokens else nullcontext()
    with kept as tokens, progress or Progress(model.agent.name, planned) as shown:
        shown.done = planned - left
        player = Player(rollout, config, versions, execution, writer, shown, spoilt, tokens)
        player.play((key for key in _keys(plan) if key not in done), left)
    return Outcome(run, planned, left, len(writer.torn))


def _keys(plan: Mapping[str, Any]) -> Iterator[TrialKey]:
    """Return the keys of a plan, without a second copy of them all."""
    return ((env, task, seed, trial) for env, task, seed, trial in plan["keys"])


def _spoilt(run: Path, done: Collection[TrialKey]) -> dict[TrialKey, int]:
    """Return how often each trial was tried that is to be tried again."""
    return {
        record_key(record): record["attempt"]
        for record in read_records(run)
        if record["status"] == "infra" and record_key(record) not in done
    }
