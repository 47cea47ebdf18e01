"""Time, memory and size of a leaderboard of simulated systems, and of one more system.

    python benchmarks/leaderboard_scale.py --systems 200 --events 6 --trials 1000

The records are simulated but complete: plans, hash chains and trajectories of a few steps.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import shutil
import tempfile
import time
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

import numpy as np

from hexathlon.evaluators.records.canonical import canonical_json, content_hash
from hexathlon.evaluators.records.plan import write_plan
from hexathlon.leaderboard.build import BuildOptions, build

EVENTS = ("Shopping-v1", "SQL-v1", "Terminal-v1", "Web-v0", "GUI-v0", "RolePlay-v1")
TEMPLATES = 20
TRIALS_PER_TASK = 4
STARTED = "2026-11-21T09:00:00Z"


def simulate(folder: Path, system: int, events: int, trials: int) -> None:
    """Write the run of one simulated system."""
    draws = np.random.default_rng(system)
    skill = draws.normal(0, 1.2)
    tasks = trials // TRIALS_PER_TASK
    keys = [
        [f"hexathlon/{event}", _task(event, index), 0, trial]
        for event in EVENTS[:events]
        for index in range(tasks)
        for trial in range(TRIALS_PER_TASK)
    ]
    head = write_plan(folder, _plan(system, EVENTS[:events], keys, tasks))
    hardness = {task: np.random.default_rng(n).normal(0, 1.5) for n, task in enumerate(
        dict.fromkeys(key[1] for key in keys))}  # fmt: skip
    chance = 1 / (1 + np.exp(np.array([hardness[key[1]] for key in keys]) - skill))
    solved = draws.random(len(keys)) < chance
    turns = draws.integers(2, 6, len(keys))
    latency = draws.lognormal(-0.3, 0.4, (len(keys), 6)).round(3)
    with (folder / "records.jsonl").open("wb") as file:
        for n, key in enumerate(keys):
            body = _body(key, head, bool(solved[n]), int(turns[n]), int(draws.integers(1e9)))
            head = sha256(body).hexdigest()
            timing = canonical_json(
                {"started": STARTED, "agent": float(latency[n].sum()), "env": 0.004,
                 "grade": 0.002, "reset": 0.01,
                 "latencies": latency[n, : turns[n]].tolist()})  # fmt: skip
            file.write(b'{"hash":"%s","timing":%s,' % (head.encode(), timing.encode()))
            file.write(body[1:] + b"\n")


def _task(event: str, index: int) -> str:
    family = event.split("-")[0].lower()
    return f"{family}/template_{index % TEMPLATES:02d}/hard/test/{index:05d}"


def _body(key: list, prev: str, solved: bool, turns: int, note: int) -> bytes:
    """Return the canonical JSON of a record, filled into the text that its kind shares."""
    env, task, seed, trial = key
    state = b'{"answer":%d,"queries":%d}' % (note, turns)
    values = {
        b"env": env.encode(), b"task": task.encode(), b"seed": seed, b"trial": trial,
        b"task_hash": _hash(task), b"template": task.split("/")[1].encode(),
        b"prev": prev.encode(), b"state": state, b"state_hash": sha256(state).hexdigest().encode(),
    }  # fmt: skip
    for step in range(turns):
        values[b"at%d" % step] = note % (step + 97)
        values[b"row%d" % step] = note // (step + 3)
    return _pattern(solved, turns) % values


@lru_cache
def _hash(task: str) -> bytes:
    return sha256(task.encode()).hexdigest().encode()


@lru_cache
def _pattern(solved: bool, turns: int) -> bytes:
    """Return the text of a record with fields in the place of what differs between trials."""
    steps = [
        {"action": f'{{"name": "look", "arguments": {{"at": "%(at{step})d"}}}}',
         "index": step, "observation": f"Row %(row{step})d of the table of %(task)s: "
         "name, total, date, status; nothing else has changed since the last look.",
         "reward": float(solved and step == turns - 1),
         "status": "completed" if step == turns - 1 else "ongoing"}
        for step in range(turns)
    ]  # fmt: skip
    text = canonical_json({
        "schema": "hexathlon.trial/1", "prev": "%(prev)s", "attempt": 1, "earlier": [],
        "cause": None,
        "key": {"env": "%(env)s", "task": "%(task)s", "seed": "=%(seed)d", "trial": "=%(trial)d"},
        "task_hash": "%(task_hash)s", "template": "%(template)s",
        "level": "hard", "split": "test", "stop": "completed", "status": "scored", "error": None,
        "reward": float(solved), "partial": None, "terms": {"rows_equal": float(solved)},
        "evidence": {"rows": turns}, "judges": [], "turns": turns, "tool_errors": 0,
        "checks": [{"name": "result", "version": "1", "deterministic": True}], "cut_chars": 0,
        "usage": {"agent": {"input": 900 * turns, "output": 120, "calls": turns, "cost": 0.002}},
        "sandbox": "simulated", "flags": [], "system_prompt_hash": "0" * 64, "steps": steps,
        "opening": "Find the entry that the customer of %(task)s asked for.",
        "final_state": "=%(state)s", "final_state_hash": "%(state_hash)s", "env_version": "1",
    })  # fmt: skip
    return re.sub(r'"=(%\(\w+\)\w)"', r"\1", text).encode()


def _plan(system: int, events: tuple[str, ...], keys: list, tasks: int) -> dict:
    return {
        "schema": "hexathlon.plan/1", "run_id": f"run-{system}",
        "created": f"2026-11-{1 + system % 28:02d}T09:00:00+00:00", "suite_version": "0.1.0",
        "envs": [{"id": f"hexathlon/{event}", "version": "1", "split": "test", "level": None,
                  "taskset": event.split("-")[0].lower(), "taskset_hash": content_hash(event)}
                 for event in events],
        "keys": keys, "model": {"kind": "endpoint", "name": f"system-{system:03d}"},
        "agent": {"name": "llm", "version": "1"}, "limits": {"turns": 20},
        "team": f"organisation {system % 40}", "sandbox": "simulated", "price_table": "2026-11",
        "code": {"git_revision": "0" * 40, "dirty": False}, "hardware": {"cores": 2},
        "config": {"tasks": tasks, "seeds": 1, "trials": TRIALS_PER_TASK, "task": [],
                   "model": "endpoint:http://127.0.0.1:8000/v1"},
    }  # fmt: skip


def measure(name: str, runs: list[Path], out: Path, workers: int | None) -> dict:
    start, before = time.perf_counter(), _processor_seconds()
    build(runs, out, BuildOptions(workers=workers))
    files = [path for path in out.rglob("*") if path.is_file()]
    row = {
        "build": name, "wall_s": round(time.perf_counter() - start, 1),
        "cpu_s": round(_processor_seconds() - before, 1), "files": len(files),
        "site_mb": round(sum(path.stat().st_size for path in files) / 1e6, 1),
        "first_page_kb": round((out / "index.html").stat().st_size / 1e3, 1),
        "memory_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3),
        "worker_mb": round(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e3),
    }  # fmt: skip
    print(json.dumps(row), flush=True)
    return row


def _processor_seconds() -> float:
    return sum(
        used.ru_utime + used.ru_stime
        for used in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


def main() -> None:
    """Simulate, build, add a system, build again."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--systems", type=int, default=200)
    parser.add_argument("--events", type=int, default=6)
    parser.add_argument("--trials", type=int, default=1000, help="per system and event")
    parser.add_argument("--folder", type=Path, help="keep the simulated runs here")
    parser.add_argument("--workers", type=int)
    options = parser.parse_args()
    folder = options.folder or Path(tempfile.mkdtemp(prefix="leaderboard-"))
    runs = [folder / "runs" / f"{n:03d}" for n in range(options.systems + 1)]
    for n, run in enumerate(runs):
        if not (run / "records.jsonl").exists():
            simulate(run, n, options.events, options.trials)
    size = sum((run / "records.jsonl").stat().st_size for run in runs)
    print(json.dumps({"runs": len(runs), "records_mb": round(size / 1e6)}), flush=True)
    out = folder / "site"
    measure("all systems, nothing cached", runs[:-1], out, options.workers)
    measure("the same again", runs[:-1], out, options.workers)
    measure("one system added", runs, out, options.workers)
    if options.folder is None:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
