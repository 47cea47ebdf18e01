"""The project's papers on one release: proposals, minutes, mail, drafts, and the rules that follow.

Every proposal has a fate, a course of decisions that leaves it in the release or out of it. Only
valid decisions up to the freeze date count; `manual.GOVERNANCE` says so to the reader.
"""

from collections.abc import Mapping
from typing import Any

from hexathlon.tasks.task import Split
from hexathlon.tasks.terminal.dice import Cast, Dice
from hexathlon.tasks.terminal.templates.long.language.council import FREEZE, MEETINGS, Council
from hexathlon.tasks.terminal.templates.long.language.proposals import PROPOSALS
from hexathlon.tasks.terminal.templates.long.language.release import RULES

__all__ = ["INSIDE", "OUTSIDE", "TEST_ONLY", "Archive"]

INSIDE = (
    "plain", "changed", "confirmed", "revived", "followed", "linked", "linked_change",
    "confirmed_change",
)  # fmt: skip
OUTSIDE = ("revoked", "late", "void", "rejected", "open", "recused", "unlinked")
TEST_ONLY = ("void_change", "void_revocation", "late_change", "half_confirmed", "recused_change")
"""Fates that leave a proposal in the release, out of it, or, in test alone, in it."""

_WITHOUT_CHANGE = {
    "changed": "plain",
    "followed": "revived",
    "linked_change": "linked",
    "confirmed_change": "confirmed",
    "void_change": "void_revocation",
    "late_change": "confirmed",
    "half_confirmed": "confirmed",
    "recused_change": "void_revocation",
}
"""What becomes of a fate where the proposal has one version only."""


