"""Tables: CSV cleaning, legacy fixed-width records, reconciliation of two ledgers."""

import csv
import io
import json
from typing import Any

from hexathlon.tasks.terminal.dice import Dice
from hexathlon.tasks.terminal.draft import TerminalDraft, put, template


def _csv_text(rows: list[list[str]], sep: str, end: str) -> str:
    out = io.StringIO()
    csv.writer(out, delimiter=sep, lineterminator=end).writerows(rows)
    return out.getvalue()


_CLEAN = """#!/usr/bin/env python3
import csv, sys
with open(sys.argv[1], encoding="utf-8-sig", newline="") as file:
    rows = list(csv.reader(file, delimiter="SEP"))
head = [h.strip() for h in rows[0]]
rows = [dict(zip(head, r)) for r in rows[1:] if r]
best = {}
for row in rows:
    key = row["KEY"].strip().FOLD()
    stamp = row["STAMP"].strip()
    day = stamp[6:10] + stamp[3:5] + stamp[0:2]
    if key and (key not in best or day >= best[key][0]):
        best[key] = (day, row)
out = csv.writer(sys.stdout, lineterminator="\\n")
out.writerow(["KEY", "STAMP", "AMOUNT", "TEXT"])
for key in sorted(best):
    day, row = best[key]
    amount = row["AMOUNT"].strip().replace(".", "").replace(",", ".")
    if amount.endswith("-"):
        amount = "-" + amount[:-1]
    text = " ".join(row["TEXT"].split())
    out.writerow([key, f"{day[:4]}-{day[4:6]}-{day[6:]}", f"{float(amount):.2f}", text])
"""


@template("csv_clean", ("tiny", "easy", "medium"))
def csv_clean(draft: TerminalDraft) -> None:
    """Clean a table: byte order mark, line breaks in fields, decimal commas, repeated keys."""
    dice = draft.dice
    key, stamp, amount, text = draft.cast.names("key", 4)
    other = draft.cast.name("service")
    things = draft.cast.names("thing", 6)
    sep, fold = dice.pick(";|\t"), dice.pick(("lower", "upper"))
    columns = dice.shuffled([key, stamp, amount, text, other])

    def case(count: int) -> tuple[str, str]:
        rows, best = [[f" {columns[0]}", *columns[1:]]], dict[str, tuple[str, list[str]]]()
        for _ in range(count):
            name = f"{dice.pick(things)}-{dice.whole(1, 3)}"
            year, month, day = dice.whole(2019, 2026), dice.whole(1, 12), dice.whole(1, 28)
            cents = dice.whole(-2_000_000, 9_000_000)
            shown = f"{abs(cents) // 100:,}".replace(",", ".") + f",{abs(cents) % 100:02d}"
            words = " ".join(dice.some(things, 2))
            raw = dice.pick((f"{words}", f'the "{words}"', f"a{sep}  {words}", f"{words}\nlate"))
            cells = {
                key: f" {dice.pick((name, name.upper(), name.title()))} ",
                stamp: f"{day:02d}.{month:02d}.{year}",
                text: raw,
                other: dice.hexa(4),
                amount: shown + "-" if cents < 0 else shown,
            }
            if dice.chance(0.1):
                cells[key] = "  "
            rows.append([cells[name] for name in columns])
            own = getattr(cells[key].strip(), fold)()
            when = f"{year}-{month:02d}-{day:02d}"
            if own and (own not in best or when >= best[own][0]):
                done = [own, when, f"{cents / 100:.2f}", " ".join(raw.split())]
                best[own] = (when, done)
        given = "\ufeff" + _csv_text(rows, sep, "\r\n")
        result = [[key, stamp, amount, text], *[best[k][1] for k in sorted(best)]]
        return given, _csv_text(result, ",", "\n")

    sample, cleaned = case(6)
    draft.file("sample.csv", sample)
    if draft.scale < 3:
        draft.file("sample.clean.csv", cleaned)
    draft.say(
        f"Write an executable /app/clean that takes the path of a table such as sample.csv and "
        "prints it cleaned, as CSV with commas and plain line feeds, fields quoted only where "
        f"needed, with the columns {key}, {stamp}, {amount}, {text} under a heading.\n"
        f"The input is UTF-8 with a byte order mark, its fields parted by {sep!r} and quoted as "
        "in CSV; its columns may come in any order, names in the heading may have blanks around "
        f"them.\n* {key}: no blanks around it, in {fold} case; rows without it are dropped.\n"
        f"* {stamp}: given as DD.MM.YYYY, wanted as YYYY-MM-DD.\n"
        f"* {amount}: points part thousands, a comma the decimals, a minus stands at the end; "
        "wanted with a point and two decimals.\n"
        f"* {text}: runs of white space, line breaks too, become one blank.\n"
        f"* Of several rows with the same {key} the one with the latest {stamp} stays, the last "
        f"of them if several share it. Rows are sorted by {key} in byte order."
    )
    for number in range(3):
        columns = dice.shuffled(columns)
        given, result = case(30 + 20 * number)
        draft.probe(
            f"table_{number}",
            f"./clean held{number}.csv",
            files={f"held{number}.csv": given},
            text=result,
        )
    right = _CLEAN
    for old, new in (
        ("SEP", "\\t" if sep == "\t" else sep),
        ("KEY", key),
        ("STAMP", stamp),
        ("AMOUNT", amount),
        ("TEXT", text),
        ("FOLD", fold),
    ):
        right = right.replace(old, new)
    draft.program(
        "clean",
        right,
        {
            "first_wins": ("day >= best[key][0]", "False"),
            "with_mark": ("utf-8-sig", "utf-8"),
            "no_thousands": ('.replace(".", "")', ""),
            "minus": ('if amount.endswith("-")', "if False and amount"),
            "as_dates_stand": (
                "day = stamp[6:10] + stamp[3:5] + stamp[0:2]",
                "day = stamp.replace('.', '')",
            ),
        },
    )
    dictionary = right.replace(
        "rows = list(csv.reader(file", "import decimal\n    rows = list(csv.reader(file"
    )
    dictionary = dictionary.replace('f"{float(amount):.2f}"', "str(decimal.Decimal(amount))")
    draft.alternative("decimals", put("clean", dictionary, "755"))


