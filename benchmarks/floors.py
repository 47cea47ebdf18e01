"""Tables of floors: scores of the trivial agents, and how predictable endings are from ids.

    hexathlon eval agent:oracle --envs SQL --tasks 510 --with-anchors --out runs/floors/SQL
    python benchmarks/floors.py runs/floors/*

Scores and intervals are those of the runs' records, as on a leaderboard. Classifiers predict how
each of the oracle's episodes ends, from the whole id, from the part of it that agents see, and from
the rest of their view. Output is Markdown.
"""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from hexathlon.baselines.harness.report import anchor_runs, read_run
from hexathlon.envs.plugins import load_plugins
from hexathlon.envs.testing.forecasting import WHOLE_ID, Foreknown, endings, forecasts
from hexathlon.envs.testing.identity_checks import number_findings
from hexathlon.envs.testing.solving import Solved
from hexathlon.evaluators.anchors import CEILING_AGENT, FLOOR_AGENTS
from hexathlon.evaluators.content import described
from hexathlon.evaluators.records import read_records
from hexathlon.evaluators.summary import EnvSummary
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.source import parse_address


def forecast(run: Path) -> dict[str, list[bool]]:
    """Return which endings of a run each classifier predicts, as on a board."""
    records = list(read_records(run))
    known = [
        Foreknown.of_record(
            record["key"]["task"],
            record["level"],
            record["task_hash"],
            described(record["opening"]),
        )
        for record in records
    ]
    return forecasts(known, endings([[s["action"] for s in r["steps"]] for r in records]))


def solved(run: Path) -> Iterator[Solved]:
    """Build the tasks of a run, and yield its episodes as the conformance kit records them."""
    for record in read_records(run):
        task_id = record["key"]["task"]
        task = get_source(parse_address(task_id).source).build(task_id)
        actions = tuple(step["action"] for step in record["steps"])
        yield Solved(task, record["opening"], actions, record["reward"], record["status"])


def played(run: Path) -> tuple[Path, dict[str, EnvSummary]]:
    """Return the directory of the oracle's run, and the summaries of all agents by name."""
    runs = {one.plan["model"]["name"]: one for one in (read_run(run), *anchor_runs(run))}
    summaries = {name: one.summary.envs[0] for name, one in runs.items()}
    return runs[CEILING_AGENT].path, summaries


def percent(share: float) -> str:
    return f"{share:.1%}".replace("%", " %")


def mean(summary: EnvSummary | None) -> float:
    """Return an agent's score; -1 if it did not play or has none."""
    return -1.0 if summary is None or summary.score.mean is None else summary.score.mean


def scored(summary: EnvSummary | None) -> str:
    return "–" if mean(summary) < 0 else percent(mean(summary))


def bounded(summary: EnvSummary) -> str:
    interval = summary.score.interval
    if interval is None:
        return "–"
    return f"{percent(interval.mean)} ({100 * interval.low:.1f}–{100 * interval.high:.1f})"


def row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |\n"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("runs", nargs="+", type=Path, help="oracle runs of `eval --with-anchors`")
    parser.add_argument(
        "--numbers", action="store_true", help="build all tasks, and test every bit of their seeds"
    )
    options = parser.parse_args()
    load_plugins()
    scores, predicted, findings = [], [], []
    headings: list[str] = []
    for run in options.runs:
        path, found = played(run)
        event = found[CEILING_AGENT].env.rpartition("/")[2]
        trivial = [found.get(agent) for agent in FLOOR_AGENTS]
        floor = max(filter(None, trivial), key=mean)
        cells = [*map(scored, trivial), bounded(floor), bounded(found[CEILING_AGENT])]
        right = forecast(path)
        headings, tasks = list(right), str(len(right[WHOLE_ID]))
        scores.append([event, tasks, *cells])
        shares = (percent(sum(hits) / len(hits)) for hits in right.values())
        predicted.append([event, tasks, *shares])
        if options.numbers:
            findings += [f"{event}: {one}" for one in number_findings(list(solved(path)))]
    agents = (*FLOOR_AGENTS, "floor", CEILING_AGENT)
    for names, rows in ((agents, scores), (headings, predicted)):
        print(row(["event", "tasks", *names]) + "|" + "---|" * (len(names) + 2) + "\n", end="")
        print("".join(map(row, rows)))
    if options.numbers:
        print("\n".join(findings) or "No bit of index, seed or hash correlates with a solution.")


if __name__ == "__main__":
    main()
