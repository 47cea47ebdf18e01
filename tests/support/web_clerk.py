"""A clerk who works through a shift with what pages show, and with nothing else about its course.

He understands what requests and mails ask for, and knows the pages of the sites. Who has a mandate,
what is held, which mails count, what other people or a synchronisation have changed, which plan
holds and which mail did not arrive: all that he reads from screens. Numbers of records must have
been shown to him before he uses them.
"""

import copy
import re
from contextlib import contextmanager
from dataclasses import replace
from datetime import date

from hexathlon.tasks.registry import get_source
from hexathlon.tasks.source import parse_address
from hexathlon.tasks.web.pilot import Pilot
from hexathlon.tasks.web.source import _draft
from hexathlon.tasks.web.templates.mailbox import compose
from hexathlon.tasks.web.templates.shifts import day as day_module
from hexathlon.tasks.web.templates.shifts.handbook import PAGES, TITLES, log_subject, mail_subject
from hexathlon.tasks.web.templates.shifts.ledger import DayLedger, DayMail, DayStep, record_of
from hexathlon.tasks.web.templates.shifts.plans import PlanTerms, WorkOffer
from hexathlon.tasks.web.templates.shifts.rules import (
    DayRules,
    Mandate,
    RecordClosure,
    RegisterEntry,
)
from hexathlon.tasks.web.templates.shifts.stages import first_action
from hexathlon.tasks.web.world.people import Person
from hexathlon.tasks.web.world.sites.tracker.vocabulary import PRIORITIES, label_of

_ENTRY = re.compile(r"^(\w+): (\S.*) (\S+) · (hold|release|冻结|解冻) · (\S+) · (.+)$", re.M)
_CLOSURE = re.compile(r"^(C-\d+) · (\w+): (.+) · (\S+) – (\S+) · (.+)$", re.M)
_MANDATE = re.compile(r"^(.+) <(.+)> · (\w+) · (\S+) – (\S+) · (.+)$", re.M)
_OFFER = re.compile(r"^(O-\d+) · (.+) · (.+) · €?(\d+)(?:欧元)? · (\d+)[^\d\n]+ · (.+)$", re.M)
_TERM = re.compile(r"no more than (\d+) days after|不超过(\d+)天，该记录")
_CHARGE = re.compile(r"^([^·|\n]+) · €?(\d+)(?:欧元)?$", re.M)
_SAVING = re.compile(
    r"^(?:\W*)(\w[^·|\n]*?) \+ (.+?) · (?:€(\d+) off|€(\d+) extra|减(\d+)欧元|加(\d+)欧元)", re.M
)
_LIMITS = re.compile(
    r"gets more than (\d+) works or works of more than (\d+) days"
    r"|工程不超过(\d+)项，天数合计不超过(\d+)天"
)
_PAIR = r"(?:days together\. |天。)([^.。]+?)(?: and |与)([^.。]+?)(?: go to |由)"
_APART, _TOGETHER = re.compile(_PAIR + "(?:dif|不)"), re.compile(_PAIR + "(?:the same|同)")
_REBATE = re.compile(r"at least 3 works takes €(\d+) off|每家减收(\d+)欧元")
_SYNC = re.compile(
    r"(?:The site|同步。)\s?(\w+?)(?: is synchronised|网站).*?(\d+)(?: and |和请求)(\d+)"
)
_PACE = re.compile(r"at most (\d+) records of each site|每个网站最多给(\d+)条记录")
_HEAD = re.compile(r"^R-\d+ (?:Mandates\. |授权。)(.+?) ?[(（](.+?)[)）]", re.M)
_LOG = re.compile(r"^R-\d+ (?:Day log|工作日志).*", re.M)
_ADDRESS = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_AT_END = ("the last request of the day", "报告当天最后一个请求之前")
_ELSE = {"changed by somebody": True}


@contextmanager
def _drawn_days():
    """Collect the bench and the drawn day of every shift that is built meanwhile."""
    kept, original = [], day_module.day_draft

    def keeping(bench, day, story):
        draft = original(bench, day, story)
        if draft is not None:
            kept.append((bench, day))
        return draft

    day_module.day_draft = keeping
    try:
        yield kept
    finally:
        day_module.day_draft = original


