"""Says what a run came to: as rows for a terminal, as Markdown, as JSON.

All of it is derived from plan and records, so it can be made again at any time.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from hexathlon.baselines.harness.environments import short
from hexathlon.baselines.harness.errors import UsageError
from hexathlon.baselines.rollout.faults import POLICIES
from hexathlon.evaluators.judged.file import JudgedError
from hexathlon.evaluators.judged.results import JudgedSummary, judged_summaries
from hexathlon.evaluators.records import RecordError, read_records
from hexathlon.evaluators.records.plan import PLAN_FILE, PlanError, read_plan
from hexathlon.evaluators.statistics import normalised_score
from hexathlon.evaluators.summary import EnvSummary, Score, Summary, summarise

__all__ = [
    "ANCHOR_FOLDER",
    "Anchors",
    "ReadRun",
    "ReportTable",
    "anchor_folders",
    "anchor_runs",
    "anchors_of",
    "as_json",
    "markdown",
    "notes",
    "percent",
    "read_run",
    "span",
    "tables",
    "unscored_share",
]

FLOOR_AGENTS = ("noop", "random", "dump", "majority")
ANCHOR_FOLDER = "anchors"


class ReadRun(NamedTuple):
    """A run folder, read and summarised."""

    path: Path
    plan: Mapping[str, Any]
    summary: Summary
    judged: tuple[JudgedSummary, ...] = ()
    """What judges say; stands beside the verified scores and never among them."""

    @property
    def label(self) -> str:
        """The model's name as tables show it."""
        model = self.plan["model"]
        kind = "" if model["kind"] == "endpoint" else f"{model['kind']}:"
        return f"{kind}{model['name']}"


class Anchors(NamedTuple):
    """What stands beside a score: by environment, the best trivial agent and the oracle."""

    floor: Mapping[str, tuple[str, float]]
    ceiling: Mapping[str, float]


class ReportTable(NamedTuple):
    """A table for any medium: headings and rows of text."""

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def read_run(path: Path) -> ReadRun:
    """Read and summarise a run folder.

    Raises:
        UsageError: It holds no run, or no record yet.
    """
    try:
        plan = read_plan(path)
        summary = summarise(read_records(path), plan)
        judged = tuple(judged_summaries(path))
    except (PlanError, RecordError, JudgedError, OSError) as error:
        raise UsageError(str(error)) from None
    if not summary.envs:
        raise UsageError(f"{path} holds a plan but no record yet; continue it with resume")
    return ReadRun(path, plan, summary, judged)


def anchors_of(runs: Sequence[ReadRun]) -> Anchors:
    """Return floor and ceiling from runs of the built-in agents; other runs are passed over."""
    floor: dict[str, tuple[str, float]] = {}
    ceiling: dict[str, float] = {}
    for run in runs:
        model = run.plan["model"]
        for env in run.summary.envs:
            mean = env.score.mean
            if model["kind"] != "agent" or mean is None:
                continue
            if model["name"] == "oracle":
                ceiling[env.env] = mean
            elif model["name"] in FLOOR_AGENTS and mean >= floor.get(env.env, ("", -1.0))[1]:
                floor[env.env] = (model["name"], mean)
    return Anchors(floor, ceiling)


def anchor_runs(run: Path) -> list[ReadRun]:
    """Return the runs of built-in agents that `eval --with-anchors` put beside a run."""
    return [read_run(path) for path in anchor_folders(run)]


def anchor_folders(run: Path) -> list[Path]:
    """Return the run folders that `eval --with-anchors` put beside a run."""
    folder = run / ANCHOR_FOLDER
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if (path / PLAN_FILE).exists())


