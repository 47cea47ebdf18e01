"""The bank, assembled from its pages."""

from collections.abc import Mapping, Sequence
from importlib import resources
from typing import ClassVar

from hexathlon.tasks.web.world.site import Call, Site, SiteBrief
from hexathlon.tasks.web.world.sites.bank.account_pages import BookingPages
from hexathlon.tasks.web.world.sites.bank.card_pages import CardPages
from hexathlon.tasks.web.world.sites.bank.claim_pages import ClaimPages, is_approver
from hexathlon.tasks.web.world.sites.bank.content import populate
from hexathlon.tasks.web.world.sites.bank.payment_pages import PaymentPages, settle
from hexathlon.tasks.web.world.store import SiteStore

__all__ = ["SITE", "Bank"]


class Bank(BookingPages, PaymentPages, CardPages, ClaimPages, Site):
    """A bank with expense claims."""

    name: ClassVar[str] = "bank"
    schema: ClassVar[str] = (
        resources.files("hexathlon.tasks.web.world.sites.bank")
        .joinpath("schema.sql")
        .read_text("utf-8")
    )
    volatile: ClassVar[Mapping[str, Sequence[str]]] = {
        "transactions": ("id",),
        "payees": ("id", "added"),
        "disputes": ("id", "note", "created"),
        "claims": ("id", "note", "created"),
    }

    def populate(self, store: SiteStore, brief: SiteBrief) -> None:
        """Fill accounts, bookings, payees, cards and claims."""
        populate(store, brief)

    def navigation(self, call: Call) -> Sequence[tuple[str, str]]:
        """Return the main navigation; approvers have an additional item."""
        words = call.words
        items = [
            (words("overview"), "/"),
            (words("transfer"), "/transfer"),
            (words("payees"), "/payees"),
            (words("standing"), "/standing"),
            (words("cards"), "/cards"),
            (words("claims"), "/claims"),
            (words("new_claim"), "/claims/new"),
            (words("projects"), "/projects"),
            (words("messages"), "/messages"),
            (words("rules"), "/rules"),
        ]
        return [*items, (words("approvals"), "/approvals")] if is_approver(call) else items

    def run_job(self, call: Call, kind: str, subject: str) -> None:
        """Send a transfer back."""
        settle(call, int(subject))


SITE = Bank()
