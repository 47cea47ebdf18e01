"""The commands `leaderboard add | verify | remove | rerun | commit | reveal | ledger | serve`."""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hexathlon_cli.options import SaltFile

if TYPE_CHECKING:
    from hexathlon.leaderboard.intake import BoardFolder

__all__ = ["COMMANDS"]

_BoardPath = Annotated[Path, typer.Argument(help="The board's directory.")]
_By = Annotated[str, typer.Option(help="Person responsible; recorded in the ledger.")]
_RoundSalt = Annotated[Path, typer.Option(help="File with the salt of the round's held-out tasks.")]
_Key = Annotated[Path | None, typer.Option(help="Maintainer's private key; signs the line.")]


def add(
    board: _BoardPath,
    submission: Annotated[Path, typer.Argument(help="The submission's folder.")],
    by: _By,
    replay: Annotated[
        bool, typer.Option("--replay/--no-replay", help="Replay every trial first.")
    ] = True,
    replaces: Annotated[
        str, typer.Option(help="Submission that this one rescores; needs --why.")
    ] = "",
    why: Annotated[str, typer.Option(help="Reason, for rescoring.")] = "",
    key: _Key = None,
    salt_file: SaltFile = None,
) -> int:
    """Accept a submission: check it, copy it, and append to the ledger.

    Form, signatures, hashes and hash chain are checked, all stated figures are recomputed and every
    trial is replayed. Exit code 3 means that it is rejected and the board unchanged.
    """
    from hexathlon.baselines.harness.errors import ExitCode
    from hexathlon.leaderboard.intake import IntakeError
    from hexathlon_cli.output import note, print_text

    opened = _open(board)
    try:
        if replay:
            _replay_archive(opened, submission, salt_file)
        line = opened.add(submission, by=by, date=_today(), key=key, replaces=replaces, why=why)
    except IntakeError as error:
        note(f"rejected: {error}")
        return ExitCode.NOT_VERIFIED
    print_text(f"added: {line.submission}, ledger line {line.number}, head {line.hash}")
    return ExitCode.FINE


def _replay_archive(board: "BoardFolder", submission: Path, salt_file: Path | None) -> None:
    """Extract a submission into a temporary directory and replay its trials."""
    import tempfile

    from hexathlon.leaderboard.archive import ArchiveError, extract
    from hexathlon.leaderboard.intake import IntakeError, check_statements, read_entry
    from hexathlon.leaderboard.preparing import ARCHIVE

    entry = read_entry(submission, board.keys)
    with tempfile.TemporaryDirectory(prefix="hexathlon-submission-") as place:
        run = Path(place) / "run"
        try:
            extract(submission / ARCHIVE, entry.stated.files, run)
        except ArchiveError as error:
            raise IntakeError(f"{entry.identifier}: {error}") from None
        check_statements(entry, run)
        fault = _replay_fault(run, salt_file)
    if fault:
        raise IntakeError(f"{entry.identifier}: replay: {fault}")


def _replay_fault(run: Path, salt_file: Path | None) -> str:
    """Return the first finding of a replay; empty if the run is verified."""
    from hexathlon.baselines.harness.errors import CommandError
    from hexathlon.baselines.harness.plan import read_salt
    from hexathlon.baselines.harness.verify import verify_run
    from hexathlon.evaluators.records.plan import read_plan

    held_out = any(row.get("salt_commitment") is not None for row in read_plan(run)["envs"])
    salt = read_salt(salt_file) if held_out else None
    try:
        result = verify_run(run, salt)
    except CommandError as error:
        return f"not possible here: {error}"
    return str(result.findings[0]) if result.findings else ""


