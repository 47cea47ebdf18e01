"""The calendar site."""

from collections.abc import Mapping, Sequence
from importlib import resources
from typing import ClassVar

from hexathlon.tasks.web.world.site import Call, Site, SiteBrief
from hexathlon.tasks.web.world.sites.calendar.content import populate
from hexathlon.tasks.web.world.sites.calendar.events import CalendarEvents
from hexathlon.tasks.web.world.sites.calendar.pages import CalendarPages
from hexathlon.tasks.web.world.store import SiteStore

__all__ = ["SITE", "Calendar"]


class Calendar(CalendarPages, CalendarEvents, Site):
    """The calendar of an office."""

    name: ClassVar[str] = "calendar"
    schema: ClassVar[str] = (
        resources.files("hexathlon.tasks.web.world.sites.calendar")
        .joinpath("schema.sql")
        .read_text("utf-8")
    )
    volatile: ClassVar[Mapping[str, Sequence[str]]] = {
        "events": ("id", "series"),
        "answers": ("id",),
    }

    def populate(self, store: SiteStore, brief: SiteBrief) -> None:
        """Fill rooms, colleagues, rules and events."""
        populate(store, brief)

    def navigation(self, call: Call) -> Sequence[tuple[str, str]]:
        """Return the main navigation."""
        words = call.words
        return [
            (words("week"), "/week"),
            (words("list"), "/list"),
            (words("new_event"), "/events/new"),
            (words("invitations"), "/invitations"),
            (words("free_time"), "/free"),
            (words("rooms"), "/rooms"),
            (words("people"), "/people"),
            (words("rules"), "/rules"),
        ]


SITE = Calendar()
