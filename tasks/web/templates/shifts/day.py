"""Composition of a shift: jobs, rules, requests, and intervening events.

The day is drawn request by request while its ledger is kept, so that follow-ups refer to the
outcomes of earlier requests.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date

from hexathlon.tasks.web.templates.draft import WebDraft, WebScene
from hexathlon.tasks.web.templates.shifts.cast import DAYS, PACES, ShiftCast, draw_cast, draw_rules
from hexathlon.tasks.web.templates.shifts.changes import DayChanges
from hexathlon.tasks.web.templates.shifts.choosing import draw_choice
from hexathlon.tasks.web.templates.shifts.day_plans import DayPlans
from hexathlon.tasks.web.templates.shifts.defect_draws import draw_defects
from hexathlon.tasks.web.templates.shifts.ledger import DayLedger, DayStatement, DayStep, record_of
from hexathlon.tasks.web.templates.shifts.post import ShiftPost
from hexathlon.tasks.web.templates.shifts.records import RecordJob, ShiftBench
from hexathlon.tasks.web.templates.shifts.walk import (
    DrawnDay,
    DrawnRequest,
    account_site,
    day_draft,
    is_telling,
)
from hexathlon.tasks.web.templates.shifts.wording import statement_text, unnamed_text
from hexathlon.tasks.web.world.network import Edit

__all__ = ["JobMaker", "compose_shift"]

JobMaker = Callable[[ShiftBench, range], RecordJob | None]

_SIZES = (
    range(3, 5),
    range(3, 7),
    range(3, 7),
    range(2, 5),
    range(2, 4),
    range(2, 4),
    range(2, 4),
    range(2, 4),
)
"""Sizes of the jobs of the user's four requests, of emails, and of one that replaces another."""

_HELD_OUT = ("unless", "unless", "unnamed")
"""Kinds of follow-ups that training never sees."""

_DAYS_DRAWN = 6
"""Number of draws of a day with the same jobs before other jobs are drawn."""


def compose_shift(
    scene: WebScene, sites: Sequence[str], makers: Sequence[JobMaker], story: tuple[str, str]
) -> WebDraft | None:
    """Draw a shift; None if this world has none.

    Args:
        scene: Source of the draws.
        sites: Its sites besides mail.
        makers: Draw its jobs.
        story: The agent's employer, in English and Chinese.
    """
    bench = ShiftBench(scene, scene.plan("mail", *sites))
    turn = scene.sample(makers, len(makers))
    drawn = [_draw_job(bench, turn, place, size) for place, size in enumerate(_SIZES)]
    jobs = [job for job in drawn if job is not None]
    if len(jobs) < len(_SIZES) or len({job.site for job in jobs[:3]}) < 2:
        return None
    for _ in range(_DAYS_DRAWN):
        day = _DayDraw(bench, jobs).draw()
        draft = None if day is None else day_draft(bench, day, scene.say(*story))
        if draft is not None:
            return draft
    return None


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


