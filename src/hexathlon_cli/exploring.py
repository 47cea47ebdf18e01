"""What the commands of `looking` do; imported when they run."""

import contextlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from hexathlon.baselines.codecs.base import Call, format_calls, read_json
from hexathlon.baselines.harness.environments import (
    all_environments,
    environment_for_task,
    find_environment,
    make_environment,
    open_taskset,
    short,
)
from hexathlon.baselines.harness.errors import (
    EnvironmentUnavailable,
    ExitCode,
    UsageError,
    near_miss,
)
from hexathlon.baselines.harness.report import Table, percent
from hexathlon.baselines.limits import TrialLimits
from hexathlon.envs.base import Environment
from hexathlon.envs.errors import EnvFault
from hexathlon.envs.registry import EnvironmentInfo, missing_extra
from hexathlon.tasks.errors import TaskError
from hexathlon.tasks.task import LEVELS, SPLITS, Task
from hexathlon.tasks.taskset import build_task
from hexathlon_cli.output import note, print_table, print_text

_SPLITS = tuple(split for split in SPLITS if split != "heldout")


def list_command(*, as_json: bool) -> int:
    """Run `hexathlon list`."""
    events = [_event(info) for info in all_environments()]
    if as_json:
        print_text(json.dumps(events, indent=2, ensure_ascii=False))
        return ExitCode.FINE
    rows = tuple(
        (e["id"], e["title"], ", ".join(e["tasksets"]), e["install"] or "") for e in events
    )
    print_table(Table("Events", ("id", "what", "task sets", "needs"), rows))
    return ExitCode.FINE


def show_command(name: str, *, as_json: bool) -> int:
    """Run `hexathlon show`."""
    if name.count("/") == 4:
        shown = _task(name)
    else:
        info = find_environment(name)
        shown = {**_event(info), "sizes": {one: _sizes(info, one) for one in info.tasksets}}
    if as_json:
        print_text(json.dumps(shown, indent=2, ensure_ascii=False))
    else:
        print_text("\n".join(_lines(shown)))
    return ExitCode.FINE


def selftest_command(
    envs: Sequence[str],
    tasks: int,
    taskset: str | None,
    jobs: int,
    sandbox: str | None,
    kinds: Sequence[str],
) -> int:
    """Run `hexathlon selftest`; code 3 where something does not hold."""
    from hexathlon.baselines.harness.selftest import FLOOR, run_selftest

    if tasks < 1 or jobs < 1:
        raise UsageError(f"--tasks and --jobs must be at least 1, got {tasks} and {jobs}")
    wanted = {"1": "1.000", "0": "0.000", "floor": f"≤ {percent(FLOOR)}"}
    options = {"sandbox": sandbox} if sandbox else None
    sound = True
    for env in envs:
        result = run_selftest(env, tasks, taskset, jobs, options, kinds)
        rows = tuple(
            (
                tally.kind,
                f"{tally.episodes:,}",
                f"{tally.mean:.4f}",
                wanted[tally.required],
                "holds" if tally.holds else f"{tally.wrong:,} wrong",
            )
            for tally in result.tallies.values()
        )
        headings = ("script", "episodes", "mean", "required", "")
        print_table(Table(f"{result.env}, {result.tasks:,} tasks", headings, rows))
        for tally in result.tallies.values():
            for line in tally.named:
                note(f"{tally.kind}: {line}")
        sound = sound and result.holds
    return ExitCode.FINE if sound else ExitCode.NOT_VERIFIED


def doctor_command(*, as_json: bool) -> int:
    """Run `hexathlon doctor`."""
    from hexathlon.baselines.harness.doctor import probes

    found = list(probes())
    if as_json:
        print_text(json.dumps([probe._asdict() for probe in found], indent=2))
    else:
        rows = tuple((probe.name, probe.state, probe.detail, probe.mend) for probe in found)
        print_table(Table("This machine", ("what", "there", "detail", "to get it"), rows))
    return ExitCode.FINE


