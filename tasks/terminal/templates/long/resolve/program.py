"""The program that answers requests by splitting them into parts, and its near misses."""

from hexathlon.tasks.terminal.templates.long.resolve.house import House

__all__ = ["FAULTS", "alternative_text", "naive_text", "program_text", "starting_text"]

_PROGRAM = '''#!/usr/bin/env python3
"""resolve.py: write lock files by the rules in policy/; docs/format.md has the format."""
import csv, json, os, re, sys
from datetime import date
from functools import lru_cache

sys.setrecursionlimit(100000)
HERE = os.path.dirname(os.path.abspath(__file__))
CONSTANTS
VERSION = re.compile(r"^(\\d+(?:\\.\\d+)*)(rc|\\.post)?(?(2)(\\d+))$")
BOUND = re.compile(r"^(>=|<=|==|!=|<|>|~)\\s*(\\d+(?:\\.\\d+)*(?:rc\\d+|\\.post\\d+)?)$")
NEED = re.compile(r"^([A-Za-z][A-Za-z0-9_-]*)\\s*([^;]*?)\\s*(?:;(.*))?$")


class BadRequest(Exception):
    pass


@lru_cache(None)
def order(text):
    found = VERSION.match(text)
    if not found:
        raise BadRequest(text)
    release = [int(n) for n in found[1].split(".")]
    while release[1:] and release[-1] == 0:
        release.pop()
    stage = {"rc": -1, None: 0, ".post": 1}[found[2]]
    return (tuple(release), stage, int(found[3] or 0))


@lru_cache(None)
def bounds_of(text):
    made = []
    for piece in text.split(",") if text.strip() else []:
        found = BOUND.match(piece.strip())
        if not found:
            raise BadRequest(piece)
        made.append((found[1], order(found[2])))
    return tuple(made)


@lru_cache(None)
def satisfies(v, text):
    for sign, b in bounds_of(text):
        if sign == ">=": good = v >= b
        elif sign == "<=": good = v <= b
        elif sign == "==": good = v == b
        elif sign == "!=": good = v != b
        elif sign == ">": good = v > b
        elif sign == "~": good = v >= b and v[0][0] == b[0][0]
        else:
            good = v < b
            if "ceiling" in TWISTS and v[0] == b[0] and b[1] != -1:
                good = False
        if not good:
            return False
    return True


def canonical(name):
    return name.lower().replace("_", "-")


def days(a, b):
    return (date.fromisoformat(b) - date.fromisoformat(a)).days


def register(name):
    with open(os.path.join(HERE, "registers", name + ".csv")) as file:
        return list(csv.DictReader(file))


class World:
    def __init__(self, request):
        self.request = request
        self.day = request["day"]
        self.platform = request["platform"]
        self.renames = {}
        for row in register("renames"):
            if row["from"] <= self.day and "renames" in TWISTS:
                self.renames[canonical(row["old"])] = canonical(row["new"])
        self.listed = {}
        for name, entries in request["index"].items():
            table = self.listed.setdefault(canonical(name), {})
            for entry in entries:
                table[order(entry["version"])] = entry
        self.roots = []
        for text in request["roots"]:
            name, bounds, wanted = self.need(text)
            if wanted:
                self.roots.append((name, bounds, text))
        given = {canonical(n): v for n, v in (request.get("lock") or {}).items()}
        self.lock = {}
        for name, version in given.items():
            now = self.current(name)
            if now != name and now in given:
                continue
            if order(version) in self.listed.get(now, {}):
                self.lock[now] = order(version)
        self.pins = {}
        for row in register("pins"):
            if row["from"] <= self.day and (row["until"] == "" or self.day <= row["until"]):
                name = self.current(canonical(row["package"]))
                if "last_pin_only" in TWISTS:
                    self.pins[name] = [row["bound"]]
                else:
                    self.pins.setdefault(name, []).append(row["bound"])
        self.family = {}
        if "families" in TWISTS:
            for row in register("families"):
                self.family[self.current(canonical(row["package"]))] = row["family"]
        self.refresh = bool(
            "refresh" in TWISTS and request.get("refresh") and self.day >= REFRESH_DAY
        )
        self.choices = {name: self.admitted(name) for name in self.listed}

    def current(self, name):
        while name in self.renames:
            name = self.renames[name]
        return name

    def here(self, word):
        return self.platform == word or self.platform.startswith(word + "-")

    def need(self, text):
        found = NEED.match(text.strip())
        if not found:
            raise BadRequest(text)
        bounds_of(found[2])
        wanted = True
        if found[3] is not None:
            wanted = False
            for option in found[3].strip().split(" or "):
                words = option.split()
                if len(words) == 2 and words[0] == "not":
                    wanted |= not self.here(words[1])
                elif len(words) == 1:
                    wanted |= self.here(words[0])
                else:
                    raise BadRequest(text)
        return self.current(canonical(found[1])), found[2], wanted

    def admitted(self, name):
        table = {v: e for v, e in self.listed[name].items() if e["published"] <= self.day}
        made = []
        for v in sorted(table, reverse=True):
            needs = []
            for text in table[v].get("needs", []):
                other, bounds, wanted = self.need(text)
                if wanted and other != name:
                    needs.append((other, bounds))
            if self.allowed(name, v, table[v], table):
                made.append((v, table[v]["version"], needs))
        return made

    def allowed(self, name, v, entry, table):
        kept = self.lock.get(name) == v
        if v[1] == -1:
            named = any(root == name and "rc" in bounds for root, bounds, _ in self.roots)
            if "only_candidates" in TWISTS and all(other[1] == -1 for other in table):
                named = True
            if self.day < CANDIDATE_DAY or not named:
                return False
        if "platforms" in entry and not any(self.here(word) for word in entry["platforms"]):
            return False
        wait = QUARANTINE[1] if self.day >= QUARANTINE_DAY else QUARANTINE[0]
        free = kept
        if "house_exempt" in TWISTS and name.startswith(PREFIX):
            free = True
        if "closes_exempt" in TWISTS and name in self.lock:
            against = self.listed[name][self.lock[name]].get("advisories", [])
            known = {a["id"] for a in against if a["day"] <= self.day}
            free = free or bool(known & set(entry.get("closes", [])))
        if not free and days(entry["published"], self.day) < wait:
            return False
        yanked = entry.get("yanked")
        if yanked and yanked["day"] <= self.day:
            if not kept or yanked["reason"] == "security":
                return False
            if "yank_grace" in TWISTS and days(yanked["day"], self.day) > YANK_DAYS:
                return False
        if self.day >= ADVISORY_DAY:
            for advisory in entry.get("advisories", []):
                grace = ADVISORY_DAYS if kept and "advisory_grace" in TWISTS else -1
                if advisory["day"] <= self.day and days(advisory["day"], self.day) > grace:
                    return False
        if self.day >= LICENCE_DAY and not kept:
            licence = entry.get("licence")
            if licence in DENIED:
                return False
            if licence is None and "no_licence" in TWISTS and entry["published"] >= LICENCE_DAY:
                return False
        exact = any(root == name and "==" in bounds for root, bounds, _ in self.roots)
        if not (exact and "exact_root_beats_pin" in TWISTS):
            if not all(satisfies(v, bound) for bound in self.pins.get(name, [])):
                return False
        return True

    def price(self, name, v, rank):
        old = self.lock.get(name)
        if old is None:
            moved = 1 if "added_counts" in TWISTS else 0
        elif old == v:
            moved = 0
        else:
            moved = DOWNGRADE if v < old else 1
            if "major_counts" in TWISTS and v[0][0] != old[0][0]:
                moved += 1
        return (rank, moved) if self.refresh else (moved, rank)


SEARCH

def answer(request):
    world = World(request)
    roots = [(name, bounds) for name, bounds, _ in world.roots]
    best = Search(world).best(roots)
    if best is None:
        count = 1
        while Search(world).best(roots[:count]) is not None:
            count += 1
        return 3, {"blocked_by": world.roots[count - 1][2]}
    first, second, picked = best
    if world.refresh:
        first, second = second, first
    lock = {name: world.choices[name][rank][1] for name, rank in picked}
    return 0, {"lock": dict(sorted(lock.items())), "changes": first, "stale": second}


def main():
    try:
        status, made = answer(json.load(sys.stdin))
    except (BadRequest, KeyError, TypeError, ValueError, AttributeError):
        print("bad request", file=sys.stderr)
        sys.exit(2)
    print(json.dumps(made, indent=1))
    sys.exit(status)


if __name__ == "__main__":
    main()
'''

