"""Permissions, schedules, processes."""

from datetime import UTC, datetime, timedelta

from hexathlon.tasks.terminal.dice import Dice
from hexathlon.tasks.terminal.draft import Draft, put, template

_MODES = """#!/usr/bin/env python3
import csv, fnmatch, os, sys
rules = list(csv.reader(open("/app/policy.csv")))[1:]
top = sys.argv[1]
paths = [top]
for folder, names, files in os.walk(top):
    paths += [os.path.join(folder, n) for n in names + files]
for path in sorted(paths, key=len, reverse=True):
    if os.path.islink(path):
        continue
    name = "." if path == top else os.path.relpath(path, top)
    is_folder = os.path.isdir(path)
    script = not is_folder and open(path, "rb").read(2) == b"#!"
    mode = None
    for pattern, kind, bits in rules:
        if kind not in ("any", "folder" if is_folder else "script" if script else "file"):
            continue
        if fnmatch.fnmatchcase(name if "/" in pattern else os.path.basename(name), pattern):
            mode = int(bits, 8)
            STOP
    if mode is not None:
        os.chmod(path, mode)
"""


@template("perm_policy", ("easy", "medium"))
def perm_policy(draft: Draft) -> None:
    """Apply a table of permissions to any tree: which rule wins, what counts as a script."""
    import fnmatch

    dice = draft.dice
    columns = dice.shuffled((0, 1, 2))
    last, mark, sep = dice.chance(0.5), dice.pick(("#!", "@@", "%!", "::", "=>")), dice.pick(",;|:")
    places = draft.cast.names("service", 4)
    names = draft.cast.names("thing", 6)
    ends = ["txt", "key", "sh", "conf"]
    modes = ["600", "640", "644", "660", "700", "750", "755", "500", "444"]
    rules = [("*", "folder", dice.pick(["755", "750", "711"])), ("*", "file", dice.pick(modes[:4]))]
    rules += [(f"*.{end}", dice.pick(["file", "any"]), dice.pick(modes)) for end in ends[:3]]
    rules += [("*", "script", dice.pick(["755", "700", "750"]))]
    rules += [(f"{place}/*", "file", dice.pick(modes)) for place in places[:2]]
    rules += [(f"*/{names[0]}*", "any", dice.pick(["700", "600", "770"]))]
    rules = dice.shuffled(rules)[: 5 + draft.scale]
    # Names the last part alone: tells whole paths from last parts, wherever it wins.
    rules.insert(len(rules) if last else 0, (f"{names[1]}.*", "file", "620"))
    if not any(kind == "script" for _, kind, _ in rules):
        rules.append(("*", "script", "751"))
    if ("*", "folder") not in [rule[:2] for rule in rules]:
        rules.insert(0, ("*", "folder", "755"))
    draft.file(
        "policy.csv",
        "".join(
            f"{sep.join(row[place] for place in columns)}\n"
            for row in [("pattern", "kind", "mode"), *rules]
        ),
    )
    order = "the last" if last else "the first"
    draft.say(
        "policy.csv is a table of rules for the permissions of a tree. A rule is for files, for "
        f"scripts (files that begin with {mark}, which no rule for files is about), for folders, or "
        "for any of them. A pattern with a slash is matched against the path below the tree's top "
        "(of which the top itself is `.`), one without against the last part alone; * matches any "
        f"characters, slashes too. Where several rules fit, {order} of them in the table holds; "
        "what no rule fits stays as it is. Symbolic links are left alone, and so is what they "
        "point to.\nWrite an executable /app/apply_policy that takes a folder and sets the "
        "permissions below it and of it accordingly."
    )
    draft.keep("policy.csv")

    def kind_of(path: str, folders: set[str], scripts: set[str]) -> str:
        return "folder" if path in folders else "script" if path in scripts else "file"

    for number in range(3):
        files = sorted({
            "/".join([*dice.some(places, dice.whole(0, 2)), f"{dice.pick(names)}.{dice.pick(ends)}"])
            for _ in range(14)
        })  # fmt: skip
        files = sorted({*files, f"{places[3]}/{names[1]}.conf"})
        scripts = {p for p in files if dice.chance(0.3) and not p.endswith(f"{names[1]}.conf")}
        folders = {"."} | {path.rpartition("/")[0] for path in files if "/" in path}
        folders |= {path.partition("/")[0] for path in folders if "/" in path}
        lines = []
        for path in sorted([*files, *folders]):
            fits = [bits for pattern, kind, bits in rules
                    if kind in ("any", kind_of(path, folders, scripts))
                    and fnmatch.fnmatchcase(path if "/" in pattern else path.rpartition("/")[2],
                                            pattern)]  # fmt: skip
            default = "705" if path in folders else "604"
            lines.append(f"{path} {(fits[-1] if last else fits[0]) if fits else default}")
        given = {f"tree{number}/{path}": f"{mark}/bin/sh\n" if path in scripts else "text\n"
                 for path in files}  # fmt: skip
        given |= {f"tree{number}/{places[3]}/{names[1]}.conf": "text\n", "outside": "text\n"}
        run = (f"find tree{number} -type d -exec chmod 705 {{}} +; find tree{number} outside -type f "
               f"-exec chmod 604 {{}} +; ln -s ../outside tree{number}/link; "
               f"./apply_policy tree{number}; chmod u+rwx tree{number}; "
               f"find tree{number} -mindepth 1 ! -type l -printf '%P %m\\n' | grep -v '^outside' | "
               "LC_ALL=C sort; stat -c %a outside")  # fmt: skip
        shown = sorted(line for line in lines if not line.startswith(". "))
        draft.probe(f"tree_{number}", run, files=given, text="\n".join([*shown, "604"]))
    right = (_MODES.replace("STOP", "pass" if last else "break").replace('b"#!"', f'b"{mark}"')
             .replace('csv")))', f'csv"), delimiter="{sep}"))')
             .replace("pattern, kind, bits in", ", ".join(
                 ("pattern", "kind", "bits")[place] for place in columns) + " in"))  # fmt: skip
    faults = {
        "other_order": ("pass\n", "break\n") if last else ("break\n", "pass\n"),
        "no_scripts": ('"script" if script else "file"', '"file"'),
        "whole_path": ('name if "/" in pattern else os.path.basename(name)', "name"),
        "through_links": ("    if os.path.islink(path):\n        continue\n", ""),
    }
    draft.program("apply_policy", right, faults)
    other = right.replace(" in rules:", " in reversed(rules):").replace("pass\n" if last else "break\n", "break\n" if last else "pass\n")  # fmt: skip
    draft.alternative("reversed", put("apply_policy", other, "755"))


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


