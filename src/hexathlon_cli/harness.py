"""The command `harness`."""

from pathlib import Path
from typing import Annotated, Any

import typer

from hexathlon_cli.options import (
    ApiKeyEnv,
    Concurrency,
    KeepTokens,
    LevelName,
    MaxCost,
    MaxTokens,
    Prices,
    RequestTimeout,
    Retries,
    TasksetName,
)

__all__ = ["harness"]


def harness(
    command: Annotated[
        list[str],
        typer.Argument(
            help="Program and arguments, after --. {prompt}, {model}, {url} and {mcp} are replaced."
        ),
    ],
    model: Annotated[
        str,
        typer.Option(
            help="Model behind the program: a MODEL as in `eval`, except built-in agents."
        ),
    ],
    out: Annotated[Path, typer.Option(help="Run directory.")],
    envs: Annotated[list[str] | None, typer.Option(help="Events, such as Terminal.")] = None,
    task: Annotated[
        list[str] | None, typer.Option(help="Task id, to run only this task; repeatable.")
    ] = None,
    taskset: TasksetName = None,
    split: Annotated[str | None, typer.Option(help="Split. [default: test]")] = None,
    level: LevelName = None,
    tasks: Annotated[int | None, typer.Option(help="Tasks per event. [default: 100]")] = None,
    seeds: Annotated[int | None, typer.Option(help="Seeds per task. [default: 1]")] = None,
    trials: Annotated[int | None, typer.Option(help="Trials per task and seed.")] = None,
    name: Annotated[str, typer.Option(help="Agent's name. [default: the program's]")] = "",
    mount: Annotated[
        list[str] | None,
        typer.Option(help="Directory with the program, visible in the sandbox; repeatable."),
    ] = None,
    seconds: Annotated[float, typer.Option(min=1, help="Maximum duration of a trial.")] = 1800.0,
    memory_mb: Annotated[
        int, typer.Option(min=64, help="Memory limit of the program, in MB.")
    ] = 2048,
    max_calls: Annotated[
        int | None, typer.Option(min=1, help="Maximum model calls per trial.")
    ] = None,
    max_trial_tokens: Annotated[
        int | None,
        typer.Option(min=1, help="Token budget of a trial; once it is spent, calls are refused."),
    ] = None,
    variable: Annotated[
        list[str] | None, typer.Option(help="NAME=VALUE for its environment; repeatable.")
    ] = None,
    dialect: Annotated[
        str | None, typer.Option(help="Tool-call dialect of a checkpoint. [default: auto]")
    ] = None,
    temperature: Annotated[float | None, typer.Option(help="Sampling temperature.")] = None,
    max_reply_tokens: Annotated[int | None, typer.Option(help="Maximum reply length.")] = None,
    sampling_seed: Annotated[int | None, typer.Option(help="Base of the request seeds.")] = None,
    concurrency: Concurrency = None,
    retries: Retries = None,
    max_cost: MaxCost = None,
    max_tokens: MaxTokens = None,
    keep_tokens: KeepTokens = None,
    request_timeout: RequestTimeout = None,
    api_key_env: ApiKeyEnv = None,
    prices: Prices = None,
    force_new: Annotated[
        bool, typer.Option("--force-new", help="Move a run with a different plan aside.")
    ] = False,
) -> int:
    """Evaluate a third-party agent program, backed by your model.

    The program runs in a sandbox from which it reaches a single address. There it finds the model,
    in the APIs of OpenAI (chat and responses), Anthropic and Google, and the event's tools (MCP).
    In the terminal event, this is the event's own sandbox. Model calls are stored in calls/; with a
    checkpoint and --keep-tokens, token by token.
    """
    flags: dict[str, Any] = dict(locals())
    from hexathlon_cli.harnessing import run_harness

    kept = ("command", "out", "name", "mount", "seconds", "memory_mb", "variable", "force_new",
            "max_calls", "max_trial_tokens")  # fmt: skip
    settings = {key: flags.pop(key) for key in kept}
    flags["envs"] = [each for given in envs or () for each in given.split(",") if each] or None
    flags["task"] = task or None
    return run_harness(flags, **settings)
