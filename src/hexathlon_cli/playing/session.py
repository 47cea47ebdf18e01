"""A playing session: reads a person's lines, shows observations and the verdict.

Designed for a terminal of 80 columns and 24 rows: the newest text is at the bottom, right above the
prompt, and longer texts are paged.
"""

import json
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hexathlon.envs.base import Environment
from hexathlon.envs.messages import Message
from hexathlon.evaluators.content import File, Image, Text, joined, parts_of, text_of
from hexathlon.evaluators.records.media import MediaStore
from hexathlon.tasks.errors import TaskError
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.source import parse_address
from hexathlon_cli.output import flush_output, print_text
from hexathlon_cli.playing.calls import (
    ArgumentsMissing,
    ReadingProblem,
    complete_call,
    listed_in,
    numbered,
    read_line,
    signature,
)
from hexathlon_cli.playing.text import aligned, wrapped
from hexathlon_cli.playing.words import explained

__all__ = ["Session"]

_HELP = """\
Call a tool by its name and its arguments, in order: `name words …`; by key: \
`name key=value …`; or in JSON. Names may be shortened. Missing arguments are asked for \
one by one. #3 is the third item of the last list. Other text is sent as a message.
/tools  list the tools        /help TOOL  describe a tool
/task   show the task again   /rules      show the rules of the event
/undo   undo a turn           /next       another task           /quit"""
_PLAIN = {
    "help": "/help", "?": "/help", "tools": "/tools", "undo": "/undo", "quit": "/quit",
    "exit": "/quit", "q": "/quit", "task": "/task", "rules": "/rules", "next": "/next",
}  # fmt: skip
"""Commands typed without the slash."""

_COMMANDS = ("/help", "/task", "/tools", "/undo", "/rules")
_NARROWEST = 40
_LOWEST = 10
_MORE = "-- Enter for more --"
_MOST_STEPS = 12
_MOST_LINES = 10
"""Maximum numbers of actions of a solution that are shown, and of further lines of each."""


_NO_CALL = "Error: the turn holds no tool call."
"""Beginning of an environment's reply to text without a call; the rest describes JSON."""

