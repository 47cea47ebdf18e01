"""Audit files of judges."""

from collections.abc import Sequence
from pathlib import Path

from hexathlon.baselines.harness.errors import UsageError
from hexathlon.baselines.judging.client import JudgeIdentity
from hexathlon.evaluators.judges.audit.document import Audit, AuditError, read_audit

__all__ = ["audits_of"]


def audits_of(paths: Sequence[Path], judges: Sequence[JudgeIdentity]) -> list[Audit | None]:
    """Return each judge's audit, None for a judge without one.

    Raises:
        UsageError: If a file cannot be read, or audits another judge.
    """
    try:
        audits = [read_audit(path) for path in paths]
    except AuditError as error:
        raise UsageError(str(error)) from None
    by_judge = {audit.judge: audit for audit in audits}
    known = {judge.hash for judge in judges}
    for path, audit in zip(paths, audits, strict=True):
        if audit.judge not in known:
            raise UsageError(
                f"{path} audits another judge ({audit.data['judge']['model']}, identity "
                f"{audit.judge[:16]}): model, sampling or prompts differ; audit this judge"
            )
    return [by_judge.get(judge.hash) for judge in judges]
