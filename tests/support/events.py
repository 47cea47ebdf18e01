"""Registers the toy event with gymnasium and the commands, and plays small runs of it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gymnasium

from hexathlon.baselines.harness.config import EvalConfig, ExecutionConfig, load_config
from hexathlon.baselines.harness.run import RunOutcome, evaluate
from hexathlon.envs.registry import ENVIRONMENTS, EnvironmentInfo
from hexathlon.evaluators.records import read_records
from support import toy

TOY = "harness/Toy-v0"
FIRST = "toy/count/tiny/test/00000"


def register_toy(env_id: str = TOY, entry_point: str = f"{toy.__name__}:ToyEnv") -> None:
    gymnasium.register(
        env_id, entry_point=entry_point, disable_env_checker=True, order_enforce=False
    )
    ENVIRONMENTS[env_id] = EnvironmentInfo(env_id, "toy", "Count", entry_point, "", ("toy",))


def unregister(env_id: str = TOY) -> None:
    del ENVIRONMENTS[env_id], gymnasium.registry[env_id]


def toy_config(model: str = "agent:oracle", **flags: Any) -> EvalConfig:
    return load_config({"model": model, "envs": ("Toy",), "tasks": 8, **flags})[0]


def toy_run(
    run: Path, model: str = "agent:oracle", played: Sequence[Path] = (), **flags: Any
) -> RunOutcome:
    known = {name: flags.pop(name) for name in list(flags) if name in ExecutionConfig.model_fields}
    execution = ExecutionConfig(fsync="never", **known)
    return evaluate(toy_config(model, **flags), execution, run, played=played)


def records(run: Path) -> list[dict[str, Any]]:
    return list(read_records(run))
