"""AndroidWorld as a task source: the templates that have no parameters, and what the others need.

`HEXATHLON_DATA/android_world/task_metadata.json` has the 116 templates. Start states and checks are
AndroidWorld's own code, run beside the user's emulator; its result is the score. A template with
parameters becomes a task only with values, which that code draws: `parameters.json` beside the
file, a list of `{"task_name", "seed", "params"}`, adds such tasks.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hexathlon.tasks.errors import MissingData
from hexathlon.tasks.gui.loaders.android_world_format import AndroidWorldTemplate, parse_template
from hexathlon.tasks.gui.loaders.loaded import LoadedGuiTask, LoadedGuiTasks, read_json_file
from hexathlon.tasks.gui.loaders.tools import PUBLIC_PHONE_TOOLS
from hexathlon.tasks.task import Check

__all__ = ["AndroidWorldSource", "android_world_templates", "source"]

_METADATA = "task_metadata.json"
_PARAMETERS = "parameters.json"
_LEAST_TURNS = 10
"""Minimum limit on actions; otherwise twice the published optimum."""


class AndroidWorldSource(LoadedGuiTasks):
    """AndroidWorld's tasks, scored by its own checks."""

    name = "android-world"
    folder = "android_world"

    def files(self) -> Sequence[Path]:
        """Return the metadata and, if present, the parameter file."""
        names = [_METADATA, *([_PARAMETERS] if (self.root / _PARAMETERS).is_file() else [])]
        return [self.root / name for name in names]

    def load(self) -> Sequence[LoadedGuiTask]:
        """Read the tasks without parameters, then those with given values."""
        templates = {each.task_name: each for each in android_world_templates(self.root)}
        tasks = [
            _loaded(each, {}, None) for each in templates.values() if not each.needs.parameters
        ]
        for path in self.files()[1:]:
            for row in read_json_file(path):
                tasks.append(_filled(templates, row, path))
        return tasks


def android_world_templates(root: Path) -> list[AndroidWorldTemplate]:
    """Read every template in the order of the file.

    Raises:
        MissingData: If the file does not exist or has an unknown field.
    """
    entries = read_json_file(root / _METADATA)
    if not isinstance(entries, list):
        raise MissingData(f"{root / _METADATA} is not a list: expected a list of templates")
    return [parse_template(entry) for entry in entries]


def _filled(templates: Mapping[str, AndroidWorldTemplate], row: Any, path: Path) -> LoadedGuiTask:
    if not isinstance(row, dict) or set(row) != {"task_name", "seed", "params"}:
        raise MissingData(f"{path}: expected task_name, seed and params, got {row!r:.200}")
    template = templates.get(row["task_name"])
    if template is None:
        raise MissingData(f"{path}: there is no template {row['task_name']!r}")
    missing = [name for name in template.needs.parameters if name not in row["params"]]
    if missing:
        raise MissingData(f"{path}: {template.task_name} needs values for {', '.join(missing)}")
    return _loaded(template, row["params"], row["seed"])


def _loaded(
    template: AndroidWorldTemplate, values: Mapping[str, Any], seed: int | None
) -> LoadedGuiTask:
    instruction = template.task_template
    for name in template.needs.parameters:
        instruction = instruction.replace(f"{{{name}}}", str(values[name]))
    world = {
        "task_name": template.task_name, "params": dict(values), "seed": seed,
        "apps": list(template.needs.apps), "tags": [tag for tag in template.tags if tag],
    }  # fmt: skip
    return LoadedGuiTask(
        template=template.task_name, level=template.difficulty, instruction=instruction,
        turns=max(_LEAST_TURNS, 2 * template.steps), tools=PUBLIC_PHONE_TOOLS,
        params={"android_world": world}, check=Check(name="android_world", params={}),
    )  # fmt: skip


def source() -> AndroidWorldSource:
    """Create AndroidWorld's source; the files are read when a task is requested."""
    return AndroidWorldSource()
