"""Crontabs: the next runs, and tables that do not match their descriptions."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from hexathlon.tasks.terminal.dice import Dice
from hexathlon.tasks.terminal.draft import TerminalDraft, put, template

_FIELDS = (("minute", 0, 59), ("hour", 0, 23), ("day", 1, 31), ("month", 1, 12), ("weekday", 0, 7))


def _field(dice: Dice, low: int, high: int) -> str:
    kind = dice.whole(0, 5)
    if kind == 0:
        return "*"
    if kind == 1:
        return f"*/{dice.whole(2, max(2, (high - low) // 2))}"
    start = dice.whole(low, high - 1)
    end = dice.whole(start, high)
    if kind == 2:
        return f"{start}-{end}"
    if kind == 3:
        return f"{start}-{end}/{dice.whole(2, 5)}"
    if kind == 4:
        return ",".join(str(dice.whole(low, high)) for _ in range(dice.whole(2, 4)))
    return str(start)


@lru_cache(maxsize=512)
def _values(text: str, low: int, high: int) -> frozenset[int]:
    found: set[int] = set()
    for part in text.split(","):
        span, _, step = part.partition("/")
        if span == "*":
            first, final = low, high
        else:
            head, _, tail = span.partition("-")
            first, final = int(head), int(tail or head)
        found |= set(range(first, final + 1, int(step or 1)))
    return frozenset(found)


@lru_cache(maxsize=512)
def _row(row: str) -> tuple[ZoneInfo, tuple[str, ...], str]:
    """Return zone, fields and command of a row of the table."""
    zone, times, command = row.split("|", 2)
    return ZoneInfo(zone), tuple(times.split()), command


@lru_cache(maxsize=512)
def _sets(fields: tuple[str, ...]) -> list[frozenset[int]]:
    return [_values(text, low, high) for text, (_, low, high) in zip(fields, _FIELDS, strict=True)]


def _fires(fields: Sequence[str], when: datetime) -> bool:
    sets = _sets(tuple(fields))
    weekdays = {day % 7 for day in sets[4]}
    by_day, by_weekday = when.day in sets[2], when.isoweekday() % 7 in weekdays
    both = by_day and by_weekday
    if not fields[2].startswith("*") and not fields[4].startswith("*"):
        both = by_day or by_weekday
    return when.minute in sets[0] and when.hour in sets[1] and when.month in sets[3] and both


_NEXT = """#!/usr/bin/env python3
import sys
from datetime import datetime, timedelta
LIMITS = [(0, 59), (0, 23), (1, 31), (1, 12), (0, 7)]
def values(text, low, high):
    found = set()
    for part in text.split(","):
        span, _, step = part.partition("/")
        first, _, last = span.partition("-")
        if span == "*":
            first, last = low, high
        found |= set(range(int(first), int(last or first) + 1, int(step or 1)))
    return found
now = datetime.strptime(sys.argv[2], "FORMAT")
jobs = []
for line in open(sys.argv[1]):
    line = line.strip()
    if not line or line.startswith("#") or "=" in line.split()[0]:
        continue
    *fields, name = line.split(None, 5)
    jobs.append((fields, [values(f, *l) for f, l in zip(fields, LIMITS)], name))
for day in range(366 * 9):
    date = (now + timedelta(days=day)).date()
    found = []
    for fields, sets, name in jobs:
        by_day, by_week = date.day in sets[2], bool(sets[4] & WEEK)
        fits = by_day and by_week
        if not fields[2].startswith("*") and not fields[4].startswith("*"):
            fits = by_day EITHER by_week
        if not fits or date.month not in sets[3]:
            continue
        for hour in sorted(sets[1]):
            for minute in sorted(sets[0]):
                at = datetime(date.year, date.month, date.day, hour, minute)
                if at > now:
                    found.append((at, name))
    if found:
        first = min(found)[0]
        for at, name in sorted(found):
            if at == first:
                print(at.strftime("FORMAT"), "TAG", name)
        break
