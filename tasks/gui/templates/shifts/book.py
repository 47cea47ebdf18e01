"""The book of a day: its requests in order, the rules at each, and the task that follows.

The day is played on the expected phone, once as it should be and once for every near miss, so that
rules that depend on what happened before apply to both.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hexathlon.tasks.gui.operations.expected import ExpectedPhone, RowKey
from hexathlon.tasks.gui.operations.finding import read_thread
from hexathlon.tasks.gui.operations.operation import (
    OperationScript,
    PhoneOperation,
    answering,
    done,
    in_sequence,
    tolerant,
)
from hexathlon.tasks.gui.templates.draft import GuiAnswer, GuiDraft, GuiRequest
from hexathlon.tasks.gui.templates.errand import Errand, NoErrand
from hexathlon.tasks.gui.templates.shifts.faults import DayFaults, PhoneStep, looks, watched
from hexathlon.tasks.gui.templates.shifts.moment import DayWork, Moment
from hexathlon.tasks.gui.templates.shifts.occasions import (
    LEAST_FAULTS,
    MOST_FAULTS,
    FaultOccasions,
)
from hexathlon.tasks.gui.templates.shifts.rules import HouseRules, RuleChange
from hexathlon.tasks.gui.world.phone.core import PhoneRow
from hexathlon.tasks.gui.world.system.plan import PhoneEdit, PhonePlan

__all__ = ["DayBook", "Notice", "ShiftRequest"]

_MOST_MISSES = 6
"""Near misses beside those that leave damage by faults."""

_LONGEST = 285
"""Largest budget of actions; days that need more have fewer faults."""

_FAULT_TRIES = 4

_INCOMING = 700
"""Numbers of messages that arrive during the day begin this far above those of the morning."""


@dataclass(frozen=True)
class ShiftRequest:
    """One request of a day."""

    text: tuple[str, str]
    """The request in English and in Chinese."""

    work: Callable[[Moment], DayWork]
    slips: tuple[str, ...] = ()
    """Mistakes that `work` can make."""

    said: tuple[tuple[PhoneRow, str], ...] = ()
    """Messages that arrive right before it: conversation and text."""


@dataclass(frozen=True)
class Notice:
    """A message that changes a rule, or claims to."""

    place: int
    """The request right before which it arrives."""

    thread: PhoneRow
    change: RuleChange
    valid: bool


@dataclass(frozen=True)
class _Variant:
    """A way to go through the day: as it should be by default."""

    slips: Mapping[int, str] = field(default_factory=dict)
    """Mistakes by the number of the request; `skipped` leaves it out."""

    rules: HouseRules | None = None
    """The rules as misread in the morning."""

    obeyed: tuple[bool, ...] = (True,)
    """Which notices are followed, by whether they are valid."""

    ignored: frozenset[int] = frozenset()
    """Numbers of faults whose damage is never noticed."""


@dataclass
class _Played:
    """A day that was gone through."""

    phone: ExpectedPhone
    operations: list[list[PhoneOperation]] = field(default_factory=list)
    answers: list[Sequence[object]] = field(default_factory=list)
    touched: list[set[RowKey]] = field(default_factory=list)
    then: list[dict[str, Any]] = field(default_factory=list)
    """All changes when each request was reported."""

    steps: list[PhoneStep] = field(default_factory=list)
    """The operations that change something, without repairs."""

    def script(self, opening: Sequence[PhoneOperation]) -> OperationScript:
        """Return the day's script."""
        parts: list[PhoneOperation | OperationScript] = list(opening)
        for operations, answer in zip(self.operations, self.answers, strict=True):
            parts += [*operations, answering(answer) if answer else done]
        return in_sequence(*parts)

    def actions(self) -> int:
        """Return the number of actions, without those of the opening."""
        return sum(
            1 + bool(answer) + _cost(operations)
            for operations, answer in zip(self.operations, self.answers, strict=True)
        )

    def count(self) -> int:
        """Return the number of operations."""
        return sum(map(len, self.operations))

    def outcome(self) -> tuple[Any, ...]:
        """Return what the verifier sees."""
        return self.phone.changes(), self.then, self.answers


