"""Tables and texts: CSV, JSON, XML, fixed columns, layered configuration, two lists to compare."""

import csv
import io
import json
from typing import Any
from xml.sax.saxutils import escape

from hexathlon.tasks.terminal.dice import Dice
from hexathlon.tasks.terminal.draft import Draft, put, template


def _csv_text(rows: list[list[str]], sep: str, end: str) -> str:
    out = io.StringIO()
    csv.writer(out, delimiter=sep, lineterminator=end).writerows(rows)
    return out.getvalue()


_CLEAN = """#!/usr/bin/env python3
import csv, sys
with open(sys.argv[1], encoding="utf-8-sig", newline="") as file:
    rows = list(csv.reader(file, delimiter="SEP"))
head, rows = [h.strip() for h in rows[0]], [dict(zip([h.strip() for h in rows[0]], r)) for r in rows[1:] if r]
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
def csv_clean(draft: Draft) -> None:
    """Clean a table: byte order mark, breaks within fields, decimal commas, repeated keys."""
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
                stamp: f"{day:02d}.{month:02d}.{year}", text: raw, other: dice.hexa(4),
                amount: shown + "-" if cents < 0 else shown,
            }  # fmt: skip
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
        draft.probe(f"table_{number}", f"./clean held{number}.csv",
                    files={f"held{number}.csv": given}, text=result)  # fmt: skip
    right = _CLEAN
    for old, new in (("SEP", "\\t" if sep == "\t" else sep), ("KEY", key), ("STAMP", stamp),
                     ("AMOUNT", amount), ("TEXT", text), ("FOLD", fold)):  # fmt: skip
        right = right.replace(old, new)
    draft.program("clean", right, {
        "first_wins": ("day >= best[key][0]", "False"),
        "with_mark": ("utf-8-sig", "utf-8"),
        "no_thousands": ('.replace(".", "")', ""),
        "minus": ('if amount.endswith("-")', "if False and amount"),
        "as_dates_stand": ("day = stamp[6:10] + stamp[3:5] + stamp[0:2]", "day = stamp.replace('.', '')"),
    })  # fmt: skip
    dictionary = right.replace(
        "rows = list(csv.reader(file", "import decimal\n    rows = list(csv.reader(file"
    )
    dictionary = dictionary.replace('f"{float(amount):.2f}"', "str(decimal.Decimal(amount))")
    draft.alternative("decimals", put("clean", dictionary, "755"))


_TABLE = """#!/usr/bin/env python3
import json, sys
PATHS = {paths}
def at(value, path):
    for step in path.split("."):
        if isinstance(value, list):
            value = value[int(step)] if step.lstrip("-").isdigit() and -len(value) <= int(step) < len(value) else None
        elif isinstance(value, dict):
            value = value.get(step)
        else:
            return None
    return value
def cell(value):
    if value is None:
        return "{missing}"
    if isinstance(value, bool):
        return "{yes}" if value else "{no}"
    if isinstance(value, list):
        return "{joint}".join(cell(v) for v in value)
    if isinstance(value, dict):
        return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return str(value).replace("\\\\", "\\\\\\\\").replace("\\t", "\\\\t").replace("\\n", "\\\\n")
bad = 0
for line in sys.stdin:
    try:
        record = json.loads(line)
        if not isinstance(record, dict):
            raise ValueError
    except ValueError:
        bad += 1 if line.strip() else 0
        continue
    print("\\t".join(cell(at(record, path)) for path in PATHS))
