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
import copy
import json
import time
import tomllib
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import method_results
import methods_page
import numpy as np
import rooms
import torch

from hexathlon.baselines.algorithms.catalogue import ESTIMATORS
from hexathlon.baselines.algorithms.samples import Group
from hexathlon.baselines.learner.batching import Example
from hexathlon.baselines.learner.critic import Critic
from hexathlon.baselines.learner.learner import Learner
from hexathlon.baselines.pipeline.catalogue import (
    ALLOCATORS,
    FILTERS,
    HINTS,
    HORIZONS,
    SAMPLERS,
    SHAPINGS,
)
from hexathlon.baselines.pipeline.replay import Memory, ReplayStage
from hexathlon.baselines.pipeline.structures import leaves
from hexathlon.baselines.pipeline.task_statistics import TaskStatistics
from hexathlon.baselines.training.recipe import Recipe
from hexathlon.tasks.seeding import generator_for

HERE = Path(__file__).resolve().parent
MARKS, MARK_EPISODES, FINAL_EPISODES = 10, 256, 1024
HINTED = 1 << 40
"""Added to the number of a group that starts behind a hint."""

TRIES = 4
"""Batches that a step plays at most to fill itself after a filter."""


class Method(NamedTuple):
    """A method of the comparison."""

    name: str
    recipe: Recipe
    extra_members: int
    """Rollouts per task beyond the setting's."""


class Setting(NamedTuple):
    """A variant of the event with its budget."""

    name: str
    knobs: rooms.Knobs
    budget: int
    """Tokens, sampled and trained."""

    tuned: str
    """Setting whose learning rates are used; its own by default."""


class Job(NamedTuple):
    """One run of the comparison."""

    method: str
    setting: str
    rate: float
    seed: int


