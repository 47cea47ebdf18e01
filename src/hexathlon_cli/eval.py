"""The command `eval`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hexathlon_cli.options import (
    ApiKeyEnv,
    ClusterAddress,
    Concurrency,
    Fsync,
    KeepTokens,
    LevelName,
    MaxCost,
    MaxHours,
    MaxTokens,
    MaxUnscored,
    MostInfraInARow,
    Pools,
    Prices,
    Replicas,
    RequestRetries,
    RequestTimeout,
    Retries,
    RetryInfra,
    SaltFile,
    Slots,
    Stream,
    TasksetName,
    WithAnchors,
    Workers,
)

if TYPE_CHECKING:
    from hexathlon.baselines.harness.config import EvalConfig, ExecutionConfig

__all__ = ["eval_"]

_MODEL = (
    "Model: agent:NAME (oracle, noop, random, dump, majority, constant, neighbour, overlap, "
    "identity, noisy:SHARE, replay:RUN), endpoint:URL#NAME, anthropic:NAME, gemini:NAME, "
    "openai-responses:NAME, or a checkpoint directory."
)


def eval_(
    model: Annotated[str | None, typer.Argument(help=_MODEL)] = None,
    envs: Annotated[
        list[str] | None, typer.Option(help="Events, such as SQL; comma-separated or repeated.")
    ] = None,
    taskset: TasksetName = None,
    split: Annotated[
        str | None, typer.Option(help="Split: train, dev, test or heldout. [default: test]")
    ] = None,
    level: LevelName = None,
    tasks: Annotated[
        int | None, typer.Option(help="Tasks per event; 0 for all of a finite set. [default: 100]")
    ] = None,
    task: Annotated[
        list[str] | None, typer.Option(help="Task id, to run only this task; repeatable.")
    ] = None,
    seeds: Annotated[int | None, typer.Option(help="Seeds per task. [default: 1]")] = None,
    trials: Annotated[
        int | None, typer.Option(help="Trials per task and seed. [default: 1]")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Run directory; a run with the same plan is resumed.")
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(help="TOML file with any of these settings; flags take precedence."),
    ] = None,
    dialect: Annotated[
        str | None,
        typer.Option(
            help="Tool-call dialect: auto, openai, hermes, react or json. [default: auto]"
        ),
    ] = None,
    engine: Annotated[
        str | None,
        typer.Option(
            help="Engine for a checkpoint: torch in this process, or vllm, which starts "
            "servers and stops them. [default: torch]"
        ),
    ] = None,
    engine_arg: Annotated[
        list[str] | None,
        typer.Option(
            help="Argument for the vLLM servers, such as --tensor-parallel-size=2; repeatable."
        ),
    ] = None,
    temperature: Annotated[float | None, typer.Option(help="Sampling temperature.")] = None,
    top_p: Annotated[float | None, typer.Option(help="Nucleus sampling threshold.")] = None,
    max_reply_tokens: Annotated[
        int | None, typer.Option(help="Maximum reply length, in tokens.")
    ] = None,
    sampling_seed: Annotated[int | None, typer.Option(help="Base of the request seeds.")] = None,
    prompt_suffix: Annotated[
        str | None, typer.Option(help="Text appended to every system prompt.")
    ] = None,
    team: Annotated[str | None, typer.Option(help="Submitter, shown on the leaderboard.")] = None,
    limit_turns: Annotated[int | None, typer.Option(help="Limit on assistant turns.")] = None,
    limit_output_tokens: Annotated[
        int | None, typer.Option(help="Limit on completion tokens.")
    ] = None,
    limit_total_tokens: Annotated[int | None, typer.Option(help="Limit on all tokens.")] = None,
    limit_wall_seconds: Annotated[
        float | None, typer.Option(help="Limit on wall-clock seconds.")
    ] = None,
    limit_working_seconds: Annotated[
        float | None, typer.Option(help="Limit on seconds, excluding queues and retries.")
    ] = None,
    limit_cost: Annotated[
        float | None, typer.Option(help="Limit on cost, by the price table.")
    ] = None,
    concurrency: Concurrency = None,
    replicas: Replicas = None,
    retries: Retries = None,
    retry_infra: RetryInfra = None,
    max_unscored: MaxUnscored = None,
    most_infra_in_a_row: MostInfraInARow = None,
    max_cost: MaxCost = None,
    max_tokens: MaxTokens = None,
    max_hours: MaxHours = None,
    keep_tokens: KeepTokens = None,
    fsync: Fsync = None,
    stream: Stream = None,
    request_timeout: RequestTimeout = None,
    request_retries: RequestRetries = None,
    api_key_env: ApiKeyEnv = None,
    prices: Prices = None,
    salt_file: SaltFile = None,
    cluster: ClusterAddress = None,
    workers: Workers = None,
    slots: Slots = None,
    pool: Pools = None,
    with_anchors: WithAnchors = False,
    force_new: Annotated[
        bool, typer.Option("--force-new", help="Move a run with a different plan aside.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the resolved configuration and exit.")
    ] = False,
) -> int:
    """Evaluate a model or an agent, and record every trial.

    Each trial is one line of records.jsonl in the run directory, written as soon as it ends. A run
    that was interrupted continues with `hexathlon resume`, or with the same command again.
    """
    flags: dict[str, Any] = dict(locals())
    for name in ("out", "config", "with_anchors", "force_new", "dry_run"):
        del flags[name]
    flags["envs"] = [name for given in envs or () for name in given.split(",") if name] or None
    flags["task"] = task or None
    flags["engine_arg"] = engine_arg or None
    from hexathlon.baselines.harness.config import command_settings, load_config
    from hexathlon.baselines.harness.errors import ExitCode, UsageError
    from hexathlon.baselines.harness.run import evaluate
    from hexathlon_cli.anchors import play_anchors
    from hexathlon_cli.cluster import remote_players
    from hexathlon_cli.output import print_text
    from hexathlon_cli.runs import conclude, describe

    settings = command_settings(config)
    out = out or (Path(settings["out"]) if "out" in settings else None)
    with_anchors = with_anchors or bool(settings.get("with_anchors"))
    plan, execution = load_config(flags, config)
    if out is None and not dry_run:
        raise UsageError("missing option --out DIR: the run directory")
    _check(plan, execution)
    if dry_run or out is None:
        print_text(_resolved(plan, execution, out, with_anchors))
        return ExitCode.FINE
    with remote_players(execution) as open_players:
        describe(evaluate(plan, execution, out, force_new=force_new, open_players=open_players))
        if with_anchors:
            play_anchors(out, plan, execution, open_players, force_new=force_new)
    return conclude(out, execution)


def _check(config: "EvalConfig", execution: "ExecutionConfig") -> None:
    """Validate a configuration without starting the run, and mention sets that are too small."""
    from hexathlon.baselines.agents.spec import SpecError, parse_model
    from hexathlon.baselines.harness.errors import UsageError
    from hexathlon.baselines.harness.plan import read_salt, slices_of
    from hexathlon_cli.output import note

    try:
        parse_model(config.model)
    except SpecError as error:
        raise UsageError(str(error)) from None
    for part in slices_of(config, read_salt(execution.salt_file)):
        if "tasks" in config.model_fields_set and len(part.ids) < config.tasks:
            note(
                f"{part.taskset.name} has {len(part.ids):,} tasks, fewer than the {config.tasks:,} "
                "requested; all of them are run"
            )


def _resolved(
    config: "EvalConfig", execution: "ExecutionConfig", out: Path | None, with_anchors: bool
) -> str:
    import json

    command = {"out": None if out is None else str(out), "with_anchors": with_anchors}
    resolved = {
        "config": config.model_dump(mode="json"),
        "execution": execution.model_dump(mode="json"),
        "command": command,
    }
    return json.dumps(resolved, indent=2, ensure_ascii=False)
