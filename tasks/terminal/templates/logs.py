"""Log files: clocks in several time zones, bursts of failed logins, multi-line records."""

import json
import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from hexathlon.tasks.terminal.dice import Dice
from hexathlon.tasks.terminal.draft import TerminalDraft, put, template

ZONES = (
    "Europe/Berlin",
    "America/New_York",
    "Asia/Kolkata",
    "Australia/Adelaide",
    "America/St_Johns",
    "Asia/Tokyo",
    "Europe/Lisbon",
    "America/Denver",
)
WORDS = "started stopped reloaded rotated connected dropped retried flushed paused resumed".split()


STAMPS = ("%d/%b/%Y:%H:%M:%S", "%Y.%m.%d %H-%M-%S", "%m/%d/%Y %I:%M:%S %p", "%y%m%dT%H%M%S")
PRINTED = ("%Y-%m-%dT%H:%M:%SZ", "%Y%m%d %H%M%S", "%d.%m.%Y %H:%M:%S", "%j/%Y %H:%M:%S")
ROWS = ("{at} {host} {text}", "{host} {at} {text}", "{at}|{host}|{text}", "{host}: {text} ({at})")


class _ZoneLogs:
    """The way in which one task writes and merges its logs."""

    def __init__(self, dice: Dice) -> None:
        self.dice = dice
        self.stamp, self.printed, self.row = map(dice.pick, (STAMPS, PRINTED, ROWS))
        self.backwards = dice.chance(0.5)

    def write(self, zones: dict[str, str], count: int, now: datetime) -> tuple[dict[str, str], str]:
        """Return log files by name, in each host's local time, and the merged text."""
        dice, hosts = self.dice, list(zones)
        lines: dict[str, list[str]] = {host: [] for host in hosts}
        merged: list[tuple[datetime, str, int, str]] = []
        for number in range(count):
            now += timedelta(seconds=dice.pick((0, 0, 7, 61, 600, 1_900)))
            host = dice.pick(hosts)
            text = f"{dice.pick(WORDS)} unit-{dice.whole(1, 99):02d} n={dice.whole(1, 999)}"
            local = now.astimezone(ZoneInfo(zones[host]))
            offset = f" {local:%z}" if host == hosts[-1] else ""
            lines[host].append(f"[{local.strftime(self.stamp)}{offset}] {text}")
            merged.append((now, host, number, text))
        merged.sort(key=lambda item: item[1], reverse=self.backwards)
        merged.sort(key=lambda item: (item[0], 0))
        files = {f"{host}.log": "".join(f"{x}\n" for x in own) for host, own in lines.items()}
        return files, "".join(self._row(at, host, text) + "\n" for at, host, _, text in merged)

    def _row(self, at: datetime, host: str, text: str) -> str:
        return self.row.format(at=at.strftime(self.printed), host=host, text=text)


_MERGE = """#!/usr/bin/env python3
import json, os, sys
from datetime import datetime, timezone
from zoneinfo import ZoneInfo
folder = sys.argv[1]
zones = json.load(open(os.path.join(folder, "zones.json")))
rows = []
for host in sorted(zones, reverse=BACKWARDS):
    path = os.path.join(folder, host + ".log")
    if not os.path.exists(path):
        continue
    for line in open(path):
        stamp, text = line.rstrip("\\n")[1:].split("] ", 1)
        if stamp[-5] in "+-":
            when = datetime.strptime(stamp, "STAMP %z")
        else:
            when = datetime.strptime(stamp, "STAMP").replace(tzinfo=ZONE)
        rows.append((when.astimezone(timezone.utc), host, text))
rows.sort(key=lambda row: row[0])
for at, host, text in rows:
    at = at.strftime("PRINTED")
    print(f"ROW")
"""
_ZONE = "ZoneInfo(zones[host])"
_WINTER = f"timezone(datetime(2025, 1, 15, tzinfo={_ZONE}).utcoffset())"


