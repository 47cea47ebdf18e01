"""The service desk of the shopping event compared with tau2-bench's retail domain, on its own data.

    python benchmarks/tau2_speed.py --peer PYTHON [--tasks 10] [--rounds 5] [--json]

PYTHON is the interpreter of an environment with tau2. Both sides play the first training tasks by
their reference actions: a fresh state, the tool calls, and the reward, for which the reference is
replayed; we do that when a task is built, which is counted. Ours are whole episodes with their
conversation, tau2's leave out its orchestrator. The files come with the peer. Sides alternate; the
first round is a warm-up and does not count. CPU time.
"""

import argparse
import json
import os
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any, Self

from comparing import Row, add_options, compare, print_rows
from measuring import Figure, print_findings

from hexathlon.envs.shopping.env import ShoppingEnv
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.source import play
from hexathlon.tasks.task import Task

PEER = Path(__file__).resolve().parent / "peers" / "tau2_retail.py"


class Tau2:
    """tau2 in a child process.

    Args:
        python: Interpreter that has it.
        tasks: Number of tasks in a round.
    """

    def __init__(self, python: str, tasks: int) -> None:
        self._process = subprocess.Popen(
            [python, PEER, str(tasks)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.data = Path(self._answer()["data"])
        """Folder of tau2's retail files."""

    def round(self) -> dict[str, Any]:
        """Play the tasks once."""
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        while line := self._process.stdout.readline():
            if line.startswith("{"):
                answer: dict[str, Any] = json.loads(line)
                return answer
        raise RuntimeError(f"tau2 ended with {self._process.wait(60)}; see its message above")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate(timeout=60)  # ends its input


def episode(env: ShoppingEnv, task: Task) -> None:
    """Play a task by its reference, and check that it is solved."""
    env.reset(seed=0, options={"task": task.id})
    rewards = []

    def respond(action: str) -> str | None:
        observation, reward, terminated, truncated, _ = env.step(action)
        rewards.append(float(reward))
        return None if terminated or truncated else str(observation)

    play(get_source("tau2-retail").oracle(task), respond)
    assert rewards[-1] == 1.0, f"{task.id} ended with a reward of {rewards[-1]}"


def measure(peer: str, count: int, rounds: int) -> list[Row]:
    """Return CPU milliseconds per episode of both sides."""
    ours, theirs = [], []
    with tempfile.TemporaryDirectory() as folder, Tau2(peer, count) as tau2:
        (Path(folder) / "tau2_retail").symlink_to(tau2.data)
        os.environ["HEXATHLON_DATA"] = folder
        source, env = get_source("tau2-retail"), ShoppingEnv()
        ids = [source.address("train", index) for index in range(count)]
        for _ in range(rounds + 1):
            theirs.append(1e3 * tau2.round()["cpu_s"] / count)
            start = time.process_time()
            for task_id in ids:
                episode(env, source.build(task_id))
            ours.append(1e3 * (time.process_time() - start) / count)
    name = f"service desk: an episode, {count} tau2 retail tasks"
    return [compare(name, "ms CPU", ours[1:], theirs[1:], beside="tau2", least=50)]


def main() -> None:
    """Run the benchmark and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--peer", required=True, help="an interpreter that has tau2")
    parser.add_argument("--tasks", type=int, default=10)
    add_options(parser)
    options = parser.parse_args()
    rows = measure(options.peer, options.tasks, options.rounds)
    for row in rows:
        print_findings(
            [
                Figure(f"{row.name}: ours", row.ours, row.unit),
                Figure(f"{row.name}: tau2", row.peer or 0, row.unit),
                Figure(f"{row.name}: times less", row.ratio or 0, "x", row.least),
            ]
        )
    if options.json:
        print_rows(rows)


if __name__ == "__main__":
    main()
