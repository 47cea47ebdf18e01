"""Python programs with faults, and programs that are too slow for what comes."""

from datetime import date, timedelta
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from typing import Any

from hexathlon.tasks.terminal.draft import Draft, put, template


def _faulty(text: str, faults: dict[str, tuple[str, str]], chosen: list[str]) -> str:
    for name in chosen:
        old, new = faults[name]
        if old not in text:
            raise ValueError(f"the fault {name} changes nothing")
        text = text.replace(old, new)
    return text


_SLOTS = """def merged(spans):
    result = []
    for start, end in sorted(spans):
        if end <= start:
            continue
        if result and start <= result[-1][1] + GAP:
            result[-1][1] = max(result[-1][1], end)
        else:
            result.append([start, end])
    return result


def free(spans, day_start, day_end, least):
    found, at = [], day_start
    for start, end in merged(spans):
        start, end = max(start, day_start), min(end, day_end)
        if end <= start:
            continue
        if start - at >= least:
            found.append([at, start])
        at = max(at, end)
    if day_end - at >= least:
        found.append([at, day_end])
    return found
"""
_SLOT_MAIN = """import sys
from slots import free

spans, least = [], 0
for line in sys.stdin:
    words = line.split()
    if words[0] == "least":
        least = int(words[1])
    else:
        spans.append([int(word) for word in words])
for start, end in free(spans, {start}, {end}, least):
    print(start, end)
"""
_SLOT_FAULTS = {
    "unsorted": ("in sorted(spans)", "in spans"),
    "swallowed": ("max(result[-1][1], end)", "end"),
    "strict": ("start - at >= least", "start - at > least"),
    "no_end": ("    if day_end - at >= least:\n        found.append([at, day_end])\n", ""),
    "outside": ("start, end = max(start, day_start), min(end, day_end)", "start = max(start, day_start)"),
    "empty": ("        if end <= start:\n            continue\n        if result", "        if result"),
}  # fmt: skip


@template("py_slots", ("tiny", "easy", "medium"))
def py_slots(draft: Draft) -> None:
    """Free times between appointments; edges, overlaps and gaps go wrong."""
    dice = draft.dice
    start, end = dice.whole(6, 9) * 60, dice.whole(16, 20) * 60
    gap = dice.pick((0, 5, 10, 15))
    right = _SLOTS.replace("GAP", str(gap))
    names = [n for n in _SLOT_FAULTS if n != "empty"]
    chosen = dice.some(names, min(2 + draft.scale, len(names)))
    draft.file("slots.py", _faulty(right, _SLOT_FAULTS, chosen))
    draft.file("main.py", _SLOT_MAIN.format(start=start, end=end))
    draft.say(
        "`python3 main.py` reads appointments, a line `START END` each in minutes since midnight, "
        "in any order, and a line `least N`, and shall print the times of the day that are free, "
        f"in order, each at least N minutes long. The day goes from {start} to {end}. "
        f"Appointments that overlap, or are at most {gap} minutes apart, make one; one that does "
        "not end after it starts does not count. They may reach over the ends of the day. Its "
        "results are wrong; mend slots.py, and that alone."
    )
    draft.keep("main.py")

    def case(name: str, spans: list[tuple[int, int]], least: int) -> None:
        busy = [False] * (24 * 60 + 1)
        for a, b in spans:
            for minute in range(max(a, 0), min(b, len(busy))) if b > a else ():
                busy[minute] = True
        ends = sorted({b for a, b in spans if b > a})
        starts = sorted({a for a, b in spans if b > a})
        for b in ends:
            for a in starts:
                if b <= a <= b + gap:
                    busy[b:a] = [True] * (a - b)
        lines, at = [], start
        for minute in range(start, end + 1):
            if minute == end or busy[minute]:
                if minute - at >= least and minute > at:
                    lines.append(f"{at} {minute}\n")
                at = minute + 1
        given = f"least {least}\n" + "".join(f"{a} {b}\n" for a, b in spans)
        draft.probe(name, "python3 main.py", stdin=given, text="".join(lines))

    case("exact", [(start + 60, start + 120), (start + 150, end - 60)], 30)
    case("nested", [(start + 30, end - 90), (start + 60, start + 90)], 20)
    case("over_the_ends", [(start - 50, start + 20), (end - 45, end + 90)], 15)
    case("outside", [(end + 10, end + 60), (start - 100, start - 50)], 10)
    case("close", [(start + 40, start + 100), (start + 100 + gap, start + 200),
                   (start + 201 + gap, start + 260)], 1)  # fmt: skip
    for number in range(3):
        spans = [(a, a + dice.whole(-5, 120)) for a in
                 (dice.whole(start - 60, end + 30) for _ in range(9))]  # fmt: skip
        case(f"random_{number}", spans, dice.whole(5, 40))
    draft.part("slots", put("slots.py", right))
    for name in chosen:
        draft.mutant(f"left_{name}", put("slots.py", _faulty(right, _SLOT_FAULTS, [name])))
    minutes = (
        "def free(spans, day_start, day_end, least):\n"
        "    spans = [(a, b) for a, b in spans if b > a]\n    busy = set()\n"
        "    for a, b in spans:\n        busy.update(range(a, b))\n        for c, _ in spans:\n"
        f"            if b <= c <= b + {gap}:\n                busy.update(range(b, c))\n"
        "    found, at = [], day_start\n    for minute in range(day_start, day_end + 1):\n"
        "        if minute == day_end or minute in busy:\n"
        "            if minute - at >= least and minute > at:\n"
        "                found.append([at, minute])\n            at = minute + 1\n    return found\n"
    )
    draft.alternative("by_minute", put("slots.py", minutes))


