"""The command `show`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from hexathlon_cli.options import AsJson

__all__ = ["show"]

_PARTS_OF_A_TASK_ID = 5


def show(
    name: Annotated[str, typer.Argument(help="Event, such as SQL, or task id.")],
    as_json: AsJson = False,
    screens: Annotated[
        Path | None, typer.Option(help="Write all screens of the GUI event to this PNG file.")
    ] = None,
) -> int:
    """Show an event, or a task without its answer.

    A task id has five parts, such as sql/filter_rows/tiny/test/00000: task set, template, level,
    split and index.
    """
    import json

    from hexathlon.baselines.harness.environments import find_environment
    from hexathlon_cli.events import describe_event, sizes_of
    from hexathlon_cli.output import print_text

    if screens is not None:
        return _write_screens(name, screens)
    if name.count("/") == _PARTS_OF_A_TASK_ID - 1:
        shown = _task(name)
    else:
        info = find_environment(name)
        shown = {
            **describe_event(info),
            "sizes": {one: sizes_of(info, one) for one in info.tasksets},
        }
    if as_json:
        print_text(json.dumps(shown, indent=2, ensure_ascii=False))
    else:
        print_text("\n".join(_lines(shown)))
    return 0


def _write_screens(name: str, path: Path) -> int:
    from hexathlon.baselines.harness.environments import find_environment
    from hexathlon.baselines.harness.errors import UsageError
    from hexathlon.envs.gui.contact_sheet import write_contact_sheet
    from hexathlon_cli.output import note

    if find_environment(name).family != "gui":
        raise UsageError(f"--screens is for the GUI event; {name} has no screens")
    if path.suffix != ".png" or not path.parent.is_dir():
        raise UsageError(f"--screens must be a .png file in an existing directory, got {path}")
    note(f"{write_contact_sheet(path)} screens: {path}")
    return 0


def _task(task_id: str) -> dict[str, Any]:
    from hexathlon.baselines.harness.environments import environment_for_task
    from hexathlon.baselines.harness.errors import EnvironmentUnavailable, UsageError
    from hexathlon.tasks.errors import MissingData, TaskError
    from hexathlon.tasks.taskset import build_task

    info = environment_for_task(task_id)
    try:
        task = build_task(task_id)
    except MissingData as error:
        raise EnvironmentUnavailable(str(error)) from None
    except TaskError as error:
        raise UsageError(str(error)) from None
    return {
        "id": task.id,
        "event": info.id,
        "level": task.level,
        "split": task.split,
        "hash": task.hash,
        "instruction": task.instruction,
        "tools": [tool.model_dump() for tool in task.tools],
        "limits": task.limits.model_dump(),
        "checks": [check.name for check in task.checks],
        "twin": task.twin,
    }


def _lines(shown: Mapping[str, Any]) -> list[str]:
    from hexathlon_cli.output import signature

    lines = []
    for name, value in shown.items():
        if name == "tools":
            lines += ["tools:", *(f"  {signature(tool)}" for tool in value)]
        elif isinstance(value, dict):
            lines += [f"{name}:", *(f"  {key}: {_flat(item)}" for key, item in value.items())]
        elif isinstance(value, list):
            lines.append(f"{name}: {', '.join(map(str, value))}")
        elif value is not None:
            lines.append(f"{name}: {value}")
    return lines


def _flat(value: Any) -> str:
    from hexathlon_cli.events import MISSING

    if isinstance(value, dict):
        if MISSING in value:
            return str(value[MISSING])
        return ", ".join(f"{key} {item}" for key, item in value.items())
    return str(value)
