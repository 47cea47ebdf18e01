"""Runs the servers of the command `serve`."""

import importlib.util
import json
import socket
from pathlib import Path
from typing import Any

from hexathlon.baselines.bridges.episodes import BridgedEpisode
from hexathlon.baselines.bridges.listing import TaskListing
from hexathlon.baselines.bridges.rendering import TurnReply
from hexathlon.baselines.codecs.registry import CODEC_NAMES
from hexathlon.baselines.gateway.listening import without_delay
from hexathlon.baselines.harness.environments import find_environment
from hexathlon.baselines.harness.errors import (
    EnvironmentUnavailable,
    ExitCode,
    UsageError,
    near_miss,
)
from hexathlon.envs.errors import EnvFault
from hexathlon.envs.registry import short
from hexathlon.tasks.errors import TaskError
from hexathlon_cli.output import note
from hexathlon_cli.playing.choice import TaskChoice
from hexathlon_cli.playing.jsonl import append_verdicts

__all__ = ["serve_app", "serve_envs", "serve_mcp", "serve_ors", "serve_policy", "serve_tinker"]


def serve_envs(
    event: str,
    taskset: str | None,
    split: str,
    level: str | None,
    dialect: str,
    host: str,
    port: int,
    sessions: int,
    deadline: float,
) -> int:
    """Serve an event in the OpenEnv protocol until interrupted."""
    if dialect not in CODEC_NAMES:
        raise UsageError(near_miss("dialect", dialect, CODEC_NAMES))
    settings = _settings(event, taskset, split, level)
    _need("openenv", "openenv")
    listing = TaskListing(event, settings["taskset"], settings["level"])
    BridgedEpisode(event, dialect=dialect, **settings).close()  # fails now instead of per session

    from hexathlon.baselines.bridges.openenv import make_app

    name = short(find_environment(event).id)
    app = make_app(
        lambda: BridgedEpisode(event, dialect=dialect, **settings),
        listing,
        name.lower(),
        sessions,
        deadline,
    )
    serve_app(app, f"{name} is served on http://{{}} (OpenEnv)", host, port)
    return ExitCode.FINE


def serve_ors(
    event: str, taskset: str | None, level: str | None, host: str, port: int, deadline: float
) -> int:
    """Serve an event in the Open Reward Standard until interrupted."""
    settings = _settings(event, taskset, "train", level)
    _need("openreward", "ors")
    listing = TaskListing(event, settings["taskset"], settings["level"])
    BridgedEpisode(event, **settings).close()  # fails now instead of per session

    from hexathlon.baselines.bridges.ors import make_ors_app

    name = short(find_environment(event).id)
    app = make_ors_app(lambda: BridgedEpisode(event, **settings), listing, name.lower(), deadline)
    serve_app(app, f"{name} is served on http://{{}} (Open Reward Standard)", host, port)
    return ExitCode.FINE


def serve_policy(
    checkpoint: Path, name: str, dialect: str, host: str, port: int, concurrency: int
) -> int:
    """Serve a checkpoint behind the chat APIs and vLLM's token routes until interrupted."""
    if dialect not in ("auto", *CODEC_NAMES):
        raise UsageError(near_miss("dialect", dialect, CODEC_NAMES))
    _need("uvicorn", "serve")
    from hexathlon.baselines.agents.checkpoint import InvalidCheckpoint, open_policy
    from hexathlon.baselines.engines.errors import EngineMissing
    from hexathlon.baselines.gateway.app import Gateway
    from hexathlon.baselines.gateway.policy import PolicyAnswers
    from hexathlon.baselines.gateway.token_routes import TokenRoutes

    try:
        policy = open_policy(checkpoint, dialect, concurrency)
    except EngineMissing as error:
        raise EnvironmentUnavailable(str(error)) from None
    except InvalidCheckpoint as error:
        raise UsageError(str(error)) from None
    name = name or checkpoint.resolve().name
    answers = PolicyAnswers(policy.engine, policy.renderer, policy.codec, name)
    app = Gateway(answers, TokenRoutes(answers, policy.engine).paths())
    serve_app(app, f"{name} is served on http://{{}}/v1", host, port)
    return ExitCode.FINE


