"""What the rules of a house admit: requirements, locked versions, versions that may be chosen.

The search is in `reference`. Single rules can be left out.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Any

from hexathlon.tasks.terminal.templates.long.resolve.house import House, Registers

__all__ = ["RULES", "SLIPS", "AdmittedVersion", "LockAdmission", "Need"]

RULES = (
    "future",
    "candidate_order",
    "candidates",
    "candidate_era",
    "quarantine",
    "quarantine_boundary",
    "quarantine_era",
    "locked_exempt",
    "yanked",
    "yanked_kept",
    "yanked_security",
    "advisory",
    "advisory_era",
    "platform_family",
    "platform_empty",
    "licence",
    "licence_era",
    "licence_kept",
    "pins",
    "pin_until",
    "markers",
    "marker_not",
    "relisted",
    "unlisted_lock",
    "downgrade",
    "downgrade_era",
    "stale",
    "names",
    "blocked",
    "tilde",
)
"""Rules of every house that can be left out, beside the twists."""

SLIPS = {"yank_slip": ("yank_grace", 6), "advisory_slip": ("advisory_grace", 4)}
"""Corrections of a number of days: the twist, and by how much the first answer was too high."""

_VERSION = re.compile(r"(\d+(?:\.\d+)*)(?:rc(\d+)|\.post(\d+))?")
_CANDIDATE = (0, 3)
"""Stages of release candidates in a version's key, before or after that of the release."""

Key = tuple[tuple[int, ...], tuple[int, int]]
Need = tuple[str, str, tuple[str, ...]]
"""Name, bounds and extras of a requirement."""


@lru_cache(maxsize=4096)
def version_key(text: str, candidates_first: bool = True) -> Key:
    """Return a version's place in the order of versions."""
    match = _VERSION.fullmatch(text)
    if match is None:
        raise ValueError(f"not a version: {text!r}")
    numbers = [int(part) for part in match[1].split(".")]
    while len(numbers) > 1 and not numbers[-1]:
        numbers.pop()
    if match[2] is not None:
        return tuple(numbers), (_CANDIDATE[not candidates_first], int(match[2]))
    return tuple(numbers), (2, int(match[3])) if match[3] is not None else (1, 0)


@lru_cache(maxsize=4096)
def _bounds(text: str) -> tuple[tuple[str, str], ...]:
    """Return the operators and versions of bounds."""
    found = [
        re.fullmatch(r"(>=|<=|==|!=|<|>|~)\s*(\S+)", part.strip())
        for part in text.split(",")
        if part.strip()
    ]
    return tuple((match[1], match[2]) for match in found if match is not None)


@lru_cache(maxsize=4096)
def _ordinal(day: str) -> int:
    return date.fromisoformat(day).toordinal()


@dataclass(frozen=True)
class AdmittedVersion:
    """A version of a package that may be chosen."""

    version: str
    key: Key
    needs: tuple[Need, ...]
    """Requirements that apply on the platform."""

    extras: Mapping[str, tuple[Need, ...]]
    breaks: tuple[Need, ...]


