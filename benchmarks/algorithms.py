"""Comparison of all algorithms on one small event, with equal initial policies and episodes.

    python benchmarks/algorithms.py [--seeds 5] [--only grpo,dapo] [--out runs/algorithms]
    python benchmarks/algorithms.py --write

Finished runs are lines of `results.jsonl`, so an interrupted comparison can be continued. `--write`
runs nothing: it renders table and plot in `docs` from the finished runs. The event is `rooms.py`,
the algorithms are listed in `algorithms.toml`.
"""

import argparse
import copy
import json
import time
import tomllib
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import algorithms_page
import numpy as np
import rooms
import torch

from hexathlon.baselines.algorithms.catalogue import ESTIMATORS
from hexathlon.baselines.algorithms.samples import Group
from hexathlon.baselines.learner.batching import Example
from hexathlon.baselines.learner.critic import Critic
from hexathlon.baselines.learner.learner import Learner
from hexathlon.baselines.pipeline.catalogue import FILTERS, SHAPINGS
from hexathlon.baselines.training.recipe import Recipe
from hexathlon.baselines.warmstart.cloning import CloneConfig, clone
from hexathlon.tasks.seeding import derive_seed, generator_for

HERE = Path(__file__).resolve().parent
SKILL, DEMONSTRATIONS, CLONING = 0.4, 1500, 120
TRIES, FINAL = 4, 512


class ComparedAlgorithm(NamedTuple):
    """One algorithm of the comparison."""

    name: str
    recipe: Recipe
    lag: int


