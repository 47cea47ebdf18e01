"""The command `leaderboard build`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from hexathlon_cli.board import COMMANDS
from hexathlon_cli.examples import examples
from hexathlon_cli.options import SaltFile

__all__ = ["app"]

_MOST_SHOWN = 20

app = typer.Typer(help="Leaderboard: submissions, ledger and site.", no_args_is_help=True)
for _name, _function in COMMANDS.items():
    app.command(_name, epilog=examples(f"leaderboard {_name}"))(_function)


@app.command("build", epilog=examples("leaderboard build"))
def build(
    runs: Annotated[
        list[Path],
        typer.Argument(
            help="Run directories, directories of them, or a board; anchor runs are included."
        ),
    ],
    out: Annotated[Path, typer.Option(help="Folder for the site.")] = Path("site"),
    verify: Annotated[
        bool,
        typer.Option(
            "--verify",
            help="Replay every trial first; a run gets a badge or, if contradicted, is rejected.",
        ),
    ] = False,
    plan: Annotated[
        list[str] | None,
        typer.Option(
            help="Plan hash of a run whose trials define a board; repeatable. "
            "[default: that of most rows]",
        ),
    ] = None,
    salt_file: SaltFile = None,
    tests: Annotated[
        Path | None,
        typer.Option(help="JUnit file of a test run, for the self-assessment."),
    ] = None,
    arena: Annotated[
        list[Path] | None,
        typer.Option(help="File of `hexathlon arena`, shown on a page of its own; repeatable."),
    ] = None,
    cache: Annotated[
        Path | None,
        typer.Option(
            help="Folder of packed submissions, reused by the next build. [default: OUT.cache]"
        ),
    ] = None,
) -> int:
    """Build the static leaderboard site from records.

    The pages need no server and load nothing from the network; open index.html.
    """
    from hexathlon.baselines.harness.errors import ExitCode, UsageError
    from hexathlon.baselines.harness.plan import read_salt
    from hexathlon.baselines.harness.progress import Progress
    from hexathlon.evaluators.judged.arena import ArenaError, read_arena
    from hexathlon.leaderboard.build import BuildError, BuildOptions
    from hexathlon.leaderboard.build import build as build_site
    from hexathlon.leaderboard.checklist import ReportError, SuiteReport
    from hexathlon.tasks.validation import reason
    from hexathlon_cli.output import print_text

    board = _board_of(runs)
    folders = [
        folder
        for run in runs
        for folder in (board.entries if board and run == board.path else _run_directories(run))
    ]
    everything = [path for run in folders for path in (run, *_anchors(run))]
    salt = read_salt(salt_file)
    if salt is not None and not verify:
        raise UsageError("--salt-file is used by the replay only: add --verify")
    replays = _replay(everything, salt) if verify else _Replays([], {}, {})
    with Progress("writing pages", None) as progress:

        def tick(done: int, total: int) -> None:
            progress.total = total
            progress.advance()

        try:
            options = BuildOptions(
                **replays._asdict(),
                plans=plan or (),
                cache=cache,
                arenas=[read_arena(path) for path in arena or ()],
                entries=board.entries if board else {},
                ledger=board.ledger if board else (),
                tests=None if tests is None else SuiteReport.read(tests),
            )
            page = build_site(everything, out, options, progress=tick)
        except (ArenaError, BuildError, ReportError) as error:
            raise UsageError(str(error)) from None
        except OSError as error:
            place = f"{error.filename}: " if error.filename else ""
            raise UsageError(f"cannot write the site {out}: {place}{reason(error)}") from None
    boards = _print_boards(page.parent)
    print_text(f"Leaderboard: {page}")
    return ExitCode.FINE if boards else ExitCode.USAGE


@app.command("unpack", epilog=examples("leaderboard unpack"))
def unpack(
    folder: Annotated[
        Path, typer.Argument(help="A submission's folder in a site: SITE/runs/NAME.")
    ],
    out: Annotated[Path, typer.Option(help="New run directory.")] = Path("run"),
) -> int:
    """Recover a run directory from a leaderboard site, byte for byte."""
    from hexathlon.baselines.harness.errors import ExitCode, UsageError
    from hexathlon.leaderboard.unpacking import UnpackError
    from hexathlon.leaderboard.unpacking import unpack as unpack_run
    from hexathlon_cli.output import print_text

    try:
        records = unpack_run(folder, out)
    except UnpackError as error:
        raise UsageError(str(error)) from None
    print_text(f"{out}: {records:,} records")
    return ExitCode.FINE


class _Board(NamedTuple):
    """A board's directory among the arguments."""

    path: Path
    entries: dict[Path, Any]
    """By run directory."""
    ledger: Sequence[Any]