_FIXED = """#!/usr/bin/env python3
import json, sys
FIELDS = {fields}
def number(text, decimals):
    last = text[-1]
    if last in "{plus}":
        text, sign = text[:-1] + str("{plus}".index(last)), 1
    elif last in "{minus}":
        text, sign = text[:-1] + str("{minus}".index(last)), -1
    else:
        sign = 1
    return sign * int(text) / 10 ** decimals if decimals else sign * int(text)
for line in open(sys.argv[1], "rb"):
    line = line.rstrip(b"\\n").decode("latin-1")
    if line[0] != "{kind}":
        continue
    record = {{}}
    for name, start, length, kind, decimals in FIELDS:
        text = line[start:start + length]
        if not text.strip():
            record[name] = None
        elif kind == "text":
            record[name] = text.rstrip()
        elif kind == "date":
            century = 1900 if int(text[:2]) >= {pivot} else 2000
            record[name] = f"{{century + int(text[:2])}}-{{text[2:4]}}-{{text[4:6]}}"
        else:
            record[name] = number(text, decimals)
    print(json.dumps(record, ensure_ascii=False))
"""


_PLUS, _MINUS = "{ABCDEFGHI", "}JKLMNOPQR"


@template("fixed_columns", ("easy", "medium"))
def fixed_columns(draft: TerminalDraft) -> None:
    """Parse fixed-width records with legacy signed digits and two-digit years."""
    dice = draft.dice
    names = draft.cast.names("key", 3 + draft.scale)
    kind, pivot = dice.pick("DXRB"), dice.whole(30, 75)
    fields: list[tuple[str, int, int, str, int]] = []
    place = 1
    kinds = ["text", "number", "date", *(dice.pick(("text", "number")) for _ in names[3:])]
    for name, own in zip(names, dice.shuffled(kinds), strict=True):
        length = 6 if own == "date" else dice.whole(4, 8)
        fields.append((name, place, length, own, dice.whole(0, 3) if own == "number" else 0))
        place += length + dice.pick((0, 0, 2))
    listed = "".join(
        f"{name:<10} {start + 1:>3}-{start + length:<3} {own}"
        + (f" with {decimals} decimals" if decimals else "")
        + "\n"
        for name, start, length, own, decimals in dice.shuffled(fields)
    )

    def case(count: int) -> tuple[str, list[str]]:
        lines, records = [], []
        for _ in range(count):
            own = kind if dice.chance(0.7) else dice.pick("HT")
            line, record = [own, *[" "] * place], dict[str, Any]()
            for name, start, length, what, decimals in fields:
                text, value = _column(dice, what, length, decimals, pivot)
                line[start : start + length] = text
                record[name] = value
            lines.append("".join(line).rstrip() if dice.chance(0.2) else "".join(line))
            if own == kind:
                records.append(json.dumps(record, ensure_ascii=False))
        return "\n".join(lines) + "\n", records

    draft.file("layout.txt", f"record type in column 1; data records have {kind}\n\n{listed}")
    draft.file("sample.txt", case(5)[0])
    draft.say(
        "Write an executable /app/unpack that takes the path of a file such as sample.txt and "
        "prints each data record as a JSON object on a line of its own, in the order of the file. "
        "layout.txt gives the columns, counted from 1; short lines stand for lines with blanks at "
        "their end.\n* Blank fields are null. Texts lose blanks at their end.\n"
        "* Numbers have no decimal point; as many digits as said are decimals. The last character "
        f"may carry the sign: {_PLUS} stand for 0 to 9 of a positive number, {_MINUS} for 0 to 9 "
        "of a negative one.\n"
        f"* Dates are YYMMDD; years from {pivot} on belong to the twentieth century, those below "
        "to the next. They are wanted as YYYY-MM-DD."
    )
    for number in range(3):
        given, records = case(30)
        run = (
            f"./unpack held{number}.txt | python3 -c 'import json, sys; print(json.dumps("
            "[json.loads(l) for l in sys.stdin]))'"
        )
        draft.probe(
            f"file_{number}",
            run,
            files={f"held{number}.txt": given},
            json=[json.loads(record) for record in records],
        )
    right = _FIXED.format(fields=repr(fields), plus=_PLUS, minus=_MINUS, kind=kind, pivot=pivot)
    draft.program(
        "unpack",
        right,
        {
            "no_signs": (f'elif last in "{_MINUS}":', 'elif last == "":'),
            "all_records": (f'if line[0] != "{kind}":', 'if line[0] == "":'),
            "this_century": (f">= {pivot}", ">= 100"),
            "blank_text": ("if not text.strip():", 'if kind != "text" and not text.strip():'),
            "one_off": ("line[start:start + length]", "line[start - 1:start + length - 1]"),
        },
    )
    other = right.replace(
        f'text[:-1] + str("{_MINUS}".index(last))',
        f'text[:-1] + text[-1].translate(str.maketrans("{_MINUS}", "0123456789"))',
    )
    draft.alternative("translate", put("unpack", other, "755"))


