"""Runs skyrl-gym's text2sql; prints one JSON line with steps and seconds.

Workload: a 1,000-row SQLite file; make, init, five point SELECTs and one scored solution per
episode. Executed by the peer's own interpreter: `python skyrl_text2sql.py ROOT STEPS`, where ROOT
contains `spider/database/bench/bench.sqlite`. Every episode has a question of its own.
"""

import json
import sys
import time

import skyrl_gym
from omegaconf import DictConfig

GOLD = "SELECT name FROM item WHERE id = %d AND price >= -%d"
ROWS = 1_000
QUERIES = [f"SELECT name, price FROM item WHERE id = {i}" for i in (3, 141, 592, 653, 897)]
SOLUTION = "<think>done</think>\n\n<solution>%s</solution>"


def episode(root: str, question: int) -> int:
    gold = GOLD % (question % ROWS, question // ROWS)
    extras = {
        "db_id": "bench",
        "reward_spec": {"ground_truth": gold},
        "data": "spider",
        "max_turns": 8,
    }
    env = skyrl_gym.make("text2sql", env_config=DictConfig({"db_path": root}), extras=extras)
    env.init([{"role": "user", "content": f"Name of item {question % ROWS}?"}])
    for query in QUERIES:
        out = env.step(f"<think>look</think>\n\n<sql>{query}</sql>")
        assert out["observations"], out
    out = env.step(SOLUTION % gold)
    assert out["done"]
    return len(QUERIES) + 1


def main() -> None:
    root, expected = sys.argv[1], int(sys.argv[2])
    cpu, wall, steps = time.process_time(), time.perf_counter(), 0
    while steps < expected:
        steps += episode(root, steps)
    print(
        json.dumps(
            {
                "steps": steps,
                "cpu_s": time.process_time() - cpu,
                "wall_s": time.perf_counter() - wall,
            }
        )
    )


main()