class LockAdmission:
    """The versions that one request admits under the rules, without those in `off`."""

    def __init__(
        self, house: House, registers: Registers, request: Mapping[str, Any], off: frozenset[str]
    ) -> None:
        self.house, self.registers, self.request = house, registers, request
        self.applied = {*RULES, *SLIPS, *house.twists} - off
        self.day = request["day"]
        self.index = {self.plain(name): list(entries) for name, entries in request["index"].items()}
        self.roots = [
            (text, *parsed[:3])
            for text in request["roots"]
            if self.applies((parsed := self.requirement(text))[3])
        ]
        self.lock = self._locked()
        self.domains = {name: self._admitted(name) for name in self.index}

    def on(self, rule: str) -> bool:
        """Whether a rule is applied; a twist has to be drawn as well."""
        return rule in self.applied

    def plain(self, name: str) -> str:
        """Return a name in the form of lock files."""
        return name.lower().replace("_", "-") if self.on("names") else name

    def requirement(self, text: str) -> tuple[str, str, tuple[str, ...], str]:
        """Return name, bounds, extras and marker; the name is that after renames."""
        front, _, marker = text.partition(";")
        match = re.fullmatch(r"\s*([A-Za-z][\w-]*)(\[[\w,-]+\])?\s*(.*?)\s*", front)
        if match is None:
            raise ValueError(f"not a requirement: {text!r}")
        extras = tuple((match[2] or "[]")[1:-1].split(",")) if match[2] else ()
        for bound in filter(None, match[3].split(",")):
            if not re.match(r"\s*(>=|<=|==|!=|<|>|~)", bound):
                raise ValueError(f"not a bound: {bound!r}")
        kept = extras if self.on("extras") else ()
        return self.renamed(self.plain(match[1])), match[3], kept, marker.strip()

    def renamed(self, name: str) -> str:
        """Return the name that a package has on the day."""
        rows = self.registers.renames if self.on("renames") else ()
        for _ in rows:
            for row in rows:
                if self.plain(row.old) == name and row.since <= self.day:
                    name = self.plain(row.new)
        return name

    def on_platform(self, word: str) -> bool:
        """Whether a platform or kind of platforms is that of the request."""
        here = self.request["platform"]
        return bool(here == word or (self.on("platform_family") and here.startswith(word + "-")))

    def applies(self, marker: str) -> bool:
        """Whether a marker holds."""
        if not marker or not self.on("markers"):
            return True
        for option in marker.split(" or "):
            words = option.split()
            negative = words[0] == "not" and self.on("marker_not")
            if self.on_platform(words[-1]) != negative:
                return True
        return False

    def key(self, text: str) -> Key:
        """Return a version's place in the order of versions."""
        return version_key(text, self.on("candidate_order"))

    def fits(self, version: str, bounds: str) -> bool:
        """Whether a version satisfies all bounds of a requirement."""
        key = self.key(version)
        for operator, text in _bounds(bounds):
            limit = self.key(text)
            same_release = key[0] == limit[0]
            candidate = key[1][0] in _CANDIDATE and limit[1][0] not in _CANDIDATE
            if operator == "<" and same_release and candidate and self.on("ceiling"):
                return False
            holds = {
                ">=": key >= limit,
                "<=": key <= limit,
                "==": key == limit,
                "!=": key != limit,
                "<": key < limit,
                ">": key > limit,
                "~": key >= limit and (key[0][0] == limit[0][0] or not self.on("tilde")),
            }[operator]
            if not holds:
                return False
        return True

    def _locked(self) -> dict[str, Key]:
        """Return the locked versions that count."""
        given = {self.plain(name): text for name, text in self.request.get("lock", {}).items()}
        locked: dict[str, Key] = {}
        for name, text in given.items():
            new = self.renamed(name)
            if new != name and new in given:
                continue
            listed = {self.key(entry["version"]) for entry in self.index.get(new, ())}
            if self.key(text) in listed or not self.on("unlisted_lock"):
                locked[new] = self.key(text)
        return locked

    def doubtful(self) -> bool:
        """Whether the papers leave open which version of a package is locked.

        They do if it is locked under two former names, or in a version that is published later.
        """
        given = {self.plain(name) for name in self.request.get("lock", {})}
        former = [new for name in given if (new := self.renamed(name)) not in given]
        early = (
            self.key(entry["version"]) == self.lock.get(name)
            for name, entries in self.index.items()
            for entry in entries
            if entry["published"] > self.day
        )
        return len(set(former)) < len(former) or any(early)

    def _admitted(self, name: str) -> list[AdmittedVersion]:
        """Return the versions of a package that the rules admit, the newest first."""
        listed: dict[Key, Mapping[str, Any]] = {}
        for entry in self.index[name]:
            key = self.key(entry["version"])
            if self.on("relisted") or key not in listed:
                listed[key] = entry
        shown = {k: e for k, e in listed.items() if e["published"] <= self.day}
        if not self.on("future"):
            shown = dict(listed)
        finals = any(key[1][0] not in _CANDIDATE for key in shown)
        entries = []
        for key, entry in sorted(shown.items(), reverse=True):
            if self._allowed(name, key, entry, finals):
                extras = entry.get("extras", {})
                breaks = entry.get("breaks", ()) if self.on("breaks") else ()
                entries.append(
                    AdmittedVersion(
                        entry["version"],
                        key,
                        self._applying(name, entry.get("needs", ())),
                        {extra: self._applying(name, texts) for extra, texts in extras.items()},
                        self._applying(name, breaks),
                    )
                )
        frozen = any(first <= self.day <= last for first, last in self.registers.freezes)
        if frozen and self.on("freeze") and any(e.key == self.lock.get(name) for e in entries):
            return [entry for entry in entries if entry.key == self.lock[name]]
        return entries

    def _applying(self, name: str, texts: Iterable[str]) -> tuple[Need, ...]:
        """Return the requirements of a package that apply, but for those on itself."""
        parsed = [self.requirement(text) for text in texts]
        return tuple(
            (other, bounds, extras)
            for other, bounds, extras, marker in parsed
            if self.applies(marker) and other != name
        )

    def _allowed(self, name: str, key: Key, entry: Mapping[str, Any], finals: bool) -> bool:
        locked = self.lock.get(name) == key
        return (
            self._candidate_allowed(name, key, finals)
            and self._platform_allowed(entry)
            and self._ripe(name, locked, entry)
            and self._not_yanked(locked, entry)
            and self._not_warned(locked, entry)
            and self._licensed(locked, entry)
            and self._pinned(name, entry)
        )

    def _candidate_allowed(self, name: str, key: Key, finals: bool) -> bool:
        if key[1][0] not in _CANDIDATE or not self.on("candidates"):
            return True
        if self.day < self.house.candidate_day and self.on("candidate_era"):
            return False
        named = any(root == name and "rc" in bounds for _, root, bounds, _ in self.roots)
        return named or (self.on("only_candidates") and not finals)

    def _platform_allowed(self, entry: Mapping[str, Any]) -> bool:
        platforms = entry.get("platforms")
        if platforms is None or (platforms == [] and not self.on("platform_empty")):
            return True
        return any(map(self.on_platform, platforms))

    def _ripe(self, name: str, locked: bool, entry: Mapping[str, Any]) -> bool:
        before, after = self.house.quarantine
        late = self.day >= self.house.quarantine_day or not self.on("quarantine_era")
        wait = after if late else before
        if not self.on("quarantine_boundary"):
            wait += 1
        if not self.on("quarantine") or (locked and self.on("locked_exempt")):
            return True
        if self.on("house_exempt") and name.startswith(self.house.prefix):
            return True
        if self.on("closes_exempt") and self._closes(name, entry):
            return True
        if self.on("workdays") and self.day >= self.house.workday_day:
            return self._workdays(entry["published"]) >= wait
        return self._age(entry["published"]) >= wait

    def _workdays(self, since: str) -> int:
        """Return the number of working days after a day, up to the day of the request."""
        weeks, rest = divmod(self._age(since), 7)
        first = _ordinal(self.day) - rest + 1
        days = [date.fromordinal(number) for number in range(first, first + rest)]
        closed = {day for day in self.registers.closed if since < day <= self.day}
        off = sum(date.fromisoformat(day).weekday() < 5 for day in closed)
        return weeks * 5 + sum(day.weekday() < 5 for day in days) - off

    def _closes(self, name: str, entry: Mapping[str, Any]) -> bool:
        """Whether the version closes an advisory against the locked one."""
        locked: Mapping[str, Any] = {}
        for other in self.index[name]:
            if self.key(other["version"]) == self.lock.get(name):
                locked = other
        open_ids = {
            advisory["id"]
            for advisory in locked.get("advisories", ())
            if advisory["day"] <= self.day
        }
        return bool(open_ids & set(entry.get("closes", ())))

    def _age(self, day: str) -> int:
        return _ordinal(self.day) - _ordinal(day)

    def _not_yanked(self, locked: bool, entry: Mapping[str, Any]) -> bool:
        yanked = entry.get("yanked")
        if yanked is None or yanked["day"] > self.day or not self.on("yanked"):
            return True
        if not locked or not self.on("yanked_kept"):
            return False
        if yanked["reason"] == "security" and self.on("yanked_security"):
            return False
        most = self.house.yank_days + (0 if self.on("yank_slip") else SLIPS["yank_slip"][1])
        return not self.on("yank_grace") or self._age(yanked["day"]) <= most

    def _not_warned(self, locked: bool, entry: Mapping[str, Any]) -> bool:
        if not self.on("advisory"):
            return True
        if self.day < self.house.advisory_day and self.on("advisory_era"):
            return True
        known = [item["day"] for item in entry.get("advisories", ()) if item["day"] <= self.day]
        if locked and self.on("advisory_grace"):
            slip = 0 if self.on("advisory_slip") else SLIPS["advisory_slip"][1]
            known = [day for day in known if self._age(day) > self.house.advisory_days + slip]
        return not known

    def _licensed(self, locked: bool, entry: Mapping[str, Any]) -> bool:
        if not self.on("licence") or (locked and self.on("licence_kept")):
            return True
        if self.day < self.house.licence_day and self.on("licence_era"):
            return True
        licence = entry.get("licence")
        if licence is None:
            new = entry["published"] >= self.house.licence_day
            return not (self.on("no_licence") and new)
        return licence not in self.house.denied

    def _pinned(self, name: str, entry: Mapping[str, Any]) -> bool:
        rows = [
            pin
            for pin in self.registers.pins
            if self.renamed(self.plain(pin.package)) == name
            and pin.since <= self.day
            and (not pin.until or self.day <= pin.until or not self.on("pin_until"))
        ]
        if self.on("exact_root_beats_pin") and any(
            root == name and "==" in bounds for _, root, bounds, _ in self.roots
        ):
            return True
        if self.on("last_pin_only"):
            rows = rows[-1:]
        return not self.on("pins") or all(self.fits(entry["version"], row.bound) for row in rows)
