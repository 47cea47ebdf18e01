"""Comparison of training methods at equal compute, and verdicts on claims about them.

    python benchmarks/methods.py [--claims mc_grpo_pairs,echo] [--seeds 8] [--out runs/methods]
    python benchmarks/methods.py --write

A method is a recipe (`methods.toml`), run on variants of the event `rooms.py`. Claims are in
`method_claims.toml`, stated before the runs; the rule for verdicts is in `method_results.py`. The
budget of a run is a number of tokens, sampled and trained ones together. Each method's learning
rate is tuned in each setting, on seeds of its own; the other seeds are paired: one world and one
initial policy for all methods.

Finished runs are lines of `results.jsonl`, so an interrupted comparison can be continued. `--write`
runs nothing: it renders tables and plots in `docs/notes` from the finished runs.
"""

import argparse
import json
import time
import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import method_results
import methods_page
import rooms
import torch
from method_run import Method, MethodRun, Setting, Weights, check_playable, start

from hexathlon.baselines.training.recipe import Recipe

HERE = Path(__file__).resolve().parent


class Job(NamedTuple):
    """One run of the comparison."""

    method: str
    setting: str
    rate: float
    seed: int


def merged(base: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """Merge tables of a recipe; a table with a `name`, a component, replaces the old one whole."""
    result = dict(base)
    for key, value in changes.items():
        both = isinstance(value, dict) and isinstance(base.get(key), dict)
        result[key] = merged(base[key], value) if both and "name" not in value else value
    return result


@cache
def methods(file: Path = method_results.METHODS) -> dict[str, Method]:
    """Return the methods by name.

    Raises:
        ValueError: If the bench cannot play a part of a recipe.
    """
    table = tomllib.loads(file.read_text(encoding="utf-8"))
    base = tomllib.loads(table["base"])
    read = {
        row["name"]: Method(
            row["name"],
            Recipe(**merged(base, tomllib.loads(row["recipe"]))),
            row.get("extra_members", 0),
        )
        for row in table["method"]
    }
    for name, method in read.items():
        check_playable(name, method.recipe)
    return read


def settings(file: Path) -> dict[str, Setting]:
    """Return the settings of a file of claims by name."""
    return {
        name: Setting(name, rooms.Knobs(**row["knobs"]), row["budget"], row["tuned"])
        for name, row in method_results.settings_of(file).items()
    }


class Bench:
    """Methods, settings and initial policies of a comparison.

    Args:
        settings: Variants of the event by name.
    """

    def __init__(self, settings: dict[str, Setting]) -> None:
        self.settings = settings
        self.methods = methods()
        self.trained: dict[tuple[rooms.Knobs, int], Weights] = {}

    def measured(self, job: Job) -> dict[str, Any]:
        """Carry out a run and return its line of the results."""
        method, setting = self.methods[job.method], self.settings[job.setting]
        begin = start(setting.knobs, job.seed, self.trained)
        started = time.process_time()
        result = MethodRun(method, setting, job.rate, job.seed, begin).play()
        return {**job._asdict(), **result, "cpu_s": round(time.process_time() - started, 2)}


def arms(file: Path, only: Sequence[str] = ()) -> Iterator[method_results.Arm]:
    """Yield methods with settings in the order in which they are run; those of `only`, if given."""
    for claim in method_results.claims_of(file):
        if not claim.missing and (not only or claim.name in only):
            yield from claim.arms
    if not only:
        yield from ((name, method_results.PLAIN) for name in method_results.others_of(file))


def waiting(
    file: Path, seeds: int, only: Sequence[str], rows: Sequence[dict[str, Any]]
) -> Iterator[Job]:
    """Yield the remaining runs; `rows` grows with the results."""
    tables = method_results.settings_of(file)
    done = {job_of(row) for row in rows}
    for method, setting in dict.fromkeys(arms(file, only)):
        tuned = tables[setting]["tuned"]
        tuning = [
            Job(method, tuned, rate, seed)
            for rate in method_results.RATES
            for seed in method_results.TUNING
        ]
        yield from (job for job in tuning if job not in done)
        done.update(tuning)
        rate = method_results.best_rate(method, tuned, rows)
        if rate is not None:
            final = [Job(method, setting, rate, seed) for seed in range(seeds)]
            yield from (job for job in final if job not in done)


def job_of(row: dict[str, Any]) -> Job:
    return Job(*(row[name] for name in Job._fields))


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=method_results.LEAST_SEEDS)
    parser.add_argument("--claims", default="", help="names, separated by commas; all by default")
    parser.add_argument("--most", type=int, help="stop after this many runs")
    parser.add_argument("--file", type=Path, default=method_results.FILE, help="the claims")
    parser.add_argument("--out", type=Path, default=HERE.parent / "runs" / "methods")
    parser.add_argument("--docs", type=Path, default=HERE.parent / "docs" / "notes")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args(words)
    torch.set_num_threads(1)
    options.out.mkdir(parents=True, exist_ok=True)
    results = options.out / "results.jsonl"
    lines = results.read_text().splitlines() if results.exists() else []
    rows = list({job_of(row): row for row in map(json.loads, lines)}.values())
    if options.write:
        methods_page.write(rows, options.file, options.docs)
        return
    bench = Bench(settings(options.file))
    only = options.claims.split(",") if options.claims else []
    jobs = waiting(options.file, options.seeds, only, rows)
    with results.open("a") as opened:
        for job in islice(jobs, options.most):
            row = bench.measured(job)
            rows.append(row)
            opened.write(json.dumps(row) + "\n")
            opened.flush()
            print(
                f"{job.method:<20} {job.setting:<10} {job.rate:g}  seed {job.seed:<5}"
                f"{row['final']:.3f}  {row['cpu_s']:.1f} s",
                flush=True,
            )


if __name__ == "__main__":
    main()