"""


@template("cron_next", ("easy", "medium"))
def cron_next(draft: TerminalDraft) -> None:
    """Report which jobs of a crontab run next; the two day fields follow cron's own rule."""
    dice = draft.dice
    form = dice.pick(("%Y-%m-%dT%H:%M", "%d.%m.%Y %H:%M", "%Y%m%d-%H%M", "%m/%d/%Y %H:%M"))
    jobs = draft.cast.names("service", 6)
    tag = f"{draft.cast.name('key')}{dice.whole(2, 99)}"

    def tagged(text: str) -> str:
        return text.replace(" /opt", f" {tag} /opt")

    def table(count: int) -> tuple[str, list[tuple[list[str], str]]]:
        rows, text = [], "# jobs of this machine\nMAILTO=root\n\n"
        for _ in range(count):
            fields = [_field(dice, low, high) for _, low, high in _FIELDS]
            if dice.chance(0.4):
                fields[2], fields[4] = str(dice.whole(1, 28)), str(dice.whole(0, 7))
            fields[3] = dice.pick(("*", "*", fields[3]))
            name = f"/opt/{dice.pick(jobs)} --n {dice.whole(1, 99)}"
            rows.append((fields, name))
            text += f"{' '.join(fields)}\t{name}\n"
        return text, rows

    draft.file("crontab", table(3)[0])
    shown = datetime(2027, 3, 4, 15, 6, tzinfo=UTC).strftime(form)
    draft.say(
        "Write an executable /app/next_run that takes the path of a crontab and a moment, such as "
        f"'{shown}' for six minutes past 15:00 on 4 March 2027, and prints the jobs that run next "
        "after that moment (not at it): for each, in byte order of their commands, the moment in "
        f"the same form, the word {tag} and the command, parted by "
        f"blanks. Clock changes do not matter.\nA crontab (see "
        "crontab) has comments, assignments and jobs with five fields; fields hold *, numbers, "
        "ranges, lists and steps (after * or a range), no names. 7 is Sunday too. The "
        "fields for the day of the month "
        "and the day of the week follow the usual rule of cron(5): if both are restricted, that "
        "is, neither begins with *, a day that fits either will do. A job whose day never comes, "
        "such as 31 April, never runs. Two jobs with the same command are two lines."
    )
    for number in range(4 + draft.scale):
        text, rows = table(1 + number % 4)
        while True:
            now = datetime(
                2027,
                dice.whole(1, 12),
                dice.whole(1, 28),
                dice.whole(0, 23),
                dice.whole(0, 59),
                tzinfo=UTC,
            )
            result = _next_run(rows, now, form)
            if result:
                break
            text, rows = table(1 + number % 4)
        draft.probe(
            f"table_{number}",
            f"./next_run held{number} '{now.strftime(form)}'",
            files={f"held{number}": text},
            text=tagged(result),
        )
    rows = [(["5", "4", str(dice.whole(10, 20)), "*", str(dice.whole(1, 5))], "/opt/both")]
    now = datetime(2027, 5, 1, 4, 5, tzinfo=UTC)
    for name, start in (
        ("either_day", now),
        ("same_minute", now + timedelta(days=dice.whole(1, 9))),
    ):
        at = datetime.strptime(_next_run(rows, start, form).split(" /opt")[0], form).replace(
            tzinfo=UTC
        )
        moment = start if name == "either_day" else at
        draft.probe(
            name,
            f"./next_run held_both '{moment.strftime(form)}'",
            files={"held_both": f"{' '.join(rows[0][0])} /opt/both\n"},
            text=tagged(_next_run(rows, moment, form)),
        )
    sunday = [(["0", "0", "*", "*", "7"], "/opt/sunday")]
    draft.probe(
        "sunday",
        f"./next_run held_sunday '{now.strftime(form)}'",
        files={"held_sunday": "0 0 * * 7 /opt/sunday\n"},
        text=tagged(_next_run(sunday, now, form)),
    )
    daily = ["30", "6", "*", "*", "*"]
    for name, table_rows in (
        ("impossible_date", [(["0", "0", "31", "4", "*"], "/opt/never"), (daily, "/opt/daily")]),
        ("same_command", [(daily, "/opt/same"), (["*/15", "6", "*", "*", "*"], "/opt/same")]),
    ):
        start = datetime(2027, 3, dice.whole(1, 28), 6, 20, tzinfo=UTC)
        draft.probe(
            name,
            f"./next_run held_{name} '{start.strftime(form)}'",
            files={f"held_{name}": "".join(f"{' '.join(f)} {c}\n" for f, c in table_rows)},
            text=tagged(_next_run(table_rows, start, form)),
        )
    steps = [(["*/7", "2-20/3", "*", "*", "*"], "/opt/steps")]
    draft.probe(
        "steps",
        f"./next_run held_steps '{now.strftime(form)}'",
        files={"held_steps": "*/7 2-20/3 * * * /opt/steps\n"},
        text=tagged(_next_run(steps, now, form)),
    )
    right = (
        _NEXT.replace("FORMAT", form)
        .replace("TAG", tag)
        .replace("EITHER", "or")
        .replace("WEEK", "{date.isoweekday() % 7, date.isoweekday()}")
    )
    draft.program(
        "next_run",
        right,
        {
            "both_days": ("by_day or by_week", "by_day and by_week"),
            "seven": ("{date.isoweekday() % 7, date.isoweekday()}", "{date.isoweekday() % 7}"),
            "at_once": ("at > now", "at >= now"),
            "no_steps": ("int(step or 1)", "1"),
            "once_a_command": ("in sorted(found):", "in sorted(set(found)):"),
            "form": (f'strftime("{form}")', 'strftime("%c")'),
        },
    )
    slow = right[: right.index("for day in range")] + (
        "at = now.replace(second=0)\nfor _ in range(1440 * 366 * 9):\n"
        "    at += timedelta(minutes=1)\n    hits = []\n    for fields, sets, name in jobs:\n"
        "        if at.minute not in sets[0] or at.hour "
        "not in sets[1] or at.month not in sets[3]:\n"
        "            continue\n"
        "        day, week = at.day in sets[2], at.isoweekday() % 7 in {v % 7 for v in sets[4]}\n"
        "        either = not (fields[2][0] == '*' or fields[4][0] == '*')\n"
        "        if (day or week) if either else (day and week):\n            hits.append(name)\n"
        f"    if hits:\n        for name in sorted(hits):\n"
        f"            print(at.strftime('{form}'), '{tag}', name)\n"
        "        break\n"
    )
    draft.alternative("minute_by_minute", put("next_run", slow, "755"))


