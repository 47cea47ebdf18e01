"""The oracle's actions in the cache on disk.

A script is a pure function of its task and of what it hears, so its actions can be replayed as long
as every observation has the digest of the recorded one. From the first one that differs, the script
itself continues, after it was given all earlier observations. Most oracles have to build their task
again before the first action, which is what the replay saves.
"""

import hashlib
import json
import time
from collections.abc import Callable, Generator
from typing import Any

from hexathlon.tasks.cache.disk import DiskCache, shared_cache
from hexathlon.tasks.cache.keys import key_of
from hexathlon.tasks.source import Script, TaskSource
from hexathlon.tasks.stored.built import WORTH_STORING_S
from hexathlon.tasks.stored.sources import code_of_source
from hexathlon.tasks.task import Task

__all__ = ["oracle_script"]


def oracle_script(source: TaskSource, task: Task) -> Script:
    """Return the oracle's script of a task, replayed from the cache as far as that is possible."""
    if task.split == "heldout":
        return source.oracle(task)
    cache = shared_cache()
    code = code_of_source(source) if cache is not None else None
    if cache is None or code is None:
        return source.oracle(task)
    return _Remembered(source, task, cache, key_of("oracle", code, task.hash)).script()


class _Remembered:
    """One episode of a script whose actions are recorded."""

    def __init__(self, source: TaskSource, task: Task, cache: DiskCache, key: str) -> None:
        self._source = source
        self._task = task
        self._cache = cache
        self._key = key
        self._heard: list[str] = []
        self._steps: list[tuple[str, str]] = []
        """For each action, the digest of the observation before it, and the action."""
        self._spent = 0.0
        """Seconds in the script itself."""

    def script(self) -> Script:
        known = self._known()
        digest = ""
        for heard, action in known:
            if heard != digest:
                break
            digest = yield from self._said(digest, action)
        yield from self._live(digest)

    def _said(self, digest: str, action: str) -> Generator[str, str, str]:
        """Say an action and return the digest of the answer."""
        self._steps.append((digest, action))
        observation = yield action
        self._heard.append(observation)
        return _digest(observation)

    def _live(self, digest: str) -> Script:
        """Continue with the script itself; its actions are stored when the episode ends."""
        script: Any = None
        try:
            script = self._timed(self._source.oracle, self._task)
            action = self._timed(next, script)
            for observation in self._heard:
                action = self._timed(script.send, observation)
            while True:
                digest = yield from self._said(digest, action)
                action = self._timed(script.send, self._heard[-1])
        except StopIteration:
            return
        finally:
            if script is not None:
                script.close()
            if self._spent >= WORTH_STORING_S:
                self._cache.put(self._key, json.dumps(self._steps).encode())

    def _timed(self, call: Callable[..., Any], *arguments: Any) -> Any:
        started = time.perf_counter()
        try:
            return call(*arguments)
        finally:
            self._spent += time.perf_counter() - started

    def _known(self) -> list[tuple[str, str]]:
        stored = self._cache.get(self._key)
        try:
            return [(str(heard), str(action)) for heard, action in json.loads(stored or b"[]")]
        except (TypeError, ValueError):
            return []


def _digest(observation: str) -> str:
    return hashlib.sha256(observation.encode("utf-8", "surrogatepass")).hexdigest()[:32]
