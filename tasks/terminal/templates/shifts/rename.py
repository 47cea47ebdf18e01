"""A function gets another name and order of arguments across a program of many files."""

import hashlib
import json

from hexathlon.tasks.terminal.dice import Dice
from hexathlon.tasks.terminal.draft import Probe
from hexathlon.tasks.terminal.templates.shifts.job import Machine, TicketJob, python_probe

__all__ = ["rename"]

_MONEY = '''"""Amounts as text."""


def fmt(amount, width=0):
    """Return cents as an amount, right-aligned."""
    return f"{amount // 100}.{amount % 100:02}".rjust(width)
'''
_NEW_MONEY = _MONEY.replace("def fmt(amount, width=0)", "def NEW(width, amount)")

_MAIN = '''#!/usr/bin/env python3
"""Print a report: `report.py [--quarter] [--plain]`."""
import configparser, glob, importlib, os, sys
sys.dont_write_bytecode = True
here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, here)
import money

settings = configparser.ConfigParser()
settings.read(here + "/columns.ini")
kind = "quarter" if "--quarter" in sys.argv else "month"
for path in sorted(glob.glob(f"{here}/{kind}_*.py")):
    module = importlib.import_module(os.path.basename(path)[:-3])
    print(module.line(len(path) % 7 + 100))
if "--plain" not in sys.argv:
    for name, word in settings["columns"].items():
        print(name, getattr(money, word)(*CALL))
'''

_FORMS = {
    "plain": ("from money import fmt\n", "fmt({a}, {w})", "NEW({w}, {a})"),
    "module": ("import money\n", "money.fmt({a}, {w})", "money.NEW({w}, {a})"),
    "alias": ("from money import fmt as show\n", "show({a}, {w})", "show({w}, {a})"),
    "words": ("from money import fmt\n", "fmt({a}, width={w})", "NEW({w}, {a})"),
    "short": ("from money import fmt\n", "fmt({a})", "NEW(0, {a})"),
    "nested": ("from money import fmt\n", "fmt(len(fmt({a}, {w})), {w})",
               "NEW({w}, len(NEW({w}, {a})))"),
}  # fmt: skip


def _module(dice: Dice, form: str, noun: str, new: str) -> tuple[str, str]:
    """Return a module before and after."""
    head, call, after = _FORMS[form]
    amount = f"n * {dice.whole(3, 99)} + {dice.whole(1000, 9000)}"
    width = str(dice.whole(8, 14))
    comment = dice.pick(("# as fmt() did it once", "# wide enough for all", "# see the handbook"))
    body = (
        f'"""{noun.capitalize()}: fmt is not what it was."""\nHEAD\n\ndef line(n):\n'
        f'    label = "{noun}".ljust({dice.whole(9, 12)})  {comment}\n'
        f'    return label + " [" + CALL + "]"\n'
    )
    old = body.replace("HEAD\n", head).replace("CALL", call.format(a=amount, w=width))
    changed = body.replace("HEAD\n", head.replace("fmt", new))
    return old, changed.replace("CALL", after.replace("NEW", new).format(a=amount, w=width))