def verify(
    board: _BoardPath,
    head: Annotated[
        str, typer.Option(help="A head of the ledger published earlier, or its first digits.")
    ] = "",
    replay: Annotated[
        bool, typer.Option("--replay/--no-replay", help="Replay every trial of every row.")
    ] = True,
    salt_file: SaltFile = None,
) -> int:
    """Verify a board: ledger, signatures, archives, figures and every trial."""
    from hexathlon.baselines.harness.errors import ExitCode
    from hexathlon_cli.output import note, print_text

    opened = _existing(board)
    faults = list(opened.faults(head))
    if replay and not faults:
        for line, _ in opened.entries():
            fault = _replay_fault(opened.run(line.submission), salt_file)
            faults += [f"{line.submission}: replay: {fault}"] if fault else []
    for fault in faults:
        note(f"mismatch: {fault}")
    rows = len(list(opened.entries()))
    if faults:
        print_text(f"rejected: {board}: {len(faults)} findings")
        return ExitCode.NOT_VERIFIED
    done = "replayed" if replay else "checked without a replay"
    print_text(f"verified: {board}: {rows} rows {done}, ledger head {opened.ledger.head}")
    return ExitCode.FINE


def remove(
    board: _BoardPath,
    submission: Annotated[str, typer.Argument(help="Identifier of the submission.")],
    why: Annotated[str, typer.Option(help="Reason; shown on the ledger's page.")],
    by: _By,
    key: _Key = None,
) -> int:
    """Remove a submission from a board; the ledger records the reason."""
    from hexathlon.baselines.harness.errors import ExitCode, UsageError
    from hexathlon.leaderboard.intake import IntakeError
    from hexathlon_cli.output import print_text

    try:
        line = _open(board).remove(submission, why=why, by=by, date=_today(), key=key)
    except IntakeError as error:
        raise UsageError(str(error)) from None
    print_text(f"removed: {submission}, ledger line {line.number}")
    return ExitCode.FINE


def rerun(
    board: _BoardPath,
    submission: Annotated[str, typer.Argument(help="Identifier of the submission.")],
    by: _By,
    out: Annotated[Path, typer.Option(help="Folder for the new run.")],
    key: Annotated[
        Path | None, typer.Option(help="Private key; counter-signs the submission.")
    ] = None,
    salt_file: SaltFile = None,
) -> int:
    """Run a submission's plan again and compare the outcomes.

    Deterministic agents must earn the same rewards; agents that sample play again and are compared
    by paired tests. The ledger gets a line with the figures. Exit code 3 means that they differ.
    """
    from hexathlon.baselines.harness.config import ExecutionConfig
    from hexathlon.baselines.harness.errors import ExitCode, UsageError
    from hexathlon.baselines.harness.run import evaluate, stored_config
    from hexathlon.evaluators.records.plan import read_plan
    from hexathlon.leaderboard.preparing import STATEMENT
    from hexathlon.leaderboard.repeating import compare_outcomes
    from hexathlon.leaderboard.signing import public_key, sign
    from hexathlon_cli.output import print_text

    opened = _open(board)
    if submission not in {line.submission for line, _ in opened.entries()}:
        raise UsageError(f"{submission} is not on the board")
    if key is not None:
        public_key(key)  # a key that cannot sign is reported before the run
    run = opened.run(submission)
    evaluate(stored_config(read_plan(run)), ExecutionConfig(salt_file=salt_file), out)
    outcomes = compare_outcomes(run, out)
    for one in outcomes:
        print_text(one.line())
    same = all(one.consistent for one in outcomes)
    folder = opened.path / "submissions" / submission
    if key is not None and same:
        data = (folder / STATEMENT).read_bytes()
        opened.countersign(submission, sign(data, key, "rerun", by, _today()))
    name = next((line.name for line, _ in opened.entries() if line.submission == submission), "")
    opened.ledger.append(
        "re-run", date=_today(), by=by, submission=submission, name=name,
        why="consistent" if same else "the outcomes differ", key=key,
        details={"events": [one.as_json() for one in outcomes]},
    )  # fmt: skip
    return ExitCode.FINE if same else ExitCode.NOT_VERIFIED


def commit(board: _BoardPath, by: _By, salt_file: _RoundSalt, key: _Key = None) -> int:
    """Publish the hash of a held-out round's secret before the round."""
    return _round(board, "committed", by, salt_file, key)


