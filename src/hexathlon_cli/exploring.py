"""Implementation of the commands of `looking`, imported when they run."""

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hexathlon.baselines.harness.environments import (
    all_environments,
    environment_for_task,
    find_environment,
    open_taskset,
    short,
)
from hexathlon.baselines.harness.errors import (
    CommandError,
    EnvironmentUnavailable,
    ExitCode,
    UsageError,
)
from hexathlon.baselines.harness.report import ReportTable, percent
from hexathlon.envs.registry import EnvironmentInfo, missing_extra
from hexathlon.tasks.errors import MissingData, TaskError
from hexathlon.tasks.task import SPLITS, Task
from hexathlon.tasks.taskset import build_task
from hexathlon_cli.output import note, print_table, print_text, signature

if TYPE_CHECKING:
    from hexathlon.baselines.harness.selftest import SelftestResult

_SPLITS = tuple(split for split in SPLITS if split != "heldout")
_MISSING, _ENDLESS = "needs", "unbounded"
_MOST_UNLIKE = 20


def list_command(*, as_json: bool) -> int:
    """Run `hexathlon list`."""
    infos = all_environments()
    events = [_event(info) for info in infos]
    sizes = [{name: _sizes(info, name) for name in info.tasksets} for info in infos]
    if as_json:
        shown = [{**event, "sizes": size} for event, size in zip(events, sizes, strict=True)]
        print_text(json.dumps(shown, indent=2, ensure_ascii=False))
        return ExitCode.FINE
    rows = tuple((e["id"], e["title"], e["install"] or "") for e in events)
    print_table(ReportTable("Events", ("id", "event", "requires"), rows))
    held = tuple(
        (event["name"], name, *_counts(counts))
        for event, size in zip(events, sizes, strict=True)
        for name, counts in size.items()
    )
    print_table(ReportTable("Task sets", ("event", "--taskset", *_SPLITS, "needs"), held))
    print_text("More of one: `hexathlon show SQL`. Be the agent yourself: `hexathlon play SQL`.")
    return ExitCode.FINE


def _counts(sizes: Mapping[str, Any]) -> tuple[str, ...]:
    """Return a set's row: tasks by split, and what is missing."""
    if _MISSING in sizes:
        return (*("" for _ in _SPLITS), str(sizes[_MISSING]))
    found = (sizes[split] for split in _SPLITS)
    return (*("∞" if n == _ENDLESS else f"{n:,}" if n else "–" for n in found), "")


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
    sandboxes: Sequence[str],
    kinds: Sequence[str],
) -> int:
    """Run `hexathlon selftest`; exit code 3 if a requirement fails."""
    from hexathlon.baselines.harness.selftest import differences, run_selftest

    if tasks < 1 or jobs < 1:
        raise UsageError(f"--tasks and --jobs must be at least 1, got {tasks} and {jobs}")
    sound = True
    for env in envs:
        results = []
        for sandbox in sandboxes or [""]:
            options = {"sandbox": sandbox} if sandbox else None
            result = run_selftest(env, tasks, taskset, jobs, options, kinds)
            _print_selftest(result, f" on {sandbox}" if sandbox else "")
            sound = sound and result.holds
            results.append(result)
        for name, other in zip(sandboxes[1:], results[1:], strict=True):
            compared, unlike = differences(results[0], other)
            note(f"{sandboxes[0]} and {name}: {compared - len(unlike):,} of {compared:,} equal")
            for line in unlike[:_MOST_UNLIKE]:
                note(line)
            sound = sound and not unlike
    return ExitCode.FINE if sound else ExitCode.NOT_VERIFIED


def _print_selftest(result: "SelftestResult", where: str) -> None:
    from hexathlon.baselines.harness.selftest import FLOOR

    wanted = {"1": "1.000", "0": "0.000", "floor": f"≤ {percent(FLOOR)}"}
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
    print_table(ReportTable(f"{result.env}, {result.tasks:,} tasks{where}", headings, rows))
    for tally in result.tallies.values():
        for line in tally.named:
            note(f"{tally.kind}: {line}")


def doctor_command(*, as_json: bool) -> int:
    """Run `hexathlon doctor`."""
    from hexathlon.baselines.harness.doctor import probes

    found = list(probes())
    if as_json:
        print_text(json.dumps([probe._asdict() for probe in found], indent=2))
    else:
        rows = tuple((probe.name, probe.state, probe.detail, probe.mend) for probe in found)
        print_table(
            ReportTable("This machine", ("component", "available", "detail", "remedy"), rows)
        )
    return ExitCode.FINE


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
    install = missing_extra(info)
    if install:
        return {_MISSING: install}
    for split in _SPLITS:
        try:
            tasks = open_taskset(info, taskset, split, None, None)
        except CommandError as error:
            return {_MISSING: str(error)}
        sizes[split] = _ENDLESS if tasks.size is None else tasks.size
    return sizes


def _task(task_id: str) -> dict[str, Any]:
    info = environment_for_task(task_id)
    try:
        task: Task = build_task(task_id)
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
    if isinstance(value, dict):
        if _MISSING in value:
            return str(value[_MISSING])
        return ", ".join(f"{key} {item}" for key, item in value.items())
    return str(value)
