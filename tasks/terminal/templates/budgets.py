"""Correct programs that are far too slow for the expected inputs."""

from typing import Any

from hexathlon.tasks.terminal.draft import TerminalDraft, put, template

_BUDGET = 2.5
"""Processor seconds of all processes of a probe: the two of the task, and the probe's own shell."""

_SLOW_PAIRS = """import sys

def solve(numbers):
    best = 0
    for i, a in enumerate(numbers):
        for b in numbers[i + 1:]:
            if (a {op} b) % {mod} == {rest}:
                best += 1
    return best

print(solve([int(line) for line in sys.stdin]))
"""


_FAST_PAIRS = """import sys
from collections import Counter

def solve(numbers):
    seen, best = Counter(), 0
    for b in numbers:
        best += seen[{wanted}]
        seen[b % {mod}] += 1
    return best

print(solve([int(line) for line in sys.stdin]))
"""


@template("perf_pairs", ("easy", "medium"))
def perf_pairs(draft: TerminalDraft) -> None:
    """Count pairs among very many numbers within a few seconds of CPU time."""
    dice = draft.dice
    minus = dice.chance(0.5)
    mod, rest = dice.whole(1_000, 9_000), dice.whole(1, 900)
    fill = {"op": "-" if minus else "+", "mod": mod, "rest": rest}
    slow = _SLOW_PAIRS.format(**fill)
    wanted = f"({rest} {'+' if minus else '-'} b) % {mod}"
    right = _FAST_PAIRS.format(mod=mod, wanted=wanted)
    draft.file("pairs.py", slow)
    count = 60_000
    what = "the first number less the second" if minus else "the sum of both numbers"
    draft.say(
        "`python3 pairs.py` reads whole numbers, one a line, and prints how many pairs of places "
        f"i < j there are for which {what} leaves {rest} when divided by {mod} (the remainder is "
        f"never negative). It is right, but far too slow. Make it give the same answers for "
        f"{count:,} numbers in 2 seconds of processor time, that of all its "
        f"processes together, and 200 MB of memory. Numbers may be negative, and as "
        "large as 10**12."
    )

    def expected(numbers: list[int]) -> int:
        counted: dict[int, int] = {}
        pairs = 0
        for number in reversed(numbers):
            want = (number - rest if minus else rest - number) % mod
            pairs += counted.get(want, 0)
            counted[number % mod] = counted.get(number % mod, 0) + 1
        return pairs

    seed, step = dice.whole(1, 10**6), dice.whole(10**5, 10**6) | 1
    # Inputs too large to be stored come from a rule that the probe runs as well.
    rule = (
        f"x = {seed}\nfor _ in range({count}):\n    x = (x * 1103515245 + {step}) % 2**31\n"
        "    print(x * 97 - 10**11)\n"
    )
    numbers, x = [], seed
    for _ in range(count):
        x = (x * 1103515245 + step) % 2**31
        numbers.append(x * 97 - 10**11)
    draft.probe(
        "large",
        "ulimit -t 2 -v 400000; python3 pairs.py < held.txt",
        setup="python3 held.py > held.txt",
        cpu=_BUDGET,
        files={"held.py": rule},
        number=expected(numbers),
        seconds=30.0,
    )
    for number in range(3):
        small = [dice.whole(-(10**12), 10**12) for _ in range(60)]
        small += [n + (-rest if minus else 0) + mod * dice.whole(-5, 5) for n in small[:10]]
        small += [rest - n for n in small[:10]]
        draft.probe(
            f"small_{number}",
            "python3 pairs.py",
            number=expected(small),
            stdin="".join(f"{n}\n" for n in small),
        )
    draft.program(
        "pairs.py",
        right,
        {
            "unordered": ("best += seen", "best += 2 * seen"),
            "after": (
                f"        best += seen[{wanted}]\n        seen[b % {mod}] += 1",
                f"        seen[b % {mod}] += 1\n        best += seen[{wanted}]",
            ),
            "no_remainder": (f"seen[b % {mod}]", "seen[b]"),
        },
        mode="644",
    )
    # Whether a number pairs with itself matters only if its double leaves the remainder.
    half = [n for n in range(mod) if ((0 if minus else 2 * n) - rest) % mod == 0][:1]
    draft.probe(
        "itself",
        "python3 pairs.py",
        stdin="".join(f"{n}\n" for n in [*half, *half, 1]),
        number=expected([*half, *half, 1]),
    )
    if not half:
        del draft.other_mutants["after"]
        draft.mutant("slow", put("pairs.py", slow))
    array = (
        f"import sys\nnumbers = [int(line) % {mod} for line in sys.stdin]\nseen = [0] * {mod}\n"
        f"best = 0\nfor b in numbers:\n    best += seen[{wanted}]\n    seen[b] += 1\nprint(best)\n"
    )
    draft.alternative("array", put("pairs.py", array))