print(f"{{bad}} bad lines", file=sys.stderr)
sys.exit({code} if bad else 0)
"""


def _lookup(value: Any, path: str) -> Any:
    for step in path.split("."):
        if isinstance(value, list):
            value = value[int(step)] if int(step) < len(value) else None
        elif isinstance(value, dict):
            value = value.get(step)
        else:
            return None
    return value


@template("json_table", ("easy", "medium"))
def json_table(draft: Draft) -> None:
    """Turn nested JSON lines into a table by a list of paths."""
    dice = draft.dice
    a, b, c, d, e = draft.cast.names("key", 5)
    things, people = draft.cast.names("thing", 6), draft.cast.names("person", 6)
    marks = {"missing": dice.pick(("-", "NA", "?", "NULL")), "joint": dice.pick(("+", ",", "/", " & ")),
             "yes": dice.pick(("yes", "Y", "1", "on")), "code": dice.whole(2, 40)}  # fmt: skip
    marks["no"] = {"yes": "no", "Y": "N", "1": "0", "on": "off"}[str(marks["yes"])]
    paths = dice.shuffled([f"{a}.{b}", f"{a}.{c}.0", d, f"{e}.1.{b}", f"{a}.{e}", c])

    def cell(value: Any) -> str:
        if value is None:
            return str(marks["missing"])
        if isinstance(value, bool):
            return str(marks["yes"] if value else marks["no"])
        if isinstance(value, list):
            return str(marks["joint"]).join(map(cell, value))
        if isinstance(value, dict):
            return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return str(value).replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n")

    def record() -> dict[str, Any]:
        made: dict[str, Any] = {
            a: {b: dice.pick(people), c: dice.pick(([], [dice.whole(0, 9), 2], ["x\ty"])),
                e: dice.pick((True, False, None))},
            d: dice.pick((f"{dice.pick(things)}\n{dice.pick(people)}", "C:\\tmp", "é ü", 12, 0)),
            e: [{b: 1}, {b: dice.pick(things)}][: dice.whole(0, 2)],
            c: dice.pick((["p", None, True], {"y": 1, "b": "ä"}, "", 7)),
        }  # fmt: skip
        for name in dice.some(list(made), dice.whole(0, 1)):
            del made[name]
        return made

    def case(count: int, bad: int) -> tuple[str, str]:
        records = [record() for _ in range(count)]
        lines = [json.dumps(r, ensure_ascii=dice.chance(0.5)) for r in records]
        for junk in dice.some(["{", "[1]", "nonsense", '"text"', "{'a': 1}"], bad):
            lines.insert(dice.whole(0, len(lines)), junk)
        lines.insert(dice.whole(0, len(lines)), "")
        rows = ["\t".join(cell(_lookup(r, path)) for path in paths) for r in records]
        return "\n".join(lines) + "\n", "\n".join(rows) + "\n"

    draft.file("sample.jsonl", case(4, 1)[0])
    draft.file("paths.txt", "".join(f"{path}\n" for path in paths))
    draft.file("old_table.sh", "#!/bin/sh\n# knows only the first level\njq -r '[.[]] | @tsv'\n")
    draft.say(
        "Write an executable /app/table that reads JSON objects, one a line, from its standard "
        "input and prints one line each with the values at the paths of paths.txt, in that order, "
        "parted by tabs. In a path, a number is a place in a list, counted from 0, any other part "
        "a name in an object. How values are written:\n"
        f"* missing ones and null: {marks['missing']}\n* true: {marks['yes']}, false: {marks['no']}\n"
        f"* lists: their values written so, joined by {marks['joint']!r}\n"
        "* objects: JSON, names sorted, no blanks, no \\u escapes for printable characters\n"
        "* texts: backslashes doubled, tabs and line feeds as \\t and \\n; numbers as they are\n"
        "Lines that are no JSON object are left out, empty ones too; if there were any but empty "
        f"ones, the exit status is {marks['code']} in the end."
    )
    for number in range(3):
        given, result = case(20, number)
        draft.probe(f"lines_{number}", "./table", stdin=given, text=result,
                    exit=marks["code"] if number else 0)  # fmt: skip
    right = _TABLE.format(paths=repr(paths), **marks)
    draft.program("table", right, {
        "false_is_missing": ("if value is None:", "if not value:"),
        "booleans_in_python": ("if isinstance(value, bool):", "if value is NotImplemented:"),
        "raw_tabs": ('.replace("\\t", "\\\\t")', ""),
        "any_json": ("if not isinstance(record, dict):", "if False:"),
        "always_zero": (f"sys.exit({marks['code']} if bad else 0)", "sys.exit(0)"),
    })  # fmt: skip
    other = right.replace(
        'for step in path.split("."):', 'for step in path.split(".") if path else []:'
    )
    other = other.replace("PATHS = " + repr(paths), "PATHS = open('/app/paths.txt').read().split()")
    draft.alternative("reads_paths", put("table", other, "755"))


_XML = """#!/usr/bin/env python3
import sys
import xml.etree.ElementTree as tree
NS = "{{{ns}}}"
sums = {{}}
for item in tree.parse(sys.argv[1]).iter(NS + "{item}"):
    if item.get("{flag}") == "{off}":
        continue
    name = "".join(item.find(NS + "{name}").itertext()).strip()
    unit = item.find(NS + "{amount}").get("unit", "{default}")
    value = int(item.find(NS + "{amount}").text.strip()) * FACTORS[unit]
    sums[name] = sums.get(name, 0) + value
