"""Compares trees of rollouts with chains: distinct rollouts at equal drawn tokens, and forks.

    python benchmarks/trees.py sql-tiny POLICY [--tasks 8] [--members 12] [--write]

The policy is a checkpoint, such as the cloned `start/` of a run of the recipe.
Each structure plays one group per dev task of the recipe. Its distinct rollouts, those with
different sequences of actions, are compared with those among as many chains as draw the same number
of tokens. The environment's time per rollout, from reset to the last action without grading, is
measured with forks and with the same trees re-played, and one fork at the last state of an oracle's
episode is compared with re-playing it. `--write` replaces the recipe's section of
`docs/notes/trees.md`.
"""

import argparse
import asyncio
import datetime
import os
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

import hexathlon
from hexathlon.baselines.agents.policy import PolicyAgent
from hexathlon.baselines.agents.spec import parse_model, scripted_agent
from hexathlon.baselines.codecs import get_codec
from hexathlon.baselines.engines.local.engine import LocalEngine
from hexathlon.baselines.engines.local.loading import load_checkpoint
from hexathlon.baselines.pipeline.catalogue import STRUCTURES
from hexathlon.baselines.pipeline.collect import Collector, GroupPlan
from hexathlon.baselines.pipeline.growth import TreeGrowth
from hexathlon.baselines.rollout.environments import make_env
from hexathlon.baselines.rollout.executor import LocalExecutor, Request
from hexathlon.baselines.rollout.limits import TrialLimits
from hexathlon.baselines.tokens.render import ChatRenderer
from hexathlon.baselines.tokens.requests import TokenSampling
from hexathlon.baselines.tokens.trajectory import Trajectory
from hexathlon.baselines.training.recipe import load_recipe
from hexathlon.tasks.taskset import TaskSet

TREES: list[tuple[str, dict[str, Any]]] = [
    ("random_branches", {}),
    ("random_branches", {"inside": True}),
    ("random_branches", {"chains": 0.1, "inside": True}),
    ("arpo", {"chains": 0.25}),
    ("aepo", {}),
    ("trace", {}),
    ("treepo", {}),
    ("treepo", {"tokens": 32}),
    ("tree_ps", {}),
    ("vines", {}),
    ("reex", {}),
    ("latr", {}),
    ("ettrl", {}),
    ("ettrl", {"chains": 0.1}),
    ("echo_ttrl", {}),
]
TIMED = ("treepo",)
"""Structures that are also measured without forks."""

WANTED = 1.5
"""Target: distinct rollouts of a tree over those of chains that draw as many tokens."""

TIMED_METHODS = ("reset", "snapshot", "restore", "step")
"""Methods of environments whose time is measured."""

NOTE = Path(__file__).resolve().parents[1] / "docs" / "notes" / "trees.md"


class Group(NamedTuple):
    """The rollouts of one task."""

    played: list[Trajectory]
    drawn: int
    """Tokens sampled, those of pruned rollouts included."""

    read: int
    """Tokens prefilled."""

    seconds: float
    """Time in the environment: reset, snapshot, restore and steps, without those that grade."""

    @property
    def distinct(self) -> int:
        """Number of different sequences of actions."""
        return len({_actions(trajectory) for trajectory in self.played})