@template("log_zones", ("easy", "medium"))
def log_zones(draft: TerminalDraft) -> None:
    """Merge logs with clocks in different time zones, in any season."""
    dice = draft.dice
    form = _ZoneLogs(dice)

    def zones() -> dict[str, str]:
        hosts = draft.cast.names("host", 2 + draft.scale)
        return dict(zip(hosts, dice.some(ZONES, len(hosts)), strict=True))

    own = zones()
    winter = datetime(2025, 2, 2, 4, tzinfo=UTC) + timedelta(days=dice.whole(0, 20))
    for path, text in form.write(own, 12 * draft.scale, winter)[0].items():
        draft.file(f"logs/{path}", text)
    draft.file("logs/zones.json", _json(own))
    draft.file(
        "README.old",
        "All machines run on UTC, so merging is a matter of `sort -m`.\n"
        "(written before the move)\n",
    )
    example = form._row(datetime(2025, 1, 31, 22, 5, 9, tzinfo=UTC), "HOST", "MESSAGE")
    draft.say(
        f"The machines of {draft.cast.name('service')} log in their own local time; "
        "logs/zones.json names the zone of each. A line whose stamp ends in a numeric offset has "
        "that offset.\nWrite an executable /app/merge that takes a folder of the same form as "
        "/app/logs and prints all lines of the hosts in its zones.json in the order in which they "
        "happened, a line logged at five minutes and nine seconds past 22:00 UTC on 31 January "
        f"2025 as\n\n    {example}\n\nalways in UTC. Lines of the same second: hosts in "
        f"{'reverse ' * form.backwards}alphabetical order, lines of one host in the order of its "
        "file. A host may have no log file; other files are no logs of hosts. It must work at any "
        "time of the year; but lines without an offset never come from an hour that occurs twice, "
        "when clocks are put back."
    )
    for season, month in (("winter", 1), ("summer", 7), ("south", 11), ("spring", 4)):
        held = zones()
        start = datetime(2025, month, dice.whole(10, 20), dice.whole(0, 20), tzinfo=UTC)
        files, merged = form.write(held, 30, start)
        given = {f"held_{season}/{path}": text for path, text in files.items() if text}
        given |= {f"held_{season}/zones.json": _json(held), f"held_{season}/notes.log": "none\n"}
        draft.probe(season, f"./merge held_{season}", files=given, text=merged)
    program = (
        _MERGE.replace("STAMP", form.stamp)
        .replace("PRINTED", form.printed)
        .replace("ROW", form.row)
        .replace("BACKWARDS", str(form.backwards))
    )
    right = program.replace("ZONE", _ZONE)
    draft.part("merge", put("merge", right, "755"))
    draft.mutant("all_utc", put("merge", program.replace("ZONE", "timezone.utc"), "755"))
    draft.mutant("winter_time", put("merge", program.replace("ZONE", _WINTER), "755"))
    draft.mutant("not_merged", put("merge", right.replace("rows.sort", "rows.copy().sort"), "755"))
    draft.mutant(
        "given_logs",
        put("merge", right, "755")
        + "./merge logs > out\n"
        + put("merge", "#!/bin/sh\ncat /app/out\n"),
    )
    piped = right.replace("rows.sort(key=lambda row: row[0])", "import heapq").replace(
        "for at, host, text in rows:",
        "keyed = [(row[0].timestamp(), place, row) for place, row in enumerate(rows)]\n"
        "heapq.heapify(keyed)\n"
        "for at, host, text in (heapq.heappop(keyed)[2] for _ in range(len(keyed))):",
    )
    draft.alternative("heap", put("merge", piped, "755"))


def _json(value: object) -> str:
    return json.dumps(value, indent=1, sort_keys=True) + "\n"


def _login_log(dice: Dice, people: list[str], start: int, count: int, gap: int) -> list[list[str]]:
    rows: list[list[str]] = []
    now = start
    addresses = [f"10.{dice.whole(0, 9)}.{dice.whole(0, 9)}.{dice.whole(1, 250)}" for _ in range(6)]
    while len(rows) < count:
        address, person = dice.pick(addresses), dice.pick(people)
        for _ in range(dice.whole(1, 7)):
            rows.append([str(now), "fail", person, address])
            now += dice.whole(1, gap)
        if dice.chance(0.6):
            rows.append([str(now), "ok", person, address])
            now += dice.whole(1, gap)
    return rows


def _breaches(rows: list[list[str]], fails: int, window: int) -> str:
    found: list[str] = []
    for place, (at, kind, person, address) in enumerate(rows):
        if kind != "ok":
            continue
        recent = [
            r
            for r in rows[:place]
            if r[1] == "fail"
            and r[3] == address
            and int(at) - int(r[0]) <= window
            and r[2] == person
        ]
        if len(recent) >= fails:
            found.append(f"{at} {person} {address} {len(recent)}")
    return "".join(f"{line}\n" for line in found)


