"""Shops for tests: a separate cache for generated catalogues, and drivers of episodes."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from hexathlon.envs.shopping.env import ShoppingEnv
from hexathlon.tasks.source import Script, play


def shared_folder(paths: pytest.TempPathFactory) -> Path:
    """Return a directory for catalogues that all processes of this run share.

    A catalogue is a function of its seed and size, and opened by whoever comes first.
    """
    base = paths.getbasetemp()
    return (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "catalogues"


@contextmanager
def cached_in(folder: Path) -> Iterator[None]:
    """Keep catalogues in `folder` within the context."""
    patch = pytest.MonkeyPatch()
    patch.setenv("HEXATHLON_CACHE", str(folder))
    try:
        yield
    finally:
        patch.undo()


def call(name: str, /, **arguments: Any) -> str:
    return json.dumps({"name": name, "arguments": arguments}, ensure_ascii=False)


def played(env: ShoppingEnv, task_id: str, script: Script | None, seed: int = 0) -> float:
    """Play a script to its end and return the score, of the current state if still open."""
    env.reset(seed=seed, options={"task": task_id})
    ended = False

    def respond(action: str) -> str | None:
        nonlocal ended
        observation, _, terminated, truncated, _ = env.step(action)
        ended = terminated or truncated
        return None if ended else observation

    if script is not None:
        play(script, respond)
    return env.verdict().score