def tables(run: ReadRun, anchors: Anchors, *, details: bool = True) -> list[ReportTable]:
    """Return the tables of a report: scores first, then parts, faults and usage.

    Without details, only the scores, what is missing if anything is, and what models used.
    """
    envs = run.summary.envs
    made = [_scores(run, anchors)]
    if details:
        made.append(_missing_evidence(run))
        made += [_parts(env, "level", env.levels) for env in envs]
        made += [_parts(env, "template", env.templates) for env in envs]
        made += [_faults(run), _endings(run), _usage(run), _judged(run)]
        made += [_criteria(one) for one in run.judged]
        return [table for table in made if table.rows]
    if any(env.score.unscored or env.score.infra or env.tally.flags for env in envs):
        made += [_missing_evidence(run), _endings(run)]
    if any(env.tally.usage for env in envs):
        made.append(_usage(run))
    if run.judged:
        made.append(_judged(run))
    return made


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
            env: {"agent": one, "score": score} for env, (one, score) in anchors.floor.items()
        },
        "ceiling": dict(anchors.ceiling),
        "judged": [one.as_json() for one in run.judged],
        "notes": list(notes(run)),
    }


def unscored_share(run: ReadRun) -> float:
    """Return the share of planned trials that have no score."""
    planned = len(run.plan["keys"])
    scored = sum(env.score.scored for env in run.summary.envs)
    return 1.0 - scored / planned if planned else 0.0


def notes(run: ReadRun) -> Iterator[str]:
    """Yield what must be said beside the figures."""
    for env in run.summary.envs:
        if env.score.unrankable:
            yield f"{short(env.env)} gets no rank: {env.score.unrankable}."
        if env.planned is not None and env.score.trials < env.planned:
            left = f"{env.planned - env.score.trials:,} of {env.planned:,}"
            yield f"{short(env.env)}: {left} planned trials have no record yet."


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


def _missing_evidence(run: ReadRun) -> ReportTable:
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
        "event", "spoilt as failed", "spoilt left out", "bounds", "scored", "unscored", "spoilt",
        "no rank because",
    )  # fmt: skip
    return ReportTable("Three denominators", headings, tuple(rows))


def _parts(env: EnvSummary, kind: str, parts: Mapping[str, Score]) -> ReportTable:
    rows = []
    for name, score in parts.items():
        interval = score.interval
        between = "" if interval is None else span(interval.low, interval.high)
        k = max(score.pass_at, default=1)
        several = (f"{percent(score.pass_at[k])} / {percent(score.pass_hat[k])}" if k > 1 else "",)
        row = (name, f"{score.tasks:,}", f"{score.trials:,}", percent(score.mean), between)
        rows.append((*row, *several))
    headings = (kind, "tasks", "trials", "score", "95% interval", "pass@k / pass^k")
    return ReportTable(f"{short(env.env)} by {kind}", headings, tuple(rows))


def _faults(run: ReadRun) -> ReportTable:
    """What verifiers say was wrong; one failed trial can have several faults."""
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
    for one in run.judged:
        low, high = one.bounds or (None, None)
        cost = one.usage["cost"]
        rows.append(
            (
                one.judge,
                f"{one.kind}, {', '.join(one.rubrics)}",
                f"{one.scored:,} of {one.trials:,}",
                "" if one.mean is None else percent(one.mean.value),
                "" if one.mean is None else span(one.mean.low, one.mean.high),
                "" if low is None or high is None else span(low, high),
                f"{one.usage['calls']:,}",
                "unknown" if cost is None else f"{cost:.4f}",
                "; ".join(one.remarks),
            )
        )
    headings = (
        "judge", "how", "scored", "judged", "95% interval", "bounds", "calls", "cost", "but",
    )  # fmt: skip
    return ReportTable("Judged, not verified", headings, tuple(rows))


def _criteria(judged: JudgedSummary) -> ReportTable:
    rows = []
    for one in judged.criteria:
        said = ", ".join(f"{label} {count:,}" for label, count in one.counts.items())
        state = "by code" if one.by_code else "experimental" if one.experimental else "audited"
        rows.append((one.name, said, state))
    return ReportTable(f"Criteria by {judged.judge}", ("criterion", "labels", "state"), tuple(rows))


def percent(value: float | None) -> str:
    """Write a share as a percentage; nothing where there is none."""
    return "" if value is None else f"{100 * value:.1f}%"


def span(low: float, high: float) -> str:
    """Write an interval of shares; a difference may be negative, so the ends stand apart."""
    return f"{100 * low:.1f}…{100 * high:.1f}%"


def _seconds(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