def laid_over(base: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    """Merge the tables of `more` into those of `base`; components with other names are replaced."""
    result = dict(base)
    for key, value in more.items():
        merged = isinstance(value, dict) and isinstance(base.get(key), dict) and "name" not in value
        result[key] = laid_over(base[key], value) if merged else value
    return result


@cache
def methods(file: Path = HERE / "methods.toml") -> dict[str, Method]:
    """Return the methods by name."""
    table = tomllib.loads(file.read_text(encoding="utf-8"))
    base = tomllib.loads(table["base"])
    return {
        row["name"]: Method(
            row["name"],
            Recipe(**laid_over(base, tomllib.loads(row["recipe"]))),
            row.get("extra_members", 0),
        )
        for row in table["method"]
    }


def settings(file: Path) -> dict[str, Setting]:
    """Return the settings of a file of claims by name."""
    return {
        name: Setting(name, rooms.Knobs(**row["knobs"]), row["budget"], row["tuned"])
        for name, row in method_results.settings_of(file).items()
    }


class Start(NamedTuple):
    """What the runs of a seed share."""

    world: rooms.World
    weights: dict[str, torch.Tensor]


def start(knobs: rooms.Knobs, seed: int, known: dict[Any, Start]) -> Start:
    """Return the world and the initial weights of a seed; `known` keeps them."""
    key = (knobs.start, seed)
    if key not in known:
        world, policy = rooms.World(knobs, seed), rooms.Policy(knobs, seed)
        rooms.fit_novice(world, policy, seed)
        known[key] = Start(world, policy.state_dict())
    return known[key]._replace(world=rooms.World(knobs, seed))


class MethodRun:
    """One method in one setting, with a learning rate and a seed."""

    def __init__(
        self, method: Method, setting: Setting, rate: float, seed: int, begin: Start
    ) -> None:
        recipe, knobs = method.recipe, setting.knobs
        optimiser = replace(recipe.learn.optimiser, learning_rate=rate)
        learn = recipe.learn.model_copy(update={"optimiser": optimiser})
        self.recipe = recipe = recipe.model_copy(update={"learn": learn})
        self.setting, self.seed, self.world = setting, seed, begin.world
        self.members = knobs.members + method.extra_members
        self.tasks = knobs.episodes // knobs.members
        self.model = rooms.Policy(knobs, seed)
        self.model.load_state_dict(begin.weights)
        reference = copy.deepcopy(self.model) if recipe.learn.objective.beta > 0 else None
        critic = Critic(self.model, recipe.critic, 1000) if recipe.critic else None
        self.learner = Learner(self.model, recipe.learner_config(), 1000, reference, critic)
        self.sampler = copy.deepcopy(self.model)
        self.past = deque([copy.deepcopy(self.model.state_dict())], maxlen=knobs.lag + 1)
        self.known = TaskStatistics()
        memory = Memory(recipe.replay.groups, recipe.replay.tasks)
        self.replay = ReplayStage(recipe.replay.name, recipe.replay.parameters, memory, seed)
        self.pending: rooms.Walks | None = None
        self.draw = generator_for("methods", seed)
        self.step = self.drawn = self.trained = self.turns = self.submitted = 0
        self.rooms_submitted: list[int] = []
        self.rooms_trained: list[int] = []

    @property
    def tokens(self) -> int:
        """Tokens used so far, sampled and trained."""
        return self.drawn + self.trained

    def play(self) -> dict[str, Any]:
        """Train until the budget is used up; return success by tenths of the budget."""
        budget, curve = self.setting.budget, [self._success(MARK_EPISODES)]
        while self.advance():
            while self.tokens >= len(curve) * budget / MARKS:
                curve.append(self._success(MARK_EPISODES))
        final = self._success(FINAL_EPISODES)
        curve += [final] * (MARKS + 1 - len(curve))
        bias = 0.0
        if self.rooms_trained:
            bias = float(np.mean(self.rooms_trained) / np.mean(self.rooms_submitted) - 1.0)
        return {
            "final": round(final, 4),
            "curve": [round(value, 4) for value in curve],
            "updates": self.step,
            "drawn": self.drawn,
            "trained": self.trained,
            "turns": self.turns,
            "length_bias": round(bias, 4),
        }

    def advance(self) -> bool:
        """Play a step and update the policy, unless that would exceed the budget."""
        groups: list[Group] = []
        filtered = any(part.name == "varied" for part in self.recipe.credit.filters)
        for attempt in range(TRIES):
            fresh = self._rollouts()
            groups += self._kept(fresh, attempt)
            if not filtered or len(groups) >= self.tasks or self.tokens >= self.setting.budget:
                break
        if filtered:
            groups = groups[: self.tasks]
        groups = self.replay.joined(groups, self.step)
        examples, cost = self._examples(groups)
        if self.tokens + cost > self.setting.budget:
            return False
        if examples:
            self.learner.update(examples)
            self.learner.version += 1
        self.trained += cost
        self.step += 1
        if self.setting.knobs.lag:
            self.past.append(copy.deepcopy(self.model.state_dict()))
        return True

    def _success(self, episodes: int) -> float:
        return rooms.success(self.world, self.model, episodes, self.seed)

    def _plan(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the tasks of the step, and the rollouts of each before any fork."""
        generate, names = self.recipe.generate, self.world.names
        count = self.tasks * generate.candidates
        order = [self.draw.permutation(len(names)) for _ in range(1 + count // len(names))]
        candidates = np.concatenate(order)[:count]
        if generate.sampler.name != "first":
            candidates = np.array(list(dict.fromkeys(candidates.tolist())))
        chosen = SAMPLERS[generate.sampler.name](
            [names[task] for task in candidates],
            self.known,
            min(self.tasks, len(candidates)),
            self.draw,
            **generate.sampler.parameters,
        )
        tasks = candidates[chosen]
        roots = ALLOCATORS[generate.allocator.name](
            self.known.success([names[task] for task in tasks]),
            self.tasks * self.members // leaves(generate.splits()),
            **generate.allocator.parameters,
        )
        return tasks, np.array(roots)

    def _begun(self) -> rooms.Walks:
        """Return the episodes of the step at their starts, behind their hints."""
        generate, knobs = self.recipe.generate, self.setting.knobs
        tasks, roots = self._plan()
        if (over := self.recipe.asynchrony.over_provision) > 1.0:
            have = 0 if self.pending is None else len(np.unique(self.pending.group))
            more = max(0, round(self.tasks * over) - have)
            tasks, roots = np.resize(tasks, more), np.full(more, self.members)
        horizon = HORIZONS[generate.horizon.name](
            self.step, knobs.horizon, **generate.horizon.parameters
        )
        walks = rooms.Walks(self.world, np.repeat(tasks, roots), knobs.horizon)
        walks.group = np.repeat(np.arange(len(tasks)), roots) + self.submitted
        walks.horizon = horizon
        self.submitted += len(tasks)
        self.rooms_submitted += self.world.lengths[tasks].tolist()
        self._give_hints(walks)
        if self.pending is not None:
            walks, self.pending = self.pending.joined(walks), None
        return walks

    def _give_hints(self, walks: rooms.Walks) -> None:
        """Play the hints of every second rollout, which makes these a group of their own.

        The others keep the estimates of success without a hint up to date.
        """
        part = self.recipe.generate.hint
        rates = self.known.success([self.world.names[task] for task in walks.task])
        lengths = self.world.lengths[walks.task]
        hints = np.zeros(len(lengths), dtype=int)
        for row in range(1, len(lengths), 2):
            given = HINTS[part.name](float(rates[row]), int(lengths[row]), **part.parameters)
            hints[row] = min(given, lengths[row] - 1)
        walks.group[hints > 0] += HINTED
        for turn in range(int(hints.max(initial=0))):
            walks.take(np.flatnonzero(hints > turn), rooms.oracle, self.draw, 0, True)

    def _rollouts(self) -> list[Group]:
        knobs, over = self.setting.knobs, self.recipe.asynchrony.over_provision > 1.0
        policy, version = self.model, self.learner.version
        if knobs.lag:
            self.sampler.load_state_dict(self.past[0])
            policy, version = self.sampler, max(0, version - knobs.lag)
        act, walks = rooms.player(policy, self.draw), self._begun()
        splits = {split.after: split.width for split in self.recipe.generate.splits()}
        while len(walks.active):
            self.drawn += 2 * len(walks.active)
            self.turns += 1
            walks.step(act, self.draw, version)
            for after, width in splits.items():
                rows = np.flatnonzero(~walks.done & (walks.turns - walks.hinted == after))
                walks = walks.fork(rows, width - 1) if len(rows) else walks
            if over and len(self._finished(walks)) >= self.tasks:
                break
        if over:
            taken = np.isin(walks.group, self._finished(walks)[: self.tasks])
            if self.recipe.asynchrony.late != "drop" and not taken.all():
                self.pending = walks.chosen(np.flatnonzero(~taken))
            walks = walks.chosen(np.flatnonzero(taken))
        groups = walks.groups(self.draw, bool(splits))
        firsts = np.unique(walks.group, return_index=True)[1]
        self.rooms_trained += self.world.lengths[walks.task[firsts]].tolist()
        unhinted = walks.hinted[firsts] == 0
        self.known.observe([g for g, own in zip(groups, unhinted, strict=True) if own])
        return groups

    @staticmethod
    def _finished(walks: rooms.Walks) -> np.ndarray:
        """Return the groups all of whose episodes have ended, the oldest first."""
        return np.setdiff1d(walks.group, walks.group[~walks.done])

    def _kept(self, groups: list[Group], attempt: int) -> list[Group]:
        credit = self.recipe.credit
        for part in credit.shapings:
            groups = SHAPINGS[part.name](groups, **part.parameters)
        if self.recipe.control == "shuffled_rewards":
            groups = self._shuffled(groups)
        groups = self.replay.repaired(groups, self.step, attempt)
        for part in credit.filters:
            groups = FILTERS[part.name](groups, **part.parameters)
        return groups

    def _shuffled(self, groups: list[Group]) -> list[Group]:
        rewards = np.concatenate([group.rewards for group in groups])
        dealt = iter(self.draw.permutation(rewards))
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

    def _examples(self, groups: Sequence[Group]) -> tuple[list[Example], int]:
        """Return the update's examples in a random order, and their tokens."""
        if not groups:
            return [], 0
        samples = [sample for group in groups for sample in group.samples]
        part = self.recipe.credit.estimator
        credit = ESTIMATORS[part.name](groups, self.learner.values(samples), **part.parameters)
        targets = credit.returns or [None] * len(samples)
        streams = list(zip(samples, credit.advantages, credit.weights, targets, strict=True))
        order = self.draw.permutation(len(streams))
        examples = [Example(*streams[number]) for number in order if streams[number][2].any()]
        passes = self.recipe.learn.epochs
        passes += self.recipe.critic.epochs if self.recipe.critic else 0
        return examples, passes * round(sum(float(each.weight.sum()) for each in examples))


class Bench:
    """What all runs of a process share.

    Args:
        settings: Variants of the event by name.
    """

    def __init__(self, settings: dict[str, Setting]) -> None:
        self.settings = settings
        self.methods = methods()
        self.starts: dict[Any, Start] = {}

    def measured(self, job: Job) -> dict[str, Any]:
        """Carry out a run and return its line of the results."""
        method, setting = self.methods[job.method], self.settings[job.setting]
        begin = start(setting.knobs, job.seed, self.starts)
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
    parser.add_argument("--most", type=int, help="runs after which to stop")
    parser.add_argument("--file", type=Path, default=method_results.FILE, help="of the claims")
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
