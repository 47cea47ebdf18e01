"""Trainers of the toy event whose environments a test controls."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hexathlon.baselines.engines.local.loading import load_checkpoint
from hexathlon.baselines.training.recipe import recipe_of
from hexathlon.baselines.training.start import make_start
from hexathlon.baselines.training.trainer import Trainer
from hexathlon.envs.base import Environment
from hexathlon.envs.errors import EnvFault
from hexathlon.tasks.task import Task
from support.toy import ToyEnv

__all__ = ["DEADLINE", "ControlledToy", "Faults", "made_start", "played", "recipe", "trainer"]

DEADLINE = 300.0
"""Seconds after which a waiting test gives up."""

TABLE: dict[str, Any] = {
    "name": "toy",
    "steps": 4,
    "tasks": {"env": "harness/Toy-v0", "source": "toy", "turns": 3},
    "policy": {
        "shape": {
            "vocabulary": 300,
            "width": 32,
            "layers": 1,
            "heads": 2,
            "kv_heads": 1,
            "feed_forward": 32,
            "context": 256,
        }
    },
    "clone": {"demonstrations": 64, "settings": {"steps": 25, "batch": 16}},
    "rollout": {"groups": 2, "members": 2, "max_tokens": 8, "concurrency": 8},
    # A baseline of 0.5, so that failures also change the policy.
    "credit": {"estimator": {"name": "reinforce", "parameters": {"baseline": 0.5}}},
    "evaluation": {"tasks": 4},
}


def recipe(**changes: Any) -> Any:
    """Return the recipe; changes are given by dotted key, with `__` for the dot."""
    return recipe_of(TABLE, {name.replace("__", "."): value for name, value in changes.items()})


def made_start(folder: Path) -> Path:
    """Create the initial policy of the recipe."""
    make_start(recipe(), folder, lambda *report: None)
    return folder


class ControlledToy(ToyEnv):
    """The toy event, with a function that is called with the task before each episode starts.

    The function may wait, or raise a fault.
    """

    def __init__(self, before: Callable[[Task], None]) -> None:
        super().__init__()
        self._before = before

    def on_reset(self, task: Task) -> str:
        self._before(task)
        return super().on_reset(task)


@contextmanager
def trainer(
    start: Path,
    folder: Path,
    before: Callable[[Task], None] = lambda task: None,
    environment: Callable[[], Environment] | None = None,
    **changes: Any,
) -> Iterator[Trainer]:
    """Open a trainer in a folder, resumed if it has a state, and close it.

    Args:
        start: The policy that it starts with.
        folder: The run's folder.
        before: Called before each episode starts; see `ControlledToy`.
        environment: Makes the environments, in place of `ControlledToy`.
        changes: Changes of the recipe.
    """
    checkpoint = load_checkpoint(start)

    def make(env_id: str) -> Environment:
        return ControlledToy(before) if environment is None else environment()

    # A checkpoint directory as the start, so that every trainer begins with the same policy.
    chosen = recipe(policy__checkpoint=str(start), **changes)
    opened = Trainer(chosen, checkpoint.model, checkpoint.tokenizer, make, folder)
    try:
        opened.resume()
        yield opened
    finally:
        opened.close()


class Faults:
    """Faults of the environment at chosen openings, counted by task."""

    def __init__(self, faulty: Callable[[str, int], bool]) -> None:
        self.openings: dict[str, int] = {}
        self._faulty = faulty
        self._lock = threading.Lock()

    def __call__(self, task: Task) -> None:
        with self._lock:
            number = self.openings.get(task.id, 0)
            self.openings[task.id] = number + 1
        if self._faulty(task.id, number):
            raise EnvFault("a planted fault")


def played(folder: Path, step: int) -> list[Any]:
    """Return the records of a step's rollouts, found through the run's log."""
    import gzip
    import json

    rows = []
    for path in sorted((folder / "rollouts").glob(f"step-{step:06}-*.jsonl.gz")):
        with gzip.open(path, "rb") as file:
            rows += [json.loads(line)["record"] for line in file]
    return rows
