"""The project's papers on one release: proposals, minutes, mail, drafts, and the rules that follow.

Every proposal has a fate, a course of decisions that leaves it in the release or out of it. Only
valid decisions up to the freeze date count; `manual.GOVERNANCE` says so to the reader.
"""

from collections.abc import Mapping
from typing import Any

from hexathlon.tasks.task import Split
from hexathlon.tasks.terminal.dice import Cast, Dice
from hexathlon.tasks.terminal.templates.long.language.proposals import PROPOSALS
from hexathlon.tasks.terminal.templates.long.language.release import RULES

__all__ = ["Archive"]

_DATES = ("01-14", "02-11", "03-11", "04-08", "05-13", "06-10", "07-08", "08-12", "09-09", "10-14")
_FREEZE = 7
"""The meeting on whose day the release is frozen: its decisions still count."""

_INSIDE = ("plain", "changed", "confirmed", "revived", "followed")
_OUTSIDE = ("revoked", "late", "void", "rejected", "open")
_TEST_ONLY = ("void_change", "void_revocation", "late_change")


class Archive:
    """The papers, with the rules of the release that they define."""

    def __init__(self, dice: Dice, cast: Cast, split: Split) -> None:
        self.dice, self.split = dice, split
        self.year = dice.whole(2021, 2025)
        people = cast.names("person", 11)
        self.members, self.guests = sorted(people[:7]), people[7:]
        self.small = sorted(dice.some(range(1, _FREEZE - 1), 2))
        numbers = sorted(dice.some(range(3, 90), len(PROPOSALS)))
        self.numbers = dict(zip(dice.shuffled(sorted(PROPOSALS)), numbers, strict=True))
        self.limits = dice.whole(210, 280), dice.whole(300, 390)
        self.rules: dict[str, Any] = {name: values[0] for name, values in RULES.items()}
        self.fates: dict[str, str] = {}
        self.items: dict[int, list[str]] = {meeting: [] for meeting in range(len(_DATES))}
        self._decide()

    @property
    def other_rules(self) -> dict[str, dict[str, Any]]:
        """The rules of near misses: one accepted proposal left out, or read in another version."""
        found = {}
        for name in PROPOSALS:
            if name == "deferror" and not self.rules["defer"]:
                continue
            unseen = name == "leave" and not (self.rules["ensure"] or self.rules["defer"])
            for value in self._values(name):
                if value != self.rules[name] and not (unseen and value and self.rules[name]):
                    found[f"{name}_{value or 'left_out'}"] = {**self.rules, name: value}
        return found

    def _values(self, name: str) -> tuple[Any, ...]:
        return (200, *self.limits) if name == "limit" else RULES[name]

    # -- decisions -------------------------------------------------------------------------

    def _decide(self) -> None:
        for name in PROPOSALS:
            inside = self.dice.chance(0.68)
            fate = self.dice.pick(_INSIDE if inside else _OUTSIDE)
            if inside and self.split in ("test", "heldout") and self.dice.chance(0.3):
                fate = self.dice.pick(_TEST_ONLY)
            if len(PROPOSALS[name][1]) == 1:
                fate = {"changed": "plain", "followed": "revived"}.get(fate, fate)
                fate = {"void_change": "void_revocation", "late_change": "confirmed"}.get(
                    fate, fate
                )
            if name == "deferror" and not self.rules["defer"]:
                fate = "rejected"
            self.fates[name] = fate
            getattr(self, f"_{fate}")(name, f"{self.numbers[name]:04d} {PROPOSALS[name][0]}")

    def _valid(self, count: int) -> list[int]:
        """Return meetings with a quorum up to the freeze, in order."""
        days = [day for day in range(_FREEZE + 1) if day not in self.small]
        return sorted(self.dice.some(days, count))

    def _say(self, day: int, text: str) -> None:
        self.items[day].append(text)

    def _set(self, name: str, place: int) -> None:
        self.rules[name] = self._values(name)[place]

    def _change(self, name: str) -> str:
        text = [*PROPOSALS[name][1].values()][1]
        return f'"{self._filled(text)}"'

    def _filled(self, text: str) -> str:
        return text.replace("@FIRST@", str(self.limits[0])).replace("@SECOND@", str(self.limits[1]))

    def _plain(self, name: str, title: str) -> None:
        self._say(self._valid(1)[0], f"{title}: accepted.")
        self._set(name, 1)

    def _changed(self, name: str, title: str) -> None:
        text = f"{title}: accepted, with this change: {self._change(name)}"
        self._say(self._valid(1)[0], text)
        self._set(name, 2)

    def _confirmed(self, name: str, title: str) -> None:
        day = self.dice.pick(self.small)
        later = [each for each in range(day + 1, _FREEZE + 1) if each not in self.small]
        self._say(day, f"{title}: accepted.")
        self._say(
            self.dice.pick(later), f"{title}: the decision of {self._date(day)} is confirmed."
        )
        self._set(name, 1)

    def _revived(self, name: str, title: str) -> None:
        first, second = self._valid(2)
        self._say(first, f"{title}: rejected.")
        self._say(second, f"{title}: taken up again and accepted.")
        self._set(name, 1)

    def _followed(self, name: str, title: str) -> None:
        first, second = self._valid(2)
        self._say(first, f"{title}: accepted.")
        self._say(second, f"{title}: changed, as follows: {self._change(name)}")
        self._set(name, 2)

    def _revoked(self, name: str, title: str) -> None:
        first, second = self._valid(2)
        self._say(first, f"{title}: accepted.")
        self._say(second, f"{title}: the acceptance is revoked.")

    def _late(self, name: str, title: str) -> None:
        self._say(self._valid(1)[0], f"{title}: discussed and adjourned.")
        self._say(self.dice.pick((_FREEZE + 1, _FREEZE + 2)), f"{title}: accepted.")

    def _void(self, name: str, title: str) -> None:
        self._say(self.dice.pick(self.small), f"{title}: accepted.")

    def _rejected(self, name: str, title: str) -> None:
        self._say(self._valid(1)[0], f"{title}: rejected.")

    def _open(self, name: str, title: str) -> None:
        self._say(self._valid(1)[0], f"{title}: discussed and adjourned.")

    def _before_small(self) -> tuple[int, int]:
        small = self.small[1]
        days = [day for day in range(small) if day not in self.small]
        return self.dice.pick(days), small

    def _void_change(self, name: str, title: str) -> None:
        first, second = self._before_small()
        self._say(first, f"{title}: accepted.")
        self._say(second, f"{title}: changed, as follows: {self._change(name)}")
        self._set(name, 1)

    def _late_change(self, name: str, title: str) -> None:
        self._say(self._valid(1)[0], f"{title}: accepted.")
        text = f"{title}: changed, as follows: {self._change(name)}"
        self._say(self.dice.pick((_FREEZE + 1, _FREEZE + 2)), text)
        self._set(name, 1)

    def _void_revocation(self, name: str, title: str) -> None:
        first, second = self._before_small()
        self._say(first, f"{title}: accepted.")
        self._say(second, f"{title}: the acceptance is revoked.")
        self._set(name, 1)

    # -- papers ----------------------------------------------------------------------------

    def _date(self, day: int) -> str:
        return f"{self.year}-{_DATES[day]}"

    def papers(self) -> Mapping[str, str]:
        """Return all papers by path."""
        release = f"# Release 3.0\n\nFreeze date: {self._date(_FREEZE)}. It follows 2.4.\n"
        later = f"# Release 3.1\n\nFreeze date: {self.year + 1}-02-28. It follows 3.0.\n"
        texts = {"releases/3.0.md": release, "releases/3.1.md": later}
        texts["releases/2.4.md"] = f"# Release 2.4\n\nReleased on {self.year - 1}-11-20.\n"
        texts["drafts/whats-new-3.0.md"] = self._draft()
        texts |= {f"minutes/{self._date(day)}.md": self._minutes(day) for day in self.items}
        for name, number in self.numbers.items():
            slug = "".join(c if c.isalnum() else "-" for c in PROPOSALS[name][0].lower()).strip("-")
            texts[f"proposals/{number:04d}-{slug}.md"] = self._proposal(name, number)
        return texts | self._mail()

    def _minutes(self, day: int) -> str:
        count = 3 if day in self.small else self.dice.whole(4, 7)
        present = sorted(self.dice.some(self.members, count))
        guests = self.dice.some(self.guests, self.dice.whole(1, 3))
        head = f"# Council, {self._date(day)}\n\nMembers: {', '.join(present)}. "
        items = self.dice.shuffled(self.items[day]) or ["No decisions."]
        lines = "\n".join(f"* {self._filled(item)}" for item in items)
        return f"{head}Guests: {', '.join(guests)}.\n\n{lines}\n"

    def _proposal(self, name: str, number: int) -> str:
        title, versions = PROPOSALS[name]
        author = self.dice.pick(self.members + self.guests)
        status = self.dice.pick(("draft", "accepted", "accepted", "rejected", "in discussion"))
        text = self._filled(next(iter(versions.values())))
        return f"# {number:04d} {title}\n\nAuthor: {author}\nStatus: {status}\n\n{text}\n"

    def _draft(self) -> str:
        names = self.dice.some(sorted(PROPOSALS), 16)
        lines = "\n".join(f"* {PROPOSALS[name][0]}" for name in names)
        return f"# What is new in 3.0\n\nA first list, from memory. To be checked.\n\n{lines}\n"

    def _mail(self) -> dict[str, str]:
        made = {}
        for place, name in enumerate(self.dice.some(sorted(PROPOSALS), 14)):
            sender, day = self.dice.pick(self.guests + self.members), self.dice.whole(0, 9)
            title = f"{self.numbers[name]:04d} {PROPOSALS[name][0]}"
            text = self.dice.pick((
                "I take it that this is in 3.0? My branch relies on it.",
                "After the last meeting I think that this is dead.",
                "Could somebody update the status line? It has been out of date for months.",
                "I would rather have it the other way round, but so be it.",
            ))  # fmt: skip
            made[f"mail/{place:03d}.txt"] = (
                f"From: {sender}\nDate: {self._date(day)}\nSubject: {title}\n\n{text}\n"
            )
        return made
