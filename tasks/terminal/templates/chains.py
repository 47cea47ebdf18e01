"""Compositions: two to four faulty parts, the output of one feeding the next.

Every stage reads and writes lines `ID STAMP SITE KIND VALUE`; its specification is in its own
document. Only the whole is judged, on held-out inputs, so every part has to be correct; stray notes
and spare copies are dead ends.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass

from hexathlon.tasks.terminal.dice import Dice
from hexathlon.tasks.terminal.draft import TerminalDraft, put, template

ChainRow = tuple[int, int, str, str, int]
"""Id, minutes since the start of the year, site, kind, value."""


@dataclass(frozen=True)
class ChainStage:
    """A part of a chain."""

    name: str
    path: str
    right: str
    wrong: str
    document: str
    apply: Callable[[list[ChainRow]], list[ChainRow]]
    other: str
    """An alternative correct implementation."""

    run: str
    edges: tuple[int, ...] = ()
    """Values at which the stage changes what it does."""


def _python(body: str) -> str:
    return (
        "import sys\nrows = [line.split() for line in sys.stdin]\n"
        "rows = [[int(a), int(b), c, d, int(e)] for a, b, c, d, e in rows]\n"
        f"{body}for row in rows:\n    print(*row)\n"
    )


def _shift(dice: Dice, sites: list[str], kinds: list[str]) -> ChainStage:
    offsets = {site: dice.pick((-330, -120, 60, 345, 540)) for site in sites}

    def apply(rows: list[ChainRow]) -> list[ChainRow]:
        return [(a, b - offsets[c], c, d, e) for a, b, c, d, e in rows]

    body = f"OFFSETS = {offsets!r}\nfor row in rows:\n    row[1] %s= OFFSETS[row[2]]\n"
    table = ", ".join(f"{site} {minutes:+d}" for site, minutes in offsets.items())
    return ChainStage(
        "clock",
        "stages/clock.py",
        _python(body % "-"),
        _python(body % "+"),
        "Stamps come in local minutes; wanted are UTC minutes. Minutes that each site is ahead of "
        f"UTC: {table}.",
        apply,
        _python(
            f"OFFSETS = {offsets!r}\nrows = [[a, b + "
            f"-OFFSETS[c], c, d, e] for a, b, c, d, e in rows]\n"
        ),
        "python3 stages/clock.py",
    )


def _latest(dice: Dice, sites: list[str], kinds: list[str]) -> ChainStage:
    keep_last = dice.chance(0.5)

    def apply(rows: list[ChainRow]) -> list[ChainRow]:
        best: dict[int, ChainRow] = {}
        for row in rows:
            old = best.get(row[0])
            if old is None or row[1] > old[1] or (row[1] == old[1] and keep_last):
                best[row[0]] = row
        return [best[key] for key in sorted(best)]

    sign, bad = (">=", ">") if keep_last else (">", ">=")
    awk = (
        "#!/bin/sh\n# keeps one line for each id\nawk '!($1 in at) || $2 {0} at[$1] "
        "{{ at[$1] = $2; line[$1] = $0 }} END {{ for (i "
        "in line) print line[i] }}' | sort -n\n"
    )
    which = "the last of them in the input" if keep_last else "the first of them in the input"
    body = (
        f"best = {{}}\nfor row in rows:\n    old = best.get(row[0])\n"
        f"    if old is None or row[1] {sign} old[1]:\n        best[row[0]] = row\n"
        "rows = [best[key] for key in sorted(best)]\n"
    )
    return ChainStage(
        "latest",
        "stages/latest.sh",
        awk.format(sign),
        awk.format(bad).replace("sort -n", "sort"),
        "Of lines with the same id only the one with the largest stamp is kept; if several have "
        f"it, {which}. The output is sorted by id, as a number.",
        apply,
        f"#!/bin/sh\npython3 -c '{_python(body)}'\n",
        "sh stages/latest.sh",
    )


def _scale(dice: Dice, sites: list[str], kinds: list[str]) -> ChainStage:
    factor, divisor = dice.whole(1_000, 90_000) | 1, dice.pick((8, 12, 100, 1_000))
    kind = dice.pick(kinds)

    def apply(rows: list[ChainRow]) -> list[ChainRow]:
        done = []
        for a, b, c, d, e in rows:
            whole = abs(e) * factor // divisor * (1 if e >= 0 else -1)
            done.append((a, b, c, d, whole if d == kind else e))
        return done

    text = """#include <stdio.h>