_LEDGER = """from decimal import ROUND_HALF_UP, ROUND_HALF_EVEN, Decimal

RATES = {rates}


def convert(amount, currency):
    return (amount * Decimal(RATES[currency])).quantize(Decimal("0.01"), rounding={rounding})


def run(lines):
    accounts, log = {{}}, []
    for line in lines:
        words = line.split()
        if words[0] == "open":
            accounts[words[1]] = Decimal("0.00")
        elif words[0] == "in":
            accounts[words[1]] += convert(Decimal(words[2]), words[3])
        elif words[0] == "move":
            source, target, amount = words[1], words[2], Decimal(words[3])
            fee = (amount * Decimal("{fee}")).quantize(Decimal("0.01"), rounding={rounding})
            if accounts[source] < amount + fee:
                log.append(f"refused {{source}} {{target}} {{amount}}")
                continue
            accounts[source] -= amount + fee
            accounts[target] += amount
        elif words[0] == "interest":
            for name in accounts:
                if accounts[name] >= Decimal("{floor}"):
                    gain = (accounts[name] * Decimal(words[1]) / 100).quantize(
                        Decimal("0.01"), rounding={rounding})
                    accounts[name] += gain
    return log + [f"{{name}} {{accounts[name]}}" for name in sorted(accounts)]
"""