def serve_tinker(checkpoint: Path, name: str, out: Path | None, host: str, port: int) -> int:
    """Serve a checkpoint in the form of the Tinker API until interrupted."""
    _need("uvicorn", "serve")
    _need("tinker", "tinker")
    from hexathlon.baselines.agents.checkpoint import InvalidCheckpoint, open_policy
    from hexathlon.baselines.bridges.tinker.app import TinkerApp
    from hexathlon.baselines.bridges.tinker.service import TinkerService
    from hexathlon.baselines.engines.errors import EngineMissing
    from hexathlon.baselines.engines.local.loading import load_checkpoint

    try:
        policy = open_policy(checkpoint, "auto", 1)
    except EngineMissing as error:
        raise EnvironmentUnavailable(str(error)) from None
    except InvalidCheckpoint as error:
        raise UsageError(str(error)) from None
    path = checkpoint.resolve()
    name = name or path.name
    service = TinkerService(policy, load_checkpoint(checkpoint).model, name, path, out)
    serve_app(TinkerApp(service), f"{name} is served on http://{{}} (Tinker)", host, port)
    return ExitCode.FINE


def serve_app(app: Any, announcement: str, host: str, port: int) -> None:
    """Serve an ASGI application until interrupted; `{}` in the announcement is the address."""
    import uvicorn

    try:
        listening = without_delay(socket.create_server((host, port)))
    except OSError as error:
        raise UsageError(f"cannot listen on {host}:{port}: {error.strerror}") from None
    with listening:
        place = "{}:{}".format(*listening.getsockname()[:2])
        note(f"{announcement.format(place)}; press Ctrl-C to end")
        config = uvicorn.Config(app, log_config=None, access_log=False)
        uvicorn.Server(config).run(sockets=[listening])


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
    settings = _settings(event, taskset, split, level, task)
    _need("mcp", "mcp")

    import anyio

    from hexathlon.baselines.bridges.mcp import make_server, serve_stdio

    results: list[TurnReply | EnvFault] = []
    if verdicts is not None:
        append_verdicts(verdicts)
    with BridgedEpisode(event, **settings) as episode:
        try:
            opening = episode.open(task, seed)
        except (TaskError, ValueError) as error:
            raise UsageError(str(error)) from None
        anyio.run(serve_stdio, make_server(episode, opening, results.append))
        result = results[-1] if results else EnvFault("the session ended before the episode did")
        row = {"event": event, "task_id": opening.task_id, "seed": seed, **_outcome(result)}
    if verdicts is not None:
        append_verdicts(verdicts, json.dumps(row) + "\n")
    if isinstance(result, EnvFault):
        note(f"no score: {result}")
        return ExitCode.UNSCORED
    note(f"reward {result.reward:g} after {result.info['turn']} turns")
    return ExitCode.FINE


def _outcome(result: TurnReply | EnvFault) -> dict[str, Any]:
    if isinstance(result, EnvFault):
        return {"reward": None, "error": str(result)}
    info = result.info
    return {
        "reward": result.reward, "status": info["status"],
        "reward_terms": info["reward_terms"], "turns": info["turn"],
    }  # fmt: skip


def _settings(
    event: str, taskset: str | None, split: str, level: str | None, task: str | None = None
) -> dict[str, Any]:
    """Return the environment's settings, once their names are checked."""
    info = find_environment(event)
    TaskChoice(task, taskset, split, level, "", "en", 0).check(info, "serve mcp")
    if taskset is not None and taskset not in info.tasksets:
        raise UsageError(near_miss("task set", taskset, info.tasksets))
    return {"taskset": taskset or info.tasksets[0], "split": split, "level": level}


def _need(module: str, extra: str) -> None:
    if importlib.util.find_spec(module) is None:
        raise EnvironmentUnavailable(
            f"this server needs the package {module}: pip install 'hexathlon[{extra}]'"
        )
