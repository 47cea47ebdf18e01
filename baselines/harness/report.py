"""Summaries of a run as tables for a terminal, as Markdown and as JSON.

Everything is derived from plan and records, so a report can be rebuilt at any time.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from hexathlon.baselines.harness.errors import UsageError
from hexathlon.baselines.harness.tables import ReportTable
from hexathlon.baselines.rollout.faults import POLICIES
from hexathlon.envs.registry import short
from hexathlon.evaluators.anchors import CEILING_AGENT, FLOOR_AGENTS
from hexathlon.evaluators.judged.file import JudgedError
from hexathlon.evaluators.judged.results import JudgedSummary, judged_summaries
from hexathlon.evaluators.records import RecordError, read_records
from hexathlon.evaluators.records.plan import PLAN_FILE, PlanError, read_plan
from hexathlon.evaluators.statistics import normalised_score
from hexathlon.evaluators.summary import EnvSummary, Score, Summary, summarise
from hexathlon.tasks.validation import reason

__all__ = [
    "ANCHOR_FOLDER",
    "Anchors",
    "ReadRun",
    "anchor_folders",
    "anchor_runs",
    "anchors_of",
    "as_json",
    "markdown",
    "notes",
    "percent",
    "read_run",
    "same_trials",
    "span",
    "tables",
    "unscored_share",
]

ANCHOR_FOLDER = "anchors"


class ReadRun(NamedTuple):
    """A run directory, read and summarised."""

    path: Path
    plan: Mapping[str, Any]
    summary: Summary
    judged: tuple[JudgedSummary, ...] = ()
    """Results of judges, always reported separately from verified scores."""

    @property
    def label(self) -> str:
        """The model's name in tables."""
        model = self.plan["model"]
        kind = "" if model["kind"] in ("endpoint", "provider") else f"{model['kind']}:"
        return f"{kind}{model['name']}"


class Anchors(NamedTuple):
    """Reference scores by environment: the best trivial agent and the oracle."""

    floor: Mapping[str, tuple[str, float]]
    """(name, mean score) of the best trivial agent."""

    ceiling: Mapping[str, float]
    """Mean score of the oracle."""


def read_run(path: Path) -> ReadRun:
    """Read and summarise a run directory.

    Raises:
        UsageError: If it contains no run or no record, or cannot be read.
    """
    try:
        plan = read_plan(path)
        summary = summarise(read_records(path), plan)
        judged = tuple(judged_summaries(path))
    except (PlanError, RecordError, JudgedError) as error:
        raise UsageError(str(error)) from None
    except OSError as error:
        raise UsageError(f"cannot read {error.filename or path}: {reason(error)}") from None
    if not summary.envs:
        raise UsageError(f"{path} has a plan but no record yet; continue it with resume")
    return ReadRun(path, plan, summary, judged)


def anchors_of(runs: Sequence[ReadRun]) -> Anchors:
    """Return floor and ceiling from runs of built-in agents.

    Args:
        runs: The reported run first; agents that played different trials are ignored, as are
            other models.
    """
    floor: dict[str, tuple[str, float]] = {}
    ceiling: dict[str, float] = {}
    for run in runs:
        model = run.plan["model"]
        for env in run.summary.envs:
            mean = env.score.mean
            comparable = same_trials(runs[0].plan, run.plan, env.env)
            if model["kind"] != "agent" or mean is None or not comparable:
                continue
            if model["name"] == CEILING_AGENT:
                ceiling[env.env] = mean
            elif model["name"] in FLOOR_AGENTS and mean >= floor.get(env.env, ("", -1.0))[1]:
                floor[env.env] = (model["name"], mean)
    return Anchors(floor, ceiling)


def same_trials(a: Mapping[str, Any], b: Mapping[str, Any], env: str) -> bool:
    """Whether two plans have the same trials of an environment, whatever their order."""
    own, other = ({tuple(key) for key in plan["keys"] if key[0] == env} for plan in (a, b))
    return own == other


def anchor_runs(run: Path) -> list[ReadRun]:
    """Return the runs of built-in agents that `eval --with-anchors` stored with a run."""
    return [read_run(path) for path in anchor_folders(run)]


def anchor_folders(run: Path) -> list[Path]:
    """Return the run directories that `eval --with-anchors` stored with a run."""
    folder = run / ANCHOR_FOLDER
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if (path / PLAN_FILE).exists())


def tables(run: ReadRun, anchors: Anchors, *, details: bool = True) -> list[ReportTable]:
    """Return the tables of a report: scores first, then breakdowns, faults and usage.

    Without details: the scores and usage, and the unscored trials and judges' results if any.
    """
    envs = run.summary.envs
    report = [_scores(run, anchors)]
    if details:
        report.append(_denominators(run))
        report += [_breakdown(env, "level", env.levels) for env in envs]
        report += [_breakdown(env, "template", env.templates) for env in envs]
        report += [_looks(run), _faults(run), _endings(run), _usage(run), _judged(run)]
        report += [_criteria(judged) for judged in run.judged]
        return [table for table in report if table.rows]
    if any(env.score.unscored or env.score.infra or env.tally.flags for env in envs):
        report += [_denominators(run), _endings(run)]
    if any(env.tally.usage for env in envs):
        report.append(_usage(run))
    if run.judged:
        report.append(_judged(run))
    return report


