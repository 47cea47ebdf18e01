"""Drafts: a program, with the words that describe its parts.

A draft is not yet a task: `realise` turns it into a question, and `screening` decides whether it is
kept.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from hexathlon.tasks.sql.programs.relation import Relation
from hexathlon.tasks.sql.supplement import Supplement
from hexathlon.tasks.sql.templates.scene import QueryScene
from hexathlon.tasks.task import Level

__all__ = ["AmbiguitySlot", "QueryDraft", "QueryTemplate", "registered", "template"]


@dataclass(frozen=True, slots=True)
class AmbiguitySlot:
    """An ambiguity of the question, with the value that the simulated user knows."""

    name: str
    value: str
    say: tuple[str, ...]
    """Sentences in which the user states the value."""
    ask: tuple[str, ...]
    """Words that identify a question about the slot."""
    question: str
    """A sensible question about the slot, for the oracle."""


@dataclass(frozen=True, slots=True)
class QueryDraft:
    """A program and its wording."""

    program: Relation
    outputs: dict[str, str]
    """Column name of the answer -> its description, in order."""
    asks: tuple[str, ...]
    """Paraphrases of the request, without columns, order and notes."""
    notes: tuple[str, ...] = ()
    other: Relation | None = None
    """A different algebraic formulation, for programs that rewriting alone would change little."""
    wrong: tuple[tuple[str, Relation], ...] = ()
    """Likely misreadings that no generic mutation produces."""
    slot: AmbiguitySlot | None = None
    blocked: bool | None = None
    """Whether a register is to block the question; None if the template does not decide."""
    supplement: Supplement | None = None
    """Documents and tables that decide whether the question can be answered."""


@dataclass(frozen=True, slots=True)
class QueryTemplate:
    """A named kind of question, for some levels."""

    name: str
    levels: tuple[Level, ...]
    build: Callable[[QueryScene], QueryDraft] = field(compare=False)
    twin: str | None = None
    """Template whose task of the same level, split and index differs only in the deciding fact."""


_templates: dict[str, QueryTemplate] = {}


def template(
    *levels: Level, twin: str | None = None
) -> Callable[[Callable[[QueryScene], QueryDraft]], Callable[[QueryScene], QueryDraft]]:
    """Register a function as the template that bears its name."""

    def register(build: Callable[[QueryScene], QueryDraft]) -> Callable[[QueryScene], QueryDraft]:
        _templates[build.__name__] = QueryTemplate(build.__name__, levels, build, twin)
        return build

    return register


def registered() -> Iterable[QueryTemplate]:
    """Return the templates registered so far, in order."""
    return _templates.values()
