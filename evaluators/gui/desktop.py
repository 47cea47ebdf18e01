"""Verifier of desktop tasks: documents as requested, everything else unchanged, and the report.

Documents are compared by content (`documents`), so a workbook saved by another program version
counts as the same workbook. Independent of how the desktop was operated.
"""

import base64
import re
from collections.abc import Mapping, Sequence
from typing import Any

from hexathlon.evaluators.gui.documents import KINDS, kind_of, same
from hexathlon.evaluators.verdict import Verdict
from hexathlon.tasks.task import Task

__all__ = ["desktop_state"]


def desktop_state(
    task: Task,
    params: Mapping[str, Any],
    final_state: Mapping[str, Any],
    transcript: Sequence[Mapping[str, Any]],
) -> Verdict:
    """Score the end of an episode.

    Args:
        task: The task; `params["desktop"]["files"]` has the initial files.
        params: `changed` (path → kind and content), `deleted`, `answer` (accepted texts or None),
            `refusal` (reason and record, or None).
        final_state: `files` (path → content of what differs from the start), `deleted`, `cut`, and
            `reports` (`status`, `answer`, `reason`, `record`).
        transcript: Not used.
    """
    files: Mapping[str, Mapping[str, Any]] = final_state["files"]
    wanted: Mapping[str, Mapping[str, Any]] = params["changed"]
    initial = task.params["desktop"]["files"]
    right = [path for path in wanted if path in files and _matches(files[path], wanted[path])]
    extra = [path for path in files
             if path not in wanted and not _unchanged(path, files[path], initial)]  # fmt: skip
    report = (final_state["reports"] or [{}])[-1]
    deleted = sorted(final_state["deleted"])
    terms = {
        "documents": float(len(right) == len(wanted)),
        "nothing_else": float(
            not extra and deleted == sorted(params["deleted"]) and not final_state["cut"]
        ),
        "answer": float(_answered(params["answer"], report.get("answer", ""))),
        "report": float(_reported(params["refusal"], report)),
    }
    done = len(right) / len(wanted) if wanted else terms["answer"]
    return Verdict(
        score=float(all(terms.values())),
        partial=done * terms["nothing_else"],
        terms=terms,
        evidence={"missing": sorted(set(wanted) - set(right)), "extra": sorted(extra),
                  "deleted": deleted},
    )  # fmt: skip


def _matches(stored: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    if wanted["kind"] == "folder":
        return bool(stored.get("folder"))
    if "base64" not in stored:
        return False
    return same(KINDS[wanted["kind"]](base64.b64decode(stored["base64"])), wanted["content"])


def _unchanged(
    path: str, stored: Mapping[str, Any], initial: Mapping[str, Mapping[str, Any]]
) -> bool:
    """Whether a rewritten file still has its initial content."""
    before = initial.get(path)
    if before is None or "base64" not in stored or "folder" in before:
        return False
    read = KINDS[kind_of(path)]
    text = before.get("text")
    old = text.encode() if text is not None else base64.b64decode(before.get("base64", ""))
    return same(read(old), read(base64.b64decode(stored["base64"])))


def _answered(accepted: Sequence[str] | None, given: str) -> bool:
    if accepted is None:  # no answer was asked for, so any is accepted
        return True
    return _folded(given) in {_folded(each) for each in accepted}


def _reported(refusal: Mapping[str, str] | None, report: Mapping[str, str]) -> bool:
    status = report.get("status")
    if refusal is None:
        return status == "complete"
    return (
        status == "infeasible"
        and _folded(report.get("reason", "")) == _folded(refusal["reason"])
        and _folded(report.get("record", "")) == _folded(refusal["record"])
    )


def _folded(text: str) -> str:
    """Normalise case, spaces and a final full stop."""
    return re.sub(r"\s+", " ", text).strip().rstrip(".").casefold()
