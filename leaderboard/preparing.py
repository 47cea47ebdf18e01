"""Preparation of a submission: its file, its archive and the submitter's signature."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from hexathlon.evaluators.summary import Summary
from hexathlon.leaderboard.archive import files_of, write_archive
from hexathlon.leaderboard.entry import EntryError, RunCard, SubmissionFile, parse_submission
from hexathlon.leaderboard.signing import Signature, sign
from hexathlon.leaderboard.submission import Submission, load_submission
from hexathlon.tasks.validation import explain

__all__ = ["ARCHIVE", "SIGNATURES", "STATEMENT", "card_of", "prepare", "results_of"]

STATEMENT = "submission.json"
ARCHIVE = "run.zip"
SIGNATURES = "signatures.json"


def prepare(run: Path, out: Path, stated: Mapping[str, Any], key: Path | None = None) -> Path:
    """Write a submission's directory and return it.

    Args:
        run: Run directory; it is checked first.
        out: Parent directory; the submission's own is named by its model and records.
        stated: What only the submitter knows: the fields of `SubmissionFile` that are not
            computed.
        key: Private key of the submitter.

    Raises:
        SubmissionRejected: If the run is invalid.
        EntryError: If a statement is missing or malformed, or the directory exists.
    """
    submission = load_submission(run)
    files = files_of(run)
    fields = {
        "schema": "hexathlon.submission/1",
        "agent": {"name": submission.agent or "unnamed"},
        "attempts": 1,
        "date": submission.date,
        **{name: value for name, value in stated.items() if value is not None},
        "card": card_of(submission).model_dump(mode="json"),
        "plan_hash": submission.plan["plan_hash"],
        "head": submission.head,
        "records": submission.summary.records,
        "results": results_of(submission.summary),
        "files": [file.model_dump(mode="json") for file in files],
    }
    fields.setdefault("model", {"name": submission.name})
    try:
        entry = SubmissionFile.model_validate_json(json.dumps(fields))
    except ValidationError as error:
        raise EntryError(explain(error, most=1)) from None
    data = entry.canonical()
    parse_submission(data)
    folder = out / submission.slug
    if folder.exists():
        raise EntryError(f"{folder} exists already")
    signed = [] if key is None else [sign(data, key, "submitter", entry.organisation, entry.date)]
    folder.mkdir(parents=True)
    (folder / STATEMENT).write_bytes(data)
    write_archive(run, files, folder / ARCHIVE)
    write_signatures(folder, signed)
    return folder


def write_signatures(folder: Path, signatures: list[Signature]) -> None:
    """Write the signatures of a submission."""
    text = json.dumps([one.as_json() for one in signatures], indent=1)
    (folder / SIGNATURES).write_text(text + "\n", encoding="utf-8")


def results_of(summary: Summary) -> list[dict[str, Any]]:
    """Return the score of every event of a run, as in a submission file."""
    return [
        {
            "env": env.env,
            "version": env.version,
            "tasks": env.score.tasks,
            "trials": env.score.trials,
            "unscored": env.score.unscored,
            "infra": env.score.infra,
            "score": env.score.mean,
            "low": env.score.interval.low if env.score.interval else None,
            "high": env.score.interval.high if env.score.interval else None,
        }
        for env in summary.envs
    ]


def card_of(submission: Submission) -> RunCard:
    """Return the circumstances of a run, from its plan and its records."""
    plan = submission.plan
    code, config, model = plan.get("code", {}), plan.get("config", {}), plan.get("model", {})
    tallies = [env.tally for env in submission.summary.envs]
    sandboxes: Counter[str] = sum((tally.sandboxes for tally in tallies), Counter())
    retried = sum(
        count for t in tallies for (kind, _), count in t.causes.items() if kind == "retried"
    )
    place = Path(str(model.get("place") or "/nowhere"))
    tokenizer = _file_hash(place / "tokenizer.json")
    return RunCard(
        code_revision=str(code.get("git_revision") or ""),
        dirty=bool(code.get("dirty")),
        packages={
            str(name): str(version)
            for name, version in (code.get("packages") or {}).items()
            if version is not None
        }
        | ({"python": str(code["python"])} if code.get("python") else {}),
        hardware={
            str(name): value
            for name, value in (plan.get("hardware") or {}).items()
            if value is None or isinstance(value, int | float | str)
        },
        sandboxes=dict(sorted(sandboxes.items())),
        limits={
            str(name): value
            for name, value in (plan.get("limits") or {}).items()
            if value is None or type(value) in (int, float)
        },
        seeds=int(config.get("seeds") or 1),
        trials_per_task=int(config.get("trials") or 1),
        template_hash=_template_hash(place),
        tokenizer_hash=tokenizer,
        prices=str(plan.get("price_table") or ""),
        suite_version=str(plan.get("suite_version") or ""),
        retried=retried,
        judges_audited=_judges_audited(submission),
    )


def _judges_audited(submission: Submission) -> bool | None:
    found = [judgement.summary for judgement in submission.judged.found]
    return all(any(one.audits) and not one.withheld for one in found) if found else None


def _template_hash(place: Path) -> str:
    """Return the hash of a checkpoint's chat template; empty if it is not on this machine."""
    if (place / "chat_template.jinja").is_file():
        return _file_hash(place / "chat_template.jinja")
    try:
        config = json.loads((place / "tokenizer_config.json").read_bytes())
        template = config.get("chat_template")
    except (OSError, ValueError, AttributeError):
        return ""
    return hashlib.sha256(json.dumps(template).encode()).hexdigest() if template else ""


def _file_hash(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""
