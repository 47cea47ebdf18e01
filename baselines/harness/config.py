"""Configuration of a run: the flags of `hexathlon eval`, with defaults and meanings.

Values come from a TOML file and are overridden by flags; the resolved configuration is stored in
the plan. `EvalConfig` determines the results and is part of the plan's hash. `ExecutionConfig`
controls the execution and may change when a run is resumed.
"""

import tomllib
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from hexathlon.baselines.harness.errors import UsageError, near_miss
from hexathlon.baselines.rollout.limits import TrialLimits
from hexathlon.baselines.rollout.pools import WorkersTable
from hexathlon.evaluators.settings_text import read_settings_text
from hexathlon.tasks.task import Level, Split
from hexathlon.tasks.validation import explain, reason

__all__ = [
    "ClusterChoice",
    "EvalConfig",
    "ExecutionConfig",
    "SamplingConfig",
    "cluster_choice",
    "command_settings",
    "load_config",
    "read_toml",
]

COMMAND_SETTINGS = ("out", "with_anchors")
"""Settings of a configuration file that the command handles itself."""

_CLUSTER_FLAGS = ("cluster", "workers", "slots", "pool")

_SETTINGS = {"max_tokens": "max_reply_tokens"}
_FIELDS = {setting: field for field, setting in _SETTINGS.items()}
"""Fields of `sampling` whose names collide with other settings: field to setting, and back."""

Dialect = Literal["auto", "openai", "hermes", "react", "json", "compact", "lines"]


