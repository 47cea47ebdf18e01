"""The task source `verdicts`: judge whether a statement about a role-play reply holds.

The agent reads what a pointwise judge reads and answers in a judge's form. Train, dev and test
differ in names; the templates `other-subjects` and `other-kinds` have statements that the other
templates never contain.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from hexathlon.tasks.roleplay.card import NothingLeft
from hexathlon.tasks.roleplay.verdicts.one_turn import OneTurnSource
from hexathlon.tasks.roleplay.verdicts.statements import TEMPLATES, Statement, draw_statement
from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.source import Preference, Script, TaskAddress, parse_address
from hexathlon.tasks.task import Level, Split, Task

__all__ = ["VerdictSource", "drawn", "played_once", "source", "verdict"]

_INVENTED = "This sentence is nowhere in the reply."


class VerdictSource(OneTurnSource):
    """Statements about role-play replies, true and false."""

    name = "verdicts"
    check = "roleplay_verdict"
    per_stratum: ClassVar[Mapping[Split, int]] = {"dev": 400, "test": 400, "heldout": 400}
    strata: Sequence[tuple[str, Level]] = tuple((template, "tiny") for template in TEMPLATES)

    def content(
        self, address: TaskAddress, seed: int
    ) -> tuple[str, dict[str, Any], dict[str, Any]]:
        """Return the statement, question and reply, and whether the statement holds."""
        statement = drawn(address, seed)
        played = statement.performance
        params = {
            "statement": statement.text, "question": played.question, "reply": played.reply,
        }  # fmt: skip
        truth = {"label": statement.label, "evidence": statement.evidence}
        return statement.text, params, truth

    def data_files(self) -> Sequence[str]:
        """Return the patterns of wordings, names and settings."""
        return (
            "tasks/roleplay/verdicts/*.toml",
            "tasks/roleplay/names.toml",
            "tasks/roleplay/settings/*.toml",
        )

    def oracle(self, task: Task) -> Script:
        """Give the right label with the deciding sentence."""
        statement = _statement(task)
        yield verdict(statement.evidence, statement.label)

    def alternatives(self, task: Task) -> Mapping[str, Script]:
        """Return the right label with the whole reply as evidence."""
        statement = _statement(task)
        return {"whole_reply": played_once(verdict(statement.performance.reply, statement.label))}

    def mutants(self, task: Task) -> Mapping[str, Script]:
        """Return near misses: a wrong label, invented evidence, none, an abstention, prose."""
        statement = _statement(task)
        evidence, label = statement.evidence, statement.label
        wrong = "not_met" if label == "met" else "met"
        return {
            "wrong_label": played_once(verdict(evidence, wrong)),
            "invented_evidence": played_once(verdict(_INVENTED, label)),
            "no_evidence": played_once(verdict("", label)),
            "abstention": played_once(verdict(evidence, "cannot_tell")),
            "prose": played_once(f"The label is {label}."),
            "two_answers": played_once(f"{verdict(evidence, label)}\n{verdict(evidence, wrong)}"),
        }

    def policies(self, task: Task) -> Mapping[str, Script]:
        """Return judges that always give the same label, with the reply as evidence."""
        reply = str(task.params["reply"])
        return {
            f"always_{label}": played_once(verdict(reply, label))
            for label in ("met", "not_met", "cannot_tell")
        }

    def public_facts(self, task: Task) -> Sequence[str]:
        """Return the reply that is judged."""
        return (str(task.params["reply"]),)

    def preference(self, task: Task) -> Preference | None:
        """Return two replies to the same card, of which only the first fulfils the statement."""
        address = parse_address(task.id)
        good, bad = (drawn(address, task.seed, true=true) for true in (True, False))
        shown = good.performance
        if shown.question != bad.performance.question or good.text != bad.text:
            return None
        question = f"{shown.question}\n{good.text}"
        return Preference(question, shown.reply, bad.performance.reply, good.kind.about)

    def thought(self, task: Task, heard: Sequence[str], action: str) -> str:
        """Quote the lines of card and reply that decide the statement."""
        return _statement(task).thought


def drawn(address: TaskAddress, seed: int, *, true: bool | None = None) -> Statement:
    """Return the statement of a task; names that run out are drawn again.

    Args:
        address: The task.
        seed: Its seed.
        true: Whether the statement holds, everything else on the card being equal; drawn by
            default.
    """
    for attempt in range(20):
        try:
            rng = generator_for("verdict", seed, attempt)
            return draw_statement(address.template, address.split, rng, true=true)
        except NothingLeft:
            continue
    raise NothingLeft(f"{address} found no names in 20 draws")


def _statement(task: Task) -> Statement:
    return drawn(parse_address(task.id), task.seed)


def verdict(evidence: str, label: str) -> str:
    """Return a verdict in the form of a pointwise judge."""
    return json.dumps({"evidence": evidence, "label": label}, ensure_ascii=False)


def played_once(action: str) -> Script:
    """Return the script of a single action."""
    yield action


def source() -> VerdictSource:
    """Create the source for the registry."""
    return VerdictSource()