def _values(text: str, low: int, high: int) -> set[int]:
    found: set[int] = set()
    for part in text.split(","):
        span, _, step = part.partition("/")
        if span == "*":
            first, final = low, high
        else:
            head, _, tail = span.partition("-")
            first, final = int(head), int(tail or head)
        found |= set(range(first, final + 1, int(step or 1)))
    return found


def _fires(fields: list[str], when: datetime) -> bool:
    sets = [_values(text, low, high) for text, (_, low, high) in zip(fields, _FIELDS, strict=True)]
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
                print(at.strftime("FORMAT"), name)
        break
"""


@template("cron_next", ("easy", "medium", "hard"))
def cron_next(draft: Draft) -> None:
    """Say which jobs of a crontab run next; the two fields for days follow cron's own rule."""
    dice = draft.dice
    form = dice.pick(("%Y-%m-%dT%H:%M", "%d.%m.%Y %H:%M", "%Y%m%d-%H%M", "%m/%d/%Y %H:%M"))
    jobs = draft.cast.names("service", 6)

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
        "the same form, a blank and the command. Clock changes do not matter.\nA crontab (see "
        "crontab) has comments, assignments and jobs with five fields; fields hold *, numbers, "
        "ranges, lists and steps, no names. 7 is Sunday too. The fields for the day of the month "
        "and the day of the week follow the usual rule of cron(5): if both are restricted, that "
        "is, neither begins with *, a day that fits either will do."
    )
    for number in range(4 + draft.scale):
        text, rows = table(1 + number % 4)
        while True:
            now = datetime(2027, dice.whole(1, 12), dice.whole(1, 28), dice.whole(0, 23),
                           dice.whole(0, 59), tzinfo=UTC)  # fmt: skip
            result = _next_run(rows, now, form)
            if result:
                break
            text, rows = table(1 + number % 4)
        draft.probe(f"table_{number}", f"./next_run held{number} '{now.strftime(form)}'",
                    files={f"held{number}": text}, text=result)  # fmt: skip
    rows = [(["5", "4", str(dice.whole(10, 20)), "*", str(dice.whole(1, 5))], "/opt/both")]
    now = datetime(2027, 5, 1, 4, 5, tzinfo=UTC)
    for name, start in (
        ("either_day", now),
        ("same_minute", now + timedelta(days=dice.whole(1, 9))),
    ):
        at = datetime.strptime(_next_run(rows, start, form).split(" /opt")[0], form).replace(
            tzinfo=UTC)  # fmt: skip
        moment = start if name == "either_day" else at
        draft.probe(name, f"./next_run held_both '{moment.strftime(form)}'",
                    files={"held_both": f"{' '.join(rows[0][0])} /opt/both\n"},
                    text=_next_run(rows, moment, form))  # fmt: skip
    sunday = [(["0", "0", "*", "*", "7"], "/opt/sunday")]
    draft.probe("sunday", f"./next_run held_sunday '{now.strftime(form)}'",
                files={"held_sunday": "0 0 * * 7 /opt/sunday\n"}, text=_next_run(sunday, now, form))  # fmt: skip
    steps = [(["*/7", "2-20/3", "*", "*", "*"], "/opt/steps")]
    draft.probe("steps", f"./next_run held_steps '{now.strftime(form)}'",
                files={"held_steps": "*/7 2-20/3 * * * /opt/steps\n"},
                text=_next_run(steps, now, form))  # fmt: skip
    right = (_NEXT.replace("FORMAT", form).replace("EITHER", "or")
             .replace("WEEK", "{date.isoweekday() % 7, date.isoweekday()}"))  # fmt: skip
    draft.program("next_run", right, {
        "both_days": ("by_day or by_week", "by_day and by_week"),
        "seven": ("{date.isoweekday() % 7, date.isoweekday()}", "{date.isoweekday() % 7}"),
        "at_once": ("at > now", "at >= now"),
        "no_steps": ("int(step or 1)", "1"),
        "form": (f'strftime("{form}")', 'strftime("%c")'),
    })  # fmt: skip
    slow = right[: right.index("for day in range")] + (
        "at = now.replace(second=0)\nfor _ in range(1440 * 366 * 9):\n"
        "    at += timedelta(minutes=1)\n    hits = []\n    for fields, sets, name in jobs:\n"
        "        if at.minute not in sets[0] or at.hour not in sets[1] or at.month not in sets[3]:\n"
        "            continue\n"
        "        day, week = at.day in sets[2], at.isoweekday() % 7 in {v % 7 for v in sets[4]}\n"
        "        either = not (fields[2][0] == '*' or fields[4][0] == '*')\n"
        "        if (day or week) if either else (day and week):\n            hits.append(name)\n"
        f"    if hits:\n        for name in sorted(hits):\n            print(at.strftime('{form}'), name)\n"
        "        break\n"
    )
    draft.alternative("minute_by_minute", put("next_run", slow, "755"))


