"""Labelled replies for auditing judges on statements about role-play replies.

Each template of the source `verdicts` gives a rubric of some of its statements, and replies for
which the labels are known by construction. `other-subjects` and `other-kinds` are the criteria that
a judge trained on the other templates never saw; names are those of the test split.
"""

from collections.abc import Iterator
from typing import Any

from hexathlon.evaluators.judges.audit.labelled import LabelledReply
from hexathlon.evaluators.judges.rubric import Rubric
from hexathlon.evaluators.judges.rubric_files import build_rubric
from hexathlon.evaluators.roleplay.verdicts import WHY
from hexathlon.tasks.roleplay.card import NothingLeft
from hexathlon.tasks.roleplay.verdicts.performance import subjects
from hexathlon.tasks.roleplay.verdicts.statements import TEMPLATES, Kind, Statement, state
from hexathlon.tasks.seeding import generator_for

__all__ = ["VERDICT_TEMPLATES", "label_verdicts"]

VERDICT_TEMPLATES = tuple(TEMPLATES)

_CRITERIA = 12
"""Maximum number of criteria of a rubric; each kind of statement has at least one."""


def label_verdicts(
    template: str, seed: int, items: int = 600
) -> tuple[Rubric, list[LabelledReply]]:
    """Return a rubric of statements and labelled replies, half of them true for each statement.

    Args:
        template: One of `VERDICT_TEMPLATES`.
        seed: Seed of the replies; the criteria do not depend on it.
        items: Number of labels, spread evenly over the criteria.
    """
    criteria = list(_criteria(template))
    rows = [_row(template, kind, subject) for kind, subject in criteria]
    rubric = build_rubric(
        {"id": f"verdicts-{template}", "aggregator": "rar", "criteria": rows}, "the statements"
    )
    replies = []
    for number in range(items):
        turn, place = divmod(number, len(rows))
        statement = _drawn(template, *criteria[place], number, seed, true=turn % 2 == 0)
        played = statement.performance
        name = f"{template}-{seed}-{number}"
        labels = {rubric.criteria[place].id: statement.label}
        replies.append(LabelledReply(name, name, played.question, played.reply, labels))
    return rubric, replies


def _row(template: str, kind: Kind, subject: str) -> dict[str, Any]:
    """Return a statement as a criterion with controls that hold and do not hold."""
    return {
        "id": ".".join(filter(None, (kind.name, subject.replace(" ", "_")))),
        "text": _drawn(template, kind, subject, -1, 0, true=True).text,
        "why": WHY,
        "controls": [_control(template, kind, subject, true=true) for true in (True, False)],
    }


def _criteria(template: str) -> Iterator[tuple[Kind, str]]:
    """Yield kinds of statements with a subject each, where a kind names one."""
    names = sorted(subjects("unseen" if template == "other-subjects" else "train"))
    step = max(1, len(names) // _CRITERIA)
    kinds = TEMPLATES[template][:_CRITERIA]
    for number, kind in enumerate(kinds):
        yield kind, names[number * step % len(names)] if kind.object == "named" else ""


def _control(template: str, kind: Kind, subject: str, *, true: bool) -> dict[str, Any]:
    statement = _drawn(template, kind, subject, -2, 0, true=true)
    played = statement.performance
    return {"question": played.question, "reply": played.reply, "label": statement.label}


def _drawn(
    template: str, kind: Kind, subject: str, number: int, seed: int, *, true: bool
) -> Statement:
    groups = ("train", "unseen") if template == "other-subjects" else ("train",)
    for attempt in range(20):
        rng = generator_for("verdict-labels", seed, template, kind.name, number, int(true), attempt)
        try:
            return state(kind, "test", rng, groups, true=true, subject=subject)
        except NothingLeft:
            continue
    raise NothingLeft(f"no names for {kind.name} in 20 draws")