_BREACH = """#!/usr/bin/env python3
import sys
rows = [line.split() for line in open(sys.argv[1]) if line.strip() and not line.startswith("#")]
rows = [(int(at), kind, person, address) for at, kind, person, address in rows]
ORDER
for place, (at, kind, person, address) in enumerate(rows):
    if kind == "ok":
        recent = [r for r in rows[:place] if r[1] == "fail" and r[3] == address
                  and at - r[0] <= WINDOW PERSON]
        if len(recent) >= FAILS:
            print(at, person, address, len(recent))
"""


@template("log_breaches", ("tiny", "easy", "medium"))
def log_breaches(draft: TerminalDraft) -> None:
    """Find logins that followed a burst of failures; the rule in force is not the one in README."""
    dice, people = draft.dice, draft.cast.names("person", 5)
    fails, window = dice.whole(2, 5), dice.whole(20, 240)
    prog = f"{draft.cast.name('service')}_breaches"
    start = 1_760_000_000 + dice.whole(0, 9_999)

    def log(count: int) -> tuple[str, str]:
        rows = _login_log(dice, people, start, count, window // 3)
        result = _breaches(rows, fails, window)
        written = dice.shuffled(rows) if draft.scale > 1 else rows
        head = "# seconds event user address\n"
        return head + "".join(" ".join(row) + "\n" for row in written), result

    text, _ = log(40)
    draft.file("auth.log", text)
    draft.file(
        "policy.ini",
        "; superseded values stay for the record\n[2023]\nfails = 1\nwindow = 3600\n\n"
        f"[current]\nfails = {fails}\nwindow = {window}\n",
    )
    draft.file(
        "README",
        f"A breach is {fails + 2} failed logins within {window * 2} seconds.\n"
        "(2021; see policy.ini, section current, for what holds now)\n",
    )
    shuffle = " Lines may stand in any order; seconds of one user never repeat." * (draft.scale > 1)
    draft.say(
        "auth.log lists logins: seconds, event (ok or fail), user, address. A breach is an `ok` "
        "that comes after at least FAILS failed logins of the same user from the same address, "
        "each at most WINDOW seconds before it. FAILS and WINDOW are those of policy.ini that "
        f"hold now.\nWrite an executable /app/{prog} that takes the path of such a log and "
        "prints, in order of time, a line for each breach: the seconds of the `ok`, the user, the "
        f"address, and how many failures counted.{shuffle}"
    )
    for number in range(4):
        text, result = log(60 + 40 * number)
        draft.probe(
            f"held_{number}",
            f"./{prog} held_{number}.log",
            files={f"held_{number}.log": text},
            text=result,
        )
    right = (
        _BREACH.replace("ORDER", "rows.sort()")
        .replace("FAILS", str(fails))
        .replace("WINDOW", str(window))
        .replace("PERSON", "and r[2] == person")
    )
    draft.part("breaches", put(prog, right, "755"))
    for name, old, new in (
        ("any_user", "and r[2] == person", ""),
        ("more_than", f">= {fails}", f"> {fails}"),
        ("old_window", f"<= {window}", f"<= {window * 2}"),
        ("per_user", " and r[3] == address", ""),
    ):
        draft.mutant(name, put(prog, right.replace(old, new), "755"))
    awk = f"""#!/bin/sh
grep -v '^#' "$1" | sort -n | awk '
  $2 == "fail" {{ k = $3 " " $4; t[k, ++n[k]] = $1 }}
  $2 == "ok" {{ k = $3 " " $4; c = 0
    for (i = 1; i <= n[k]; i++) if ($1 - t[k, i] <= {window}) c++
    if (c >= {fails}) print $1, $3, $4, c }}'
"""
    draft.alternative("awk", put(prog, awk, "755"))


_DIGEST = """#!/usr/bin/env python3
import re, sys
counts, current = {}, None
for line in open(sys.argv[1]):
    line = line.rstrip("\\n")
    match = re.match(r"(\\d{4}-\\d\\d-\\d\\d) (\\w+) (\\S+): (.*)", line)
    if match:
        current = None
        if match[2].upper() in LEVELS:
            key = (match[3], HEAD)
            counts.setdefault(key, [0, 0])
            counts[key][0] += 1
            current = key
    elif current is not None and CONTINUES:
        counts[current][1] += 1
for (service, head), (count, lines) in sorted(counts.items(), key=lambda i: (-i[1][0], i[0])):
    print(count, lines, service, head)
"""


@template("log_digest", ("easy", "medium"))
def log_digest(draft: TerminalDraft) -> None:
    """Count multi-line error records, with numbers masked."""
    dice, services = draft.dice, draft.cast.names("service", 5)
    marker = dice.pick(("    ", "\t", "| ", ".. ", "> ", "+ ", "\t- ", "  ~"))
    severe = tuple(dice.some(("ERROR", "FATAL", "CRIT", "ALERT"), dice.whole(2, 3)))
    mask = dice.pick("#@%$&*")
    heads = [
        "lost {} of {} parts",
        "timeout after {} ms",
        "no reply from node {}",
        "disk {} at {} percent",
        "bad checksum",
    ]

    def log(count: int) -> tuple[str, str]:
        lines, counts = [], dict[tuple[str, str], list[int]]()
        for _ in range(count):
            level = dice.pick(("INFO", "WARN", "ERROR", "FATAL", "CRIT", "ALERT"))
            level = dice.pick((level, level, level.lower(), level.title()))
            service, head = dice.pick(services), dice.pick(heads)
            text = head.format(dice.whole(1, 900), dice.whole(1, 900))
            lines.append(f"2025-0{dice.whole(1, 9)}-1{dice.whole(0, 9)} {level} {service}: {text}")
            trace = dice.whole(0, 3)
            for _ in range(trace):
                lines.append(f"{marker}at step {dice.whole(1, 50)}")
            noise = dice.chance(0.15)
            if noise:
                lines.append("(rotated)")
            if level.upper() in severe:
                entry = counts.setdefault((service, re.sub(r"\d+", mask, text)), [0, 0])
                entry[0] += 1
                entry[1] += trace
        order = sorted(counts.items(), key=lambda item: (-item[1][0], item[0]))
        result = "".join(f"{n} {more} {who} {head}\n" for (who, head), (n, more) in order)
        return "\n".join(lines) + "\n", result

    draft.file("app.log", log(40)[0])
    draft.file(
        "digest",
        "#!/bin/sh\n# does not do it: counts lines, not records\n"
        "grep -i error \"$1\" | cut -d' ' -f3 | sort | uniq -c\n",
        0o755,
    )
    draft.say(
        "app.log holds records. A record starts with `DATE LEVEL SERVICE: MESSAGE`; the lines "
        f"after it that start with {marker!r} (as a Python string) belong to it, other lines to "
        "nothing.\nRewrite the executable /app/digest so that, given the path of such a log, it "
        f"prints one line for each service and message among the records of level "
        f"{' or '.join(severe)} (in any case of letters): how many records, how many lines belong "
        "to them beside the first, the service, the message. Each run of digits in a message is "
        f"first replaced by one {mask}, so that messages that differ in numbers alone count as "
        "one. Order: most records first, then by service, then by message, in byte order."
    )
    for number in range(3):
        text, result = log(80 + 60 * number)
        draft.probe(
            f"held_{number}",
            f"./digest held_{number}.log",
            files={f"held_{number}.log": text},
            text=result,
        )
    right = (
        _DIGEST.replace("LEVELS", repr(severe))
        .replace("CONTINUES", f"line.startswith({marker!r})")
        .replace("HEAD", f're.sub(r"\\d+", {mask!r}, match[4])')
    )
    draft.part("digest", put("digest", right, "755"))
    for name, old, new in (
        ("case", "match[2].upper()", "match[2]"),
        ("digit_by_digit", r'r"\d+"', r'r"\d"'),
        ("any_line", f"line.startswith({marker!r})", "True"),
        ("by_name", "(-i[1][0], i[0])", "i[0]"),
    ):
        draft.mutant(name, put("digest", right.replace(old, new), "755"))
    other = right.replace(
        "import re, sys", "import re, sys\nfrom functools import partial"
    ).replace(
        "sorted(counts.items(), key=lambda i: (-i[1][0], i[0]))",
        "sorted(sorted(counts.items()), key=lambda i: i[1][0], reverse=True)",
    )
    draft.alternative("stable_sort", put("digest", other, "755"))