_PARTS = '''class Search:
    """Choose a package, then split what is left into parts that cannot reach each other."""

    def __init__(self, world):
        self.world = world
        self.reached = {}

    def reach(self, name, chosen):
        seen, todo = set(), [name]
        while todo:
            at = todo.pop()
            if at in seen or at in chosen:
                continue
            seen.add(at)
            for _, _, needs in self.world.choices.get(at, []):
                todo += [other for other, _ in needs]
        return seen | {"family " + self.world.family[n] for n in seen if n in self.world.family}

    def best(self, roots):
        return self.solve(self.join({}, roots), {})

    @staticmethod
    def join(wanted, needs):
        wanted = dict(wanted)
        for name, bounds in needs:
            wanted[name] = wanted.get(name, ()) + (bounds,)
        return wanted

    def parts(self, wanted, chosen):
        groups = []
        for name in wanted:
            names, area = {name}, self.reach(name, chosen)
            apart = []
            for other in groups:
                if other[1] & area:
                    names |= other[0]
                    area |= other[1]
                else:
                    apart.append(other)
            groups = apart + [(names, area)]
        return [{name: wanted[name] for name in names} for names, _ in groups]

    def solve(self, wanted, chosen):
        total, picked = (0, 0), []
        for part in self.parts(wanted, chosen):
            best = self.one(part, chosen)
            if best is None:
                return None
            total = (total[0] + best[0], total[1] + best[1])
            picked += best[2]
        return (*total, sorted(picked))

    def one(self, wanted, chosen):
        hubs = self.hubs(wanted)
        name = min(wanted, key=lambda n: (n not in hubs, n))
        rest = {n: b for n, b in wanted.items() if n != name}
        best = None
        kin = self.world.family.get(name)
        for rank, (v, _, needs) in enumerate(self.world.choices.get(name, [])):
            if not all(satisfies(v, bounds) for bounds in wanted[name]):
                continue
            if kin is not None and any(
                self.world.family.get(n) == kin and w[0][0] != v[0][0] for n, w in chosen.items()
            ):
                continue
            if not all(satisfies(chosen[n], b) for n, b in needs if n in chosen):
                continue
            more = [(n, b) for n, b in needs if n not in chosen]
            left = self.solve(self.join(rest, more), {**chosen, name: v})
            if left is None:
                continue
            price = self.world.price(name, v, rank)
            found = (left[0] + price[0], left[1] + price[1], sorted([*left[2], (name, rank)]))
            if best is None or better(found, best):
                best = found
        return best

    def hubs(self, wanted):
        counts = {}
        for name in wanted:
            for other in self.reach(name, {}):
                counts[other] = counts.get(other, 0) + 1
        most = max(counts.values())
        return {name for name, count in counts.items() if count == most}


def better(a, b):
    """Fewer of the first, then of the second, then the newer version of the first name."""
    if a[:2] != b[:2]:
        return a[:2] < b[:2]
    one, two = dict(a[2]), dict(b[2])
    for name in sorted({*one, *two}):
        if one.get(name) != two.get(name):
            return one.get(name, 10**9) < two.get(name, 10**9)
    return False
'''