def _column(dice: Dice, what: str, length: int, decimals: int, pivot: int) -> tuple[str, Any]:
    if dice.chance(0.12):
        return " " * length, None
    if what == "date":
        year = dice.pick((pivot - 1, pivot, pivot + 1, dice.whole(0, 99)))
        month, day = dice.whole(1, 12), dice.whole(1, 28)
        century = 1900 if year >= pivot else 2000
        return f"{year:02d}{month:02d}{day:02d}", f"{century + year}-{month:02d}-{day:02d}"
    if what == "text":
        text = dice.word(dice.whole(1, length))
        return text.ljust(length), text
    value = dice.whole(0, 10 ** dice.whole(1, length) - 1)
    digits = f"{value:0{length}d}"
    form = dice.whole(0, 2)
    if form:
        digits = digits[:-1] + (_PLUS if form == 1 else _MINUS)[int(digits[-1])]
    value = -value if form == 2 else value
    return digits, value / 10**decimals if decimals else value


_MATCH = """#!/usr/bin/env python3
import csv, re, sys
def norm(text):
    text = re.sub(r"[^0-9A-Za-z]", "", text).upper()
    if text.startswith("{prefix}"):
        text = text[{cut}:]
    return text.lstrip("0")
def load(path, key, amount):
    table = {{}}
    for row in csv.DictReader(open(path, newline="")):
        name = norm(row[key])
        table[name] = table.get(name, 0) + round(float(row[amount]) * 100)
    return table
ours, theirs = load(sys.argv[1], "{a}", "{b}"), load(sys.argv[2], "{c}", "{d}")
for name in sorted(ours.keys() | theirs.keys()):
    if name not in theirs:
        print("{only1}", name, f"{{ours[name] / 100:.2f}}")
    elif name not in ours:
        print("{only2}", name, f"{{theirs[name] / 100:.2f}}")
    elif abs(ours[name] - theirs[name]) > {slack}:
        print("{differs}", name, f"{{(ours[name] - theirs[name]) / 100:.2f}}")
"""


