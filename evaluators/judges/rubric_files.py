"""Rubrics as TOML files: reading, checking, and lookup of bundled and registered ones by name.

The parts of a rubric are defined in `hexathlon.evaluators.judges.rubric`.
"""

import json
import tomllib
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from hexathlon.evaluators.judges.lint import lint
from hexathlon.evaluators.judges.rubric import Rubric, RubricError
from hexathlon.evaluators.settings_text import read_settings_text
from hexathlon.tasks.validation import explain, reason

__all__ = [
    "build_rubric",
    "get_rubric",
    "parse_rubric",
    "read_rubric",
    "register_rubric",
    "rubric_names",
    "rubric_text",
]

_entries: dict[str, Path | None] = {}
_loaded: dict[str, Rubric] = {}


def register_rubric(name: str, path: Path) -> None:
    """Register a rubric file under a name that tasks can use.

    Raises:
        ValueError: If the name is taken by another file.
    """
    if name in rubric_names() and _entries.get(name) != path:
        raise ValueError(f"the rubric name {name!r} is taken; choose another")
    _entries[name] = path


def rubric_names() -> list[str]:
    """Return the names of all rubrics, bundled and registered."""
    folder = resources.files("hexathlon.evaluators.judges").joinpath("rubrics")
    shipped = {file.name.removesuffix(".toml") for file in folder.iterdir() if _is_toml(file.name)}
    return sorted(shipped | set(_entries))


def get_rubric(name: str) -> Rubric:
    """Return a rubric by its registered name.

    Raises:
        RubricError: If nothing is registered under the name, or its file is invalid.
    """
    if name not in _loaded:
        if name not in rubric_names():
            raise RubricError(f"there is no rubric {name!r}. Known: {', '.join(rubric_names())}")
        path = _entries.get(name)
        if path is None:
            folder = resources.files("hexathlon.evaluators.judges").joinpath("rubrics")
            text = folder.joinpath(f"{name}.toml").read_text(encoding="utf-8")
            _loaded[name] = parse_rubric(text, f"the bundled rubric {name}")
        else:
            _loaded[name] = read_rubric(path)
    return _loaded[name]


def read_rubric(path: Path) -> Rubric:
    """Read and check a rubric file.

    Raises:
        RubricError: If it cannot be read, or is invalid; the message lists every fault.
    """
    try:
        text = read_settings_text(path)
    except (OSError, UnicodeDecodeError) as error:
        raise RubricError(f"cannot read the rubric {path}: {reason(error)}") from None
    return parse_rubric(text, str(path))


def parse_rubric(text: str, name: str) -> Rubric:
    """Read and check the text of a rubric file.

    Raises:
        RubricError: If it is invalid; the message lists every fault.
    """
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise RubricError(f"{name} is not TOML: {error}") from None
    return build_rubric(data, name)


def build_rubric(data: Mapping[str, Any], name: str) -> Rubric:
    """Make a rubric from plain data and check it.

    Raises:
        RubricError: If it is invalid; the message lists every fault.
    """
    try:
        rubric = Rubric.model_validate(data)
    except ValidationError as error:
        said = explain(error, place=lambda location: _place(location, data))
        raise RubricError(f"{name}: {said}") from None
    faults = [finding for finding in lint(rubric) if finding.fatal]
    if faults:
        raise RubricError(f"{name}: " + "; ".join(str(fault) for fault in faults))
    return rubric


def _place(location: tuple[int | str, ...], data: Mapping[str, Any]) -> str:
    """Return the location of a fault as text, with the criterion's id if it has one."""
    if len(location) > 1 and location[0] == "criteria" and isinstance(location[1], int):
        try:
            name = data["criteria"][location[1]]["id"]
        except (LookupError, TypeError):
            name = location[1] + 1
        return ".".join([f"criterion {name!r}", *map(str, location[2:])])
    return ".".join(map(str, location))


def _is_toml(name: str) -> bool:
    return name.endswith(".toml")


def rubric_text(rubric: Rubric) -> str:
    """Return a rubric as the text of a TOML file, from which the same rubric is read."""
    data = rubric.model_dump(mode="json", exclude_defaults=True)
    criteria = data.pop("criteria")
    lines = [f"{name} = {_toml(value)}" for name, value in data.items()]
    for criterion in criteria:
        lines += ["", "[[criteria]]"]
        lines += [f"{name} = {_toml(value)}" for name, value in criterion.items()]
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    """Return a value in TOML; strings in JSON's form, in which TOML reads all but one character."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_toml(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value)
