"""The commands `data list`, `data add` and `data check`: public sets that users provide."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hexathlon_cli.examples import examples
from hexathlon_cli.options import AsJson

if TYPE_CHECKING:
    from hexathlon.tasks.public_sets import PublicSet

__all__ = ["app"]

_MOST_SHOWN = 20
"""Maximum number of reasons listed."""

app = typer.Typer(
    help="Public task sets: list, install and check local copies.",
    no_args_is_help=True,
    epilog=examples("data"),
)

_SetName = Annotated[str, typer.Argument(metavar="SET", help="Public set, such as spider.")]


@app.command("list", epilog=examples("data list"))
def list_(as_json: AsJson = False) -> int:
    """List public sets, where their files are expected, and which are missing.

    The environment variable HEXATHLON_DATA names the directory of public sets.
    """
    import json
    import os

    from hexathlon.baselines.harness.tables import ReportTable
    from hexathlon.tasks.public_sets import PUBLIC_SETS, missing_files
    from hexathlon_cli.output import note, print_table, print_text

    base = os.environ.get("HEXATHLON_DATA")
    rows = []
    for public in PUBLIC_SETS.values():
        folder = Path(base) / public.folder if base else None
        state, lacks = "absent", ""
        if folder is not None and folder.is_dir():
            absent = missing_files(public, folder)
            needed = [file.pattern for file in absent if file.needed]
            state = "incomplete" if needed else "present"
            lacks = ", ".join(needed or [file.pattern for file in absent])
        rows.append((public.source, public.env, state, lacks, public.folder, public.origin))
    if as_json:
        names = ("set", "event", "state", "missing", "folder", "origin")
        print_text(json.dumps([dict(zip(names, row, strict=True)) for row in rows], indent=2))
        return 0
    headings = ("set", "event", "state", "missing", "folder", "published at")
    print_table(ReportTable("Public sets", headings, tuple(rows)))
    note(f"HEXATHLON_DATA is {base}" if base else _UNSET)
    return 0


@app.command("add", epilog=examples("data add"))
def add(
    name: _SetName,
    path: Annotated[Path, typer.Argument(help="Directory or archive (zip, tar) with the files.")],
    replace: Annotated[bool, typer.Option("--replace", help="Replace an existing copy.")] = False,
) -> int:
    """Install a copy of a public set, and check it.

    The files may be anywhere in the directory or archive. Nothing is downloaded, and PATH itself is
    not changed.
    """
    from hexathlon_cli.output import print_text
    from hexathlon_cli.public_data import install_copy

    public = _set(name)
    folder = _base() / public.folder
    count = install_copy(public, path, folder, replace=replace)
    print_text(f"{count:,} files: {folder}")
    return _check(public)


@app.command("check", epilog=examples("data check"))
def check(name: _SetName) -> int:
    """Check a public set: its files, the tasks that load, and why others do not.

    For SQL sets, questions with an empty expected answer are also counted, because some published
    rules accept any empty result for them. Exit code 4 means that no task loads.
    """
    return _check(_set(name))


_UNSET = "HEXATHLON_DATA is not set: set it to a directory for public sets"


def _set(name: str) -> "PublicSet":
    from hexathlon.baselines.harness.errors import UsageError, near_miss
    from hexathlon.tasks.public_sets import PUBLIC_SETS

    if name not in PUBLIC_SETS:
        raise UsageError(near_miss("public set", name, PUBLIC_SETS))
    return PUBLIC_SETS[name]


def _base() -> Path:
    import os

    from hexathlon.baselines.harness.errors import EnvironmentUnavailable

    base = os.environ.get("HEXATHLON_DATA")
    if not base:
        raise EnvironmentUnavailable(_UNSET)
    return Path(base)


def _check(public: "PublicSet") -> int:
    from hexathlon.baselines.harness.errors import EnvironmentUnavailable, ExitCode
    from hexathlon_cli.output import note, print_text
    from hexathlon_cli.public_data import check_tasks

    folder = _base() / public.folder
    if not folder.is_dir():
        raise EnvironmentUnavailable(
            f"there is no directory {folder}: install {public.source}, from {public.origin}, "
            f"with `hexathlon data add {public.source} PATH`"
        )
    for file in public.files:
        state = "present" if file.present(folder) else "missing" if file.needed else "absent "
        print_text(f"{state}  {' or '.join((file.pattern, *file.others))}  ({file.about})")
    found = check_tasks(public)
    print_text(f"{found.loaded:,} of {found.tasks:,} tasks load")
    for reason, count in list(found.reasons.items())[:_MOST_SHOWN]:
        note(f"{count:,} do not: {reason}")
    if found.empty_gold:
        note(
            f"{found.empty_gold:,} questions have an empty expected answer: reports count them "
            "separately, since any empty result scores there"
        )
    return ExitCode.FINE if found.loaded else ExitCode.UNAVAILABLE