class DayBook:
    """Requests in order.

    Args:
        errand: The phone.
        rules: The rules in the morning, with the amendments in force.
        misread: Rules as careless readers understand them, by the name of the mistake; each must
            lead to another outcome.
        notices: Messages that change rules.
        requests: The requests.
    """

    def __init__(
        self, errand: Errand, rules: HouseRules, misread: Mapping[str, HouseRules],
        notices: Sequence[Notice], requests: Sequence[ShiftRequest],
    ) -> None:  # fmt: skip
        self.errand, self.rules = errand, rules
        self.notices, self.requests = notices, requests
        self._misread = misread
        self._edits = self._incoming()

    def draft(self, opening: Sequence[PhoneOperation], factor: float) -> GuiDraft:
        """Build the task.

        Args:
            opening: What the oracle reads before the first request.
            factor: Budget of actions, as a multiple of the oracle's; rounded up to tens.

        Raises:
            NoErrand: If a careless reader would get the day right.
        """
        e = self.errand
        edits = tuple(edit for each in self._edits[1:] for edit in each)
        plan = replace(e.plan, coming=edits)
        first = self._played(plan, _Variant(), DayFaults(()))
        if first is None:
            raise NoErrand
        undisturbed = plan
        e.need(all(self._differs(plan, first, each) for each in self._misreadings().values()))
        occasions = FaultOccasions(e, first.steps)
        most = _LONGEST / factor - _cost(opening)
        plan, right = self._disturbed(plan, occasions, most)
        e.need(all(then or answer for then, answer in zip(right.then, right.answers, strict=True)))
        careless = self._careless(undisturbed, first)
        misses = self._misses(plan, careless) | self._unnoticed(plan, right)
        expected = right.phone
        budget = 10 * math.ceil((right.actions() + _cost(opening)) * factor / 10)
        return GuiDraft(
            replace(e.plan, quirks=plan.quirks),
            e.say(
                "Several things today, one after the other; report the status after each. Keep to "
                "my notes about how I do things, whatever I ask for. Read what is written to me "
                "when it comes; each new message has a notification. What counts is what the "
                "phone shows when you report: at each report, everything that I have asked for so "
                "far, earlier requests included, must be in order in every detail, and nothing "
                "else may have changed. Whatever your own changes alter besides, put it back "
                "before you report. Other people only send messages, between a report and the next "
                "request; nothing else on the phone is changed by them. You have "
                f"{budget} actions for the whole day.",
                "今天有几件事，依次进行，每件做完请报告状态。无论我要什么，都请遵守我笔记里的做事规矩。"
                "有人来信时请及时看，每条新信息都有通知。一切以报告时手机上显示的为准：每次报告时，"
                "我到目前为止要求的一切（包括之前的各项要求）每个细节都必须到位，其他内容不得有任何变动。"
                "你自己的操作如果还改动了别的内容，请在报告前恢复原样。"
                "别人只会发信息，而且只在你报告之后、提出下一项要求之前；手机上的其他内容别人不会改动。"
                f"全天最多{budget}次操作。",
            ),
            right.script(opening),
            changes=expected.changes(),
            requests=tuple(
                GuiRequest(e.say(*request.text), GuiAnswer(data=tuple(answer) or None),
                           arriving, self._notifications(place), expected.changes(rows), state,
                           whole=True)
                for place, (request, arriving, answer, rows, state) in enumerate(zip(
                    self.requests, self._edits, right.answers, right.touched, right.then,
                    strict=True))
            ),
            alternatives={"unread": right.script(())},
            mutants=misses,
            turns=budget,
        )  # fmt: skip

    # Messages ----------------------------------------------------------------------------------

    def _said(self, place: int) -> list[tuple[PhoneRow, str]]:
        """Return the messages that arrive right before a request."""
        e = self.errand
        notices = [each for each in self.notices if each.place == place]
        return [*((each.thread, each.change.message(e)) for each in notices),
                *self.requests[place].said]  # fmt: skip

    def _incoming(self) -> list[tuple[PhoneEdit, ...]]:
        base = max(row["id"] for row in self.errand.rows("messages.messages")) + _INCOMING
        return [
            tuple(("messages.messages", "put", {
                "id": base + 10 * place + at, "thread": thread["id"], "text": text, "mine": False,
                "time": "NOW", "file": ""}) for at, (thread, text) in enumerate(self._said(place)))
            for place in range(len(self.requests))
        ]  # fmt: skip

    def _notifications(self, place: int) -> tuple[dict[str, Any], ...]:
        return tuple(
            {"app": "messages", "title": thread["name"], "text": text, "screen": "thread",
             "params": {"id": thread["id"]}}
            for thread, text in self._said(place)
        )  # fmt: skip

    # Playing -----------------------------------------------------------------------------------

    def _played(
        self, plan: PhonePlan, variant: _Variant, faults: DayFaults | None = None
    ) -> _Played | None:
        """Go through the day; None if something cannot be done.

        Args:
            plan: The phone.
            variant: The way to go through it.
            faults: The faults that happen; those of the plan by default.
        """
        found = _Played(ExpectedPhone(plan))
        if plan.quirks:
            faults = DayFaults(plan.quirks, variant.ignored)
        rules = variant.rules or self.rules
        try:
            for place, request in enumerate(self.requests):
                found.phone.edit(self._edits[place])
                operations: list[PhoneOperation] = []
                for notice in self.notices:
                    if notice.place == place and notice.valid in variant.obeyed:
                        rules = notice.change.applied(rules)
                        operations.append(read_thread(notice.thread["name"]))
                        work = Moment(rules, found.phone).amended(notice.change)
                        _take(found, place, faults, work, operations)
                slip = variant.slips.get(place, "")
                answer: Sequence[object] = ()
                if slip != "skipped":
                    work = request.work(Moment(rules, found.phone, slip))
                    answer = _take(found, place, faults, work, operations)
                operations += looks(found.phone, found.steps, place)
                rows = found.phone.mark()
                found.operations.append(operations)
                found.answers.append(answer)
                found.touched.append(rows)
                found.then.append(found.phone.changes())
        except KeyError:
            return None
        return found

    def _disturbed(
        self, plan: PhonePlan, occasions: FaultOccasions, most: float
    ) -> tuple[PhonePlan, _Played]:
        """Draw the faults of the day; return the phone with them, and how the day then goes.

        Args:
            plan: The phone.
            occasions: Its faults to choose from.
            most: Number of actions that it may take.

        Raises:
            NoErrand: If the day has too few occasions or becomes too long.
        """
        count = self.errand.number(LEAST_FAULTS, MOST_FAULTS)
        for attempt in range(_FAULT_TRIES):
            disturbed = replace(plan, quirks=occasions.drawn(count))
            right = self._played(disturbed, _Variant())
            if right is not None and right.actions() <= most:
                return disturbed, right
            count = max(count - attempt % 2, LEAST_FAULTS)
        raise NoErrand

    def _misreadings(self) -> dict[str, _Variant]:
        """Return ways through the day of those who misread the rules."""
        found = {name: _Variant(rules=rules) for name, rules in self._misread.items()}
        found["changes unread"] = _Variant(obeyed=())
        found["wrong authority"] = _Variant(obeyed=(False,))
        return found

    def _differs(self, plan: PhonePlan, right: _Played, variant: _Variant) -> bool:
        """Whether a way through the day can be gone and has another outcome."""
        played = self._played(plan, variant)
        return played is not None and played.outcome() != right.outcome()

    def _careless(self, plan: PhonePlan, right: _Played) -> dict[str, _Variant]:
        """Draw ways through the day with one mistake, whose outcome is not the expected one.

        Args:
            plan: The phone without faults.
            right: The day as it should be, on this phone.
        """
        variants = self._misreadings() | {
            f"{place + 1} {slip}": _Variant({place: slip})
            for place, request in enumerate(self.requests)
            for slip in (*request.slips, "skipped")
        }
        found: dict[str, _Variant] = {}
        for name in self.errand.sample(list(variants), len(variants)):
            if len(found) < _MOST_MISSES and self._differs(plan, right, variants[name]):
                found[name] = variants[name]
        return found

    def _misses(
        self, plan: PhonePlan, variants: Mapping[str, _Variant]
    ) -> dict[str, OperationScript]:
        """Return days with one mistake each."""
        played = {name: self._played(plan, variant) for name, variant in variants.items()}
        return {name: tolerant(day.script(())) for name, day in played.items() if day is not None}

    def _unnoticed(self, plan: PhonePlan, right: _Played) -> dict[str, OperationScript]:
        """Return days on which nobody looks at what a fault, or any of them, has done."""
        numbers = range(len(plan.quirks))
        ignored = {f"{plan.quirks[each].kind} unnoticed {each + 1}": {each} for each in numbers}
        found = {}
        for name, each in [*ignored.items(), ("never looked again", set(numbers))]:
            played = self._played(plan, _Variant(ignored=frozenset(each)))
            if played is None or played.count() >= right.count():
                raise NoErrand
            found[name] = tolerant(played.script(()))
        return found


def _cost(operations: Sequence[PhoneOperation]) -> int:
    return sum(each.actions for each in operations)


def _take(
    day: _Played,
    place: int,
    faults: DayFaults | None,
    work: DayWork,
    operations: list[PhoneOperation],
) -> Sequence[object]:
    """Let a request's operations take effect, with the repairs they need; return its answer."""
    phone, before = day.phone, None
    while True:
        try:
            operation = next(work)
        except StopIteration as end:
            return end.value or ()
        if operation.effect is None or faults is None:
            if operation.effect is not None:
                operation.effect(phone)
            operations.append(operation)
            continue
        before = watched(phone, before)
        operation.effect(phone)
        step = PhoneStep(place, operation, before, watched(phone, before))
        operations += [operation, *faults.repairs(phone, step)]
        day.steps.append(step)
        before = step.after
