"""The commands `serve envs`, `serve ors`, `serve mcp`, `serve policy` and `serve tinker`."""

from pathlib import Path
from typing import Annotated

import typer

from hexathlon_cli.examples import examples
from hexathlon_cli.options import LevelName, TasksetName

__all__ = ["app"]

app = typer.Typer(help="Serve events and checkpoints to other tools.", no_args_is_help=True)

EventName = Annotated[str, typer.Argument(help="Event, such as SQL.")]
SplitName = Annotated[str, typer.Option(help="Split to draw from if no task is named.")]
Deadline = Annotated[
    float,
    typer.Option(
        min=0.1, help="Timeout of a reset or step, in seconds; its session then gets an error."
    ),
]


@app.command("envs", epilog=examples("serve envs"))
def envs(
    event: EventName,
    taskset: TasksetName = None,
    split: SplitName = "train",
    level: LevelName = None,
    dialect: Annotated[
        str, typer.Option(help="Tool-call dialect, such as json, hermes or react.")
    ] = "json",
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 for any.")] = 8000,
    sessions: Annotated[int, typer.Option(min=1, help="Maximum concurrent sessions.")] = 64,
    deadline: Deadline = 600.0,
) -> int:
    """Serve an event through the OpenEnv protocol, over HTTP and WebSocket.

    Each session has its own environment. Tasks are listed under /EVENT/splits, /tasks,
    /num_tasks, /task and /task_range. Anyone who can reach the port can play: do not expose it.
    """
    from hexathlon_cli.serving import serve_envs

    return serve_envs(event, taskset, split, level, dialect, host, port, sessions, deadline)


@app.command("ors", epilog=examples("serve ors"))
def ors(
    event: EventName,
    taskset: TasksetName = None,
    level: LevelName = None,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 for any.")] = 8080,
    deadline: Deadline = 600.0,
) -> int:
    """Serve an event through the Open Reward Standard, over HTTP.

    The event's tools become the environment's tools; each session plays one task in its own
    environment. Anyone who can reach the port can play: do not expose it.
    """
    from hexathlon_cli.serving import serve_ors

    return serve_ors(event, taskset, level, host, port, deadline)


@app.command("mcp", epilog=examples("serve mcp"))
def mcp(
    event: EventName,
    task: Annotated[str | None, typer.Option(help="Task id. [default: drawn by the seed]")] = None,
    taskset: TasksetName = None,
    split: SplitName = "train",
    level: LevelName = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the episode.")] = 0,
    verdicts: Annotated[
        Path | None, typer.Option(help="File that the verdict is appended to as a line of JSON.")
    ] = None,
) -> int:
    """Serve one episode to an agent that speaks the Model Context Protocol.

    The server uses standard input and output. The agent never learns its reward. Exit code 2 means
    that the episode has no score: it was not played to its end, or the environment failed.
    """
    from hexathlon_cli.serving import serve_mcp

    return serve_mcp(event, task, taskset, split, level, seed, verdicts)


@app.command("policy", epilog=examples("serve policy"))
def policy(
    checkpoint: Annotated[Path, typer.Argument(help="Checkpoint directory.")],
    name: Annotated[str, typer.Option(help="Model's name. [default: the directory's]")] = "",
    dialect: Annotated[
        str, typer.Option(help="Tool-call dialect; auto: the one that the model was trained with.")
    ] = "auto",
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 for any.")] = 8000,
    concurrency: Annotated[int, typer.Option(min=1, help="Maximum requests in a batch.")] = 16,
) -> int:
    """Serve a checkpoint through chat APIs and token routes.

    /v1/chat/completions, /v1/responses, /v1/messages (Anthropic), /v1beta/models (Gemini),
    /v1/completions, and vLLM's /inference/v1/generate. Anyone who can reach the port can use it.
    """
    from hexathlon_cli.serving import serve_policy

    return serve_policy(checkpoint, name, dialect, host, port, concurrency)


@app.command("tinker", epilog=examples("serve tinker"))
def tinker(
    checkpoint: Annotated[Path, typer.Argument(help="Checkpoint directory: the base model.")],
    name: Annotated[str, typer.Option(help="Model's name. [default: the directory's]")] = "",
    out: Annotated[
        Path | None, typer.Option(help="Directory for saved weights, as checkpoints.")
    ] = None,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 for any.")] = 8000,
) -> int:
    """Serve a checkpoint through the Tinker API, for training and sampling.

    The package `tinker` finds the service by TINKER_BASE_URL; any TINKER_API_KEY will do. Anyone
    who can reach the port can use it.
    """
    from hexathlon_cli.serving import serve_tinker

    return serve_tinker(checkpoint, name, out, host, port)
