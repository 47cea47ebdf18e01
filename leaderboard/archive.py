"""Archives of runs: written with fixed times and order, read with caps and no surprises.

An archive is a zip file of a few known paths. Nothing is extracted before its directory has been
checked, and no more bytes are written than the directory and the caps allow.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path

from hexathlon.evaluators.judged.file import JUDGED_FOLDER
from hexathlon.evaluators.records.media import MEDIA_FOLDER
from hexathlon.evaluators.records.plan import PLAN_FILE
from hexathlon.evaluators.records.reader import RECORDS_FILE
from hexathlon.leaderboard.entry import RunFile

__all__ = ["ArchiveError", "extract", "files_of", "write_archive"]

MAX_FILES = 20_000
MAX_FILE_BYTES = 4 << 30
MAX_TOTAL_BYTES = 8 << 30
MAX_RATIO = 400
"""Largest plausible ratio of a record file's size to its compressed size."""
_PATHS = re.compile(
    rf"{re.escape(PLAN_FILE)}|{re.escape(RECORDS_FILE)}"
    rf"|{MEDIA_FOLDER}/[0-9a-f]{{64}}\.(?:png|bin)|{JUDGED_FOLDER}/[A-Za-z0-9._-]{{1,100}}\.jsonl"
)
_BLOCK = 1 << 20


class ArchiveError(Exception):
    """An archive that may not be extracted, or whose content is not the stated one."""


def files_of(run: Path) -> list[RunFile]:
    """Return the files of a run that belong to a submission, in order of their paths."""
    found = []
    for path in sorted(_paths(run)):
        name = path.relative_to(run).as_posix()
        found.append(RunFile(path=name, size=path.stat().st_size, sha256=_digest(path)))
    return found


def _paths(run: Path) -> Iterator[Path]:
    for path in (run / PLAN_FILE, run / RECORDS_FILE):
        if path.is_symlink() or not path.is_file():
            raise ArchiveError(f"{path} is not a regular file")
        yield path
    for folder in (run / MEDIA_FOLDER, run / JUDGED_FOLDER):
        if folder.is_dir():
            names = (path.relative_to(run).as_posix() for path in folder.iterdir())
            yield from (run / name for name in names if _PATHS.fullmatch(name))


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_archive(run: Path, files: list[RunFile], target: Path) -> None:
    """Write files of a run to an archive whose bytes depend on their content alone."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for file in files:
            info = zipfile.ZipInfo(file.path, (1980, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = 0o644 << 16
            info.file_size = file.size
            with (run / file.path).open("rb") as source, archive.open(info, "w") as sink:
                shutil.copyfileobj(source, sink, _BLOCK)


def extract(archive: Path, files: tuple[RunFile, ...], out: Path) -> None:
    """Extract an archive into a new directory.

    Args:
        archive: The zip file.
        files: The files that it must contain, no more and no fewer.
        out: The directory.

    Raises:
        ArchiveError: If it contains anything else, exceeds a cap, or a file has other bytes.
    """
    if archive.is_symlink() or not archive.is_file():
        raise ArchiveError(f"{archive.name} is missing or is not a regular file")
    expected = _expected(files)
    try:
        with zipfile.ZipFile(archive) as opened:
            members = opened.infolist()
            _check_members(members, expected)
            out.mkdir(parents=True)
            for member in members:
                _extract_one(opened, member, expected[member.filename], out)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError) as error:
        raise ArchiveError(f"{archive.name} is not a readable zip archive: {error}") from None


def _expected(files: tuple[RunFile, ...]) -> dict[str, RunFile]:
    expected = {file.path: file for file in files}
    total = sum(file.size for file in files)
    if len(expected) != len(files):
        raise ArchiveError("a file is listed twice")
    if len(files) > MAX_FILES or total > MAX_TOTAL_BYTES:
        raise ArchiveError(
            f"{len(files):,} files of {total:,} bytes: at most {MAX_FILES:,} and "
            f"{MAX_TOTAL_BYTES:,} are accepted"
        )
    for name in (PLAN_FILE, RECORDS_FILE):
        if name not in expected:
            raise ArchiveError(f"{name} is not listed")
    for file in files:
        if not _PATHS.fullmatch(file.path):
            raise ArchiveError(f"{file.path!r:.120} is not a path of a run")
        if not 0 <= file.size <= MAX_FILE_BYTES:
            raise ArchiveError(f"{file.path} has {file.size:,} bytes: at most {MAX_FILE_BYTES:,}")
    return expected


def _check_members(members: list[zipfile.ZipInfo], expected: dict[str, RunFile]) -> None:
    names = [member.filename for member in members]
    if sorted(names) != sorted(expected):
        odd = sorted(set(names) ^ set(expected)) or sorted(names)
        raise ArchiveError(f"the archive and the list of files differ: {odd[0]!r:.120}")
    for member in members:
        stated, name = expected[member.filename].size, member.filename
        if member.file_size != stated:
            raise ArchiveError(f"{name} has {member.file_size:,} bytes, {stated:,} are stated")
        if member.flag_bits & 1:
            raise ArchiveError(f"{name} is encrypted")
        if (member.external_attr >> 16) & 0o170000 not in (0, 0o100000):
            raise ArchiveError(f"{name} is not a regular file")
        if stated > _BLOCK and stated > MAX_RATIO * max(1, member.compress_size):
            raise ArchiveError(f"{name} unpacks to more than {MAX_RATIO} times its size")


def _extract_one(
    opened: zipfile.ZipFile, member: zipfile.ZipInfo, file: RunFile, out: Path
) -> None:
    target = out / file.path
    target.parent.mkdir(exist_ok=True)
    digest, left = hashlib.sha256(), file.size
    with opened.open(member) as source, target.open("xb") as sink:
        while block := source.read(min(_BLOCK, left + 1)):
            left -= len(block)
            if left < 0:
                raise ArchiveError(f"{file.path} has more bytes than stated")
            digest.update(block)
            sink.write(block)
    if left or digest.hexdigest() != file.sha256:
        raise ArchiveError(f"{file.path}: its bytes are not those of the stated hash")