def markdown(run: ReadRun, anchors: Anchors) -> str:
    """Return the report as Markdown."""
    plan = run.plan
    lines = [f"# {run.label}", "", f"Run {plan['run_id']}, plan {plan['plan_hash'][:16]}."]
    for table in tables(run, anchors):
        lines += ["", f"## {table.title}", ""]
        lines += ["| " + " | ".join(table.headings) + " |", "|" + " --- |" * len(table.headings)]
        lines += ["| " + " | ".join(map(_cell, row)) + " |" for row in table.rows]
    remarks = [f"- {remark}" for remark in notes(run)]
    if remarks:
        lines += ["", *remarks]
    return "\n".join(lines) + "\n"


def as_json(run: ReadRun, anchors: Anchors) -> dict[str, Any]:
    """Return the report as plain JSON."""
    names = ("run_id", "plan_hash", "created", "suite_version", "envs", "model", "agent", "limits")
    return {
        "run": {name: run.plan[name] for name in names},
        "summary": run.summary.as_json(),
        "floor": {
            env: {"agent": agent, "score": score} for env, (agent, score) in anchors.floor.items()
        },
        "ceiling": dict(anchors.ceiling),
        "judged": [judged.as_json() for judged in run.judged],
        "notes": list(notes(run)),
    }


def unscored_share(run: ReadRun) -> float:
    """Return the share of planned trials that have no score."""
    planned = len(run.plan["keys"])
    scored = sum(env.score.scored for env in run.summary.envs)
    return 1.0 - scored / planned if planned else 0.0


def notes(run: ReadRun) -> Iterator[str]:
    """Yield remarks that a reader of the scores needs: missing records, reasons for no rank."""
    for env in run.summary.envs:
        if env.score.unrankable:
            yield f"{short(env.env)} is not ranked: {env.score.unrankable}."
        if env.planned is not None and env.score.trials < env.planned:
            left = f"{env.planned - env.score.trials:,} of {env.planned:,}"
            yield f"{short(env.env)}: {left} planned trials have no record yet."
        yield from _empty_gold_note(env)


def _empty_gold_note(env: EnvSummary) -> Iterator[str]:
    """Count tasks with an empty expected answer separately: some rules accept any empty result."""
    empty = {name for name, task in env.tally.tasks.items() if task.empty_gold}
    if empty:
        means = env.task_means()
        there = [mean for name, mean in means.items() if name in empty]
        elsewhere = [mean for name, mean in means.items() if name not in empty]
        yield (
            f"{short(env.env)}: {len(empty):,} of {env.score.tasks:,} tasks have an empty expected "
            f"answer; score {percent(_mean(there))} on these, {percent(_mean(elsewhere))} on the "
            "others."
        )


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _scores(run: ReadRun, anchors: Anchors) -> ReportTable:
    headings = (
        "event", "tasks", "trials", "score", "95% interval", "floor", "ceiling", "norm.",
        "partial",
    )  # fmt: skip
    return ReportTable(
        f"Score of {run.label}",
        headings,
        tuple(_score_row(env, anchors) for env in run.summary.envs),
    )


def _score_row(env: EnvSummary, anchors: Anchors) -> tuple[str, ...]:
    score, interval = env.score, env.score.interval
    agent, floor = anchors.floor.get(env.env, ("", None))
    ceiling = anchors.ceiling.get(env.env)
    known = None not in (score.mean, floor, ceiling)
    normal = normalised_score(score.mean, floor, ceiling) if known else None  # type: ignore[arg-type]
    return (
        f"{short(env.env)} v{env.version}",
        f"{score.tasks:,}",
        f"{score.trials:,}",
        percent(score.mean),
        "" if interval is None else span(interval.low, interval.high),
        "" if floor is None else f"{percent(floor)} {agent}",
        percent(ceiling),
        percent(normal),
        percent(score.partial),
    )


def _denominators(run: ReadRun) -> ReportTable:
    """Scores with infrastructure failures counted as failed, excluded, and as bounds."""
    rows = []
    for env in run.summary.envs:
        bounds, score = env.score.bounds, env.score
        rows.append(
            (
                short(env.env),
                percent(bounds.infra_as_failure),
                percent(bounds.excluded),
                span(bounds.low, bounds.high),
                f"{score.scored:,}",
                f"{score.unscored:,}",
                f"{score.infra:,}",
                env.score.unrankable or "",
            )
        )
    headings = (
        "event", "infra as failed", "infra excluded", "bounds", "scored", "unscored", "infra",
        "unranked because",
    )  # fmt: skip
    return ReportTable("Three denominators", headings, tuple(rows))


