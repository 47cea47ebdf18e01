"""Conversion of a drawn day into a task: works, texts, expected changes, scripts, near misses."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hexathlon.tasks.source import Script
from hexathlon.tasks.web.pilot import Pilot
from hexathlon.tasks.web.templates.draft import ExpectedAnswer, Solver, WebDraft, together
from hexathlon.tasks.web.templates.mailbox import Mailbox
from hexathlon.tasks.web.templates.shifts.defects import (
    KINDS,
    DefectiveSites,
    SiteDefect,
    defect_edits,
    guarded,
    saves_of,
)
from hexathlon.tasks.web.templates.shifts.handbook import (
    PAGES,
    edits_between,
    first_edits,
    log_subject,
    mail_subject,
)
from hexathlon.tasks.web.templates.shifts.ledger import (
    SLIPS,
    DayLedger,
    DayStep,
    RecordPlace,
    StepRecord,
    record_of,
)
from hexathlon.tasks.web.templates.shifts.post import arrival
from hexathlon.tasks.web.templates.shifts.records import RecordJob, ShiftBench, Values, in_order
from hexathlon.tasks.web.templates.shifts.replay import replayed, reread
from hexathlon.tasks.web.templates.shifts.rules import DayRules
from hexathlon.tasks.web.templates.shifts.stages import (
    ShiftLetter,
    ShiftStage,
    StageWork,
    Writing,
    first_action,
    play_stages,
    shift_cost,
)
from hexathlon.tasks.web.templates.shifts.wording import (
    account_text,
    introduction,
    numbered,
    plan_text,
    tally_text,
)
from hexathlon.tasks.web.world.network import Edit
from hexathlon.tasks.web.world.people import Person

__all__ = ["DrawnDay", "DrawnRequest", "account_site", "day_draft", "is_telling"]

_SLACK = 1.1
"""Turns per action of the oracle, which looks at everything that decides; rounded up to tens."""

_LONGEST = 290
_SHORTEST = 110
_NEEDED = ("never_made_up", "others_overwritten", "undone_left", "pace_ignored")
"""Mistakes that must change the result of a day, whatever its plans are."""

_NEEDED_OF_PLANS = (
    "morning_pages",
    "grants_ignored",
    "charges_ignored",
    "savings_ignored",
    "hasty_plans",
    "exchanged_plans",
    "plan_sent_once",
)
"""Mistakes that must change the result of a day with its plans."""

_FEWEST = 10
"""Minimum number of kinds of mistakes that must change the result of a day."""

_REFUSED = "ACTION_NOT_ALLOWED_ERROR"


@dataclass(frozen=True)
class DrawnRequest:
    """One request before its result is computed."""

    step: DayStep
    kind: str
    """`ask`, `follow`, `plan`, `account` or `tally`."""

    text: str = ""


@dataclass(frozen=True)
class DrawnDay:
    """A day before its results are computed."""

    reader: Person
    """Recipient of the day's account."""

    planner: Person
    """Who gets the plans."""

    requests: tuple[DrawnRequest, ...]
    mail_edits: tuple[Edit, ...]
    """Adds the emails, which have not arrived yet."""

    account: str = ""
    """Site of the account; empty if none is asked for."""

    defects: tuple[SiteDefect, ...] = ()
    """Defects of the sites."""


@dataclass
class _Course:
    """One day, with its ledger kept correctly or with one mistake."""

    ledger: DayLedger
    works: list[StageWork]
    repaired: bool
    """Whether every record has the required values after each request."""

    values: list[dict[RecordPlace, Values]]
    """The required values of the known records after each request."""


def is_telling(bench: ShiftBench, day: DrawnDay) -> bool:
    """Whether the mistakes that have nothing to do with plans change the result of a day."""
    right = _outcome(_course(bench, day).works)
    return all(_outcome(_course(bench, day, slip).works) != right for slip in _NEEDED)


def day_draft(bench: ShiftBench, day: DrawnDay, story: str) -> WebDraft | None:
    """Return the task, or None if the day is too easy or too long, or its derivations disagree."""
    right = _course(bench, day)
    if not right.repaired:
        return None
    stages = [
        replace(_stage(bench, day, place, work), records=_shown(right, place))
        for place, work in enumerate(right.works)
    ]
    cost = shift_cost(stages)
    if not _SHORTEST <= cost <= _LONGEST:
        return None
    near = _near_misses(bench, day, right.works)
    if near is None or not reread(bench.scene, [each.step for each in day.requests]):
        return None
    return _draft(bench, day, story, right, stages, near, cost)