def _next_run(rows: list[tuple[list[str], str]], now: datetime, form: str) -> str:
    """Search by day, then by minute; empty if nothing runs within a year."""
    for day in range(400):
        start = (now + timedelta(days=day)).replace(hour=0, minute=0)
        found = []
        for fields, name in rows:
            sets = [
                _values(t, low, high) for t, (_, low, high) in zip(fields, _FIELDS, strict=True)
            ]
            probe = start.replace(hour=min(sets[1]), minute=min(sets[0]))
            if not _fires(fields, probe):
                continue
            moments = [start.replace(hour=h, minute=m) for h in sets[1] for m in sets[0]]
            found += [(at, name) for at in moments if at > now]
        if found:
            first = min(found)[0]
            lines = sorted(name for at, name in found if at == first)
            return "".join(f"{first.strftime(form)} {name}\n" for name in lines)
    return ""


_MINICRON = """#!/usr/bin/env python3
# minicron TABLE ZONES... prints what a cron daemon would start at the given UTC minutes.
# TABLE: lines `ZONE|m h dom mon dow|command`; a % in a command ends it, as in cron.
import sys
from datetime import datetime, timezone
from zoneinfo import ZoneInfo
def fits(text, value, low, high):
    for part in text.split(","):
        span, _, step = part.partition("/")
        first, _, last = (str(low), "", str(high)) if span == "*" else span.partition("-")
        if value in range(int(first), int(last or first) + 1, int(step or 1)):
            return True
    return False
for moment in sys.argv[2:]:
    at = datetime.strptime(moment, "%Y-%m-%dT%H:%M").replace(tzinfo=timezone.utc)
    for line in open(sys.argv[1]):
        if line.strip() and not line.startswith("#"):
            zone, times, command = line.rstrip("\\n").split("|", 2)
            here = at.astimezone(ZoneInfo(zone))
            m, h, dom, mon, dow = times.split()
            day, week = fits(dom, here.day, 1, 31), fits(dow, here.isoweekday() % 7, 0, 6)
            ok = (day or week) if dom[0] != "*" and dow[0] != "*" else (day and week)
            if ok and fits(m, here.minute, 0, 59) and fits(h, here.hour, 0, 23) \\
                    and fits(mon, here.month, 1, 12):
                print(moment, command.split("%")[0].strip())
"""


