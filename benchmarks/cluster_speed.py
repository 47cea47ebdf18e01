"""Evaluation on a local cluster with two workers, compared with one process, in one run.

    python benchmarks/cluster_speed.py [--event SQL] [--level easy] [--trials 2000]
        [--workers 2] [--repetitions 3]

Both play the same plan with the oracle and must write the same records. Runs alternate. Wall-clock
time is that of `evaluate`, with workers that are ready; the start of cluster and workers is printed
apart. On a machine that does other work, too, the ratio of CPU seconds counts: that of one process
over the cluster's share per core, which is what the ratio of times tends to on idle cores.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from measuring import Figure, print_findings

from hexathlon.baselines.cluster.connect import RayCluster, connect
from hexathlon.baselines.harness.config import load_config
from hexathlon.baselines.harness.player import RemoteSetup
from hexathlon.baselines.harness.run import evaluate

_TICKS = os.sysconf("SC_CLK_TCK")


class Run(NamedTuple):
    """One evaluation."""

    wall_s: float
    cpu_s: float
    """Of this process and of all processes that it started."""

    head: str
    """Hash of the last record, which covers all of them."""


def cpu_seconds() -> float:
    """Return the CPU time of this process and its descendants, with Ray's own processes."""
    parents: dict[int, int] = {}
    spent: dict[int, float] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        pid = int(entry.parent.name)
        parents[pid] = int(fields[1])
        spent[pid] = sum(map(int, fields[11:15])) / _TICKS
    return sum(spent[pid] for pid in spent if _descends(pid, parents))


def _descends(pid: int, parents: dict[int, int]) -> bool:
    while pid not in (0, os.getpid()):
        pid = parents.get(pid, 0)
    return pid == os.getpid()


def play(arguments: argparse.Namespace, out: Path, elsewhere: Any = None) -> Run:
    """Evaluate the oracle once."""
    plan, execution = load_config(
        {
            "model": "agent:oracle",
            "envs": (arguments.event,),
            "level": arguments.level,
            "tasks": arguments.tasks,
            "trials": -(-arguments.trials // arguments.tasks),
            **({"cluster": {"workers": arguments.workers}} if elsewhere else {}),
        }
    )
    began, spent = time.perf_counter(), cpu_seconds()
    evaluate(plan, execution, out, elsewhere=elsewhere)
    wall, cpu = time.perf_counter() - began, cpu_seconds() - spent
    with (out / "records.jsonl").open("rb") as file:
        *_, last = file
    return Run(wall, cpu, str(json.loads(last)["hash"]))


@contextmanager
def ready_workers(cluster: RayCluster, arguments: argparse.Namespace, out: Path) -> Iterator[Any]:
    """Keep one fleet for all runs; its workers have played before the first one is measured."""
    from hexathlon.baselines.cluster.evaluation import ClusterPlayers, workers_for

    opened: dict[str, Any] = {}

    @contextmanager
    def elsewhere(setup: RemoteSetup) -> Iterator[ClusterPlayers]:
        if not opened:
            opened["context"] = workers_for(setup, cluster)
            opened["players"] = opened["context"].__enter__()
        yield ClusterPlayers(opened["players"].fleet, setup)

    try:
        play(arguments, out, elsewhere)
        yield elsewhere
    finally:
        if opened:
            opened["context"].__exit__(None, None, None)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--event", default="SQL")
    parser.add_argument("--level", default="easy")
    parser.add_argument("--tasks", type=int, default=100)
    parser.add_argument("--trials", type=int, default=2000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--repetitions", type=int, default=3)
    arguments = parser.parse_args()
    began = time.perf_counter()
    pairs: list[tuple[Run, Run]] = []
    with tempfile.TemporaryDirectory() as folder, connect("auto") as cluster:
        out, connected = Path(folder), time.perf_counter() - began
        few = argparse.Namespace(**{**vars(arguments), "trials": arguments.tasks})
        play(few, out / "warm-here")
        with ready_workers(cluster, few, out / "warm-there") as elsewhere:
            started = time.perf_counter() - began - connected
            for number in range(arguments.repetitions):
                here = play(arguments, out / f"here-{number}")
                there = play(arguments, out / f"there-{number}", elsewhere)
                assert here.head == there.head, "the records differ"
                pairs.append((here, there))
                print(
                    f"here {here.wall_s:.1f} s, {here.cpu_s:.1f} CPU s; there {there.wall_s:.1f} s,"
                    f" {there.cpu_s:.1f} CPU s",
                    file=sys.stderr,
                    flush=True,
                )
    times = statistics.median(here.wall_s / there.wall_s for here, there in pairs)
    shares = [here.cpu_s / (there.cpu_s / arguments.workers) for here, there in pairs]
    print(f"{arguments.trials:,} trials, {arguments.event} {arguments.level}, equal records")
    print_findings(
        [
            Figure("connecting to a new local cluster", connected, "s"),
            Figure("first trials here, and workers with theirs", started, "s"),
            Figure("one process over the cluster, time", times, least=1.8),
            Figure("one process over a core's share, CPU", statistics.median(shares), least=1.8),
        ]
    )


if __name__ == "__main__":
    main()
