"""The configuration of a run: every flag of `hexathlon eval`, its default and its meaning.

Values come from a TOML file, flags override them, and the whole that results is stored in the
plan. `EvalConfig` decides what is run and is hashed with the plan; `ExecutionConfig` decides how,
and may change when a run is resumed.
"""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from hexathlon.baselines.harness.errors import UsageError, near_miss
from hexathlon.baselines.rollout.limits import TrialLimits
from hexathlon.tasks.task import Level, Split

__all__ = [
    "EvalConfig",
    "ExecutionConfig",
    "SamplingConfig",
    "command_settings",
    "load_config",
    "read_toml",
]

COMMAND_SETTINGS = ("out", "with_anchors")
"""Settings of a configuration file that the command itself reads."""

Dialect = Literal["auto", "openai", "hermes", "react", "json", "compact", "lines"]


class _Config(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class SamplingConfig(_Config):
    """How a model's tokens are drawn; None leaves the choice to its server."""

    temperature: float | None = Field(default=None, ge=0)
    top_p: float | None = Field(default=None, gt=0, le=1)
    max_tokens: int | None = Field(default=None, ge=1)
    """Longest reply, in tokens."""

    sampling_seed: int | None = None
    """Each request gets its own seed, derived from this one, the trial and the turn."""


class EvalConfig(_Config):
    """What is run."""

    model: str
    """`agent:NAME`, `endpoint:URL#NAME` or a checkpoint directory."""

    envs: tuple[str, ...] = ()
    """Environments, by id or short name (`SQL`); needed unless tasks are named."""

    taskset: str | None = None
    """Task source; each environment's own by default."""

    split: Split = "test"
    level: Level | None = None
    tasks: int = Field(default=100, ge=0)
    """How many tasks per environment, from the front of the set; 0 for all of a finite set."""

    task: tuple[str, ...] = ()
    """These tasks only, by id; replaces taskset, split, level and tasks."""

    seeds: int = Field(default=1, ge=1)
    """Seeds per task: 0, 1, … below this number."""

    trials: int = Field(default=1, ge=1)
    """Trials per task and seed."""

    dialect: Dialect = "auto"
    """How the model calls tools; `auto` asks the server once, or reads it from the checkpoint."""

    limits: TrialLimits = TrialLimits()
    sampling: SamplingConfig = SamplingConfig()
    prompt_suffix: str = ""
    """Appended to every system prompt."""

    team: str = Field(default="", max_length=80)
    """Who submits the run, shown on the leaderboard; says nothing of what is run."""


class ExecutionConfig(_Config):
    """How it is run; does not change what a record says, clocks and retries apart."""

    concurrency: int = Field(default=20, ge=1)
    """Trials at once, for models that are waited for; built-in agents take one at a time."""

    retries: int = Field(default=2, ge=0)
    """Further attempts at a trial that infrastructure spoilt."""

    retry_infra: bool = False
    """On resuming, try again what infrastructure spoilt."""

    max_unscored: float = Field(default=0.02, ge=0, le=1)
    """Share of trials without a score above which the command ends with exit code 2."""

    most_infra_in_a_row: int = Field(default=25, ge=0)
    """So many trials spoilt by infrastructure one after the other stop the run; 0 never does."""

    keep_tokens: bool = False
    """Store the tokens that the policy read and drew beside the records."""

    fsync: Literal["record", "close", "never"] = "record"
    stream: bool = False
    request_timeout: float = Field(default=600.0, gt=0)
    request_retries: int = Field(default=4, ge=0)
    api_key_env: str = "OPENAI_API_KEY"
    """Environment variable that holds the server's key; the key itself is never stored."""

    prices: Path | None = None
    """Price table (TOML); without one, costs are unknown."""

    salt_file: Path | None = None
    """File with the secret of a held-out round; only its commitment is stored."""


def read_toml(path: Path) -> dict[str, Any]:
    """Read a configuration file.

    Raises:
        UsageError: It is missing or not TOML.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"cannot read the configuration {path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is not TOML: {error}") from None


def command_settings(file: Path | None) -> dict[str, Any]:
    """Return the settings of a configuration file that the command itself reads.

    Raises:
        UsageError: If the file is missing or not TOML.
    """
    if file is None:
        return {}
    values = {name.replace("-", "_"): value for name, value in read_toml(file).items()}
    return {name: values[name] for name in COMMAND_SETTINGS if name in values}


def load_config(
    flags: Mapping[str, Any], file: Path | None = None
) -> tuple[EvalConfig, ExecutionConfig]:
    """Merge a configuration file and flags, flags first, and check the result.

    Both are flat: the fields of `limits` are written `limit_turns`, `limit_cost` and so on, in
    TOML also as a table `[limits]`; those of `sampling` by their own names or as `[sampling]`.

    Raises:
        UsageError: A name is unknown or a value does not fit, and which.
    """
    values = _flat(read_toml(file)) if file else {}
    for name in COMMAND_SETTINGS:
        values.pop(name, None)
    values |= {name: value for name, value in flags.items() if value is not None}
    known = _known()
    for name in values:
        if name not in known:
            raise UsageError(near_miss("setting", name, known))
    parts: dict[type[BaseModel], dict[str, Any]] = {model: {} for model in known.values()}
    for name, value in values.items():
        model = known[name]
        field = name.removeprefix("limit_") if model is TrialLimits else name
        parts[model][field] = value
    what = parts.get(EvalConfig, {})
    if isinstance(what.get("envs"), str):
        what["envs"] = (what["envs"],)
    if not what.get("envs") and not what.get("task"):
        raise UsageError("say what is evaluated: --envs SQL, or single tasks with --task ID")
    try:
        what["limits"] = TrialLimits(**parts.get(TrialLimits, {}))
        what["sampling"] = SamplingConfig(**parts.get(SamplingConfig, {}))
        return EvalConfig(**what), ExecutionConfig(**parts.get(ExecutionConfig, {}))
    except ValidationError as error:
        raise UsageError(_explain(error)) from None


def _known() -> dict[str, type[BaseModel]]:
    names: dict[str, type[BaseModel]] = {}
    for model in (EvalConfig, ExecutionConfig, SamplingConfig):
        names |= {name: model for name in model.model_fields if name not in ("limits", "sampling")}
    return names | {f"limit_{name}": TrialLimits for name in TrialLimits.model_fields}


def _flat(data: Mapping[str, Any]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, value in data.items():
        if name == "limits" and isinstance(value, dict):
            values |= {f"limit_{key}": item for key, item in value.items()}
        elif name == "sampling" and isinstance(value, dict):
            values |= value
        else:
            values[name.replace("-", "_")] = value
    return values


def _explain(error: ValidationError) -> str:
    lines = []
    for fault in error.errors(include_url=False):
        place = ".".join(str(part) for part in fault["loc"])
        if fault["type"] == "missing":
            lines.append(f"{place} is missing: give it as a flag or in the configuration file")
        elif fault["type"] == "literal_error":
            choices = re.findall(r"'([^']*)'", fault["ctx"]["expected"])
            lines.append(near_miss(place, str(fault["input"]), choices))
        else:
            lines.append(f"{place}: {fault['msg']}, got {fault['input']!r}")
    return "; ".join(lines)