@dataclass
class _DayDraw:
    """Draws the requests of one day in turn."""

    bench: ShiftBench
    jobs: Sequence[RecordJob]
    requests: list[DrawnRequest] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.scene: WebScene = self.bench.scene
        self.ledger = DayLedger()
        self.replaced = ""

    def draw(self) -> DrawnDay | None:
        """Return the day, or None if there is no subject for one of its requests."""
        scene, bench = self.scene, self.bench
        sites = sorted(bench.plan.sites)
        cast = draw_cast(scene, scene.people(bench.plan)[1:], sites)
        today = date.fromisoformat(bench.today)
        days = scene.sample(DAYS, 2)
        rules = draw_rules(scene, cast, today, self.jobs, self.jobs[3], days)
        if rules is None:
            return None
        order = self._draw_order()
        between = range(1, len(order) - 1)
        pace, later_pace = scene.sample(PACES, 2)
        changes = DayChanges(scene, cast, days[1], later_pace, self.jobs[:4])
        planned, post = (
            changes.plan(between),
            ShiftPost(bench, cast, self.jobs[4:7]),
        )
        arrivals = post.plan(between)
        meddled = scene.sample(range(3, len(order) - 1), 2)
        after = tuple(sorted(scene.sample(range(3, len(order) - 1), 2)))
        rules = replace(rules, synchronised=self.jobs[0].site, after=after, pace=pace)
        for place, token in enumerate(order):
            for kind in planned.get(place, ()):
                rules = changes.apply(kind, rules, self.ledger)
            other = changes.overwritten(self.ledger) if place in meddled else None
            mail = None
            if place in arrivals:
                mail = post.draw(arrivals[place], rules, self.ledger)
            step = DayStep(rules, (), (mail,) if mail else (), (other,) if other else ())
            if place in after:
                undone = changes.undone(rules.synchronised, self.ledger, other)
                step = replace(step, undone=undone, synchronised=rules.synchronised)
            drawn = self._request(token, step, place + 1)
            if drawn is None:
                return None
            self.requests.append(drawn)
            self.ledger.step(place + 1, drawn.step)
            if self._mistakable():
                return None
        return self._with_plans(cast, tuple(post.first_edits))

    def _mistakable(self) -> bool:
        """Whether a value of somebody else is also one that the agent gives to such a record.

        It could then be an effect of the agent's own saves for whoever looks only after them.
        """
        others = [each for request in self.requests for each in request.step.others]
        given = self.ledger.used
        return any((job.field, job.noun, str(values)) in given for job, _, values in others)

    def _with_plans(self, cast: ShiftCast, mail_edits: tuple[Edit, ...]) -> DrawnDay | None:
        """Return the day with its plans, which are drawn only if the rest of it will do."""
        site = account_site(self.bench, self.requests)
        if site is None:
            return None
        day = DrawnDay(cast.reader, cast.planner, tuple(self.requests), mail_edits, site)
        if not is_telling(self.bench, day):
            return None
        defects = draw_defects(self.scene, [each.step for each in day.requests])
        if defects is None:
            return None
        day = replace(day, defects=defects)
        authors = [each.name for each in cast.offering]
        requests = DayPlans(self.scene, authors).draw(day.requests)
        return None if requests is None else replace(day, requests=requests)

    def _draw_order(self) -> list[str]:
        """Draw the order of requests: two new ones, then new ones, follow-ups and the plan."""
        middle = ["ask"] * 2 + ["follow"] * 4 + ["account"] * int(self.scene.rng.random() < 0.6)
        middle = self.scene.sample(middle, len(middle))
        if middle[0] != "ask" and middle[-1] == "ask":
            middle.reverse()
        middle.insert(int(self.scene.rng.integers(0, 3)), "plan")
        return ["ask", "ask", *middle, "tally"]

    def _request(self, token: str, step: DayStep, number: int) -> DrawnRequest | None:
        if token == "plan":
            return DrawnRequest(replace(step, plan=True), token)
        if token in ("account", "tally"):
            return DrawnRequest(step, token)
        if token == "ask":
            job = self.jobs[sum(each.kind == "ask" for each in self.requests)]
            statement = draw_choice(self.scene, str(number), job)
            plain = DayStatement("ask", str(number), 0, "", job)
            return self._drawn(step, statement or plain, job, "ask")
        return self._follow(step, number)

    def _drawn(
        self, step: DayStep, statement: DayStatement, job: RecordJob, kind: str, text: str = ""
    ) -> DrawnRequest:
        said = text or statement_text(self.bench, statement, job)
        whole = replace(step, statements=(statement,))
        return DrawnRequest(whole, kind, said)

    def _follow(self, step: DayStep, number: int) -> DrawnRequest | None:
        """Draw a follow-up to an earlier request."""
        ledger, scene = self.ledger, self.scene
        busy = {mail.job for mail in step.mails} if step.mails else set()
        sources = [
            each for each in ledger.jobs if ledger.records(each) and ledger.jobs[each] not in busy
        ]
        dropped = [each for each in ledger.dropped if ledger.jobs[each] not in busy]
        if dropped and scene.rng.random() < 0.45:
            source = scene.pick(dropped)
            statement = DayStatement("restore", source)
            return self._drawn(step, statement, ledger.jobs[source], "follow")
        if not sources:
            return None
        weighed = [each for each in sources for _ in range(1 + 3 * self._touched(each, step))]
        source = scene.pick(weighed)
        job = ledger.jobs[source]
        traits = sorted({ledger.places[place][1].trait for place in ledger.records(source)} - {""})
        kinds = ["correct", "withdraw", "replace"]
        kinds += ["part correct", "part withdraw"] * (len(traits) > 1)
        kinds += [] if scene.split == "train" else _HELD_OUT
        # If a replacement is withdrawn as a whole, this might be read as restoring what it
        # replaced.
        kind = "correct" if source == self.replaced else scene.pick(kinds)
        choices = self._choices(source)
        if not choices:
            return None
        choice = scene.pick(choices)
        if kind == "replace" and not self.replaced:
            return self._replace(step, number, source)
        if kind == "unless" and self._alone(source, step):
            return self._drawn(step, DayStatement("unless", source, choice), job, "follow")
        if kind == "unnamed":
            return self._unnamed(step, source)
        trait = scene.pick(traits) if kind.startswith("part") else ""
        gone = kind.endswith("withdraw")
        statement = DayStatement("withdraw" if gone else "correct", source, choice, trait)
        return self._drawn(step, statement, job, "follow")

    def _choices(self, source: str) -> list[int]:
        """Return the values that a request currently assigns to none of its records."""
        ledger = self.ledger
        named = [
            (ledger.places[place][1], dict(ledger.named[place])[source])
            for place in ledger.records(source)
        ]
        return [
            each
            for each in range(3)
            if all(target.values[each] != values for target, values in named)
        ]

    def _touched(self, source: str, step: DayStep) -> bool:
        """Whether anything else, such as a person or a hold, affects a record of a request."""
        others = {record_of(job, target) for job, target, _ in step.others}
        held = step.rules.in_force().held
        return any(
            self.ledger.taken(place)
            or place in others
            or (place[0], self.ledger.places[place][1].label) in held
            or len(self.ledger.named[place]) > 1
            for place in self.ledger.records(source)
        )

    def _alone(self, source: str, step: DayStep) -> bool:
        """Whether only this request and holds determine the values of its records."""
        others = {record_of(job, target) for job, target, _ in step.others}
        return all(
            len(self.ledger.named[each]) == 1 and not self.ledger.taken(each) and each not in others
            for each in self.ledger.records(source)
        )

    def _replace(self, step: DayStep, number: int, source: str) -> DrawnRequest | None:
        """Withdraw a request in favour of a new one."""
        job = self.jobs[7]
        if step.rules.in_force().closure_of(job.site, job.group) is not None:
            return None
        self.replaced = str(number)
        gone = DayStatement("withdraw", source)
        instead = DayStatement("ask", str(number), 0, "", job)
        text = (
            statement_text(self.bench, gone, self.ledger.jobs[source])
            + self.bench.say(" Instead of it, the following is requested. ", "以下列请求代替：")
            + job.wishes[0]
        )
        whole = replace(step, statements=(gone, instead))
        return DrawnRequest(whole, "follow", text)

    def _unnamed(self, step: DayStep, source: str) -> DrawnRequest | None:
        """Withdraw a request that is identified only by a record with the value it asked for."""
        ledger = self.ledger
        others = {record_of(job, target) for job, target, _ in step.others}
        telling = [
            place
            for place in ledger.records(source)
            if place in ledger.given
            and not ledger.taken(place)
            and place not in others
            and ledger.said[place] == 1
            and ledger.wanted(place) == ledger.values[place]
            and ledger.values[place] != ledger.places[place][1].before
        ]
        if not telling:
            return None
        job, target = ledger.places[self.scene.pick(telling)]
        text = unnamed_text(self.bench, job, target)
        return self._drawn(step, DayStatement("withdraw", source), job, "follow", text)
