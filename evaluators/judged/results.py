"""Summaries of judged files for reports; judged scores never count as verified.

A judge that decided a planted control wrongly, or whose audit shows that it cannot judge, gets no
score at all: a number with a caveat would still be read as a number.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from hexathlon.evaluators.judged.file import (
    JudgedFile,
    judged_files,
    last_of_controls,
    last_of_trials,
    read_judged,
)
from hexathlon.evaluators.judges.aggregate import mean_score
from hexathlon.evaluators.judges.audit.estimates import Estimate, score_estimate

__all__ = ["CriterionSummary", "JudgedSummary", "judged_summaries", "summarise_judged"]


class CriterionSummary(NamedTuple):
    """Labels of one criterion over all trials."""

    name: str
    counts: Mapping[str, int]
    """Number of trials by label; `unscored` for those without a label."""

    experimental: bool
    """Whether audits do not establish the judge's agreement with the labels on it."""

    by_code: bool
    """Whether code decides the criterion."""


class JudgedSummary(NamedTuple):
    """Judged scores of a run by one judge or panel."""

    file: str
    judge: str
    kind: str
    rubrics: tuple[str, ...]
    trials: int
    scored: int
    mean: Estimate | None
    """Mean score of the scored trials, clustered by task; None if withheld."""

    bounds: tuple[float, float] | None
    """Mean with undecided criteria at their worst and at their best; None if withheld."""

    criteria: tuple[CriterionSummary, ...]
    """Without those that the judge decided, if withheld."""

    usage: Mapping[str, Any]
    remarks: tuple[str, ...]
    """Objections to the score; empty if there are none."""

    audits: tuple[str | None, ...]
    withheld: tuple[str, ...] = ()
    """Why the judge's decisions are not published; empty if they are."""

    def as_json(self) -> dict[str, Any]:
        """Return the summary as plain JSON."""
        return {
            **self._asdict(),
            "mean": None if self.mean is None else self.mean.as_json(),
            "criteria": [criterion._asdict() for criterion in self.criteria],
            "rubrics": list(self.rubrics),
            "remarks": list(self.remarks),
            "withheld": list(self.withheld),
            "audits": list(self.audits),
            "bounds": None if self.bounds is None else list(self.bounds),
        }


def judged_summaries(run: Path) -> list[JudgedSummary]:
    """Return a summary of every judged file of a run.

    Raises:
        JudgedError: If a file was changed after it was written.
    """
    return [summarise_judged(read_judged(path)) for path in judged_files(run)]


def summarise_judged(file: JudgedFile) -> JudgedSummary:
    """Return the summary of one judged file."""
    header, lines = file.header, file.lines
    trials = last_of_trials(lines)
    scored = [line for line in trials if line["score"] is not None]
    controls = last_of_controls(lines)
    judges = header["judges"]
    aggregators = {row["aggregator"] for row in header["rubrics"].values()}
    withheld = tuple(_reasons_to_withhold(header, controls))
    criteria = _criteria(header, trials)
    return JudgedSummary(
        file.path.name,
        " + ".join(str(judge["model"]) for judge in judges) or "code",
        str(header["kind"]),
        tuple(f"{row['id']} v{row['version']}" for row in header["rubrics"].values()),
        len(trials),
        len(scored),
        None if withheld else _mean(scored, header),
        None if withheld else _bounds(trials, aggregators),
        tuple(row for row in criteria if row.by_code or not withheld),
        _usage(lines),
        (*(f"withheld: {why}" for why in withheld), *_remarks(header, trials, controls)),
        tuple(header["audits"]),
        withheld,
    )


def _mean(scored: Sequence[Mapping[str, Any]], header: Mapping[str, Any]) -> Estimate | None:
    """Return the mean over trials, clustered by task."""
    tasks = [line["key"]["task"] for line in scored]
    scores = [float(line["score"]) for line in scored]
    return score_estimate(scores, tasks, lowest=_lowest_score(header))


def _lowest_score(header: Mapping[str, Any]) -> float:
    """Return the lowest score that a rubric of the file gives; only HealthBench's is below 0."""
    lowest = 0.0
    for rubric in header["rubrics"].values():
        if rubric["aggregator"] == "healthbench":
            weights = [float(criterion["weight"]) for criterion in rubric["criteria"]]
            pitfalls = math.fsum(weight for weight in weights if weight < 0)
            lowest = min(lowest, pitfalls / math.fsum(weight for weight in weights if weight > 0))
    return lowest


def _bounds(
    trials: Sequence[Mapping[str, Any]], aggregators: set[str]
) -> tuple[float, float] | None:
    if not trials or len(aggregators) != 1:
        return None
    (name,) = aggregators
    low = mean_score(name, [float(line["bounds"][0]) for line in trials])
    return low, mean_score(name, [float(line["bounds"][1]) for line in trials])


def _criteria(
    header: Mapping[str, Any], trials: Sequence[Mapping[str, Any]]
) -> list[CriterionSummary]:
    counts: dict[str, Counter[str]] = {}
    for line in trials:
        for row in line["judges"]:
            label = row["label"] or "unscored"
            counts.setdefault(row["criterion"], Counter())[label] += 1
    by_code = {
        criterion["id"]
        for rubric in header["rubrics"].values()
        for criterion in rubric["criteria"]
        if criterion["check"] is not None
    }
    experimental = set(header["experimental"])
    return [
        CriterionSummary(name, dict(sorted(row.items())), name in experimental, name in by_code)
        for name, row in counts.items()
    ]


def _usage(lines: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the total usage and the latencies of the judge over all sessions."""
    rows = [line for line in lines if "usage" in line]
    costs = [row["usage"]["cost"] for row in rows]
    latencies = sorted(
        value for row in rows for value in row.get("timing", {}).get("latencies", ())
    )
    return {
        "calls": sum(row["usage"]["calls"] for row in rows),
        "input": sum(row["usage"]["input"] for row in rows),
        "output": sum(row["usage"]["output"] for row in rows),
        "cost": None if not rows or None in costs else math.fsum(costs),
        "latency_p50": latencies[len(latencies) // 2] if latencies else None,
        "latency_max": latencies[-1] if latencies else None,
    }


def _reasons_to_withhold(
    header: Mapping[str, Any], controls: Sequence[Mapping[str, Any]]
) -> Iterator[str]:
    missed = sum(control["label"] is not None and not control["hit"] for control in controls)
    undecided = sum(control["label"] is None for control in controls)
    if missed:
        yield f"{missed} of {len(controls)} planted controls decided wrongly"
    if undecided:
        yield f"{undecided} of {len(controls)} planted controls undecided"
    # Older files lack this field.
    yield from (f"audit: {why}" for why in header.get("rejected", ()))


def _remarks(
    header: Mapping[str, Any],
    trials: Sequence[Mapping[str, Any]],
    controls: Sequence[Mapping[str, Any]],
) -> list[str]:
    if not header["judges"]:
        return []
    remarks = []
    if not header["audited"]:
        remarks.append("unaudited")
    elif header["experimental"]:
        remarks.append(f"experimental: {', '.join(header['experimental'])}")
    if header["kinship"] == "same":
        remarks.append("judge and agent belong to the same model family")
    elif header["kinship"] == "unknown":
        remarks.append("the model family of judge or agent is unknown")
    if not controls:
        remarks.append("no planted controls")
    undecided = sum(line["score"] is None for line in trials)
    if undecided:
        remarks.append(f"{undecided} of {len(trials)} trials undecided")
    return remarks
