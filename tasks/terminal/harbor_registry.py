"""Generated terminal tasks as a Harbor data set: a directory for each, and a registry file.

`harbor run -p DIRECTORY` plays all of them; `registry.json` names them for `--registry-path`.

Their verifiers run in the agent's environment. Harbor's separate verifiers see only declared
artifacts, laid over a fresh image, in which files that an agent has deleted are back. An agent that
attacks its grader is a matter for `hexathlon eval`, which judges in another sandbox.
"""

import json
from collections.abc import Iterable
from pathlib import Path

from hexathlon.tasks.registry import get_source
from hexathlon.tasks.source import parse_address
from hexathlon.tasks.taskset import build_task
from hexathlon.tasks.terminal.source import files_of

__all__ = ["write_registry"]

_SEPARATE, _SHARED = (f'environment_mode = "{mode}"'.encode() for mode in ("separate", "shared"))


def write_registry(task_ids: Iterable[str], folder: Path, name: str = "hexathlon-terminal") -> Path:
    """Write task directories and `registry.json`, and return the path of the latter.

    The directories contain oracles and tests: keep those of the split `test` away from agents.

    Args:
        task_ids: Ids of generated terminal tasks.
        folder: Directory to write to; must be absent or empty.
        name: Name of the data set.

    Raises:
        FileExistsError: If the directory has files already.
        ValueError: If a task is not a generated terminal task.
    """
    if folder.exists() and any(folder.iterdir()):
        raise FileExistsError(f"{folder} is not empty")
    rows, versions = [], set()
    for task_id in task_ids:
        task = build_task(task_id)
        if task.family != "terminal" or task.params["kind"] != "generated":
            raise ValueError(f"{task_id} is not a generated terminal task")
        place = folder / task_id.replace("/", "--").replace("_", "-")
        files = files_of(task)
        files["task.toml"] = files["task.toml"].replace(_SEPARATE, _SHARED)
        for path, data in files.items():
            (place / path).parent.mkdir(parents=True, exist_ok=True)
            (place / path).write_bytes(data)
            if path.endswith(".sh"):
                (place / path).chmod(0o755)
        rows.append({"name": place.name, "path": str(place.resolve())})
        versions.add(get_source(parse_address(task_id).source).version)
    entry = {
        "name": name,
        "version": "-".join(sorted(versions)),
        "description": "Generated terminal tasks of Hexathlon, with oracles and verifiers",
        "tasks": rows,
    }
    registry = folder / "registry.json"
    registry.write_text(json.dumps([entry], indent=2) + "\n", encoding="utf-8")
    return registry
