"""Aggregation of trial records to scores: by environment, level, template and overall.

Summaries are computed from records alone, so they are reproducible; memory grows with the number
of tasks, not of trials. Comparison of summaries is left to `hexathlon.evaluators.statistics` and
the leaderboard.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hexathlon.evaluators.records.plan import TrialKey
from hexathlon.evaluators.records.trial import record_key
from hexathlon.evaluators.statistics import (
    Denominators,
    ScoreInterval,
    denominators,
    outcome_consistency,
    pass_at_k,
    pass_hat_k,
    score_interval,
)
from hexathlon.evaluators.tally import EnvTally, TaskCounts

RANKABLE_INFRA = 0.02
"""A result with a larger share of infrastructure failures gets no rank."""


@dataclass(frozen=True, slots=True)
class Score:
    """The score of a group of tasks."""

    tasks: int
    trials: int
    scored: int
    unscored: int
    infra: int
    interval: ScoreInterval | None
    """Over the scored trials; None if there are none."""
    bounds: Denominators
    pass_at: dict[int, float]
    """pass@k for k = 1, 2, 4 ... up to the number of scored trials that every task has."""
    pass_hat: dict[int, float]
    """pass^k for the same k."""
    consistency: float | None
    """Mean of (2p - 1)^2; None below two scored trials of every task."""
    partial: float | None
    """Mean partial credit over the tasks with partial credit; never part of the score."""

    @property
    def mean(self) -> float | None:
        """The headline: the mean over tasks of scored trials."""
        return None if self.interval is None else self.interval.mean

    @property
    def unrankable(self) -> str | None:
        """Why this score may not be ranked, or None."""
        if self.interval is None:
            return "no trial was scored"
        if self.infra > RANKABLE_INFRA * self.trials:
            return f"{self.infra} of {self.trials} trials are infrastructure failures"
        if self.bounds.high - self.bounds.low > self.interval.high - self.interval.low:
            return "missing evidence causes more uncertainty than chance does"
        return None


@dataclass(frozen=True, slots=True)
class EnvSummary:
    """One version of one environment within a run."""

    env: str
    version: str
    planned: int | None
    """Trials in the plan; None without a plan."""
    score: Score
    templates: dict[str, Score]
    levels: dict[str, Score]
    tally: EnvTally

    def task_means(self) -> dict[str, float]:
        """Return the mean score of each task that has a scored trial."""
        return {
            name: task.reward / task.scored
            for name, task in self.tally.tasks.items()
            if task.scored
        }

    def rank_means(self) -> dict[str, float]:
        """Return the mean score of each task, trials without a score counted as failed.

        Rankings use these, so that no row gains a place by trials without a score.
        """
        return {name: task.reward / task.trials for name, task in self.tally.tasks.items()}

    def clusters(self) -> dict[str, Hashable]:
        """Return the cluster (template) of each task."""
        return {name: task.template for name, task in self.tally.tasks.items()}


@dataclass(frozen=True, slots=True)
class Summary:
    """Summary of a whole run."""

    envs: tuple[EnvSummary, ...]
    overall: Score | None
    """All environments together, every task weighted equally; None for a run without records."""
    records: int

    def as_json(self) -> dict[str, Any]:
        """Return the summary as plain JSON, without per-task results."""
        return {
            "schema": "hexathlon.summary/1",
            "records": self.records,
            "overall": None if self.overall is None else dataclasses.asdict(self.overall),
            "envs": [_env_json(env) for env in self.envs],
        }


def _env_json(summary: EnvSummary) -> dict[str, Any]:
    tally = summary.tally
    return {
        "env": summary.env,
        "version": summary.version,
        "planned": summary.planned,
        "score": dataclasses.asdict(summary.score),
        "templates": {name: dataclasses.asdict(s) for name, s in summary.templates.items()},
        "levels": {name: dataclasses.asdict(s) for name, s in summary.levels.items()},
        "looks": {
            name: {"trials": look.scored, "mean": look.mean}
            for name, look in sorted(tally.looks.items())
        },
        "causes": [[*kind, count] for kind, count in sorted(tally.causes.items()) if count],
        "stops": {name: count for name, count in sorted(tally.stops.items()) if count},
        "flags": dict(sorted(tally.flags.items())),
        "faults": dict(sorted(tally.faults.items())),
        "usage": {role: dataclasses.asdict(use) for role, use in sorted(tally.usage.items())},
        "cost": tally.total_cost(),
        "seconds": {"mean": tally.seconds.mean, "p95": tally.seconds.quantile(0.95)},
        "latency": {"p50": tally.latencies.quantile(0.5), "p95": tally.latencies.quantile(0.95)},
        "turns": tally.turns,
        "tool_errors": tally.tool_errors,
        "cut_chars": tally.cut_chars,
    }


class Summariser:
    """Counts records one by one; `finish` returns the summary."""

    def __init__(self) -> None:
        self._tallies: dict[tuple[str, str], EnvTally] = {}
        self._failed_attempts: dict[TrialKey, dict[str, Any]] = {}
        self._records = 0

    def count(self, record: Mapping[str, Any]) -> None:
        """Count one record; a retry of an infrastructure failure replaces it."""
        key = record_key(record)
        earlier = self._failed_attempts.pop(key, None)
        if earlier is not None:
            self._tallies[key[0], earlier["env_version"]].uncount(earlier)
        version = record["env_version"]
        tally = self._tallies.get((key[0], version))
        if tally is None:
            tally = self._tallies[key[0], version] = EnvTally(key[0], version)
        tally.count(record)
        self._records += earlier is None
        if record["status"] == "infra":
            names = ("key", "status", "cause", "stop", "env_version", "partial", "reward")
            self._failed_attempts[key] = {name: record[name] for name in names}

    def finish(self, plan: Mapping[str, Any] | None = None) -> Summary:
        """Return the summary of the counted records; a plan adds the planned numbers."""
        planned: dict[str, int] | None = None
        if plan is not None:
            planned = {}
            for env, *_ in plan["keys"]:
                planned[env] = planned.get(env, 0) + 1
        tallies = [self._tallies[key] for key in sorted(self._tallies)]
        envs = tuple(
            _env_summary(tally, None if planned is None else planned.get(tally.env, 0))
            for tally in tallies
            if tally.tasks
        )
        tasks = [(t.env, task) for t in tallies for task in t.tasks.values()]
        overall = score_tasks([t for _, t in tasks], [env for env, _ in tasks]) if tasks else None
        return Summary(envs, overall, self._records)


def summarise(
    records: Iterable[Mapping[str, Any]], plan: Mapping[str, Any] | None = None
) -> Summary:
    """Return the summary of a stream of records, such as from `read_records`."""
    summariser = Summariser()
    for record in records:
        summariser.count(record)
    return summariser.finish(plan)


def _env_summary(tally: EnvTally, planned: int | None) -> EnvSummary:
    return EnvSummary(
        env=tally.env,
        version=tally.version,
        planned=planned,
        score=score_tasks(list(tally.tasks.values())),
        templates={name: score_tasks(tasks) for name, tasks in tally.by("template")},
        levels={name: score_tasks(tasks) for name, tasks in tally.by("level")},
        tally=tally,
    )


def score_tasks(tasks: Sequence[TaskCounts], envs: Sequence[str] | None = None) -> Score:
    """Return the score of a group of tasks, clustered by template.

    Within a single template the tasks themselves are the units.

    Args:
        tasks: The counts of each task, at least one.
        envs: Environment of each task, if there are several.
    """
    scored = [index for index, task in enumerate(tasks) if task.scored]
    values = [tasks[index].reward / tasks[index].scored for index in scored]
    names = [(envs[i] if envs else "", tasks[i].template) for i in scored]
    trials = [tasks[index].scored for index in scored]
    passed = [tasks[index].passed for index in scored]
    several = len(dict.fromkeys(names)) > 1
    counts = _powers_of_two(min(trials, default=0))
    shares = [task.partial / task.with_partial for task in tasks if task.with_partial]
    return Score(
        tasks=len(tasks),
        trials=sum(task.trials for task in tasks),
        scored=sum(trials),
        unscored=sum(task.unscored for task in tasks),
        infra=sum(task.infra for task in tasks),
        interval=score_interval(values, names if several else None, trials=sum(trials))
        if values
        else None,
        bounds=denominators(
            [task.reward for task in tasks],
            [task.scored for task in tasks],
            [task.unscored for task in tasks],
            [task.infra for task in tasks],
        ),
        pass_at={k: pass_at_k(passed, trials, k) for k in counts},
        pass_hat={k: pass_hat_k(passed, trials, k) for k in counts},
        consistency=outcome_consistency(passed, trials) if min(trials, default=0) > 1 else None,
        partial=math.fsum(shares) / len(shares) if shares else None,
    )


def _powers_of_two(limit: int) -> list[int]:
    counts = []
    k = 1
    while k <= limit:
        counts.append(k)
        k *= 2
    return counts
