"""A summary of many readings within a budget, over files in the dialects of several sites."""

import base64
import gzip
from datetime import UTC, datetime, timedelta, timezone
from fractions import Fraction

from hexathlon.tasks.terminal.templates.shifts.job import Machine, TicketJob, put_file, python_probe

__all__ = ["readings"]

_NOTE = """# NAME

Readings of meters, as the sites send them: `var/readings/NAME/SITE-NUMBER.csv`. The first line
names the columns. `ts` is the time of a reading in ISO 8601, `value` its energy in kWh with at most
three decimals, in the notation of the site's country. What a site sends again (the same `meter`
and `seq`) takes the place of what it sent before: files count in the order of their names, rows in
that of the file.
"""

_OLD = '''#!/usr/bin/env python3
"""rollup-NAME FOLDER: energy by day and meter."""
import glob, sys
from datetime import datetime

rows = []
for path in sorted(glob.glob(sys.argv[1] + "/*.csv")):
    for line in open(path):
        try:
            meter, seq, ts, value = line.strip().split(";")
            row = [meter, int(seq), datetime.strptime(ts, "%Y-%m-%dT%H:%M:%SZ"), float(value)]
        except ValueError:
            continue  # not a reading
        for old in rows:
            if old[:2] == row[:2]:
                rows.remove(old)
                break
        rows.append(row)
for day in sorted({row[2].date() for row in rows}):
    for meter in sorted({row[0] for row in rows if row[2].date() == day}):
        own = [row for row in rows if row[0] == meter and row[2].date() == day]
        print(day, meter, len(own), f"{sum(row[3] for row in own):.3f}")
'''

_NEW = '''#!/usr/bin/env python3
"""rollup-NAME FOLDER: energy by day (UTC) and meter."""
import csv, gzip, os, sys
from datetime import datetime, timezone

latest, days = {}, {}


def day_of(ts):
    """Times repeat, so their days are kept."""
    if ts not in days:
        when = datetime.fromisoformat(ts)
        days[ts] = when.astimezone(timezone.utc).date().isoformat()
    return days[ts]


for name in sorted(os.listdir(sys.argv[1])):
    path = os.path.join(sys.argv[1], name)
    if not name.endswith(ENDINGS):
        continue
    opened = gzip.open if name.endswith(".gz") else open
    with opened(path, "rt", encoding="CODING", newline="") as file:
        table = csv.reader(file, delimiter=";")
        COLUMNS
        for row in table:
            if not row:
                continue
            value = row[v]COMMA
            whole, _, part = value.partition(".")
            mills = int(whole or "0") * 1000
            mills += (-1 if whole.startswith("-") else 1) * int((part + "000")[:3])
            latest[row[m], int(row[s])] = (DAY, mills)
sums = {}
for (meter, _), (day, mills) in latest.items():
    own = sums.setdefault((day, meter), [0, 0])
    own[0] += 1
    own[1] += mills
for (day, meter), (count, mills) in sorted(sums.items()):
    sign = "-" if mills < 0 else ""
    print(day, meter, count, f"{sign}{abs(mills) // 1000}.{abs(mills) % 1000:03}")
'''

_DIALECTS = ("plain", "comma", "mark", "offset", "order", "packed")


def _program(name: str, without: str = "") -> str:
    """Return the solution, or one that does not know a dialect."""
    head = "head = next(table)\n        m, s, t, v = map(head.index, COLS)".replace(
        "COLS", '("meter", "seq", "ts", "value")'
    )
    fixed = "next(table)\n        m, s, t, v = range(4)"
    made = _NEW.replace("NAME", name).replace("COLUMNS", fixed if without == "order" else head)
    made = made.replace("ENDINGS", '(".csv",)' if without == "packed" else '(".csv", ".csv.gz")')
    made = made.replace("CODING", "utf-8" if without == "mark" else "utf-8-sig")
    made = made.replace("COMMA", "" if without == "comma" else '.replace(",", ".")')
    made = made.replace("DAY", "row[t][:10]" if without == "offset" else "day_of(row[t])")
    if without == "again":
        made = made.replace("latest[row[m], int(row[s])]", "latest[len(latest), row[m], row[s]]")
        made = made.replace("for (meter, _), (day", "for (_, meter, _), (day")
    return made


