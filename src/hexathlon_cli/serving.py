"""Runs the servers of the command `serve`."""

import importlib.util
import json
import socket
from pathlib import Path
from typing import Any, get_args

from hexathlon.baselines.bridges.episodes import BridgedEpisode, TurnReply
from hexathlon.baselines.bridges.listing import TaskListing
from hexathlon.baselines.codecs.registry import CODEC_NAMES
from hexathlon.baselines.harness.environments import find_environment, short
from hexathlon.baselines.harness.errors import (
    EnvironmentUnavailable,
    ExitCode,
    UsageError,
    near_miss,
)
from hexathlon.envs.errors import EnvFault
from hexathlon.tasks.errors import TaskError
from hexathlon.tasks.task import Level, Split
from hexathlon_cli.output import note

__all__ = ["serve_envs", "serve_mcp"]


def serve_envs(
    event: str,
    taskset: str | None,
    split: str,
    level: str | None,
    dialect: str,
    host: str,
    port: int,
    sessions: int,
) -> int:
    """Serve an event in the OpenEnv protocol until interrupted."""
    if dialect not in CODEC_NAMES:
        raise UsageError(near_miss("dialect", dialect, CODEC_NAMES))
    settings = _settings(event, taskset, split, level)
    _need("openenv", "openenv")
    listing = TaskListing(event, settings["taskset"], settings["level"])
    BridgedEpisode(event, dialect=dialect, **settings).close()  # fails now instead of per session

    import uvicorn

    from hexathlon.baselines.bridges.openenv import make_app

    name = short(find_environment(event).id)
    app = make_app(
        lambda: BridgedEpisode(event, dialect=dialect, **settings),
        listing,
        name.lower(),
        sessions,
    )
    try:
        listening = socket.create_server((host, port))
    except OSError as error:
        raise UsageError(f"cannot listen on {host}:{port}: {error.strerror}") from None
    with listening:
        place = "{}:{}".format(*listening.getsockname()[:2])
        note(f"{name} is served on http://{place} (OpenEnv); press Ctrl-C to end")
        config = uvicorn.Config(app, log_config=None, access_log=False)
        uvicorn.Server(config).run(sockets=[listening])
    return ExitCode.FINE


def serve_mcp(
    event: str,
    task: str | None,
    taskset: str | None,
    split: str,
    level: str | None,
    seed: int,
    verdicts: Path | None,
) -> int:
    """Serve one episode on standard input and output, and report its verdict at the end."""
    settings = _settings(event, taskset, split, level)
    _need("mcp", "mcp")

    import anyio

    from hexathlon.baselines.bridges.mcp import make_server, serve_stdio

    results: list[TurnReply | EnvFault] = []
    with BridgedEpisode(event, **settings) as episode:
        try:
            opening = episode.open(task, seed)
        except (TaskError, ValueError) as error:
            raise UsageError(str(error)) from None
        row = {"event": event, "task_id": opening.task_id, "seed": seed}
        anyio.run(serve_stdio, make_server(episode, opening, results.append))
    result = results[-1] if results else EnvFault("the session ended before the episode did")
    if isinstance(result, EnvFault):
        _append(verdicts, {**row, "reward": None, "error": str(result)})
        note(f"no score: {result}")
        return ExitCode.UNSCORED
    info = result.info
    _append(verdicts, {**row, "reward": result.reward, "status": info["status"],
                       "reward_terms": info["reward_terms"], "turns": info["turn"]})  # fmt: skip
    note(f"reward {result.reward:g} after {info['turn']} turns")
    return ExitCode.FINE


def _append(verdicts: Path | None, row: dict[str, Any]) -> None:
    if verdicts is not None:
        with verdicts.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")


def _settings(event: str, taskset: str | None, split: str, level: str | None) -> dict[str, Any]:
    info = find_environment(event)
    for kind, name, known in (
        ("split", split, get_args(Split)[:-1]),
        ("level", level, get_args(Level)),
        ("task set", taskset, info.tasksets),
    ):
        if name is not None and name not in known:
            raise UsageError(near_miss(kind, name, known))
    return {"taskset": taskset or info.tasksets[0], "split": split, "level": level}


def _need(module: str, extra: str) -> None:
    if importlib.util.find_spec(module) is None:
        raise EnvironmentUnavailable(
            f"this server needs the package {module}: pip install 'hexathlon[{extra}]'"
        )
