"""The council of the project: its seats and their holders, its meetings and their minutes."""

from hexathlon.tasks.terminal.dice import Cast, Dice

__all__ = ["FREEZE", "MEETINGS", "Council"]

MEETINGS = (
    "01-14",
    "02-11",
    "03-11",
    "04-08",
    "05-13",
    "06-10",
    "07-08",
    "08-12",
    "09-09",
    "10-14",
)
"""Days of the meetings in the year, as month and day."""

FREEZE = 7
"""The meeting on whose day the release is frozen: its decisions still count."""

_QUORUM = 4


class Council:
    """Seats, meetings and their minutes' lists of people, wrong ones and their corrections."""

    def __init__(self, dice: Dice, cast: Cast) -> None:
        self.dice = dice
        self.year = dice.whole(2021, 2025)
        people = cast.names("person", 13)
        self.guests = people[9:]
        self.seats: list[list[tuple[str, int, int]]] = [
            [(name, 0, len(MEETINGS) - 1)] for name in sorted(people[:7])
        ]
        """For each seat its holders, with the first and the last meeting of each."""

        for seat, name, low in zip(dice.some(range(7), 2), people[7:9], (2, 4), strict=True):
            turn = dice.whole(low, low + 1)
            ((before, _, last),) = self.seats[seat]
            self.seats[seat] = [(before, 0, turn - 1), (name, turn, last)]
        days = dice.shuffled(range(1, FREEZE - 1))
        self.small, tight, self.reduced, self.raised = sorted(days[:2]), days[2:4], days[0], days[2]
        """Meetings without a quorum; `reduced` is one of them, though its first minutes show one,
        and `raised` is the contrary."""

        self.present: list[list[str]] = []
        for day in range(len(MEETINGS)):
            count = 3 if day in self.small else 4 if day in tight else dice.whole(5, 7)
            self.present.append(self._attendance(day, count))
        self.listed = [list(names) for names in self.present]
        self.corrections: dict[int, list[str]] = {}
        self._correct(self.reduced, added=False)
        self._correct(self.raised, added=True)

    @property
    def people(self) -> list[str]:
        """Everybody who ever held a seat, and the guests."""
        return sorted({name for seat in self.seats for name, _, _ in seat}) + self.guests

    def date(self, day: int) -> str:
        """Return a meeting's date."""
        return f"{self.year}-{MEETINGS[day]}"

    def holders(self, day: int) -> set[str]:
        """Return those who hold a seat on the day of a meeting."""
        return {name for seat in self.seats for name, first, last in seat if first <= day <= last}

    def valid(self, day: int, author: str = "") -> bool:
        """Whether a meeting has a quorum for a decision on a proposal of this author."""
        return len((self.holders(day) & {*self.present[day]}) - {author}) >= _QUORUM

    def authors_that_void(self, day: int) -> list[str]:
        """Return those without whom the meeting has no quorum, but has one with them."""
        there = sorted(self.holders(day) & {*self.present[day]})
        return there if len(there) == _QUORUM else []

    def papers(self) -> dict[str, str]:
        """Return the table of seats."""
        rows = []
        for number, seat in enumerate(self.seats, 1):
            for name, first, last in seat:
                since = self.date(first) if first else f"{self.year - 1}-01-01"
                rows.append(f"| {number} | {name} | {since} | {self._until(last)} |")
        table = "\n".join(["| seat | holder | from | until |", "|---|---|---|---|", *rows])
        return {"council.md": f"# Seats of the council\n\n{table}\n"}

    def _until(self, last: int) -> str:
        """Return the last day before the next holder takes over."""
        if last == len(MEETINGS) - 1:
            return f"{self.year + 1}-12-31"
        month, day = MEETINGS[last + 1].split("-")
        return f"{self.year}-{month}-{int(day) - 1:02d}"

    def _attendance(self, day: int, count: int) -> list[str]:
        dice, holders = self.dice, self.holders(day)
        others = [name for name in self.people if name not in holders]
        names = dice.some(sorted(holders), count) + dice.some(others, dice.whole(2, 4))
        return sorted(names)

    def _correct(self, day: int, added: bool) -> None:
        """Make the first minutes of a meeting wrong, and let a later one correct them."""
        holders = self.holders(day)
        if added:
            name = self.dice.pick(sorted(holders & {*self.present[day]}))
            self.listed[day].remove(name)
            text = f"{name} was there as well"
        else:
            name = self.dice.pick(sorted(holders - {*self.present[day]}))
            self.listed[day] = sorted([*self.listed[day], name])
            text = f"{name} was not there"
        later = [n for n in range(day + 1, FREEZE + 1) if self._large(n)]
        self.corrections.setdefault(self.dice.pick(later), []).append(
            f"Minutes of {self.date(day)}: {text}; the list is corrected."
        )

    def _large(self, day: int) -> bool:
        return len(self.holders(day) & {*self.present[day]}) > _QUORUM