def laid_over(base: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    """Merge the tables of `more` into those of `base`; components with other names are replaced."""
    result = dict(base)
    for key, value in more.items():
        merged = isinstance(value, dict) and isinstance(base.get(key), dict) and "name" not in value
        result[key] = laid_over(base[key], value) if merged else value
    return result


def entries() -> list[ComparedAlgorithm]:
    """Return the algorithms of the comparison."""
    file = tomllib.loads((HERE / "algorithms.toml").read_text(encoding="utf-8"))
    base = tomllib.loads(file["base"])
    return [
        ComparedAlgorithm(
            one["name"],
            Recipe(**laid_over(base, tomllib.loads(one["recipe"]))),
            int(one.get("lag", 0)),
        )
        for one in file["algorithm"]
    ]


def start(seed: int, folder: Path) -> Any:
    """Return the initial policy of a seed, cloned from a player of medium skill."""
    model, file = rooms.fresh_model(seed), folder / f"start-{seed}.pt"
    if file.exists():
        model.load_state_dict(torch.load(file, weights_only=True))
    else:
        shown = rooms.demonstrations(DEMONSTRATIONS, seed, SKILL)
        clone(model, shown, CloneConfig(steps=CLONING, batch=64, everything=0.1), seed)
        torch.save(model.state_dict(), file)
    return model.eval()


class AlgorithmRun:
    """One algorithm under one seed."""

    def __init__(self, entry: ComparedAlgorithm, seed: int, folder: Path) -> None:
        self.entry, self.seed = entry, seed
        self.recipe = recipe = entry.recipe
        self.model = start(seed, folder)
        reference = copy.deepcopy(self.model) if recipe.learn.objective.beta > 0 else None
        critic = Critic(self.model, recipe.critic, recipe.steps) if recipe.critic else None
        steps = recipe.steps * recipe.learn.minibatches * recipe.learn.epochs
        self.learner = Learner(self.model, recipe.learner_config(), steps, reference, critic)
        self.sampler = copy.deepcopy(self.model)
        self.past = deque([copy.deepcopy(self.model.state_dict())], maxlen=entry.lag + 1)
        self.drawn = 0

    def play(self) -> list[tuple[int, float]]:
        """Train until the budget of episodes is used up; return success by number of episodes."""
        size = self.recipe.rollout.groups * self.recipe.rollout.members
        budget, curve = self.recipe.steps * size, []
        while self.drawn < budget:
            success = self.advance(budget)
            curve.append((self.drawn, success))
        return curve

    def advance(self, budget: int) -> float:
        """One update; return the success of its first batch."""
        groups, first = [], None
        expected = self.recipe.rollout.groups
        for _ in range(TRIES):
            batch = self._batch()
            first = batch.success if first is None else first
            groups += self._kept(batch.groups)
            filtered = any(part.name == "varied" for part in self.recipe.credit.filters)
            if not filtered or len(groups) >= expected or self.drawn >= budget:
                break
        if groups:
            self._learn(groups[:expected])
        self.past.append(copy.deepcopy(self.model.state_dict()))
        return float(first or 0.0)

    def _batch(self) -> rooms.Batch:
        rollout = self.recipe.rollout
        self.sampler.load_state_dict(self.past[0])
        version = max(0, self.learner.version - self.entry.lag)
        seed = derive_seed("algorithms", self.seed, self.drawn) % 2**63
        self.drawn += rollout.groups * rollout.members
        return rooms.collect(self.sampler, rollout.groups, rollout.members, seed, version)

    def _kept(self, groups: list[Group]) -> list[Group]:
        credit = self.recipe.credit
        for part in credit.shapings:
            groups = SHAPINGS[part.name](groups, **part.parameters)
        if self.recipe.control == "shuffled_rewards":
            groups = self._shuffled(groups)
        for part in credit.filters:
            groups = FILTERS[part.name](groups, **part.parameters)
        return groups

    def _shuffled(self, groups: list[Group]) -> list[Group]:
        rewards = np.concatenate([group.rewards for group in groups])
        dealt = iter(generator_for("dealt", self.seed, self.drawn).permutation(rewards))
        return [
            replace(
                group,
                samples=tuple(
                    replace(s, rewards=(*(0.0,) * (len(s.rewards) - 1), float(next(dealt))))
                    for s in group.samples
                ),
            )
            for group in groups
        ]

    def _learn(self, groups: list[Group]) -> None:
        samples = [sample for group in groups for sample in group.samples]
        part = self.recipe.credit.estimator
        credit = ESTIMATORS[part.name](groups, self.learner.values(samples), **part.parameters)
        targets = credit.returns or [None] * len(samples)
        streams = list(zip(samples, credit.advantages, credit.weights, targets, strict=True))
        order = generator_for("order", self.seed, self.drawn).permutation(len(streams))
        self.learner.update([Example(*streams[number]) for number in order])
        self.learner.version += 1


def measured(entry: ComparedAlgorithm, seed: int, folder: Path) -> dict[str, Any]:
    """Train, then play fresh episodes."""
    started = time.process_time()
    run = AlgorithmRun(entry, seed, folder)
    curve = run.play()
    last = rooms.collect(run.model, FINAL // 8, 8, derive_seed("final", seed) % 2**63)
    return {
        "name": entry.name,
        "seed": seed,
        "curve": curve,
        "final": last.success,
        "cpu_s": round(time.process_time() - started, 2),
    }


def waiting(
    seeds: int, only: str, done: list[dict[str, Any]]
) -> Iterator[tuple[ComparedAlgorithm, int]]:
    """Yield the remaining runs seed by seed, so that an interrupted comparison is balanced."""
    have = {(row["name"], row["seed"]) for row in done}
    for seed in range(seeds):
        for entry in entries():
            expected = not only or entry.name in only.split(",")
            if expected and (entry.name, seed) not in have:
                yield entry, seed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--only", default="")
    parser.add_argument("--out", type=Path, default=HERE.parent / "runs" / "algorithms")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    options.out.mkdir(parents=True, exist_ok=True)
    file = options.out / "results.jsonl"
    rows = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    if options.write:
        algorithms_page.write(HERE / "algorithms.toml", rows, HERE.parent / "docs" / "notes")
        return
    with file.open("a") as opened:
        for entry, seed in waiting(options.seeds, options.only, rows):
            row = measured(entry, seed, options.out)
            opened.write(json.dumps(row) + "\n")
            opened.flush()
            print(f"{entry.name:<24} seed {seed}  {row['final']:.3f}  {row['cpu_s']:.1f} s")


if __name__ == "__main__":
    main()