_SLOW_WINDOW = """import sys

values, width = [], int(sys.argv[1])
for line in sys.stdin:
    values.append(int(line))
    window = values[-width:]
    print({what})
"""


@template("perf_window", ("easy", "medium"))
def perf_window(draft: TerminalDraft) -> None:
    """Compute a statistic over a sliding window, for long windows and long inputs."""
    dice = draft.dice
    kind = dice.pick(("max", "min", "spread", "distinct"))
    what = {
        "max": "max(window)",
        "min": "min(window)",
        "spread": "max(window) - min(window)",
        "distinct": "len(set(window))",
    }[kind]
    words = {
        "max": "the largest",
        "min": "the smallest",
        "spread": "the difference of the largest and the smallest",
        "distinct": "the number of different ones",
    }[kind]
    scale, shift = dice.whole(2, 9), dice.whole(1, 99)
    transform = f"({what}) * {scale} + {shift}"
    slow = _SLOW_WINDOW.format(what=transform)
    draft.file("window.py", slow)
    count, width = 40_000, dice.whole(12_000, 18_000)
    draft.say(
        "`python3 window.py WIDTH` reads whole numbers, one a line, and prints for each the figure "
        f"{scale} times {words} of the last WIDTH numbers so far (of all, while there are fewer), "
        f"plus {shift}. It is right, but takes time in proportion to WIDTH for each line. Make it "
        f"give the same for {count:,} lines and a WIDTH of some 15,000 in 2 seconds of processor "
        "time, that of all its processes together, and 200 MB of memory, whatever the numbers: "
        "rising, falling or any."
    )

    def expected(values: list[int], wide: int) -> list[int]:
        made = []
        counted: dict[int, int] = {}
        for place, value in enumerate(values):
            counted[value] = counted.get(value, 0) + 1
            if place >= wide:
                old = values[place - wide]
                counted[old] -= 1
                if not counted[old]:
                    del counted[old]
            figure = {"max": max(counted), "min": min(counted), "distinct": len(counted)}.get(kind)
            spread = max(counted) - min(counted)
            made.append((spread if figure is None else figure) * scale + shift)
        return made

    for number in range(3):
        values = [dice.whole(-20, 20) for _ in range(80)]
        wide = dice.pick((1, 2, 5, 9, 200))
        draft.probe(
            f"small_{number}",
            f"python3 window.py {wide}",
            stdin="".join(f"{v}\n" for v in values),
            text="\n".join(map(str, expected(values, wide))),
        )
    draft.probe(
        "rising",
        "python3 window.py 4",
        stdin="".join(f"{n}\n" for n in range(12)),
        text="\n".join(map(str, expected(list(range(12)), 4))),
    )
    draft.probe(
        "falling",
        "python3 window.py 4",
        stdin="".join(f"{-n}\n" for n in range(12)),
        text="\n".join(map(str, expected([-n for n in range(12)], 4))),
    )
    # Large inputs: a rule generates the numbers, and a weighted sum stands for the output.
    rising = "n" if kind == "min" else "-n"
    for name, formula in (
        (("large", rising),)
        if dice.chance(0.5)
        else (("large", f"n * {dice.whole(3, 99) * 2 + 1} % 1009"),)
    ):
        values = [eval_formula(formula, n) for n in range(count)]
        total = _window_sum(values, width, kind, scale, shift)
        rule = f"for n in range({count}):\n    print({formula})\n"
        draft.probe(
            name,
            f"(ulimit -t 2 -v 400000; python3 window.py {width} < held.txt)"
            " | awk '{ s = (s + $1 * (NR % 7 + 1)) % 1000003 } END { print NR, s }'",
            setup="python3 held.py > held.txt",
            cpu=_BUDGET,
            files={"held.py": rule},
            text=f"{count} {total}",
            seconds=30.0,
        )
    queue = {
        "max": "    while q and values[q[-1]] <= value: q.pop()\n",
        "min": "    while q and values[q[-1]] >= value: q.pop()\n",
    }
    head = (
        "import sys\nfrom collections import Counter, "
        "deque\n\nvalues, width = [], int(sys.argv[1])\n"
    )
    loop = (
        "for place, line in enumerate(sys.stdin):\n    "
        "value = int(line)\n    values.append(value)\n"
    )
    if kind in queue:
        body = (
            head
            + "q = deque()\n"
            + loop
            + queue[kind]
            + (
                "    q.append(place)\n    if q[0] <= place - width: q.popleft()\n"
                f"    print(values[q[0]] * {scale} + {shift})\n"
            )
        )
        faults = {
            "one_longer": ("<= place - width", "< place - width"),
            "never_leaves": ("    if q[0] <= place - width: q.popleft()\n", ""),
            "other_end": ("values[q[0]]", "values[q[-1]]"),
        }
    elif kind == "spread":
        body = (
            head
            + "q, r = deque(), deque()\n"
            + loop
            + (
                "    while q and values[q[-1]] <= value: q.pop()\n"
                "    while r and values[r[-1]] >= value: r.pop()\n"
                "    q.append(place)\n    r.append(place)\n "
                "   if q[0] <= place - width: q.popleft()\n"
                "    if r[0] <= place - width: r.popleft()\n"
                f"    print((values[q[0]] - values[r[0]]) * {scale} + {shift})\n"
            )
        )
        faults = {
            "one_longer": ("q[0] <= place - width", "q[0] < place - width"),
            "never_leaves": ("    if r[0] <= place - width: r.popleft()\n", ""),
            "other_end": ("values[r[0]]", "values[r[-1]]"),
        }
    else:
        body = (
            head
            + "counts = Counter()\n"
            + loop
            + (
                "    counts[value] += 1\n    if place >= "
                "width:\n        old = values[place - width]\n"
                "        counts[old] -= 1\n        if not counts[old]: del counts[old]\n"
                f"    print(len(counts) * {scale} + {shift})\n"
            )
        )
        faults = {
            "one_longer": ("place >= width", "place > width"),
            "never_leaves": ("        if not counts[old]: del counts[old]\n", ""),
            "all_gone": ("counts[old] -= 1", "counts[old] = 0"),
        }
    draft.program("window.py", body, faults, mode="644")
    draft.mutant("slow", put("window.py", slow))
    heap = head + (
        "import heapq\nlow, high, counts = [], [], Counter()\n"
        + loop
        + "    heapq.heappush(low, (value, place))\n    heapq.heappush(high, (-value, place))\n"
        "    counts[value] += 1\n    if place >= width:\n        old = values[place - width]\n"
        "        counts[old] -= 1\n        if counts[old] == 0: counts.pop(old)\n"
        "    while low[0][1] <= place - width: heapq.heappop(low)\n"
        "    while high[0][1] <= place - width: heapq.heappop(high)\n"
        "    figure = {'max': -high[0][0], 'min': low[0][0], 'spread': -high[0][0] - low[0][0],\n"
        f"              'distinct': "
        f"len(counts)}}['{kind}']\n    print(figure * {scale} + {shift})\n"
    )
    draft.alternative("heaps", put("window.py", heap))


