"""Composition of a shift: jobs, rules, their order, and what happens in between.

What differs from one shift to the next is drawn: which records, which requests are corrected or
withdrawn, what is closed, held or asked for by mail, and when the rules change.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta

from hexathlon.tasks.web.templates.draft import WebDraft, WebScene
from hexathlon.tasks.web.templates.shifts.post import draw_post
from hexathlon.tasks.web.templates.shifts.records import RecordJob, ShiftBench
from hexathlon.tasks.web.templates.shifts.rules import DayRules, Hold, Mandate, draw_numbers
from hexathlon.tasks.web.templates.shifts.walk import ShiftPlan, Walk
from hexathlon.tasks.web.world.people import Person

__all__ = ["JobMaker", "compose_shift"]

JobMaker = Callable[[ShiftBench, range], RecordJob | None]

_DAYS = (8, 15, 26, 40)


def compose_shift(
    scene: WebScene, sites: Sequence[str], makers: Sequence[JobMaker], story: tuple[str, str]
) -> WebDraft | None:
    """Draw a shift; None if this world has none.

    Args:
        scene: What it is drawn from.
        sites: Its sites besides mail.
        makers: Draw its jobs.
        story: Whom the agent works for, in English and Chinese.
    """
    bench = ShiftBench(scene, scene.plan("mail", *sites))
    plan = _draw_plan(bench, makers)
    return None if plan is None else Walk(bench, plan).draft(scene.say(*story))


def _draw_plan(bench: ShiftBench, makers: Sequence[JobMaker]) -> ShiftPlan | None:
    scene = bench.scene
    turn = scene.sample(makers, len(makers))
    sizes = [range(3, 5)] * 2 + [range(2, 4)] * 3 + [range(1, 3)] * 3 + [range(2, 6)] * 2
    turns = [0, 1, 2, 3, 0, 4, 5, 6, 7, 8]
    drawn = [_draw_job(bench, turn, place, size) for place, size in zip(turns, sizes, strict=True)]
    jobs = [job for job in drawn if job is not None]
    if len(jobs) < len(sizes) or len({job.site for job in jobs[:3]}) < 2:
        return None
    people = scene.sample(scene.people(bench.plan)[1:], 16)
    today = date.fromisoformat(bench.today)
    days, later = scene.sample(_DAYS, 2)
    order = _draw_order(scene)
    late = _draw_changes(scene, order, later, people[1])
    post = draw_post(bench, jobs[5:8], people[8:], today)
    keepers = dict(zip(sorted(bench.plan.sites), people[3:], strict=False))
    kept = _mandates_of(scene, keepers, today)
    rules = DayRules(
        today, draw_numbers(scene), days, jobs[2].group, jobs[2].site, people[0],
        log_at_end=bool(scene.rng.random() < 0.75), mandates=(*post.mandates, *kept),
    )  # fmt: skip
    holds = _draw_holds(scene, jobs, keepers, people[7], today, sorted((days, later)))
    return ShiftPlan(
        dict(zip("ABC", jobs, strict=False)), jobs[3], jobs[4], post, _draw_arrivals(scene, order, late),
        order, replace(rules, holds=holds), (*post.later, *kept), late, people[2], keepers,
    )  # fmt: skip


def _mandates_of(
    scene: WebScene, keepers: Mapping[str, Person], today: date
) -> tuple[Mandate, ...]:
    """Return mandates of those who enter holds, in force for the whole day."""
    return tuple(
        Mandate(person.name, person.email, site,
                today - timedelta(days=int(scene.rng.integers(30, 300))),
                today + timedelta(days=int(scene.rng.integers(30, 300))))
        for site, person in keepers.items()
    )  # fmt: skip


def _draw_arrivals(
    scene: WebScene, order: Sequence[str], late: Mapping[int, Mapping[str, object]]
) -> dict[int, int]:
    """Draw before which request each of the three mails arrives; the third after mandates change."""
    free = [place for place, token in enumerate(order)
            if place and token not in ("account", "tally")]  # fmt: skip
    changed = next((place for place, changes in late.items() if "mandates" in changes), 0)
    third = scene.pick([place for place in free if place >= changed])
    first, second = scene.sample([place for place in free if place != third], 2)
    return {first: 0, second: 1, third: 2}


def _draw_job(
    bench: ShiftBench, makers: Sequence[JobMaker], place: int, sizes: range
) -> RecordJob | None:
    """Draw a job of the next kind that this world has, and reserve its records."""
    for shift in range(len(makers)):
        job = makers[(place + shift) % len(makers)](bench, sizes)
        if job is not None:
            bench.taken |= job.keys
            bench.groups.add((job.site, job.group))
            return job
    return None


def _draw_holds(
    scene: WebScene, jobs: Sequence[RecordJob], keepers: Mapping[str, Person], stranger: Person,
    today: date, days: Sequence[int],
) -> tuple[Hold, ...]:  # fmt: skip
    """Draw holds: on records of the day, one of each request between both terms, and on others.

    Holds of a stranger, who has no mandate, never count.
    """
    shorter, longer = days
    ages = {"young": (0, shorter - 2), "middle": (shorter + 2, longer - 2),
            "old": (longer + 2, longer + 40), "void": (0, shorter - 2)}  # fmt: skip

    def hold(job: RecordJob, place: int, kind: str) -> Hold:
        low, high = ages[kind]
        day = today - timedelta(days=int(scene.rng.integers(low, high + 1)))
        person = stranger if kind == "void" else keepers[job.site]
        return Hold(job.site, job.noun, job.targets[place].label, day, person)

    found = []
    for number, job in enumerate((*jobs[:3], jobs[4])):
        places = scene.sample(range(len(job.targets)), len(job.targets))
        found.append(hold(job, places[0], "middle"))
        if len(places) > 2:
            kinds = ("old", "void") if len(places) == 3 else ("old", "void", "young")
            found.append(hold(job, places[1], scene.pick(kinds)))
        if number == 0 and len(places) > 3:
            found.append(hold(job, places[2], "void"))
    for job in jobs[8:]:
        found += [hold(job, place, scene.pick(tuple(ages))) for place in range(len(job.targets))]
    return tuple(found)


def _draw_order(scene: WebScene) -> list[str]:
    """Draw the order of the requests; a follow-up comes some time after what it is about."""
    dropped = scene.pick(("", "account", "follow B", "forbidden"))
    tokens = ["A", "B", "C", "forbidden", "follow A", "follow B", "account"]
    tokens = [each for each in tokens if each != dropped]
    order: list[str] = []
    left = set(tokens)
    while left:
        ready = [each for each in tokens if each in left and _may_come(each, order, len(left))]
        order.append(scene.pick(ready or [each for each in tokens if each in left]))
        left.remove(order[-1])
    return [*order, "tally"]


def _may_come(token: str, order: Sequence[str], left: int) -> bool:
    """Whether a request may come next: a follow-up not right after what it is about."""
    if token.startswith("follow"):
        return token[-1] in order[:-1]
    if token == "account":
        return left <= 3
    return token in ("A", "B") or len(order) >= 2


def _draw_changes(
    scene: WebScene, order: Sequence[str], days: int, auditor: Person
) -> dict[int, dict[str, object]]:
    """Draw what of the rules changes before which request.

    The term of holds changes between two requests that it decides; what is closed before the first
    request for which that matters.
    """
    place = {token: number for number, token in enumerate(order)}
    starts = sorted(place[each] for each in "ABC")
    late: dict[int, dict[str, object]] = {}
    late.setdefault(int(scene.rng.integers(starts[0] + 1, starts[-1] + 1)), {})["days"] = days
    first = min(place["C"], place.get("forbidden", 99))
    late.setdefault(int(scene.rng.integers(1, first + 1)), {})["closed"] = True
    if scene.rng.random() < 0.7:
        late.setdefault(int(scene.rng.integers(2, len(order) - 2)), {})["auditor"] = auditor
    if scene.rng.random() < 0.7:
        late.setdefault(int(scene.rng.integers(1, 4)), {})["mandates"] = True
    follows = [each for each in "AB" if f"follow {each}" in place]
    if scene.rng.random() < 0.7:
        letter = scene.pick(follows)
        late.setdefault(place[f"follow {letter}"], {})["hold"] = letter
    return late
