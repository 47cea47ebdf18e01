"""Cache of packed submissions and of their pages, so that a build repeats no finished work.

An entry is named by the content of its run. A run counts as unchanged if its files have the sizes,
times and inodes of the last build; `ctime` cannot be set back by a program that is not root. Only
then are its records not read again.
"""

from __future__ import annotations

import functools
import gc
import hashlib
import json
import os
import shutil
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

from hexathlon.evaluators.records.canonical import content_hash
from hexathlon.evaluators.records.plan import PLAN_FILE
from hexathlon.evaluators.records.reader import RECORDS_FILE
from hexathlon.leaderboard.packing import pack_run
from hexathlon.leaderboard.state import restored
from hexathlon.leaderboard.submission import Submission, SubmissionRejected
from hexathlon.leaderboard.tokens import TOKENS_FILE

__all__ = ["Packed", "SiteCache", "code_digest"]

_PARALLEL_BYTES = 64 << 20
"""Size of the records to pack from which a second process is worth its start."""


@functools.cache
def code_digest() -> str:
    """Return a hash of the code that reads, summarises and renders; a change empties caches."""
    here = Path(__file__).resolve().parent
    counting = here.parent / "evaluators"
    files = [path for path in here.rglob("*") if path.suffix in (".py", ".html", ".js", ".css")]
    files += [counting / "summary.py", counting / "tally.py"]
    files += [here.parent / "envs" / "testing" / name for name in ("forecasting.py", "likeness.py")]
    files += [*(counting / "statistics").glob("*.py"), *(counting / "records").glob("*.py")]
    digest = hashlib.sha256()
    for path in sorted(files):
        digest.update(path.read_bytes())
    return digest.hexdigest()


class Packed(NamedTuple):
    """A packed submission in the cache."""

    submission: Submission
    folder: Path
    media: tuple[str, ...]


class SiteCache:
    """A directory of packed submissions.

    Args:
        folder: Created if missing.
        workers: Processes that pack; by default one per core.
    """

    def __init__(self, folder: Path, workers: int | None = None) -> None:
        self.folder = folder
        self.pages = folder / "pages"
        self.media = folder / "media"
        self._runs = folder / "runs"
        self._signatures = folder / "signatures.json"
        self._workers = workers if workers is not None else len(os.sched_getaffinity(0))
        self._known: dict[str, list[str]] = self._read_signatures()
        self._used: dict[str, list[str]] = {}
        self.packed = 0
        """Submissions packed by this process; all others were in the cache."""

    def _read_signatures(self) -> dict[str, list[str]]:
        try:
            known = json.loads(self._signatures.read_bytes())
        except (OSError, ValueError):
            return {}
        return known.get("runs", {}) if known.get("code") == code_digest() else {}

    def prepare(self, runs: Sequence[Path]) -> dict[Path, str]:
        """Pack all runs that are not in the cache; return why some were rejected."""
        self._runs.mkdir(parents=True, exist_ok=True)
        self.pages.mkdir(exist_ok=True)
        self.media.mkdir(exist_ok=True)
        changed = [run for run in dict.fromkeys(runs) if self._entry(run) is None]
        jobs = [(run, self._runs / f"draft-{os.getpid()}-{n}") for n, run in enumerate(changed)]
        rejected = {}
        size = sum(_size(run / RECORDS_FILE) for run in changed)
        workers = min(self._workers, len(jobs)) if size > _PARALLEL_BYTES else 1
        faults = _pack_all([(*job, self.media) for job in jobs], workers)
        for (run, draft), fault in zip(jobs, faults, strict=True):
            if fault is not None:
                rejected[run] = fault
                shutil.rmtree(draft, ignore_errors=True)
                continue
            self._keep(run, draft)
        if self.packed:
            self._save(self._known)
        return rejected

    def _save(self, runs: dict[str, list[str]]) -> None:
        data = {"code": code_digest(), "runs": runs}
        draft = self._signatures.with_suffix(".part")
        draft.write_text(json.dumps(data), encoding="utf-8")
        draft.rename(self._signatures)

    def _keep(self, run: Path, draft: Path) -> None:
        """Name a packed run by its content."""
        key = json.loads((draft / "state.json").read_bytes())["content"][:32]
        target = self._runs / key
        if target.exists():
            shutil.rmtree(target)
        draft.rename(target)
        self._known[str(run.resolve())] = [_signature(run), key]
        self.packed += 1

    def _entry(self, run: Path) -> Path | None:
        signature, key = self._known.get(str(run.resolve()), ("", ""))
        if not key or signature != _signature(run):
            return None
        folder = self._runs / key
        return folder if (folder / "state.json").exists() else None

    def load(self, run: Path, verified: bool, obstacle: str) -> Packed:
        """Return a prepared run."""
        folder = self._entry(run)
        if folder is None:  # changed since it was prepared
            raise SubmissionRejected(f"{run} changed while the site was built")
        self._used[str(run.resolve())] = self._known[str(run.resolve())]
        state = json.loads((folder / "state.json").read_bytes())
        submission = restored(state, folder, run, verified, obstacle)
        return Packed(submission, folder, tuple(state["media"]))

    def page(self, key: str) -> Path:
        """Return the place of a rendered page with this key."""
        return self.pages / f"{key}.html"

    def close(self, pages: set[str], media: set[str]) -> None:
        """Remove entries that the last build did not use, and remember the others.

        Args:
            pages: Keys of the rendered pages to keep.
            media: Names of the images and files to keep.
        """
        for file in self.media.iterdir():
            if file.name not in media:
                file.unlink()
        keep = {key for _, key in self._used.values()}
        for folder in self._runs.iterdir():
            if folder.name not in keep:
                shutil.rmtree(folder)
        for page in self.pages.iterdir():
            if page.stem not in pages:
                page.unlink()
        self._save(self._used)


def _pack_all(jobs: Sequence[tuple[Path, Path, Path]], workers: int) -> list[str | None]:
    if workers < 2:
        return [_pack(job) for job in jobs]
    # Records are trees without cycles: collecting them is work for nothing.
    start = get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=start, initializer=gc.disable) as pool:
        return list(pool.map(_pack, jobs))


def _pack(job: tuple[Path, Path, Path]) -> str | None:
    """Pack a run; return why it was rejected."""
    run, draft, media = job
    shutil.rmtree(draft, ignore_errors=True)
    try:
        pack_run(run, draft, media)
    except SubmissionRejected as fault:
        return str(fault)
    return None


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _signature(run: Path) -> str:
    """Return the sizes, times and inodes of a run's files as a hash."""
    facts: list[Any] = []
    for name in (PLAN_FILE, RECORDS_FILE, TOKENS_FILE, "media"):
        try:
            stat = (run / name).stat()
        except OSError:
            facts.append([name, None])
            continue
        facts.append([name, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino])
    return content_hash(facts)