for name, value in sorted(sums.items(), key=lambda i: ({sign}i[1], i[0])):
    print(f"{{value}}\\t{{name}}")
"""


@template("xml_report", ("easy", "medium"))
def xml_report(draft: Draft) -> None:
    """Add up amounts in XML: a namespace, CDATA, entities, units, items of other namespaces."""
    dice = draft.dice
    item, name, amount, flag, group = draft.cast.names("key", 5)
    things = draft.cast.names("thing", 5)
    off, ns = (
        dice.pick(("no", "0", "void", "draft")),
        f"urn:{draft.cast.name('service')}:{dice.whole(1, 9)}",
    )
    units = {"g": 1, "kg": 1_000, "oz": dice.whole(28, 30), "t": 1_000_000}
    default = dice.pick(("g", "kg"))
    falling = dice.chance(0.5)
    titles = [f"{things[0]} & {things[1]}", f"<{things[2]}>", things[3], f"{things[4]} é"]

    def case(count: int) -> tuple[str, str]:
        sums: dict[str, int] = {}
        prefix = dice.pick(("", "x:", "data:"))
        head = f"xmlns{':' + prefix[:-1] if prefix else ''}='{ns}'"
        parts = []
        for _ in range(count):
            title, number = dice.pick(titles), dice.whole(1, 500)
            unit = dice.pick((None, *units))
            skipped = dice.chance(0.2)
            form = dice.whole(0, 2)
            written = f"<![CDATA[{title}]]>" if form == 0 else escape(title)
            if form == 2:
                first, _, rest = written.partition(" ")
                written = f"{first} <{prefix}b>{rest}</{prefix}b>" if rest else written
            body = (f"<{prefix}{name}>\n {written} </{prefix}{name}><{prefix}{amount}"
                    + (f' unit="{unit}"' if unit else "") + f"> {number}</{prefix}{amount}>")  # fmt: skip
            mark = f" {flag}='{off}'" if skipped else dice.pick(("", f" {flag}='yes'"))
            text = f"<{prefix}{item}{mark}>{body}</{prefix}{item}>"
            if dice.chance(0.15):
                text = f"<!-- {text} -->"
                skipped = True
            if dice.chance(0.3):
                text = f"<{prefix}{group}>{text}</{prefix}{group}>"
            if not skipped:
                sums[title] = sums.get(title, 0) + number * units[unit or default]
            parts.append(text)
        parts.append(f"<o:{item} xmlns:o='urn:other'><o:{name}>{things[3]}</o:{name}>"
                     f"<o:{amount}>5</o:{amount}></o:{item}>")  # fmt: skip
        ordered = sorted(sums.items(), key=lambda i: (-i[1] if falling else i[1], i[0]))
        result = "".join(f"{value}\t{title}\n" for title, value in ordered)
        body = "\n".join(dice.shuffled(parts))
        return f"<?xml version='1.0'?>\n<{prefix}all {head}>\n{body}\n</{prefix}all>\n", result

    draft.file("sample.xml", case(5)[0])
    draft.say(
        f"Files such as sample.xml hold elements {item} of the namespace {ns}, at any depth. "
        f"Write an executable /app/report that takes the path of such a file and prints, for each "
        f"{name} among them, the sum of {amount} in grams, a tab and the {name}. An {item} whose "
        f"attribute {flag} is {off} does not count, nor do elements of other namespaces. The "
        f"attribute unit of {amount} says what is meant (g, kg, t, and oz, which is "
        f"{units['oz']} g here); without it the unit is {default}. A {name} is all the text in "
        f"its element, without the blanks around it. {'Largest' if falling else 'Smallest'} sum "
        f"first, equal ones by {name}. Prefixes of namespaces may be any."
    )
    for number in range(3):
        given, result = case(25)
        draft.probe(f"file_{number}", f"./report held{number}.xml",
                    files={f"held{number}.xml": given}, text=result)  # fmt: skip
    right = _XML.format(ns=ns, item=item, flag=flag, off=off, name=name, amount=amount,
                        default=default, sign="-" if falling else "").replace("FACTORS", repr(units))  # fmt: skip
    draft.program("report", right, {
        "any_namespace": (f'iter(NS + "{item}")', f'iter("{{*}}{item}")'),
        "all_count": (f'== "{off}"', '== "never"'),
        "first_text": ('"".join(item.find(NS + "%s").itertext())' % name, 'item.find(NS + "%s").text' % name),
        "one_unit": (f'get("unit", "{default}")', 'get("", "g")'),
    })  # fmt: skip
    other = right.replace("import xml.etree.ElementTree as tree",
                          "import xml.etree.ElementTree as tree\nfrom collections import Counter")  # fmt: skip
    other = other.replace("sums = {}", "sums = Counter()").replace(
        "sums[name] = sums.get(name, 0) + value", "sums.update({name: value})")  # fmt: skip
    draft.alternative("counter", put("report", other, "755"))


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


@template("fixed_columns", ("easy", "medium", "hard"))
def fixed_columns(draft: Draft) -> None:
    """Read records of fixed columns with signed digits of old machines and two-digit years."""
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
        + (f" with {decimals} decimals" if decimals else "") + "\n"
        for name, start, length, own, decimals in dice.shuffled(fields))  # fmt: skip

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
        run = (f"./unpack held{number}.txt | python3 -c 'import json, sys; print(json.dumps("
               "[json.loads(l) for l in sys.stdin]))'")  # fmt: skip
        draft.probe(f"file_{number}", run, files={f"held{number}.txt": given},
                    json=[json.loads(record) for record in records])  # fmt: skip
    right = _FIXED.format(fields=repr(fields), plus=_PLUS, minus=_MINUS, kind=kind, pivot=pivot)
    draft.program("unpack", right, {
        "no_signs": (f'elif last in "{_MINUS}":', 'elif last == "":'),
        "all_records": (f'if line[0] != "{kind}":', 'if line[0] == "":'),
        "this_century": (f">= {pivot}", ">= 100"),
        "blank_text": ("if not text.strip():", 'if kind != "text" and not text.strip():'),
        "one_off": ("line[start:start + length]", "line[start - 1:start + length - 1]"),
    })  # fmt: skip
    other = right.replace(f'text[:-1] + str("{_MINUS}".index(last))',
                          f'text[:-1] + text[-1].translate(str.maketrans("{_MINUS}", "0123456789"))')  # fmt: skip
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


_LAYERS = """#!/usr/bin/env python3
import os, re, sys
def load(path, values, seen):
    path = os.path.normpath(path)
    if path in seen:
        print("loop:", os.path.relpath(path, sys.argv[1]))
        sys.exit(EXIT)
    section = ""
    for line in open(path):
        line = line.split("COMMENT", 1)[0].strip()
        if line.startswith("[") and line.endswith("]"):
            section = line[1:-1].strip()
        elif line.startswith("INCLUDE "):
            load(os.path.join(os.path.dirname(path), line.split(None, 1)[1]), values, seen | {path})
        elif line.startswith("UNSET "):
            values.pop((section, line.split(None, 1)[1]), None)
        elif "=" in line:
            key, _, value = line.partition("=")
            append = key.endswith("+")
            key = (section, key.rstrip("+").strip())
            value = value.strip()
            if append and key in values:
                value = values[key] + " " + value
            values[key] = value