@template("py_ledger", ("easy", "medium"))
def py_ledger(draft: Draft) -> None:
    """Sums of money: rounding, fees, limits."""
    dice = draft.dice
    rates = {name: f"{dice.whole(20, 300) / 100:.2f}{dice.whole(1, 9)}" for name in
             dice.some(("eur", "usd", "chf", "sek", "pln", "jpy"), 3)}  # fmt: skip
    half_up = dice.chance(0.5)
    rounding = "ROUND_HALF_UP" if half_up else "ROUND_HALF_EVEN"
    fee, floor = f"0.0{dice.whole(1, 4)}5", f"{dice.whole(2, 20)}0.00"
    right = _LEDGER.format(rates=repr(rates), rounding=rounding, fee=fee, floor=floor)
    other = "ROUND_HALF_EVEN" if half_up else "ROUND_HALF_UP"
    faults = {
        "rounding": (f"rounding={rounding})\n            if", f"rounding={other})\n            if"),
        "no_fee": ("accounts[source] -= amount + fee", "accounts[source] -= amount"),
        "covers_amount": ("accounts[source] < amount + fee", "accounts[source] < amount"),
        "strict_floor": (f'>= Decimal("{floor}")', f'> Decimal("{floor}")'),
        "binary": ("Decimal(RATES[currency])", "Decimal(float(RATES[currency]))"),
        "converted": (f'"0.01"), rounding={rounding})\n\n\ndef', f'"0.01"), rounding={other})\n\n\ndef'),
    }  # fmt: skip
    names = [n for n in faults if n != "binary"]
    chosen = dice.some(names, 3 + draft.scale // 3)
    draft.file("ledger.py", _faulty(right, faults, chosen))
    draft.file(
        "main.py", "import sys\nfrom ledger import run\n\nprint(*run(sys.stdin), sep='\\n')\n"
    )
    people = draft.cast.names("person", 4)
    how = "half cents away from zero" if half_up else "half cents to the even cent"
    draft.say(
        "`python3 main.py` reads what happens to accounts and prints refused moves, then the "
        "accounts in alphabetical order:\n"
        "* `open NAME`: an account with nothing on it\n"
        f"* `in NAME AMOUNT CURRENCY`: adds the amount times the rate in ledger.py ({rates})\n"
        f"* `move FROM TO AMOUNT`: costs a fee of {fee} of the amount on top, which FROM pays; "
        "refused if FROM has less than both together\n"
        f"* `interest PERCENT`: adds that much to every account that has at least {floor}\n"
        f"Every product is rounded to cents at once, {how}. The results are off by cents, and "
        "sometimes by more. Mend ledger.py, and that alone; its rates are right."
    )
    draft.keep("main.py")

    def case(name: str, lines: list[str]) -> None:
        result = "\n".join(_ledger(lines, rates, half_up, fee, floor))
        draft.probe(name, "python3 main.py", stdin="\n".join(lines) + "\n", text=result)

    opened = [f"open {person}" for person in people]
    a, b = people[:2]
    unit = next(iter(rates))
    ties = _tie_amounts(Decimal(rates[unit]))
    case("ties_in", [*opened, *[f"in {a} {amount} {unit}" for amount in ties]])
    rate = Decimal(rates[unit])
    rich = [*opened, f"in {a} 900.00 {unit}"]
    fees = _tie_amounts(Decimal(fee))
    case("ties_fee", [*rich, *[f"move {a} {b} {amount}" for amount in fees]])
    total = _round(Decimal("900.00") * rate, half_up)
    least = total / (1 + Decimal(fee))
    edge = least.quantize(Decimal("0.01")) + Decimal("0.02")
    case("covered", [*rich, f"move {a} {b} {edge}", f"move {a} {b} 1.00"])
    exact = [*opened, f"in {a} 900.00 {unit}", f"in {a} 900.00 {unit}", f"move {a} {b} {floor}",
             "interest 3"]  # fmt: skip
    case("floor", exact)
    for number in range(2):
        lines = list(opened)
        for _ in range(40):
            kind = dice.whole(0, 5)
            amount = f"{dice.whole(1, 40_000) / 100:.2f}"
            one, two = dice.some(people, 2)
            lines.append(f"in {one} {amount} {dice.pick(list(rates))}" if kind < 2 else
                         f"interest {dice.whole(1, 9)}.5" if kind == 2 else
                         f"move {one} {two} {amount}")  # fmt: skip
        case(f"random_{number}", lines)
    draft.part("ledger", put("ledger.py", right))
    for name in chosen:
        draft.mutant(f"left_{name}", put("ledger.py", _faulty(right, faults, [name])))
    context = right.replace(".quantize(", ".quantize(exp=")
    draft.alternative("named_argument", put("ledger.py", context))


def _round(value: Decimal, half_up: bool) -> Decimal:
    return value.quantize(Decimal("0.01"), rounding=ROUND_HALF_UP if half_up else ROUND_HALF_EVEN)


def _tie_amounts(factor: Decimal) -> list[str]:
    """Amounts whose product with the factor ends in half a cent, where there are any."""
    found = [
        Decimal(cents) / 100 for cents in range(1, 20_000)
        if (Decimal(cents) / 100 * factor * 1000) % 10 == 5
    ]  # fmt: skip
    even = [x for x in found if int(x * factor * 100) % 2 == 0]
    return [f"{x:.2f}" for x in [*even[:3], *found[:2]]] or ["1.00"]


def _ledger(
    lines: list[str], rates: dict[str, str], half_up: bool, fee: str, floor: str
) -> list[str]:
    """The same in thousandths of cents, with whole numbers."""
    cents: dict[str, int] = {}
    log: list[str] = []

    def rounded(numerator: int, denominator: int) -> int:
        whole, rest = divmod(numerator, denominator)
        if 2 * rest > denominator or (2 * rest == denominator and (half_up or whole % 2)):
            whole += 1
        return whole

    def number(text: str) -> tuple[int, int]:
        digits = text.partition(".")[2]
        return int(text.replace(".", "")), 10 ** len(digits)

    for line in lines:
        word, *rest = line.split()
        if word == "open":
            cents[rest[0]] = 0
        elif word == "in":
            amount, rate = number(rest[1]), number(rates[rest[2]])
            cents[rest[0]] += rounded(100 * amount[0] * rate[0], amount[1] * rate[1])
        elif word == "move":
            amount, share = number(rest[2]), number(fee)
            whole = 100 * amount[0] // amount[1]
            cost = rounded(whole * share[0], share[1])
            if cents[rest[0]] < whole + cost:
                log.append(f"refused {' '.join(rest)}")
            else:
                cents[rest[0]] -= whole + cost
                cents[rest[1]] += whole
        else:
            percent, least = number(rest[0]), number(floor)
            for name, has in cents.items():
                if has * least[1] >= 100 * least[0]:
                    cents[name] += rounded(has * percent[0], 100 * percent[1])
    return log + [f"{name} {cents[name] // 100}.{cents[name] % 100:02d}" for name in sorted(cents)]


_DATES = """from datetime import date, timedelta

HOLIDAYS = {{{holidays}}}
WEEKEND = {weekend}


def works(day):
    return day.isoweekday() not in WEEKEND and day not in HOLIDAYS


def due(start, days):
    at = start
    step = 1 if days >= 0 else -1
    left = abs(days)
    while left or not works(at):
        at += timedelta(days=step)
        if works(at):
            left = max(left - 1, 0)
    return at


def working_days(first, last):
    count, at = 0, first
    while at <= last:
        count += works(at)
        at += timedelta(days=1)
    return count


def month_later(day, months):
    total = day.year * 12 + day.month - 1 + months
    year, month = divmod(total, 12)
    following = date(year + (month + 1) // 12, (month + 1) % 12 + 1, 1)
    end = (following - timedelta(days=1)).day
    at = date(year, month + 1, min(day.day, end))
    while not works(at):
        at += timedelta(days={back})
    return at
"""
_DATE_MAIN = """import sys
from datetime import date
from workdays import due, month_later, working_days

for line in sys.stdin:
    word, first, other = line.split()
    day = date.fromisoformat(first)
    if word == "due":
        print(due(day, int(other)))
    elif word == "months":
        print(month_later(day, int(other)))
    else:
        print(working_days(day, date.fromisoformat(other)))
"""
_DATE_FAULTS = {
    "holidays_work": (" and day not in HOLIDAYS", ""),
    "last_left_out": ("while at <= last", "while at < last"),
    "only_forward": ("step = 1 if days >= 0 else -1", "step = 1"),
    "end_of_month": ("min(day.day, end)", "min(day.day, 28)"),
    "december": ("total = day.year * 12 + day.month - 1 + months", "total = day.year * 12 + day.month + months - 1 + (months > 11)"),
    "same_day": ("while left or not works(at):", "while left:"),
}  # fmt: skip


@template("py_workdays", ("easy", "medium"))
def py_workdays(draft: Draft) -> None:
    """Days of work: weekends of this place, holidays, ends of months, going back."""
    dice = draft.dice
    weekend = dice.pick(((6, 7), (5, 6), (7,)))
    back = dice.pick((1, -1))
    base = date(2026, 1, 1)
    holidays = sorted({base + timedelta(days=dice.whole(0, 729)) for _ in range(30)})
    right = _DATES.format(holidays=", ".join(f"date{day.timetuple()[:3]}" for day in holidays),
                          weekend=repr(weekend), back=back)  # fmt: skip
    chosen = dice.some(sorted(_DATE_FAULTS), 3 + draft.scale // 3)
    draft.file("workdays.py", _faulty(right, _DATE_FAULTS, chosen))
    draft.file("main.py", _DATE_MAIN)
    listed = {1: "Monday", 5: "Friday", 6: "Saturday", 7: "Sunday"}
    draft.say(
        "`python3 main.py` answers questions on days of work, a line each. A day of work is one "
        f"that is not {' or '.join(listed[d] for d in weekend)} and no holiday (both stand right "
        "in workdays.py).\n"
        "* `due DAY N`: the N-th day of work after DAY, or before it if N is negative; for 0 DAY "
        "itself, or the first day of work after it\n"
        "* `months DAY N`: the same day N months later, or the last of that month if it has no "
        f"such day; if that is no day of work, the {'next' if back > 0 else 'nearest earlier'} one\n"
        "* `between FIRST LAST`: how many days of work there are, both ends included\n"
        "Some answers are wrong. Mend workdays.py, and that alone."
    )
    draft.keep("main.py")

    def works(day: date) -> bool:
        return day.isoweekday() not in weekend and day not in holidays

    def answer(line: str) -> str:
        word, first, other = line.split()
        day = date.fromisoformat(first)
        if word == "between":
            end = date.fromisoformat(other)
            return str(sum(works(day + timedelta(days=n)) for n in range((end - day).days + 1)))
        if word == "due":
            number = int(other)
            step = timedelta(days=1 if number >= 0 else -1)
            span = [day + step * n for n in range(0 if number == 0 else 1, 600)]
            return str([d for d in span if works(d)][max(abs(number) - 1, 0)])
        year, month = divmod(day.year * 12 + day.month - 1 + int(other), 12)
        days = [d for d in range(28, 32) if _is_date(year, month + 1, d)]
        at = date(year, month + 1, min(day.day, days[-1]))
        while not works(at):
            at += timedelta(days=back)
        return str(at)

    def case(name: str, lines: list[str]) -> None:
        draft.probe(name, "python3 main.py", stdin="\n".join(lines) + "\n",
                    text="\n".join(map(answer, lines)))  # fmt: skip

    free = [day for day in holidays if day.year == 2026][:4]
    case("due", [f"due {d} {n}" for d in (*free, base) for n in (0, 1, 3, -2, 10)])
    case("months", [f"months 2026-{m:02d}-{d} {n}" for m, d, n in (
        (1, 31, 1), (1, 30, 1), (8, 31, 1), (10, 31, 2), (11, 30, 13), (12, 29, 14))])  # fmt: skip
    case("between", [f"between {d - timedelta(days=3)} {d + timedelta(days=k)}" for d in free
                     for k in range(4)])  # fmt: skip
    lines = []
    for _ in range(40):
        day = base + timedelta(days=dice.whole(60, 500))
        lines.append(dice.pick((f"due {day} {dice.whole(-30, 30)}", f"months {day} {dice.whole(0, 6)}",
                                f"between {day} {day + timedelta(days=dice.whole(0, 60))}")))  # fmt: skip
    case("random", lines)
    draft.part("workdays", put("workdays.py", right))
    for name in chosen:
        draft.mutant(f"left_{name}", put("workdays.py", _faulty(right, _DATE_FAULTS, [name])))
    other = right.replace(
        "    count, at = 0, first\n    while at <= last:\n        count += works(at)\n"
        "        at += timedelta(days=1)\n    return count\n",
        "    days = (first + timedelta(days=n) for n in range((last - first).days + 1))\n"
        "    return sum(map(works, days))\n").replace("min(day.day, end)", "day.day if day.day < end else end")  # fmt: skip
    draft.alternative("generator", put("workdays.py", other))


def _is_date(year: int, month: int, day: int) -> bool:
    try:
        date(year, month, day)
    except ValueError:
        return False
    return True


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
def perf_pairs(draft: Draft) -> None:
    """Count pairs among very many numbers within few seconds of processor time."""
    dice = draft.dice
    minus = dice.chance(0.5)
    mod, rest = dice.whole(1_000, 9_000), dice.whole(1, 900)
    fill = {"op": "-" if minus else "+", "mod": mod, "rest": rest}
    slow = _SLOW_PAIRS.format(**fill)
    wanted = f"({rest} {'+' if minus else '-'} b) % {mod}"
    right = _FAST_PAIRS.format(mod=mod, wanted=wanted)
    draft.file("pairs.py", slow)
    count = 60_000
    draft.say(
        "`python3 pairs.py` reads whole numbers, one a line, and prints how many pairs of places "
        f"i < j there are for which {'the difference of the first and the second number' if minus else 'the sum of both numbers'}"
        f" leaves {rest} when divided by {mod} (the remainder is never negative). It is right, but "
        f"far too slow. Make it give the same answers for {count:,} numbers in 2 seconds of "
        "processor time and 200 MB of memory. Numbers may be negative, and as large as 10**12."
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
    # Numbers too many to be written down come from a rule that the probe runs as well.
    rule = (f"x = {seed}\nfor _ in range({count}):\n    x = (x * 1103515245 + {step}) % 2**31\n"
            "    print(x * 97 - 10**11)\n")  # fmt: skip
    numbers, x = [], seed
    for _ in range(count):
        x = (x * 1103515245 + step) % 2**31
        numbers.append(x * 97 - 10**11)
    draft.probe("large", "python3 held.py > held.txt; ulimit -t 2 -v 400000; python3 pairs.py < held.txt",
                files={"held.py": rule}, number=expected(numbers), seconds=30.0)  # fmt: skip
    for number in range(3):
        small = [dice.whole(-(10**12), 10**12) for _ in range(60)]
        small += [n + (-rest if minus else 0) + mod * dice.whole(-5, 5) for n in small[:10]]
        small += [rest - n for n in small[:10]]
        draft.probe(f"small_{number}", "python3 pairs.py", number=expected(small),
                    stdin="".join(f"{n}\n" for n in small))  # fmt: skip
    draft.program("pairs.py", right, {
        "unordered": ("best += seen", "best += 2 * seen"),
        "after": (f"        best += seen[{wanted}]\n        seen[b % {mod}] += 1",
                  f"        seen[b % {mod}] += 1\n        best += seen[{wanted}]"),
        "no_remainder": (f"seen[b % {mod}]", "seen[b]"),
    }, mode="644")  # fmt: skip
    # Whether a number pairs with itself matters only where twice it leaves the remainder.
    half = [n for n in range(mod) if ((0 if minus else 2 * n) - rest) % mod == 0][:1]
    draft.probe("itself", "python3 pairs.py", stdin="".join(f"{n}\n" for n in [*half, *half, 1]),
                number=expected([*half, *half, 1]))  # fmt: skip
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
def perf_window(draft: Draft) -> None:
    """A figure over a sliding window, for long windows and long inputs."""
    dice = draft.dice
    kind = dice.pick(("max", "min", "spread", "distinct"))
    what = {"max": "max(window)", "min": "min(window)", "spread": "max(window) - min(window)",
            "distinct": "len(set(window))"}[kind]  # fmt: skip
    words = {"max": "the largest", "min": "the smallest",
             "spread": "the difference of the largest and the smallest",
             "distinct": "the number of different ones"}[kind]  # fmt: skip
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
        "time and 200 MB of memory, whatever the numbers: rising, falling or any."
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
            window = {"max": max, "min": min, "distinct": len}.get(kind)
            figure = window(counted) if window else max(counted) - min(counted)
            made.append(figure * scale + shift)
        return made

    for number in range(3):
        values = [dice.whole(-20, 20) for _ in range(80)]
        wide = dice.pick((1, 2, 5, 9, 200))
        draft.probe(f"small_{number}", f"python3 window.py {wide}", stdin="".join(
            f"{v}\n" for v in values), text="\n".join(map(str, expected(values, wide))))  # fmt: skip
    draft.probe("rising", "python3 window.py 4", stdin="".join(f"{n}\n" for n in range(12)),
                text="\n".join(map(str, expected(list(range(12)), 4))))  # fmt: skip
    draft.probe("falling", "python3 window.py 4", stdin="".join(f"{-n}\n" for n in range(12)),
                text="\n".join(map(str, expected([-n for n in range(12)], 4))))  # fmt: skip
    # Large inputs: a rule gives the numbers, a weighted sum stands for the output.
    rising = "n" if kind == "min" else "-n"
    for name, formula in ((("large", rising),) if dice.chance(0.5) else
                          (("large", f"n * {dice.whole(3, 99) * 2 + 1} % 1009"),)):  # fmt: skip
        values = [eval_formula(formula, n) for n in range(count)]
        total = _window_sum(values, width, kind, scale, shift)
        rule = f"for n in range({count}):\n    print({formula})\n"
        draft.probe(
            name,
            f"python3 held.py > held.txt; (ulimit -t 2 -v 400000; python3 window.py {width} < held.txt)"
            " | awk '{ s = (s + $1 * (NR % 7 + 1)) % 1000003 } END { print NR, s }'",
            files={"held.py": rule}, text=f"{count} {total}", seconds=30.0,
        )  # fmt: skip
    queue = {
        "max": "    while q and values[q[-1]] <= value: q.pop()\n",
        "min": "    while q and values[q[-1]] >= value: q.pop()\n",
    }
    head = "import sys\nfrom collections import Counter, deque\n\nvalues, width = [], int(sys.argv[1])\n"
    loop = "for place, line in enumerate(sys.stdin):\n    value = int(line)\n    values.append(value)\n"
    if kind in queue:
        body = head + "q = deque()\n" + loop + queue[kind] + (
            "    q.append(place)\n    if q[0] <= place - width: q.popleft()\n"
            f"    print(values[q[0]] * {scale} + {shift})\n")  # fmt: skip
        faults = {"one_longer": ("<= place - width", "< place - width"),
                  "never_leaves": ("    if q[0] <= place - width: q.popleft()\n", ""),
                  "other_end": ("values[q[0]]", "values[q[-1]]")}  # fmt: skip
    elif kind == "spread":
        body = head + "q, r = deque(), deque()\n" + loop + (
            "    while q and values[q[-1]] <= value: q.pop()\n"
            "    while r and values[r[-1]] >= value: r.pop()\n"
            "    q.append(place)\n    r.append(place)\n    if q[0] <= place - width: q.popleft()\n"
            "    if r[0] <= place - width: r.popleft()\n"
            f"    print((values[q[0]] - values[r[0]]) * {scale} + {shift})\n")  # fmt: skip
        faults = {"one_longer": ("q[0] <= place - width", "q[0] < place - width"),
                  "never_leaves": ("    if r[0] <= place - width: r.popleft()\n", ""),
                  "other_end": ("values[r[0]]", "values[r[-1]]")}  # fmt: skip
    else:
        body = head + "counts = Counter()\n" + loop + (
            "    counts[value] += 1\n    if place >= width:\n        old = values[place - width]\n"
            "        counts[old] -= 1\n        if not counts[old]: del counts[old]\n"
            f"    print(len(counts) * {scale} + {shift})\n")  # fmt: skip
        faults = {"one_longer": ("place >= width", "place > width"),
                  "never_leaves": ("        if not counts[old]: del counts[old]\n", ""),
                  "all_gone": ("counts[old] -= 1", "counts[old] = 0")}  # fmt: skip
    draft.program("window.py", body, faults, mode="644")
    draft.mutant("slow", put("window.py", slow))
    heap = head + (
        "import heapq\nlow, high, counts = [], [], Counter()\n" + loop +
        "    heapq.heappush(low, (value, place))\n    heapq.heappush(high, (-value, place))\n"
        "    counts[value] += 1\n    if place >= width:\n        old = values[place - width]\n"
        "        counts[old] -= 1\n        if counts[old] == 0: counts.pop(old)\n"
        "    while low[0][1] <= place - width: heapq.heappop(low)\n"
        "    while high[0][1] <= place - width: heapq.heappop(high)\n"
        "    figure = {'max': -high[0][0], 'min': low[0][0], 'spread': -high[0][0] - low[0][0],\n"
        f"              'distinct': len(counts)}}['{kind}']\n    print(figure * {scale} + {shift})\n")  # fmt: skip
    draft.alternative("heaps", put("window.py", heap))


def eval_formula(formula: str, n: int) -> int:
    """One of the two rules for large inputs, worked out here."""
    if formula in ("n", "-n"):
        return n if formula == "n" else -n
    return n * int(formula.split()[2]) % 1009


def _window_sum(values: list[int], width: int, kind: str, scale: int, shift: int) -> int:
    """What awk's weighted sum of the right output comes to; awk's remainder keeps the sign."""
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