def _draft(
    bench: ShiftBench,
    day: DrawnDay,
    story: str,
    right: _Course,
    stages: Sequence[ShiftStage],
    near: Mapping[str, Sequence[StageWork]],
    cost: int,
) -> WebDraft | None:
    scene, ledger = bench.scene, right.ledger
    rules = day.requests[0].step.rules
    fault: Edit = ("mail", "INSERT INTO _faults (address) VALUES (?)", (day.planner.email,))
    pages = first_edits(rules, scene)
    defects = defect_edits(day.defects)
    plan = bench.plan.with_edits([*bench.edits, *pages, *day.mail_edits, fault, *defects])
    box = Mailbox(scene, bench.plan)

    def rows(letter: ShiftLetter) -> Mapping[str, Any]:
        return box.expected(box.sent([letter.to], letter.body, subject=letter.subject))

    final: list[Writing] = [
        (*ledger.places[place], values)
        for place, values in ledger.given.items()
        if not ledger.taken(place)
    ]
    effects = [job.effect(target, values) for job, target, values in final]
    turns = [
        (_record_edits(day, each.step), (*stage.right.writings, *stage.right.repairs))
        for each, stage in zip(day.requests, stages, strict=True)
    ]
    if not replayed(scene, plan, turns, together(*effects)):
        return None
    letters = [
        rows(letter) for stage in stages for letter in stage.right.letters if not letter.lost
    ]
    backwards = _course(bench, day, backwards=True)
    if not backwards.repaired:
        return None
    budget = math.ceil(_SLACK * cost / 10) * 10
    return WebDraft(
        plan,
        introduction(bench, story, budget),
        play_stages(stages),
        changes=together(*effects, *letters),
        evidence=tuple(rf"/handbook/{name}$" for name in PAGES[:2]),
        alternatives={"backwards": play_stages(stages, backwards.works, backwards=True)},
        mutants={name: play_stages(stages, works) for name, works in near.items()},
        turns=budget,
        requests=tuple(stage.request(rows, final) for stage in stages),
        records=tuple(
            (job.site, job.table, job.key_column, target.key, job.column)
            for job, target in ledger.places.values()
        ),
    )


# Works -----------------------------------------------------------------------------------------


def _course(
    bench: ShiftBench,
    day: DrawnDay,
    slip: str = "",
    at: int = 0,
    *,
    backwards: bool = False,
    unseen: Collection[str] = (),
) -> _Course:
    """Run the ledger over a day and return the actions for each request.

    Args:
        bench: Source of the draws.
        day: The day.
        slip: A mistake with which the ledger is kept.
        at: Number of the request that the mistake concerns.
        backwards: Whether records are written in reverse order.
        unseen: Kinds of defects whose effects are left as they are.
    """
    ledger, works, sites = DayLedger(slip, at), list[StageWork](), DefectiveSites(day.defects)
    morning, known, sound = day.requests[0].step.rules, list[RecordJob](), True
    values = list[dict[RecordPlace, Values]]()
    for number, request in enumerate(day.requests, 1):
        done = ledger.step(number, request.step)
        rules = morning if slip == "morning_pages" else request.step.rules
        work = _work(bench, day, request, number, done, ledger, rules)
        new = tuple(job for job in dict.fromkeys(ledger.jobs.values()) if job not in known)
        known += new
        for each in (*request.step.others, *request.step.undone):
            sites.edit(*each)
        writings = work.writings[::-1] if backwards else work.writings
        more, repaired = saves_of(sites, writings, ledger.values, ledger.places, unseen)
        sound &= repaired
        work = replace(work, jobs=new, writings=writings, repairs=tuple(more))
        works.append(work if set(KINDS) <= set(unseen) else _looked_after(ledger, work))
        values.append(dict(ledger.values))
    return _Course(ledger, works, sound, values)


def _looked_after(ledger: DayLedger, work: StageWork) -> StageWork:
    """Add the lists and pages that show whether the writes were kept and changed nothing else."""
    lists: dict[tuple[str, str], RecordJob] = {}
    fields = {job.field for job, _, _ in work.writings}
    for job in ledger.jobs.values():
        if job.shown_in and job.field in fields:
            lists.setdefault((job.site, job.shown_in), job)
    again = {(job.site, job.shown_in): job for job, _, _ in work.repairs if job.shown_in}
    last = {job.field: target for job, target, _ in work.writings}
    pages = [
        (job, target, values)
        for job, target, values in work.writings
        if not job.shown_in and target is not last[job.field]
    ]
    return replace(
        work,
        lists=tuple(lists.values()),
        reopened=tuple(pages),
        lists_again=tuple(again.values()),
    )


