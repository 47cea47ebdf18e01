"""Permissions of a directory tree by a table of rules."""

from hexathlon.tasks.terminal.draft import TerminalDraft, put, template

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
def perm_policy(draft: TerminalDraft) -> None:
    """Apply a table of permissions to any tree: rule precedence, and what counts as a script."""
    import fnmatch

    dice = draft.dice
    columns = dice.shuffled((0, 1, 2))
    last, mark, sep = dice.chance(0.5), dice.pick(("#!", "@@", "%!", "::", "=>")), dice.pick(",;|:")
    places = draft.cast.names("service", 4)
    prog = f"apply_{draft.cast.name('key')}"
    names = draft.cast.names("thing", 6)
    ends = ["txt", "key", "sh", "conf"]
    modes = ["600", "640", "644", "660", "700", "750", "755", "500", "444"]
    rules = [("*", "folder", dice.pick(["755", "750", "711"])), ("*", "file", dice.pick(modes[:4]))]
    rules += [(f"*.{end}", dice.pick(["file", "any"]), dice.pick(modes)) for end in ends[:3]]
    rules += [("*", "script", dice.pick(["755", "700", "750"]))]
    rules += [(f"{place}/*", "file", dice.pick(modes)) for place in places[:2]]
    rules += [(f"*/{names[0]}*", "any", dice.pick(["700", "600", "770"]))]
    rules = dice.shuffled(rules)[: 5 + draft.scale]
    # Matches base names only: where this rule applies, it detects matching against full paths.
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
        f"scripts (files that begin with {mark}, which "
        f"no rule for files is about), for folders, or "
        "for any of them. A pattern with a slash is matched against the path below the tree's top "
        "(of which the top itself is `.`), one without against the last part alone; * matches any "
        f"characters, slashes too. Where several rules fit, {order} of them in the table holds; "
        "what no rule fits stays as it is. Symbolic links are left alone, and so is what they "
        f"point to.\nWrite an executable /app/{prog} that takes a folder and sets the "
        "permissions below it and of it accordingly."
    )
    draft.keep("policy.csv")

    def kind_of(path: str, folders: set[str], scripts: set[str]) -> str:
        return "folder" if path in folders else "script" if path in scripts else "file"

    for number in range(3):
        files = sorted(
            {
                "/".join(
                    [*dice.some(places, dice.whole(0, 2)), f"{dice.pick(names)}.{dice.pick(ends)}"]
                )
                for _ in range(14)
            }
        )
        files = sorted({*files, f"{places[3]}/{names[1]}.conf"})
        scripts = {p for p in files if dice.chance(0.3) and not p.endswith(f"{names[1]}.conf")}
        folders = {"."} | {path.rpartition("/")[0] for path in files if "/" in path}
        folders |= {path.partition("/")[0] for path in folders if "/" in path}
        lines = []
        for path in sorted([*files, *folders]):
            fits = [
                bits
                for pattern, kind, bits in rules
                if kind in ("any", kind_of(path, folders, scripts))
                and fnmatch.fnmatchcase(
                    path if "/" in pattern else path.rpartition("/")[2], pattern
                )
            ]
            default = "705" if path in folders else "604"
            lines.append(f"{path} {(fits[-1] if last else fits[0]) if fits else default}")
        given = {
            f"tree{number}/{path}": f"{mark}/bin/sh\n" if path in scripts else "text\n"
            for path in files
        }
        given |= {f"tree{number}/{places[3]}/{names[1]}.conf": "text\n", "outside": "text\n"}
        run = (
            f"find tree{number} -type d -exec chmod 705 {{}} +; find tree{number} outside -type f "
            f"-exec chmod 604 {{}} +; ln -s ../outside tree{number}/{names[1]}.lnk; "
            f"./{prog} tree{number}; chmod u+rwx tree{number}; "
            f"find tree{number} -mindepth 1 ! -type l -printf '%P %m\\n' | grep -v '^outside' | "
            "LC_ALL=C sort; stat -c %a outside"
        )
        shown = sorted(line for line in lines if not line.startswith(". "))
        draft.probe(f"tree_{number}", run, files=given, text="\n".join([*shown, "604"]))
    right = (
        _MODES.replace("STOP", "pass" if last else "break")
        .replace('b"#!"', f'b"{mark}"')
        .replace('csv")))', f'csv"), delimiter="{sep}"))')
        .replace(
            "pattern, kind, bits in",
            ", ".join(("pattern", "kind", "bits")[place] for place in columns) + " in",
        )
    )
    faults = {
        "other_order": ("pass\n", "break\n") if last else ("break\n", "pass\n"),
        "no_scripts": ('"script" if script else "file"', '"file"'),
        "whole_path": ('name if "/" in pattern else os.path.basename(name)', "name"),
        "through_links": ("    if os.path.islink(path):\n        continue\n", ""),
    }
    draft.program(prog, right, faults)
    other = right.replace(" in rules:", " in reversed(rules):").replace(
        "pass\n" if last else "break\n", "break\n" if last else "pass\n"
    )
    draft.alternative("reversed", put(prog, other, "755"))
