"""Rubric checks: defects that would invalidate a judge's verdicts are errors, others warnings.

Rules J1 (a reason why code cannot decide), J2 (one thing at a time) and J16 (planted controls) of
`docs/guides/judges.md`, and whether kinds, weights and tree fit the aggregator.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from hexathlon.evaluators.judges.aggregate import AGGREGATORS
from hexathlon.evaluators.judges.labels import ABSTAIN
from hexathlon.evaluators.judges.predicates import predicate_fault
from hexathlon.evaluators.judges.rubric import Criterion, Rubric

__all__ = ["LintFinding", "compound_word", "lint"]

_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|‘[^’]*’|“[^”]*”|「[^」]*」|《[^》]*》")
_RANGE = re.compile(r"\bbetween\s+\S+\s+and\s+\S+", re.IGNORECASE)
_JOINS = re.compile(
    r"\b(and|or|nor|as well as|along with|but also|while also)\b|;|"
    r"(和|或者|或|以及|并且|而且|同时|又|且)",
    re.IGNORECASE,
)
_SHORTEST_REASON = 10
_LONGEST_TEXT = 400


class LintFinding(NamedTuple):
    """One finding on a rubric."""

    place: str
    message: str
    fatal: bool

    def __str__(self) -> str:
        return f"{self.place}: {self.message}"


def lint(rubric: Rubric) -> list[LintFinding]:
    """Return the findings on a rubric, in its own order."""
    decided = {criterion.id for criterion in rubric.decided}
    findings = list(_of_the_whole(rubric))
    for criterion in rubric.criteria:
        place = f"criterion {criterion.id!r}"
        findings += _of_weight(place, criterion)
        findings += _of_text(place, criterion)
        if criterion.parent and rubric.aggregator != "checkpoint_tree":
            findings.append(LintFinding(place, "only a checkpoint tree has parents", True))
        if criterion.id in decided:
            findings += _of_choices(place, criterion)
            findings += _of_decision(place, criterion)
    return findings


def compound_word(text: str) -> str:
    """Return the word that joins two statements in one, or an empty string.

    Quoted text does not count, nor does the "and" of "between … and …".

    >>> compound_word("The reply names the price and the colour.")
    'and'
    >>> compound_word("The reply names 'salt and pepper'.")
    ''
    """
    bare = _RANGE.sub(" ", _QUOTED.sub(" ", text))
    joint = _JOINS.search(bare)
    return joint.group(0) if joint else ""


def _of_the_whole(rubric: Rubric) -> Iterator[LintFinding]:
    known: set[str] = set()
    for criterion in rubric.criteria:
        if criterion.id in known:
            yield LintFinding(f"criterion {criterion.id!r}", "the id is used twice", True)
        known.add(criterion.id)
    aggregator = AGGREGATORS.get(rubric.aggregator)
    if aggregator is None:
        names = ", ".join(sorted(AGGREGATORS))
        yield LintFinding("aggregator", f"unknown {rubric.aggregator!r}; known: {names}", True)
    else:
        for message in aggregator.faults(rubric):
            yield LintFinding(f"aggregator {rubric.aggregator!r}", message, True)


def _of_weight(place: str, criterion: Criterion) -> Iterator[LintFinding]:
    if criterion.weight == 0 or (criterion.weight < 0) != (criterion.kind == "pitfall"):
        sign = "below 0" if criterion.kind == "pitfall" else "above 0"
        message = f"a {criterion.kind} criterion needs a weight {sign}, got {criterion.weight:g}"
        yield LintFinding(place, message, True)


def _of_decision(place: str, criterion: Criterion) -> Iterator[LintFinding]:
    if criterion.check is not None:
        fault = predicate_fault(criterion.check.name, criterion.check.params)
        if fault:
            yield LintFinding(place, fault, True)
        if criterion.choices:
            yield LintFinding(place, "code decides between met and not_met, not choices", True)
        return
    if len(criterion.why.strip()) < _SHORTEST_REASON:
        yield LintFinding(place, "explain in 'why' why code cannot decide it, or set 'check'", True)
    yield from _of_controls(place, criterion)


def _of_text(place: str, criterion: Criterion) -> Iterator[LintFinding]:
    conjunction = compound_word(criterion.text)
    if conjunction:
        yield LintFinding(place, f"asks two things at once ({conjunction!r}); split it", True)
    if len(criterion.text) > _LONGEST_TEXT:
        yield LintFinding(place, f"is longer than {_LONGEST_TEXT} characters; split it", True)
    if criterion.text.rstrip().endswith(("?", "？")):
        yield LintFinding(place, "is a question; write a statement that is true or false", True)


def _of_choices(place: str, criterion: Criterion) -> Iterator[LintFinding]:
    if not criterion.choices:
        return
    if len(criterion.choices) < 2 or len(set(criterion.choices)) < len(criterion.choices):
        yield LintFinding(place, "needs at least two different choices, worst to best", True)
    if ABSTAIN in criterion.choices:
        yield LintFinding(place, f"{ABSTAIN!r} may always be answered; leave it out", True)
    if any(not re.fullmatch(r"[a-z0-9_]+", choice) for choice in criterion.choices):
        yield LintFinding(place, "choices are lower-case words with digits and '_'", True)


def _of_controls(place: str, criterion: Criterion) -> Iterator[LintFinding]:
    labels = {control.label for control in criterion.controls}
    for label in sorted(labels - set(criterion.menu)):
        yield LintFinding(place, f"a control has the label {label!r}, which is not a choice", True)
    if not {criterion.menu[0], criterion.menu[-1]} <= labels:
        yield LintFinding(
            place,
            f"has no planted controls for both {criterion.menu[0]!r} and {criterion.menu[-1]!r}",
            False,
        )
