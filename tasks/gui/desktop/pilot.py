"""Scripts that use the desktop: they read the list of elements and act through the tools."""

import json
import re
from typing import Any, NamedTuple

from hexathlon.tasks.source import Script

__all__ = ["DesktopPilot", "ShownElement", "UnexpectedScreen"]

_LINE = re.compile(
    r'^\[(?P<index>\d+)\] (?P<role>[a-z]+(?: [a-z]+)*?)(?: "(?P<name>(?:[^"\\]|\\.)*)")?'
    r'(?: value "(?P<value>(?:[^"\\]|\\.)*)")?(?P<flags>(?: (?:on|off|selected|focused|disabled))*)'
    r"(?: at \d+,\d+-\d+,\d+)?$"
)
_PATIENCE = 20


class UnexpectedScreen(Exception):
    """The screen does not show what a script expects."""


class ShownElement(NamedTuple):
    """One line of the list of elements."""

    number: int
    role: str
    name: str
    value: str
    flags: frozenset[str]


class DesktopPilot:
    """Reads screens and yields actions."""

    def __init__(self) -> None:
        self.screen = ""
        self.heard = ""

    # Reading -----------------------------------------------------------------------------------

    def elements(self) -> list[ShownElement]:
        """Return the elements on the screen."""
        found = []
        for line in self.screen.splitlines():
            match = _LINE.match(line)
            if match:
                flags = frozenset(match["flags"].split())
                found.append(
                    ShownElement(
                        int(match["index"]),
                        match["role"],
                        _plain(match["name"]),
                        _plain(match["value"]),
                        flags,
                    )
                )
        return found  # fmt: skip

    def find(
        self, role: str, name: str | None = None, nth: int = 0, *, starts: bool = False
    ) -> ShownElement:
        """Return an element.

        Args:
            role: Its role.
            name: Its name; any if None.
            nth: Which one, if several match.
            starts: Whether `name` is only a prefix.

        Raises:
            UnexpectedScreen: If there is none.
        """
        found = [
            each for each in self.elements()
            if each.role == role
            and (name is None or each.name.strip() == name
                 or (starts and each.name.startswith(name)))
        ]  # fmt: skip
        if len(found) <= nth and nth >= 0:
            raise UnexpectedScreen(f"no {role} {name!r} number {nth}:\n{self.screen}")
        return found[nth]

    def has(self, role: str, name: str | None = None, *, starts: bool = False) -> bool:
        """Whether the screen has such an element."""
        try:
            self.find(role, name, starts=starts)
        except UnexpectedScreen:
            return False
        return True

    # Acting ------------------------------------------------------------------------------------

    def act(self, tool: str, **arguments: Any) -> Script:
        """Call a tool and read the screen that follows."""
        self.heard = yield json.dumps({"name": tool, "arguments": arguments}, ensure_ascii=False)
        if not self.heard.startswith("Error:"):
            self.screen = self.heard

    def until(self, role: str, name: str | None = None, *, starts: bool = False) -> Script:
        """Wait until the screen has an element.

        Raises:
            UnexpectedScreen: If the element does not appear.
        """
        for _ in range(_PATIENCE):
            if self.has(role, name, starts=starts):
                return
            yield from self.act("wait")
        self.find(role, name, starts=starts)

    def gone(self, role: str, name: str | None = None, *, starts: bool = False) -> Script:
        """Wait until the screen no longer has an element.

        Raises:
            UnexpectedScreen: If the element remains.
        """
        for _ in range(_PATIENCE):
            if not self.has(role, name, starts=starts):
                return
            yield from self.act("wait")
        raise UnexpectedScreen(f"{role} {name!r} is still there:\n{self.screen}")

    def open(self, app: str, file: str | None = None) -> Script:
        """Open a program and wait for its window."""
        yield from self.act("open_app", app_name=app, **({"file": file} if file else {}))

    def click(self, role: str, name: str | None = None, nth: int = 0, *,
              starts: bool = False) -> Script:  # fmt: skip
        """Click an element; see `find`."""
        yield from self.act("click", index=self.find(role, name, nth, starts=starts).number)

    def menu(self, *names: str) -> Script:
        """Choose a menu entry by the names on the path to it."""
        yield from self.click("menu", names[0])
        for name in names[1:-1]:
            yield from self.until("menu", name)
            yield from self.click("menu", name)
        role = next((role for role in ("menu item", "check menu item", "radio menu item", "menu")
                     if self.has(role, names[-1])), "menu item")  # fmt: skip
        yield from self.until(role, names[-1])
        yield from self.click(role, names[-1])

    def keys(self, *chords: str) -> Script:
        """Press chords in sequence."""
        for chord in chords:
            yield from self.act("press_keys", keys=chord)

    def type(self, text: str) -> Script:
        """Type text."""
        yield from self.act("type_text", text=text)

    def finish(self, answer: str | None = None) -> Script:
        """Give the answer, if there is one, and report the task as complete."""
        if answer is not None:
            yield from self.act("answer", text=answer)
        yield from self.act("status", goal_status="complete")

    def refuse(self, reason: str, record: str) -> Script:
        """Report the task as infeasible."""
        yield from self.act("status", goal_status="infeasible", reason=reason, record=record)


def _plain(quoted: str | None) -> str:
    return re.sub(r"\\(.)", lambda found: "\n" if found[1] == "n" else found[1], quoted or "")