#include <string.h>
int main(void) {{
    {type} id, stamp, value;
    char site[64], kind[64];
    while (scanf("{form} {form} %63s %63s {form}", &id, &stamp, site, kind, &value) == 5) {{
        if (strcmp(kind, "{kind}") == 0)
            value = {expression};
        printf("{form} {form} %s %s {form}\\n", id, stamp, site, kind, value);
    }}
    return 0;
}}
"""
    right = text.format(
        type="long long", form="%lld", kind=kind, expression=f"value * {factor} / {divisor}"
    )
    wrong = text.format(
        type="int", form="%d", kind=kind, expression=f"value * {factor} / {divisor}"
    )
    other = text.format(
        type="long",
        form="%ld",
        kind=kind,
        expression=(
            f"value < 0 ? -(-value * {factor}L / {divisor}) : value * {factor}L / {divisor}"
        ),
    )
    return ChainStage(
        "scale",
        "stages/scale.c",
        right,
        wrong,
        f"Values of kind {kind} are multiplied by {factor} and divided by {divisor}, fractions cut "
        "off towards zero; values are up to 10 000 000 in size before that. Others stay.",
        apply,
        other,
        "/tmp/scale",
    )


def _filter(dice: Dice, sites: list[str], kinds: list[str]) -> ChainStage:
    low = dice.whole(-400, 0)
    edges = (low, low - 1)
    dropped = sites[0]  # a substring of another site's name

    def apply(rows: list[ChainRow]) -> list[ChainRow]:
        return [row for row in rows if row[2] != dropped and low <= row[4]]

    awk = f"awk '$3 != \"{dropped}\" && $5 >= {low}'\n"
    return ChainStage(
        "select",
        "stages/select.sh",
        awk,
        awk.replace("$3 !=", "$3 !~").replace(">=", ">"),
        f"Lines of the site {dropped} are dropped, and so are those with a value below {low}. "
        "Sites whose names merely contain that name stay.",
        apply,
        f"awk -v gone={dropped} '{{ if ($3 == gone || $5 < {low}) next; print }}'\n",
        "sh stages/select.sh",
        edges,
    )


def _rename(dice: Dice, sites: list[str], kinds: list[str]) -> ChainStage:
    order = dice.shuffled(kinds)
    following = {kind: order[(place + 1) % len(order)] for place, kind in enumerate(order)}
    table = {kind: following[kind] for kind in kinds}

    # Sequential renaming would rename some values twice.
    def apply(rows: list[ChainRow]) -> list[ChainRow]:
        return [(a, b, c, table.get(d, d), e) for a, b, c, d, e in rows]

    wrong = "sed " + " ".join(f"-e 's/ {old} / {new} /'" for old, new in table.items()) + "\n"
    right = (
        "awk '"
        + "".join(
            f'{"else " if place else "{ "}if ($4 == "{old}") $4 = "{new}"; '
            for place, (old, new) in enumerate(table.items())
        )
        + "print }'\n"
    )
    body = (
        f"table = {json.dumps(table)}\nfor row in rows:\n    row[3] = table.get(row[3], row[3])\n"
    )
    other = f"python3 -c '{_python(body)}'\n"
    return ChainStage(
        "rename",
        "stages/rename.sh",
        right,
        wrong,
        "Kinds are renamed, all at once: "
        + ", ".join(f"{a} becomes {b}" for a, b in table.items())
        + ".",
        apply,
        other,
        "sh stages/rename.sh",
    )


def _carry(dice: Dice, sites: list[str], kinds: list[str]) -> ChainStage:
    reset = dice.pick(kinds)

    def apply(rows: list[ChainRow]) -> list[ChainRow]:
        sums: dict[str, int] = {}
        done = []
        for a, b, c, d, e in rows:
            sums[c] = e if d == reset else sums.get(c, 0) + e
            done.append((a, b, c, d, sums[c]))
        return done

    body = (
        "sums = {{}}\nfor row in rows:\n    site, kind = row[2], row[3]\n"
        f"    sums[{{}}] = row[4] if kind == '{reset}' else sums.get({{}}, 0) + row[4]\n"
        "    row[4] = sums[{}]\n"
    )
    other = (
        "from collections import defaultdict\nsums = defaultdict(int)\nfor row in rows:\n"
        f"    if row[3] == '{reset}':\n        sums[row[2]] = 0\n    sums[row[2]] += row[4]\n"
        "    row[4] = sums[row[2]]\n"
    )
    return ChainStage(
        "carry",
        "stages/carry.py",
        _python(body.format(*["site"] * 3)),
        _python(body.format(*["kind"] * 3)),
        f"The value becomes the sum of all values of its site so far, its own included; a line of "
        f"kind {reset} starts the sum of its site anew with its own value.",
        apply,
        _python(other),
        "python3 stages/carry.py",
    )


_STAGES = (_shift, _latest, _scale, _filter, _rename, _carry)


def _chain(draft: TerminalDraft, count: int) -> None:
    dice = draft.dice
    sites = draft.cast.names("place", 4)
    sites[3] = sites[0] + sites[1]
    kinds = draft.cast.names("key", 3)
    stages = [make(dice, sites, kinds) for make in dice.some(_STAGES, count)]
    names = [stage.name for stage in stages]
    driver = "#!/bin/sh\nset -e\ncd /app\n"
    if "scale" in names:
        driver += "gcc -O1 -w -o /tmp/scale stages/scale.c\n"
    driver += " | ".join(stage.run for stage in stages) + "\n"
    draft.file("run.sh", driver, 0o755)
    for stage in stages:
        draft.file(stage.path, stage.wrong)
        draft.file(f"docs/{stage.name}.md", stage.document + "\n")
    for stage in dice.some(stages, 1):
        draft.file(f"{stage.path}.bak", stage.wrong.replace("5", "4"))
    draft.file(
        "docs/HISTORY",
        "".join(
            f"{name}: checked in spring, nothing wrong with it\n" for name in dice.shuffled(names)
        ),
    )
    draft.file("last_run.log", "all stages fine (old data, one site)\n")
    draft.say(
        "run.sh sends lines `ID STAMP SITE KIND VALUE` (STAMP in minutes, VALUE a whole number) "
        f"through {count} stages: {', '.join(names)}. docs/ says what each of them shall do to the "
        "lines. What comes out is wrong, and more than one stage has its part in that. Mend the "
        "files in stages/ until the whole does what the documents say; run.sh and docs/ stay as "
        "they are."
    )
    draft.keep("run.sh", *[f"docs/{name}.md" for name in names])
    for number in range(4):
        rows = [_row(dice, sites, kinds, number) for _ in range(60)]
        result = _applied(stages, rows)
        draft.probe(f"input_{number}", "./run.sh", stdin=_text(rows), text=_text(result))
    edged = _edged([_row(dice, sites, kinds, 0) for _ in range(20)], stages, sites, kinds)
    if edged:
        draft.probe("edges", "./run.sh", stdin=_text(edged), text=_text(_applied(stages, edged)))
    draft.part("stages", "".join(put(stage.path, stage.right) for stage in stages))
    for stage in stages:
        left = [put(s.path, s.wrong if s is stage else s.right) for s in stages]
        draft.mutant(f"left_{stage.name}", "".join(left))
    if edged:
        at = next(stage for stage in stages if stage.edges)
        off = at.right.replace(str(at.edges[0]), str(at.edges[1]))
        draft.mutant(
            "off_by_one", "".join(put(s.path, off if s is at else s.right) for s in stages)
        )
    draft.mutant("spares", "for f in stages/*.bak; do cp $f ${f%.bak}; done")
    if count == 2:
        draft.mutant(
            "passed_on",
            "".join(put(s.path, "cat\n" if s.path.endswith(".sh") else s.wrong) for s in stages),
        )
    draft.alternative("other_code", "".join(put(stage.path, stage.other) for stage in stages))


def _applied(stages: list[ChainStage], rows: list[ChainRow]) -> list[ChainRow]:
    for stage in stages:
        rows = stage.apply(rows)
    return rows


def _edged(
    rows: list[ChainRow], stages: list[ChainStage], sites: list[str], kinds: list[str]
) -> list[ChainRow]:
    """Append rows that reach a stage with exactly one of its edges; empty without such rows."""
    found = list(rows)
    for place, stage in enumerate(stages):
        for edge in stage.edges:
            for kind in kinds:
                row = (31 + len(found), 620, sites[1], kind, 0)
                there = _applied(stages[:place], [*found, row])[-1][4]
                row = (*row[:4], edge - there)
                if _applied(stages[:place], [*found, row])[-1][4] == edge:
                    found.append(row)
                    break
    return found if len(found) > len(rows) else []


def _row(dice: Dice, sites: list[str], kinds: list[str], number: int) -> ChainRow:
    value = dice.whole(-900, 5_000) if number < 2 else dice.whole(-(10**7), 10**7)
    return (dice.whole(1, 30), dice.whole(600, 640), dice.pick(sites), dice.pick(kinds), value)


def _text(rows: list[ChainRow]) -> str:
    return "".join(f"{' '.join(map(str, row))}\n" for row in rows)


@template("chain_two", ("medium",), needs=("gcc", "libc6-dev"))
def chain_two(draft: TerminalDraft) -> None:
    """Two faulty stages."""
    _chain(draft, 2)


@template("chain_three", ("medium",), needs=("gcc", "libc6-dev"))
def chain_three(draft: TerminalDraft) -> None:
    """Three faulty stages."""
    _chain(draft, 3)


@template("chain_four", ("medium",), needs=("gcc", "libc6-dev"))
def chain_four(draft: TerminalDraft) -> None:
    """Four faulty stages."""
    _chain(draft, 4)
