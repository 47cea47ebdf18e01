"""Lock files by the rules of a house, derived by exhaustive search.

This is the derivation behind the expected answers. It is independent of the programs that solve the
task, has no budget in mind, and can leave single rules out.
"""

from collections.abc import Mapping
from typing import Any

from hexathlon.tasks.terminal.templates.long.resolve.admission import (
    RULES,
    SLIPS,
    AdmittedVersion,
    LockAdmission,
    Need,
)
from hexathlon.tasks.terminal.templates.long.resolve.house import House, Registers

__all__ = ["RULES", "SLIPS", "LockResolution", "resolve"]

_LARGE = 10**6


class LockResolution(LockAdmission):
    """The best lock file for one request under the rules, without those in `off`."""

    def cost(self, name: str, entry: AdmittedVersion) -> tuple[int, int]:
        """Return the changes and the staleness that a choice adds."""
        stale = self.domains[name].index(entry) if self.on("stale") else 0
        old = self.lock.get(name)
        if old is None:
            changes = int(self.on("added_counts"))
        elif old == entry.key:
            changes = 0
        else:
            down = entry.key < old and self.on("downgrade")
            late = self.day >= self.house.downgrade_day or not self.on("downgrade_era")
            changes = self.house.downgrade[late] if down else 1
            if self.on("major_counts") and entry.key[0][0] != old[0][0]:
                changes += 1
        refresh = self.request.get("refresh", False) and self.day >= self.house.refresh_day
        return (stale, changes) if refresh and self.on("refresh") else (changes, stale)

    def clash(self, name: str, entry: AdmittedVersion, other: str, taken: AdmittedVersion) -> bool:
        """Whether one of two chosen versions breaks the other."""
        return any(
            broken == there and self.fits(version.version, bounds)
            for breaking, there, version in ((entry, other, taken), (taken, name, entry))
            for broken, bounds, _ in breaking.breaks
        )

    def best(self, roots: list[Need]) -> dict[str, AdmittedVersion] | None:
        """Return the best selection for some requirements, or None."""
        names = sorted(self.index)
        ranks = {
            name: {entry.key: rank for rank, entry in enumerate(self.domains[name])}
            for name in names
        }
        family = {self.renamed(self.plain(name)): kin for kin, name in self.registers.families}
        if not self.on("families"):
            family = {}
        found: list[tuple[Any, dict[str, AdmittedVersion]]] = []

        def extend(
            chosen: dict[str, AdmittedVersion],
            wanted: list[Need],
            opened: frozenset[tuple[str, str]],
            cost: Any,
        ) -> None:
            if found and cost > found[0][0][0]:
                return
            for name, bounds, extras in wanted:
                if name in chosen and not self.fits(chosen[name].version, bounds):
                    return
                for extra in extras if name in chosen else ():
                    if extra not in chosen[name].extras:
                        return
                    if (name, extra) not in opened:
                        more = [*wanted, *chosen[name].extras[extra]]
                        extend(chosen, more, opened | {(name, extra)}, cost)
                        return
            rest = [need for need in wanted if need[0] not in chosen]
            if not rest:
                order = tuple(ranks[n][chosen[n].key] if n in chosen else _LARGE for n in names)
                if not found or (cost, order) < found[0][0]:
                    found[:] = [((cost, order), dict(chosen))]
                return
            name = rest[0][0]
            for entry in self.domains.get(name, ()):
                if not all(self.fits(entry.version, b) for n, b, _ in rest if n == name):
                    continue
                if any(self.clash(name, entry, other, taken) for other, taken in chosen.items()):
                    continue
                kin = family.get(name)
                if kin is not None and any(
                    family.get(other) == kin and taken.key[0][0] != entry.key[0][0]
                    for other, taken in chosen.items()
                ):
                    continue
                add = self.cost(name, entry)
                total = (cost[0] + add[0], cost[1] + add[1])
                extend({**chosen, name: entry}, [*wanted, *entry.needs], opened, total)

        extend({}, roots, frozenset(), (0, 0))
        return found[0][1] if found else None

    def answer(self) -> tuple[int, Any]:
        """Return the exit status and the answer."""
        roots: list[Need] = [(name, bounds, extras) for _, name, bounds, extras in self.roots]
        chosen = self.best(roots)
        if chosen is None:
            if not self.on("blocked"):
                return 3, {"blocked_by": self.roots[-1][0]}
            for count in range(1, len(roots) + 1):
                if self.best(roots[:count]) is None:
                    return 3, {"blocked_by": self.roots[count - 1][0]}
        assert chosen is not None
        changes = stale = 0
        for name, entry in chosen.items():
            pair = self.cost(name, entry)
            stale += self.domains[name].index(entry)
            refresh = self.request.get("refresh", False) and self.day >= self.house.refresh_day
            changes += pair[1] if refresh and self.on("refresh") else pair[0]
        lock = {name: entry.version for name, entry in sorted(chosen.items())}
        return 0, {"lock": lock, "changes": changes, "stale": stale}


def resolve(
    house: House,
    registers: Registers,
    request: Mapping[str, Any],
    off: frozenset[str] = frozenset(),
) -> tuple[int, Any]:
    """Return the exit status and the answer to a request, with some rules left out."""
    return LockResolution(house, registers, request, off).answer()
