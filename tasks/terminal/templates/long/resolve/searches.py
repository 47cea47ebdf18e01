"""Three ways to search for the best selection: by parts, with a memory, and exhaustively."""

__all__ = ["MEMO", "NAIVE", "PARTS"]

PARTS = '''class Search:
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
            todo += self.world.aims(at)
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
            if any(self.world.clash(name, v, n, w) for n, w in chosen.items()):
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
    for name in sorted(name for name in {*one, *two} if "[" not in name):
        if one.get(name) != two.get(name):
            return one.get(name, 10**9) < two.get(name, 10**9)
    return False
'''

MEMO = '''class Search:
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
                    todo += self.world.aims(at)
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
        relevant = {
            n: r
            for n, r in chosen.items()
            if n in area or self.world.family.get(n) in kin or self.world.aims(n) & area
        }
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
                w = self.world.choices[other][took][0]
                good = good and not self.world.clash(name, v, other, w)
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
    return (found[0], found[1], Order([each for each in found[2] if "[" not in each[0]]))
'''

NAIVE = '''class Search:
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
            if any(
                self.world.clash(name, v, n, self.world.choices[n][r][0]) for n, r in chosen.items()
            ):
                continue
            price = self.world.price(name, v, rank)
            total = (cost[0] + price[0], cost[1] + price[1])
            self.extend(rest + more, {**chosen, name: rank}, total)

    def newer(self, made):
        if made[:2] != self.found[:2]:
            return False
        one, two = dict(made[2]), dict(self.found[2])
        for name in sorted(name for name in {*one, *two} if "[" not in name):
            if one.get(name) != two.get(name):
                return one.get(name, 10**9) < two.get(name, 10**9)
        return False
'''
