"""A playing session: reads a person's lines, shows observations and the verdict."""

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hexathlon.envs.base import Environment
from hexathlon.envs.messages import Message
from hexathlon.evaluators.content import File, Image, Text, joined, parts_of, text_of
from hexathlon.evaluators.records.media import MediaStore
from hexathlon.evaluators.verdict import Verdict
from hexathlon_cli.output import print_text
from hexathlon_cli.playing.calls import ReadingProblem, listed_in, read_line, signature
from hexathlon_cli.playing.text import aligned, wrapped

__all__ = ["Session"]

_HELP = """\
Call a tool as `name words …`, `name key=value …` or in JSON. Names may be abbreviated; \
#3 is the third item of the last list. Other text is sent as a message.
/help TOOL  describe a tool     /tools  list the tools   /task  show the task
/undo       undo a turn         /next   another task     /quit"""
_PLAIN = {
    "help": "/help", "?": "/help", "tools": "/tools", "undo": "/undo", "quit": "/quit",
    "exit": "/quit", "q": "/quit",
}  # fmt: skip
"""Commands typed without the slash."""

_NARROWEST = 40
_MOST_FAILED = 5
_COMMANDS = ("/help", "/task", "/tools", "/undo")


class Session:
    """One episode played by a person.

    Args:
        world: The environment, after its reset.
        details: The info of that reset.
    """

    def __init__(self, world: Environment, details: Mapping[str, Any]) -> None:
        self._world = world
        self._details = details
        self._media: MediaStore | None = None
        self._tools = details["tools"]
        self._before: list[tuple[Any, dict[str, str]]] = []
        self._listed: dict[str, str] = {}
        self._hinted: set[str] = set()

    def play(self) -> bool:
        """Play until the episode ends or the person quits; return whether to play another task."""
        self._show_task()
        self._show_tools()
        _show(_HELP + "\n")
        self._show_hint("")
        while True:
            line = _read_line()
            line = _PLAIN.get(line.casefold(), line) if line else line
            if line is None or line in ("/quit", "/next"):
                return line == "/next"
            if line.startswith("/") and self._is_command(line):
                self._command(*line.split(maxsplit=1))
            elif line and self._turn(line):
                return _asked_on()

    def _turn(self, line: str) -> bool:
        try:
            action = read_line(line, self._tools, self._listed, self._world.plain_tool)
        except ReadingProblem as problem:
            _show(str(problem))
            return False
        if self._world.supports_fork:
            self._before.append((self._world.snapshot(), self._listed))
        before = len(self._world.transcript)
        _, reward, ended, cut, info = self._world.step(action)
        new = self._world.transcript[before + 1 :]
        observation = text_of(joined(message["content"] for message in new))
        _show(f"{self._seen(new)}\n")
        self._listed = listed_in(observation) or self._listed
        if ended or cut:
            _show(f"The episode has ended: {info['status']}, reward {reward:g}.")
            self._show_verdict(self._world.verdict())
            return True
        if action != line and not observation.startswith("Error"):
            self._show_hint(action.split('"')[3])
        return False

    def _seen(self, messages: Sequence[Message]) -> str:
        """Return messages as text, with the path of each image and file."""
        parts = parts_of(joined(message["content"] for message in messages))
        return "\n\n".join(
            part.text if isinstance(part, Text) else self._kept(part) for part in parts
        )

    def _kept(self, part: Image | File) -> str:
        if self._media is None:
            self._media = MediaStore(Path(tempfile.mkdtemp(prefix="hexathlon-play-")))
        about = part.to_json()
        data = part.png() if isinstance(part, Image) else part.data
        self._media.add(about, data, sync=False)
        kind = f"image, {part.width} x {part.height}" if isinstance(part, Image) else part.name
        return f"[{kind}: {self._media.path(about)}]"

    def _is_command(self, line: str) -> bool:
        """Whether a line with a slash is a command; in a shell it may be the path of a program."""
        return not self._world.plain_tool or line.split()[0] in _COMMANDS

    def _command(self, name: str, rest: str = "") -> None:
        if name == "/tools":
            self._show_tools()
        elif name == "/task":
            self._show_task()
        elif name == "/undo":
            self._undo()
        elif name == "/help" and rest:
            found = [tool for tool in self._tools if rest in tool["name"]]
            for tool in found:
                _show(f"{signature(tool)}\n{tool['description']}\n")
            if not found:
                _show(f"There is no tool {rest!r}; type /tools for a list.")
        else:
            if name != "/help":
                _show(f"There is no command {name!r}.")
            _show(_HELP)

    def _undo(self) -> None:
        if not self._before:
            _show("There is nothing to undo.")
            return
        state, self._listed = self._before.pop()
        self._world.restore(state)
        _show("The last turn is undone.")

    def _show_task(self) -> None:
        details = self._details
        opening = self._seen(self._world.transcript[:1])
        _show(f"{details['task_id']}\n\n{details['system_prompt']}\n\n{opening}\n")

    def _show_tools(self) -> None:
        for tool in self._tools:
            first = tool["description"].split(". ")[0].rstrip(".")
            _show(f"  {signature(tool)}\n      {first}.")
        _show("")

    def _show_hint(self, after: str) -> None:
        hint = self._world.hints.get(after)
        if hint and after not in self._hinted:
            self._hinted.add(after)
            _show(f"  ({hint})\n")

    def _show_verdict(self, verdict: Verdict) -> None:
        if verdict.score == 1.0:
            _show("Right: everything that was asked for holds, and nothing else changed.")
            return
        _show("Not right." if verdict.score == 0.0 else f"Partly right: {verdict.score:g}.")
        wrong = [
            name
            for name, value in verdict.terms.items()
            if value == (1.0 if name.startswith("fault_") else 0.0)
        ]
        for name in wrong:
            _show(f"  - {self._world.hints.get(name, name.replace('_', ' '))}")
        for what in verdict.evidence.get("failed", ())[:_MOST_FAILED]:
            _show(f"    {what if isinstance(what, str) else ' '.join(map(str, what))}")


def _show(text: str) -> None:
    width = max(shutil.get_terminal_size().columns - 1, _NARROWEST)
    print_text(wrapped(aligned(text), width))


def _read_line() -> str | None:
    try:
        return input("> ").strip()
    except EOFError:
        return None


def _asked_on() -> bool:
    """Ask whether to play another task; False without a terminal."""
    import sys

    if not sys.stdin.isatty():
        return False
    _show("Another one? Type /next, or Enter to stop.")
    return _read_line() == "/next"
