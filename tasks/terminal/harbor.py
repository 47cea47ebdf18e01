"""A Harbor task directory as data: the instruction, the environment, the tests, the solution.

Reads schema 1.0 to 1.4, with one step or several. `terminal_bench` maps Terminal-Bench 1
directories to the same record; `harbor_form` writes the files of generated tasks.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hexathlon.tasks.errors import TaskError

__all__ = ["BEFORE", "HarborStep", "HarborTask", "MalformedTask", "files_below", "read_harbor"]

Files = Mapping[str, bytes]
BEFORE = "workdir/setup.sh"
"""Script of a step, run before its instruction is given."""

_LONGEST = 32 << 20


class MalformedTask(TaskError):
    """A task directory does not follow its format."""


@dataclass(frozen=True)
class HarborStep:
    """A step of a task: instruction, solution and tests."""

    name: str
    """Empty if the task has a single step."""

    instruction: str
    tests: Files
    """Copied to /tests when the step is judged; relative paths."""

    solution: Files
    """Copied to /solution for the oracle only."""

    min_reward: float | None = None
    """With a lower reward, the task ends after this step."""

    seconds: float = 600.0
    """Time limit of the tests."""

    before: str = ""
    """A script that runs in the environment before the step's instruction is given."""


@dataclass(frozen=True)
class HarborTask:
    """A complete task."""

    name: str
    form: str
    """`harbor` or `terminal-bench`."""

    steps: tuple[HarborStep, ...]
    environment: Files
    """The build context with its Dockerfile; relative paths."""

    named: Files = field(default_factory=dict)
    """Tests and solutions in the build context, which only a step that names them copies."""

    workdir: str | None = None
    """The shells' working directory, if configured; otherwise the Dockerfile's."""

    variables: Mapping[str, str] = field(default_factory=dict)
    test_variables: Mapping[str, str] = field(default_factory=dict)
    solution_variables: Mapping[str, str] = field(default_factory=dict)
    agent_seconds: float | None = None
    strategy: str = "mean"
    verifier_mode: str = "shared"
    """The mode that the task requests; the headline always judges in a separate sandbox."""

    difficulty: str = "medium"
    memory_mb: int | None = None
    storage_mb: int | None = None
    obstacles: tuple[str, ...] = ()
    """Requirements that no sandbox here meets, such as network access."""


def files_below(folder: Path) -> dict[str, bytes]:
    """Read all regular files in a directory, without following links.

    Raises:
        MalformedTask: If their total size is too large.
    """
    found: dict[str, bytes] = {}
    total = 0
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() or not path.is_file():
            continue
        total += path.stat().st_size
        if total > _LONGEST:
            raise MalformedTask(f"{folder} contains more than {_LONGEST >> 20} MiB")
        found[path.relative_to(folder).as_posix()] = path.read_bytes()
    return found


def read_harbor(name: str, files: Files) -> HarborTask:
    """Parse a Harbor directory.

    Raises:
        MalformedTask: If a part is missing or malformed; the message names it.
    """
    config = _config(name, files)
    agent, verifier = _table(config, "agent"), _table(config, "verifier")
    environment = _table(config, "environment")
    seconds = float(verifier.get("timeout_sec", 600.0))
    return HarborTask(
        name=str(_table(config, "task").get("name", name)),
        form="harbor",
        steps=_steps(name, files, config, seconds),
        environment=_below(files, "environment"),
        workdir=environment.get("workdir"),
        variables=_strings(environment.get("env")),
        test_variables=_strings(verifier.get("env")),
        solution_variables=_strings(_table(config, "solution").get("env")),
        agent_seconds=agent.get("timeout_sec"),
        strategy=str(config.get("multi_step_reward_strategy", "mean")),
        verifier_mode=str(verifier.get("environment_mode", "shared")),
        difficulty=str(_table(config, "metadata").get("difficulty", "medium")),
        memory_mb=environment.get("memory_mb"),
        storage_mb=environment.get("storage_mb"),
        obstacles=_obstacles(agent, environment),
    )


def _config(name: str, files: Files) -> dict[str, Any]:
    if "task.toml" not in files:
        raise MalformedTask(f"{name}: there is no task.toml")
    try:
        config = tomllib.loads(files["task.toml"].decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise MalformedTask(f"{name}: task.toml cannot be read: {error}") from None
    schema = str(config.get("schema_version", config.get("version", "1.0")))
    if schema.split(".")[0] != "1":
        raise MalformedTask(f"{name}: schema {schema} is not known; expected 1.0 to 1.4")
    return config


def _steps(
    name: str, files: Files, config: dict[str, Any], seconds: float
) -> tuple[HarborStep, ...]:
    listed = config.get("steps") or []
    if not listed:
        return (_step(name, files, "", {}, seconds),)
    return tuple(_step(name, files, str(entry["name"]), entry, seconds) for entry in listed)


def _step(
    name: str, files: Files, step: str, entry: Mapping[str, Any], seconds: float
) -> HarborStep:
    own = _below(files, f"steps/{step}") if step else files
    if "instruction.md" not in own:
        place = f"steps/{step}/instruction.md" if step else "instruction.md"
        raise MalformedTask(f"{name}: there is no {place}")
    tests = {**_below(files, "tests"), **_below(own, "tests")} if step else _below(own, "tests")
    if "test.sh" not in tests:
        raise MalformedTask(f"{name}: step {step or 'task'}: there is no tests/test.sh")
    least = entry.get("min_reward")
    own_seconds = _table(dict(entry), "verifier").get("timeout_sec", seconds)
    return HarborStep(
        name=step,
        instruction=own["instruction.md"].decode("utf-8", "replace").strip(),
        tests=tests,
        solution=_below(own, "solution"),
        min_reward=None if least is None else float(least),
        seconds=float(own_seconds),
        before=own.get(BEFORE, b"").decode("utf-8", "replace") if step else "",
    )


def _below(files: Files, folder: str) -> dict[str, bytes]:
    start = f"{folder}/"
    return {path.removeprefix(start): files[path] for path in files if path.startswith(start)}


def _table(config: dict[str, Any], name: str) -> dict[str, Any]:
    value = config.get(name, {})
    if not isinstance(value, dict):
        raise MalformedTask(f"task.toml: [{name}] must be a table, got {type(value).__name__}")
    return value


def _strings(value: Any) -> dict[str, str]:
    return {str(name): str(item) for name, item in (value or {}).items()}


def _obstacles(agent: dict[str, Any], environment: dict[str, Any]) -> tuple[str, ...]:
    found = []
    for table in (agent, environment):
        if table.get("network_mode", "no-network") not in ("no-network", "none"):
            found.append(f"a network ({table['network_mode']})")
    if environment.get("gpus"):
        found.append(f"{environment['gpus']} GPUs")
    if environment.get("mcp_servers"):
        found.append("MCP servers")
    if str(environment.get("os", "linux")).lower() not in ("linux", ""):
        found.append(f"the operating system {environment['os']}")
    if environment.get("docker_image"):
        found.append(f"the image {environment['docker_image']}")
    return tuple(dict.fromkeys(found))