def reveal(board: _BoardPath, by: _By, salt_file: _RoundSalt, key: _Key = None) -> int:
    """Publish a held-out round's secret after the round."""
    return _round(board, "revealed", by, salt_file, key)


def _round(board: Path, event: str, by: str, salt_file: Path, key: Path | None) -> int:
    from hexathlon.baselines.harness.errors import ExitCode, UsageError
    from hexathlon.baselines.harness.plan import read_salt
    from hexathlon.tasks.taskset import commitment
    from hexathlon_cli.output import print_text

    opened, salt = _open(board), read_salt(salt_file)
    assert salt is not None
    details = {"commitment": commitment(salt)}
    known = [line.details for line in opened.ledger.lines if line.event == "committed"]
    if event == "revealed":
        if details not in known:
            raise UsageError("this secret was never committed to on this board")
        details["secret"] = salt
    line = opened.ledger.append(event, date=_today(), by=by, details=details, key=key)
    print_text(f"{event}: {details['commitment']}, ledger line {line.number}")
    return ExitCode.FINE


def ledger(board: _BoardPath) -> int:
    """Print a board's ledger, oldest line first."""
    from hexathlon.baselines.harness.errors import ExitCode
    from hexathlon.baselines.harness.tables import ReportTable
    from hexathlon_cli.output import print_table, print_text

    opened = _existing(board)
    headings = ("line", "date", "event", "submission", "by", "why")
    rows = tuple(
        (str(one.number), one.date, one.event, one.submission, one.by, one.why)
        for one in opened.ledger.lines
    )
    print_table(ReportTable("Ledger", headings, rows))
    print_text(f"head {opened.ledger.head}")
    return ExitCode.FINE


def serve(
    site: Annotated[Path, typer.Argument(help="A built site.")],
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port on this machine; 0 for any.")
    ] = 8080,
    base: Annotated[str, typer.Option(help="Path below which the site is served.")] = "/",
) -> int:
    """Serve a site on this machine until interrupted."""
    from hexathlon.baselines.harness.errors import ExitCode, UsageError
    from hexathlon.leaderboard.build import MARK
    from hexathlon.leaderboard.serving import site_server
    from hexathlon_cli.output import print_text

    if not (site / MARK).exists():
        raise UsageError(f"{site} is not a leaderboard site: `leaderboard build` makes one")
    with site_server(site, port, base) as server:
        print_text(f"http://127.0.0.1:{server.server_port}{server.base}")
        server.serve_forever()
    return ExitCode.FINE


def _open(path: Path) -> "BoardFolder":
    from hexathlon.baselines.harness.errors import CommandError, ExitCode
    from hexathlon.leaderboard.intake import BoardFolder, LedgerFault

    try:
        return BoardFolder(path)
    except LedgerFault as error:
        fault: Any = CommandError(f"rejected: {error}")
        fault.code = ExitCode.NOT_VERIFIED
        raise fault from None


def _existing(path: Path) -> "BoardFolder":
    from hexathlon.baselines.harness.errors import UsageError

    opened = _open(path)
    if not opened.exists():
        raise UsageError(f"{path} is not a board: it has neither a ledger nor submissions")
    return opened


def _today() -> str:
    from datetime import UTC, datetime

    return f"{datetime.now(UTC):%Y-%m-%d}"


def _reported(command: Callable[..., int]) -> Callable[..., int]:
    """Report a submission, file or key that cannot be used as a usage error."""

    @functools.wraps(command)
    def reported(*values: Any, **named: Any) -> int:
        from hexathlon.baselines.harness.errors import UsageError
        from hexathlon.leaderboard.intake import IntakeError
        from hexathlon.leaderboard.signing import SigningError

        try:
            return command(*values, **named)
        except (IntakeError, SigningError) as error:
            raise UsageError(str(error)) from None

    return reported


COMMANDS: dict[str, Callable[..., int]] = {
    command.__name__: _reported(command)
    for command in (add, verify, remove, rerun, commit, reveal, ledger, serve)
}
"""Commands of the group `leaderboard`, by name."""