class Archive:
    """The papers, with the rules of the release that they define."""

    def __init__(self, dice: Dice, cast: Cast, split: Split) -> None:
        self.dice, self.split = dice, split
        self.council = Council(dice, cast)
        self.year, self.small = self.council.year, self.council.small
        numbers = sorted(dice.some(range(3, 99), len(PROPOSALS)))
        self.numbers = dict(zip(dice.shuffled(sorted(PROPOSALS)), numbers, strict=True))
        self.authors = {name: dice.pick(self.council.people) for name in sorted(PROPOSALS)}
        self.limits = dice.whole(210, 280), dice.whole(300, 390)
        self.rules: dict[str, Any] = {name: values[0] for name, values in RULES.items()}
        self.fates: dict[str, str] = {}
        self.items: dict[int, list[str]] = {
            day: list(self.council.corrections.get(day, ())) for day in range(len(MEETINGS))
        }
        self.printed_freeze = self._freeze()
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

    def _freeze(self) -> int:
        """Return the meeting whose date `releases/` gives; a decision may have moved it."""
        printed = self.dice.pick((FREEZE - 1, FREEZE, FREEZE + 1))
        large = [
            day
            for day in range(FREEZE)
            if self.council.valid(day) and not self.council.authors_that_void(day)
        ]
        to, day = (FREEZE, self.dice.pick(large))
        if printed == FREEZE:
            to, day = (FREEZE + 1, self.dice.pick(self.small))
        self._say(day, f"The freeze of 3.0 is moved to {self._date(to)}.")
        return printed

    def _decide(self) -> None:
        for name in PROPOSALS:
            inside = self.dice.chance(0.68)
            fate = self.dice.pick(INSIDE if inside else OUTSIDE)
            if inside and self.split in ("test", "heldout") and self.dice.chance(0.3):
                fate = self.dice.pick(TEST_ONLY)
            if len(PROPOSALS[name][1]) == 1:
                fate = _WITHOUT_CHANGE.get(fate, fate)
            if name == "deferror" and not self.rules["defer"]:
                fate = "rejected"
            getattr(self, f"_{fate}")(name, f"{self.numbers[name]:04d} {PROPOSALS[name][0]}")
            self.fates[name] = fate

    def _days(self, name: str, before: int = FREEZE + 1) -> list[int]:
        """Return the meetings that can decide on a proposal."""
        return [day for day in range(before) if self.council.valid(day, self.authors[name])]

    def _valid(self, name: str, count: int) -> list[int]:
        """Return meetings with a quorum up to the freeze, in order."""
        return sorted(self.dice.some(self._days(name), count))

    def _say(self, day: int, text: str) -> None:
        self.items[day].append(text)

    def _set(self, name: str, place: int) -> None:
        self.rules[name] = self._values(name)[place]

    def _change(self, name: str) -> str:
        text = [*PROPOSALS[name][1].values()][1]
        return f'"{self._filled(text)}"'

    def _filled(self, text: str) -> str:
        return text.replace("@FIRST@", str(self.limits[0])).replace("@SECOND@", str(self.limits[1]))

    def _condition(self, holds: bool) -> str:
        """Return a condition on a proposal that is decided on already."""
        other = self.dice.pick(sorted(self.fates) or ["truth"])
        inside = other in self.fates and self.rules[other] != RULES[other][0]
        title = f"{self.numbers[other]:04d} {PROPOSALS[other][0]}"
        return f"{'if' if inside == holds else 'unless'} {title} is in the release"

    def _plain(self, name: str, title: str) -> None:
        self._say(self._valid(name, 1)[0], f"{title}: accepted.")
        self._set(name, 1)

    def _changed(self, name: str, title: str) -> None:
        text = f"{title}: accepted, with this change: {self._change(name)}"
        self._say(self._valid(name, 1)[0], text)
        self._set(name, 2)

    def _linked(self, name: str, title: str) -> None:
        if not self.fates:
            self._plain(name, title)
            return
        text = f"{title}: accepted, {self._condition(True)}; otherwise rejected."
        self._say(self._valid(name, 1)[0], text)
        self._set(name, 1)

    def _unlinked(self, name: str, title: str) -> None:
        if not self.fates:
            self._rejected(name, title)
            return
        text = f"{title}: accepted, {self._condition(False)}; otherwise rejected."
        self._say(self._valid(name, 1)[0], text)

    def _linked_change(self, name: str, title: str) -> None:
        holds = self.dice.chance(0.5)
        condition = self._condition(holds) if self.fates else ""
        if not condition:
            self._changed(name, title)
            return
        text = f"{title}: accepted; {condition}, with this change: {self._change(name)}"
        self._say(self._valid(name, 1)[0], text)
        self._set(name, 2 if holds else 1)

    def _confirmation(self, name: str, title: str, said: str, end: str) -> None:
        day = self.dice.pick(self.small)
        later = [each for each in self._days(name) if each > day]
        self._say(day, f"{title}: {said}")
        text = f"{title}: the decision of {self._date(day)} is confirmed{end}."
        self._say(self.dice.pick(later), text)

    def _confirmed(self, name: str, title: str) -> None:
        self._confirmation(name, title, "accepted.", "")
        self._set(name, 1)

    def _confirmed_change(self, name: str, title: str) -> None:
        said = f"accepted, with this change: {self._change(name)}"
        self._confirmation(name, title, said, "")
        self._set(name, 2)

    def _half_confirmed(self, name: str, title: str) -> None:
        said = f"accepted, with this change: {self._change(name)}"
        self._confirmation(name, title, said, ", but for the change, which is rejected")
        self._set(name, 1)

    def _revived(self, name: str, title: str) -> None:
        first, second = self._valid(name, 2)
        self._say(first, f"{title}: rejected.")
        self._say(second, f"{title}: taken up again and accepted.")
        self._set(name, 1)

    def _followed(self, name: str, title: str) -> None:
        first, second = self._valid(name, 2)
        self._say(first, f"{title}: accepted.")
        self._say(second, f"{title}: changed, as follows: {self._change(name)}")
        self._set(name, 2)

    def _revoked(self, name: str, title: str) -> None:
        first, second = self._valid(name, 2)
        self._say(first, f"{title}: accepted.")
        self._say(second, f"{title}: the acceptance is revoked.")

    def _late(self, name: str, title: str) -> None:
        self._say(self._valid(name, 1)[0], f"{title}: discussed and adjourned.")
        self._say(self.dice.pick((FREEZE + 1, FREEZE + 2)), f"{title}: accepted.")

    def _void(self, name: str, title: str) -> None:
        self._say(self.dice.pick(self.small), f"{title}: accepted.")

    def _rejected(self, name: str, title: str) -> None:
        self._say(self._valid(name, 1)[0], f"{title}: rejected.")

    def _open(self, name: str, title: str) -> None:
        self._say(self._valid(name, 1)[0], f"{title}: discussed and adjourned.")

    def _without_its_author(self, name: str) -> int:
        """Give a proposal an author whose presence does not help a meeting; return the meeting."""
        tight = [day for day in range(1, FREEZE) if self.council.authors_that_void(day)]
        day = self.dice.pick(tight)
        self.authors[name] = self.dice.pick(self.council.authors_that_void(day))
        return day

    def _recused(self, name: str, title: str) -> None:
        self._say(self._without_its_author(name), f"{title}: accepted.")

    def _recused_change(self, name: str, title: str) -> None:
        day = self._without_its_author(name)
        self._say(self.dice.pick(self._days(name, day)), f"{title}: accepted.")
        self._say(day, f"{title}: changed, as follows: {self._change(name)}")
        self._set(name, 1)

    def _before_small(self, name: str) -> tuple[int, int]:
        small = self.small[1]
        return self.dice.pick(self._days(name, small)), small

    def _void_change(self, name: str, title: str) -> None:
        first, second = self._before_small(name)
        self._say(first, f"{title}: accepted.")
        self._say(second, f"{title}: changed, as follows: {self._change(name)}")
        self._set(name, 1)

    def _late_change(self, name: str, title: str) -> None:
        self._say(self._valid(name, 1)[0], f"{title}: accepted.")
        text = f"{title}: changed, as follows: {self._change(name)}"
        self._say(self.dice.pick((FREEZE + 1, FREEZE + 2)), text)
        self._set(name, 1)

    def _void_revocation(self, name: str, title: str) -> None:
        first, second = self._before_small(name)
        self._say(first, f"{title}: accepted.")
        self._say(second, f"{title}: the acceptance is revoked.")
        self._set(name, 1)

    # -- papers ----------------------------------------------------------------------------

    def _date(self, day: int) -> str:
        return self.council.date(day)

    def papers(self) -> Mapping[str, str]:
        """Return all papers by path."""
        release = (
            f"# Release 3.0\n\nFreeze date: {self._date(self.printed_freeze)}. It follows 2.4.\n"
        )
        later = f"# Release 3.1\n\nFreeze date: {self.year + 1}-02-28. It follows 3.0.\n"
        texts = {"releases/3.0.md": release, "releases/3.1.md": later}
        texts["releases/2.4.md"] = f"# Release 2.4\n\nReleased on {self.year - 1}-11-20.\n"
        texts["drafts/whats-new-3.0.md"] = self._draft()
        texts |= {f"minutes/{self._date(day)}.md": self._minutes(day) for day in self.items}
        for name, number in self.numbers.items():
            slug = "".join(c if c.isalnum() else "-" for c in PROPOSALS[name][0].lower()).strip("-")
            texts[f"proposals/{number:04d}-{slug}.md"] = self._proposal(name, number)
        return texts | self.council.papers() | self._mail()

    def _minutes(self, day: int) -> str:
        names = ", ".join(self.council.listed[day])
        items = self.dice.shuffled(self.items[day]) or ["No decisions."]
        lines = "\n".join(f"* {self._filled(item)}" for item in items)
        return f"# Council, {self._date(day)}\n\nPresent: {names}.\n\n{lines}\n"

    def _proposal(self, name: str, number: int) -> str:
        title, versions = PROPOSALS[name]
        status = self.dice.pick(("draft", "accepted", "accepted", "rejected", "in discussion"))
        text = self._filled(next(iter(versions.values())))
        head = f"# {number:04d} {title}\n\nAuthor: {self.authors[name]}\nStatus: {status}"
        return f"{head}\n\n{text}\n"

    def _draft(self) -> str:
        names = self.dice.some(sorted(PROPOSALS), 16)
        lines = "\n".join(f"* {PROPOSALS[name][0]}" for name in names)
        return f"# What is new in 3.0\n\nA first list, from memory. To be checked.\n\n{lines}\n"

    def _mail(self) -> dict[str, str]:
        made = {}
        for place, name in enumerate(self.dice.some(sorted(PROPOSALS), 14)):
            sender, day = self.dice.pick(self.council.people), self.dice.whole(0, 9)
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