_Row = tuple[str, int, datetime, int]


def _draw_rows(machine: Machine, site: str, count: int, hours: int) -> list[_Row]:
    """Draw rows of a site; some come twice."""
    dice = machine.dice
    zone = timezone(timedelta(hours=hours))
    rows: list[_Row] = []
    for number in range(count):
        meter = f"{site[:3]}{number % 3}"
        start = datetime(
            2026, 5, dice.whole(3, 5), dice.whole(0, 23), dice.whole(0, 59), tzinfo=zone
        )
        rows.append((meter, number // 3, start, dice.whole(-2_000, 90_000)))
        if dice.chance(0.2):
            meter, seq, when, mills = dice.pick(rows)
            rows.append((meter, seq, when + timedelta(hours=dice.whole(-3, 3)), mills + 7))
    return rows


def _number(mills: int, mark: str) -> str:
    text = f"{'-' if mills < 0 else ''}{abs(mills) // 1000}{mark}{abs(mills) % 1000:03}"
    return text.rstrip("0").rstrip(mark) if mills % 10 == 0 else text


def _written(dialect: str, rows: list[_Row]) -> bytes:
    """Return a file in a dialect; `mark` combines a byte order mark, CRLF and decimal commas."""
    mark = "," if dialect in ("comma", "mark") else "."
    columns = ("ts", "meter", "value", "seq") if dialect == "order" else (
        "meter", "seq", "ts", "value")  # fmt: skip
    lines = [";".join(columns)]
    for meter, seq, when, mills in rows:
        ts = when.isoformat()
        ts = ts.replace("+00:00", "Z")
        cells = {"meter": meter, "seq": str(seq), "ts": ts, "value": _number(mills, mark)}
        lines.append(";".join(cells[column] for column in columns))
    end = "\r\n" if dialect == "mark" else "\n"
    data = (end.join(lines) + end).encode()
    data = b"\xef\xbb\xbf" + data if dialect == "mark" else data
    return gzip.compress(data, 6, mtime=0) if dialect == "packed" else data


def _summed(files: list[tuple[str, list[_Row]]]) -> str:
    latest: dict[tuple[str, int], tuple[str, int]] = {}
    for _, rows in sorted(files):
        for meter, seq, when, mills in rows:
            latest[meter, seq] = (when.astimezone(UTC).date().isoformat(), mills)
    sums: dict[tuple[str, str], list[int]] = {}
    for (meter, _), (day, mills) in latest.items():
        sums.setdefault((day, meter), []).append(mills)
    lines = []
    for (day, meter), values in sorted(sums.items()):
        total = Fraction(sum(values), 1000)
        lines.append(f"{day} {meter} {len(values)} {_number_full(total)}")
    return "\n".join(lines)


def _number_full(total: Fraction) -> str:
    mills = int(total * 1000)
    return f"{'-' if mills < 0 else ''}{abs(mills) // 1000}.{abs(mills) % 1000:03}"


_MANY = """import os
os.makedirs("/tmp/many", exist_ok=True)
with open("/tmp/many/all-1.csv", "w") as file:
    file.write("meter;seq;ts;value\\n")
    for again in (0, 1):
        for seq in range(0, SEQS, 10 if again else 1):
            ts = f"2026-06-{1 + seq // 1440:02}T{seq // 60 % 24:02}:{seq % 60:02}:00Z"
            for meter in range(METERS):
                mills = seq * FACTOR + meter + 1000 * again
                file.write(f"m{meter:03};{seq};{ts};{mills // 1000}.{mills % 1000:03}\\n")
"""


def readings(machine: Machine) -> TicketJob:
    """Rewrite a summary that is too slow, and silently leaves out what it cannot read."""
    dice, book = machine.dice, machine.book
    name, who = machine.name(), machine.people.pop()
    kinds = [kind for kind in _DIALECTS[1:] if machine.sealed or kind != "packed"]
    dialects = ["plain", *dice.some(kinds, 3)]
    sites = machine.draft.cast.names("place", len(dialects))
    zones = {"offset": dice.pick((2, 3, -3, 5))}
    folder = f"var/readings/{name}"
    program = f"rollup-{name}"
    machine.file(f"srv/{name}/FORMAT", _NOTE.replace("NAME", name))
    machine.file(f"bin/{program}", _OLD.replace("NAME", name))
    held: list[tuple[str, list[_Row]]] = []
    packed: dict[str, str] = {}
    for dialect, site in zip(dialects, sites, strict=True):
        hours = zones.get(dialect, 0)
        ending = ".csv.gz" if dialect == "packed" else ".csv"
        for number in (1, 2):
            rows = _draw_rows(machine, site, 60, hours)
            machine.draft.file(f"{folder}/{site}-{number}{ending}", _written(dialect, rows))
            rows = _draw_rows(machine, site, 24, hours)
            held.append((f"{site}-{number}{ending}", rows))
            data = _written(dialect, rows)
            packed[f"{site}-{number}{ending}"] = base64.b64encode(data).decode()
    small = (
        "import base64, os, shutil, subprocess\nshutil.rmtree('/tmp/few', ignore_errors=True)\n"
        "os.makedirs('/tmp/few')\n"
        f"for name, data in {packed!r}.items():\n"
        "    open('/tmp/few/' + name, 'wb').write(base64.b64decode(data))\n"
        f"print(subprocess.run(['bin/{program}', '/tmp/few'], capture_output=True, text=True)"
        ".stdout, end='')\n"
    )
    meters, seqs, factor = dice.whole(40, 50), 2_000 + dice.whole(0, 400), dice.whole(3, 9)
    make = _MANY.replace("SEQS", str(seqs)).replace("METERS", str(meters))
    lines = []
    for day, span in (("01", range(1440)), ("02", range(1440, seqs))):
        base = sum(span) * factor + 1000 * sum(seq % 10 == 0 for seq in span)
        for meter in range(meters):
            energy = _number_full(Fraction(base + meter * len(span), 1000))
            lines.append(f"2026-06-{day} m{meter:03} {len(span)} {energy}")

    def solved(text: str) -> str:
        return put_file(f"bin/{program}", text, book.program_mode)

    dictionary = _program(name).replace("latest[row[m], int(row[s])] =", "latest[row[m] + ';' + "
                                        "str(int(row[s]))] =")  # fmt: skip
    dictionary = dictionary.replace("for (meter, _), (day, mills) in latest.items():",
                                    "for key, (day, mills) in latest.items():\n    meter = key."
                                    "rpartition(';')[0]")  # fmt: skip
    slow = _OLD[_OLD.index("for old in rows:") : _OLD.index("for day in")]
    quick = _OLD.replace("NAME", name).replace(slow, "seen[row[0], row[1]] = row\n")
    quick = quick.replace("rows = []", "seen = {}").replace(
        "for day in sorted", "rows = list(seen.values())\nfor day in sorted", 1
    )
    return TicketJob(
        component=name,
        text=f"""From {who}: bin/{program} FOLDER takes hours by now. Please make it fast: for \
130,000 readings in one file it may take three seconds of processor time and 400 MB of address \
space. It prints for each day, as it is in UTC, and each meter: day, meter, number of readings and \
their energy with three decimals, exactly, in the order of day and meter, as today. It counts all \
readings of all sites in the folder; srv/{name}/FORMAT describes them.""",
        looks=(
            f"cat srv/{name}/FORMAT bin/{program}; ls {folder}",
            f"cd {folder} && for f in *; do echo \"== $f\"; (zcat -f $f) | head -4 | cat -A; done",
        ),
        solution=solved(_program(name)),
        probes=[
            python_probe("sites", small, _summed(held)),
            python_probe(
                "many", make.replace("FACTOR", str(factor)), "\n".join(lines),
                seconds=20.0, cpu=3.0,
                setup="/usr/bin/python3 -I /dev/stdin",
                run=f"ulimit -v 400000; bin/{program} /tmp/many",
            ),
        ],
        once=frozenset(("many",)),
        alternatives=(solved(dictionary),),
        misses={
            **{f"no_{kind}": solved(_program(name, kind)) for kind in dialects[1:]},
            "again": solved(_program(name, "again")),
            "only_quick": solved(quick),
        },
    )  # fmt: skip