def rename(machine: Machine) -> TicketJob:
    """Rename a function everywhere and touch nothing else, in files of every kind."""
    dice = machine.dice
    name, who = machine.name(), machine.people.pop()
    folder = f"src/{name}"
    new = dice.pick(("aligned", "money_text", "in_columns", "padded"))
    nouns = machine.draft.cast.names("thing", 10) + machine.draft.cast.names("key", 14)
    files: dict[str, tuple[bytes, bytes]] = {}
    forms = list(_FORMS)
    for number, noun in enumerate(nouns + [f"{noun}s" for noun in nouns]):
        kind = "quarter" if number % 3 == 0 else "month"
        old, changed = _module(dice, forms[(number // 3) % len(forms)], noun, new)
        pair = (old.encode(), changed.encode())
        if number in (3, 22):
            pair = (pair[0].replace(b"\n", b"\r\n"), pair[1].replace(b"\n", b"\r\n"))
        if number in (5, 9):
            head = "# -*- coding: latin-1 -*-\n# für später\n"
            pair = ((head + old).encode("latin-1"), (head + changed).encode("latin-1"))
        if number in (7, 12):
            pair = (pair[0].rstrip(b"\n"), pair[1].rstrip(b"\n"))
        files[f"{kind}_{noun}.py"] = pair
    files["money.py"] = (_MONEY.encode(), _NEW_MONEY.replace("NEW", new).encode())
    report = (
        _MAIN.replace("*CALL", "99 * len(name), 12"),
        _MAIN.replace("*CALL", "12, 99 * len(name)"),
    )
    files["report.py"] = (report[0].encode(), report[1].encode())
    columns = "".join(f"{noun} = fmt\n" for noun in nouns[:3])
    head = "# columns of the report\n[columns]\n"
    files["columns.ini"] = (
        (head + columns).encode(),
        (head + columns.replace("fmt", new)).encode(),
    )
    for path, (given, _) in files.items():
        machine.draft.file(f"{folder}/{path}", given)
    real, linked = f"month_{nouns[1]}.py", f"quarter_{nouns[1]}_too.py"
    machine.draft.build(f"ln -s {real} {folder}/{linked}")
    outcome: dict[str, str] = {}
    for path in [*files, linked]:
        outcome[path] = hashlib.sha256(files[real if path == linked else path][1]).hexdigest()
    listing = json.dumps(sorted(outcome))
    digests = (
        f"import hashlib, json, os\nos.chdir('/app/{folder}')\nnames = json.loads({listing!r})\n"
        "for name in names:\n    if os.path.exists(name):\n        data = open(name, 'rb').read()\n"
        "        print(name, hashlib.sha256(data).hexdigest()[:16])\n"
        f"print(os.path.islink('{linked}'), sorted(set(os.listdir('.')) - set(names) - "
        "{'__pycache__'}))\n"
    )
    told = "".join(f"{path} {outcome[path][:16]}\n" for path in sorted(outcome)) + "True []"

    def script(lines: list[str]) -> str:
        program = "\n".join(lines)
        return f"cd {folder}\npython3 - <<'HEX_END'\n{program}\nHEX_END\ncd /app\n"

    pattern = (
        "import glob, os, re",
        "def swapped(m):",
        "    return m['n'].replace('fmt', 'NAME') + '(' + (m['w'] or '0') + ', ' + m['a'] + ')'",
        "for path in sorted(glob.glob('*.py')) + ['columns.ini']:",
        "    if os.path.islink(path):",
        "        continue",
        "    text = open(path, encoding='latin-1', newline='').read()",
        "    old = text",
        "    call = r'(?P<n>\\b(?:money\\.fmt|fmt|show))\\((?P<a>n \\* \\d+ \\+ \\d+|'",
        "    call += r'len\\(NAME\\([^)]*\\)\\))'",
        "    call += r'(?:, (?:width=)?(?P<w>\\d+))?\\)'",
        "    for _ in range(2):",
        "        text = re.sub(call, swapped, text)",
        "    text = re.sub(r'^(from money import )fmt', r'\\1NAME', text, flags=re.M)",
        "    text = text.replace('def fmt(amount, width=0)', 'def NAME(width, amount)')",
        "    text = text.replace('(99 * len(name), 12)', '(12, 99 * len(name))')",
        "    if path == 'columns.ini':",
        "        text = text.replace('= fmt', '= NAME')",
        "    if text != old:",
        "        open(path, 'w', encoding='latin-1', newline='').write(text)",
    )
    lines = [line.replace("NAME", new) for line in pattern]

    def without(*swaps: tuple[str, str]) -> str:
        text = "\n".join(lines)
        for old, changed in swaps:
            if old not in text:
                raise ValueError(f"{old!r} is not part of the solution")
            text = text.replace(old, changed)
        return script(text.split("\n"))

    by_sed = (
        f"cd {folder}\nsed -i --follow-symlinks -E -e 's/^from money import fmt/from money import "
        f"{new}/' -e 's/def fmt\\(amount, width=0\\)/def {new}(width, amount)/' "
        f"-e 's/\\(99 \\* len\\(name\\), 12\\)/(12, 99 * len(name))/' "
        "-e 's/fmt\\(len\\(fmt\\((n \\* [0-9]+ \\+ [0-9]+), ([0-9]+)\\)\\), [0-9]+\\)/"
        f"{new}(\\2, len({new}(\\2, \\1)))/' "
        "-e 's/\\b(fmt|show)\\((n \\* [0-9]+ \\+ [0-9]+), (width=)?([0-9]+)\\)/\\1(\\4, \\2)/' "
        f"-e 's/\\bfmt\\((n \\* [0-9]+ \\+ [0-9]+)\\)/{new}(0, \\1)/' "
        f"-e 's/\\bfmt\\(([0-9]+, n)/{new}(\\1/' *.py\n"
        f"sed -i 's/= fmt/= {new}/' columns.ini\ncd /app\n"
    )
    return TicketJob(
        component=name,
        text=f"""From {who}: in {folder} the function fmt(amount, width=0) of money.py becomes \
{new}(width, amount): another name, another order, and both arguments always given by position \
(where the width was left out it is 0), `A, B` with a comma and a blank between them. Please \
change it everywhere; there is no fmt any more afterwards, but names under which modules import it \
stay. The reports of report.py do not change. Nothing else changes, in no file and no byte: in \
docstrings and comments, and what only looks like it, fmt stays.""",
        looks=(
            f"cd {folder} && ls -l | head -70; cat money.py report.py columns.ini",
            f"cd {folder} && grep -n 'fmt\\|show' *; file * | grep -v 'ASCII text$'",
        ),
        solution=script(lines),
        probes=[
            python_probe("files", digests, told),
            Probe("report", f"cd {folder} && /usr/bin/python3 report.py --quarter >/dev/null; "
                  "echo $?", {"text": "0"}),
        ],
        alternatives=(by_sed,),
        misses={
            "line_ends": without((", newline=''", "")),
            "link": script(lines) + f"cd {folder}; sed -i '' {linked}; cd /app\n",
            "by_name": without(("path == 'columns.ini'", "False")),
            "alias": without(("|fmt|show)", "|fmt)")),
            "comments": without(("    if text !=", f"    text = text.replace('fmt', '{new}')\n"
                                                   "    if text !=")),
            "left_out": without(("))?\\)'", "))\\)'")),
        },
    )  # fmt: skip
