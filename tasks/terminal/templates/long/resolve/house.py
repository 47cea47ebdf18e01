"""The rules of one house for its lock files, as drawn for a task, and its registers."""

from dataclasses import dataclass, field
from datetime import date, timedelta

from hexathlon.tasks.task import Split
from hexathlon.tasks.terminal.dice import Dice

__all__ = ["TWISTS", "House", "Pin", "Registers", "Rename", "draw_house"]

TWISTS = (
    "added_counts",
    "advisory_grace",
    "closes_exempt",
    "exact_root_beats_pin",
    "house_exempt",
    "last_pin_only",
    "major_counts",
    "no_licence",
    "only_candidates",
    "renames",
    "yank_grace",
    "extras",
    "freeze",
    "workdays",
    "ceiling",
    "families",
    "refresh",
    "breaks",
)
"""Rules of which some are drawn; the last four occur outside train and dev only."""

_HELD_OUT = TWISTS[-4:]
_EXEMPT = ("closes_exempt", "house_exempt")
"""Without one of them nothing tells whether versions of the future are known: they rest."""

_DRAWN = 12


@dataclass(frozen=True)
class Pin:
    """A line of the register of pins; both days are inclusive, `until` may be empty."""

    package: str
    bound: str
    since: str
    until: str


@dataclass(frozen=True)
class Rename:
    """A line of the register of renames."""

    old: str
    new: str
    since: str


@dataclass(frozen=True)
class Registers:
    """The registers as they are on one day of work; tasks change them in held-out inputs."""

    pins: tuple[Pin, ...] = ()
    renames: tuple[Rename, ...] = ()
    families: tuple[tuple[str, str], ...] = ()
    """Pairs of family and package."""

    closed: tuple[str, ...] = ()
    """Days on which nobody works, beside Saturdays and Sundays."""

    freezes: tuple[tuple[str, str], ...] = ()
    """First and last days of freezes."""

    def files(self) -> dict[str, str]:
        """Return the registers as files by path."""
        pins = [f"{pin.package},{pin.bound},{pin.since},{pin.until}" for pin in self.pins]
        renames = [f"{item.old},{item.new},{item.since}" for item in self.renames]
        families = [",".join(pair) for pair in self.families]
        return {
            "registers/pins.csv": "\n".join(["package,bound,from,until", *pins]) + "\n",
            "registers/renames.csv": "\n".join(["old,new,from", *renames]) + "\n",
            "registers/families.csv": "\n".join(["family,package", *families]) + "\n",
            "registers/closed.csv": "\n".join(["day", *self.closed]) + "\n",
            "registers/freezes.csv": "\n".join(["from,until", *map(",".join, self.freezes)]) + "\n",
        }


@dataclass(frozen=True)
class House:
    """Parameters of the rules; days are ISO dates."""

    prefix: str
    """Packages of the house itself begin with this."""

    quarantine: tuple[int, int]
    """Days before and from `quarantine_day` on."""

    quarantine_day: str
    candidate_day: str
    licence_day: str
    advisory_day: str
    refresh_day: str
    workday_day: str
    downgrade_day: str
    denied: tuple[str, ...]
    downgrade: tuple[int, int]
    """What going down counts before and from `downgrade_day` on."""

    yank_days: int
    advisory_days: int
    retired: str
    """Last day of the service that made the records."""

    twists: frozenset[str] = field(default_factory=frozenset)

    def has(self, twist: str) -> bool:
        """Whether the rule was drawn."""
        return twist in self.twists


def draw_house(dice: Dice, split: Split, prefix: str) -> House:
    """Draw the rules of a house."""
    pool = TWISTS if split in ("test", "heldout") else TWISTS[:-4]
    first = [dice.pick(_EXEMPT), *(dice.some(_HELD_OUT, 2) if pool is TWISTS else [])]
    others = [twist for twist in pool if twist not in first]
    start = date(2024, 1, 1) + timedelta(days=dice.whole(0, 20))
    days = [(start + timedelta(days=60 * place + dice.whole(20, 55))) for place in range(5)]
    names = [day.isoformat() for day in days]
    return House(
        prefix=prefix,
        quarantine=(dice.whole(4, 7), dice.whole(10, 16)),
        candidate_day=names[0],
        quarantine_day=names[1],
        licence_day=names[2],
        advisory_day=names[3],
        refresh_day=names[4],
        denied=tuple(dice.some(("AGPL-3.0", "SSPL-1.0", "BUSL-1.1", "CC-BY-NC-4.0"), 2)),
        workday_day=(days[2] + timedelta(days=dice.whole(1, 14))).isoformat(),
        downgrade_day=(days[3] + timedelta(days=dice.whole(1, 20))).isoformat(),
        downgrade=dice.pick(((2, 3), (3, 2), (2, 4), (3, 4))),
        yank_days=dice.whole(20, 45),
        advisory_days=dice.whole(12, 30),
        retired=(days[2] + timedelta(days=dice.whole(15, 25))).isoformat(),
        twists=frozenset([*first, *dice.some(others, _DRAWN - len(first))]),
    )