def _next_run(rows: list[tuple[list[str], str]], now: datetime, form: str) -> str:
    """By day first, then by minute; empty if nothing runs within a year."""
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


@template("cron_table", ("tiny", "easy", "medium"))
def cron_table(draft: Draft) -> None:
    """A table of jobs that does not do what its description says, zones included."""
    dice = draft.dice
    zones = dice.some(("Europe/Berlin", "America/New_York", "Asia/Tokyo", "Australia/Sydney"), 3)
    names = draft.cast.names("service", 5)
    hour, minute = dice.whole(1, 6), dice.whole(1, 58)
    every, day = dice.pick((5, 10, 15, 20)), dice.whole(2, 27)
    start, end = dice.whole(7, 9), dice.whole(15, 18)
    week = dice.whole(1, 5)
    week_name = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")[week - 1]
    jobs = [
        (f"{names[0]} runs at {hour:02d}:{minute:02d} in {zones[0]}, Monday to Friday.",
         f"{zones[0]}|{minute} {hour} * * 1-5|{names[0]}",
         f"{zones[0]}|{hour} {minute % 24} * * 1-5|{names[0]}"),
        (f"{names[1]} runs every {every} minutes from {start}:00 on, for the last time at {end}:00, "
         f"each day, in {zones[1]}.",
         f"{zones[1]}|*/{every} {start}-{end - 1} * * *|{names[1]}\n"
         f"{zones[1]}|0 {end} * * *|{names[1]}",
         f"{zones[1]}|*/{every} {start}-{end} * * *|{names[1]}"),
        (f"{names[2]} runs at noon UTC on day {day} of each quarter's first month, whatever the "
         "day of the week.",
         f"UTC|0 12 {day} 1,4,7,10 *|{names[2]}", f"UTC|0 12 {day} 1,4,7,10 0-6|{names[2]}"),
        (f"{names[3]} runs at 23:{minute:02d} in {zones[2]} on every {week_name}, given the "
         "argument 100 and the word percent.",
         f"{zones[2]}|{minute} 23 * * {week}|{names[3]} 100 percent",
         f"{zones[2]}|{minute} 23 * * {(week + 1) % 7}|{names[3]} 100 % percent"),
        (f"{names[4]} runs at 00:30 UTC on the first of January and of July.",
         f"UTC|30 0 1 1,7 *|{names[4]}", f"UTC|30 0 1-7 1 *|{names[4]}"),
    ]  # fmt: skip
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
    from zoneinfo import ZoneInfo

    def lines_at(rows: list[str], at: datetime) -> list[str]:
        found = []
        for row in rows:
            zone, times, command = row.split("|", 2)
            here = at.astimezone(ZoneInfo(zone))
            if _fires(times.split(), here):
                found.append(f"{at:%Y-%m-%dT%H:%M} {command.split('%')[0].strip()}")
        return found

    for number, (_, good, bad) in enumerate(jobs):
        moments: list[datetime] = []
        tries = 0
        own, other = good.split("\n"), bad.split("\n")
        while len(moments) < 12 and tries < 40_000:
            tries += 1
            row = dice.pick([*own, *other])
            zone, times, _ = row.split("|", 2)
            sets = [_values(t, low, high)
                    for t, (_, low, high) in zip(times.split(), _FIELDS, strict=True)]  # fmt: skip
            local = datetime(2028, dice.pick(sorted(sets[3])), 1, dice.pick(sorted(sets[1])),
                             dice.pick(sorted(sets[0])), tzinfo=ZoneInfo(zone))  # fmt: skip
            local += timedelta(days=dice.whole(0, 27))
            at = local.astimezone(UTC)
            kinds = (bool(lines_at(own, at)), bool(lines_at(other, at)))
            want = ((True, False), (False, True), (True, True))[len(moments) % 3]
            if kinds == want or (tries > 6_000 and kinds[0] != kinds[1]) or tries > 20_000:
                moments.append(at)
        expected = [line for at in moments for line in lines_at(right, at)]
        stamps = " ".join(f"{at:%Y-%m-%dT%H:%M}" for at in moments)
        draft.probe(f"job_{number}", f"./minicron table {stamps}", lines=expected)
    text = "".join(f"{row}\n" for row in right)
    draft.part("table", put("table", text))
    for number, (_, good, bad) in enumerate(jobs):
        draft.mutant(f"left_{number}", put("table", text.replace(good, bad)))
    draft.alternative("spelled_out", put("table", "".join(
        f"{row}\n" for row in reversed(right)).replace("*/", "0-59/").replace("1-5|", "1,2,3,4,5|")))  # fmt: skip
    del wrong


