"""Cost of a trial in the evaluation harness compared with inspect_ai, in one run.

    python benchmarks/harness_speed.py [--peer PYTHON] [--rounds 5] [--workloads one ten]
        [--logging realtime faster] [--counts 200 1000 10000] [--json]

The workload is a question answered in one turn, and one answered after ten calls of an `add`
tool; every message, call and result is logged. Our harness plays it twice: `script` is
`hexathlon eval agent:oracle`, `model` is the agent for language models with an engine that replies
immediately, like inspect_ai's mock model. Each run is a fresh process; runs alternate, and CPU time
is compared, since cores are shared.

`--peer` is the interpreter of an environment with inspect_ai; without it, the peer is reported as
not run. It logs as it does by default, for viewing a run while it goes on (`realtime`), or without
that (`faster`). All have played two trials before CPU time is counted.
"""

import argparse
import itertools
import statistics
import sys
from collections import defaultdict
from pathlib import Path

from comparing import Row, add_options, compare, print_rows
from measuring import ChildReport, Figure, print_findings, ratio_of_pairs, run_child

HERE = Path(__file__).parent
OURS = ("script", "model")
PEERS = {"realtime": "inspect_ai", "faster": "inspect_ai, faster logging"}
"""Names of the peer by its way of logging."""

PEER_MOST = {"one": 10_000, "ten": 1_000}
"""Maximum number of trials for the peer, by workload: as many as it completes in two minutes."""

MEMORY_FROM = 1_000
"""Number of trials from which memory is a row of the table."""

Runs = dict[tuple[str, int, str], list[ChildReport]]
"""Resources by (workload, trials, harness)."""


def play(kind: str, count: int, who: str, peer: str | None) -> ChildReport:
    """Play a workload once in a separate process."""
    for logging, name in PEERS.items():
        if who == name:
            assert peer is not None
            return run_child(
                [peer, HERE / "peers" / "inspect_trials.py", kind, str(count), logging]
            )
    return run_child([sys.executable, HERE / "harness_trials.py", kind, str(count), who])


def measure(kind: str, arguments: argparse.Namespace) -> Runs:
    """Alternate between harnesses at the smaller sizes; play the largest size of each once."""
    runs: Runs = defaultdict(list)
    paired, *larger = arguments.counts
    peer_larger = peer_counts(kind, arguments)[1:]
    for _ in range(arguments.repetitions):
        for who in (*OURS, *peers(arguments)):
            runs[kind, paired, who].append(play(kind, paired, who, arguments.peer))
            print(".", end="", file=sys.stderr, flush=True)
    for count in larger:
        for who in OURS:
            runs[kind, count, who].append(play(kind, count, who, None))
    for count in peer_larger:
        for who in peers(arguments):
            runs[kind, count, who].append(play(kind, count, who, arguments.peer))
    print(file=sys.stderr)
    return runs


def peers(arguments: argparse.Namespace) -> list[str]:
    """Return the names of the peer, one for each way of logging."""
    return [PEERS[each] for each in arguments.logging] if arguments.peer else []


def peer_counts(kind: str, arguments: argparse.Namespace) -> list[int]:
    """Return the numbers of trials at which the peer plays a workload."""
    if not arguments.peer:
        return []
    return [count for count in arguments.counts if count <= PEER_MOST[kind]]


def trial_ms(spent: ChildReport) -> float:
    """Return CPU milliseconds per trial, without startup of the process."""
    return float(spent.said["cpu_s"]) / float(spent.said["trials"]) * 1e3


def process_ms(spent: ChildReport) -> float:
    """Return CPU milliseconds of the whole process per trial."""
    return spent.cpu_s / float(spent.said["trials"]) * 1e3


def peak_mb(spent: ChildReport) -> float:
    """Return the peak memory of the process."""
    return spent.peak_mb


