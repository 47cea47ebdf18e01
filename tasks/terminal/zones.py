"""A digest of the time-zone rules that tasks depend on."""

import hashlib
from datetime import UTC, datetime, timedelta
from functools import cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

__all__ = ["ZONES", "zones_digest"]

ZONES = (
    "America/Denver",
    "America/New_York",
    "America/St_Johns",
    "Asia/Kolkata",
    "Asia/Tokyo",
    "Australia/Adelaide",
    "Australia/Sydney",
    "Europe/Berlin",
    "Europe/Lisbon",
)
"""All time zones that templates use."""

_YEARS = (2025, 2028)
"""The years in which tasks use local times."""


@cache
def zones_digest() -> str:
    """Return a SHA-256 (hex) of the offsets of all zones on every day of the tasks' years.

    The digest is equal for all releases of the time-zone database that agree on these.
    """
    offsets = [_changes(name) for name in ZONES]
    return hashlib.sha256(repr(offsets).encode()).hexdigest()


def _changes(name: str) -> list[tuple[int, str]]:
    """Return the offset on the first day, and each day on which it changes."""
    try:
        zone = ZoneInfo(name)
    except ZoneInfoNotFoundError:
        return [(0, "not in this database")]
    changes: list[tuple[int, str]] = []
    for year in _YEARS:
        for day in range(366):
            noon = datetime(year, 1, 1, 12, tzinfo=UTC) + timedelta(days=day)
            offset = str(noon.astimezone(zone).utcoffset())
            if not changes or changes[-1][1] != offset:
                changes.append((noon.toordinal(), offset))
    return changes
