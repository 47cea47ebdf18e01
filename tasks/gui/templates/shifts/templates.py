"""The templates of shifts: which duties a day has, and when the rules change."""

from collections.abc import Callable, Sequence

from hexathlon.tasks.gui.operations.finding import read, read_path, read_thread
from hexathlon.tasks.gui.templates.draft import GuiDraft, GuiTemplate
from hexathlon.tasks.gui.templates.errand import Errand, NoErrand, errand
from hexathlon.tasks.gui.templates.shifts.accounts import basket, invoices, trip_costs
from hexathlon.tasks.gui.templates.shifts.book import DayBook, DayWork, ShiftRequest
from hexathlon.tasks.gui.templates.shifts.cast import DayCast, conversation, draw_cast, note
from hexathlon.tasks.gui.templates.shifts.rules import (
    HouseRules,
    RuleChange,
    draw_change,
    draw_rules,
    rule_lines,
)
from hexathlon.tasks.gui.templates.shifts.small import chores, payments
from hexathlon.tasks.gui.templates.shifts.times import (
    deadlines,
    gaps,
    listening,
    meeting,
    storage,
)
from hexathlon.tasks.gui.world.kit.words import wordings

__all__ = ["TEMPLATES"]

Duty = Callable[[Errand, DayCast], list[ShiftRequest]]

_BUDGET = 1.2
"""Budget of actions, as a multiple of the oracle's."""

_TRIES = 80


def _amended(
    e: Errand, rules: HouseRules, keeper: str
) -> tuple[HouseRules, dict[str, HouseRules], list[str]]:
    """Write the notes with the rules; return those in force, misreadings, and the note's titles."""
    past, coming = e.sample(("bound", "sign", "guests_alarm", "days"), 2)
    amendment, later = draw_change(e, rules, past), draw_change(e, rules, coming)
    titles = [e.say("How I do things", "我的做事规矩"),
              e.say("Changes to how I do things", "做事规矩的更改")]  # fmt: skip
    lines = [(e.day(-e.number(3, 40)), amendment), (e.day(e.number(2, 20)), later)]
    note(e, titles[0], rule_lines(e, rules, keeper), pinned=True)
    note(e, titles[1], "\n".join(
        e.say(f"From {e.day_words(day)}: {change.text(e)}.",
              f"{e.day_words(day)}起：{change.text(e)}。")
        for day, change in e.sample(lines, 2)))  # fmt: skip
    force = amendment.applied(rules)
    return force, {"amendment unread": rules, "amendment too early": later.applied(force)}, titles


def _with_messages(
    e: Errand, cast: DayCast, rules: HouseRules, requests: Sequence[ShiftRequest]
) -> tuple[list[ShiftRequest], RuleChange]:
    """Let a change of the rules and an unauthorised one arrive during the day."""
    keeper, pretender = (conversation(e, row) for row in (cast.keeper, cast.pretender))
    true, false = e.sample(("bound", "sign", "guests_alarm", "alone_alarm", "days"), 2)
    change, unfounded = draw_change(e, rules, true), draw_change(e, rules, false)
    place, other = sorted(e.sample(range(1, len(requests) - 2), 2), reverse=bool(e.number(0, 1)))
    found = list(requests)
    begun = e.say("From now on, {}.", "从现在起，{}。")
    reading = read_thread(keeper["name"])

    def told(
        request: ShiftRequest, said: tuple[object, str], by: RuleChange | None
    ) -> ShiftRequest:
        def work(now: HouseRules) -> DayWork:
            done = request.work(now)
            opening = [] if by is None else [reading]
            return DayWork([*opening, *done.operations], done.wrong, done.answer)

        return ShiftRequest(request.text, work, (said, *request.said), by)  # type: ignore[arg-type]

    found[place] = told(found[place], (keeper, begun.format(change.text(e))), change)
    found[other] = told(found[other], (pretender, begun.format(unfounded.text(e))), None)
    return found, unfounded


def _merged(e: Errand, parts: Sequence[Sequence[ShiftRequest]]) -> list[ShiftRequest]:
    """Return the requests in a random order that keeps those of a duty, apart from each other."""
    firsts = [part[0] for part in parts]
    order = e.sample(firsts, len(firsts))
    for part in parts:
        for request in part[1:]:
            at = order.index(part[0])
            order.insert(e.number(min(at + 2, len(order)), len(order)), request)
    return order


def _drawn(e: Errand, cast: DayCast, duty: Duty) -> list[ShiftRequest]:
    """Draw a duty, again and again until its numbers are as they must be."""
    before = e.plan
    for _ in range(_TRIES):
        try:
            return duty(e, cast)
        except NoErrand:
            e.plan = before
    raise NoErrand


def _day(e: Errand, *duties: Duty) -> GuiDraft:
    """Draw a day of these duties."""
    cast = draw_cast(e)
    morning = draw_rules(e)
    rules, misread, titles = _amended(e, morning, cast.keeper["name"])
    requests, unfounded = _with_messages(
        e, cast, rules, _merged(e, [_drawn(e, cast, duty) for duty in duties])
    )
    misread["unauthorised change"] = unfounded.applied(rules)
    book = DayBook(e, rules, misread)
    book.requests = requests
    groups = read_path("contacts", "groups", wordings("contacts", "work", e.language))
    return book.draft([*(read("notes", title) for title in titles), groups], _BUDGET)


@errand("shift_treasurer", "hard", apps="bank notes tasks messages calendar shop files")
def treasurer(e: Errand) -> GuiDraft:
    """A day of accounts, with a meeting and small errands."""
    return _day(e, trip_costs, invoices, basket, meeting, chores, payments)


@errand("shift_workshop", "hard", apps="calendar notes tasks mail podcasts messages bank")
def workshop(e: Errand) -> GuiDraft:
    """A day of plans, with the costs of a trip."""
    return _day(e, gaps, deadlines, listening, invoices, chores, payments)


@errand("shift_festival", "hard", apps="shop calendar mail podcasts messages files tasks")
def festival(e: Errand) -> GuiDraft:
    """A day before a festival: purchases, a meeting, deadlines and the ride there."""
    return _day(e, basket, meeting, listening, storage, chores, payments)


@errand("shift_moving", "hard", apps="bank calendar files tasks messages mail notes")
def moving(e: Errand) -> GuiDraft:
    """A day before a move: jobs, invoices, deadlines, files and the costs of a trip."""
    return _day(e, gaps, trip_costs, deadlines, storage, chores, payments)


@errand("shift_journey", "hard", apps="podcasts bank shop calendar messages notes mail")
def journey(e: Errand) -> GuiDraft:
    """A day before a journey: listening, purchases, debts, jobs and deadlines."""
    return _day(e, listening, basket, trip_costs, deadlines, chores, payments)


TEMPLATES: tuple[GuiTemplate, ...] = (treasurer, workshop, festival, moving, journey)
