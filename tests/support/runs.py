"""Fictitious runs: plans and records of invented agents, complete enough for a leaderboard."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from hexathlon.evaluators.records import RecordWriter
from hexathlon.evaluators.records.canonical import content_hash, text_hash
from hexathlon.evaluators.records.plan import write_plan

TEMPLATES = (
    "anti_join count_where date_window dedup_latest except_sets having_average join_three "
    "latest_per_group median_amount nested_max null_share pivot_status rank_over_partition "
    "running_total self_join_manager share_of_total soft_deleted top_k_ties union_branches "
    "write_correction"
).split()
LEVELS = ("tiny", "easy", "medium", "hard")
AGENTS: dict[str, tuple[str, float, float, int]] = {
    # name: kind, skill, price per million tokens, tokens per turn
    "oracle": ("agent", 99.0, 0.0, 0),
    "noop": ("agent", -99.0, 0.0, 0),
    "random": ("agent", -5.2, 0.0, 0),
    "majority": ("agent", -4.6, 0.0, 0),
    "atlas-72b-instruct": ("endpoint", 1.9, 0.9, 1400),
    "borealis-30b-a3b": ("endpoint", 1.8, 0.25, 1900),
    "cirrus-8b": ("endpoint", 0.3, 0.1, 1200),
    "cirrus-8b-sft": ("checkpoint", 0.5, 0.1, 900),
    "dune-3b": ("endpoint", -1.2, 0.05, 1000),
    "ember-1.5b": ("checkpoint", -2.3, 0.03, 700),
}
QUERY = (
    "SELECT c.name, ROUND(SUM(o.amount), 2) AS total\nFROM customers AS c\n"
    "JOIN orders AS o ON o.customer_id = c.id\nWHERE o.status = 'paid'\n"
    "GROUP BY c.id\nORDER BY total DESC\nLIMIT 5"
)
TABLE = "name              total\n" + "\n".join(
    f"customer {n:<8} {9000 - 37 * n:>6}.50" for n in range(12)
)

Edit = Callable[[dict[str, Any]], dict[str, Any]]


def make_run(
    folder: Path,
    agent: str,
    *,
    tasks: int = 60,
    trials: int = 1,
    envs: Mapping[str, str] | None = None,
    infra: float = 0.004,
    limits: Mapping[str, Any] | None = None,
    edit: Edit | None = None,
    write: float = 1.0,
    team: str = "",
) -> Path:
    """Write a run directory of one fictitious agent and return its path.

    Args:
        folder: Parent directory.
        agent: One of `AGENTS`.
        tasks: Tasks per environment.
        trials: Trials per task.
        envs: Environment id -> version.
        infra: Share of trials with infrastructure failures.
        limits: The plan's limits.
        edit: Changes each record before it is written.
        write: Share of the plan that gets records.
        team: Submitter of the run.
    """
    kind, skill, price, per_turn = AGENTS[agent]
    envs = envs or {"hexathlon/SQL-v1": "1"}
    keys = [
        [env, _task(env, index), 0, trial]
        for env in envs
        for index in range(tasks)
        for trial in range(trials)
    ]
    plan = _plan(agent, kind, envs, keys, tasks, trials, limits)
    plan |= {"team": team} if team else {}
    digest = write_plan(folder, plan)
    with RecordWriter(folder, digest, fsync="never") as writer:
        for env, task, _, trial in keys[: round(write * len(keys))]:
            record = _record(env, task, trial, agent, skill, price, per_turn, infra)
            record["env_version"] = envs[env]
            writer.append(edit(record) if edit else record)
    return folder


def _task(env: str, index: int) -> str:
    family = env.split("/")[1].split("-")[0].lower()
    level = LEVELS[(index // len(TEMPLATES)) % 4]
    return f"{family}/{TEMPLATES[index % len(TEMPLATES)]}/{level}/test/{index:05d}"


def _plan(agent, kind, envs, keys, tasks, trials, limits) -> dict[str, Any]:
    place = {"endpoint": "http://127.0.0.1:8000/v1", "checkpoint": f"checkpoints/{agent}"}
    model = {"agent": f"agent:{agent}", "endpoint": f"endpoint:{place['endpoint']}#{agent}"}
    return {
        "schema": "hexathlon.plan/1",
        "run_id": f"20261121T090000-{agent}",
        "created": "2026-11-21T09:00:00+00:00",
        "suite_version": "0.1.0",
        "envs": [
            {
                "id": env,
                "version": version,
                "taskset": env.split("/")[1].split("-")[0].lower(),
                "split": "test",
                "level": None,
                "taskset_hash": content_hash([env, version]),
            }
            for env, version in envs.items()
        ],
        "keys": keys,
        "model": {"kind": kind, "name": agent, "place": place.get(kind, ""), "revision": None},
        "agent": {"name": agent if kind == "agent" else "llm", "version": "1"},
        "limits": dict(limits or {"turns": 20, "output_tokens": 8192, "wall": None}),
        "sandbox": "simulated",
        "price_table": "2026-11" if kind != "agent" else None,
        "code": {"git_revision": "0" * 40, "dirty": False, "packages": {"numpy": "2.1.0"}},
        "hardware": {"cores": 16, "memory": 64},
        "config": {
            "model": model.get(kind, place.get(kind)),
            "envs": list(envs),
            "taskset": None,
            "split": "test",
            "level": None,
            "tasks": tasks,
            "task": [],
            "seeds": 1,
            "trials": trials,
            "dialect": "auto",
            "sampling": {"temperature": 0.7, "top_p": None},
            "prompt_suffix": "",
        },
    }


def _record(env, task, trial, agent, skill, price, per_turn, infra) -> dict[str, Any]:
    draws = np.random.default_rng([int(text_hash(f"{env}{task}{agent}{trial}")[:12], 16)])
    hardness = np.random.default_rng([int(text_hash(env + task)[:12], 16)]).normal(0, 1.3)
    template, level, split = task.split("/")[1:4]
    hardness += 0.75 * LEVELS.index(level) + 0.09 * TEMPLATES.index(template)
    solved = bool(draws.random() < 1 / (1 + np.exp(hardness - skill)))
    failed = bool(per_turn and draws.random() < infra)
    turns = int(draws.integers(3, 9)) if per_turn else 2
    status = "infra" if failed else "scored"
    ended = "completed" if turns < 8 else "truncated_turns"
    steps = [_step(index, turns, solved, ended) for index in range(turns)]
    if failed:  # infrastructure failed before the last step
        del steps[-1]
        turns -= 1
    state = {"submitted": [["customer 3", 8889.5]], "queries": turns, "solved": solved}
    tokens = round(per_turn * turns * float(draws.uniform(0.7, 1.3)))
    usage = {"input": tokens, "output": tokens // 8, "calls": turns}
    return {
        "schema": "hexathlon.trial/1",
        "key": {"env": env, "task": task, "seed": 0, "trial": trial},
        "attempt": 1,
        "earlier": [],
        "task_hash": text_hash(env + task),
        "template": template,
        "level": level,
        "split": split,
        "stop": "error_env" if failed else ended,
        "status": status,
        "cause": "sandbox" if failed else None,
        "error": "WorkerCrashed: the worker ended with signal 9" if failed else None,
        "reward": None if failed else float(solved),
        "partial": None,
        "terms": {"rows_equal": float(solved), "columns_equal": 1.0, "hidden_databases": 5.0},
        "evidence": {"rows": 5, "first_difference": None if solved else "row 3, column total"},
        "checks": [{"name": "sql_result", "version": "1", "deterministic": True}],
        "judges": [],
        "usage": {"agent": {**usage, "cost": tokens * price / 1e6}} if per_turn else {},
        "turns": turns,
        "tool_errors": int(draws.integers(0, 3)),
        "cut_chars": 0,
        "sandbox": "simulated",
        "flags": [],
        "system_prompt_hash": text_hash("system"),
        "opening": "Which five customers paid the most? Give name and total, largest first.\n"
        "The database is `retail-3` (SQLite).",
        "steps": steps,
        "final_state": state,
        "final_state_hash": content_hash(state),
        "env_version": "1",
        "timing": {
            "started": "2026-11-21T09:00:00Z",
            "ended": "2026-11-21T09:00:09Z",
            "reset": 0.002,
            "agent": turns * 0.9,
            "env": 0.004,
            "grade": 0.003,
            "latencies": [round(float(draws.lognormal(-0.3, 0.4)), 4) for _ in range(turns)]
            if per_turn
            else [],
        },
    }


def _step(index: int, turns: int, solved: bool, ended: str) -> dict[str, Any]:
    last = index == turns - 1
    call = {"name": "query", "arguments": {"sql": QUERY}}
    if last:
        call = {"name": "submit", "arguments": {"sql": QUERY, "reason": "checked the totals"}}
    return {
        "index": index,
        "action": json.dumps(call) if index else "I will look at the tables first.",
        "observation": "Your answer was recorded." if last else TABLE,
        "reward": float(solved) if last else 0.0,
        "status": ended if last else "ongoing",
    }


def make_runs(folder: Path, *, tasks: int = 60, trials: int = 1) -> list[Path]:
    """Write a run of every fictitious agent; some play a second event, one an older version."""
    runs = []
    for agent in AGENTS:
        envs = {"hexathlon/SQL-v1": "1"}
        if agent not in ("random", "dune-3b"):
            envs["hexathlon/Terminal-v1"] = "1"
        runs.append(make_run(folder / agent, agent, tasks=tasks, trials=trials, envs=envs))
    older = make_run(
        folder / "older", "cirrus-8b", tasks=tasks, envs={"hexathlon/SQL-v1": "0"}, trials=trials
    )
    return [*runs, older]