def print_runs(runs: Runs) -> None:
    """Print one line for each workload, size and harness."""
    print(
        f"{'turns':5} {'trials':>7} {'harness':10} {'runs':>4} {'CPU ms per trial':>20} "
        f"{'with start':>11} {'peak MB':>8} {'log MB':>7}"
    )
    for (kind, count, who), spent in runs.items():
        each = [trial_ms(one) for one in spent]
        whole = statistics.median(process_ms(one) for one in spent)
        peak = statistics.median(one.peak_mb for one in spent)
        log = spent[0].said["log_mb"]
        cost = f"{statistics.median(each):.3g} (min {min(each):.3g})"
        print(
            f"{kind:5} {count:7,} {who:10} {len(spent):4} {cost:>20} {whole:11.3g} "
            f"{peak:8.1f} {log:7.2f}"
        )


def compared(kind: str, runs: Runs, arguments: argparse.Namespace) -> list[Figure]:
    """Return the figures compared with the peer's, and the growth of memory with trials."""
    result = []
    paired, largest = arguments.counts[0], arguments.counts[-1]
    for who in OURS:
        ours = runs[kind, paired, who]
        first = statistics.median(one.peak_mb for one in ours)
        last = runs[kind, largest, who][-1].peak_mb
        label = f"{kind}, {who}"
        result.append(
            Figure(f"{label}: memory at {largest:,} over {paired:,}", last / first, "x", most=1.1)
        )
        for count, peer in itertools.product(peer_counts(kind, arguments), peers(arguments)):
            theirs, same = runs[kind, count, peer], runs[kind, count, who]
            for name, cost, least in (
                (f"times less CPU per trial at {count:,} than {peer}", trial_ms, 10),
                ("the same, including process starts", process_ms, None),
            ):
                ratio = ratio_of_pairs([cost(one) for one in theirs], [cost(one) for one in same])
                result.append(Figure(f"{label}: {name}", ratio, "x", least))
            peaks = [one.peak_mb for one in theirs], [one.peak_mb for one in same]
            ratio = ratio_of_pairs(*peaks)
            name = f"{label}: times less memory at {count:,} than {peer}"
            result.append(Figure(name, ratio, "x", least=4))
    return result


def rows(kind: str, runs: Runs, arguments: argparse.Namespace) -> list[Row]:
    """Return CPU time and memory per workload at the smallest size, which all play alternately."""
    result, count = [], arguments.counts[0]
    turns = {"one": "one turn", "ten": "ten tool turns"}[kind]
    for who, peer in itertools.product(OURS, peers(arguments)):
        same, theirs = runs[kind, count, who], runs[kind, count, peer]
        figures = [("CPU", "ms CPU per trial", trial_ms, 10), ("memory", "MB at peak", peak_mb, 4)]
        # Memory is compared where trials matter beside the imports.
        for what, unit, cost, least in figures if count >= MEMORY_FROM else figures[:1]:
            result.append(
                compare(
                    f"harness {what}: {turns}, {count:,} trials, {who}",
                    unit,
                    [cost(one) for one in same],
                    [cost(one) for one in theirs],
                    beside=peer,
                    least=least,
                )
            )
    return result


def main() -> None:
    """Run the benchmark and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--peer", help="an interpreter that has inspect_ai")
    parser.add_argument("--rounds", "--repetitions", dest="repetitions", type=int, default=5)
    parser.add_argument("--logging", nargs="+", choices=PEERS, default=["realtime"])
    add_options(parser, rounds=None)
    parser.add_argument("--counts", type=int, nargs="+", default=[200, 1_000, 10_000])
    parser.add_argument("--workloads", nargs="+", choices=PEER_MOST, default=list(PEER_MOST))
    arguments = parser.parse_args()
    runs = {kind: measure(kind, arguments) for kind in arguments.workloads}
    print_runs({key: spent for each in runs.values() for key, spent in each.items()})
    result = [row for kind in runs for row in compared(kind, runs[kind], arguments)]
    print()
    print_findings(result)
    if not arguments.peer:
        print("inspect_ai: not run; give --peer")
    if arguments.json:
        print_rows(row for kind in runs for row in rows(kind, runs[kind], arguments))


if __name__ == "__main__":
    main()
