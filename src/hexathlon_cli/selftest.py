"""The command `selftest`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from hexathlon_cli.options import ClusterAddress, Processes, TasksetName

if TYPE_CHECKING:
    from hexathlon.baselines.harness.selftest import SelftestResult

__all__ = ["selftest"]

_MOST_SHOWN = 20
"""Maximum number of differences listed between two places."""

_BACKENDS = {
    "web": ("twin", "chromium"),
    "sql": ("sqlite", "duckdb", "postgresql", "mysql", "drawn"),
}


def selftest(
    env: Annotated[list[str], typer.Option(help="Event, such as SQL; repeatable.")],
    tasks: Annotated[int, typer.Option(help="Number of tasks, from the test split.")] = 100,
    taskset: TasksetName = None,
    workers: Processes = None,
    sandbox: Annotated[
        list[str] | None,
        typer.Option(help="Sandbox of the terminal event; repeat it to compare verdicts."),
    ] = None,
    backend: Annotated[
        list[str] | None,
        typer.Option(
            help="Backend of the web event, twin or chromium, or of SQL: sqlite, duckdb, a URL, or "
            "drawn; repeat it to compare verdicts."
        ),
    ] = None,
    template: Annotated[str, typer.Option(help="Template name prefix, such as dialect_.")] = "",
    kind: Annotated[
        list[str] | None,
        typer.Option(help="Kind of script, such as oracle; repeatable. [default: all]"),
    ] = None,
    cluster: ClusterAddress = None,
) -> int:
    """Check the scores of oracle, near misses and cheaters.

    The oracle and alternative solutions must score 1, near misses and cheaters 0. Exit code 3
    means that a requirement does not hold.
    """
    from hexathlon.baselines.harness.errors import ExitCode, UsageError
    from hexathlon.baselines.harness.selftest import differences, run_selftest
    from hexathlon_cli.cluster import mapped_on
    from hexathlon_cli.output import note

    sandboxes, backends = sandbox or [], backend or []
    _check_places(env, sandboxes, backends)
    if tasks < 1:
        raise UsageError(f"--tasks must be at least 1, got {tasks}")
    option, places = ("backend", backends) if backends else ("sandbox", sandboxes)
    sound = True
    with mapped_on(cluster) as mapped:
        for name in env:
            results = []
            for place in places or [""]:
                options = {option: place} if place else None
                result = run_selftest(
                    name, tasks, taskset, workers or 0, options, kind or [], mapped, template
                )
                _print(result, f" on {place}" if place else "")
                sound = sound and result.holds
                results.append(result)
            first, *others = places or [""]
            for other, result in zip(others, results[1:], strict=True):
                compared, unlike = differences(results[0], result, whole=option == "backend")
                note(f"{first} and {other}: {compared - len(unlike):,} of {compared:,} equal")
                for line in unlike[:_MOST_SHOWN]:
                    note(line)
                sound = sound and not unlike
    return ExitCode.FINE if sound else ExitCode.NOT_VERIFIED


def _check_places(envs: list[str], sandboxes: list[str], backends: list[str]) -> None:
    from hexathlon.baselines.harness.environments import find_environment
    from hexathlon.baselines.harness.errors import UsageError
    from hexathlon.envs.sandbox.ladder import BACKENDS
    from hexathlon.tasks.sql.world.backends.choice import dialect_of

    if sandboxes and backends:
        raise UsageError("--sandbox and --backend belong to different events; give one of them")
    kinds = {
        "sandbox": (sandboxes, {"terminal": tuple(BACKENDS)}),
        "backend": ([dialect_of(name) if "://" in name else name for name in backends], _BACKENDS),
    }
    for option, (chosen, families) in kinds.items():
        _check_names(option, chosen, [name for own in families.values() for name in own])
        for env in envs if chosen else ():
            known = families.get(find_environment(env).family)
            if known is None:
                events = " and ".join(families) + (" event" if len(families) == 1 else " events")
                raise UsageError(f"--{option} is for the {events}; {env} has no {option}")
            _check_names(option, chosen, known)


def _check_names(option: str, chosen: Sequence[str], known: Sequence[str]) -> None:
    """Raise an error for a name that is not known."""
    from hexathlon.baselines.harness.errors import UsageError, near_miss

    for name in chosen:
        if name not in known:
            raise UsageError(near_miss(option, name, known))


def _print(result: "SelftestResult", where: str) -> None:
    from hexathlon.baselines.harness.report import percent
    from hexathlon.baselines.harness.selftest import FLOOR
    from hexathlon.baselines.harness.tables import ReportTable
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