def eval_formula(formula: str, n: int) -> int:
    """Evaluate one of the two rules for large inputs."""
    if formula in ("n", "-n"):
        return n if formula == "n" else -n
    return n * int(formula.split()[2]) % 1009


def _window_sum(values: list[int], width: int, kind: str, scale: int, shift: int) -> int:
    """Return awk's weighted sum of the correct output; awk's remainder keeps the sign."""
    from collections import deque

    lows: deque[int] = deque()
    highs: deque[int] = deque()
    counts: dict[int, int] = {}
    total = 0
    for place, value in enumerate(values):
        while highs and values[highs[-1]] <= value:
            highs.pop()
        while lows and values[lows[-1]] >= value:
            lows.pop()
        highs.append(place)
        lows.append(place)
        counts[value] = counts.get(value, 0) + 1
        if place >= width:
            old = values[place - width]
            counts[old] -= 1
            if not counts[old]:
                del counts[old]
        for queue in (lows, highs):
            if queue[0] <= place - width:
                queue.popleft()
        high, low = values[highs[0]], values[lows[0]]
        figure: Any = {"max": high, "min": low, "spread": high - low, "distinct": len(counts)}[kind]
        term = total + (figure * scale + shift) * ((place + 1) % 7 + 1)
        total = abs(term) % 1_000_003 * (1 if term >= 0 else -1)
    return total
