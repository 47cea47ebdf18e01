"""Requests by mail in a shift: senders with a mandate, without one, and with somebody's name."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from hexathlon.tasks.web.templates.mailbox import Mailbox
from hexathlon.tasks.web.templates.shifts.records import RecordJob, ShiftBench
from hexathlon.tasks.web.templates.shifts.rules import Mandate, mail_subject
from hexathlon.tasks.web.world.network import NOW, Edit
from hexathlon.tasks.web.world.people import Person

__all__ = ["MailedRequest", "Post", "draw_post"]

_NEVER = datetime(9999, 12, 31)
_OTHER_HOSTS = ("northwind-post.test", "harbor-line.test", "quillwork.test", "ostra-mail.test")


@dataclass(frozen=True)
class MailedRequest:
    """A request that arrives by mail."""

    sender: Person
    job: RecordJob
    message: int

    @property
    def arrival(self) -> Edit:
        """The edit by which it arrives."""
        return ("mail", "UPDATE messages SET sent = ? WHERE id = ?", (NOW, self.message))


@dataclass(frozen=True)
class Post:
    """The mails of a shift."""

    requests: tuple[MailedRequest, ...]
    """The last one's sender may lose the mandate in the course of the day."""

    mandates: tuple[Mandate, ...]
    """Mandates in the morning."""

    later: tuple[Mandate, ...]
    """Mandates after they changed."""

    first_edits: tuple[Edit, ...]
    """Adds the mails, which have not arrived yet."""


def draw_post(
    bench: ShiftBench, jobs: Sequence[RecordJob], people: Sequence[Person], today: date
) -> Post:
    """Draw senders of three jobs: one entitled, one impostor, and one in between."""
    scene, box = bench.scene, Mailbox(bench.scene, bench.plan)
    between = scene.pick(("entitled", "loses", "loses", "expired", "future", "elsewhere"))
    sites = sorted(set(bench.plan.sites))
    mandates, requests = list[Mandate](), list[MailedRequest]()
    for role, job, person in zip(("entitled", "impostor", between), jobs, people, strict=False):
        first = today - timedelta(days=int(scene.rng.integers(20, 60)))
        last = today + timedelta(days=int(scene.rng.integers(5, 60)))
        site, sender = job.site, person
        if role == "expired":
            last = today - timedelta(days=int(scene.rng.integers(2, 9)))
        elif role == "future":
            first = today + timedelta(days=int(scene.rng.integers(2, 9)))
            last = first + timedelta(days=60)
        elif role == "elsewhere":
            site = scene.pick([each for each in sites if each != job.site])
        elif role == "impostor":
            host = scene.pick(_OTHER_HOSTS)
            sender = Person(person.login, person.name, f"{person.login}@{host}")
        mandates.append(Mandate(person.name, person.email, site, first, last))
        number = box.add(sender, mail_subject(scene), job.wish, _NEVER)
        requests.append(MailedRequest(sender, job, number))
    gone = mandates[-1]
    for person in people[3:6]:
        first = today - timedelta(days=int(scene.rng.integers(90, 200)))
        last = first + timedelta(days=int(scene.rng.integers(10, 80)))
        mandates.append(Mandate(person.name, person.email, scene.pick(sites), first, last))
    late = people[6]
    later = [each for each in mandates if each is not gone or between != "loses"]
    later.append(Mandate(late.name, late.email, scene.pick(sites), today, today))
    return Post(tuple(requests), tuple(mandates), tuple(later), tuple(box.edits))