_MEMO = '''class Search:
    """Depth first; what is left is solved once for each set of open needs and relevant choices."""

    def __init__(self, world):
        self.world = world
        self.known = {}
        self.closure = {}

    def below(self, name):
        if name not in self.closure:
            seen, todo = set(), [name]
            while todo:
                at = todo.pop()
                if at not in seen:
                    seen.add(at)
                    for _, _, needs in self.world.choices.get(at, []):
                        todo += [other for other, _ in needs]
            self.closure[name] = seen
        return self.closure[name]

    def best(self, roots):
        wanted = {}
        for name, bounds in roots:
            wanted = self.limit(wanted, name, bounds)
        return self.solve(wanted, {})

    def limit(self, wanted, name, bounds):
        old = wanted.get(name, range(len(self.world.choices.get(name, []))))
        kept = tuple(r for r in old if satisfies(self.world.choices[name][r][0], bounds))
        return {**{n: k for n, k in wanted.items() if n != name}, name: kept}

    def solve(self, wanted, chosen):
        if not wanted:
            return (0, 0, [])
        area = set().union(*(self.below(n) for n in wanted))
        kin = {self.world.family[n] for n in area if n in self.world.family}
        relevant = {n: r for n, r in chosen.items() if n in area or self.world.family.get(n) in kin}
        key = (tuple(wanted.items()), frozenset(relevant.items()))
        if key not in self.known:
            self.known[key] = self.work(wanted, relevant)
        return self.known[key]

    def work(self, wanted, chosen):
        areas = {n: self.below(n) for n in wanted}
        name = list(wanted)[-1]
        for other in wanted:
            if sum(other in area for area in areas.values()) > 1:
                name = other
        best = None
        for rank in wanted[name]:
            v, _, needs = self.world.choices[name][rank]
            rest = {n: k for n, k in wanted.items() if n != name}
            good = True
            for other, took in chosen.items():
                same = self.world.family.get(other)
                if same is not None and same == self.world.family.get(name):
                    good = good and self.world.choices[other][took][0][0][0] == v[0][0]
            for other, bounds in needs:
                if other in chosen:
                    good = good and satisfies(self.world.choices[other][chosen[other]][0], bounds)
                else:
                    rest = self.limit(rest, other, bounds)
                    good = good and bool(rest[other])
            left = self.solve(rest, {**chosen, name: rank}) if good else None
            if left is None:
                continue
            price = self.world.price(name, v, rank)
            found = (left[0] + price[0], left[1] + price[1], sorted([*left[2], (name, rank)]))
            if best is None or rating(found) < rating(best):
                best = found
        return best


class Order:
    """Places in the order of names; a name that is missing is worse than any version."""

    def __init__(self, picked):
        self.picked = picked

    def __lt__(self, other):
        for (a, x), (b, y) in zip(self.picked, other.picked):
            if a != b:
                return a < b
            if x != y:
                return x < y
        return len(self.picked) > len(other.picked)

    def __eq__(self, other):
        return self.picked == other.picked


def rating(found):
    return (found[0], found[1], Order(found[2]))
'''