def _around(dice: Dice, rows: list[str]) -> list[datetime]:
    """Return moments that differ in one field from a moment at which a row runs.

    All months, hours and minutes beside one such moment, and all days of up to four months.
    """
    moments: set[datetime] = set()
    for row in rows:
        zone, times, _ = row.split("|", 2)
        days = (datetime(2028, 1, 1, tzinfo=ZoneInfo(zone)) + timedelta(days=n) for n in range(366))
        sets = [
            _values(text, low, high)
            for text, (_, low, high) in zip(times.split(), _FIELDS, strict=True)
        ]
        hour, minute = dice.pick(sorted(sets[1])), dice.pick(sorted(sets[0]))
        runs = [
            at for day in days if _fires(times.split(), at := day.replace(hour=hour, minute=minute))
        ]
        base = dice.pick(runs)
        found = [base.replace(minute=n) for n in range(60)] + [
            base.replace(hour=n) for n in range(24)
        ]
        found += [base.replace(month=n) for n in range(1, 13) if base.day <= 28]
        for month in dice.some(sorted({at.month for at in runs}), 4):
            first = base.replace(month=month, day=1)
            found += [at for n in range(31) if (at := first + timedelta(days=n)).month == month]
        moments |= {at.astimezone(UTC) for at in found}
    return sorted(moments)


