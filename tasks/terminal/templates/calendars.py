"""Python programs for times and dates with edge-case bugs."""

from datetime import date, timedelta

from hexathlon.tasks.terminal.draft import TerminalDraft, faulty, put, template

_SLOTS = """def merged(spans):
    result = []
    for start, end in sorted(spans):
        if end <= start:
            continue
        start -= LEAD
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
    "outside": (
        "start, end = max(start, day_start), min(end, day_end)",
        "start = max(start, day_start)",
    ),
    "no_lead": ("        start -= LEAD\n", ""),
}


@template("py_slots", ("tiny", "easy", "medium"))
def py_slots(draft: TerminalDraft) -> None:
    """Fix free times between appointments: edges, overlaps, gaps."""
    dice = draft.dice
    start, end = dice.whole(6, 9) * 60, dice.whole(16, 20) * 60
    gap, lead = dice.whole(0, 20), dice.whole(1, 25)
    right = _SLOTS.replace("GAP", str(gap)).replace("LEAD", str(lead))
    faults = {
        name: (old.replace("LEAD", str(lead)), new) for name, (old, new) in _SLOT_FAULTS.items()
    }
    chosen = dice.some(sorted(faults), 2 + draft.scale)
    draft.file("slots.py", faulty(right, faults, chosen))
    draft.file("main.py", _SLOT_MAIN.format(start=start, end=end))
    draft.say(
        "`python3 main.py` reads appointments, a line `START END` each in minutes since midnight, "
        "in any order, and a line `least N`, and shall print the times of the day that are free, "
        f"in order, each at least N minutes long. The day goes from {start} to {end}. "
        f"An appointment that does not end after it starts does not count. The {lead} minutes "
        "before each are needed to get there, and are not free either. Times that overlap, or are "
        f"at most {gap} minutes apart, make one. They may reach over the ends of the day. Its "
        "results are wrong; mend slots.py, and that alone."
    )
    draft.keep("main.py")

    def case(name: str, spans: list[tuple[int, int]], least: int) -> None:
        given = f"least {least}\n" + "".join(f"{a} {b}\n" for a, b in spans)
        spans = [(a - lead, b) for a, b in spans if b > a]
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
        draft.probe(name, "python3 main.py", stdin=given, text="".join(lines))

    case("exact", [(start + 60, start + 120), (start + 150 + lead, end - 60)], 30)
    case("nested", [(start + 30, end - 90), (start + 60, start + 90)], 20)
    case("over_the_ends", [(start - 50, start + 20), (end - 45, end + 90)], 15)
    case("outside", [(end + 40, end + 90), (start - 100, start - 50)], 10)
    case(
        "close",
        [
            (start + 40, start + 100),
            (start + 100 + gap + lead, start + 220),
            (start + 221 + gap + lead, start + 290),
        ],
        1,
    )
    for number in range(3):
        spans = [
            (a, a + dice.whole(-5, 120))
            for a in (dice.whole(start - 60, end + 30) for _ in range(9))
        ]
        case(f"random_{number}", spans, dice.whole(5, 40))
    draft.part("slots", put("slots.py", right))
    for name in chosen:
        draft.mutant(f"left_{name}", put("slots.py", faulty(right, faults, [name])))
    minutes = (
        "def free(spans, day_start, day_end, least):\n"
        f"    spans = [(a - {lead}, b) for a, b in spans if b > a]\n    busy = set()\n"
        "    for a, b in spans:\n        busy.update(range(a, b))\n        for c, _ in spans:\n"
        f"            if b <= c <= b + {gap}:\n                busy.update(range(b, c))\n"
        "    found, at = [], day_start\n    for minute in range(day_start, day_end + 1):\n"
        "        if minute == day_end or minute in busy:\n"
        "            if minute - at >= least and minute > at:\n"
        "                found.append([at, minute])\n  "
        "          at = minute + 1\n    return found\n"
    )
    draft.alternative("by_minute", put("slots.py", minutes))


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
    "december": (
        "total = day.year * 12 + day.month - 1 + months",
        "total = day.year * 12 + day.month + months - 1 + (months > 11)",
    ),
    "same_day": ("while left or not works(at):", "while left:"),
}


@template("py_workdays", ("easy", "medium"))
def py_workdays(draft: TerminalDraft) -> None:
    """Fix working days: local weekends, holidays, month ends, counting backwards."""
    dice = draft.dice
    weekend = dice.pick(((6, 7), (5, 6), (7,)))
    back = dice.pick((1, -1))
    base = date(2026, 1, 1)
    holidays = sorted({base + timedelta(days=dice.whole(0, 729)) for _ in range(30)})
    right = _DATES.format(
        holidays=", ".join(f"date{day.timetuple()[:3]}" for day in holidays),
        weekend=repr(weekend),
        back=back,
    )
    chosen = dice.some(sorted(_DATE_FAULTS), 3 + draft.scale // 3)
    draft.file("workdays.py", faulty(right, _DATE_FAULTS, chosen))
    draft.file("main.py", _DATE_MAIN)
    listed = {1: "Monday", 5: "Friday", 6: "Saturday", 7: "Sunday"}
    draft.say(
        "`python3 main.py` answers questions on days of work, a line each. A day of work is one "
        f"that is not {' or '.join(listed[d] for d in weekend)} and no holiday (both stand right "
        "in workdays.py).\n"
        "* `due DAY N`: the N-th day of work after DAY, or before it if N is negative; for 0 DAY "
        "itself, or the first day of work after it\n"
        "* `months DAY N`: the same day N months later, or the last of that month if it has no "
        f"such day; if that is no day of work, the "
        f"{'next' if back > 0 else 'nearest earlier'} one\n"
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
        draft.probe(
            name,
            "python3 main.py",
            stdin="\n".join(lines) + "\n",
            text="\n".join(map(answer, lines)),
        )

    free = [day for day in holidays if day.year == 2026][:4]
    case("due", [f"due {d} {n}" for d in (*free, base) for n in (0, 1, 3, -2, 10)])
    case(
        "months",
        [
            f"months 2026-{m:02d}-{d} {n}"
            for m, d, n in (
                (1, 31, 1),
                (1, 30, 1),
                (8, 31, 1),
                (10, 31, 2),
                (11, 30, 13),
                (12, 29, 14),
            )
        ],
    )
    case(
        "between",
        [
            f"between {d - timedelta(days=3)} {d + timedelta(days=k)}"
            for d in free
            for k in range(4)
        ],
    )
    lines = []
    for _ in range(40):
        day = base + timedelta(days=dice.whole(60, 500))
        lines.append(
            dice.pick(
                (
                    f"due {day} {dice.whole(-30, 30)}",
                    f"months {day} {dice.whole(0, 6)}",
                    f"between {day} {day + timedelta(days=dice.whole(0, 60))}",
                )
            )
        )
    case("random", lines)
    draft.part("workdays", put("workdays.py", right))
    for name in chosen:
        draft.mutant(f"left_{name}", put("workdays.py", faulty(right, _DATE_FAULTS, [name])))
    other = right.replace(
        "    count, at = 0, first\n    while at <= last:\n        count += works(at)\n"
        "        at += timedelta(days=1)\n    return count\n",
        "    days = (first + timedelta(days=n) for n in range((last - first).days + 1))\n"
        "    return sum(map(works, days))\n",
    ).replace("min(day.day, end)", "day.day if day.day < end else end")
    draft.alternative("generator", put("workdays.py", other))


def _is_date(year: int, month: int, day: int) -> bool:
    try:
        date(year, month, day)
    except ValueError:
        return False
    return True
