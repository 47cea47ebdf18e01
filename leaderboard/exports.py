"""The data of a site in common formats: JSON, CSV, Every Eval Ever and, with pyarrow, Parquet."""

from __future__ import annotations

import csv
import importlib
import importlib.util
import io
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from hexathlon.evaluators.records.canonical import canonical_json, encode_text
from hexathlon.evaluators.summary import Score
from hexathlon.leaderboard.boards import Board
from hexathlon.leaderboard.rows import BoardRow
from hexathlon.leaderboard.submission import Submission

__all__ = ["board_json", "csv_bytes", "every_eval_ever", "parquet_bytes"]

EVERY_EVAL_EVER = "0.3.0"
"""Version of the schema whose fields `every_eval_ever` writes."""
_COLUMNS = (
    "env", "version", "plan", "submission", "name", "team", "date", "verified", "reference",
    "best", "worst", "unranked", "score", "low", "high", "normalised", "tasks", "trials",
    "unscored", "infra", "bound_low", "bound_high", "infra_as_failure", "tokens", "cost",
    "latency", "plan_hash", "head",
)  # fmt: skip


def board_json(boards: Sequence[Board], rejected: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Return all boards with their rows as plain JSON."""
    return {
        "schema": "hexathlon.board/1",
        "boards": [
            {
                "env": board.env,
                "title": board.title,
                "version": board.version,
                "tasksets": list(board.tasksets),
                "floor": board.floor,
                "ceiling": board.ceiling,
                "plan": board.plan or None,
                "resolution": _resolution(board),
                "predictable": board.predictable and board.predictable._asdict(),
                "rows": [row_json(row) for row in board.rows],
            }
            for board in boards
        ],
        "rejected": [{"run": name, "reason": reason} for name, reason in rejected],
    }


def _resolution(board: Board) -> dict[str, Any] | None:
    found = board.resolution
    if found is None:
        return None
    return {
        "neighbours": found.neighbours,
        "separated": found.separated,
        "groups": found.groups,
        "detectable": found.detectable,
        "noise": found.noise,
        "repeated": [[one.name, one.runs, one.largest] for one in found.repeated],
    }


def row_json(row: BoardRow) -> dict[str, Any]:
    """Return a row as plain JSON."""
    score = row.score
    return {
        "submission": row.submission.slug,
        "name": row.submission.name,
        "plan_hash": row.submission.plan["plan_hash"],
        "head": row.submission.head,
        "team": row.submission.team,
        "date": row.submission.date,
        "verified": row.submission.verified,
        "obstacle": row.submission.obstacle or None,
        "rerun_by": list(row.submission.rerun_by),
        "best": row.best,
        "worst": row.worst,
        "unranked": row.unranked,
        "reference": row.submission.reference,
        "flags": list(row.flags),
        "score": score.mean,
        "low": score.interval.low if score.interval else None,
        "high": score.interval.high if score.interval else None,
        "normalised": row.normalised,
        "tasks": score.tasks,
        "trials": score.trials,
        "unscored": score.unscored,
        "infra": score.infra,
        "bounds": [score.bounds.low, score.bounds.high],
        "infra_as_failure": score.bounds.infra_as_failure,
        "pass_at": {str(k): value for k, value in score.pass_at.items()},
        "pass_hat": {str(k): value for k, value in score.pass_hat.items()},
        "tokens": row.tokens,
        "cost": row.cost,
        "latency": row.latency,
        "judged": [one.as_json() for one in row.submission.judged.of(row.result.env)],
    }


def _flat(boards: Sequence[Board]) -> Iterator[dict[str, Any]]:
    for board in boards:
        for row in board.rows:
            one = row_json(row)
            low, high = one.pop("bounds")
            found = {"env": board.env, "version": board.version, "plan": board.plan or None}
            found |= {"bound_low": low, "bound_high": high, **one}
            yield {name: found[name] for name in _COLUMNS}


def csv_bytes(boards: Sequence[Board]) -> bytes:
    """Return one line per row of every board.

    Texts that a spreadsheet would take for a formula are preceded by an apostrophe.
    """
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, _COLUMNS, lineterminator="\n")
    writer.writeheader()
    for row in _flat(boards):
        writer.writerow({name: _harmless(value) for name, value in row.items()})
    return text.getvalue().encode("utf-8", "backslashreplace")


def _harmless(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value[:1] in "=+-@\t\r" and value else value


def parquet_bytes(boards: Sequence[Board]) -> bytes | None:
    """Return the lines of `csv_bytes` as Parquet; None if pyarrow is not installed."""
    if importlib.util.find_spec("pyarrow") is None:
        return None
    arrow = importlib.import_module("pyarrow")
    sink = io.BytesIO()
    table = arrow.Table.from_pylist(list(_flat(boards)))
    importlib.import_module("pyarrow.parquet").write_table(table, sink)
    return sink.getvalue()


def every_eval_ever(boards: Sequence[Board]) -> bytes:
    """Return one line per submission with a rank or a reference role, in that project's form."""
    found: dict[str, list[tuple[Board, BoardRow]]] = {}
    for board in boards:
        for row in board.rows:
            if row.score.mean is not None:
                found.setdefault(row.submission.slug, []).append((board, row))
    lines = (canonical_json(_aggregate(slug, rows)) + "\n" for slug, rows in found.items())
    return encode_text("".join(lines))


def _aggregate(slug: str, rows: Sequence[tuple[Board, BoardRow]]) -> dict[str, Any]:
    run = rows[0][1].submission
    moment = str(_epoch(run.plan.get("created")))
    # The collection refuses an unknown developer; a run's own export names the kind of model, too.
    kind = run.plan.get("model", {}).get("kind")
    developer, model = _portable(run.team or str(kind or "unknown")), _portable(run.name)
    return {
        "schema_version": EVERY_EVAL_EVER,
        "evaluation_id": f"hexathlon/{slug}/{moment}",
        "evaluation_timestamp": moment,
        "retrieved_timestamp": moment,
        "source_metadata": {
            "source_name": "Hexathlon",
            "source_type": "evaluation_run",
            "source_organization_name": run.team or "unknown",
            "evaluator_relationship": "other",
        },
        "eval_library": {
            "name": "hexathlon",
            "version": str(run.plan.get("suite_version") or "unknown"),
        },
        "model_info": {
            "name": run.name,
            "id": f"{developer}/{model}",
            "developer": developer,
            "additional_details": {
                "deployment_type": "unknown",
                "model_availability": _availability(run),
            },
        },
        "evaluation_results": [_result(board, row) for board, row in rows],
    }


def _portable(name: str) -> str:
    """Return a name as a part of a path, which the collection makes of a model's id."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.") or "unnamed"


def _availability(run: Submission) -> str:
    """Return whether the weights are open, as far as that is stated or evident."""
    stated = None if run.entry is None else run.entry.stated.model.open_weights
    if stated is None and run.weights == "open":
        stated = True
    return {True: "open_weights", False: "closed_weights", None: "unknown"}[stated]


def _result(board: Board, row: BoardRow) -> dict[str, Any]:
    score = row.score
    interval = score.interval
    facts = {
        "rank_best": row.best,
        "rank_worst": row.worst,
        "unranked": row.unranked,
        "low": interval.low if interval else None,
        "high": interval.high if interval else None,
        "tasks": score.tasks,
        "trials": score.trials,
        "floor": board.floor,
        "ceiling": board.ceiling,
        "head": row.submission.head,
    }
    return {
        "evaluation_name": f"{board.env} version {board.version}",
        "source_data": {
            "dataset_name": ", ".join(board.tasksets) or board.env,
            "source_type": "other",
        },
        "metric_config": {
            "metric_id": "mean_reward",
            "metric_name": "mean reward",
            "evaluation_description": "mean over tasks of the mean over scored trials",
            "lower_is_better": False,
            "score_type": "continuous",
            "min_score": 0.0,
            "max_score": 1.0,
        },
        "score_details": {
            "score": score.mean,
            **_uncertainty(score),
            "details": {name: str(value) for name, value in facts.items() if value is not None},
        },
    }


def _uncertainty(score: Score) -> dict[str, Any]:
    if score.interval is None:
        return {}
    low, high = score.interval.low, score.interval.high
    bounds = {"lower": low, "upper": high, "confidence_level": 0.95}
    return {"uncertainty": {"confidence_interval": bounds, "num_samples": score.scored}}


def _epoch(created: Any) -> int:
    try:
        moment = datetime.fromisoformat(str(created))
    except ValueError:
        return 0
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())
