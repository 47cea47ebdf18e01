"""`eval` and `resume`: the commands that play trials."""

from pathlib import Path
from typing import Annotated, Any

import typer

__all__ = ["eval_", "resume"]

_MODEL = (
    "agent:NAME (oracle, noop, random, dump, majority, noisy:SHARE, replay:RUN), "
    "endpoint:URL#NAME or a checkpoint directory."
)


def eval_(
    model: Annotated[str | None, typer.Argument(help=_MODEL)] = None,
    envs: Annotated[
        list[str] | None, typer.Option(help="Events, such as SQL; by comma or repeated.")
    ] = None,
    taskset: Annotated[
        str | None, typer.Option(help="Task source; each event's own by default.")
    ] = None,
    split: Annotated[str | None, typer.Option(help="train, dev, test or heldout.")] = None,
    level: Annotated[str | None, typer.Option(help="tiny, easy, medium or hard [all].")] = None,
    tasks: Annotated[
        int | None, typer.Option(help="Tasks per event, 0 for all of a finite set [100].")
    ] = None,
    task: Annotated[
        list[str] | None, typer.Option(help="Only this task id; may be repeated.")
    ] = None,
    seeds: Annotated[int | None, typer.Option(help="Seeds per task [1].")] = None,
    trials: Annotated[int | None, typer.Option(help="Trials per task and seed [1].")] = None,
    out: Annotated[
        Path | None, typer.Option(help="Run folder; a folder with the same plan is continued.")
    ] = None,
    config: Annotated[
        Path | None, typer.Option(help="TOML file with any of these settings; flags go first.")
    ] = None,
    dialect: Annotated[
        str | None, typer.Option(help="auto, openai, hermes, react or json [auto].")
    ] = None,
    temperature: Annotated[float | None, typer.Option(help="Sampling temperature.")] = None,
    top_p: Annotated[float | None, typer.Option(help="Nucleus sampling.")] = None,
    max_tokens: Annotated[int | None, typer.Option(help="Longest reply, in tokens.")] = None,
    sampling_seed: Annotated[
        int | None, typer.Option(help="Base of the seed that every request gets.")
    ] = None,
    prompt_suffix: Annotated[
        str | None, typer.Option(help="Appended to every system prompt.")
    ] = None,
    team: Annotated[
        str | None, typer.Option(help="Who submits the run; shown on the leaderboard.")
    ] = None,
    limit_turns: Annotated[int | None, typer.Option(help="Assistant turns.")] = None,
    limit_output_tokens: Annotated[int | None, typer.Option(help="Completion tokens.")] = None,
    limit_total_tokens: Annotated[int | None, typer.Option(help="All tokens.")] = None,
    limit_wall_seconds: Annotated[float | None, typer.Option(help="Wall-clock seconds.")] = None,
    limit_working_seconds: Annotated[
        float | None, typer.Option(help="Seconds without queues and retries.")
    ] = None,
    limit_cost: Annotated[float | None, typer.Option(help="Cost, by the price table.")] = None,
    concurrency: Annotated[
        int | None, typer.Option(help="Trials at once, for models that are waited for [20].")
    ] = None,
    retries: Annotated[
        int | None, typer.Option(help="More attempts at trials that infrastructure spoilt [2].")
    ] = None,
    retry_infra: Annotated[
        bool | None, typer.Option("--retry-infra", help="Try again what is recorded as spoilt.")
    ] = None,
    max_unscored: Annotated[
        float | None, typer.Option(help="Unscored share above which the exit code is 2 [0.02].")
    ] = None,
    most_infra_in_a_row: Annotated[
        int | None, typer.Option(help="So many spoilt trials in a row stop the run [25].")
    ] = None,
    keep_tokens: Annotated[
        bool | None,
        typer.Option("--keep-tokens", help="Store a checkpoint's tokens in tokens.jsonl."),
    ] = None,
    fsync: Annotated[
        str | None, typer.Option(help="Sync to disk after each record, at close, or never.")
    ] = None,
    stream: Annotated[
        bool | None, typer.Option("--stream/--no-stream", help="Ask for streamed replies.")
    ] = None,
    request_timeout: Annotated[
        float | None, typer.Option(help="Seconds for one try of a request [600].")
    ] = None,
    request_retries: Annotated[
        int | None, typer.Option(help="More tries of one request [4].")
    ] = None,
    api_key_env: Annotated[
        str | None, typer.Option(help="Environment variable with the key [OPENAI_API_KEY].")
    ] = None,
    prices: Annotated[
        Path | None, typer.Option(help="Price table (TOML); unknown prices stay unknown.")
    ] = None,
    salt_file: Annotated[
        Path | None, typer.Option(help="File with the secret of a held-out round.")
    ] = None,
    with_anchors: Annotated[
        bool, typer.Option("--with-anchors", help="Run the trivial agents and the oracle as well.")
    ] = False,
    force_new: Annotated[
        bool, typer.Option("--force-new", help="Move a folder with another plan aside.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the resolved configuration and stop.")
    ] = False,
) -> int:
    """Evaluate MODEL: plan, play, record, and print the score."""
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
    concurrency: Annotated[int | None, typer.Option(help="Trials at once.")] = None,
    retries: Annotated[int | None, typer.Option(help="More attempts at spoilt trials.")] = None,
    retry_infra: Annotated[
        bool | None, typer.Option("--retry-infra", help="Try again what is recorded as spoilt.")
    ] = None,
    max_unscored: Annotated[
        float | None, typer.Option(help="Unscored share for exit code 2.")
    ] = None,
    most_infra_in_a_row: Annotated[
        int | None, typer.Option(help="So many spoilt trials in a row stop the run.")
    ] = None,
    keep_tokens: Annotated[
        bool | None,
        typer.Option("--keep-tokens", help="Store a checkpoint's tokens in tokens.jsonl."),
    ] = None,
    fsync: Annotated[str | None, typer.Option(help="record, close or never.")] = None,
    stream: Annotated[bool | None, typer.Option("--stream/--no-stream")] = None,
    request_timeout: Annotated[float | None, typer.Option(help="Seconds for one try.")] = None,
    request_retries: Annotated[int | None, typer.Option(help="More tries of a request.")] = None,
    api_key_env: Annotated[
        str | None, typer.Option(help="Environment variable with the key.")
    ] = None,
    prices: Annotated[Path | None, typer.Option(help="Price table (TOML).")] = None,
    salt_file: Annotated[Path | None, typer.Option(help="Secret of a held-out round.")] = None,
) -> int:
    """Continue a run that was interrupted. Only its own plan is accepted."""
    flags: dict[str, Any] = dict(locals())
    del flags["run"]
    from hexathlon_cli.running import resume_run

    return resume_run(run, flags)