class Clock:
    """Adds up the time in the methods of environments."""

    def __init__(self, *, forks: bool) -> None:
        self.seconds = 0.0
        self._forks = forks

    def make(self, env_id: str) -> Any:
        """Make an environment whose methods are timed; without forks, prefixes are re-played."""
        env = make_env(env_id)
        for name in TIMED_METHODS:
            setattr(env, name, self._timed(getattr(env, name)))
        if not self._forks:
            env.supports_fork = False
        return env

    def _timed(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            began = time.perf_counter()
            result = method(*args, **kwargs)
            if not _ends(result):
                self.seconds += time.perf_counter() - began
            return result

        return call


def _ends(result: Any) -> bool:
    """Return whether a result is that of a step that ends the episode, which grades it."""
    return isinstance(result, tuple) and len(result) == 5 and (result[2] or result[3])


def _actions(trajectory: Trajectory) -> tuple[str, ...]:
    return tuple(step["action"] for step in trajectory.record["steps"])


class Bench:
    """One event with a policy.

    Args:
        recipe_name: The recipe that names tasks and limits.
        policy: The checkpoint.
        tasks: Number of dev tasks.
        members: Rollouts per task.
    """

    def __init__(self, recipe_name: str, policy: Path, tasks: int, members: int) -> None:
        self.recipe = load_recipe(recipe_name)
        self.members = members
        (self._table,) = self.recipe.tasks
        self._tasks = self._table.addresses("dev", tasks)
        self._checkpoint = load_checkpoint(policy)
        self._renderer = ChatRenderer(self._checkpoint.tokenizer)

    def play(
        self, structure: str, parameters: dict[str, Any], *, members: int = 0, forks: bool = True
    ) -> list[Group]:
        """Play one group per task, each from an empty cache."""
        made = STRUCTURES[structure](**parameters)
        growth = made if isinstance(made, TreeGrowth) else None
        sampling = TokenSampling(
            max_tokens=self.recipe.rollout.max_tokens, seed=1, entropies=growth is not None
        )
        engine = LocalEngine(self._checkpoint.model)
        codec = get_codec(self.recipe.policy.dialect)
        agent = PolicyAgent(engine, self._renderer, codec, sampling)
        clock = Clock(forks=forks)
        executor = LocalExecutor(agent, clock.make, self.members)
        limits = TrialLimits(turns=self._table.turns)
        groups = []
        for task in self._tasks:
            plan = GroupPlan(task, self._table.env, limits, members or self.members, 0)
            played: list[Trajectory] = []

            def keep(batch: list[Trajectory], into: list[Trajectory] = played) -> Any:
                into.extend(batch)
                return batch

            before, seconds = engine.counts, clock.seconds
            asyncio.run(Collector(executor, (), keep, growth=growth).collect([plan]))
            after = engine.counts
            asyncio.run(engine.clear())
            drawn, read = after["drawn"] - before["drawn"], after["read"] - before["read"]
            groups.append(Group(played, drawn, read, clock.seconds - seconds))
        executor.close()
        return groups


def distinct_chains(chains: Group, drawn: int) -> float:
    """Return the distinct rollouts among the first chains that draw a number of tokens.

    The count is interpolated linearly between two chains.
    """
    seen: set[tuple[str, ...]] = set()
    spent = 0
    for trajectory in chains.played:
        tokens = trajectory.sampled_tokens
        new = _actions(trajectory) not in seen
        if spent + tokens > drawn:
            return len(seen) + new * (drawn - spent) / tokens
        spent += tokens
        seen.add(_actions(trajectory))
    return float(len(seen))


def ratio_interval(values: list[float], others: list[float]) -> str:
    """Return a 95 % bootstrap interval over tasks of the ratio of two sums, as text."""
    draw = np.random.default_rng(0)
    picks = draw.integers(len(values), size=(2000, len(values)))
    ratios = np.array(values)[picks].sum(1) / np.maximum(np.array(others)[picks].sum(1), 1e-9)
    low, high = np.quantile(ratios, [0.025, 0.975])
    return f"({low:.2f} to {high:.2f})"


def milliseconds(groups: list[Group]) -> float:
    """Return the mean time of a rollout in the environment."""
    return 1e3 * sum(group.seconds for group in groups) / sum(len(g.played) for g in groups)


def rows_of(bench: Bench) -> tuple[list[str], list[str]]:
    """Return the rows of the two tables of an event."""
    many = bench.play("independent", {}, members=2 * bench.members)
    chains = bench.play("independent", {})
    rows, times = [], [f"| chains | {milliseconds(chains):.1f} | | |"]
    for name, parameters in TREES:
        given = "".join(f", {key} = {value}" for key, value in parameters.items())
        groups = bench.play(name, parameters)
        trees = [float(group.distinct) for group in groups]
        equal = [distinct_chains(each, tree.drawn) for each, tree in zip(many, groups, strict=True)]
        ratio = sum(trees) / sum(equal)
        drawn = sum(g.drawn for g in groups) / sum(g.drawn for g in chains)
        read = sum(g.read for g in groups) / sum(g.read for g in chains)
        met = "yes" if ratio >= WANTED else "no"
        rows.append(
            f"| `{name}`{given} | {np.mean(trees):.1f} | {np.mean(equal):.1f} | {ratio:.2f} "
            f"{ratio_interval(trees, equal)} | {met} | {drawn:.2f} | {read:.2f} |"
        )
        print(rows[-1], flush=True)
        if name in TIMED:
            replayed = bench.play(name, parameters, forks=False)
            forked, again = milliseconds(groups), milliseconds(replayed)
            spread = ratio_interval([g.seconds for g in replayed], [g.seconds for g in groups])
            times.append(
                f"| `{name}`{given} | {forked:.1f} | {again:.1f} | {again / forked:.2f} {spread} |"
            )
            print(times[-1], flush=True)
    return rows, times


def fork_rows(recipe_name: str, count: int) -> list[str]:
    """Return the rows of the table of single forks by level, after the oracle's next-to-last turn.

    A fork is a restore, a re-play a reset with the actions so far. Both include the next action,
    since an environment may start its processes only then.
    """
    (table,) = load_recipe(recipe_name).tasks
    rows = []
    for level in ("tiny", "medium", "hard"):
        env = make_env(table.env)
        executor = LocalExecutor(scripted_agent(parse_model("agent:oracle")), make_env, 1)
        tasks = TaskSet(table.source, "dev", level)
        turns, forks, replays = [], [], []
        for number in range(count):
            key = (table.env, tasks.task_id(number * 7), 0, 0)
            (played,) = asyncio.run(executor.run([Request(key, points=True)]))
            if not isinstance(played, Trajectory) or len(played.record["steps"]) < 3:
                continue
            actions = [step["action"] for step in played.record["steps"]]
            point = played.points[-2]
            began = time.perf_counter()
            env.restore(point.state)
            env.step(actions[point.turns])
            forked = time.perf_counter()
            env.reset(seed=0, options={"task": key[1]})
            for action in actions[: point.turns + 1]:
                env.step(action)
            replays.append(time.perf_counter() - forked)
            forks.append(forked - began)
            turns.append(point.turns)
        env.close()
        executor.close()
        if forks:
            rows.append(
                f"| {level} | {len(forks)} | {np.mean(turns):.1f} | {1e3 * np.mean(forks):.1f} | "
                f"{1e3 * np.mean(replays):.1f} | {sum(replays) / sum(forks):.2f} "
                f"{ratio_interval(replays, forks)} |"
            )
            print(rows[-1], flush=True)
    return rows


def main() -> None:
    """Measure one recipe's event and print its section of the note."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("recipe", help="a recipe with one table of tasks, such as sql-tiny")
    parser.add_argument("policy", type=Path, help="a checkpoint")
    parser.add_argument("--tasks", type=int, default=8)
    parser.add_argument("--members", type=int, default=12)
    parser.add_argument("--about", default="", help="how the policy was made, for the note")
    parser.add_argument("--write", action="store_true", help=f"write to {NOTE.name}")
    words = parser.parse_args()
    torch.set_num_threads(1)
    load = os.getloadavg()[0]
    rows, times = rows_of(Bench(words.recipe, words.policy, words.tasks, words.members))
    single = fork_rows(words.recipe, words.tasks)
    section = SECTION.format(
        recipe=words.recipe,
        about=f" {words.about}" if words.about else "",
        date=datetime.datetime.now(datetime.UTC).date(),
        load=f"{load:.1f} before, {os.getloadavg()[0]:.1f} after",
        cores=os.cpu_count(),
        versions=f"hexathlon {hexathlon.__version__}, torch {torch.__version__}, Python "
        f"{platform.python_version()}",
        tasks=words.tasks,
        members=words.members,
        rows="\n".join(rows),
        times="\n".join(times),
        single="\n".join(single),
    )
    sys.stdout.write(section)
    if words.write:
        NOTE.write_text(replaced(words.recipe, section), encoding="utf-8")


def replaced(recipe: str, section: str) -> str:
    """Return the note with a recipe's section in place of its old one, sections by name."""
    old = NOTE.read_text(encoding="utf-8") if NOTE.exists() else ""
    parts = {part.partition("\n")[0]: f"## {part}" for part in old.split("## ")[1:]}
    parts[recipe] = section
    sections = "\n".join(parts[name].rstrip("\n") + "\n" for name in sorted(parts))
    return f"{PAGE.format(wanted=WANTED)}\n{sections}"


SECTION = """## {recipe}

{date}: {cores} cores, load {load}, {versions}. {tasks} dev tasks, {members} rollouts each.{about}

| structure | distinct rollouts of a tree | of chains with as many drawn tokens | ratio (95 %) | met | drawn tokens | prefilled tokens |
|---|---|---|---|---|---|---|
{rows}

| environment, ms per rollout | with forks | re-played | ratio (95 %) |
|---|---|---|---|
{times}

| level | tasks | turns before the fork | fork, ms | re-play, ms | ratio (95 %) |
|---|---|---|---|---|---|
{single}
"""  # noqa: E501

PAGE = """# Trees of rollouts

Written by `benchmarks/trees.py`. Rollouts are distinct if their sequences of actions differ. The
ratio compares a tree with as many chains as draw the same number of tokens, tokens of pruned
branches included; the target is at least {wanted:g}. Its interval is a bootstrap over tasks. Drawn
and prefilled tokens are relative to a group of chains. The environment's time is that of reset,
snapshot, restore and steps, without the last step, which grades. "Re-played" is the same tree with
the recorded actions played again instead of a fork. The last table is one fork, with the next
action, of an episode of the oracle.
"""

if __name__ == "__main__":
    main()
