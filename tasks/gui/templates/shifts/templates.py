"""The templates of shifts: which duties a day has, and when the rules change."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from hexathlon.tasks.gui.operations.finding import look_up, read, read_path
from hexathlon.tasks.gui.templates.draft import GuiDraft, GuiTemplate
from hexathlon.tasks.gui.templates.errand import Errand, NoErrand, errand
from hexathlon.tasks.gui.templates.shifts.accounts import basket, invoices, trip_costs
from hexathlon.tasks.gui.templates.shifts.book import DayBook, Notice, ShiftRequest
from hexathlon.tasks.gui.templates.shifts.cast import (
    DayCast,
    conversation,
    draw_cast,
    mail,
    note,
)
from hexathlon.tasks.gui.templates.shifts.planning import (
    one_market,
    short_stands,
    short_tents,
    stands,
    tents,
)
from hexathlon.tasks.gui.templates.shifts.rules import (
    KINDS,
    HouseRules,
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

_APPLIES: dict[Duty, frozenset[str]] = {
    payments: frozenset({"transfers"}),
    chores: frozenset({"tasks", "messages", "told"}),
    trip_costs: frozenset({"transfers", "messages"}),
    invoices: frozenset(),
    basket: frozenset(),
    gaps: frozenset({"alone"}),
    meeting: frozenset({"guests", "messages", "told"}),
    deadlines: frozenset({"tasks"}),
    listening: frozenset(),
    storage: frozenset(),
    stands: frozenset({"messages"}),
    one_market: frozenset({"messages"}),
    short_stands: frozenset({"messages"}),
    short_tents: frozenset({"messages"}),
    tents: frozenset({"messages"}),
}
"""What the rules of a day with a duty are about."""

_BUDGET = 1.2
"""Budget of actions, as a multiple of the oracle's."""

_TRIES = 80
_RULE_TRIES = 16


def _office(e: Errand, cast: DayCast) -> bool:
    """Write the mails about the keeper's leave; return whether it covers today."""
    first, last = -e.number(3, 9), e.number(2, 8)
    planned, corrected = {
        0: ((first, last), None),
        1: ((first, last), (first, -e.number(1, 2))),
        2: ((e.number(3, 8), e.number(12, 20)), (first, last)),
        3: ((first, last), (first, last + e.number(3, 9))),
        4: ((first, last), (e.number(1, 4), last + 9)),
    }[e.number(0, 4)]
    subject = e.say("My leave", "我的休假")
    days = [e.day_words(e.day(offset)) for offset in planned]
    mail(e, cast.keeper, subject, e.say(
        f"I am on leave from {days[0]} to {days[1]}, both dates included.",
        f"我从{days[0]}到{days[1]}休假，首尾两天都算在内。"), 20)  # fmt: skip
    if corrected is not None:
        new = [e.day_words(e.day(offset)) for offset in corrected]
        mail(e, cast.keeper, e.say("My leave, corrected", "我的休假（更正）"), e.say(
            f"My leave is not from {days[0]} to {days[1]}, as I wrote, but from {new[0]} to "
            f"{new[1]}, both dates included. I am at work on all other days.",
            f"我的休假不是之前说的从{days[0]}到{days[1]}，而是从{new[0]}到{new[1]}，首尾两天都算在内，"
            "其他日子我都上班。"), 10)  # fmt: skip
    begin, end = corrected or planned
    return begin <= 0 <= end


def _rules(
    e: Errand, cast: DayCast, kinds: frozenset[str]
) -> tuple[HouseRules, dict[str, HouseRules], list[str]]:
    """Write the notes with the rules; return those in force, misreadings, and the note's titles."""
    morning = draw_rules(e, cast.tasks)
    names = [rule for rule, kind in KINDS.items() if kind in kinds]
    past, coming = e.sample(names, 2) if len(names) > 1 else names * 2
    amendment, later = draw_change(e, morning, past), draw_change(e, morning, coming)
    titles = [e.say("How I do things", "我的做事规矩"),
              e.say("Changes to how I do things", "做事规矩的更改")]  # fmt: skip
    keeper, deputy = cast.keeper["name"], cast.deputy["name"]
    authority = e.say(
        f"Only {keeper} may change these rules, by message; while {keeper} is on leave, only "
        f"{deputy}. {keeper} has mailed me when that is. A change holds for what is created, "
        "changed or sent after it has arrived, and for what was created today before that only if "
        "it says so.",
        f"只有{keeper}可以发信息更改这些规矩；{keeper}休假期间只有{deputy}可以。休假时间{keeper}发邮件说过。"
        "更改对其到达之后新建、修改和发送的一切有效；"
        "对今天在此之前新建的，只有明说时才有效。")  # fmt: skip
    lines = [(e.day(-e.number(3, 40)), amendment), (e.day(e.number(2, 20)), later)]
    written = e.number(1, 9)
    note(e, titles[0], "\n".join([*rule_lines(e, morning, kinds), authority]), pinned=True,
         days_ago=written + 40)  # fmt: skip
    note(e, titles[1], "\n".join([
        e.say(f'Where this differs from "{titles[0]}", this note counts. Each change holds for '
              "what I do on the named day or later, whatever dates it is about.",
              f"与“{titles[0]}”不同的地方，以本笔记为准。每项更改适用于我在所写日期及以后做的事，"
              "与事情本身涉及的日期无关。"),
        *(e.say(f"From {e.day_words(day)} on: {change.text(e)}. My other rules stay.",
                f"{e.day_words(day)}起：{change.text(e)}。其他规矩不变。")
          for day, change in e.sample(lines, 2))]), days_ago=written)  # fmt: skip
    force = amendment.applied(morning)
    misread = {"amendment unread": morning}
    careless = {"transfers": "spent", "messages": "written", "tasks": "taken"}
    for kind, condition in careless.items():
        if kind in kinds:
            misread[f"{condition} forgotten"] = replace(force, forgotten=frozenset({condition}))
    return force, misread, titles