def day_of(task_id):
    """Return the source of a day's draws, and the day."""
    with _drawn_days() as kept:
        _draft(parse_address(task_id), "")
    return kept[-1]


def clerk_of(task_id):
    """Return the task and the clerk's script."""
    bench, day = day_of(task_id)
    return get_source("web").build(task_id), _Clerk(bench, day).work()


class _Clerk:
    def __init__(self, bench, day):
        self.bench, self.day, self.scene = bench, day, bench.scene
        self.pilot = Pilot(bench.scene.language)
        self.ledger = DayLedger()
        self.seen, self.request_text = "", ""
        self.letters, self.written, self.screens = [], {}, []
        self.rules = None
        self.stamps, self.texts = {}, {}
        self.after_save = {}

    def work(self):
        """Work through the day, and keep every screen of a request."""
        for number, request in enumerate(self.day.requests, 1):
            script = self.request(number, request)
            action = next(script)
            while True:
                observation = yield action
                self.screens.append(observation)
                try:
                    action = script.send(observation)
                except StopIteration:
                    break

    # One request -------------------------------------------------------------------------------

    def request(self, number, request):
        yield from self.read_pages(planning=self.ledger.planning or request.step.plan)
        returned = yield from self.read_inbox()
        mails = yield from self.read_mails(request.step.mails)
        step = DayStep(self.rules, request.step.statements, tuple(mails), plan=request.step.plan)
        books = copy.deepcopy(self.ledger, self._shared())
        books.step(number, step)
        for job in dict.fromkeys(books.jobs.values()):
            if job not in self.ledger.jobs.values():
                yield from self.searched(job)
        synchronised = number - 1 in self.rules.after
        if synchronised or request.kind in ("account", "tally"):
            step = yield from self.look_around(step, request, synchronised)
        yield from self.carry_out(number, request, step, returned)

    def look_around(self, step, request, synchronised):
        """Open the pages of records that may have changed; enter what they show."""
        others, undone = [], []
        for place, given in list(self.ledger.given.items()):
            job, target = self.ledger.places[place]
            here = synchronised and place[0] == self.rules.synchronised
            if self.ledger.taken(place) or not (here or request.kind in ("account", "tally")):
                continue
            yield from first_action(self.pilot, job.write(self.pilot, target, given))
            if self.shows(place, given):
                continue
            if here and self.shows(place, target.before):
                undone.append((job, target, target.before))
            else:
                others.append((job, target, _ELSE))
        return replace(step, others=tuple(others), undone=tuple(undone))

    def carry_out(self, number, request, step, returned):
        """Enter the request into the books and change records; begin again if one has changed."""
        while True:
            books = copy.deepcopy(self.ledger, self._shared())
            done = books.step(number, step)
            changed = None
            for place in done.watched:
                job, target = books.places[place]
                if books.taken(place):
                    continue
                yield from first_action(self.pilot, job.write(self.pilot, target, target.before))
                if not self.shows(place, books.given[place]):
                    changed = (job, target, _ELSE)
                    break
            for job, target, values in () if changed else done.writings:
                place = record_of(job, target)
                known = self.ledger.given.get(place)
                if values == self.written.get(place):
                    continue
                undone = any(target is each for _, each, _ in step.undone)
                assert re.search(rf"\b{re.escape(target.label.lstrip('#'))}\b", self.seen), place
                script = job.write(self.pilot, target, values)
                observation = yield next(script)
                self.pilot.screen = observation
                if known is not None and not undone and not self.shows(place, known):
                    changed = (job, target, _ELSE)
                    break
                try:
                    action = script.send(observation)
                    while True:
                        action = script.send((yield action))
                except StopIteration:
                    self.written[place] = values
                    self.after_save[place] = self.pilot.screen
            if changed is None:
                yield from self.look_again(books, done)
                break
            step = replace(step, others=(*step.others, changed))
        self.ledger, self.written, self.after_save = books, {}, {}
        yield from self.report(number, request, done, returned)

    # Looking again ------------------------------------------------------------------------------

    def look_again(self, books, done):
        """See whether the sites show what they should; save again what they do not show."""
        fields = {job.field for job, _, _ in done.writings}
        jobs = {
            (job.site, job.shown_in): job
            for job in books.jobs.values()
            if job.shown_in and job.field in fields
        }
        written = {record_of(job, target) for job, target, _ in done.writings}
        wrong, detours = {}, set()
        for job in jobs.values():
            for place, entry in (yield from self.unlike(books, job)).items():
                if place in written or self.own_doing(place, books, entry):
                    wrong[place] = True
        last = {job.field: target for job, target, _ in done.writings}
        for job, target, values in done.writings:
            place = record_of(job, target)
            if job.shown_in:
                continue
            if not self.tells(place, values, self.after_save[place]):
                wrong[place] = True
            elif target is not last[job.field]:
                yield from first_action(self.pilot, job.write(self.pilot, target, values))
                if not self.shows(place, values):
                    wrong[place] = True
        for place in wrong:
            job, target = books.places[place]
            values = books.values[place]
            if job not in detours:
                yield from job.write(self.pilot, target, values)
                if (yield from self.kept(books, job, place)):
                    continue
                detours.add(job)
            former = self.ledger.values.get(place, target.before)
            other = next(each for each in target.values if each not in (values, former))
            yield from job.write(self.pilot, target, other)
            yield from job.write(self.pilot, target, values)
        for job in {(job.site, job.shown_in): job for job in detours if job.shown_in}.values():
            assert not wrong.keys() & (yield from self.unlike(books, job)).keys()

    def kept(self, books, job, place):
        """Whether a record that has just been saved shows its value."""
        if job.shown_in:
            return place not in (yield from self.unlike(books, job))
        return self.tells(place, books.values[place], self.pilot.screen)

    def unlike(self, books, job):
        """Look at a list; return its entries with other values than they should have."""
        script, screens = job.find(self.pilot), []
        action = next(script)
        while True:
            observation = yield action
            screens.append(observation)
            try:
                action = script.send(observation)
            except StopIteration:
                break
        listed = [
            place
            for place, (each, _) in books.places.items()
            if (each.site, each.shown_in) == (job.site, job.shown_in) and not books.taken(place)
        ]
        entries = {place: self.entry(place, books, screens) for place in listed}
        return {
            place: entry
            for place, entry in entries.items()
            if not self.tells(place, books.values[place], entry)
        }

    def own_doing(self, place, books, entry):
        """Whether a record shows a value that other people never give it."""
        job, target = books.places[place]
        given = [
            each.values[choice]
            for other in books.jobs.values()
            for each in other.targets
            for choice in range(3)
            if (other.field, other.noun) == (job.field, job.noun)
            and (job.field, job.noun, str(each.values[choice])) in books.used
        ]
        given += [
            values
            for there, values in books.given.items()
            if (books.places[there][0].field, books.places[there][0].noun) == (job.field, job.noun)
        ]
        return any(self.tells(place, values, entry) for values in (target.before, *given))

    def entry(self, place, books, screens):
        """Return what a list shows from the number of a record to the number of the next one."""
        job, target = books.places[place]
        label = re.escape(target.label)
        text = "\n".join(screens)
        start = re.search(rf"(?<![\w-]){label}(?![\w-])", text)
        assert start is not None, (place, text)
        rest = text[start.end() :]
        return rest[: re.search(r'\n\W*\[\d+\] |\n.*link "#\d|$', rest).start()]

    def tells(self, place, values, screen):
        """Whether a text with a record's values shows these."""
        (name, value), table = *values.items(), place[1]
        if table == "issues":
            people = {each.login: each.name for each in self.scene.people(self.bench.plan)}
            shown = (
                (label_of(value, self.scene.language),)
                if value in PRIORITIES
                else ((people.get(value),) if value else self.pilot.words("tracker", "none"))
            )
            return any(f": {each}" in screen or f"| {each} " in screen for each in shown)
        if table == "threads":
            board = self.bench.rows("forum", "SELECT name FROM boards WHERE id = ?", (value,))
            return f'link "{board[0]["name"]}"' in screen
        text = f"{value / 100:.2f}" if name == "amount" else str(value)
        if name in ("note", "phone"):
            key = name if table == "events" else f"contact_{name}"
            label = "|".join(map(re.escape, self.pilot.words(place[0], key)))
            return re.search(rf'"(?:{label})" value "{re.escape(text)}"', screen) is not None
        if name == "amount":
            return text in screen.replace(",", "")
        if name == "stock":
            return re.search(rf"(?:\| |: ){text}(?: \||\n| ·|$)", screen) is not None
        return text in screen

    def _shared(self):
        """Return what a copy of the books shares with them: jobs and targets."""
        shared = {}
        for job in (*self.ledger.jobs.values(), *(job for job, _ in self.ledger.places.values())):
            shared[id(job)] = job
            shared |= {id(target): target for target in job.targets}
        return shared

    def report(self, number, request, done, returned):
        pilot, ledger, planner = self.pilot, self.ledger, self.day.planner.email
        plan = self.scene.say("Plan", "方案")
        for to, subject, body in returned:
            yield from compose(pilot, [to], subject, body)
        if done.plan:
            body = ", ".join(done.plan)
            yield from compose(pilot, [planner], plan, body)
            self.letters.append((planner, plan, body))
        if request.kind == "account":
            site = self.account_site(request)
            labels = sorted(ledger.differing(site), key=lambda each: int(re.sub(r"\D", "", each)))
            subject = self.scene.say(f"Changes: {site}", f"更改：{site}")
            yield from compose(pilot, [self.day.reader.email], subject, ", ".join(labels))
        log, subject = self.rules.auditor.email, log_subject(self.scene)
        if done.writings and not self.rules.log_at_end:
            yield from compose(pilot, [log], subject, f"{number}: {len(done.writings)}")
        if request.kind == "tally":
            if self.rules.log_at_end:
                text = ", ".join(f"{each}: {count}" for each, count in ledger.counts)
                yield from compose(pilot, [log], subject, text)
            sites = sorted({site for site, _, _ in self.bench.taken})
            data = [*(len(ledger.differing(site)) for site in sites), ledger.mails]
            yield from self.reported(pilot.finish("RETRIEVE", data))
        elif done.refused:
            yield from self.reported(pilot.refuse("ACTION_NOT_ALLOWED_ERROR", done.refused))
        else:
            yield from self.reported(pilot.finish("MUTATE", done.pending or None))

    def reported(self, script):
        yield from script
        self.request_text = self.pilot.screen

    def account_site(self, request):
        """Return the site that the text of the request names."""
        subject = self.scene.say("Changes: ", "更改：")
        return re.search(rf"{subject}(\w+?)[\"”]", self.request_text)[1]

    # Reading -----------------------------------------------------------------------------------

    def read_pages(self, *, planning):
        """Read the handbook's pages that its list shows as new or changed; enter them as rules."""
        yield from self.pilot.goto("mail", "/handbook")
        listed = self.listed()
        for name in PAGES if planning else PAGES[:3]:
            if self.stamps.get(name) != listed[name]:
                yield from self.pilot.goto("mail", f"/handbook/{name}")
                self.texts[name], self.stamps[name] = self.pilot.screen, listed[name]
        rules, register, mandates = (self.texts[each] for each in PAGES[:3])
        offers = self.texts.get(PAGES[3], "")
        self.seen += rules

        def numbers(pattern):
            found = pattern.search(rules)
            return [each for each in found.groups() if each] if found else []

        name, email = _HEAD.search(rules).groups()
        log = _LOG.search(rules)[0]
        site, first, second = numbers(_SYNC)
        works, days = map(int, numbers(_LIMITS))
        terms = PlanTerms(
            days,
            works,
            tuple((firm.strip(), int(each)) for firm, each in _CHARGE.findall(offers)),
            tuple(numbers(_APART)),
            tuple(numbers(_TOGETHER)),
            int(*numbers(_REBATE)),
            tuple(
                (one, other, int(off or less or 0) - int(extra or more or 0))
                for one, other, off, extra, less, more in _SAVING.findall(offers)
            ),
        )
        self.rules = DayRules(
            date.fromisoformat(self.bench.today),
            {},
            int(numbers(_TERM)[0]),
            Person("", name, email),
            Person("", "", _ADDRESS.search(log)[0]),
            any(each in log for each in _AT_END),
            tuple(
                RegisterEntry(
                    "hold" if kind in ("hold", "冻结") else "release",
                    where,
                    noun,
                    label,
                    date.fromisoformat(day),
                    author,
                )
                for where, noun, label, kind, day, author in _ENTRY.findall(register)
            ),
            tuple(
                RecordClosure(number, where, group, *map(date.fromisoformat, (since, until)), who)
                for number, where, group, since, until, who in _CLOSURE.findall(register)
            ),
            tuple(
                Mandate(who, address, where, *map(date.fromisoformat, (since, until)), granter)
                for who, address, where, since, until, granter in _MANDATE.findall(mandates)
            ),
            tuple(
                WorkOffer(number, work, firm, int(price), int(length), who)
                for number, work, firm, price, length, who in _OFFER.findall(offers)
            ),
            terms,
            site,
            (int(first), int(second)),
            int(*numbers(_PACE)),
        )

    def listed(self):
        """Return what the list of the handbook shows beside the title of each page."""
        titles = {
            name: self.scene.say(*title.split("|"))
            for name, title in zip(PAGES, TITLES, strict=True)
        }
        return {
            name: re.search(rf'link "{title}"([^\[]*)', self.pilot.screen)[1]
            for name, title in titles.items()
        }

    def read_inbox(self):
        """Look into the inbox; return the mails of whose return a notice tells."""
        yield from self.pilot.goto("mail", "/folder/inbox")
        returned = []
        for letter in self.letters:
            notices = [
                each.format(subject=letter[1]) for each in self.pilot.words("mail", "failed_notice")
            ]
            if any(notice in each for notice in notices for each in self.screens):
                returned.append(letter)
        self.screens.clear()
        return returned

    def read_mails(self, arrived):
        """Open new mails; whose they are is read from their pages."""
        read = []
        for mail in arrived:
            assert mail_subject(self.scene) in self.pilot.screen
            yield from self.pilot.goto("mail", f"/threads/{mail.message}")
            name, address = re.search(r"(\w[^\n<\"]*?) <([^<>\s]+)>", self.pilot.screen).groups()
            read.append(
                DayMail(
                    mail.reference,
                    Person("", name, address),
                    mail.statement,
                    mail.job,
                    mail.message,
                )
            )
        return read

    def searched(self, job):
        """Look the records of a job up; every screen is read."""
        script = job.search(self.pilot)
        action = next(script)
        while True:
            observation = yield action
            self.seen += observation
            try:
                action = script.send(observation)
            except StopIteration:
                return

    def shows(self, place, values):
        """Whether the page of a record, which is open, shows values."""
        (name, value), screen, language = *values.items(), self.pilot.screen, self.scene.language
        table = place[1]
        if table == "threads":
            board = self.bench.rows("forum", "SELECT name FROM boards WHERE id = ?", (value,))
            return re.search(rf'link "{re.escape(board[0]["name"])}"', screen) is not None
        if table == "issues":
            people = {each.login: each.name for each in self.scene.people(self.bench.plan)}
            shown = (label_of(value, language),) if value in PRIORITIES else (people.get(value),)
            shown = shown if value else self.pilot.words("tracker", "none")
            label = "|".join(map(re.escape, self.pilot.words("tracker", name)))
            held = re.search(rf'combobox "(?:{label})" value "(.*?)"', screen)
            return held is not None and held[1] in shown
        text = f"{value / 100:.2f}" if name == "amount" else str(value)
        if name == "raw":
            ref = place[2].partition("!")[2]
            return (
                re.search(rf'textbox "{ref} [^"]*" value "{re.escape(text)}"', screen) is not None
            )
        return f'value "{text}"' in screen