def _shown(course: _Course, place: int) -> tuple[Any, ...]:
    """Return the values that all records of a day have after one of its requests."""
    return tuple(
        course.values[place].get(record, target.before)[job.column]
        for record, (job, target) in course.ledger.places.items()
    )


def _record_edits(day: DrawnDay, step: DayStep) -> list[Edit]:
    """Return the changes of records by other people and by the synchronisation."""
    edits = [
        edit
        for job, target, values in (*step.others, *step.undone)
        for edit in job.edits(target, values)
    ]
    return guarded(day.defects, edits)


def _work(
    bench: ShiftBench,
    day: DrawnDay,
    request: DrawnRequest,
    number: int,
    done: StepRecord,
    ledger: DayLedger,
    rules: DayRules,
) -> StageWork:
    letters, site = [], day.account
    subject = log_subject(bench.scene)
    if request.kind == "account":
        labels = in_order(ledger.differing(site)) or []
        letters.append(
            ShiftLetter(day.reader.email, _account_subject(bench, site), ", ".join(labels))
        )
    for numbers, lost in ((done.again, False), (done.plan, request.kind == "plan")):
        if numbers:
            body, to = ", ".join(numbers), day.planner.email
            letters.append(ShiftLetter(to, _plan_subject(bench), body, lost))
    if done.writings and not rules.log_at_end:
        letters.append(ShiftLetter(rules.auditor.email, subject, f"{number}: {len(done.writings)}"))
    answer = ExpectedAnswer(data=tuple(done.pending) or None, ordered=False)
    if done.refused:
        answer = ExpectedAnswer(status=_REFUSED, record=done.refused)
    if request.kind == "tally":
        counts = [len(ledger.differing(each)) for each in _sites(bench)]
        answer = ExpectedAnswer(data=(*counts, ledger.mails))
        if rules.log_at_end:
            text = ", ".join(f"{each}: {count}" for each, count in ledger.counts)
            letters.append(ShiftLetter(rules.auditor.email, subject, text))
    checks = [(*ledger.places[place], ledger.values[place]) for place in done.watched]
    if request.kind == "tally":
        checks += _worth_a_look(ledger)
    elif request.kind == "account" or request.step.synchronised:
        checks += _worth_a_look(
            ledger, site if request.kind == "account" else "", request.step.synchronised
        )
    return StageWork(tuple(done.writings), tuple(letters), answer, tuple(checks))


def _worth_a_look(ledger: DayLedger, *sites: str) -> list[Writing]:
    """Return records whose pages show whether they have changed; of these sites, or all."""
    return [
        (*ledger.places[place], ledger.values[place])
        for place in ledger.given
        if not sites or place[0] in sites
    ]


def _sites(bench: ShiftBench) -> list[str]:
    """Return the sites on which records change."""
    return sorted({site for site, _, _ in bench.taken})


def _account_subject(bench: ShiftBench, site: str) -> str:
    return bench.say(f"Changes: {site}", f"更改：{site}")


def _plan_subject(bench: ShiftBench) -> str:
    return bench.say("Plan", "方案")


def account_site(bench: ShiftBench, requests: Sequence[DrawnRequest]) -> str | None:
    """Return the site of the account; empty if none is asked for, None if no site is suitable."""
    ledger = DayLedger()
    for number, request in enumerate(requests, 1):
        ledger.step(number, request.step)
        if request.kind == "account":
            fitting = [
                site
                for site in _sites(bench)
                if len(ledger.differing(site)) > 1 and in_order(ledger.differing(site))
            ]
            return bench.scene.pick(fitting) if fitting else None
    return ""


# Near misses -----------------------------------------------------------------------------------


