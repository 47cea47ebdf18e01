"""Implementation of `eval` and `resume`, imported when they run."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hexathlon.baselines.harness.config import (
    COMMAND_SETTINGS,
    EvalConfig,
    ExecutionConfig,
    load_config,
    read_toml,
)
from hexathlon.baselines.harness.errors import ExitCode, UsageError
from hexathlon.baselines.harness.report import ANCHOR_FOLDER, read_run, unscored_share
from hexathlon.baselines.harness.run import RunOutcome, resume, stored_plan
from hexathlon.baselines.harness.run import evaluate as evaluate_run
from hexathlon_cli.output import note, print_report, print_text

__all__ = ["evaluate", "resume_run"]


def evaluate(
    flags: Mapping[str, Any],
    file: Path | None,
    out: Path | None,
    *,
    with_anchors: bool,
    force_new: bool,
    dry_run: bool,
) -> int:
    """Run `hexathlon eval` and return the exit code."""
    commands = _command_settings(file)
    out = out or (Path(commands["out"]) if "out" in commands else None)
    with_anchors = with_anchors or bool(commands.get("with_anchors"))
    config, execution = load_config(flags, file)
    if dry_run:
        _check(config)
        print_text(_resolved(config, execution, out, with_anchors))
        return ExitCode.FINE
    if out is None:
        raise UsageError("missing option --out DIR: the run folder")
    outcome = evaluate_run(config, execution, out, force_new=force_new)
    _say(outcome)
    if with_anchors:
        plain = execution.model_copy(update={"keep_tokens": False})
        _play_anchors(config, plain, out, force_new=force_new)
    return _conclude(out, execution)


def resume_run(run: Path, flags: Mapping[str, Any]) -> int:
    """Run `hexathlon resume` and return the exit code."""
    stored = stored_plan(run)
    if stored is None:
        raise UsageError(f"{run} has no plan.json: expected a run folder of `hexathlon eval`")
    given = {name: value for name, value in flags.items() if value is not None}
    former = {**stored.get("execution", {}), **given}
    _, execution = load_config({**former, "model": "", "envs": ("",)})
    _say(resume(run, execution))
    return _conclude(run, execution)


def _command_settings(file: Path | None) -> dict[str, Any]:
    if file is None:
        return {}
    values = {name.replace("-", "_"): value for name, value in read_toml(file).items()}
    return {name: values[name] for name in COMMAND_SETTINGS if name in values}


def _check(config: EvalConfig) -> None:
    """Validate a configuration as far as possible without starting the run."""
    from hexathlon.baselines.agents.spec import SpecError, parse_model
    from hexathlon.baselines.harness.plan import slices_of

    try:
        parse_model(config.model)
    except SpecError as error:
        raise UsageError(str(error)) from None
    if config.split != "heldout":
        slices_of(config, None)


def _resolved(
    config: EvalConfig, execution: ExecutionConfig, out: Path | None, with_anchors: bool
) -> str:
    command = {"out": None if out is None else str(out), "with_anchors": with_anchors}
    whole = {
        "config": config.model_dump(mode="json"),
        "execution": execution.model_dump(mode="json"),
        "command": command,
    }
    return json.dumps(whole, indent=2, ensure_ascii=False)


def _play_anchors(
    config: EvalConfig, execution: ExecutionConfig, out: Path, *, force_new: bool
) -> None:
    from hexathlon.baselines.harness.anchors import anchor_agents

    for name in anchor_agents(read_run(out).plan):
        anchor = config.model_copy(update={"model": f"agent:{name}", "dialect": "auto"})
        evaluate_run(anchor, execution, out / ANCHOR_FOLDER / name, force_new=force_new)


def _say(outcome: RunOutcome) -> None:
    if outcome.torn:
        note(f"{outcome.torn} bytes of an unfinished record were moved to records.torn")
    before = outcome.planned - outcome.played
    if before:
        note(f"{before:,} of {outcome.planned:,} trials were recorded before")


def _conclude(run: Path, execution: ExecutionConfig) -> int:
    found = read_run(run)
    print_report(found, details=False)
    share = unscored_share(found)
    if share > execution.max_unscored:
        note(f"{share:.1%} of the trials have no score, more than --max-unscored allows")
        return ExitCode.UNSCORED
    return ExitCode.FINE