def _notices(
    e: Errand, cast: DayCast, rules: HouseRules, kinds: frozenset[str], count: int
) -> list[Notice]:
    """Let a change of the rules and an unauthorised one arrive during the day."""
    names = [rule for rule, kind in KINDS.items() if kind in kinds]
    e.need(len(names) > 1)
    true, false = e.sample(names, 2)
    places = e.sample(range(1, count - 1), 2)
    return [
        Notice(places[0], conversation(e, cast.chief), draw_change(e, rules, true), True),
        Notice(places[1], conversation(e, cast.other), draw_change(e, rules, false), False),
    ]


def _merged(
    e: Errand, parts: Sequence[Sequence[ShiftRequest]], plans: Sequence[ShiftRequest]
) -> list[ShiftRequest]:
    """Return the requests in a random order that keeps those of a duty, apart from each other.

    Args:
        e: Source of the draws.
        parts: Requests by duty.
        plans: Requests of the duty that begins early and goes on through the day.
    """
    firsts = [part[0] for part in parts]
    order = e.sample(firsts, len(firsts))
    for part in parts:
        for request in part[1:]:
            at = order.index(part[0])
            order.insert(e.number(min(at + 2, len(order)), len(order)), request)
    at = e.number(0, 1)
    order.insert(at, plans[0])
    for left, request in zip(range(len(plans) - 1, 0, -1), plans[1:], strict=True):
        room = len(order) - at - 1  # other requests that are still to come
        at += 1 + e.number(1, max(1, room // left))
        order.insert(at, request)
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
    """Draw a day of these duties; order and rules are drawn until every rule matters."""
    cast = draw_cast(e)
    cast = replace(cast, acting=_office(e, cast))
    parts = [_drawn(e, cast, duty) for duty in duties]
    kinds = frozenset[str]().union(*(_APPLIES[duty] for duty in duties))
    groups = read_path("contacts", "groups", wordings("contacts", "work", e.language))
    leave = look_up("mail", cast.keeper["name"])
    before = e.plan
    for _ in range(_RULE_TRIES):
        e.plan = before
        requests = _merged(e, parts[:-1], parts[-1])
        try:
            rules, misread, titles = _rules(e, cast, kinds)
            notices = _notices(e, cast, rules, kinds, len(requests))
            book = DayBook(e, rules, misread, notices, requests)
            notes = [read("notes", title) for title in titles]
            return book.draft([*notes, groups, leave], _BUDGET)
        except NoErrand:
            continue
    raise NoErrand


@errand("shift_treasurer", "hard", apps="bank notes tasks messages mail")
def treasurer(e: Errand) -> GuiDraft:
    """A day of accounts: a trip, invoices, payments, and tents to place."""
    return _day(e, trip_costs, invoices, payments, short_tents)


@errand("shift_workshop", "hard", apps="calendar notes tasks mail messages bank")
def workshop(e: Errand) -> GuiDraft:
    """A day of plans: deadlines, payments, and stands to place."""
    return _day(e, deadlines, payments, one_market)


@errand("shift_festival", "hard", apps="calendar messages files tasks notes mail")
def festival(e: Errand) -> GuiDraft:
    """A day before a festival: jobs, chores, files, and tents to place."""
    return _day(e, gaps, chores, storage, short_tents)


@errand("shift_moving", "hard", apps="bank calendar tasks messages mail notes")
def moving(e: Errand) -> GuiDraft:
    """A day before a move: a meeting, invoices, and tents to place."""
    return _day(e, meeting, invoices, tents)


@errand("shift_journey", "hard", apps="podcasts tasks messages notes mail")
def journey(e: Errand) -> GuiDraft:
    """A day before a journey: something to listen to, chores, and stands to place."""
    return _day(e, listening, chores, short_stands)


@errand("shift_market", "hard", apps="shop tasks messages notes mail")
def market(e: Errand) -> GuiDraft:
    """A day of purchases, with chores, and stands to place."""
    return _day(e, basket, chores, stands)


TEMPLATES: tuple[GuiTemplate, ...] = (
    treasurer, workshop, festival, moving, journey, market,
)  # fmt: skip