class _Config(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class ClusterChoice(WorkersTable):
    """A cluster and the workers that play there."""

    address: str = "auto"
    """`auto` for one on this machine, `HOST:PORT` or `ray://HOST:PORT`."""


class SamplingConfig(_Config):
    """Sampling parameters of a model; None means the server's default."""

    temperature: float | None = Field(default=None, ge=0)
    top_p: float | None = Field(default=None, gt=0, le=1)
    max_tokens: int | None = Field(default=None, ge=1)
    """Maximum length of a reply, in tokens."""

    sampling_seed: int | None = None
    """Base seed; every request gets a seed derived from it, the trial and the turn."""


class EvalConfig(_Config):
    """Model, tasks and limits: everything that determines the results of a run."""

    model: str
    """`agent:NAME`, `endpoint:URL#NAME` or a checkpoint directory."""

    envs: tuple[str, ...] = ()
    """Environments, by id or short name (`SQL`); required unless `task` is set."""

    taskset: str | None = None
    """Task source; by default that of each environment."""

    split: Split = "test"
    level: Level | None = None
    tasks: int = Field(default=100, ge=0, le=1_000_000)
    """Number of tasks per environment, in order of the task set; 0 for all of a finite set."""

    task: tuple[str, ...] = ()
    """Ids of single tasks; replaces taskset, split, level and tasks."""

    seeds: int = Field(default=1, ge=1)
    """Number of seeds per task; they count from 0."""

    trials: int = Field(default=1, ge=1)
    """Trials per task and seed."""

    dialect: Dialect = "auto"
    """Tool-call format; `auto` probes the server once, or reads it from the checkpoint."""

    limits: TrialLimits = TrialLimits()
    sampling: SamplingConfig = SamplingConfig()
    engine: Literal["torch", "vllm"] = "torch"
    """Engine for a checkpoint: torch in this process, or vLLM servers started for the run."""

    engine_arg: tuple[str, ...] = ()
    """Further arguments for the vLLM servers, such as `--tensor-parallel-size=2`."""

    prompt_suffix: str = ""
    """Appended to every system prompt."""

    team: str = Field(default="", max_length=80)
    """Submitter of the run, shown on the leaderboard; does not affect results."""


class ExecutionConfig(_Config):
    """Settings of the execution; in the records, they affect only timing and retries."""

    concurrency: int = Field(default=20, ge=1)
    """Concurrent trials, for models; a process plays one trial of a built-in agent at a time."""

    workers: int = Field(default=0, ge=0, le=1024)
    """Processes of this machine that play the trials of a built-in agent, in the command; 0 for one
    per core if there are many trials."""

    retries: int = Field(default=2, ge=0)
    """Further attempts at a trial after an infrastructure failure."""

    retry_infra: bool = False
    """Retry infrastructure failures when a run is resumed."""

    max_unscored: float = Field(default=0.02, ge=0, le=1)
    """Share of unscored trials above which the command ends with exit code 2."""

    most_infra_in_a_row: int = Field(default=25, ge=0)
    """Abort after this many consecutive infrastructure failures; 0 never aborts."""

    max_cost: float = Field(default=0.0, ge=0)
    """Start no further trial once the run has cost this much, in the price table's currency; 0 for
    no limit."""

    max_tokens: int = Field(default=0, ge=0)
    """Start no further trial once the run has used this many input and output tokens."""

    max_hours: float = Field(default=0.0, ge=0)
    """Start no further trial once this call has taken this long."""

    replicas: int = Field(default=1, ge=1, le=64)
    """vLLM servers to start, each with the whole model."""

    keep_tokens: bool = False
    """Store the policy's prompt and sampled tokens with the records."""

    fsync: Literal["record", "close", "never"] = "record"
    stream: bool = False
    request_timeout: float = Field(default=600.0, gt=0)
    request_retries: int = Field(default=4, ge=0)
    api_key_env: str | None = None
    """Environment variable with the server's API key, which is never stored; None for the usual
    one, such as OPENAI_API_KEY or ANTHROPIC_API_KEY."""

    prices: Path | None = None
    """Price table (TOML); without one, costs are unknown."""

    salt_file: Path | None = None
    """File with the secret of a held-out round; only a commitment to it is stored."""

    cluster: ClusterChoice | None = None
    """Cluster that plays the trials; None for this machine."""

    @property
    def has_budget(self) -> bool:
        """Whether the run stops at a cost, a number of tokens or a time."""
        return bool(self.max_cost or self.max_tokens or self.max_hours)


def read_toml(path: Path) -> dict[str, Any]:
    """Read a configuration file.

    Raises:
        UsageError: If the file cannot be read or is not TOML.
    """
    try:
        return tomllib.loads(read_settings_text(path))
    except OSError as error:
        raise UsageError(f"cannot read the configuration {path}: {reason(error)}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read the configuration {path}: {reason(error)}") from None


def command_settings(file: Path | None) -> dict[str, Any]:
    """Return the settings of a configuration file that the command itself reads.

    Raises:
        UsageError: If the file is missing or not TOML.
    """
    if file is None:
        return {}
    values = {name.replace("-", "_"): value for name, value in read_toml(file).items()}
    for name, kind, expected in (("out", str, "a path"), ("with_anchors", bool, "true or false")):
        if not isinstance(values.get(name, kind()), kind):
            raise UsageError(f"{file}: {name} must be {expected}, got {values[name]!r:.80}")
    return {name: values[name] for name in COMMAND_SETTINGS if name in values}


def cluster_choice(given: Any, flags: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the settings of the cluster; flags take precedence over a file or an earlier run.

    Args:
        given: The table `[cluster]`, an address, or None.
        flags: `cluster` (the address, a whole table, or `none` for this process), `workers`,
            `slots` and `pool` (texts such as `browsers={families=["web"], workers=2}`, each the
            TOML of one pool).

    Raises:
        UsageError: If there are slots or pools but no cluster, or a pool is not TOML.
    """
    table: Any = {"address": given} if isinstance(given, str) else given
    if table is not None and not isinstance(table, Mapping):
        raise UsageError(f"cluster must be an address or a table, [cluster], got {given!r:.80}")
    address = flags.get("cluster")
    if isinstance(address, Mapping):
        table = address
    elif address is not None:
        table = {**(table or {}), "address": address}
    if table is not None and table.get("address") == "none":
        return None
    settings = {name: flags[name] for name in ("workers", "slots") if flags.get(name) is not None}
    if settings.get("workers") == 0:  # left open, as in the stored settings of a run
        del settings["workers"]
    pools: dict[str, Any] = {}
    for text in flags.get("pool") or ():
        try:
            pools |= tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise UsageError(
                f'--pool must be NAME={{SETTINGS}} in TOML, such as \'browsers={{families=["web"], '
                f"workers=2}}', got {text!r:.80} ({error})"
            ) from None
    if table is None:
        if "slots" in settings or pools:
            raise UsageError("--slots and --pool need --cluster ADDRESS")
        return None
    return {**table, **settings, "pools": {**table.get("pools", {}), **pools}}


def load_config(
    flags: Mapping[str, Any], file: Path | None = None
) -> tuple[EvalConfig, ExecutionConfig]:
    """Merge a configuration file with flags, which take precedence, and validate the result.

    Both are flat: fields of `limits` are named `limit_turns`, `limit_cost` and so on, in TOML also
    as a table `[limits]`; fields of `sampling` keep their names, in TOML also as `[sampling]`,
    except that `max_tokens` is the run's budget outside of that table and `max_reply_tokens` the
    longest reply.

    Raises:
        UsageError: If a name is unknown or a value is invalid; the message says which.
    """
    values = _flat(read_toml(file)) if file else {}
    for name in COMMAND_SETTINGS:
        values.pop(name, None)
    cluster = cluster_choice(values.pop("cluster", None), flags)
    rest = {name: value for name, value in flags.items() if name not in _CLUSTER_FLAGS}
    if cluster is None and flags.get("workers") is not None:
        rest["workers"] = flags["workers"]
    values |= {name: value for name, value in rest.items() if value is not None}
    if cluster is not None:
        values["cluster"] = cluster
    known = _known()
    for name in values:
        if name not in known:
            raise UsageError(near_miss("setting", name, known))
    parts: dict[type[BaseModel], dict[str, Any]] = {model: {} for model in known.values()}
    for name, value in values.items():
        model = known[name]
        field = name.removeprefix("limit_") if model is TrialLimits else _FIELDS.get(name, name)
        parts[model][field] = value
    selection = parts.get(EvalConfig, {})
    if isinstance(selection.get("envs"), str):
        selection["envs"] = (selection["envs"],)
    if not selection.get("envs") and not selection.get("task"):
        raise UsageError("choose what to evaluate: --envs SQL, or single tasks with --task ID")
    try:
        selection["limits"] = TrialLimits(**parts.get(TrialLimits, {}))
        selection["sampling"] = SamplingConfig(**parts.get(SamplingConfig, {}))
        return EvalConfig(**selection), ExecutionConfig(**parts.get(ExecutionConfig, {}))
    except ValidationError as error:
        raise UsageError(explain(error, place=partial(_place, error.title))) from None


def _place(model: str, location: tuple[int | str, ...]) -> str:
    """Return the name of a setting as it is typed."""
    place = ".".join(map(str, location))
    return _SETTINGS.get(place, place) if model == SamplingConfig.__name__ else place


def _known() -> dict[str, type[BaseModel]]:
    names: dict[str, type[BaseModel]] = {}
    for model in (EvalConfig, ExecutionConfig):
        names |= {name: model for name in model.model_fields if name not in ("limits", "sampling")}
    names |= {_SETTINGS.get(name, name): SamplingConfig for name in SamplingConfig.model_fields}
    return names | {f"limit_{name}": TrialLimits for name in TrialLimits.model_fields}


def _flat(data: Mapping[str, Any]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, value in data.items():
        if name in ("limits", "sampling") and not isinstance(value, dict):
            raise UsageError(f"{name} must be a table, [{name}], got {value!r:.80}")
        if name == "limits":
            values |= {f"limit_{key}": item for key, item in value.items()}
        elif name == "sampling":
            values |= {_SETTINGS.get(str(key), str(key)): item for key, item in value.items()}
        else:
            values[name.replace("-", "_")] = value
    return values