values = {}
load(os.path.join(sys.argv[1], "main.conf"), values, frozenset())
def filled(section, text, depth=0):
    def one(match):
        place = match[1] if match[1] is not None else section
        found = values.get((place, match[2]))
        return match[0] if found is None or depth > 20 else filled(place, found, depth + 1)
    return re.sub(r"OPEN(?:(\\w*)\\.)?(\\w+)CLOSE", one, text)
for section, key in sorted(values):
    print(f"{section}.{key}={filled(section, values[section, key])}")
"""


@template("config_layers", ("easy", "medium", "hard"))
def config_layers(draft: Draft) -> None:
    """Resolve layered configuration: includes, overriding, removal, references."""
    dice = draft.dice
    comment, (start, end) = (
        dice.pick("#;"),
        dice.pick((("${", "}"), ("<", ">"), ("%(", ")"), ("{{", "}}"))),
    )
    include, unset = dice.pick(("include", "import", "use")), dice.pick(("unset", "delete", "drop"))
    code = dice.whole(3, 30)
    sections, keys = draft.cast.names("service", 3), draft.cast.names("key", 5)

    def tree(loop: bool) -> dict[str, str]:
        names = ["main.conf", "base.conf", "site/local.conf", "site/more.conf"][
            : 2 + min(draft.scale, 2)
        ]
        files: dict[str, str] = {}
        for place, name in enumerate(names):
            lines = [f"{comment} {name}"]
            for section in dice.some(sections, 2):
                lines.append(f"[{section}]")
                for _ in range(dice.whole(1, 4)):
                    key, kind = dice.pick(keys), dice.whole(0, 6)
                    other, far = dice.pick(keys), dice.pick(sections)
                    lines.append(
                        f"{unset} {key}" if kind == 0 else
                        f"{key} = {start}{other}{end}/{dice.word(2)}" if kind == 1 else
                        f"{key} = {start}{far}.{other}{end}" if kind == 2 else
                        f"{key} += {dice.word(3)}" if kind == 3 else
                        f"{key} = {dice.word(4)} {comment} was {dice.word(3)}")  # fmt: skip
            if place + 1 < len(names):
                following = names[place + 1]
                if name.startswith("site/"):
                    following = following.removeprefix("site/")
                lines.insert(dice.whole(1, len(lines)), f"{include} {following}")
            elif loop:
                lines.append(f"{include} {'../' if '/' in name else ''}main.conf")
            files[name] = "\n".join(lines) + "\n"
        return files

    for path, text in tree(False).items():
        draft.file(f"conf/{path}", text)
    draft.say(
        "Write an executable /app/resolve that takes a folder such as conf and prints the settings "
        "that its main.conf comes to, as lines `SECTION.KEY=VALUE` sorted by section and key.\n"
        f"* {comment} begins a comment anywhere in a line. `[SECTION]` begins a section; each file "
        "begins outside of any, and an included file does not change the section of the one that "
        "includes it.\n"
        f"* `{include} PATH` stands for the other file's settings at this place; the path is "
        "relative to the file that says so. A file that includes itself, by way of others too, is "
        "an error: print `loop: ` and the path below the folder of the file that would be read "
        f"again, nothing else, and exit with {code}.\n"
        "* `KEY = VALUE` sets, `KEY += VALUE` appends after a blank, or sets what was not set; "
        f"`{unset} KEY` removes. What comes later wins.\n"
        f"* In the end {start}KEY{end} in a value stands for that key of the same section, and "
        f"{start}SECTION.KEY{end} for one of another, filled in likewise, by what holds in the "
        "end, from the view of the section it stands in. What is not set stays as it is written."
    )
    run = _reference_resolve(comment, start, end, include, unset, code)
    made = 0
    while made < 5:
        files = tree(loop=made == 4)
        result, status = run(files)
        if "recursion" in result:
            continue
        draft.probe(f"tree_{made}", f"./resolve held{made}", text=result, exit=status,
                    files={f"held{made}/{path}": text for path, text in files.items()})  # fmt: skip
        made += 1
    a, b = sections[0], sections[1]
    k1, k2 = keys[0], keys[1]
    special = {
        "main.conf": f"[{a}]\n{k1} = {start}{b}.{k1}{end}\n{include} sub/x.conf\n{k2} = late\n"
        f"[{b}]\n{k1} = <{start}{k2}{end}>\n{k2} = two\n{unset} {keys[2]}\n",
        "sub/x.conf": f"[{b}]\n{include} y.conf\n{keys[2]} = gone\n{k2} += tail\n",
        "sub/y.conf": f"{keys[3]} = top {comment} note\n[{a}]\n{keys[3]} += one\n{keys[3]} += two\n",
    }
    result, status = run(special)
    draft.probe("special", "./resolve held_special", text=result, exit=status,
                files={f"held_special/{path}": text for path, text in special.items()})  # fmt: skip
    right = (_LAYERS.replace("EXIT", str(code)).replace("COMMENT", comment)
             .replace("INCLUDE", include).replace("UNSET", unset)
             .replace("OPEN", "".join(f"\\{ch}" for ch in start))
             .replace("CLOSE", "".join(f"\\{ch}" for ch in end)))  # fmt: skip
    draft.program("resolve", right, {
        "from_the_top": ("os.path.dirname(path), line", "sys.argv[1], line"),
        "no_append": ("if append and key in values:", "if False:"),
        "first_view": ("filled(place, found, depth + 1)", "found"),
        "never_unset": ("values.pop((section, line.split(None, 1)[1]), None)", "pass"),
        "loops_pass": (f"sys.exit({code})", "return"),
    })  # fmt: skip
    other = right.replace(
        "values = {}\nload", "from collections import OrderedDict\nvalues = OrderedDict()\nload"
    )
    other = other.replace(
        "for section, key in sorted(values):", "for section, key in sorted(values.keys()):"
    )
    other = other.replace(
        'line.split("%s", 1)[0].strip()' % comment, 'line.partition("%s")[0].strip()' % comment
    )
    draft.alternative("partition", put("resolve", other, "755"))


def _reference_resolve(
    comment: str, start: str, end: str, include: str, unset: str, code: int
) -> Any:
    """The same rules over a mapping of paths to texts."""
    import posixpath
    import re

    pattern = re.compile(re.escape(start) + r"(?:(\w*)\.)?(\w+)" + re.escape(end))

    def run(files: dict[str, str]) -> tuple[str, int]:
        values: dict[tuple[str, str], str] = {}

        def load(path: str, seen: tuple[str, ...]) -> str:
            path = posixpath.normpath(path)
            if path in seen:
                return f"loop: {path}\n"
            section = ""
            for raw in files[path].split("\n"):
                line = raw.split(comment, 1)[0].strip()
                word, _, rest = line.partition(" ")
                if line.startswith("["):
                    section = line[1:-1]
                elif word == include:
                    wrong = load(posixpath.join(posixpath.dirname(path), rest), (*seen, path))
                    if wrong:
                        return wrong
                elif word == unset:
                    values.pop((section, rest), None)
                elif "+=" in line:
                    key, value = (part.strip() for part in line.split("+=", 1))
                    old = values.get((section, key))
                    values[section, key] = value if old is None else f"{old} {value}"
                elif "=" in line:
                    key, value = (part.strip() for part in line.split("=", 1))
                    values[section, key] = value
            return ""

        def filled(section: str, text: str, depth: int) -> str:
            if depth > 12:
                return "recursion"

            def one(match: re.Match[str]) -> str:
                place = section if match[1] is None else match[1]
                found = values.get((place, match[2]))
                return match[0] if found is None else filled(place, found, depth + 1)

            return pattern.sub(one, text)

        wrong = load("main.conf", ())
        if wrong:
            return wrong, code
        lines = [f"{s}.{k}={filled(s, values[s, k], 0)}\n" for s, k in sorted(values)]
        return "".join(lines), 0

    return run


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
def reconcile(draft: Draft) -> None:
    """Compare two ledgers whose account numbers are written in different ways."""
    dice = draft.dice
    a, b, c, d = draft.cast.names("key", 4)
    prefix, slack = dice.word(2).upper(), dice.pick((0, 1, 5, 10))
    words = dict(zip(("only1", "only2", "differs"), dice.some(
        ("MISSING", "EXTRA", "DIFF", "LEFT", "RIGHT", "CHANGED", "OFF"), 3), strict=True))  # fmt: skip

    def written(account: str) -> str:
        return dice.pick((account, f"{prefix}{account}", f"{prefix.lower()}-{account}",
                          f"{account[:2]}-{account[2:]}", f"00{account}",
                          f"{prefix} {account[:3]} {account[3:].lower()}"))  # fmt: skip

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
        draft.probe(f"tables_{number}", f"./reconcile held{number}.csv bank{number}.csv", text=result,
                    files={f"held{number}.csv": one, f"bank{number}.csv": two})  # fmt: skip
    right = _MATCH.format(prefix=prefix, cut=2, a=a, b=b, c=c, d=d, slack=slack, **words)
    draft.program("reconcile", right, {
        "last_row": ("table.get(name, 0) + round", "round"),
        "no_slack": (f"> {slack}:", f"> {slack + 1}:"),
        "zeros_stay": ('text.lstrip("0")', "text"),
        "prefix_stays": (f'if text.startswith("{prefix}"):', "if False:"),
        "other_way": ("(ours[name] - theirs[name]) /", "(theirs[name] - ours[name]) /"),
    })  # fmt: skip
    other = right.replace("round(float(row[amount]) * 100)", "int(Decimal(row[amount]) * 100)").replace(
        "import csv, re, sys", "import csv, re, sys\nfrom decimal import Decimal")  # fmt: skip
    draft.alternative("decimal", put("reconcile", other, "755"))
