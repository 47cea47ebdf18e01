"""What `hexathlon play` does: a person in the agent's place, line by line."""

import contextlib
import importlib
from collections.abc import Mapping, Sequence
from typing import Any

from hexathlon.baselines.codecs.base import Call, format_calls, read_json
from hexathlon.baselines.harness.environments import (
    find_environment,
    make_environment,
    open_taskset,
)
from hexathlon.baselines.harness.errors import (
    EnvironmentUnavailable,
    ExitCode,
    UsageError,
    near_miss,
)
from hexathlon.baselines.limits import TrialLimits
from hexathlon.envs.base import Environment
from hexathlon.envs.errors import EnvFault
from hexathlon.envs.registry import EnvironmentInfo
from hexathlon.tasks.errors import MissingData, TaskError
from hexathlon.tasks.task import LEVELS
from hexathlon_cli.output import print_text, signature

_HELP = (
    "Call a tool as `name key=value …`, or `name text` where it takes one text, or in JSON.\n"
    "/task shows the task again, /tools the tools, /undo takes a turn back, /quit ends."
)
_Tools = Mapping[str, Mapping[str, Any]]


def play_command(
    env: str, task: str | None, taskset: str | None, level: str | None, seed: int
) -> int:
    """Run `hexathlon play`."""
    if level is not None and level not in LEVELS:
        raise UsageError(near_miss("level", level, LEVELS))
    info = find_environment(env)
    options = {"task": task} if task else _choice(info, taskset, level)
    with contextlib.suppress(ImportError):
        importlib.import_module("readline")  # `input` then has a history and can be edited
    try:
        with contextlib.closing(make_environment(info.id, TrialLimits())()) as world:
            opening, details = world.reset(seed=seed, options=options)
            _play(world, opening, details)
    except MissingData as error:
        raise EnvironmentUnavailable(str(error)) from None
    except TaskError as error:
        raise UsageError(str(error)) from None
    except EnvFault as error:
        raise EnvironmentUnavailable(str(error)) from error
    return ExitCode.FINE


def _choice(info: EnvironmentInfo, taskset: str | None, level: str | None) -> dict[str, Any]:
    """Return the options of a random task: of the train split, or of test where train is empty."""
    name = taskset or info.tasksets[0]
    split = "train" if open_taskset(info, name, "train", None, None).size != 0 else "test"
    return {"taskset": name, "split": split, **({"level": level} if level else {})}


def _play(world: Environment, opening: str, details: Mapping[str, Any]) -> None:
    task = f"{details['task_id']}\n\n{details['system_prompt']}\n\n{opening}\n"
    listing = "\n".join(signature(tool) for tool in details["tools"])
    print_text(f"{task}\n{listing}\n\n{_HELP}\n")
    tools = {tool["name"]: tool["parameters"] for tool in details["tools"]}
    shown = {"/task": task, "/tools": listing, "/help": _HELP, "help": _HELP}
    before: list[Any] = []
    while (line := _read_line()) not in (None, "/quit"):
        assert line is not None
        if line in shown:
            print_text(shown[line])
        elif line == "/undo":
            _undo(world, before)
        elif line.startswith("/"):
            print_text(f"There is no {line.split()[0]!r} here.\n{_HELP}")
        elif line:
            before += [world.snapshot()] if world.supports_fork else []
            observation, reward, ended, cut, info = world.step(read_line(line, tools))
            print_text(f"{observation}\n")
            if ended or cut:
                print_text(f"The episode has ended: {info['status']}, reward {reward:g}.")
                return


def _undo(world: Environment, before: list[Any]) -> None:
    if not before:
        print_text("There is nothing to undo.")
        return
    world.restore(before.pop())
    print_text("The last turn is undone.")


def _read_line() -> str | None:
    try:
        return input("> ").strip()
    except EOFError:
        return None


def read_line(line: str, tools: _Tools) -> str:
    """Return the action that a line stands for.

    `name key=value …` and `name text` are calls of that tool; anything else goes on as typed.

    Args:
        line: What was typed.
        tools: JSON schemas of the arguments by tool.
    """
    name, _, rest = line.partition(" ")
    if name not in tools:
        return line
    fields = tools[name].get("properties", {})
    arguments = _pairs(rest.strip(), tuple(fields))
    if arguments is None:
        wanted = tools[name].get("required", ()) or tuple(fields)
        if len(wanted) != 1:
            return line
        arguments = {wanted[0]: rest.strip()}
    return format_calls(
        [Call(name, {one: _typed(text, fields[one]) for one, text in arguments.items()})]
    )


def _pairs(text: str, names: Sequence[str]) -> dict[str, str] | None:
    """Read `key=value …`, where values may hold spaces; None if it does not begin so."""
    found: dict[str, str] = {}
    key = ""
    for word in text.split(" ") if text else ():
        head, equals, value = word.partition("=")
        if equals and head in names:
            key, found[head] = head, value
        elif key:
            found[key] += f" {word}"
        else:
            return None
    return found


def _typed(text: str, schema: Mapping[str, Any]) -> Any:
    """Read a value as JSON unless a text is wanted."""
    if schema.get("type") == "string":
        return text
    value = read_json(text)
    return text if value is None and text != "null" else value
