"""Runs the command `harness`: a program of another maker as the agent of an evaluation."""

import importlib.util
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hexathlon.baselines.agents.spec import ModelSpec, SpecError, parse_model
from hexathlon.baselines.harness.config import EvalConfig, ExecutionConfig, load_config
from hexathlon.baselines.harness.errors import EnvironmentUnavailable, UsageError
from hexathlon.baselines.harness.models import OpenedModel, open_model
from hexathlon.baselines.harness.run import evaluate
from hexathlon.baselines.programs.command import CommandAgent, CommandSettings, OpenAnswers
from hexathlon_cli.runs import conclude, describe

if TYPE_CHECKING:
    from hexathlon.baselines.agents.base import Episode
    from hexathlon.baselines.gateway.answers import Answering
    from hexathlon.baselines.gateway.recording import TurnLog

__all__ = ["run_harness"]

_CALLS = "calls"


def run_harness(
    flags: Mapping[str, Any],
    *,
    command: Sequence[str],
    out: Path,
    name: str,
    mount: Sequence[str] | None,
    seconds: float,
    memory_mb: int,
    variable: Sequence[str] | None,
    force_new: bool,
    max_calls: int | None,
    max_trial_tokens: int | None,
) -> int:
    """Evaluate a program; `flags` are the settings of `eval`."""
    if importlib.util.find_spec("uvicorn") is None:
        raise EnvironmentUnavailable(
            "the gateway needs the package uvicorn: pip install 'hexathlon[serve]'"
        )
    config, execution = load_config(dict(flags), None)
    name = name or os.path.basename(command[0])
    settings = CommandSettings(
        tuple(command),
        name,
        tuple(_folder(path) for path in mount or ()),
        seconds,
        memory_mb,
        max_calls,
        max_trial_tokens,
        dict(_assigned(text) for text in variable or ()),
        out / _CALLS,
    )
    inner = config.model
    agent, described = _agent(settings, config, execution)
    description = {
        "kind": "custom",
        "name": f"{name} with {described['name']}",
        "place": "",
        "command": list(command),
        "seconds": seconds,
        "memory_mb": memory_mb,
        "mounts": list(settings.mounts),
        "calls": max_calls,
        "tokens": max_trial_tokens,
        "model": {**described, "spelling": inner},
    }
    config = config.model_copy(update={"model": f"custom:{description['name']}"})
    opened = OpenedModel(agent, description, None)
    describe(evaluate(config, execution, out, force_new=force_new, model=opened))
    return conclude(out, execution)


def _agent(
    settings: CommandSettings, config: EvalConfig, execution: ExecutionConfig
) -> tuple[CommandAgent, Mapping[str, Any]]:
    """Return the agent, and the description of the model behind it."""
    try:
        spec = parse_model(config.model)
    except SpecError as error:
        raise UsageError(str(error)) from None
    if spec.kind == "agent":
        raise UsageError(f"expected a model behind the program, got {config.model}")
    if spec.kind == "checkpoint":
        return _with_checkpoint(settings, spec, config, execution)
    from hexathlon.baselines.agents.llm import LlmAgent
    from hexathlon.baselines.gateway.answers import EngineAnswers

    opened = open_model(config, execution, "openai")
    assert isinstance(opened.agent, LlmAgent)
    engine, model = opened.agent.engine, str(opened.description["name"])
    answers = EngineAnswers(engine, model, opened.agent.sampling)

    def open_answers(episode: "Episode", turns: "TurnLog") -> "Answering":
        return answers

    agent = CommandAgent(settings, open_answers, model, engine, keeps_tokens=False)
    return agent, opened.description


def _with_checkpoint(
    settings: CommandSettings, spec: ModelSpec, config: EvalConfig, execution: ExecutionConfig
) -> tuple[CommandAgent, Mapping[str, Any]]:
    from hexathlon.baselines.agents.checkpoint import InvalidCheckpoint, open_policy, revision_of
    from hexathlon.baselines.engines.errors import EngineMissing
    from hexathlon.baselines.programs.policies import policy_answers
    from hexathlon.baselines.tokens.requests import TokenSampling

    path = Path(spec.place)
    try:
        policy = open_policy(path, config.dialect, execution.concurrency)
    except EngineMissing as error:
        raise EnvironmentUnavailable(str(error)) from None
    except InvalidCheckpoint as error:
        raise UsageError(str(error)) from None
    drawn = config.sampling
    sampling = TokenSampling(
        temperature=1.0 if drawn.temperature is None else drawn.temperature,
        top_p=drawn.top_p or 1.0,
        max_tokens=drawn.max_tokens or 1024,
        seed=drawn.sampling_seed or 0,
    )
    model = path.resolve().name
    answers: OpenAnswers = policy_answers(policy, model, sampling)
    agent = CommandAgent(settings, answers, model, policy.engine, keeps_tokens=True)
    description = {
        "kind": "checkpoint",
        "name": model,
        "dialect": policy.codec.name,
        "sampling": drawn.model_dump(mode="json"),
        "revision": revision_of(path),
    }
    return agent, description


def _folder(text: str) -> str:
    path = Path(text).resolve()
    if not path.is_dir():
        raise UsageError(f"cannot mount {text}: it is not a directory")
    return str(path)


def _assigned(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise UsageError(f"expected --variable NAME=VALUE, got {text!r}")
    return name, value