def _board_of(paths: Sequence[Path]) -> _Board | None:
    """Return the first board among the arguments; its runs are extracted if needed."""
    from hexathlon.baselines.harness.errors import UsageError
    from hexathlon.leaderboard.intake import BoardFolder, IntakeError, LedgerFault, read_entry
    from hexathlon.leaderboard.ledger import LEDGER_FILE

    for path in paths:
        if (path / LEDGER_FILE).is_file():
            try:
                board = BoardFolder(path)
                entries = {
                    board.run(line.submission): read_entry(folder, board.keys)
                    for line, folder in board.entries()
                }
            except (IntakeError, LedgerFault) as error:
                raise UsageError(f"{path}: {error}") from None
            return _Board(path, entries, board.ledger.lines)
    return None


def _run_directories(path: Path) -> list[Path]:
    """Return the run directory itself, or the run directories inside a directory."""
    from hexathlon.baselines.harness.errors import UsageError
    from hexathlon.evaluators.records.plan import PLAN_FILE

    if not path.is_dir():
        raise UsageError(
            f"there is no directory {path}: expected a run directory, or a directory of them"
        )
    if (path / PLAN_FILE).exists():
        return [path]
    runs = sorted(run for run in path.iterdir() if (run / PLAN_FILE).exists())
    if not runs:
        raise UsageError(
            f"neither {path} nor a directory in it has a {PLAN_FILE}: expected a run directory, or "
            "a directory of them"
        )
    return runs


def _anchors(run: Path) -> list[Path]:
    """Return the anchor runs of a run; other runs beside it are submissions that were not named."""
    from hexathlon.baselines.harness.report import anchor_folders
    from hexathlon.evaluators.anchors import CEILING_AGENT, FLOOR_AGENTS
    from hexathlon.evaluators.records.plan import PlanError, read_plan
    from hexathlon_cli.output import note

    anchors = []
    for path in anchor_folders(run):
        try:
            model = read_plan(path).get("model", {})
        except PlanError as error:
            note(f"left out: {error}")
            continue
        if model.get("kind") == "agent" and model.get("name") in (CEILING_AGENT, *FLOOR_AGENTS):
            anchors.append(path)
        else:
            note(f"left out: {path}: its agent sets neither floor nor ceiling")
    return anchors


def _print_boards(site: Path) -> int:
    """Print the boards of a built site and the rejected runs; return the number of boards."""
    import json

    from hexathlon.baselines.harness.tables import ReportTable
    from hexathlon.leaderboard.build import MARK
    from hexathlon_cli.output import note, print_table

    data = json.loads((site / MARK).read_bytes())
    headings = ("rank", "submission", "by", "score", "95% interval", "norm.", "tasks", "trials", "")
    for board in data["boards"]:
        rows = tuple(_row(row) for row in board["rows"])
        print_table(ReportTable(f"{board['title']}, version {board['version']}", headings, rows))
    for rejected in data["rejected"]:
        note(f"rejected: {rejected['run']}: {rejected['reason']}")
    return len(data["boards"])


def _row(row: Mapping[str, Any]) -> tuple[str, ...]:
    from hexathlon.baselines.harness.report import percent, span

    best, worst = row["best"], row["worst"]
    rank = "–" if best is None else str(best) if best == worst else f"{best}–{worst}"
    known = row["low"] is not None
    return (
        rank,
        row["name"],
        row["team"],
        percent(row["score"]),
        span(row["low"], row["high"]) if known else "",
        percent(row["normalised"]),
        f"{row['tasks']:,}",
        f"{row['trials']:,}",
        row["unranked"] or "",
    )


class _Replays(NamedTuple):
    """Outcomes of the replays of runs."""

    verified: list[Path]
    failed: dict[Path, str]
    """First finding of each run that its replay contradicts."""
    obstacles: dict[Path, str]
    """Why the others could not be replayed, or not completely."""


def _replay(runs: Sequence[Path], salt: str | None) -> _Replays:
    """Replay runs; the salt is for those of held-out rounds."""
    from hexathlon.baselines.harness.errors import CommandError
    from hexathlon.baselines.harness.verify import verify_run
    from hexathlon_cli.output import note

    replays = _Replays([], {}, {})
    for run in runs:
        note(f"verifying {run}")
        try:
            result = verify_run(run, salt if _is_held_out(run) else None, whole=False)
        except CommandError as error:
            replays.obstacles[run] = str(error)
            note(f"not verified: {run}: {error}")
            continue
        for finding in result.findings[:_MOST_SHOWN]:
            note(f"not verified: {run}: {finding}")
        if result.findings:
            replays.failed[run] = str(result.findings[0])
        elif result.missing:
            replays.obstacles[run] = f"{result.missing:,} planned trials have no record"
            note(f"not verified: {run}: {replays.obstacles[run]}")
        else:
            replays.verified.append(run)
    return replays


def _is_held_out(run: Path) -> bool:
    from hexathlon.evaluators.records.plan import PlanError, read_plan

    try:
        return any(row.get("salt_commitment") is not None for row in read_plan(run)["envs"])
    except PlanError:  # named by the replay
        return False
