"""Copies of public sets: unpacked, installed, and loaded task by task."""

import contextlib
import shutil
import tarfile
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hexathlon.baselines.harness.errors import UsageError
from hexathlon.baselines.harness.progress import Progress
from hexathlon.evaluators.sql.dbbench import is_empty
from hexathlon.evaluators.sql.runs import GraderFault, run_gold
from hexathlon.tasks.errors import TaskError
from hexathlon.tasks.public_sets import PublicSet, missing_files
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.source import TaskSource
from hexathlon.tasks.sql.loaders.loaded import LoadedQuestion, LoadedQuestions
from hexathlon.tasks.sql.world.database import database_bytes
from hexathlon.tasks.task import SPLITS
from hexathlon.tasks.validation import reason

__all__ = ["LoadedTasks", "check_tasks", "install_copy"]

_DEEPEST = 4
"""Maximum number of folders between the top of a copy and the set's own files."""


@dataclass
class LoadedTasks:
    """How many tasks of a set load, and why others do not."""

    tasks: int = 0
    loaded: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    empty_gold: int = 0
    """Questions whose expected answer has no rows or values."""


def install_copy(public: PublicSet, path: Path, folder: Path, *, replace: bool) -> int:
    """Copy a set's files from a folder or archive; return the number of files.

    The folder appears only when complete.

    Raises:
        UsageError: If the path holds no such set, or the folder is in use.
    """
    if folder.exists() and not replace:
        raise UsageError(f"{folder} already exists; replace it with --replace")
    part = folder.with_name(f".{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    try:
        with _unpacked(path, part) as top:
            root = _root_of(public, top, path)
            new = part / "new"
            shutil.copytree(root, new)
            if folder.exists():
                shutil.rmtree(folder)
            new.rename(folder)
    except OSError as error:
        raise UsageError(f"cannot copy {path} to {folder}: {reason(error)}") from None
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return sum(1 for file in folder.rglob("*") if file.is_file())


def check_tasks(public: PublicSet) -> LoadedTasks:
    """Load every task of a set that is in place."""
    source = get_source(public.source)
    found = LoadedTasks()
    with Progress(f"loading {public.source}", None) as progress:
        for split in SPLITS[:3]:
            try:
                if isinstance(source, LoadedQuestions):
                    _check_questions(source, source.read(split), found, progress)
                else:
                    _check_source(source, split, found, progress)
            except (TaskError, OSError, ValueError, LookupError, TypeError) as error:
                found.reasons[f"{split}: {_why(error)}"] += 1
    return found


def _check_questions(
    source: LoadedQuestions,
    questions: Sequence[LoadedQuestion],
    found: LoadedTasks,
    progress: Progress,
) -> None:
    absent = source.absent_databases(questions)
    for question in questions:
        progress.advance()
        found.tasks += 1
        path = str(question.database.get("path", ""))
        if path in absent:
            found.reasons[f"there is no database file {path}"] += 1
            continue
        try:
            empty = _has_empty_gold(question)
        except (GraderFault, TaskError, OSError) as error:
            found.reasons[f"{path or question.template}: {_why(error)}"] += 1
            continue
        found.loaded += 1
        found.empty_gold += empty


def _has_empty_gold(question: LoadedQuestion) -> bool:
    """Whether the expected answer has no rows or values; no write has one."""
    if question.submit == "answer":
        return is_empty(question.gold)
    if question.submit != "sql" or not question.gold:
        return False
    params = {"database": dict(question.database), "backend": "sqlite", "mode": "read"}
    return not run_gold(database_bytes(params), params, question.gold[0]).rows


def _check_source(source: TaskSource, split: str, found: LoadedTasks, progress: Progress) -> None:
    size = source.size(split) or 0  # type: ignore[arg-type]
    for index in range(size):
        progress.advance()
        found.tasks += 1
        try:
            source.build(source.address(split, index))  # type: ignore[arg-type]
        except (TaskError, OSError, ValueError, LookupError, TypeError) as error:
            found.reasons[_why(error)] += 1
        else:
            found.loaded += 1


def _why(error: Exception) -> str:
    if isinstance(error, (TaskError, GraderFault, OSError)):
        return reason(error)
    return f"a file does not have the expected format ({type(error).__name__}: {error})"


@contextlib.contextmanager
def _unpacked(path: Path, part: Path) -> Iterator[Path]:
    """Yield a folder with the files of a folder or archive."""
    if path.is_dir():
        part.mkdir(parents=True)
        yield path
        return
    target = part / "unpacked"
    try:
        if path.is_file() and zipfile.is_zipfile(path):
            target.mkdir(parents=True)
            with zipfile.ZipFile(path) as archive:
                archive.extractall(target)
        elif path.is_file() and tarfile.is_tarfile(path):
            target.mkdir(parents=True)
            with tarfile.open(path) as archive:
                archive.extractall(target, filter="data")
        else:
            raise UsageError(f"{path} is not a directory, zip or tar archive")
    except (zipfile.BadZipFile, tarfile.TarError, EOFError) as error:
        raise UsageError(f"{path} cannot be unpacked: {error}; download it again") from None
    yield target


def _root_of(public: PublicSet, top: Path, path: Path) -> Path:
    """Return the folder with the set's needed files, nearest to the top.

    Raises:
        UsageError: If there is none; the message names what the closest folder lacks.
    """
    level, best, fewest = [top], top, len(public.files) + 1
    for _ in range(_DEEPEST):
        for folder in level:
            absent = [file for file in missing_files(public, folder) if file.needed]
            if not absent:
                return folder
            if len(absent) < fewest:
                best, fewest = folder, len(absent)
        level = [one for folder in level for one in sorted(folder.iterdir()) if one.is_dir()]
    lacks = ", ".join(file.pattern for file in missing_files(public, best) if file.needed)
    raise UsageError(f"{path} is not a copy of {public.source}: it lacks {lacks}")
