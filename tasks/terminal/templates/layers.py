"""Layered configuration: includes, overrides, references."""

from typing import Any

from hexathlon.tasks.terminal.draft import TerminalDraft, put, template

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


@template("config_layers", ("easy", "medium"))
def config_layers(draft: TerminalDraft) -> None:
    """Resolve layered configuration: includes, overrides, removal, references."""
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
                        f"{unset} {key}"
                        if kind == 0
                        else f"{key} = {start}{other}{end}/{dice.word(2)}"
                        if kind == 1
                        else f"{key} = {start}{far}.{other}{end}"
                        if kind == 2
                        else f"{key} += {dice.word(3)}"
                        if kind == 3
                        else f"{key} = {dice.word(4)} {comment} was {dice.word(3)}"
                    )
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
        draft.probe(
            f"tree_{made}",
            f"./resolve held{made}",
            text=result,
            exit=status,
            files={f"held{made}/{path}": text for path, text in files.items()},
        )
        made += 1
    a, b = sections[0], sections[1]
    k1, k2 = keys[0], keys[1]
    special = {
        "main.conf": f"[{a}]\n{k1} = {start}{b}.{k1}{end}\n{include} sub/x.conf\n{k2} = late\n"
        f"[{b}]\n{k1} = <{start}{k2}{end}>\n{k2} = two\n{unset} {keys[2]}\n",
        "sub/x.conf": f"[{b}]\n{include} y.conf\n{keys[2]} = gone\n{k2} += tail\n",
        "sub/y.conf": f"{keys[3]} = top {comment} note\n[{a}]\n"
        f"{keys[3]} += one\n{keys[3]} += two\n",
    }
    result, status = run(special)
    draft.probe(
        "special",
        "./resolve held_special",
        text=result,
        exit=status,
        files={f"held_special/{path}": text for path, text in special.items()},
    )
    right = (
        _LAYERS.replace("EXIT", str(code))
        .replace("COMMENT", comment)
        .replace("INCLUDE", include)
        .replace("UNSET", unset)
        .replace("OPEN", "".join(f"\\{ch}" for ch in start))
        .replace("CLOSE", "".join(f"\\{ch}" for ch in end))
    )
    draft.program(
        "resolve",
        right,
        {
            "from_the_top": ("os.path.dirname(path), line", "sys.argv[1], line"),
            "no_append": ("if append and key in values:", "if False:"),
            "first_view": ("filled(place, found, depth + 1)", "found"),
            "never_unset": ("values.pop((section, line.split(None, 1)[1]), None)", "pass"),
            "loops_pass": (f"sys.exit({code})", "return"),
        },
    )
    other = right.replace(
        "values = {}\nload", "from collections import OrderedDict\nvalues = OrderedDict()\nload"
    )
    other = other.replace(
        "for section, key in sorted(values):", "for section, key in sorted(values.keys()):"
    )
    other = other.replace(
        f'line.split("{comment}", 1)[0].strip()', f'line.partition("{comment}")[0].strip()'
    )
    draft.alternative("partition", put("resolve", other, "755"))


def _reference_resolve(
    comment: str, start: str, end: str, include: str, unset: str, code: int
) -> Any:
    """Apply the same rules to a mapping of paths to texts."""
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