_NOT_A_CALL = (
    "That is not a tool and its arguments, so nothing happened, and a turn is used.\n"
    "Type the name of a tool first; /tools lists them, /undo takes the turn back."
)


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
        self._show_opening()
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
            action = self._action(line)
        except ReadingProblem as problem:
            _show(str(problem))
            return False
        if not action:
            return False
        if self._world.supports_fork:
            self._before.append((self._world.snapshot(), self._listed))
        before = len(self._world.transcript)
        _, _, ended, cut, info = self._world.step(action)
        new = self._world.transcript[before + 1 :]
        observation = text_of(joined(message["content"] for message in new))
        self._listed = listed_in(observation) or self._listed
        no_call = action == line and observation.startswith(_NO_CALL)
        _show(f"{_NOT_A_CALL if no_call else numbered(self._seen(new))}\n\n")
        if ended or cut:
            self._show_end(str(info["status"]))
            return True
        if action != line and not observation.startswith("Error"):
            self._show_hint(action.split('"')[3])
        return False

    def _action(self, line: str) -> str:
        """Return the action for a line, after asking for missing arguments; "" if none is given."""
        try:
            return read_line(line, self._tools, self._listed, self._world.plain_tool)
        except ArgumentsMissing as missing:
            given = dict(missing.given)
            for name in missing.names:
                about = missing.tool["parameters"]["properties"].get(name, {})
                if about.get("description"):
                    _show(f"{name}: {about['description']}")
                answer = _read_line(f"{name}> ")
                if not answer:
                    _show("Nothing was sent.")
                    return ""
                given[name] = answer
            return complete_call(missing.tool, given, self._listed)

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
        elif name == "/rules":
            _show(f"{self._details['system_prompt']}\n")
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

    def _show_opening(self) -> None:
        """Show the rules and tools in a few lines, and the task at the bottom."""
        rules = self._details["system_prompt"].split("\n\n")[0]
        names = ", ".join(tool["name"] for tool in self._tools)
        help_line = "Type /tools for their arguments, /help for help, /quit to leave."
        hint = self._hint("")
        _show(f"{rules}\n\nTools: {names}.\n{help_line}\n{hint}\n{self._task_text()}\n")

    def _show_task(self) -> None:
        _show(f"{self._task_text()}\n")

    def _task_text(self) -> str:
        opening = self._seen(self._world.transcript[:1])
        self._listed = listed_in(opening) or self._listed
        return f"Task {self._details['task_id']}\n\n{numbered(opening)}\n"

    def _show_tools(self) -> None:
        lines = []
        for tool in self._tools:
            first = tool["description"].split(". ")[0].rstrip(".")
            lines += [f"  {signature(tool)}", f"      {first}."]
        _show("\n".join([*lines, ""]))

    def _show_hint(self, after: str) -> None:
        hint = self._hint(after)
        if hint:
            _show(hint)

    def _hint(self, after: str) -> str:
        """Return the hint after a tool, the first time only; empty if there is none."""
        hint = self._world.hints.get(after)
        if not hint or after in self._hinted:
            return ""
        self._hinted.add(after)
        return f"  ({hint})\n"

    def _show_end(self, status: str) -> None:
        if status.startswith("truncated"):
            _show("The task is over: its limits are exhausted.\n")
        verdict = self._world.verdict()
        lines = list(explained(verdict, self._world.hints))
        again = f"Task {self._world.task.id}, seed {self._details['seed']}."
        if verdict.score < 1.0:
            lines += self._solution()
        _show("\n".join([*lines, again]) + "\n")

    def _solution(self) -> list[str]:
        """Return a correct solution as typed lines; empty if the source has none."""
        task_id = self._world.task.id
        source = get_source(parse_address(task_id).source)
        actions: list[str] = []
        try:
            self._world.reset(seed=self._details["seed"], options={"task": task_id})
            script = source.oracle(self._world.task)
            actions.append(next(script))
            while True:
                observation, _, ended, cut, _ = self._world.step(actions[-1])
                if ended or cut:
                    break
                actions.append(script.send(observation))
        except (StopIteration, TaskError, NotImplementedError):
            pass
        if not actions:
            return []
        left = len(actions) - _MOST_STEPS
        lines = ["A correct solution:", *([f"  … {left} earlier steps"] if left > 0 else [])]
        for action in actions[-_MOST_STEPS:]:
            first, *rest = _typed(action).split("\n")
            more = ["      …"] if len(rest) > _MOST_LINES else []
            lines += [f"  {first}", *(f"      {line}" for line in rest[:_MOST_LINES]), *more]
        return lines


def _typed(action: str) -> str:
    """Return an action as a person would type it."""
    try:
        call = json.loads(action)
        arguments = call["arguments"]
        parts = [value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
                 for value in arguments.values()]  # fmt: skip
        return " ".join([call["name"], *parts])
    except (ValueError, LookupError, TypeError, AttributeError):
        return action


def _show(text: str) -> None:
    """Print a text, folded to the screen's width, and page by page if a person reads it."""
    size = shutil.get_terminal_size()
    lines = wrapped(aligned(text), max(size.columns - 1, _NARROWEST)).split("\n")
    page = max(size.lines - 2, _LOWEST)
    paged = sys.stdin.isatty() and sys.stdout.isatty()
    while paged and len(lines) > page:
        print_text("\n".join(lines[:page]))
        lines = lines[page:]
        if _read_line(_MORE) is None:
            return
    print_text("\n".join(lines))
    flush_output()


def _read_line(prompt: str = "> ") -> str | None:
    try:
        return input(prompt).strip()
    except EOFError:
        return None


def _asked_on() -> bool:
    """Ask whether to play another task; False without a terminal."""
    if not sys.stdin.isatty():
        return False
    _show("Another one? Type /next, or Enter to stop.")
    return _read_line() == "/next"
