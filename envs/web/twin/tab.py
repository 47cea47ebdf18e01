"""A tab of the twin: its history and the page it shows, as immutable values."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

from hexathlon.envs.web.page.node import PageNode, Path
from hexathlon.envs.web.page.tree import PageText, describe

__all__ = ["HistoryEntry", "Page", "Tab"]


class HistoryEntry(NamedTuple):
    """One step of a tab's history."""

    url: str
    repeatable: bool
    """Whether the page can be fetched again: it was not the direct answer to a form."""


@dataclass(frozen=True)
class Page:
    """A page as it is now."""

    url: str
    title: str
    body: PageNode
    next_key: int
    """Number for the next element that is added."""

    ids: Mapping[int, int] = field(default_factory=dict)
    """Numbers that the agent has seen, by element key."""

    @cached_property
    def described(self) -> PageText:
        """The page as the agent reads it."""
        return describe(self.body, self.ids)

    def with_body(self, body: PageNode) -> "Page":
        """Return the page after a change; numbers already given stay."""
        return replace(self, body=body, ids=self.described.ids)

    def path_of(self, number: int) -> Path | None:
        """Return the path of a numbered element, or None if it is not shown."""
        return self.described.elements.get(number)


class Tab(NamedTuple):
    """One tab."""

    history: tuple[HistoryEntry, ...]
    position: int
    page: Page

    def showing(self, page: Page) -> "Tab":
        """Return the tab after a change of its page."""
        return self._replace(page=page)
