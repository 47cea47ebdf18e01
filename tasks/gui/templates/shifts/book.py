"""The book of a day: its requests in order, the rules at each, and the task that follows.

A request is built when its turn comes, from the rules then in force, so that a change of the rules
reaches every later request. Expected changes, partial credit and near misses are derived.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hexathlon.tasks.gui.operations.expected import ExpectedPhone
from hexathlon.tasks.gui.operations.operation import (
    OperationScript,
    PhoneOperation,
    answering,
    done,
    in_sequence,
    tolerant,
)
from hexathlon.tasks.gui.templates.draft import GuiAnswer, GuiDraft, GuiRequest
from hexathlon.tasks.gui.templates.errand import Errand
from hexathlon.tasks.gui.templates.shifts.rules import HouseRules, RuleChange
from hexathlon.tasks.gui.world.phone.core import PhoneRow
from hexathlon.tasks.gui.world.system.plan import PhoneEdit

__all__ = ["DayBook", "ShiftRequest", "DayWork"]

_MOST_MISSES = 5
_INCOMING = 700
"""Numbers of messages that arrive during the day begin this far above those of the morning."""


@dataclass(frozen=True)
class DayWork:
    """What a request asks for under given rules."""

    operations: Sequence[PhoneOperation]
    wrong: Mapping[str, Sequence[PhoneOperation]] = field(default_factory=dict)
    """Near misses by the name of the mistake."""

    answer: Sequence[object] = ()


@dataclass(frozen=True)
class ShiftRequest:
    """One request of a day."""

    text: tuple[str, str]
    """The request in English and in Chinese."""

    work: Callable[[HouseRules], DayWork]
    said: tuple[tuple[PhoneRow, str], ...] = ()
    """Messages that arrive right before it: conversation and text."""

    change: RuleChange | None = None
    """A change of the rules that one of these messages makes."""


@dataclass
class _Turn:
    """A request with the rules in force, and its edits."""

    request: ShiftRequest
    rules: HouseRules
    edits: tuple[PhoneEdit, ...]
    notice: dict[str, Any] | None


class DayBook:
    """Requests in order.

    Args:
        errand: The phone.
        rules: The rules in the morning, with the amendments in force.
        misread: Rules as careless readers understand them, by the name of the mistake.
    """

    def __init__(
        self, errand: Errand, rules: HouseRules, misread: Mapping[str, HouseRules]
    ) -> None:
        self.errand, self.rules, self._misread = errand, rules, misread
        self.requests: list[ShiftRequest] = []

    def draft(self, opening: Sequence[PhoneOperation], factor: float) -> GuiDraft:
        """Build the task.

        Args:
            opening: What the oracle reads before the first request.
            factor: Budget of actions, as a multiple of the oracle's.
        """
        turns = self._turns()
        e = self.errand
        edits = tuple(edit for turn in turns[1:] for edit in turn.edits)
        e.plan = e.plan.with_edits([])
        plan = replace(e.plan, coming=edits)
        works = [turn.request.work(turn.rules) for turn in turns]
        expected = ExpectedPhone(plan)
        touched, then = [], []
        for turn, work in zip(turns, works, strict=True):
            expected.edit(turn.edits)
            self._apply(expected, work.operations)
            rows = expected.mark()
            touched.append(rows)
            then.append(expected.changes(rows))
        e.need(all(each or work.answer for each, work in zip(then, works, strict=True)))
        changes = expected.changes()
        actions = sum(each.actions for each in opening) + sum(
            1 + bool(work.answer) + sum(each.actions for each in work.operations)
            for work in works)  # fmt: skip
        return GuiDraft(
            e.plan,
            e.say(
                "Several things today, one after the other; report the status after each. Keep to "
                "my notes about how I do things, whatever I ask for. Read what is written to me "
                f"when it comes. There are {int(actions * factor)} actions for the whole day.",
                "今天有几件事，依次进行，每件做完请报告状态。无论我要什么，都请遵守我笔记里的做事规矩。"
                f"有人来信时请及时看。全天共有{int(actions * factor)}次操作。",
            ),
            _script(opening, works),
            changes=changes,
            requests=tuple(
                GuiRequest(e.say(*turn.request.text), GuiAnswer(data=tuple(work.answer) or None),
                           turn.edits, turn.notice, expected.changes(rows), state)
                for turn, work, rows, state in zip(turns, works, touched, then, strict=True)
            ),
            alternatives={"unread": _script((), works)},
            mutants=self._misses(plan, turns, works, changes),
            turns=int(actions * factor),
        )  # fmt: skip

    def _turns(self) -> list[_Turn]:
        """Return the requests with their rules; a change holds from its request on."""
        rules, found = self.rules, list[_Turn]()
        base = max(row["id"] for row in self.errand.rows("messages.messages")) + _INCOMING
        for place, request in enumerate(self.requests):
            if request.change is not None:
                rules = request.change.applied(rules)
            edits: list[PhoneEdit] = []
            notice = None
            for at, (thread, text) in enumerate(request.said):
                edits.append(("messages.messages", "put", {
                    "id": base + 10 * place + at, "thread": thread["id"], "text": text,
                    "mine": False, "time": "NOW", "file": ""}))  # fmt: skip
                notice = {"app": "messages", "title": thread["name"], "text": text,
                          "screen": "thread", "params": {"id": thread["id"]}}  # fmt: skip
            found.append(_Turn(request, rules, tuple(edits), notice))
        return found

    def _apply(self, expected: ExpectedPhone, operations: Sequence[PhoneOperation]) -> None:
        try:
            for operation in operations:
                if operation.effect is not None:
                    operation.effect(expected)
        except KeyError:
            self.errand.need(False)

    def _misses(
        self, plan: Any, turns: Sequence[_Turn], works: Sequence[DayWork],
        changes: Mapping[str, Any],
    ) -> dict[str, OperationScript]:  # fmt: skip
        """Return days with one mistake each, whose outcome differs from the expected one."""
        found: dict[str, list[DayWork]] = {}
        for place, (turn, work) in enumerate(zip(turns, works, strict=True)):
            others = {f"{place + 1} {name}": operations for name, operations in work.wrong.items()}
            others[f"{place + 1} skipped"] = ()
            for name, operations in others.items():
                day = [*works[:place], replace(work, operations=operations), *works[place + 1 :]]
                found[name] = day
            del turn
        for name, rules in self._misread.items():
            found[name] = [turn.request.work(_read_as(turn.rules, rules, self.rules))
                           for turn in turns]  # fmt: skip
        unchanged = [turn.request.work(self.rules) for turn in turns]
        found["changes unread"] = unchanged
        names = [name for name in found if self._differs(plan, turns, found[name], changes)]
        chosen = self.errand.sample(names, min(_MOST_MISSES, len(names)))
        return {name: tolerant(_script((), found[name])) for name in chosen}

    def _differs(
        self, plan: Any, turns: Sequence[_Turn], works: Sequence[DayWork],
        changes: Mapping[str, Any],
    ) -> bool:  # fmt: skip
        expected = ExpectedPhone(plan)
        try:
            for turn, work in zip(turns, works, strict=True):
                expected.edit(turn.edits)
                for operation in work.operations:
                    if operation.effect is not None:
                        operation.effect(expected)
        except KeyError:
            return False
        return expected.changes() != changes


def _read_as(now: HouseRules, misread: HouseRules, morning: HouseRules) -> HouseRules:
    """Return the rules of a moment as somebody reads them who misread those of the morning."""
    names = ("bound", "sign", "guests_alarm", "alone_alarm", "days")
    wrong = {name: getattr(misread, name) for name in names
             if getattr(misread, name) != getattr(morning, name)}  # fmt: skip
    return replace(now, **wrong)


def _script(opening: Sequence[PhoneOperation], works: Sequence[DayWork]) -> OperationScript:
    parts: list[PhoneOperation | OperationScript] = list(opening)
    for work in works:
        parts += [*work.operations, answering(work.answer) if work.answer else done]
    return in_sequence(*parts)
