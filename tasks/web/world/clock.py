"""Simulated time of an episode: a start and a number of seconds per action of the agent."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta

__all__ = ["SECONDS_PER_ACTION", "Clock"]

SECONDS_PER_ACTION = 20


@dataclass(frozen=True, slots=True)
class Clock:
    """The time that sites see; immutable."""

    start: datetime
    actions: int = 0

    @classmethod
    def parse(cls, text: str) -> "Clock":
        """Make a clock from an ISO timestamp."""
        return cls(datetime.fromisoformat(text))

    @property
    def now(self) -> datetime:
        """The current time."""
        return self.start + timedelta(seconds=SECONDS_PER_ACTION * self.actions)

    @property
    def today(self) -> date:
        """The current date."""
        return self.now.date()

    @property
    def stamp(self) -> str:
        """The current time as stored in databases, `YYYY-MM-DD HH:MM:SS`."""
        return self.now.isoformat(" ", "seconds")

    def after_action(self) -> "Clock":
        """Return the clock after one more action."""
        return Clock(self.start, self.actions + 1)