def _near_misses(
    bench: ShiftBench, day: DrawnDay, right: Sequence[StageWork]
) -> dict[str, list[StageWork]] | None:
    """Return days with one mistake, by name; None if a needed one is right, or too many are."""
    outcome = _outcome(right)
    found = {slip: _course(bench, day, slip).works for slip in _NEEDED_OF_PLANS}
    if any(_outcome(works) == outcome for works in found.values()):
        return None
    others = [slip for slip in SLIPS if slip != "left_out" and slip not in found]
    found |= {slip: _course(bench, day, slip).works for slip in others}
    asked = [place for place, each in enumerate(day.requests) if each.step.statements]
    place = bench.scene.pick(asked[1:])
    found["left_out"] = _course(bench, day, "left_out", place + 1).works
    last = right[-1]
    data = [*(last.answer.data or ())]
    more = replace(last.answer, data=(*data[:-1], data[-1] + 1))
    found["miscounted"] = [*right[:-1], replace(last, answer=more)]
    lettered = [
        place for place, work in enumerate(right) if any(not each.lost for each in work.letters)
    ]
    place = bench.scene.pick(lettered)
    found["not_sent"] = [
        replace(work, letters=()) if number == place else work for number, work in enumerate(right)
    ]
    wrong = {name: works for name, works in found.items() if _outcome(works) != outcome}
    return wrong | _unseeing(bench, day) if len(wrong) >= _FEWEST else None


def _unseeing(bench: ShiftBench, day: DrawnDay) -> dict[str, list[StageWork]]:
    """Return days on which the effects of defects are left, of one kind or of all kinds.

    `draw_defects` makes sure that records are then wrong at the end.
    """
    kinds = dict.fromkeys(each.kind for each in day.defects)
    found = {f"{kind}_unseen": _course(bench, day, unseen=[kind]).works for kind in kinds}
    return {**found, "never_looked_again": _course(bench, day, unseen=KINDS).works}


def _outcome(works: Sequence[StageWork]) -> Any:
    """Return the outcome of a day: values that differ, emails and answers."""
    final = {
        record_of(job, target): (target, values)
        for work in works
        for job, target, values in work.writings
    }
    values = {
        place: dict(values) for place, (target, values) in final.items() if values != target.before
    }
    letters = sorted(
        (each.to, each.subject, each.body)
        for work in works
        for each in work.letters
        if not each.lost
    )
    answers = [
        (each.answer.status, each.answer.record, sorted(map(str, each.answer.data or ())))
        for each in works
    ]
    return values, letters, answers


# Stages ----------------------------------------------------------------------------------------


def _stage(bench: ShiftBench, day: DrawnDay, place: int, work: StageWork) -> ShiftStage:
    request = day.requests[place]
    text = request.text
    if request.kind == "account":
        subject = _account_subject(bench, day.account)
        text = account_text(bench, day.account, day.reader.name, day.reader.email, subject)
    if request.kind == "plan":
        text = plan_text(bench, day.planner.name, day.planner.email, _plan_subject(bench))
    if request.kind == "tally":
        text = tally_text(bench, _sites(bench), mail_subject(bench.scene))
    step = request.step
    former = day.requests[place - 1].step.rules if place else step.rules
    edits = edits_between(former, step.rules, bench.scene)
    edits += [arrival(mail) for mail in step.mails]
    edits += _record_edits(day, step)
    pages = _pages_to_read(bench, day, place)
    checks = [each for each in work.checks if each[1] not in [one[1] for one in work.writings]]
    looks = 1 + len(pages) + 1 + len(step.mails) + len(checks)
    looks += sum(job.search_cost for job in work.jobs)
    return ShiftStage(
        numbered(bench, place + 1, text),
        work,
        _look(step, pages, work.jobs, checks),
        looks,
        tuple(edits),
    )


def _pages_to_read(bench: ShiftBench, day: DrawnDay, place: int) -> list[str]:
    """Return the pages of the handbook that are new or have changed, as its list of pages shows."""
    steps = [each.step for each in day.requests[: place + 1]]
    relevant = PAGES if any(each.plan for each in steps) else PAGES[:3]
    if not place:
        return list(relevant)
    pages = [
        name for _, _, (*_, name) in edits_between(steps[-2].rules, steps[-1].rules, bench.scene)
    ]
    return [name for name in relevant if name in pages or (name == PAGES[3] and steps[-1].plan)]


def _look(
    step: DayStep, pages: Sequence[str], jobs: Sequence[RecordJob], checks: Sequence[Writing]
) -> Solver:
    """Look at the handbook and into the inbox, read new emails, and look records up."""

    def look(pilot: Pilot) -> Script:
        yield from pilot.goto("mail", "/handbook")
        for name in pages:
            yield from pilot.goto("mail", f"/handbook/{name}")
        yield from pilot.goto("mail", "/folder/inbox")
        for mail in step.mails:
            yield from pilot.goto("mail", f"/threads/{mail.message}")
        for job in jobs:
            yield from job.search(pilot)
        for job, target, values in checks:
            yield from first_action(pilot, job.write(pilot, target, values))

    return look
