"""JSON lines and XML: values by paths, sums over elements."""

import json
from typing import Any
from xml.sax.saxutils import escape

from hexathlon.tasks.terminal.draft import TerminalDraft, put, template

_TABLE = """#!/usr/bin/env python3
import json, sys
PATHS = {paths}
def at(value, path):
    for step in path.split("."):
        if isinstance(value, list):
            place = int(step) if step.isdigit() else len(value)
            value = value[place] if place < len(value) else None
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
def json_table(draft: TerminalDraft) -> None:
    """Convert nested JSON lines to a table by a list of paths."""
    dice = draft.dice
    a, b, c, d, e = draft.cast.names("key", 5)
    things, people = draft.cast.names("thing", 6), draft.cast.names("person", 6)
    marks = {
        "missing": dice.pick(("-", "NA", "?", "NULL")),
        "joint": dice.pick(("+", ",", "/", " & ")),
        "yes": dice.pick(("yes", "Y", "1", "on")),
        "code": dice.whole(2, 40),
    }
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
            a: {
                b: dice.pick(people),
                c: dice.pick(([], [dice.whole(0, 9), 2], ["x\ty"])),
                e: dice.pick((True, False, None)),
            },
            d: dice.pick((f"{dice.pick(things)}\n{dice.pick(people)}", "C:\\tmp", "é ü", 12, 0)),
            e: [{b: 1}, {b: dice.pick(things)}][: dice.whole(0, 2)],
            c: dice.pick((["p", None, True], {"y": 1, "b": "ä"}, "", 7)),
        }
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
        f"* missing ones and null: {marks['missing']}\n* "
        f"true: {marks['yes']}, false: {marks['no']}\n"
        f"* lists: their values written so, joined by {marks['joint']!r}\n"
        "* objects: JSON, names sorted, no blanks, no \\u escapes for printable characters\n"
        "* texts: backslashes doubled, tabs and line feeds as \\t and \\n; numbers as they are\n"
        "Lines that are no JSON object are left out, empty ones too; if there were any but empty "
        f"ones, the exit status is {marks['code']} in the end."
    )
    for number in range(3):
        given, result = case(20, number)
        draft.probe(
            f"lines_{number}",
            "./table",
            stdin=given,
            text=result,
            exit=marks["code"] if number else 0,
        )
    right = _TABLE.format(paths=repr(paths), **marks)
    draft.program(
        "table",
        right,
        {
            "false_is_missing": ("if value is None:", "if not value:"),
            "booleans_in_python": ("if isinstance(value, bool):", "if value is NotImplemented:"),
            "raw_tabs": ('.replace("\\t", "\\\\t")', ""),
            "any_json": ("if not isinstance(record, dict):", "if False:"),
            "always_zero": (f"sys.exit({marks['code']} if bad else 0)", "sys.exit(0)"),
        },
    )
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
def xml_report(draft: TerminalDraft) -> None:
    """Sum amounts in XML: a namespace, CDATA, entities, units, items in other namespaces."""
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
            body = (
                f"<{prefix}{name}>\n {written} </{prefix}{name}><{prefix}{amount}"
                + (f' unit="{unit}"' if unit else "")
                + f"> {number}</{prefix}{amount}>"
            )
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
        parts.append(
            f"<o:{item} xmlns:o='urn:other'><o:{name}>{things[3]}</o:{name}>"
            f"<o:{amount}>5</o:{amount}></o:{item}>"
        )
        ordered = sorted(sums.items(), key=lambda i: (-i[1] if falling else i[1], i[0]))
        result = "".join(f"{value}\t{title}\n" for title, value in ordered)
        body = "\n".join(dice.shuffled(parts))
        return f"<?xml version='1.0'?>\n<{prefix}all {head}>\n{body}\n</{prefix}all>\n", result

    draft.file("sample.xml", case(5)[0])
    draft.say(
        f"Files such as sample.xml hold elements `{item}` of the namespace {ns}, at any depth, "
        f"with elements `{name}` and `{amount}` in them. Write an executable /app/report that "
        f"takes the path of such a file and prints a line for each different `{name}`: the sum of "
        f"`{amount}` in grams, a tab and the text of `{name}`. Where the attribute `{flag}` of "
        f"`{item}` is {off} it does not count, nor do elements of other namespaces. The attribute "
        f"`unit` of `{amount}` says what is meant (g, kg, t, and oz, which is {units['oz']} g "
        f"here); without it the unit is {default}. The text of `{name}` is all that stands in it, "
        f"in elements inside it too, without blanks and line breaks around it. "
        f"{'Largest' if falling else 'Smallest'} sum first, equal ones by that text in byte order. "
        f"Any prefixes may stand for namespaces."
    )
    for number in range(3):
        given, result = case(25)
        draft.probe(
            f"file_{number}",
            f"./report held{number}.xml",
            files={f"held{number}.xml": given},
            text=result,
        )
    right = _XML.format(
        ns=ns,
        item=item,
        flag=flag,
        off=off,
        name=name,
        amount=amount,
        default=default,
        sign="-" if falling else "",
    ).replace("FACTORS", repr(units))
    draft.program(
        "report",
        right,
        {
            "any_namespace": (f'iter(NS + "{item}")', f'iter("{{*}}{item}")'),
            "all_count": (f'== "{off}"', '== "never"'),
            "first_text": (
                f'"".join(item.find(NS + "{name}").itertext())',
                f'item.find(NS + "{name}").text',
            ),
            "one_unit": (f'get("unit", "{default}")', 'get("", "g")'),
        },
    )
    other = right.replace(
        "import xml.etree.ElementTree as tree",
        "import xml.etree.ElementTree as tree\nfrom collections import Counter",
    )
    other = other.replace("sums = {}", "sums = Counter()").replace(
        "sums[name] = sums.get(name, 0) + value", "sums.update({name: value})"
    )
    draft.alternative("counter", put("report", other, "755"))