def play_command(env: str, task: str | None, level: str | None, seed: int) -> int:
    """Run `hexathlon play`."""
    if level is not None and level not in LEVELS:
        raise UsageError(near_miss("level", level, LEVELS))
    info = find_environment(env)
    options: dict[str, Any] = {"task": task} if task else {"split": "train"}
    if level and not task:
        options["level"] = level
    try:
        with contextlib.closing(make_environment(info.id, TrialLimits())()) as world:
            opening, details = world.reset(seed=seed, options=options)
            _play(world, opening, details)
    except TaskError as error:
        raise UsageError(str(error)) from None
    except EnvFault as error:
        raise EnvironmentUnavailable(str(error)) from error
    return ExitCode.FINE


def _play(world: Environment, opening: str, details: Mapping[str, Any]) -> None:
    print_text(f"{details['task_id']}\n\n{details['system_prompt']}\n\n{opening}\n")
    print_text("\n".join(_signature(tool) for tool in details["tools"]))
    print_text("Call a tool as `name key=value …` or in JSON; /tools, /undo, /quit.\n")
    before: list[Any] = []
    while True:
        line = _read_line()
        if line is None or line == "/quit":
            return
        if line == "/tools":
            print_text("\n".join(_signature(tool) for tool in details["tools"]))
        elif line == "/undo":
            _undo(world, before)
        elif line:
            before += [world.snapshot()] if world.supports_fork else []
            names = [tool["name"] for tool in details["tools"]]
            observation, reward, ended, cut, info = world.step(_action(line, names))
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


def _action(line: str, tools: Sequence[str]) -> str:
    """Read `name key=value …` as a call of that tool; anything else goes on as typed."""
    name, _, rest = line.partition(" ")
    if name not in tools:
        return line
    arguments: dict[str, Any] = {}
    key = ""
    for word in rest.split(" "):
        head, equals, value = word.partition("=")
        if equals and head.isidentifier():
            key, arguments[head] = head, value
        elif key:
            arguments[key] += f" {word}"
        elif word:
            return line
    values = {one: _typed(value) for one, value in arguments.items()}
    return format_calls([Call(name, values)])


def _typed(text: str) -> Any:
    value = read_json(text)
    return text if value is None and text != "null" else value


def _event(info: EnvironmentInfo) -> dict[str, Any]:
    return {
        "id": info.id,
        "name": short(info.id),
        "title": info.title,
        "tasksets": list(info.tasksets),
        "install": missing_extra(info),
    }


def _sizes(info: EnvironmentInfo, taskset: str) -> dict[str, Any]:
    sizes: dict[str, Any] = {}
    for split in _SPLITS:
        try:
            tasks = open_taskset(info, taskset, split, None, None)
        except EnvironmentUnavailable as error:
            return {"not here:": str(error)}
        sizes[split] = "unbounded" if tasks.size is None else tasks.size
    return sizes


def _task(task_id: str) -> dict[str, Any]:
    info = environment_for_task(task_id)
    try:
        task: Task = build_task(task_id)
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
    lines = []
    for name, value in shown.items():
        if name == "tools":
            lines += ["tools:", *(f"  {_signature(tool)}" for tool in value)]
        elif isinstance(value, dict):
            lines += [f"{name}:", *(f"  {key}: {_flat(item)}" for key, item in value.items())]
        elif isinstance(value, list):
            lines.append(f"{name}: {', '.join(map(str, value))}")
        elif value is not None:
            lines.append(f"{name}: {value}")
    return lines


def _flat(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {item}" for key, item in value.items())
    return str(value)


def _signature(tool: Mapping[str, Any]) -> str:
    schema = tool["parameters"]
    required = schema.get("required", ())
    parts = [
        f"{name}: {part.get('type', 'any')}" + ("" if name in required else "?")
        for name, part in schema.get("properties", {}).items()
    ]
    return f"{tool['name']}({', '.join(parts)})  {tool['description']}"