def _breakdown(env: EnvSummary, kind: str, scores: Mapping[str, Score]) -> ReportTable:
    rows = []
    for name, score in scores.items():
        interval = score.interval
        between = "" if interval is None else span(interval.low, interval.high)
        k = max(score.pass_at, default=1)
        pass_k = f"{percent(score.pass_at[k])} / {percent(score.pass_hat[k])}" if k > 1 else ""
        row = (name, f"{score.tasks:,}", f"{score.trials:,}", percent(score.mean), between)
        rows.append((*row, pass_k))
    headings = (kind, "tasks", "trials", "score", "95% interval", "pass@k / pass^k")
    return ReportTable(f"{short(env.env)} by {kind}", headings, tuple(rows))


def _looks(run: ReadRun) -> ReportTable:
    """Scores by look, where an event has several, with the distance to the event's best look."""
    rows = []
    for env in run.summary.envs:
        looks = env.tally.looks_by_score
        best = looks[-1][1].mean if looks else 0.0
        rows += [
            (
                short(env.env),
                name,
                f"{look.scored:,}",
                percent(look.mean),
                f"-{percent(best - look.mean)}" if best > look.mean else "",
            )
            for name, look in looks
        ]
    headings = ("event", "look, worst first", "trials", "score", "below the best")
    return ReportTable("Looks", headings, tuple(rows))


def _faults(run: ReadRun) -> ReportTable:
    """Faults named by verifiers; a failed trial can have several."""
    rows = []
    for env in run.summary.envs:
        failed = sum(task.scored - task.passed for task in env.tally.tasks.values())
        rows += [
            (short(env.env), name.replace("_", " "), f"{count:,}", percent(count / failed))
            for name, count in sorted(env.tally.faults.items(), key=lambda item: (-item[1], item))
        ]
    return ReportTable(
        "Faults of failed trials", ("event", "fault", "trials", "of failed"), tuple(rows)
    )


def _endings(run: ReadRun) -> ReportTable:
    rows = []
    for env in run.summary.envs:
        stops = {name: count for name, count in sorted(env.tally.stops.items()) if count}
        rows += [(short(env.env), f"ended: {name}", f"{count:,}") for name, count in stops.items()]
        for (status, cause), count in sorted(env.tally.causes.items()):
            if count:
                blame = POLICIES[cause].blame if cause in POLICIES else "unknown"
                what = f"{'' if status == 'retried' else 'without a score: '}{status}, {cause}"
                rows.append((short(env.env), f"{what} (blame: {blame})", f"{count:,}"))
        rows += [
            (short(env.env), f"flag: {name}", f"{count:,}")
            for name, count in sorted(env.tally.flags.items())
        ]
    return ReportTable("How trials ended", ("event", "what", "trials"), tuple(rows))


def _usage(run: ReadRun) -> ReportTable:
    rows = []
    for env in run.summary.envs:
        tally = env.tally
        seconds, latency, cost = tally.seconds, tally.latencies, tally.total_cost()
        trial = (_seconds(seconds.mean), _seconds(seconds.quantile(0.95)))
        rows += [
            (
                short(env.env),
                role,
                f"{use.calls:,}",
                f"{use.input:,}",
                f"{use.output:,}",
                "unknown" if cost is None else f"{cost:.4f}",
                *trial,
                _seconds(latency.quantile(0.5)),
                _seconds(latency.quantile(0.95)),
            )
            for role, use in sorted(tally.usage.items())
        ]
        if not tally.usage:
            rows.append((short(env.env), "agent", "", "", "", "", *trial, "", ""))
    headings = (
        "event", "role", "calls", "tokens in", "out", "cost", "s/trial", "p95", "s/call", "p95",
    )  # fmt: skip
    return ReportTable("Usage", headings, tuple(rows))


def _judged(run: ReadRun) -> ReportTable:
    rows = []
    for judged in run.judged:
        low, high = judged.bounds or (None, None)
        cost = judged.usage["cost"]
        rows.append(
            (
                judged.judge,
                f"{judged.kind}, {', '.join(judged.rubrics)}",
                f"{judged.scored:,} of {judged.trials:,}",
                "" if judged.mean is None else percent(judged.mean.value),
                "" if judged.mean is None else span(judged.mean.low, judged.mean.high),
                "" if low is None or high is None else span(low, high),
                f"{judged.usage['calls']:,}",
                "unknown" if cost is None else f"{cost:.4f}",
                "; ".join(judged.remarks),
            )
        )
    headings = (
        "judge", "method", "scored", "score", "95% interval", "bounds", "calls", "cost", "remarks",
    )  # fmt: skip
    return ReportTable("Judged, not verified", headings, tuple(rows))


def _criteria(judged: JudgedSummary) -> ReportTable:
    rows = []
    for criterion in judged.criteria:
        labels = ", ".join(f"{label} {count:,}" for label, count in criterion.counts.items())
        audit = "experimental" if criterion.experimental else "audited"
        rows.append((criterion.name, labels, "by code" if criterion.by_code else audit))
    return ReportTable(f"Criteria by {judged.judge}", ("criterion", "labels", "state"), tuple(rows))


def percent(value: float | None) -> str:
    """Format a share as a percentage; empty for None."""
    return "" if value is None else f"{100 * value:.1f}%"


def span(low: float, high: float) -> str:
    """Format an interval of shares as percentages; ends may be negative, so `…` separates them."""
    return f"{100 * low:.1f}…{100 * high:.1f}%"


def _seconds(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
