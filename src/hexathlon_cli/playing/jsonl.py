"""`play --jsonl`: tasks for any program or agent, one JSON line in, one JSON line out.

The player sees what an agent sees and nothing else: tasks are numbered in the order of play, and
neither ids nor verdicts are written to standard output. `docs/guides/play.md` has the format.
"""

import base64
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from hexathlon.baselines.harness.errors import UsageError
from hexathlon.envs.base import Environment
from hexathlon.envs.messages import Message
from hexathlon.evaluators.content import Image, Text, joined, parts_of, text_of
from hexathlon.tasks.validation import reason

__all__ = ["LineError", "LineGame", "action_of", "append_verdicts"]

_EXPECTED = (
    'expected a JSON string, a call such as {"name": "tool", "arguments": {}}, or a list of calls'
)
_NEXT = "next"


class LineError(ValueError):
    """A line that is not an action; the message says what was expected."""


def action_of(line: str) -> str:
    """Return the action encoded by a line of JSON.

    >>> action_of('"Good morning."')
    'Good morning.'
    >>> action_of('{"name": "submit", "arguments": {}}')
    '{"name": "submit", "arguments": {}}'

    Raises:
        LineError: If the line is not JSON, or is neither a string, nor a call, nor a list.
    """
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        raise LineError(f"the line is not JSON: {_EXPECTED}") from None
    if isinstance(data, str):
        return data
    if isinstance(data, list) or (isinstance(data, dict) and "name" in data):
        return json.dumps(data, ensure_ascii=False)
    raise LineError(f"the line is not an action: {_EXPECTED}")


def append_verdicts(path: Path, lines: str = "") -> None:
    """Append lines to the file of verdicts, which is created if it does not exist.

    Raises:
        UsageError: If it cannot be written.
    """
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(lines)
    except OSError as error:
        raise UsageError(f"cannot write the verdicts {path}: {reason(error)}") from None


class LineGame:
    """Several tasks, played by a program through lines of JSON.

    Args:
        world: The environment.
        choose: Returns the reset options of a task by its number, from 0.
        count: Number of tasks.
        seed: Seed of the first episode.
        verdicts: File that verdicts are appended to; None discards them.
    """

    def __init__(
        self,
        world: Environment,
        choose: Callable[[int], dict[str, Any]],
        count: int,
        seed: int,
        verdicts: Path | None,
    ) -> None:
        self._world = world
        self._choose = choose
        self._count = count
        self._seed = seed
        self._verdicts = verdicts
        self._number = 0
        self._details: Mapping[str, Any] = {}
        self._open = False

    def replies(self, lines: Iterable[str]) -> Iterator[dict[str, Any]]:
        """Yield the first observation of the first task, then one reply per line.

        The verdict of an episode is written as soon as it ends, or when the lines end.

        Raises:
            UsageError: If a verdict cannot be written.
        """
        try:
            yield self._begin()
            for line in lines:
                yield self._reply(line)
                if not self._open and self._number == self._count:
                    return
        finally:
            if self._open:
                self._close()

    def _begin(self) -> dict[str, Any]:
        options = self._choose(self._number)
        _, self._details = self._world.reset(seed=self._seed + self._number, options=options)
        self._number += 1
        self._open = True
        return {
            "task": self._number,
            "tasks": self._count,
            "system_prompt": self._details["system_prompt"],
            "tools": list(self._details["tools"]),
            **_shown(self._world.transcript),
            "done": False,
        }

    def _reply(self, line: str) -> dict[str, Any]:
        try:
            action = action_of(line)
        except LineError as error:
            return {"error": str(error), "done": not self._open}
        if not self._open:
            if action == _NEXT:
                return self._begin()
            return {"error": f'the task is over: send "{_NEXT}"', "done": True}
        before = len(self._world.transcript)
        _, _, ended, cut, info = self._world.step(action)
        reply = {**_shown(self._world.transcript[before + 1 :]), "turn": info["turn"]}
        if not (ended or cut):
            return {**reply, "done": False}
        self._close()
        return {**reply, "done": True, "left": self._count - self._number}

    def _close(self) -> None:
        self._open = False
        if self._verdicts is None:
            return
        verdict = self._world.verdict()
        line = {
            "task": self._number,
            "id": self._world.task.id,
            "hash": self._details["task_hash"],
            "seed": self._details["seed"],
            **verdict.model_dump(mode="json"),
        }
        append_verdicts(self._verdicts, json.dumps(line, ensure_ascii=False) + "\n")


def _shown(messages: Iterable[Message]) -> dict[str, Any]:
    """Return messages as text, with images and files beside it."""
    content = joined(message["content"] for message in messages)
    media = [part for part in parts_of(content) if not isinstance(part, Text)]
    shown: dict[str, Any] = {"observation": text_of(content)}
    if media:
        shown["files"] = [
            {
                "name": f"image-{place}.png" if isinstance(part, Image) else part.name,
                "media_type": "image/png" if isinstance(part, Image) else part.media_type,
                "base64": base64.b64encode(
                    part.png() if isinstance(part, Image) else part.data
                ).decode("ascii"),
            }
            for place, part in enumerate(media, 1)
        ]
    return shown
