"""Evaluation on a local cluster with two workers, compared with one process, in one run.

    python benchmarks/cluster_speed.py [--event SQL] [--level easy] [--tasks 200]
        [--trials 10] [--workers 2] [--repetitions 3] [--processes]

All play the same plan with the oracle and must write the same records. Every run is a fresh
process without cached tasks of the plan; runs alternate. The time is that of `evaluate`, with
workers that are ready; the start of cluster and workers is printed separately. On a busy machine,
use the ratio of CPU seconds: those of one process over the cluster's per core, which the ratio of
times approaches on idle cores. With --processes, as many processes of this machine without Ray
are measured, too: what they use beyond one process is not the cluster's.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from measuring import Figure, print_findings, ratio_of_pairs, run_child

from hexathlon.baselines.cluster.connect import connect
from hexathlon.baselines.harness.config import load_config
from hexathlon.baselines.harness.player import RemoteSetup
from hexathlon.baselines.harness.processes import processes_for
from hexathlon.baselines.harness.run import evaluate

_TICKS = os.sysconf("SC_CLK_TCK")


class Run(NamedTuple):
    """One evaluation."""

    wall_s: float
    cpu_s: float
    """Resources used by this process and all processes that it started."""

    parts: dict[str, float]
    """The same by kind of process."""

    head: str
    """Hash of the last record, which covers all of them."""


def cpu_seconds() -> Counter[str]:
    """Return the CPU time of this process and its descendants, by kind of process."""
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
    total = Counter[str]()
    for pid, seconds in spent.items():
        if _descends(pid, parents):
            total[_kind(pid)] += seconds
    return total


def _descends(pid: int, parents: dict[int, int]) -> bool:
    while pid not in (0, os.getpid()):
        pid = parents.get(pid, 0)
    return pid == os.getpid()


def _kind(pid: int) -> str:
    if pid == os.getpid():
        return "driver"
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return "ended"
    workers = "EnvironmentWorker" in command or "multiprocessing" in command
    return "workers" if workers else "Ray"


def play(arguments: argparse.Namespace, out: Path, open_players: Any = None, **flags: Any) -> Run:
    """Evaluate the oracle once."""
    plan, execution = load_config(
        {
            "model": "agent:oracle",
            "envs": (arguments.event,),
            "level": arguments.level,
            "tasks": arguments.tasks,
            "trials": arguments.trials,
            **flags,
        }
    )
    began, spent = time.perf_counter(), cpu_seconds()
    evaluate(plan, execution, out, open_players=open_players)
    wall, parts = time.perf_counter() - began, cpu_seconds()
    parts.subtract(spent)
    with (out / "records.jsonl").open("rb") as file:
        *_, last = file
    return Run(wall, sum(parts.values()), dict(parts), str(json.loads(last)["hash"]))


def child(arguments: argparse.Namespace) -> dict[str, Any]:
    """Play a few tasks of another split to start everything, then the plan."""
    with tempfile.TemporaryDirectory() as folder:
        out, few = Path(folder), {"split": "dev", "tasks": 4 * arguments.workers, "trials": 1}
        if arguments.child == "here":
            play(arguments, out / "few", **few)
            return play(arguments, out / "all")._asdict()
        many = {"workers": arguments.workers}
        if arguments.child == "processes":
            with kept(processes_for) as open_players:
                play(arguments, out / "few", open_players, **few, **many)
                return play(arguments, out / "all", open_players, **many)._asdict()
        from hexathlon.baselines.cluster.evaluation import ClusterPlayers, workers_for

        began = time.perf_counter()
        with connect("auto") as cluster:
            connected = time.perf_counter() - began
            opened = partial(workers_for, cluster=cluster)
            with kept(opened, lambda one, setup: ClusterPlayers(one.fleet, setup)) as open_players:
                play(arguments, out / "few", open_players, **few, cluster=many)
                started = time.perf_counter() - began - connected
                played = play(arguments, out / "all", open_players, cluster=many)
    return {**played._asdict(), "connected_s": connected, "started_s": started}


@contextmanager
def kept(
    open_players: Any, renewed: Callable[[Any, RemoteSetup], Any] = lambda one, setup: one
) -> Iterator[Any]:
    """Reuse the processes of the first run for the others."""
    with ExitStack() as stack:
        opened: list[Any] = []

        @contextmanager
        def players(setup: RemoteSetup) -> Iterator[Any]:
            if not opened:
                opened.append(stack.enter_context(open_players(setup)))
            yield renewed(opened[0], setup)

        yield players


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--event", default="SQL")
    parser.add_argument("--level", default="easy")
    parser.add_argument("--tasks", type=int, default=200)
    parser.add_argument("--trials", type=int, default=10, help="trials of each task")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument(
        "--processes", action="store_true", help="measure processes without Ray, too"
    )
    parser.add_argument("--child", choices=("here", "processes", "there"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        print(json.dumps(child(arguments)))
        return
    rest = [word for word in sys.argv[1:] if not word.startswith("--child")]
    kinds = ("here", "processes", "there") if arguments.processes else ("here", "there")
    runs: dict[str, list[dict[str, Any]]] = {kind: [] for kind in kinds}
    for _ in range(arguments.repetitions):
        for kind, rows in runs.items():
            rows.append(run_child([sys.executable, __file__, *rest, "--child", kind]).said)
            parts = ", ".join(f"{name} {used:.1f}" for name, used in rows[-1]["parts"].items())
            report = f"{kind}: {rows[-1]['wall_s']:.1f} s, {rows[-1]['cpu_s']:.1f} CPU s ({parts})"
            print(report, file=sys.stderr, flush=True)
        assert len({rows[-1]["head"] for rows in runs.values()}) == 1, "the records differ"

    def ratio(field: str, kind: str = "there") -> float:
        here, others = ([row[field] for row in runs[one]] for one in ("here", kind))
        return ratio_of_pairs(here, others)

    count = arguments.tasks * arguments.trials
    print(f"{count:,} trials, {arguments.event} {arguments.level}, equal records")
    started, connected = (
        statistics.median(row[field] for row in runs["there"])
        for field in ("started_s", "connected_s")
    )
    beside = []
    if arguments.processes:
        share = arguments.workers * ratio("cpu_s", "processes")
        beside = [
            Figure("one process over processes without Ray, time", ratio("wall_s", "processes")),
            Figure("the same, over a core's share, CPU", share),
        ]
    print_findings(
        [
            *beside,
            Figure("starting a local cluster", connected, "s"),
            Figure("starting its workers, with a few trials", started, "s"),
            Figure("one process over the cluster, time", ratio("wall_s"), least=1.8),
            Figure(
                "one process over a core's share, CPU",
                arguments.workers * ratio("cpu_s"),
                least=1.8,
            ),
        ]
    )


if __name__ == "__main__":
    main()
