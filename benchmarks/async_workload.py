"""Trains on an environment that really sleeps, and prints the measurements as one JSON line.

    python benchmarks/async_workload.py SETTINGS

SETTINGS is a JSON object with the keys of `main`. The environment is that of `signals.py`.
"""

import json
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import signals
import torch
from signals import TURNS, SignalsEnv, sleeps

from hexathlon.baselines.engines.local.loading import load_checkpoint
from hexathlon.baselines.pipeline.simulation import RunSettings, SimulatedRollout, simulate
from hexathlon.baselines.training.recipe import recipe_of
from hexathlon.baselines.training.start import make_start
from hexathlon.baselines.training.trainer import Trainer


def recipe(seed: int, steps: int, checkpoint: str = "", **asynchrony: Any) -> Any:
    return recipe_of(
        {
            "name": "signals",
            "seed": seed,
            "steps": steps,
            "tasks": {"env": signals.ENV, "source": "signals", "level": "easy", "turns": TURNS},
            "policy": {
                "checkpoint": checkpoint,
                "shape": {
                    "vocabulary": 320, "width": 64, "layers": 2, "heads": 2, "kv_heads": 2,
                    "feed_forward": 128, "context": 256,
                },
            },
            "clone": {"demonstrations": 256, "settings": {"steps": 70, "batch": 16}},
            "rollout": {"groups": 8, "members": 4, "max_tokens": 16, "concurrency": 32},
            "learn": {
                "optimiser": {"learning_rate": 1e-3, "warmup": 2, "clip": 0.1},
                "objective": {"correction": "tis"},
            },
            "asynchrony": asynchrony,
            "evaluation": {"tasks": 100},
        }
    )  # fmt: skip


class Episodes:
    """The sleeping times of a run's rollouts, by the numbers of batch, group and member.

    Tasks recur, and the environment sleeps for other times in each episode of a task.

    Args:
        run: The run.
        members: Rollouts of a group.
    """

    def __init__(self, run: Trainer, members: int) -> None:
        self._run, self._members = run, members
        self._groups: list[list[tuple[str, int]]] = []
        self._seen: Counter[str] = Counter()

    def sleeps(self, batch: int, group: int, member: int) -> list[float]:
        """Return the sleeping times of a rollout, in seconds."""
        while len(self._groups) <= batch:
            tasks = self._run.components.generation.tasks(len(self._groups), 0)
            self._groups.append([(task, self._next(task)) for task in tasks])
        task, first = self._groups[batch][group]
        turns = SignalsEnv.begun[task, first + member] or TURNS  # not all are played
        return [SignalsEnv.scale * seconds for seconds in sleeps(task, first + member)[:turns]]

    def _next(self, task: str) -> int:
        first = self._seen[task]
        self._seen[task] += self._members
        return first

    def longest(self, batch: int) -> float:
        """Return the sleeping time of a batch's slowest rollout, in seconds."""
        self.sleeps(batch, 0, 0)
        groups = range(len(self._groups[batch]))
        return max(sum(self.sleeps(batch, g, m)) for g in groups for m in range(self._members))


def predicted(run: Trainer, engine: float, learner: float, late: str) -> float:
    """Return the simulated time of a run with the sleeping times of the real one."""
    chosen, groups = run.components.recipe, run.components.recipe.rollout.groups
    episodes = Episodes(run, chosen.rollout.members)

    def workload(group: int, member: int) -> SimulatedRollout:
        times = episodes.sleeps(*divmod(group, groups), member)
        return SimulatedRollout(0.0, tuple((engine, seconds) for seconds in times))

    rules = chosen.asynchrony.rules(groups, chosen.rollout.concurrency)
    settings = RunSettings(rules, chosen.rollout.members, learner, late=late)
    return simulate(workload, settings, chosen.steps).seconds


def main(
    seed: int, steps: int, scale: float = 1.0, engine: float = 0.0, learner: float = 0.0,
    measure: bool = False, **asynchrony: Any,
) -> dict[str, Any]:  # fmt: skip
    """Train; return times, success and the simulation's prediction.

    Args:
        seed: Of the recipe.
        steps: Number of updates.
        scale: Factor of the sleeping times.
        engine: Time of the engine for a turn in the simulation; 0 takes it from this run.
        learner: Time of an update in the simulation; 0 takes it from this run.
        measure: Whether to evaluate at the start and at the end.
        asynchrony: Settings of the recipe's `asynchrony` table.
    """
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        start = Path(folder) / "start"
        SignalsEnv.scale = 0.0
        make_start(recipe(seed, steps), start, lambda *report: None)
        chosen = recipe(seed, steps, str(start), **asynchrony)
        checkpoint = load_checkpoint(start)

        def make(env_id: str) -> Any:
            return SignalsEnv()

        run = Trainer(chosen, checkpoint.model, checkpoint.tokenizer, make, Path(folder) / "run")
        try:
            run.resume()
            before = run.measure(100).success if measure else 0.0
            SignalsEnv.scale, SignalsEnv.slept = scale, 0.0
            SignalsEnv.episodes.clear()
            SignalsEnv.begun.clear()
            SignalsEnv.asleep.clear()
            began, cpu = time.perf_counter(), time.process_time()
            rows = [run.advance() for _ in range(steps)]
            seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
            now, asleep = time.perf_counter(), list(SignalsEnv.asleep.values())
            slept = SignalsEnv.slept + sum(now - start for start in asleep)
            if not engine:
                # The longest sleep of an update is known; the rest is attributed to the engine, per
                # turn.
                episodes = Episodes(run, chosen.rollout.members)
                longest = [episodes.longest(step) for step in range(steps)]
                rest = [r["seconds/collect"] - most for r, most in zip(rows, longest, strict=True)]
                half = max(1, steps // 2)
                engine = max(0.0, float(np.mean(rest[:half]))) / TURNS
                learner = float(np.mean([row["seconds/learn"] for row in rows[:half]]))
            return {
                "seconds": seconds,
                "cpu_s": cpu,
                "slept": slept,
                "predicted": predicted(run, engine, learner, chosen.asynchrony.late),
                "engine": engine,
                "learner": learner,
                "learn": [row["seconds/learn"] for row in rows],
                "rewards": [row["reward"] for row in rows],
                "staleness": [row.get("staleness/mean", 0.0) for row in rows],
                "withheld": sum(row.get("tokens/withheld", 0.0) for row in rows),
                "offered": float(np.mean([row.get("length/offered", 0.0) for row in rows])),
                "trained": float(np.mean([row.get("length/trained", 0.0) for row in rows])),
                "before": before,
                "after": _after(run) if measure else 0.0,
            }
        finally:
            run.close()


def _after(run: Trainer) -> float:
    SignalsEnv.scale = 0.0
    return run.measure(100).success


if __name__ == "__main__":
    print(json.dumps(main(**json.loads(sys.argv[1]))))