_SUPERVISE = """#!/usr/bin/env python3
import subprocess, sys
units, order = {}, []
for line in open(sys.argv[1]):
    line = line.strip()
    if line.startswith("["):
        name = line[1:-1]
        units[name] = {"after": [], "retries": DEFAULT, "run": "true"}
        order.append(name)
    elif line and not line.startswith("#"):
        key, _, value = line.partition("=")
        value = value.strip()
        units[name][key.strip()] = value.split() if key.strip() == "after" else (
            int(value) if key.strip() == "retries" else value)
state = {}
while len(state) < len(order):
    ready = [n for n in order if n not in state and all(a in state for a in units[n]["after"])]
    if not ready:
        print("CYCLE", *[n for n in order if n not in state])
        sys.exit(2)
    name = READY
    unit = units[name]
    if any(state[a] != "ok" for a in unit["after"]):
        state[name] = "skipped"
        print(name, "skipped")
        continue
    for attempt in range(1, unit["retries"] + 2):
        code = subprocess.run(["sh", "-c", unit["run"]], stdout=subprocess.DEVNULL).returncode
        print(name, attempt, code)
        if code in GOOD:
            break
        if code == FATAL:
            break
    state[name] = "ok" if code in GOOD else "failed"
    print(name, state[name])
sys.exit(0 if all(s == "ok" for s in state.values()) else 1)
"""