_NAIVE = '''class Search:
    """Every combination, cut where it is already dearer than the best."""

    def __init__(self, world):
        self.world = world

    def best(self, roots):
        self.found = None
        self.extend(roots, {}, (0, 0))
        return self.found

    def extend(self, needs, chosen, cost):
        if self.found is not None and cost > self.found[:2]:
            return
        for name, bounds in needs:
            if name in chosen and not satisfies(self.world.choices[name][chosen[name]][0], bounds):
                return
        rest = [need for need in needs if need[0] not in chosen]
        if not rest:
            made = (*cost, sorted(chosen.items()))
            if self.found is None or made[:2] < self.found[:2] or self.newer(made):
                self.found = made
            return
        name = rest[0][0]
        kin = self.world.family.get(name)
        for rank, (v, _, more) in enumerate(self.world.choices.get(name, [])):
            if not all(satisfies(v, b) for n, b in rest if n == name):
                continue
            if kin is not None and any(
                self.world.family.get(n) == kin and self.world.choices[n][r][0][0][0] != v[0][0]
                for n, r in chosen.items()
            ):
                continue
            price = self.world.price(name, v, rank)
            total = (cost[0] + price[0], cost[1] + price[1])
            self.extend(rest + more, {**chosen, name: rank}, total)

    def newer(self, made):
        if made[:2] != self.found[:2]:
            return False
        one, two = dict(made[2]), dict(self.found[2])
        for name in sorted({*one, *two}):
            if one.get(name) != two.get(name):
                return one.get(name, 10**9) < two.get(name, 10**9)
        return False
'''

