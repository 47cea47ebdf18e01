"""Requests for lock files: random small ones in which many rules meet, and one large."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from random import Random  # noqa: TID251 - private generators, seeded from the task's draws
from typing import Any

from hexathlon.tasks.terminal.templates.long.resolve.admission import SLIPS, version_key
from hexathlon.tasks.terminal.templates.long.resolve.house import House, Pin, Registers, Rename

__all__ = ["LockCase", "small_case"]

_PLATFORMS = ("linux-x64", "linux-arm64", "windows-x64", "macos-arm64")
_WORDS = ("linux", "windows", "macos", "linux-arm64", "linux-x64")
_RELEASES = ("1.0", "1.2", "1.10", "2.0", "2.3", "2.4rc1", "2.4", "3.0rc2", "3.0", "3.0.post1")
_MARKERS = ("linux", "windows", "not windows", "not linux-arm64", "linux-x64 or macos", "not linux")
_BOUNDS = (">={a}", ">={a}", ">={a}", "<{b}", "~{a}", "!={a}", "", "<={b}", "", "", ">={a},!=2.3")


@dataclass(frozen=True)
class LockCase:
    """A request, and the registers that it is answered by."""

    request: Mapping[str, Any]
    registers: Registers


def _shift(day: str, days: int) -> str:
    return (date.fromisoformat(day) + timedelta(days=days)).isoformat()


def _of_version(entries: list[dict[str, Any]], version: str) -> list[dict[str, Any]]:
    """Return the entries of a version, which may be listed twice."""
    return [entry for entry in entries if version_key(entry["version"]) == version_key(version)]


class CaseWriter:
    """Draws one small request."""

    def __init__(self, rng: Random, house: House, names: list[str], focus: str, last: str) -> None:
        self.rng, self.house, self.names, self.focus = rng, house, names, focus
        self.day = self._recorded_day(last) if last else self._day()

    def _recorded_day(self, last: str) -> str:
        span = (date.fromisoformat(last) - date(2024, 1, 2)).days
        return _shift(last, -self.rng.randint(0, span))

    def often(self, share: float, *rules: str) -> bool:
        """Return True with probability `share`, or more often if a rule is in focus."""
        share = share / 4 if self.focus in ("blocked", "ceiling") else share
        return self.rng.random() < (max(share, 0.4) if self.focus in rules else share)

    def _day(self) -> str:
        house, rng = self.house, self.rng
        eras = {
            "candidate_era": (house.candidate_day, -20, 1),
            "quarantine_era": (house.quarantine_day, -25, 1),
            "licence_era": (house.licence_day, -25, 1),
            "advisory_era": (house.advisory_day, -25, 1),
            "candidates": (house.candidate_day, 0, 60),
            "only_candidates": (house.candidate_day, 0, 60),
            "refresh": (house.refresh_day, -1, 30),
            "downgrade_era": (house.downgrade_day, -25, 1),
            "workdays": (house.workday_day, 0, 30),
        }
        if self.focus in eras:
            day, low, high = eras[self.focus]
            return _shift(day, rng.randint(low, high))
        if rng.random() < 0.25:
            days = (house.candidate_day, house.quarantine_day, house.licence_day)
            later = (house.advisory_day, house.refresh_day)
            return _shift(rng.choice([*days, *later]), rng.randint(-1, 1))
        return _shift(house.advisory_day, rng.randint(-70, 140))

    def bounds(self) -> str:
        rng = self.rng
        text = rng.choice(_BOUNDS)
        low = rng.choice(("1", "1.0", "1.2", "1.2", "1.10", "2", "2.0"))
        high = rng.choice(("2.3", "2.4", "3", "3.0", "4"))
        text = text.format(a=low, b=high)
        if self.often(0.05, "candidates", "candidate_order", "candidate_era"):
            text = rng.choice((">=2.4rc1", ">=3.0rc2", "<=3.0rc2", ">2.4rc1"))
        if self.rng.random() < (0.25 if self.focus == "exact_root_beats_pin" else 0.01):
            text = f"=={rng.choice(_RELEASES)}"
        if self.often(0.0, "ceiling"):
            text = rng.choice(("<3", "<2.4", "<3.0", ">=1.2,<3"))
        return text

    def requirement(self, name: str) -> str:
        rng = self.rng
        if self.often(0.1, "names"):
            name = name.upper() if rng.random() < 0.5 else name.replace("-", "_").title()
        if self.house.has("extras") and self.often(0.1, "extras"):
            name += rng.choice(("[fast]", "[full]", "[fast,full]"))
        text = f"{name} {self.bounds()}".strip()
        if self.often(0.12, "markers", "marker_not", "platform_family"):
            text += f" ; {rng.choice(_MARKERS)}"
        return text

    def entry(self, name: str, version: str, needs: list[str]) -> dict[str, Any]:
        rng, house = self.rng, self.house
        age = rng.randint(30, 200)
        if self.often(0.12, "quarantine", "locked_exempt", "house_exempt", "closes_exempt"):
            age = rng.randint(0, 18)
        if self.house.has("workdays") and self.often(0.05, "workdays"):
            age = rng.randint(house.quarantine[0], house.quarantine[1] * 2)
        if self.often(0.05, "quarantine_boundary", "quarantine_era"):
            age = rng.choice([*house.quarantine, house.quarantine[0] - 1, house.quarantine[1] - 1])
        if self.often(0.05, "future"):
            age = rng.randint(-9, 1)
        made: dict[str, Any] = {"version": version, "published": _shift(self.day, -age)}
        if needs:
            made["needs"] = needs
        if self.often(0.05, "yanked", "yanked_kept", "yanked_security", "yank_grace"):
            since = rng.choice((0, 3, house.yank_days, house.yank_days + 1, -2, 9))
            reason = "security" if self.often(0.3, "yanked_security") else "broken"
            made["yanked"] = {"day": _shift(self.day, -since), "reason": reason}
        if self.often(0.05, "advisory", "advisory_grace", "closes_exempt", "advisory_era"):
            since = rng.choice((0, 4, house.advisory_days, house.advisory_days + 1, -1, 60))
            ident = f"ADV-{rng.randint(1, 3)}"
            made["advisories"] = [{"id": ident, "day": _shift(self.day, -since)}]
        if self.often(0.08, "closes_exempt"):
            made["closes"] = [f"ADV-{rng.randint(1, 3)}"]
        if self.often(0.04, "platform_family"):
            made["platforms"] = sorted(rng.sample(_WORDS, rng.randint(1, 3)))
        if self.often(0.01, "platform_empty"):
            made["platforms"] = []
        licence = rng.choice(("MIT", "MIT", "Apache-2.0", "BSD-3-Clause"))
        if self.often(0.04, "licence", "licence_era", "licence_kept"):
            licence = rng.choice(house.denied)
        if not self.often(0.03, "no_licence"):
            made["licence"] = licence
        return made

    def package(self, place: int) -> list[dict[str, Any]]:
        rng = self.rng
        versions = sorted(rng.sample(range(len(_RELEASES)), rng.randint(4, 7)))
        if self.often(0.05, "only_candidates"):
            versions = [5, 7]
        later = self.names[place + 1 :]
        entries = []
        for number in versions:
            version = _RELEASES[number]
            if version.endswith(".0") and rng.random() < 0.2:
                version = version[:-2]
            needed = rng.sample(later, min(len(later), rng.choice((0, 0, 1, 1, 2))))
            if place and rng.random() < 0.06:
                needed.append(self.names[rng.randrange(place)])
            needs = [self.requirement(name) for name in needed]
            entries.append(self.entry(self.names[place], version, needs))
            self._more(entries[-1], later)
            if self.often(0.04, "relisted"):
                entries.append(self._relisted(entries[-1], needed))
        if rng.random() < 0.5:
            rng.shuffle(entries)
        return entries

    def _relisted(self, entry: Mapping[str, Any], needed: list[str]) -> dict[str, Any]:
        """Return an entry for the same version that may be chosen like the first one."""
        version: str = entry["version"]
        spelling = version if "rc" in version or "post" in version else version + ".0"
        again = {**entry, "version": spelling}
        again.pop("needs", None)
        if needed:
            again["needs"] = [self.requirement(name) for name in needed[:1]]
        return again

    def _more(self, entry: dict[str, Any], later: list[str]) -> None:
        """Add extras, and what a version breaks."""
        rng, house = self.rng, self.house
        if house.has("extras") and later and rng.random() < 0.6:
            extras = rng.sample(("fast", "full"), rng.randint(1, 2))
            entry["extras"] = {
                extra: [self.requirement(rng.choice(later))] if rng.random() < 0.8 else []
                for extra in extras
            }
        if house.has("breaks") and self.often(0.08, "breaks"):
            entry["breaks"] = [f"{rng.choice(self.names)} {self.bounds()}".strip()]

    def lock(self, index: Mapping[str, list[dict[str, Any]]]) -> dict[str, str]:
        rng = self.rng
        lock = {}
        for name, entries in index.items():
            if rng.random() < 0.75:
                lock[name] = rng.choice(entries)["version"]
            if self.often(0.06, "unlisted_lock"):
                lock[name] = rng.choice(("0.9", "1.11", "2.9"))
        for name, entries in index.items():
            early = {item["version"] for item in entries if item["published"] > self.day}
            if lock.get(name) in early:
                del lock[name]
        return lock

    def _marks_on_locked(
        self, index: Mapping[str, list[dict[str, Any]]], lock: Mapping[str, str]
    ) -> None:
        """Give locked versions what the rule in focus is about."""
        rng, house = self.rng, self.house
        for name, version in lock.items():
            mine = _of_version(index[name], version)
            if not mine or rng.random() < 0.5:
                continue
            marks: dict[str, Any] = {}
            if self.focus in ("yanked_kept", "yanked_security", "yank_grace", "yank_slip"):
                last = house.yank_days
                since = rng.choice((0, 1, last, last + 1, last + SLIPS["yank_slip"][1]))
                reason = rng.choice(("broken", "security", "broken"))
                marks["yanked"] = {"day": _shift(self.day, -since), "reason": reason}
            if self.focus in ("advisory_grace", "advisory_slip"):
                last = house.advisory_days
                since = rng.choice((0, last, last + 1, last + SLIPS["advisory_slip"][1]))
                marks["advisories"] = [{"id": "ADV-7", "day": _shift(self.day, -since)}]
            if self.focus == "closes_exempt":
                marks["advisories"] = [{"id": "ADV-7", "day": _shift(self.day, -90)}]
                other = rng.choice(index[name])
                for entry in _of_version(index[name], other["version"]):
                    entry["closes"], entry["published"] = ["ADV-7"], _shift(self.day, -2)
            if self.focus == "licence_kept":
                marks["licence"] = rng.choice(house.denied)
            for entry in mine:
                entry.update(marks)

    def registers(self) -> Registers:
        rng = self.rng
        pins, renames, families = [], [], []
        for _ in range(rng.randint(1, 4)):
            since = _shift(self.day, rng.choice((0, -1, -30, 1, -60)))
            until = rng.choice(("", self.day, _shift(self.day, -1), _shift(self.day, 20)))
            bound = rng.choice(("<2", "<3", "<2.4", ">=2", "<3.0", "!=3.0", ">=1.2"))
            if self.focus in ("last_pin_only", "exact_root_beats_pin", "pins", "pin_until"):
                pins.append(Pin(rng.choice(self.names[:3]), bound, since, until))
            elif rng.random() < 0.5:
                pins.append(Pin(rng.choice(self.names), bound, since, until))
        if self.house.has("renames") and self.often(0.4, "renames"):
            old, mid, new = rng.sample(self.names, 3)
            later = _shift(self.day, rng.choice((0, -9, 1)))
            renames = [
                Rename(mid, new, later),
                Rename(old, mid, _shift(self.day, -rng.randint(0, 9))),
            ]
            if rng.random() < 0.5:
                renames = renames[1:]
        if self.house.has("families") and self.often(0.5, "families"):
            families = [("core", name) for name in sorted(rng.sample(self.names, 3))]
        closed: list[str] = []
        freezes: list[tuple[str, str]] = []
        if self.house.has("workdays"):
            closed = sorted(_shift(self.day, -rng.randint(0, 14)) for _ in range(3))
        if self.house.has("freeze"):
            for _ in range(2):
                first = _shift(self.day, rng.choice((0, 1, -3, -20)))
                last = _shift(first, rng.choice((0, 3, 9, 40)))
                if self.often(0.3, "freeze"):
                    freezes.append((first, last))
        return Registers(
            tuple(pins), tuple(renames), tuple(families), tuple(closed), tuple(freezes)
        )

    def _quarrel(self, index: Mapping[str, list[dict[str, Any]]]) -> list[str]:
        """Make two packages need different versions of a third; return roots with both."""
        one, other, last, third = self.rng.sample(self.names, 4)
        for name, bound in ((one, "<2"), (other, ">=2")):
            for entry in index[name]:
                entry["needs"] = [f"{third} {bound}"]
        return [one, other, last] if self.rng.random() < 0.7 else [last, other, one, third]

    def _candidate(self, index: Mapping[str, list[dict[str, Any]]]) -> str:
        """Give a package a candidate that other packages want to be below; return a root for it."""
        name, bound = self.rng.choice(self.names[1:5]), self.rng.choice(("<3", "<3.0"))
        entries = [entry for entry in index[name] if not entry["version"].startswith("3")]
        index[name][:] = [*entries, self.entry(name, "3.0rc2", [])]
        for entry in index[self.names[0]]:
            entry["needs"] = [f"{name} {bound}"]
        return f"{name} >=1.0rc1"

    def case(self) -> LockCase:
        rng = self.rng
        index = {name: self.package(place) for place, name in enumerate(self.names)}
        if rng.random() < 0.3:
            index = dict(sorted(index.items(), key=lambda _: rng.random()))
        roots = [self.requirement(name) for name in rng.sample(self.names[:5], rng.randint(2, 4))]
        if rng.random() < 0.1:
            roots.append(self.requirement(self.names[0]))
        if self.focus == "blocked":
            roots = self._quarrel(index)
        if self.focus == "ceiling":
            roots.append(self._candidate(index))
        request: dict[str, Any] = {
            "day": self.day,
            "platform": rng.choice(_PLATFORMS),
            "roots": roots,
            "index": index,
        }
        if self.focus == "exact_root_beats_pin":
            roots.append(f"{self.names[0]} =={rng.choice(index[self.names[0]])['version']}")
        lock = self.lock(index)
        self._marks_on_locked(index, lock)
        if lock or rng.random() < 0.5:
            request["lock"] = lock
        if self.house.has("refresh") and self.often(0.3, "refresh"):
            request["refresh"] = True
        return LockCase(request, self.registers())


def small_case(
    rng: Random, house: House, names: list[str], focus: str = "", last: str = ""
) -> LockCase:
    """Draw a request with few packages, in which the rule in focus is likely to matter.

    With `last`, the day is no later than that.
    """
    return CaseWriter(rng, house, names, focus, last).case()
