"""The program that answers requests by splitting them into parts, and its variants."""

from hexathlon.tasks.terminal.draft import faulty
from hexathlon.tasks.terminal.templates.long.resolve.faults import FAULTS
from hexathlon.tasks.terminal.templates.long.resolve.house import House
from hexathlon.tasks.terminal.templates.long.resolve.searches import MEMO, NAIVE, PARTS

__all__ = ["alternative_text", "naive_text", "program_text", "starting_text"]

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
NEED = re.compile(r"^([A-Za-z][A-Za-z0-9_-]*)(?:\\[([^\\]]*)\\])?\\s*([^;]*?)\\s*(?:;(.*))?$")


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
            if "ceiling" in TWISTS and v[0] == b[0] and v[1] == -1 != b[1]:
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
            name, bounds, wanted, extras = self.need(text)
            if wanted:
                self.roots.append((name, bounds, text, extras))
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
        self.downgrade = DOWNGRADE[self.day >= DOWNGRADE_DAY]
        self.closed = {row["day"] for row in register("closed")} if "workdays" in TWISTS else set()
        self.frozen = "freeze" in TWISTS and any(
            row["from"] <= self.day <= row["until"] for row in register("freezes")
        )
        self.breaks = {}
        self.choices = {}
        for name in self.listed:
            self.admit(name)

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
        bounds_of(found[3])
        wanted = True
        if found[4] is not None:
            wanted = False
            for option in found[4].strip().split(" or "):
                words = option.split()
                if len(words) == 2 and words[0] == "not":
                    wanted |= not self.here(words[1])
                elif len(words) == 1:
                    wanted |= self.here(words[0])
                else:
                    raise BadRequest(text)
        extras = found[2].split(",") if found[2] and "extras" in TWISTS else []
        return self.current(canonical(found[1])), found[3], wanted, extras

    def needed(self, name, texts):
        """Return needs; an extra is a package of its own that needs the very version it is of."""
        needs = []
        for text in texts:
            other, bounds, wanted, extras = self.need(text)
            if wanted and other != name:
                needs.append((other, bounds))
                needs += [(f"{other}[{extra}]", bounds) for extra in extras]
        return needs

    def admit(self, name):
        table = {v: e for v, e in self.listed[name].items() if e["published"] <= self.day}
        made = []
        for v in sorted(table, reverse=True):
            needs = self.needed(name, table[v].get("needs", []))
            if self.allowed(name, v, table[v], table):
                made.append((v, table[v]["version"], needs))
        if self.frozen and name in self.lock:
            made = [each for each in made if each[0] == self.lock[name]] or made
        self.choices[name] = made
        for v, version, _ in made:
            if "breaks" in TWISTS:
                self.breaks[name, v] = self.needed(name, table[v].get("breaks", []))
            for extra, texts in table[v].get("extras", {}).items():
                needs = [(name, "==" + version), *self.needed(name, texts)]
                self.choices.setdefault(f"{name}[{extra}]", []).append((v, version, needs))

    def clash(self, name, v, other, w):
        for one, x, two, y in ((name, v, other, w), (other, w, name, v)):
            for broken, bounds in self.breaks.get((one, x), []):
                if broken == two and satisfies(y, bounds):
                    return True
        return False

    def aims(self, name):
        """Return the packages that some version of this one breaks."""
        found = set()
        for v, _, _ in self.choices.get(name, []):
            found.update(other for other, _ in self.breaks.get((name, v), []))
        return found

    def allowed(self, name, v, entry, table):
        kept = self.lock.get(name) == v
        if v[1] == -1:
            named = any(root == name and "rc" in bounds for root, bounds, *_ in self.roots)
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
        if not free and self.rested(entry["published"]) < wait:
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
        exact = any(root == name and "==" in bounds for root, bounds, *_ in self.roots)
        if not (exact and "exact_root_beats_pin" in TWISTS):
            if not all(satisfies(v, bound) for bound in self.pins.get(name, [])):
                return False
        return True

    def rested(self, since):
        if "workdays" not in TWISTS or self.day < WORKDAY_DAY:
            return days(since, self.day)
        first, count = date.fromisoformat(since).toordinal(), 0
        for number in range(first + 1, date.fromisoformat(self.day).toordinal() + 1):
            day = date.fromordinal(number)
            count += day.isoweekday() < 6 and day.isoformat() not in self.closed
        return count

    def price(self, name, v, rank):
        if "[" in name:
            return (0, 0)
        old = self.lock.get(name)
        if old is None:
            moved = 1 if "added_counts" in TWISTS else 0
        elif old == v:
            moved = 0
        else:
            moved = self.downgrade if v < old else 1
            if "major_counts" in TWISTS and v[0][0] != old[0][0]:
                moved += 1
        return (rank, moved) if self.refresh else (moved, rank)


SEARCH

def answer(request):
    world = World(request)
    def first(count):
        wanted = []
        for name, bounds, _, extras in world.roots[:count]:
            wanted += [(name, bounds), *((f"{name}[{extra}]", bounds) for extra in extras)]
        return wanted

    best = Search(world).best(first(len(world.roots)))
    if best is None:
        count = 1
        while Search(world).best(first(count)) is not None:
            count += 1
        return 3, {"blocked_by": world.roots[count - 1][2]}
    changes, stale, picked = best
    if world.refresh:
        changes, stale = stale, changes
    lock = {name: world.choices[name][rank][1] for name, rank in picked if "[" not in name}
    return 0, {"lock": dict(sorted(lock.items())), "changes": changes, "stale": stale}


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


def _constants(house: House, left_out: str = "") -> str:
    twists = sorted(house.twists - {left_out})
    return (
        f"TWISTS = set({twists!r})\nPREFIX = {house.prefix!r}\nQUARANTINE = {house.quarantine!r}\n"
        f"QUARANTINE_DAY = {house.quarantine_day!r}\nCANDIDATE_DAY = {house.candidate_day!r}\n"
        f"LICENCE_DAY = {house.licence_day!r}\nADVISORY_DAY = {house.advisory_day!r}\n"
        f"REFRESH_DAY = {house.refresh_day!r}\nDENIED = {house.denied!r}\n"
        f"WORKDAY_DAY = {house.workday_day!r}\nDOWNGRADE_DAY = {house.downgrade_day!r}\n"
        f"DOWNGRADE = {house.downgrade}\nYANK_DAYS = {house.yank_days}\n"
        f"ADVISORY_DAYS = {house.advisory_days}\n"
    )


def program_text(house: House, left_out: str = "", search: str = PARTS) -> str:
    """Return the program, without a rule if one is named.

    Raises:
        ValueError: If leaving out the rule changes nothing.
    """
    text = _PROGRAM.replace("SEARCH\n", search, 1)
    text = faulty(text, FAULTS, [left_out] if left_out in FAULTS else [])
    return text.replace("CONSTANTS", _constants(house, left_out), 1)


def alternative_text(house: House) -> str:
    """Return a program that remembers solved rests instead of splitting them."""
    return program_text(house, search=MEMO)


def naive_text(house: House) -> str:
    """Return a program that is right and tries every combination."""
    return program_text(house, search=NAIVE)


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