@template("supervise", ("easy", "medium", "hard"))
def supervise(draft: Draft) -> None:
    """Write a supervisor: order by dependencies, retries, codes that end trying."""
    dice = draft.dice
    names = draft.cast.names("service", 6)
    default, fatal = dice.whole(0, 2), dice.whole(90, 110)
    also = dice.whole(3, 60)
    good = (0, also)
    alphabetical = dice.chance(0.5)

    def units(count: int, cycle: bool) -> tuple[str, list[str], int]:
        chosen = dice.some(names, count)
        text, spec = "# units\n", {}
        for place, name in enumerate(chosen):
            after = dice.some(chosen[:place], min(place, dice.whole(0, 2)))
            if cycle and place == 1:
                after = [chosen[-1]]
            if cycle and place == count - 1:
                after = [chosen[1]]
            codes = [dice.pick((0, also, 1, 7, fatal)) for _ in range(4)]
            retries = dice.pick((None, 0, 1, 3))
            spec[name] = (after, retries, codes)
        for name in dice.shuffled(chosen):
            after, retries, codes = spec[name]
            text += f"[{name}]\nrun = n=$(cat /tmp/{name} 2>/dev/null || echo 0); "
            text += f"echo $((n + 1)) > /tmp/{name}; set -- {' '.join(map(str, codes))}; "
            text += "shift $n; exit $1\n"
            text += f"after = {' '.join(after)}\n" if after else ""
            text += f"retries = {retries}\n" if retries is not None else ""
        order = [line[1:-1] for line in text.split("\n") if line.startswith("[")]
        return text, *_supervised(spec, order)

    def _supervised(
        spec: dict[str, tuple[list[str], int | None, list[int]]], order: list[str]
    ) -> tuple[list[str], int]:
        state: dict[str, str] = {}
        lines: list[str] = []
        while len(state) < len(order):
            ready = [n for n in order if n not in state and all(a in state for a in spec[n][0])]
            if not ready:
                return [*lines, " ".join(["CYCLE", *[n for n in order if n not in state]])], 2
            name = min(ready) if alphabetical else ready[0]
            after, retries, codes = spec[name]
            if any(state[a] != "ok" for a in after):
                state[name] = "skipped"
                lines.append(f"{name} skipped")
                continue
            code = 0
            for attempt in range(1, (default if retries is None else retries) + 2):
                code = codes[attempt - 1]
                lines.append(f"{name} {attempt} {code}")
                if code in good or code == fatal:
                    break
            state[name] = "ok" if code in good else "failed"
            lines.append(f"{name} {state[name]}")
        return lines, 0 if all(s == "ok" for s in state.values()) else 1

    text, lines, _ = units(3, False)
    draft.file("units.conf", text)
    draft.file("units.log", "\n".join(lines[:3]) + "\n[the rest is lost]\n")
    first = "the first by name" if alphabetical else "the first in the file"
    draft.say(
        "Write an executable /app/supervise that takes the path of a file such as units.conf, "
        "runs its units one after another and prints what happens.\n"
        f"* A unit can run once all units named in `after` have ended. Of those that can, {first} "
        "is run.\n"
        "* If one of the units named in `after` is not ok, the unit is not run: print `NAME "
        "skipped`; that does not count as ok.\n"
        "* `run` is given to sh. After each try print `NAME TRY CODE`, tries counted from 1 and "
        f"CODE the exit status. {good[0]} and {good[1]} count as success; after {fatal} there is "
        "no further try; after any other status there are as many further tries as `retries` "
        f"says, {default} where it says nothing. What commands print is dropped.\n"
        "* Then print `NAME ok` or `NAME failed`.\n"
        "* When units are left and none can run, print `CYCLE` and the names of those left, in "
        "the file's order, and exit with 2. Else exit with 0 if all were ok, with 1 if not."
    )
    for number in range(4):
        text, lines, code = units(3 + number % 3 + draft.scale // 3, cycle=number == 3)
        draft.probe(f"units_{number}", f"rm -f /tmp/*; ./supervise held{number}",
                    files={f"held{number}": text}, text="\n".join(lines), exit=code)  # fmt: skip
    draft.probe("codes", "rm -f /tmp/*; ./supervise held_codes", exit=1, files={
        "held_codes": f"[z]\nrun = exit {also}\n[y]\nrun = echo noise; exit {fatal}\nretries = 3\n"
        f"[b]\nafter = y\nrun = true\n[a]\nafter = b\nrun = true\n[x]\nrun = exit 1\n"},
        text="\n".join(_supervised({"z": ([], None, [also]), "y": ([], 3, [fatal]),
                                    "b": (["y"], None, [0]), "a": (["b"], None, [0]),
                                    "x": ([], None, [1] * 4)}, list("zybax"))[0]))  # fmt: skip
    right = (_SUPERVISE.replace("DEFAULT", str(default)).replace("FATAL", str(fatal))
             .replace("GOOD", str(good)).replace("READY", "min(ready)" if alphabetical else "ready[0]"))  # fmt: skip
    draft.program("supervise", right, {
        "zero_only": (f"code in {good}", "code == 0"),
        "no_fatal": (f"code == {fatal}", "False"),
        "skips_ok": ('state[name] = "skipped"', 'state[name] = "ok"'),
        "one_try_less": ('unit["retries"] + 2', 'unit["retries"] + 1'),
        "other_order": ("name = min(ready)", "name = max(ready)") if alphabetical
        else ("name = ready[0]", "name = ready[-1]"),
    })  # fmt: skip
    other = right.replace("subprocess.run([\"sh\", \"-c\", unit[\"run\"]], stdout=subprocess.DEVNULL)"
                          ".returncode", "os.waitstatus_to_exitcode(os.system("
                          "'( ' + unit['run'] + ' ) >/dev/null'))").replace(
        "import subprocess, sys", "import os, sys")  # fmt: skip
    draft.alternative("os_system", put("supervise", other, "755"))


_CONTROL = """#!/bin/bash
# control start|stop|status|restart
pidfile=/tmp/NAME.pid
alive() {
  [ -s "$pidfile" ] || return 1
  pid=$(cat "$pidfile")
  CHECK
}
case "$1" in
  start)
    if alive; then echo "already running"; exit EXIT_ALREADY; fi
    NAME_FLAG=1 setsid bash -c 'exec -a NAME-worker sleep 600' >/dev/null 2>&1 </dev/null &
    echo $! > "$pidfile"
    for _ in $(seq 100); do alive && break; sleep 0.01; done
    echo started ;;
  stop)
    if ! alive; then CLEAN echo "not running"; exit EXIT_STOPPED; fi
    kill "$(cat "$pidfile")"
    for _ in $(seq 200); do alive || break; sleep 0.01; done
    rm -f "$pidfile"
    echo stopped ;;
  status)
    if alive; then echo running; elif [ -e "$pidfile" ]; then echo dead; exit EXIT_DEAD
    else echo stopped; exit EXIT_STOPPED; fi ;;
  restart)
    "$0" stop >/dev/null RESTART "$0" start ;;
  *) echo "usage: control start|stop|status|restart"; exit 64 ;;
esac
"""


@template("service_control", ("easy", "medium"))
def service_control(draft: Draft) -> None:
    """A control script that trusts a stale process id."""
    dice = draft.dice
    name = draft.cast.name("service")
    codes = dice.some(range(1, 30), 3)
    right = (_CONTROL.replace("NAME", name).replace("EXIT_ALREADY", str(codes[0]))
             .replace("EXIT_STOPPED", str(codes[1])).replace("EXIT_DEAD", str(codes[2])))  # fmt: skip
    parts = {
        "CHECK": (f"kill -0 \"$pid\" 2>/dev/null && grep -qa '^{name}-worker' \"/proc/$pid/cmdline\" "
                  "2>/dev/null && ! grep -q '^State:.Z' \"/proc/$pid/status\" 2>/dev/null",
                  "[ -e \"/proc/$pid\" ]"),
        "CLEAN": ("rm -f \"$pidfile\";", ""),
        "RESTART": (";", "&&"),
    }  # fmt: skip

    def script(broken: list[str]) -> str:
        text = right
        for key, (good, bad) in parts.items():
            text = text.replace(key, bad if key in broken else good)
        return text

    draft.file("control", script(sorted(parts)), 0o755)
    draft.say(
        f"/app/control starts and stops a background worker of {name}, whose process calls itself "
        f"`{name}-worker` and whose id is kept in /tmp/{name}.pid. Mend it:\n"
        "* A process id in that file counts only if a process of that id lives and is such a "
        "worker; ids of dead processes get used again by others, which must not be touched.\n"
        f"* `status` prints running (exit 0), dead (file there, no worker; exit {codes[2]}) or "
        f"stopped (no file; exit {codes[1]}).\n"
        f"* `start` prints `already running` and exits with {codes[0]} if the worker lives; after "
        "a crash it starts anew.\n"
        f"* `stop` ends the worker and removes the file; without a living worker it removes the "
        f"file, prints `not running` and exits with {codes[1]}.\n"
        "* `restart` leaves a living worker, also when none lived before, and prints `started`."
    )
    pid = f"/tmp/{name}.pid"
    gone = "for _ in $(seq 300); do kill -0 $p 2>/dev/null || break; sleep 0.01; done"
    say = '{ ./control %s; echo "= $?"; }'
    clean = f"; ./control stop >/dev/null 2>&1; kill $p 2>/dev/null; rm -f {pid}; true"
    draft.probe("normal", "; ".join(say % word for word in (
        "status", "start", "status", "start", "stop", "status", "stop")) + clean,
        text=f"stopped\n= {codes[1]}\nstarted\n= 0\nrunning\n= 0\nalready running\n= {codes[0]}\n"
        f"stopped\n= 0\nstopped\n= {codes[1]}\nnot running\n= {codes[1]}")  # fmt: skip
    draft.probe("crashed", f"./control start; p=$(cat {pid}); kill -9 $p; {gone}; " + "; ".join(
        say % word for word in ("status", "start", "status")) + clean,
        text=f"started\ndead\n= {codes[2]}\nstarted\n= 0\nrunning\n= 0")  # fmt: skip
    draft.probe("reused", f"sleep 300 & p=$!; echo $p > {pid}; " + "; ".join(
        say % word for word in ("status", "stop", "status")) + "; kill -0 $p && echo alive" + clean,
        text=f"dead\n= {codes[2]}\nnot running\n= {codes[1]}\nstopped\n= {codes[1]}\nalive")  # fmt: skip
    draft.probe("restarted", f"{say % 'restart'}; p=$(cat {pid}); {say % 'restart'}; {gone}; "
                f"kill -0 $p 2>/dev/null || echo old gone; {say % 'status'}" + clean,
                text="started\n= 0\nstarted\n= 0\nold gone\nrunning\n= 0")  # fmt: skip
    draft.part("control", put("control", script([]), "755"))
    for key in parts:
        draft.mutant(f"left_{key.lower()}", put("control", script([key]), "755"))
    other = script([]).replace('kill -0 "$pid" 2>/dev/null && grep -qa', "grep -qsa")
    draft.alternative("proc_only", put("control", other, "755"))
