"""The commands `submit prepare`, `submit key`, `submit sign` and `submit schema`."""

from pathlib import Path
from typing import Annotated, Any

import typer

from hexathlon_cli.examples import examples
from hexathlon_cli.options import RunFolder

__all__ = ["app"]

KeyFile = Annotated[Path | None, typer.Option(help="Private key; see `hexathlon submit key`.")]

app = typer.Typer(help="Submissions for a leaderboard.", no_args_is_help=True)


@app.command("prepare", epilog=examples("submit prepare"))
def prepare(
    run: RunFolder,
    organisation: Annotated[str, typer.Option(help="Submitting organisation.")],
    trained_on: Annotated[
        str,
        typer.Option(help="Split of this benchmark used in training: none, train, dev, test."),
    ],
    out: Annotated[
        Path, typer.Option(help="Folder in which the submission's folder is created.")
    ] = Path("submissions"),
    tuned: Annotated[
        bool,
        typer.Option("--tuned", help="Prompts or settings were tuned on this benchmark's tasks."),
    ] = False,
    attempts: Annotated[
        int, typer.Option(min=1, help="Number of runs made before this one was chosen.")
    ] = 1,
    details: Annotated[
        Path | None,
        typer.Option(
            help="TOML file with further fields: model, agent, scaffold, training_data, link, note."
        ),
    ] = None,
    key: KeyFile = None,
) -> int:
    """Write a submission: statement, archive of the run, signatures.

    The run is checked first. Everything that its files contain is computed; options supply the
    rest.
    """
    from hexathlon.baselines.harness.errors import ExitCode, UsageError
    from hexathlon.leaderboard.archive import ArchiveError
    from hexathlon.leaderboard.entry import EntryError
    from hexathlon.leaderboard.preparing import prepare as prepare_submission
    from hexathlon.leaderboard.signing import SigningError
    from hexathlon.leaderboard.submission import SubmissionRejected
    from hexathlon_cli.output import print_text

    stated = _details(details)
    training = {**stated.pop("training_data", {}), "benchmark": trained_on}
    stated |= {"organisation": organisation, "tuned": tuned, "attempts": attempts}
    try:
        folder = prepare_submission(run, out, {**stated, "training_data": training}, key)
    except (EntryError, ArchiveError, SigningError, SubmissionRejected) as error:
        raise UsageError(str(error)) from None
    size = sum(path.stat().st_size for path in folder.iterdir())
    print_text(f"{folder}: {size:,} bytes, {'signed' if key else 'not signed'}")
    return ExitCode.FINE


def _details(path: Path | None) -> dict[str, Any]:
    import tomllib

    from hexathlon.baselines.harness.errors import UsageError
    from hexathlon.evaluators.settings_text import read_settings_text
    from hexathlon.tasks.validation import reason

    if path is None:
        return {}
    try:
        return tomllib.loads(read_settings_text(path))
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read {path}: {reason(error)}") from None


@app.command("key", epilog=examples("submit key"))
def key(
    path: Annotated[Path, typer.Argument(help="New file for the private key.")],
) -> int:
    """Create a signing key and print its public part."""
    from hexathlon.baselines.harness.errors import ExitCode, UsageError
    from hexathlon.leaderboard.signing import SigningError, make_key
    from hexathlon_cli.output import print_text

    try:
        print_text(make_key(path))
    except SigningError as error:
        raise UsageError(str(error)) from None
    return ExitCode.FINE


@app.command("sign", epilog=examples("submit sign"))
def sign(
    folder: Annotated[Path, typer.Argument(help="The submission's folder.")],
    key: Annotated[Path, typer.Option(help="Private key; see `hexathlon submit key`.")],
    name: Annotated[str, typer.Option(help="Name of the signer.")],
    role: Annotated[str, typer.Option(help="submitter, rerun or maintainer.")] = "rerun",
) -> int:
    """Sign a submission, for example as the team that ran its plan again."""
    from datetime import UTC, datetime

    from hexathlon.baselines.harness.errors import ExitCode, UsageError
    from hexathlon.leaderboard.intake import IntakeError, read_entry
    from hexathlon.leaderboard.preparing import STATEMENT, write_signatures
    from hexathlon.leaderboard.signing import ROLES, SigningError
    from hexathlon.leaderboard.signing import sign as signature
    from hexathlon_cli.output import print_text

    if role not in ROLES:
        raise UsageError(f"--role: expected one of {', '.join(ROLES)}, got {role}")
    try:
        entry = read_entry(folder)
        data = (folder / STATEMENT).read_bytes()
        made = signature(data, key, role, name, f"{datetime.now(UTC):%Y-%m-%d}")
    except (IntakeError, SigningError) as error:
        raise UsageError(str(error)) from None
    write_signatures(folder, [*entry.signatures, made])
    print_text(f"{folder}: signed by {made.key}")
    return ExitCode.FINE


@app.command("schema", epilog=examples("submit schema"))
def schema() -> int:
    """Print the JSON schema of submission files."""
    import json

    from hexathlon.baselines.harness.errors import ExitCode
    from hexathlon.leaderboard.entry import json_schema
    from hexathlon_cli.output import print_text

    print_text(json.dumps(json_schema(), indent=2))
    return ExitCode.FINE
