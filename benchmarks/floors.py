"""Floors of an event: predictability of endings from ids, and scores of imitating agents.

    python benchmarks/floors.py hexathlon/SQL-v0 --tasks 540 --cache solved.jsonl

The oracle first solves the tasks, spread evenly over dev, test and train. The id classifier then
predicts how each episode ends from id, index, seed and hash alone, and from the agent's view; and
the four imitating policies play every task with lessons from another split. Oracle episodes are
cached, so that an interrupted measurement continues.
"""

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path

from hexathlon.envs.plugins import load_plugins
from hexathlon.envs.testing.identity_checks import forecasts, number_findings
from hexathlon.envs.testing.lessons import Lessons
from hexathlon.envs.testing.solving import Solved
from hexathlon.envs.testing.subject import Subject
from hexathlon.evaluators.anchors import IMITATING_AGENTS
from hexathlon.evaluators.statistics.intervals import wilson


def solved(subject: Subject, cache: Path) -> Iterator[Solved]:
    """Yield the oracle's episodes, those in the cache without playing."""
    known = {}
    if cache.exists():
        lines = (json.loads(line) for line in cache.read_text().splitlines())
        known = {line["id"]: line for line in lines}
    with cache.open("a") as file:
        for task_id in subject.ids():
            if task_id not in known:
                (one,) = subject.solve([task_id])
                line = {"id": task_id, "opening": one.opening, "actions": one.actions}
                known[task_id] = {**line, "reward": one.reward, "status": one.status}
                print(json.dumps(known[task_id]), file=file, flush=True)
            line = known[task_id]
            yield Solved(
                subject.source.build(task_id), line["opening"], tuple(line["actions"]),
                line["reward"], line["status"],
            )  # fmt: skip


def play(subject: Subject, episodes: list[Solved], policy: str) -> list[float]:
    """Return a policy's scores, each task played with lessons from another split."""
    train = Lessons([each for each in episodes if each.task.split == "train"])
    dev = Lessons([each for each in episodes if each.task.split != "train"])
    env = subject.make()
    rewards = []
    try:
        for each in episodes:
            lessons = dev if each.task.split == "train" else train
            episode = subject.play_shown(
                env,
                each.task,
                lambda text: lessons.script(policy, each.task, text),  # noqa: B023
            )
            rewards.append(episode.reward)
    finally:
        env.close()
    return rewards


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("env", help="id, such as hexathlon/SQL-v0")
    parser.add_argument("--tasks", type=int, default=540)
    parser.add_argument("--cache", type=Path, required=True)
    options = parser.parse_args()
    load_plugins()
    subject = Subject(options.env, tasks=options.tasks)
    began = time.process_time()
    episodes = list(solved(subject, options.cache))
    print(f"{options.env}: {len(episodes)} tasks, ", end="")
    print(f"{sum(each.reward == 1 for each in episodes)} solved by the oracle")
    for finding in number_findings(episodes):
        print("  ", finding)
    for name, right in forecasts(episodes).items():
        print(f"  endings predicted from {name}: {sum(right) / len(right):.1%}", flush=True)
    for policy in IMITATING_AGENTS:
        rewards = play(subject, episodes, policy)
        mean = sum(rewards) / len(rewards)
        bounds = wilson(mean, len(rewards), 1.96)
        print(f"  {policy}: {mean:.1%} ({bounds[0]:.1%} to {bounds[1]:.1%})", flush=True)
    print(f"  {time.process_time() - began:.0f} s of CPU time")


if __name__ == "__main__":
    main()
