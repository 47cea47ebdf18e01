"""Builder of the static site: run directories in, a directory of pages out.

It reads only plans and records; viewing the result needs only a browser. The same runs give the
same bytes. Finished work is kept in a cache beside the site, see `hexathlon.leaderboard.cache`.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from hexathlon.evaluators.judged.arena import ArenaDocument
from hexathlon.leaderboard.boards import Board, make_boards
from hexathlon.leaderboard.cache import Packed, SiteCache
from hexathlon.leaderboard.checklist import SuiteReport
from hexathlon.leaderboard.intake import SubmissionEntry
from hexathlon.leaderboard.ledger import LedgerLine
from hexathlon.leaderboard.methods import methods_of, training_folder
from hexathlon.leaderboard.pages import PageWriter
from hexathlon.leaderboard.qualifying import PlanNameError, check_plan_names
from hexathlon.leaderboard.reruns import with_reruns
from hexathlon.leaderboard.submission import Submission, SubmissionRejected

MARK = "board.json"
"""A directory that contains this file is a generated site and may be replaced."""


class BuildError(Exception):
    """The site cannot be built in this directory, or from these runs."""


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """Settings of a build."""

    verified: Collection[Path] = ()
    """The run directories that the caller has just replayed successfully."""
    failed: Mapping[Path, str] = field(default_factory=dict)
    """Those that a replay contradicted, with its first finding; listed as rejected."""
    obstacles: Mapping[Path, str] = field(default_factory=dict)
    """Those that could not be replayed, with the reason; not ranked on boards where other rows
    were.
    """
    plans: Sequence[str] = ()
    """Plan hashes, or at least their first 16 digits: the plans of the boards that contain such a
    run. Other boards have the plan that most of their complete rows share.
    """
    entries: Mapping[Path, SubmissionEntry] = field(default_factory=dict)
    """Statements and signatures of submissions, by run directory."""
    ledger: Sequence[LedgerLine] = ()
    """Lines of the board's ledger, shown on a page of their own."""
    tests: SuiteReport | None = None
    """Results of a test run, for the self-assessment."""
    arenas: Sequence[ArenaDocument] = ()
    """Arenas, shown on a page of their own."""
    cache: Path | None = None
    """Directory of packed submissions; by default beside the site, with the suffix ``.cache``."""
    workers: int | None = None
    """Processes that pack submissions; by default one per core."""


def build(
    runs: Sequence[Path],
    out: Path,
    options: BuildOptions | None = None,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> Path:
    """Build the site of some runs and return the path of its first page.

    Runs with an invalid plan or chain of records are listed as rejected, with the location of the
    fault, and are in no table. A run given twice counts once.

    Args:
        runs: Run directories.
        out: Directory to write; an older site there is replaced, anything else is not touched.
        options: Settings.
        progress: Called with (submissions written, total number of submissions).

    Raises:
        BuildError: If ``out`` contains something else, there is no run, or no run has a named plan.
    """
    options = options or BuildOptions()
    if not runs:
        raise BuildError("no run was given: name at least one run directory")
    _check_target(out)
    cache = SiteCache(options.cache or out.with_name(out.name + ".cache"), options.workers)
    packed, rejected = _load(runs, cache, options)
    submissions = [one.submission for one in packed]
    boards = _boards(submissions, options.plans)
    draft = out.with_name(out.name + ".part")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(parents=True)
    writer = PageWriter(draft, cache, arenas=bool(options.arenas))
    writer.static()
    writer.index(submissions, boards, rejected, options.ledger)
    writer.arenas(options.arenas, submissions)
    writer.ledger(options.ledger, submissions)
    writer.data(boards, rejected)
    writer.checklist(options.tests)
    folders = [training_folder(one.path) for one in submissions]
    methods = methods_of([folder for folder in folders if folder is not None])
    writer.methods(methods)
    trained = {run.folder: method for method in methods for run in method.runs}
    for done, (one, folder) in enumerate(zip(packed, folders, strict=True), start=1):
        writer.submission(one, None if folder is None else trained.get(folder))
        if progress is not None:
            progress(done, len(packed))
    if out.exists():
        shutil.rmtree(out)
    draft.rename(out)
    cache.close(writer.page_keys, {name for one in packed for name in one.media})
    return out / "index.html"


def _boards(submissions: Sequence[Submission], plans: Sequence[str]) -> list[Board]:
    try:
        check_plan_names(plans, [submission.plan["plan_hash"] for submission in submissions])
        return make_boards(submissions, plans)
    except PlanNameError as error:
        raise BuildError(str(error)) from None


def _check_target(out: Path) -> None:
    if not out.exists():
        return
    if not out.is_dir():
        raise BuildError(f"{out} is a file: expected a directory for the site")
    if any(out.iterdir()) and not (out / MARK).exists():
        raise BuildError(f"{out} is not a leaderboard directory: choose another")


def _load(
    runs: Sequence[Path], cache: SiteCache, options: BuildOptions
) -> tuple[list[Packed], list[tuple[str, str]]]:
    found: dict[str, Packed] = {}
    rejected: list[tuple[str, str]] = []
    faults = cache.prepare([run for run in runs if run not in options.failed])
    for path in runs:
        if path in options.failed:
            rejected.append((path.name, f"not verified: {options.failed[path]}"))
            continue
        try:
            if path in faults:
                raise SubmissionRejected(faults[path])
            obstacle = options.obstacles.get(path, "").replace(str(path), path.name)
            packed = cache.load(path, path in options.verified, obstacle)
            own = replace(packed.submission, entry=options.entries.get(path))
            packed = packed._replace(submission=own)
        except SubmissionRejected as fault:
            rejected.append((path.name, str(fault).replace(str(path), path.name)))
            continue
        found.setdefault(packed.submission.head, packed)
    named = with_reruns(with_own_slugs([one.submission for one in found.values()]))
    pairs = zip(found.values(), named, strict=True)
    return [one._replace(submission=submission) for one, submission in pairs], rejected


def with_own_slugs(submissions: Sequence[Submission]) -> list[Submission]:
    """Name submissions that share a slug by their whole heads, so that each has its own pages."""
    counts = Counter(one.slug for one in submissions)
    return [one if counts[one.slug] == 1 else replace(one, slug=one.head) for one in submissions]
