"""The command `selftest`."""

from typing import TYPE_CHECKING, Annotated

import typer

from hexathlon_cli.options import TasksetName

if TYPE_CHECKING:
    from hexathlon.baselines.harness.selftest import SelftestResult

__all__ = ["selftest"]

_MOST_SHOWN = 20
"""Maximum number of differences listed between two sandboxes."""


def selftest(
    env: Annotated[list[str], typer.Option(help="Event, such as SQL; repeatable.")],
    tasks: Annotated[int, typer.Option(help="Number of tasks, from the test split.")] = 100,
    taskset: TasksetName = None,
    jobs: Annotated[int, typer.Option(help="Number of processes.")] = 1,
    sandbox: Annotated[
        list[str] | None,
        typer.Option(help="Sandbox of the terminal event; repeat it to compare verdicts."),
    ] = None,
    kind: Annotated[
        list[str] | None,
        typer.Option(help="Kind of script, such as oracle; repeatable. [default: all]"),
    ] = None,
) -> int:
    """Check the scores of an event's oracle, mutants and cheaters.

    The oracle and alternative solutions must score 1, near misses and cheaters 0. Exit code 3
    means that a requirement does not hold.
    """
    from hexathlon.baselines.harness.errors import ExitCode, UsageError
    from hexathlon.baselines.harness.selftest import differences, run_selftest
    from hexathlon_cli.output import note

    _check_sandboxes(env, sandbox or [])
    if tasks < 1 or jobs < 1:
        raise UsageError(f"--tasks and --jobs must be at least 1, got {tasks} and {jobs}")
    sound = True
    for name in env:
        results = []
        for place in sandbox or [""]:
            options = {"sandbox": place} if place else None
            result = run_selftest(name, tasks, taskset, jobs, options, kind or [])
            _print(result, f" on {place}" if place else "")
            sound = sound and result.holds
            results.append(result)
        first, *others = sandbox or [""]
        for other, result in zip(others, results[1:], strict=True):
            compared, unlike = differences(results[0], result)
            note(f"{first} and {other}: {compared - len(unlike):,} of {compared:,} equal")
            for line in unlike[:_MOST_SHOWN]:
                note(line)
            sound = sound and not unlike
    return ExitCode.FINE if sound else ExitCode.NOT_VERIFIED


def _check_sandboxes(envs: list[str], sandboxes: list[str]) -> None:
    from hexathlon.baselines.harness.environments import find_environment
    from hexathlon.baselines.harness.errors import UsageError, near_miss
    from hexathlon.envs.sandbox.ladder import BACKENDS

    for name in sandboxes:
        if name not in BACKENDS:
            raise UsageError(near_miss("sandbox", name, BACKENDS))
    for env in envs if sandboxes else ():
        if find_environment(env).family != "terminal":
            raise UsageError(f"--sandbox is for the terminal event; {env} has no sandbox")


def _print(result: "SelftestResult", where: str) -> None:
    from hexathlon.baselines.harness.report import ReportTable, percent
    from hexathlon.baselines.harness.selftest import FLOOR
    from hexathlon_cli.output import note, print_table

    required = {"1": "1.000", "0": "0.000", "floor": f"≤ {percent(FLOOR)}"}
    rows = tuple(
        (
            tally.kind,
            f"{tally.episodes:,}",
            f"{tally.mean:.4f}",
            required[tally.required],
            "holds" if tally.holds else f"{tally.wrong:,} wrong",
        )
        for tally in result.tallies.values()
    )
    headings = ("script", "episodes", "mean", "required", "")
    print_table(ReportTable(f"{result.env}, {result.tasks:,} tasks{where}", headings, rows))
    for tally in result.tallies.values():
        for line in tally.named:
            note(f"{tally.kind}: {line}")
