"""The commands `eval` and `resume`."""

from pathlib import Path
from typing import Annotated, Any

import typer

__all__ = ["eval_", "resume"]

_MODEL = (
    "Model: agent:NAME (oracle, noop, random, dump, majority, noisy:SHARE, replay:RUN), "
    "endpoint:URL#NAME, or a checkpoint directory."
)


def eval_(
    model: Annotated[str | None, typer.Argument(help=_MODEL)] = None,
    envs: Annotated[
        list[str] | None, typer.Option(help="Events, such as SQL; comma-separated or repeated.")
    ] = None,
    taskset: Annotated[
        str | None, typer.Option(help="Task set. [default: each event's own]")
    ] = None,
    split: Annotated[
        str | None, typer.Option(help="Split: train, dev, test or heldout. [default: test]")
    ] = None,
    level: Annotated[
        str | None, typer.Option(help="Level: tiny, easy, medium or hard. [default: all]")
    ] = None,
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
        Path | None, typer.Option(help="Run folder; a run with the same plan is resumed.")
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
    temperature: Annotated[float | None, typer.Option(help="Sampling temperature.")] = None,
    top_p: Annotated[float | None, typer.Option(help="Nucleus sampling threshold.")] = None,
    max_tokens: Annotated[int | None, typer.Option(help="Maximum reply length, in tokens.")] = None,
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
    concurrency: Annotated[
        int | None, typer.Option(help="Concurrent trials, for remote models. [default: 20]")
    ] = None,
    retries: Annotated[
        int | None,
        typer.Option(help="Retries of a trial after an infrastructure failure. [default: 2]"),
    ] = None,
    retry_infra: Annotated[
        bool | None,
        typer.Option("--retry-infra", help="Retry trials recorded as infrastructure failures."),
    ] = None,
    max_unscored: Annotated[
        float | None,
        typer.Option(
            help="Maximum share of unscored trials; above it, exit code 2. [default: 0.02]"
        ),
    ] = None,
    most_infra_in_a_row: Annotated[
        int | None,
        typer.Option(
            help="Abort after this many consecutive infrastructure failures. [default: 25]"
        ),
    ] = None,
    keep_tokens: Annotated[
        bool | None,
        typer.Option("--keep-tokens", help="Store a checkpoint's tokens in tokens.jsonl."),
    ] = None,
    fsync: Annotated[
        str | None, typer.Option(help="Disk sync: record, close or never. [default: record]")
    ] = None,
    stream: Annotated[
        bool | None, typer.Option("--stream/--no-stream", help="Streamed replies.")
    ] = None,
    request_timeout: Annotated[
        float | None,
        typer.Option(help="Time-out of one request attempt, in seconds. [default: 600]"),
    ] = None,
    request_retries: Annotated[
        int | None, typer.Option(help="Retries of one request. [default: 4]")
    ] = None,
    api_key_env: Annotated[
        str | None,
        typer.Option(help="Environment variable with the API key. [default: OPENAI_API_KEY]"),
    ] = None,
    prices: Annotated[Path | None, typer.Option(help="Price table (TOML).")] = None,
    salt_file: Annotated[
        Path | None, typer.Option(help="File with the salt of a held-out round.")
    ] = None,
    with_anchors: Annotated[
        bool, typer.Option("--with-anchors", help="Also run the trivial agents and the oracle.")
    ] = False,
    force_new: Annotated[
        bool, typer.Option("--force-new", help="Move a run with a different plan aside.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the resolved configuration and exit.")
    ] = False,
) -> int:
    """Evaluate a model or an agent, and record every trial."""
    flags: dict[str, Any] = dict(locals())
    for name in ("out", "config", "with_anchors", "force_new", "dry_run"):
        del flags[name]
    flags["envs"] = [name for given in envs or () for name in given.split(",") if name] or None
    flags["task"] = task or None
    from hexathlon_cli.running import evaluate

    return evaluate(
        flags, config, out, with_anchors=with_anchors, force_new=force_new, dry_run=dry_run
    )


def resume(
    run: Annotated[Path, typer.Argument(help="Run folder of `hexathlon eval`.")],
    concurrency: Annotated[
        int | None, typer.Option(help="Concurrent trials, for remote models.")
    ] = None,
    retries: Annotated[
        int | None, typer.Option(help="Retries of a trial after an infrastructure failure.")
    ] = None,
    retry_infra: Annotated[
        bool | None,
        typer.Option("--retry-infra", help="Retry trials recorded as infrastructure failures."),
    ] = None,
    max_unscored: Annotated[
        float | None, typer.Option(help="Maximum share of unscored trials; above it, exit code 2.")
    ] = None,
    most_infra_in_a_row: Annotated[
        int | None, typer.Option(help="Abort after this many consecutive infrastructure failures.")
    ] = None,
    keep_tokens: Annotated[
        bool | None,
        typer.Option("--keep-tokens", help="Store a checkpoint's tokens in tokens.jsonl."),
    ] = None,
    fsync: Annotated[
        str | None, typer.Option(help="Disk sync: record, close or never. [default: record]")
    ] = None,
    stream: Annotated[
        bool | None, typer.Option("--stream/--no-stream", help="Streamed replies.")
    ] = None,
    request_timeout: Annotated[
        float | None, typer.Option(help="Time-out of one request attempt, in seconds.")
    ] = None,
    request_retries: Annotated[int | None, typer.Option(help="Retries of one request.")] = None,
    api_key_env: Annotated[
        str | None, typer.Option(help="Environment variable with the API key.")
    ] = None,
    prices: Annotated[Path | None, typer.Option(help="Price table (TOML).")] = None,
    salt_file: Annotated[
        Path | None, typer.Option(help="File with the salt of a held-out round.")
    ] = None,
) -> int:
    """Resume an interrupted run."""
    flags: dict[str, Any] = dict(locals())
    del flags["run"]
    from hexathlon_cli.running import resume_run

    return resume_run(run, flags)
