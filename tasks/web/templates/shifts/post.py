"""Requests by mail in a shift: who sends them, from which address, and what they say."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from hexathlon.tasks.web.templates.draft import WebScene
from hexathlon.tasks.web.templates.mailbox import Mailbox
from hexathlon.tasks.web.templates.shifts.cast import ShiftCast
from hexathlon.tasks.web.templates.shifts.handbook import mail_subject
from hexathlon.tasks.web.templates.shifts.ledger import DayLedger, DayMail, DayStatement
from hexathlon.tasks.web.templates.shifts.records import RecordJob, ShiftBench
from hexathlon.tasks.web.templates.shifts.rules import DayRules
from hexathlon.tasks.web.templates.shifts.wording import mail_text
from hexathlon.tasks.web.world.network import NOW, Edit
from hexathlon.tasks.web.world.people import Person

__all__ = ["ShiftPost", "arrival"]

_NEVER = datetime(9999, 12, 31)
_OTHER_HOSTS = ("northwind-post.test", "harbor-line.test", "quillwork.test", "ostra-mail.test")


@dataclass
class ShiftPost:
    """The emails of a shift, drawn in sequence.

    Attributes:
        bench: Source of the draws.
        cast: The people.
        jobs: Jobs for new requests by mail.
        sent: Emails so far.
    """

    bench: ShiftBench
    cast: ShiftCast
    jobs: Sequence[RecordJob]
    sent: list[DayMail] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.scene: WebScene = self.bench.scene
        self.box = Mailbox(self.scene, self.bench.plan)
        self._waiting = list(self.jobs)

    @property
    def first_edits(self) -> list[Edit]:
        """The edits that add the emails, which have not arrived yet."""
        return self.box.edits

    def plan(self, places: Sequence[int]) -> dict[int, str]:
        """Draw the kind of mail, if any, that arrives before each request."""
        drawn = sorted(self.scene.sample(places, min(5, len(places))))
        kinds = ["new", *self.scene.sample(("new", "new", "rival", "follow"), 4)]
        return dict(zip(drawn, kinds, strict=False))

    def draw(self, kind: str, rules: DayRules, ledger: DayLedger) -> DayMail | None:
        """Draw an email, which may follow up an earlier one."""
        if kind == "follow" and self.sent:
            return self._follow(ledger)
        rivals = [source for source in ledger.jobs if source.isdigit() and ledger.records(source)]
        if kind == "rival" and rivals:
            return self._rival(self.scene.pick(rivals), rules, ledger)
        if not self._waiting:
            return None
        job = self._waiting.pop(0)
        reference = self._new_reference()
        statement = DayStatement("ask", f"m{reference}", 0, "", job)
        return self._sent(reference, self._sender(job, rules), statement, job)

    def _rival(self, source: str, rules: DayRules, ledger: DayLedger) -> DayMail:
        """Request another value for records of a user's request."""
        job, reference = ledger.jobs[source], self._new_reference()
        traits = _traits(job)
        trait = self.scene.pick(traits) if len(traits) > 1 and self.scene.rng.random() < 0.6 else ""
        statement = DayStatement("ask", f"m{reference}", 2, trait, job)
        return self._sent(reference, self._sender(job, rules), statement, job)

    def _follow(self, ledger: DayLedger) -> DayMail:
        """Correct or withdraw an earlier email, from its address or from another one."""
        asked = [each for each in self.sent if each.statement.job is not None]
        counted = [each for each in asked if each.statement.source in ledger.jobs]
        former = self.scene.pick(counted or asked)
        sender = former.sender
        if self.scene.rng.random() < 0.4:
            sender = _impostor(self.scene, sender)
        kind, source = self.scene.pick(("correct", "withdraw")), former.statement.source
        statement = DayStatement(kind, source, 1)
        return self._sent("", sender, statement, former.job)

    def _sender(self, job: RecordJob, rules: DayRules) -> Person:
        """Draw a sender: somebody with a mandate for the site, or a near miss."""
        named: Mapping[str, Person] = {
            each.email: each
            for each in (
                *self.cast.senders,
                *self.cast.keepers.values(),
                *self.cast.seconds.values(),
                self.cast.deputy,
                self.cast.strangers[0],
            )
        }
        here = [
            named[each.email]
            for each in rules.mandates
            if each.site == job.site
            if each.email in named
        ]
        closers = {
            each.author
            for each in rules.closures
            if (each.site, each.group) == (job.site, job.group)
        }
        author = [each for each in here if each.name in closers]
        if author and self.scene.rng.random() < 0.5:
            return author[0]
        sender: Person = self.scene.pick(here)
        chance = self.scene.rng.random()
        if chance < 0.2:
            return _impostor(self.scene, sender)
        if chance < 0.3:
            return self.cast.senders[-1]
        return sender

    def _sent(
        self, reference: str, sender: Person, statement: DayStatement, job: RecordJob
    ) -> DayMail:
        text = mail_text(self.bench, statement, job, reference)
        number = self.box.add(sender, mail_subject(self.scene), text, _NEVER)
        mail = DayMail(reference, sender, statement, job, number)
        self.sent.append(mail)
        return mail

    def _new_reference(self) -> str:
        taken = {each.reference for each in self.sent}
        return str(
            self.scene.pick([str(each) for each in range(2100, 9900, 7) if str(each) not in taken])
        )


def arrival(mail: DayMail) -> Edit:
    """Return the edit by which an email arrives."""
    return ("mail", "UPDATE messages SET sent = ? WHERE id = ?", (NOW, mail.message))


def _traits(job: RecordJob) -> list[str]:
    return sorted({each.trait for each in job.targets if each.trait})


def _impostor(scene: WebScene, person: Person) -> Person:
    """Return somebody with the same name and another address."""
    host = scene.pick([each for each in _OTHER_HOSTS if not person.email.endswith(each)])
    return Person(person.login, person.name, f"{person.login}@{host}")
