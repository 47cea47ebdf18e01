"""Prices of stays, free nights, opening hours of a day, and cancellation deadlines."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import Any

from hexathlon.tasks.web.world.store import SiteStore, StoreRow

__all__ = ["DISCOUNTS", "INSURANCE", "cancel_deadline", "free_nights", "hours_on", "nights_of",
           "stay_cents", "tax_cents"]  # fmt: skip

DISCOUNTS = {"blue": 0, "silver": 5, "gold": 10}
"""Member discounts in per cent, by tier."""

INSURANCE = 1290
"""Cents of the travel insurance that can be added to a booking."""

_WEEKEND = (4, 5)


def nights_of(start: str, finish: str) -> list[date]:
    """Return the nights of a stay."""
    first = date.fromisoformat(start)
    return [first + timedelta(days=i) for i in range((date.fromisoformat(finish) - first).days)]


def stay_cents(rate: StoreRow, start: str, finish: str, tier: str) -> int:
    """Return the price of a stay without the city tax: weekend nights are Friday and Saturday."""
    total: int = sum(
        rate["weekend"] if night.weekday() in _WEEKEND else rate["cents"]
        for night in nights_of(start, finish)
    )
    return total - total * DISCOUNTS[tier] // 100 if rate["member"] else total


def tax_cents(place: StoreRow, start: str, finish: str, guests: int) -> int:
    """Return the city tax, which is paid at the hotel."""
    return int(place["tax"]) * guests * len(nights_of(start, finish))


def free_nights(store: SiteStore, rate: int, start: str, finish: str) -> bool:
    """Whether a rate is available on every night of a stay."""
    sold = store.value(
        "SELECT count(*) FROM sold WHERE rate = ? AND date >= ? AND date < ?", (rate, start, finish)
    )
    return not sold


def hours_on(store: SiteStore, place: int, day: date) -> Sequence[tuple[str, str]]:
    """Return the opening hours of a day; a notice replaces the usual ones."""
    notice = store.row(
        "SELECT * FROM notices WHERE place = ? AND date = ? ORDER BY id DESC",
        (place, day.isoformat()),
    )
    if notice is not None:
        return [(notice["opens"], notice["closes"])] if notice["opens"] else []
    rows = store.rows(
        "SELECT opens, closes FROM hours WHERE place = ? AND weekday = ? ORDER BY opens",
        (place, day.weekday()),
    )
    return [(row["opens"], row["closes"]) for row in rows]


def cancel_deadline(booking: dict[str, Any]) -> datetime | None:
    """Return until when a booking can be cancelled without a fee; None if never."""
    start = datetime.fromisoformat(booking["start"])
    noon = start.replace(hour=18, minute=0)
    deadline = {
        "flex": noon - timedelta(days=1),
        "semi": noon - timedelta(days=5),
        "table": start - timedelta(hours=3),
        "open": start,
    }.get(booking["terms"])
    if booking["insured"]:
        covered = datetime.fromisoformat(booking["start"][:10]) - timedelta(days=2)
        return covered if deadline is None else max(deadline, covered)
    return deadline