@template("reconcile", ("easy", "medium"))
def reconcile(draft: TerminalDraft) -> None:
    """Reconcile two ledgers whose account numbers are spelled differently."""
    dice = draft.dice
    a, b, c, d = draft.cast.names("key", 4)
    prefix, slack = dice.word(2).upper(), dice.pick((0, 1, 5, 10))
    words = dict(
        zip(
            ("only1", "only2", "differs"),
            dice.some(("MISSING", "EXTRA", "DIFF", "LEFT", "RIGHT", "CHANGED", "OFF"), 3),
            strict=True,
        )
    )

    def written(account: str) -> str:
        return dice.pick(
            (
                account,
                f"{prefix}{account}",
                f"{prefix.lower()}-{account}",
                f"{account[:2]}-{account[2:]}",
                f"00{account}",
                f"{prefix} {account[:3]} {account[3:].lower()}",
            )
        )

    def case(count: int) -> tuple[str, str, str]:
        ours: dict[str, int] = {}
        theirs: dict[str, int] = {}
        rows: list[list[list[str]]] = [[[a, "when", b]], [["when", d, c]]]
        for _ in range(count):
            account = str(dice.whole(1, 9)) + dice.hexa(5).upper()
            cents = dice.whole(100, 99_999)
            other = cents + dice.pick((0, 0, slack, -slack, slack + 1, -slack - 1, 500))
            which = dice.whole(0, 5)
            for side, (book, total) in enumerate(((ours, cents), (theirs, other))):
                if which == side:
                    continue
                book[account] = total
                parts = [total] if dice.chance(0.6) else [total - 77, 77]
                for part in parts:
                    row = [written(account), "2026-01-01", f"{part / 100:.2f}"]
                    rows[side].append(row if side == 0 else [row[1], row[2], row[0]])
        texts = [_csv_text([table[0], *dice.shuffled(table[1:])], ",", "\n") for table in rows]
        lines = []
        for name in sorted({**ours, **theirs}):
            if name not in theirs:
                lines.append(f"{words['only1']} {name} {ours[name] / 100:.2f}")
            elif name not in ours:
                lines.append(f"{words['only2']} {name} {theirs[name] / 100:.2f}")
            elif abs(ours[name] - theirs[name]) > slack:
                lines.append(f"{words['differs']} {name} {(ours[name] - theirs[name]) / 100:.2f}")
        return texts[0], texts[1], "\n".join(lines)

    first, second, _ = case(6)
    draft.file("ours.csv", first)
    draft.file("bank.csv", second)
    draft.say(
        f"Write an executable /app/reconcile that compares two tables: one such as ours.csv, "
        f"with the account in {a} and an amount in {b}, and one such as bank.csv, with the account "
        f"in {c} and the amount in {d}. An account may have several rows; its amounts are added "
        "up.\nThe same account is written in many ways: in capitals or not, with dashes and "
        f"blanks in it, with or without {prefix} before it, with or without zeros before its first "
        f"other digit (after {prefix}, if that is there).\n"
        "Print a line for each account that is not the same in both, in byte order of accounts:\n"
        f"* {words['only1']} ACCOUNT AMOUNT, if only the first table has it\n"
        f"* {words['only2']} ACCOUNT AMOUNT, if only the second has it\n"
        f"* {words['differs']} ACCOUNT AMOUNT, if the sums are more than {slack / 100:.2f} apart, "
        "with the first less the second\n"
        f"ACCOUNT in capitals, without {prefix}, signs and leading zeros; AMOUNT with two decimals."
    )
    for number in range(3):
        one, two, result = case(20 + 15 * number)
        draft.probe(
            f"tables_{number}",
            f"./reconcile held{number}.csv bank{number}.csv",
            text=result,
            files={f"held{number}.csv": one, f"bank{number}.csv": two},
        )
    right = _MATCH.format(prefix=prefix, cut=2, a=a, b=b, c=c, d=d, slack=slack, **words)
    draft.program(
        "reconcile",
        right,
        {
            "last_row": ("table.get(name, 0) + round", "round"),
            "no_slack": (f"> {slack}:", f"> {slack + 1}:"),
            "zeros_stay": ('text.lstrip("0")', "text"),
            "prefix_stays": (f'if text.startswith("{prefix}"):', "if False:"),
            "other_way": ("(ours[name] - theirs[name]) /", "(theirs[name] - ours[name]) /"),
        },
    )
    other = right.replace(
        "round(float(row[amount]) * 100)", "int(Decimal(row[amount]) * 100)"
    ).replace("import csv, re, sys", "import csv, re, sys\nfrom decimal import Decimal")
    draft.alternative("decimal", put("reconcile", other, "755"))