FAULTS: dict[str, tuple[str, str]] = {
    "future": ('if e["published"] <= self.day}', "}"),
    "candidate_order": ('"rc": -1, None: 0', '"rc": 0.5, None: 0'),
    "candidates": ("if v[1] == -1:", "if False:"),
    "candidate_era": ("if self.day < CANDIDATE_DAY or not named:", "if not named:"),
    "quarantine": ("if not free and days", "if False and days"),
    "quarantine_boundary": (
        'days(entry["published"], self.day) < wait',
        'days(entry["published"], self.day) <= wait',
    ),
    "quarantine_era": (
        "QUARANTINE[1] if self.day >= QUARANTINE_DAY else QUARANTINE[0]",
        "QUARANTINE[1]",
    ),
    "locked_exempt": ("free = kept", "free = False"),
    "yanked": ('if yanked and yanked["day"]', 'if False and yanked["day"]'),
    "yanked_kept": ('if not kept or yanked["reason"]', 'if True or yanked["reason"]'),
    "yanked_security": ('if not kept or yanked["reason"] == "security":', "if not kept:"),
    "advisory": ("if self.day >= ADVISORY_DAY:", "if False:"),
    "advisory_era": ("if self.day >= ADVISORY_DAY:", "if True:"),
    "platform_family": (
        'self.platform == word or self.platform.startswith(word + "-")',
        "self.platform == word",
    ),
    "platform_empty": ('if "platforms" in entry and', 'if entry.get("platforms") and'),
    "licence": ("if licence in DENIED:", "if False:"),
    "licence_era": ("if self.day >= LICENCE_DAY and not kept:", "if not kept:"),
    "licence_kept": ("if self.day >= LICENCE_DAY and not kept:", "if self.day >= LICENCE_DAY:"),
    "pins": ("self.pins.get(name, [])", "[]"),
    "pin_until": ('(row["until"] == "" or self.day <= row["until"])', "True"),
    "markers": ("if found[3] is not None:", "if False:"),
    "marker_not": ("wanted |= not self.here(words[1])", "wanted |= self.here(words[1])"),
    "relisted": (
        'table[order(entry["version"])] = entry',
        'table.setdefault(order(entry["version"]), entry)',
    ),
    "unlisted_lock": ("if order(version) in self.listed.get(now, {}):", "if True:"),
    "downgrade": ("DOWNGRADE if v < old else 1", "1"),
    "stale": (
        "return (rank, moved) if self.refresh else (moved, rank)",
        "return (0, moved) if self.refresh else (moved, 0)",
    ),
    "names": ('return name.lower().replace("_", "-")', "return name"),
    "blocked": ("world.roots[count - 1][2]", "world.roots[-1][2]"),
    "tilde": ("v >= b and v[0][0] == b[0][0]", "v >= b"),
}
"""Text of the program and its replacement, by the rule that is missed."""


def _constants(house: House, left_out: str = "") -> str:
    twists = sorted(house.twists - {left_out})
    return (
        f"TWISTS = set({twists!r})\nPREFIX = {house.prefix!r}\nQUARANTINE = {house.quarantine!r}\n"
        f"QUARANTINE_DAY = {house.quarantine_day!r}\nCANDIDATE_DAY = {house.candidate_day!r}\n"
        f"LICENCE_DAY = {house.licence_day!r}\nADVISORY_DAY = {house.advisory_day!r}\n"
        f"REFRESH_DAY = {house.refresh_day!r}\nDENIED = {house.denied!r}\n"
        f"DOWNGRADE = {house.downgrade}\nYANK_DAYS = {house.yank_days}\n"
        f"ADVISORY_DAYS = {house.advisory_days}\n"
    )


def program_text(house: House, left_out: str = "", search: str = _PARTS) -> str:
    """Return the program, without a rule if one is named.

    Raises:
        ValueError: If leaving out the rule changes nothing.
    """
    text = _PROGRAM.replace("SEARCH\n", search, 1)
    if left_out in FAULTS:
        old, new = FAULTS[left_out]
        if old not in text:
            raise ValueError(f"leaving out {left_out} changes nothing")
        text = text.replace(old, new)
    return text.replace("CONSTANTS", _constants(house, left_out), 1)


def alternative_text(house: House) -> str:
    """Return a program that remembers solved rests instead of splitting them."""
    return program_text(house, search=_MEMO)


def naive_text(house: House) -> str:
    """Return a program that is right and tries every combination."""
    return program_text(house, search=_NAIVE)


_STARTING = '''#!/usr/bin/env python3
"""resolve.py: write a lock file. Takes the newest version that fits and hopes for the best."""
import json
import sys


def version(text):
    return tuple(int(part) for part in text.split("."))


def fits(text, bounds):
    for bound in filter(None, bounds.split(",")):
        if bound.startswith(">=") and version(text) < version(bound[2:]):
            return False
        if bound.startswith("<") and version(text) >= version(bound[1:]):
            return False
    return True


def main():
    request = json.load(sys.stdin)
    lock, todo = {}, list(request["roots"])
    while todo:
        name, _, bounds = todo.pop(0).partition(" ")
        if name in lock:
            continue
        entries = [e for e in request["index"].get(name, []) if fits(e["version"], bounds)]
        if not entries:
            print(json.dumps({"blocked_by": name}))
            sys.exit(3)
        old = request.get("lock", {}).get(name)
        best = max(entries, key=lambda entry: (entry["version"] == old, version(entry["version"])))
        lock[name] = best["version"]
        todo += best.get("needs", [])
    before = request.get("lock", {})
    changes = sum(name in before and before[name] != lock[name] for name in lock)
    print(json.dumps({"lock": lock, "changes": changes, "stale": 0}, indent=1))


if __name__ == "__main__":
    main()
'''


def starting_text() -> str:
    """Return the program that the task starts from."""
    return _STARTING
