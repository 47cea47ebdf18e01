"""Comparison of runs on shared tasks: paired differences with Holm's correction."""

import os
from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from hexathlon.baselines.harness.errors import UsageError
from hexathlon.baselines.harness.report import ReadRun, read_run
from hexathlon.evaluators.statistics import PairedComparison, holm, paired_comparison
from hexathlon.evaluators.summary import EnvSummary

__all__ = ["RunComparison", "compare_runs"]


class RunComparison(NamedTuple):
    """Paired comparison of two runs on one environment."""

    env: str
    a: str
    b: str
    result: PairedComparison
    """A minus B."""

    adjusted: float
    """The p-value after Holm's correction over all comparisons of the call."""

    warning: str
    """Why the comparison may be misleading; empty if there is no reason."""

    def as_json(self) -> dict[str, Any]:
        """Return the comparison as plain JSON."""
        result = {name: getattr(self.result, name) for name in self.result.__dataclass_fields__}
        result["se"] = None if result["se"] != result["se"] else result["se"]
        return {
            "env": self.env,
            "a": self.a,
            "b": self.b,
            **result,
            "p_holm": self.adjusted,
            "warning": self.warning,
        }


def compare_runs(runs: Sequence[Path]) -> list[RunComparison]:
    """Compare the first run with each of the others, environment by environment.

    Raises:
        UsageError: If a directory contains no run, or two runs have no task in common.
    """
    if len(runs) < 2:
        raise UsageError("compare needs at least two runs")
    for place, run in enumerate(runs):
        if os.path.realpath(run) in map(os.path.realpath, runs[:place]):
            raise UsageError(f"{run} is named twice: expected different runs")
    first, *others = [read_run(run) for run in runs]
    rows: list[tuple[str, str, str, PairedComparison, str]] = []
    for other in others:
        shared = [(a, b) for a in first.summary.envs for b in other.summary.envs if a.env == b.env]
        if not shared:
            raise UsageError(f"{first.path} and {other.path} have no environment in common")
        rows += [
            (a.env, first.label, other.label, _paired(a, b), _warning(first, other, a, b))
            for a, b in shared
        ]
    adjusted = holm([row[3].p_value for row in rows])
    return [
        RunComparison(env, a, b, result, p, warning)
        for (env, a, b, result, warning), p in zip(rows, adjusted, strict=True)
    ]


def _paired(a: EnvSummary, b: EnvSummary) -> PairedComparison:
    means_a, means_b = a.task_means(), b.task_means()
    shared = sorted(set(means_a) & set(means_b))
    if not shared:
        raise UsageError(f"the runs have no scored task of {a.env} in common")
    clusters: Mapping[str, Hashable] = a.clusters()
    several = len({clusters[task] for task in shared}) > 1
    single = all(_single(summary, shared) for summary in (a, b))
    return paired_comparison(
        means_a, means_b, clusters if several else None, single_binary=single and not several
    )


def _single(summary: EnvSummary, tasks: Sequence[str]) -> bool:
    """Return whether each task has one scored trial, with reward 0 or 1."""
    counts = [summary.tally.tasks[task] for task in tasks]
    return all(task.scored == 1 and task.reward in (0.0, 1.0) for task in counts)


def _warning(first: ReadRun, other: ReadRun, a: EnvSummary, b: EnvSummary) -> str:
    if a.version != b.version:
        return f"environment versions differ: {a.version} and {b.version}"
    hashes = [
        {row["id"]: row["taskset_hash"] for row in run.plan["envs"]} for run in (first, other)
    ]
    if hashes[0].get(a.env) != hashes[1].get(a.env):
        return "the task sets differ"
    return next(filter(None, (a.score.unrankable, b.score.unrankable)), "")
