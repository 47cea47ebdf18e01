"""Implementation of the commands of `results`, imported when they run."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hexathlon.baselines.harness.environments import short
from hexathlon.baselines.harness.errors import ExitCode, UsageError, near_miss
from hexathlon.baselines.harness.plan import read_salt
from hexathlon.baselines.harness.report import (
    ReportTable,
    anchor_folders,
    anchor_runs,
    anchors_of,
    as_json,
    markdown,
    percent,
    read_run,
    span,
)
from hexathlon.evaluators.records.plan import PLAN_FILE
from hexathlon_cli.output import note, print_report, print_table, print_text

_FORMS = ("table", "markdown", "json")
_SHOWN = 20


def rescore_command(run: Path, out: Path, salt_file: Path | None) -> int:
    """Run `hexathlon rescore`."""
    from hexathlon.baselines.harness.rescore import rescore_run

    done = rescore_run(run, out, read_salt(salt_file))
    for task, old, new in done.changed[:_SHOWN]:
        print_text(f"{task}: {old} -> {new}")
    print_text(f"{done.changes:,} of {done.records:,} rewards changed. Records: {done.run}")
    return ExitCode.FINE


def verify_command(run: Path, salt_file: Path | None, *, whole: bool) -> int:
    """Run `hexathlon verify`."""
    from hexathlon.baselines.harness.verify import NOT_VERIFIABLE, verify_run

    done = verify_run(run, read_salt(salt_file), whole=whole)
    for finding in done.findings[:_SHOWN]:
        note(f"mismatch: {finding}")
    if len(done.findings) > _SHOWN:
        note(f"… and {len(done.findings) - _SHOWN} more")
    if not done.sound:
        count = len(done.findings)
        print_text(f"rejected: {run}: {count:,} finding{'' if count == 1 else 's'}")
        return ExitCode.NOT_VERIFIED
    print_text(f"verified: {run}: {done.replayed:,} of {done.planned:,} trials replayed alike")
    print_text(f"not verifiable by replay: {', '.join(NOT_VERIFIABLE)}")
    return ExitCode.FINE


def compare_command(runs: Sequence[Path], *, as_json: bool) -> int:
    """Run `hexathlon compare`."""
    from hexathlon.baselines.harness.compare import compare_runs

    rows = compare_runs(runs)
    if as_json:
        print_text(json.dumps([row.as_json() for row in rows], indent=2))
        return ExitCode.FINE
    headings = ("event", "A and B", "tasks", "A - B", "95% interval", "p", "detectable", "test")
    body = tuple(
        (
            short(row.env),
            f"{row.a} and {row.b}",
            f"{row.result.tasks:,}",
            percent(row.result.difference),
            span(row.result.low, row.result.high),
            f"{row.adjusted:.2g}",
            percent(row.result.detectable),
            row.result.method,
        )
        for row in rows
    )
    print_table(ReportTable("Paired comparison, p corrected by Holm", headings, body))
    for row in rows:
        if row.warning:
            note(f"warning, {row.a} and {row.b}: {row.warning}")
    return ExitCode.FINE


def report_command(run: Path, form: str, anchor: Sequence[Path], out: Path | None) -> int:
    """Run `hexathlon report`."""
    if form not in _FORMS:
        raise UsageError(near_miss("format", form, _FORMS))
    found = read_run(run)
    anchors = anchors_of([found, *anchor_runs(run), *map(read_run, anchor)])
    if form == "table":
        if out is not None:
            raise UsageError("--out needs --format markdown or json")
        print_report(found, details=True, anchors=anchors)
        return ExitCode.FINE
    if form == "json":
        text = json.dumps(as_json(found, anchors), indent=2, ensure_ascii=False) + "\n"
    else:
        text = markdown(found, anchors)
    if out is None:
        print_text(text)
        return ExitCode.FINE
    try:
        out.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {out}: {error.strerror}") from None
    return ExitCode.FINE


def leaderboard_command(runs: Sequence[Path], out: Path, *, verify: bool) -> int:
    """Run `hexathlon leaderboard build`."""
    from hexathlon.baselines.harness.progress import Progress
    from hexathlon.leaderboard.build import BuildError, build

    folders = [folder for run in runs for folder in _run_folders(run)]
    everything = [path for run in folders for path in (run, *anchor_folders(run))]
    verified = _verified(everything) if verify else []
    with Progress("writing pages", None) as progress:

        def tick(done: int, total: int) -> None:
            progress.total = total
            progress.advance()

        try:
            page = build(everything, out, verified=verified, progress=tick)
        except (BuildError, OSError) as error:
            raise UsageError(str(error)) from None
    boards = _print_boards(page.parent)
    print_text(f"Leaderboard: {page}")
    return ExitCode.FINE if boards else ExitCode.USAGE


def _run_folders(path: Path) -> list[Path]:
    """Return the run folder itself, or the run folders inside a folder."""
    if not path.is_dir():
        raise UsageError(f"there is no folder {path}: expected a run folder, or a folder of them")
    if (path / PLAN_FILE).exists():
        return [path]
    return sorted(one for one in path.iterdir() if (one / PLAN_FILE).exists()) or [path]


def _print_boards(site: Path) -> int:
    """Print the boards of a built site and the rejected runs; return the number of boards."""
    from hexathlon.leaderboard.build import MARK

    data = json.loads((site / MARK).read_bytes())
    headings = ("rank", "submission", "by", "score", "95% interval", "norm.", "tasks", "trials", "")
    for board in data["boards"]:
        rows = tuple(_board_row(row) for row in board["rows"])
        print_table(ReportTable(f"{board['title']}, version {board['version']}", headings, rows))
    for fault in data["rejected"]:
        note(f"rejected: {fault['run']}: {fault['reason']}")
    return len(data["boards"])


def _board_row(row: Mapping[str, Any]) -> tuple[str, ...]:
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
        row["reference"] or row["unranked"] or "",
    )


def _verified(runs: Sequence[Path]) -> list[Path]:
    """Return the runs confirmed by a replay."""
    from hexathlon.baselines.harness.verify import verify_run

    sound = []
    for run in runs:
        done = verify_run(run)
        if done.sound:
            sound.append(run)
        for finding in done.findings[:_SHOWN]:
            note(f"not verified: {run}: {finding}")
    return sound
