"""Statements about performances: seen in training, about unseen subjects, of unseen kinds.

A statement asserts an act (`right`, `wrong`, …) on an object (a subject by name, what was asked,
the secret), or an aside, or denies such an assertion. Kinds are held out as combinations: each of
their words occurs in training, but never together.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from hexathlon.tasks.roleplay.verdicts.performance import (
    ACTS,
    ASIDES,
    DrawnReply,
    draw_performance,
    grammar,
)
from hexathlon.tasks.task import Split

__all__ = ["TEMPLATES", "UNSEEN_KINDS", "Kind", "Statement", "draw_statement", "state"]


class Kind(NamedTuple):
    """One kind of statement."""

    about: str
    """One of `ACTS` or `ASIDES`."""

    object: str = ""
    """`named`, `asked` or `secret`; empty for asides."""

    denied: bool = False

    @property
    def name(self) -> str:
        """Identifier, such as `right-asked` or `not-silent-named`."""
        return "-".join(
            [*(["not"] if self.denied else []), self.about, *filter(None, [self.object])]
        )


_ALL = [
    *(Kind(act, thing, no) for act in ACTS for thing in ("named", "asked", "secret")
      for no in (False, True)),
    *(Kind(aside, "", no) for aside in ASIDES for no in (False, True)),
]  # fmt: skip

UNSEEN_KINDS = (
    Kind("right", "secret"),
    Kind("withdrawn", "asked"),
    Kind("wrong", "secret"),
    Kind("declined", "asked", denied=True),
    Kind("withdrawn", "named", denied=True),
    Kind("questions", "", denied=True),
)
"""Kinds that no train template contains."""

_SEEN = tuple(kind for kind in _ALL if kind not in UNSEEN_KINDS)

TEMPLATES: Mapping[str, tuple[Kind, ...]] = {
    "named": tuple(kind for kind in _SEEN if kind.object == "named"),
    "asked": tuple(kind for kind in _SEEN if kind.object == "asked"),
    "secret": tuple(kind for kind in _SEEN if kind.object == "secret"),
    "aside": tuple(kind for kind in _SEEN if not kind.object),
    "other-subjects": tuple(kind for kind in _SEEN if kind.object == "named"),
    "other-kinds": UNSEEN_KINDS,
}
"""Kinds of each template; `other-subjects` and `other-kinds` are for measuring generalisation."""


class Statement(NamedTuple):
    """A statement about a performance, its truth, and the grounds for it."""

    kind: Kind
    text: str
    performance: DrawnReply
    subject: str
    true: bool
    thought: str
    """The lines that decide it, quoted from question and reply; what they come to, what the
    statement claims, whether both are the same, and whether the statement denies its claim."""

    evidence: str
    """The sentence of the reply that decides it, or the first one."""

    @property
    def label(self) -> str:
        """The judge's label."""
        return "met" if self.true else "not_met"


def draw_statement(
    template: str, split: Split, rng: np.random.Generator, *, true: bool | None = None
) -> Statement:
    """Draw a statement of a template, and a performance for which it holds in half of all cases.

    Args:
        template: One of `TEMPLATES`.
        split: The split whose names are used.
        rng: The random generator.
        true: Whether the statement holds; drawn by default. Kind, card and question do not depend
            on it.
    """
    kinds = TEMPLATES[template]
    kind = kinds[int(rng.integers(len(kinds)))]
    groups = ("train", "unseen") if template == "other-subjects" else ("train",)
    fair = bool(rng.random() < 0.5)
    return state(kind, split, rng, groups, true=fair if true is None else true)


def state(
    kind: Kind,
    split: Split,
    rng: np.random.Generator,
    groups: Sequence[str] = ("train",),
    *,
    true: bool,
    subject: str = "",
) -> Statement:
    """Draw a performance for a statement of a kind that is true or false.

    Args:
        kind: The kind.
        split: The split whose names are used.
        rng: The random generator.
        groups: Groups of subjects; that of the statement is from the last.
        true: Whether the statement holds.
        subject: The subject of the statement; drawn by default.
    """
    performance, subject = draw_performance(
        split, rng, groups, about=kind.about, object_=kind.object, holds=true != kind.denied,
        subject=subject,
    )  # fmt: skip
    return _statement(kind, performance, subject, true=true)


def _statement(kind: Kind, performance: DrawnReply, subject: str, *, true: bool) -> Statement:
    words = grammar()["statements"]
    text = words[kind.object or "aside"][kind.about].format(k=subject)
    if kind.denied:
        text = words["denied"]["form"].format(s=text[:1].lower() + text[1:].removesuffix("."))
    lines, finding, evidence = _grounds(kind, performance, subject)
    same = "same" if finding == kind.about else "other"
    claim = [finding, f"claimed {kind.about}", same, *(["denied"] if kind.denied else [])]
    thought = "\n".join([*lines, *claim])
    return Statement(kind, text, performance, subject, true, thought, evidence)


def _grounds(kind: Kind, performance: DrawnReply, subject: str) -> tuple[list[str], str, str]:
    """Return the deciding lines, the finding, and the deciding sentence or else the first one."""
    first = performance.sentences[0].text
    if not subject:
        acts = ("persons", "known") if kind.about == "persons" else (kind.about,)
        sentence = performance.sentence_of(*acts)
        found = sentence.act if sentence else "none"
        lines = [sentence.text] if sentence else []
        return lines, found, sentence.text if sentence else first
    words = grammar()["card"]
    steps = [words["line"].format(k=subject, v=performance.card[subject])]
    if kind.object == "secret":
        steps.insert(0, words["secret"].format(k=subject))
    elif kind.object == "asked":
        steps.insert(0, performance.question.rpartition("\n")[2])
    sentence = performance.sentence_of(subject=subject)
    steps += [sentence.text] if sentence else []
    return steps, performance.act_on(subject), sentence.text if sentence else first
