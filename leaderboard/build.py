"""Builder of the static site: run directories in, a directory of pages out.

It reads only plans and records; viewing the result needs only a browser. The same runs give the
same bytes.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from hexathlon.leaderboard.boards import make_boards
from hexathlon.leaderboard.pages import PageWriter
from hexathlon.leaderboard.qualifying import PlanNameError, check_plan_names
from hexathlon.leaderboard.reruns import with_reruns
from hexathlon.leaderboard.submission import Submission, SubmissionRejected, load_submission

MARK = "board.json"
"""A directory that contains this file is a generated site and may be replaced."""


class BuildError(Exception):
    """The site cannot be built in this directory, or from these runs."""


def build(
    runs: Sequence[Path],
    out: Path,
    *,
    verified: Collection[Path] = (),
    failed: Mapping[Path, str] | None = None,
    obstacles: Mapping[Path, str] | None = None,
    plans: Sequence[str] = (),
    data: bool = True,
    progress: Callable[[int, int], None] | None = None,
) -> Path:
    """Build the site of some runs and return the path of its first page.

    Runs with an invalid plan or chain of records are listed as rejected, with the location of the
    fault, and are in no table. A run given twice counts once.

    Args:
        runs: Run directories.
        out: Directory to write; an older site there is replaced, anything else is not touched.
        verified: The run directories that the caller has just replayed successfully.
        failed: Those that a replay contradicted, with its first finding; listed as rejected.
        obstacles: Those that could not be replayed, with the reason; not ranked on boards where
            other rows were.
        plans: Plan hashes, or at least their first 16 digits: the plans of the boards that contain
            such a run. Other boards have the plan that most of their complete rows share.
        data: Whether to put a compressed copy of the records beside each submission.
        progress: Called with (trajectories written, total number of trajectories).

    Raises:
        BuildError: If ``out`` contains something else, there is no run, or no run has a named plan.
    """
    if not runs:
        raise BuildError("no run was given: name at least one run directory")
    _check_target(out)
    submissions, rejected = _load(runs, verified, failed or {}, obstacles or {})
    try:
        check_plan_names(plans, [submission.plan["plan_hash"] for submission in submissions])
        boards = make_boards(submissions, plans)
    except PlanNameError as error:
        raise BuildError(str(error)) from None
    draft = out.with_name(out.name + ".part")
    if draft.exists():
        shutil.rmtree(draft)
    draft.mkdir(parents=True)
    writer = PageWriter(draft)
    total = sum(len(submission.trials) for submission in submissions)
    written = 0

    def tick() -> None:
        nonlocal written
        written += 1
        if progress is not None:
            progress(written, total)

    writer.static()
    writer.index(submissions, boards, rejected)
    for submission in submissions:
        writer.submission(submission, data=data)
        writer.trials(submission)
        writer.trajectories(submission, tick)
    if out.exists():
        shutil.rmtree(out)
    draft.rename(out)
    return out / "index.html"


def _check_target(out: Path) -> None:
    if not out.exists():
        return
    if not out.is_dir():
        raise BuildError(f"{out} is a file: expected a directory for the site")
    if any(out.iterdir()) and not (out / MARK).exists():
        raise BuildError(f"{out} is not a leaderboard directory: choose another")


def _load(
    runs: Sequence[Path],
    verified: Collection[Path],
    failed: Mapping[Path, str],
    obstacles: Mapping[Path, str],
) -> tuple[list[Submission], list[tuple[str, str]]]:
    submissions: dict[str, Submission] = {}
    rejected: list[tuple[str, str]] = []
    for path in runs:
        if path in failed:
            rejected.append((path.name, f"not verified: {failed[path]}"))
            continue
        try:
            obstacle = obstacles.get(path, "").replace(str(path), path.name)
            submission = load_submission(path, path in verified, obstacle)
        except SubmissionRejected as fault:
            rejected.append((path.name, str(fault).replace(str(path), path.name)))
            continue
        submissions.setdefault(submission.head, submission)
    return with_reruns(_with_own_slugs(list(submissions.values()))), rejected


def _with_own_slugs(submissions: Sequence[Submission]) -> list[Submission]:
    """Name submissions that share a slug by their whole heads, so that each has its own pages."""
    counts = Counter(one.slug for one in submissions)
    return [one if counts[one.slug] == 1 else replace(one, slug=one.head) for one in submissions]
