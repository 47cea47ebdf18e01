"""Recovery of a run directory from its folder in a site, byte for byte."""

from __future__ import annotations

import shutil
from pathlib import Path

from hexathlon.evaluators.records.media import MEDIA_FOLDER, media_parts
from hexathlon.evaluators.records.plan import PLAN_FILE
from hexathlon.evaluators.records.reader import RECORDS_FILE, parse_line
from hexathlon.leaderboard.packing import unpacked_lines

__all__ = ["UnpackError", "unpack"]


class UnpackError(Exception):
    """A folder of a site that cannot be unpacked."""


def unpack(folder: Path, out: Path) -> int:
    """Write the run of a submission's folder to a new directory; return the number of records.

    Args:
        folder: ``SITE/runs/NAME``.
        out: New run directory.

    Raises:
        UnpackError: If the folder is not one of a site, is damaged, or ``out`` exists.
    """
    if not (folder / PLAN_FILE).is_file() or not (folder / "data").is_dir():
        raise UnpackError(f"{folder} is not a submission's folder: expected SITE/runs/NAME")
    if out.exists():
        raise UnpackError(f"{out} exists already: choose a new directory")
    media = folder.parents[1] / MEDIA_FOLDER
    out.mkdir(parents=True)
    shutil.copyfile(folder / PLAN_FILE, out / PLAN_FILE)
    names: set[str] = set()
    lines = 0
    try:
        with (out / RECORDS_FILE).open("wb") as file:
            for line in unpacked_lines(folder / "data"):
                file.write(line)
                lines += 1
                for _, part in media_parts(parse_line(line) or {"opening": "", "steps": []}):
                    names.add(f"{part['sha256']}.{'png' if part['type'] == 'image' else 'bin'}")
    except ValueError as error:
        raise UnpackError(f"{folder}: {error}") from None
    for name in sorted(names):
        (out / MEDIA_FOLDER).mkdir(exist_ok=True)
        shutil.copyfile(media / name, out / MEDIA_FOLDER / name)
    return lines