@template("cron_table", ("tiny", "easy", "medium"))
def cron_table(draft: TerminalDraft) -> None:
    """A job table that does not match its description, including time zones."""
    dice = draft.dice
    zones = dice.some(("Europe/Berlin", "America/New_York", "Asia/Tokyo", "Australia/Sydney"), 3)
    names = draft.cast.names("service", 5)
    hour, minute = dice.whole(1, 6), dice.whole(1, 58)
    every, day = dice.pick((5, 10, 15, 20)), dice.whole(2, 27)
    start, end = dice.whole(7, 9), dice.whole(15, 18)
    week = dice.whole(1, 5)
    week_name = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")[week - 1]
    jobs = [
        (
            f"{names[0]} runs at {hour:02d}:{minute:02d} in {zones[0]}, Monday to Friday.",
            f"{zones[0]}|{minute} {hour} * * 1-5|{names[0]}",
            f"{zones[0]}|{hour} {minute % 24} * * 1-5|{names[0]}",
        ),
        (
            f"{names[1]} runs every {every} minutes from "
            f"{start}:00 on, for the last time at {end}:00, "
            f"each day, in {zones[1]}.",
            f"{zones[1]}|*/{every} {start}-{end - 1} * * *|{names[1]}\n"
            f"{zones[1]}|0 {end} * * *|{names[1]}",
            f"{zones[1]}|*/{every} {start}-{end} * * *|{names[1]}",
        ),
        (
            f"{names[2]} runs at noon UTC on day {day} of each quarter's first month, whatever the "
            "day of the week.",
            f"UTC|0 12 {day} 1,4,7,10 *|{names[2]}",
            f"UTC|0 12 {day} 1,4,7,10 0-6|{names[2]}",
        ),
        (
            f"{names[3]} runs at 23:{minute:02d} in {zones[2]} on every {week_name}, given the "
            "argument 100 and the word percent.",
            f"{zones[2]}|{minute} 23 * * {week}|{names[3]} 100 percent",
            f"{zones[2]}|{minute} 23 * * {(week + 1) % 7}|{names[3]} 100 % percent",
        ),
        (
            f"{names[4]} runs at 00:30 UTC on the first of January and of July.",
            f"UTC|30 0 1 1,7 *|{names[4]}",
            f"UTC|30 0 1-7 1 *|{names[4]}",
        ),
    ]
    jobs = jobs[: 2 + draft.scale]
    draft.file("minicron", _MINICRON, 0o755)
    broken = dice.shuffled(jobs)
    draft.file("table", "# zone|times|command\n" + "".join(f"{bad}\n" for _, _, bad in broken))
    draft.file("jobs.md", "".join(f"* {text}\n" for text, _, _ in jobs))
    draft.file("table.bak", "".join(f"UTC|{row.split('|', 1)[1]}\n" for _, _, row in broken))
    draft.say(
        "table lists jobs for ./minicron (read it; it stands for the daemon and is right). The "
        "jobs do not run as jobs.md says. Mend /app/table so that they do, every minute of every "
        "year, and nothing else runs."
    )
    draft.keep("minicron", "jobs.md")
    right = [row for _, good, _ in jobs for row in good.split("\n")]
    wrong = [row for _, _, bad in jobs for row in bad.split("\n")]

    def lines_at(rows: list[str], at: datetime) -> list[str]:
        found = []
        for row in rows:
            zone, fields, command = _row(row)
            if _fires(fields, at.astimezone(zone)):
                found.append(f"{at:%Y-%m-%dT%H:%M} {command.split('%')[0].strip()}")
        return found

    for number, (_, good, bad) in enumerate(jobs):
        moments: list[datetime] = []
        tries = 0
        own, other = good.split("\n"), bad.split("\n")
        while len(moments) < 12 and tries < 40_000:
            tries += 1
            row = dice.pick([*own, *other])
            zone, fields, _ = _row(row)
            sets = _sets(fields)
            local = datetime(
                2028,
                dice.pick(sorted(sets[3])),
                1,
                dice.pick(sorted(sets[1])),
                dice.pick(sorted(sets[0])),
                tzinfo=zone,
            )
            local += timedelta(days=dice.whole(0, 27))
            at = local.astimezone(UTC)
            kinds = (bool(lines_at(own, at)), bool(lines_at(other, at)))
            want = ((True, False), (False, True), (True, True))[len(moments) % 3]
            if kinds == want or (tries > 6_000 and kinds[0] != kinds[1]) or tries > 20_000:
                moments.append(at)
        expected = [line for at in moments for line in lines_at(right, at)]
        stamps = " ".join(f"{at:%Y-%m-%dT%H:%M}" for at in moments)
        draft.probe(f"job_{number}", f"./minicron table {stamps}", lines=expected)
        around = _around(dice, own)
        draft.probe(
            f"around_{number}",
            "xargs ./minicron table",
            stdin="".join(f"{at:%Y-%m-%dT%H:%M}\n" for at in around),
            lines=[line for at in around for line in lines_at(right, at)],
        )
    text = "".join(f"{row}\n" for row in right)
    draft.part("table", put("table", text))
    for number, (_, good, bad) in enumerate(jobs):
        draft.mutant(f"left_{number}", put("table", text.replace(good, bad)))
    draft.mutant("other_month", put("table", text.replace("1,4,7,10", "1,4,7,11")))
    draft.alternative(
        "spelled_out",
        put(
            "table",
            "".join(f"{row}\n" for row in reversed(right))
            .replace("*/", "0-59/")
            .replace("1-5|", "1,2,3,4,5|"),
        ),
    )
    del wrong
