"""The mail site."""

from collections.abc import Mapping, Sequence
from importlib import resources
from typing import ClassVar

from hexathlon.tasks.web.world.site import Call, Site, SiteBrief
from hexathlon.tasks.web.world.sites.mail.content import populate
from hexathlon.tasks.web.world.sites.mail.delivery import run_failure
from hexathlon.tasks.web.world.sites.mail.organising import MailOrganising
from hexathlon.tasks.web.world.sites.mail.reading import MailReading
from hexathlon.tasks.web.world.sites.mail.writing import MailWriting
from hexathlon.tasks.web.world.store import SiteStore

__all__ = ["SITE", "Mail"]


class Mail(MailReading, MailWriting, MailOrganising, Site):
    """The mailbox of the user."""

    name: ClassVar[str] = "mail"
    schema: ClassVar[str] = (
        resources.files("hexathlon.tasks.web.world.sites.mail")
        .joinpath("schema.sql")
        .read_text("utf-8")
    )
    volatile: ClassVar[Mapping[str, Sequence[str]]] = {
        "messages": ("id", "sent", "parent", "kind"),
        "tagged": ("id",),
        "filters": ("id",),
        "contacts": ("id",),
    }

    def populate(self, store: SiteStore, brief: SiteBrief) -> None:
        """Fill the mailbox and the address book."""
        populate(store, brief)

    def admits(self, call: Call) -> bool:
        """Return whether the mailbox is the person's own: that of the first account."""
        owner = call.store.kept(
            "_accounts",
            "owner",
            lambda: call.store.value("SELECT login FROM _accounts ORDER BY rowid LIMIT 1"),
        )
        return bool(call.login == owner)

    def navigation(self, call: Call) -> Sequence[tuple[str, str]]:
        """Return the main navigation."""
        words = call.words
        return [
            (words("inbox"), "/folder/inbox"),
            (words("compose"), "/compose"),
            (words("contacts"), "/contacts"),
            (words("labels"), "/labels"),
            (words("filters"), "/filters"),
            (words("absence"), "/absence"),
            (words("failed"), "/failed"),
            (words("handbook"), "/handbook"),
        ]

    def run_job(self, call: Call, kind: str, subject: str) -> None:
        """Give up a delivery."""
        run_failure(call, kind, subject)


SITE = Mail()
