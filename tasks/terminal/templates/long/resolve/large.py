"""A large request whose parts depend on one package, and its answer from those for its parts."""

from collections.abc import Mapping
from datetime import date, timedelta
from random import Random  # noqa: TID251 - private generators, seeded from the task's draws
from typing import Any

from hexathlon.tasks.terminal.templates.long.resolve.house import House, Registers
from hexathlon.tasks.terminal.templates.long.resolve.instances import LockCase
from hexathlon.tasks.terminal.templates.long.resolve.reference import resolve

__all__ = ["large_answer"]

_HUB = ("1.0", "1.1", "2.0", "2.1", "2.2")
Index = dict[str, list[dict[str, Any]]]


class _Parts:
    """Writes parts of four packages each, of one of a few kinds.

    In every kind, one locked version cannot stay. That shows only when the whole part is chosen, so
    that a search without a split goes through the product of all parts.
    """

    def __init__(self, rng: Random, house: House, names: list[str]) -> None:
        self.rng = rng
        self.day = _shift(house.refresh_day, rng.randint(40, 90))
        self.published = _shift(self.day, -rng.randint(60, 120))
        self.hub, *self.stems = names
        bounds = (">=1.1", ">=2", "!=2.1", "<2.1", "!=1.1", "~2.0")
        self.kinds = [[rng.choice(bounds) for _ in range(3)] for _ in range(3)]

    def entry(self, version: str, *needs: str) -> dict[str, Any]:
        """Return an entry of the index."""
        made = {"version": version, "published": self.published, "licence": "MIT"}
        return {**made, "needs": list(needs)} if needs else made

    def part(self, number: int, kind: int) -> tuple[Index, dict[str, str]]:
        """Return the index and the lock file of one part."""
        a, b, c, d = (f"{stem}-{number:02d}" for stem in self.stems)
        one, two, three = (f"{self.hub} {bound}" for bound in self.kinds[kind])
        entry = self.entry
        index = {
            a: [
                entry("1.0", f"{b} >=1.0", f"{c} <3"),
                entry("1.1", f"{b} >=1.1", f"{c} <3", one),
                entry("2.0", f"{b} >=2", f"{c} >=2"),
                entry("2.1", f"{b} >=2", f"{c} >=2", two),
            ],
            b: [
                entry("1.0", f"{d} >=2"),
                entry("1.1", f"{d} >=1.1,<2"),
                entry("2.0", f"{d} >=2"),
                entry("2.1", f"{d} <2"),
            ],
            c: [
                entry("1.0", f"{d} <1.1"),
                entry("1.1", f"{d} >=1.1,<3"),
                entry("2.0", f"{d} ~1.1"),
                entry("2.1", f"{d} >=2", three),
            ],
            d: [entry(version) for version in ("1.0", "1.1", "2.0", "2.1", "3.0")],
        }
        return index, {name: "1.0" for name in index}

    def request(self, kinds: list[tuple[int, int]], bound: str) -> dict[str, Any]:
        """Return the request with some parts (number, kind) and a bound on the base package."""
        index: Index = {self.hub: [self.entry(version) for version in _HUB]}
        lock, roots = {self.hub: "1.1"}, [f"{self.hub} {bound}"]
        for number, kind in kinds:
            entries, locked = self.part(number, kind)
            index |= entries
            lock |= locked
            roots.append(f"{self.stems[0]}-{number:02d}")
        made = {"day": self.day, "platform": "linux-x64", "roots": roots, "index": index}
        return {**made, "lock": lock}


def large_answer(
    rng: Random, house: House, names: list[str], count: int
) -> tuple[LockCase, tuple[int, Any]]:
    """Draw a large request, and derive its answer.

    For each version of the base package, every part is solved by itself; the best sum decides.

    Args:
        rng: The source of draws.
        house: The rules.
        names: Five words: the base package, and the stems of the names of the parts' packages.
        count: Number of parts.
    """
    while True:
        parts = _Parts(rng, house, names)
        kinds = [(number, rng.randrange(3)) for number in range(count)]
        sums = {version: _sum(house, parts, kinds, version) for version in _HUB}
        ranked = sorted(
            (made["changes"], made["stale"], version)
            for version, made in sums.items()
            if made is not None
        )
        if len(ranked) > 2 and ranked[0][:2] != ranked[1][:2]:
            case = LockCase(parts.request(kinds, ">=1.0"), Registers())
            return case, (0, sums[ranked[0][2]])


def _sum(
    house: House, parts: _Parts, kinds: list[tuple[int, int]], version: str
) -> dict[str, Any] | None:
    """Return the answer if the base package has one version, or None."""
    alone = _solved(house, parts, [], version)
    lock = dict(alone["lock"])
    changes, stale = alone["changes"], alone["stale"]
    by_kind: dict[int, Mapping[str, Any]] = {}
    for number, kind in kinds:
        if kind not in by_kind:
            made = _solved(house, parts, [(0, kind)], version)
            if "lock" not in made:
                return None
            by_kind[kind] = made
        made = by_kind[kind]
        changes += made["changes"] - alone["changes"]
        stale += made["stale"] - alone["stale"]
        for name, chosen in made["lock"].items():
            if name != parts.hub:
                lock[f"{name[:-2]}{number:02d}"] = chosen
    return {"lock": dict(sorted(lock.items())), "changes": changes, "stale": stale}


def _solved(
    house: House, parts: _Parts, kinds: list[tuple[int, int]], version: str
) -> Mapping[str, Any]:
    request = parts.request(kinds, f"=={version}")
    answer: Mapping[str, Any] = resolve(house, Registers(), request)[1]
    return answer


def _shift(day: str, days: int) -> str:
    return (date.fromisoformat(day) + timedelta(days=days)).isoformat()
