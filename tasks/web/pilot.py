"""Scripts that use a browser by reading the accessibility tree and acting through the tools.

A `Pilot` finds elements by role and name on the page that it was last shown. Labels differ between
looks, so names are given as every wording of a label.
"""

import json
import re
from collections.abc import Sequence
from typing import Any

from hexathlon.tasks.bilingual import Language
from hexathlon.tasks.source import Script
from hexathlon.tasks.web.world.words import wordings_of

__all__ = ["ElementMissing", "Pilot"]


class ElementMissing(Exception):
    """The page shows no element as described."""


class Pilot:
    """Reads screens and yields actions.

    Args:
        language: Language of the sites.
        brief: Whether pages are shown in the brief view.
    """

    def __init__(self, language: Language, *, brief: bool = False) -> None:
        self.language: Language = language
        self.brief = brief
        self.screen = ""

    def words(self, site: str, key: str) -> tuple[str, ...]:
        """Return every wording of a label of a site."""
        return wordings_of(site, key, self.language)

    # Finding -----------------------------------------------------------------------------------

    def find(
        self,
        role: str,
        names: str | Sequence[str] = (),
        *,
        near: str = "",
        within: str = "",
        nth: int = 0,
    ) -> str:
        """Return the number of an element.

        Args:
            role: Its role.
            names: Its name, or several of which one must match; any name if empty.
            near: Text of its line, or of the lines since the last numbered link above it.
            within: Text of a line; the element is not above it.
            nth: Which of several that match.

        Raises:
            ElementMissing: If there is none.
        """
        wanted = (names,) if isinstance(names, str) else tuple(names)
        screen = self.screen
        start = screen.find(within) if within else 0
        if start < 0:
            raise ElementMissing(f"no line with {within!r}")
        found = []
        named = rf'{role}(?: "(?P<name>(?:[^"\\]|\\.)*)")?'
        number = r"\[(?P<bid>\d+)\]"
        pattern = rf"(?<!\w){named} {number}" if self.brief else f"{number} {named}"
        for match in re.finditer(pattern, screen[start:]):
            name = re.sub(r"\\(.)", r"\1", match["name"] or "")
            if wanted and name not in wanted:
                continue
            if near and near not in self._line_around(start + match.start()):
                continue
            found.append(match["bid"])
        if len(found) <= nth:
            raise ElementMissing(
                f"no {role} {' or '.join(map(repr, wanted))} near {near!r}:\n{screen}"
            )
        return str(found[nth])

    def shows(self, text: str) -> bool:
        """Return whether the screen shows a text."""
        return text in self.screen

    def _line_around(self, place: int) -> str:
        start = self.screen.rfind("\n", 0, place) + 1
        end = self.screen.find("\n", place)
        return self.screen[start : end if end >= 0 else None]

    # Acting ------------------------------------------------------------------------------------

    def act(self, tool: str, **arguments: Any) -> Script:
        """Call a tool and read the screen that follows."""
        observation = yield json.dumps({"name": tool, "arguments": arguments}, ensure_ascii=False)
        if not observation.startswith("Error:"):
            self.screen = observation

    def look(self) -> Script:
        """Read the screen without doing anything."""
        yield from self.act("noop")

    def goto(self, site: str, path: str = "/") -> Script:
        """Open a page of a site."""
        yield from self.act("goto", url=f"http://{site}.hexathlon.test{path}")

    def click(self, role: str, names: str | Sequence[str] = (), **where: Any) -> Script:
        """Click an element; see `find`."""
        yield from self.act("click", bid=self.find(role, names, **where))

    def fill(
        self, names: str | Sequence[str], text: str, *, role: str = "textbox", **where: Any
    ) -> Script:
        """Fill a field; see `find`."""
        yield from self.act("fill", bid=self.find(role, names, **where), text=text)

    def select(self, names: str | Sequence[str], option: str, **where: Any) -> Script:
        """Choose an option; see `find`."""
        bid = self.find("combobox", names, **where)
        yield from self.act("select_option", bid=bid, options=option)

    def finish(self, task_type: str = "MUTATE", data: Sequence[Any] | None = None) -> Script:
        """End the task."""
        arguments: dict[str, Any] = {"task_type": task_type}
        if data is not None:
            arguments["retrieved_data"] = list(data)
        yield from self.act("finish", **arguments)

    def refuse(self, status: str, record: str = "") -> Script:
        """End the task as infeasible."""
        yield from self.act("report_infeasible", status=status, record=record)
