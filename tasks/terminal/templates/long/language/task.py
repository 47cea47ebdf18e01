"""The template `long_language`: bring an interpreter to the release that was decided on."""

from collections.abc import Mapping
from typing import Any

from hexathlon.tasks.terminal.draft import TerminalDraft, faulty, put, template
from hexathlon.tasks.terminal.templates.long.language.archive import Archive
from hexathlon.tasks.terminal.templates.long.language.compiling import outcome
from hexathlon.tasks.terminal.templates.long.language.corpus import CORPUS, FAULTS
from hexathlon.tasks.terminal.templates.long.language.held import PROGRAMS
from hexathlon.tasks.terminal.templates.long.language.held_calls import CALLS
from hexathlon.tasks.terminal.templates.long.language.held_mixed import MIXED
from hexathlon.tasks.terminal.templates.long.language.manual import GOVERNANCE, MANUAL
from hexathlon.tasks.terminal.templates.long.language.release import RULES, package
from hexathlon.tasks.terminal.templates.long.language.sources import reference_package

__all__ = ["held_programs", "results"]

_GROUP = 3
"""Programs of one probe."""

_NEAR_MISSES = 9
"""Readings with one decision missed, drawn from all; three kept faults come beside them."""

_OLD = {name: values[0] for name, values in RULES.items()}


@template("long_language", ("hard",))
def long_language(draft: TerminalDraft) -> None:
    """Implement the release of a small language that its minutes define."""
    dice = draft.dice
    archive = Archive(dice, draft.cast, draft.split)
    rules = archive.rules
    chosen = sorted(dice.some(sorted(FAULTS), 3))
    _world(draft, archive, chosen)
    draft.say(
        "`/app` is the repository of Vela, a small language: the interpreter of release 2.4 in "
        "`vela/`, the manual, and the papers of the project. Make it release 3.0, as "
        "`GOVERNANCE.md` defines a release, so that `python3 -m vela FILE`, run in `/app`, does "
        "with every program exactly what 3.0 prescribes: output, error report and exit code. Only "
        "Python's standard library is available. The programs in `corpus/` ran with 2.4, and "
        "their outputs are beside them."
    )
    draft.turns = 50
    held = held_programs(archive, dice)
    names = dice.shuffled(sorted(held))
    wanted = results(held, rules)
    for start in range(0, len(names), _GROUP):
        group = sorted(names[start : start + _GROUP])
        files = {path: text for name in group for path, text in held[name].items()}
        runs = (f'python3 -m vela held/{name}/main.vela 2>&1; echo "exit $?"' for name in group)
        draft.probe(
            "programs: " + ", ".join(group),
            "\n".join(runs),
            files=files,
            text="".join(wanted[name] for name in group),
        )
    draft.part("interpreter", _writing(package(rules)))
    draft.alternative("closures", _writing(reference_package(rules), "rm -rf vela"))
    others = archive.other_rules
    for name in dice.some(sorted(others), _NEAR_MISSES):
        draft.mutant(name, _writing(package(others[name])))
    for fault in chosen:
        draft.mutant(f"kept_{fault}", _writing(_faulty(package(rules), [fault])))


def _world(draft: TerminalDraft, archive: Archive, faults: list[str]) -> None:
    """Lay out the repository."""
    draft.file("GOVERNANCE.md", GOVERNANCE)
    draft.file("README.md", "# Vela\n\n    python3 -m vela FILE\n\nThe manual is in `manual/`.\n")
    for name, text in MANUAL.items():
        draft.file(f"manual/{name}.md", text)
    for path, text in archive.papers().items():
        draft.file(path, text)
    for path, text in _faulty(package(_OLD | {"limit": 200}), faults).items():
        draft.file(path, text)
    for name, text in CORPUS.items():
        draft.file(f"corpus/{name}.vela", text)
        printed, code = outcome({name: text}.get, name, _OLD)
        draft.file(f"corpus/{name}.out", printed + f"exit {code}\n")


def held_programs(archive: Archive, dice: Any) -> dict[str, dict[str, str]]:
    """Return the held-out programs that fit the release: files by path, by program."""
    held = {}
    for name, (needs, text) in (PROGRAMS | CALLS | MIXED).items():
        if not all(archive.rules[rule] for rule in needs.split()):
            continue
        low = dice.whole(3, 4)
        numbers = {"A": low, "B": low + 2, "C": low + 4, "D": 2, "LIMIT": archive.rules["limit"]}
        for key, number in numbers.items():
            text = text.replace(f"@{key}@", str(number))
        files: dict[str, str] = {}
        path = f"held/{name}/main.vela"
        for line in text.splitlines(keepends=True):
            if line.startswith("== "):
                path = f"held/{name}/{line[3:].strip()}"
                continue
            files[path] = files.get(path, "") + line
        held[name] = files
    return held


def results(held: Mapping[str, Mapping[str, str]], rules: Mapping[str, Any]) -> dict[str, str]:
    """Return what each program prints under the rules, with its exit code."""
    made = {}
    for name, files in held.items():
        printed, code = outcome(files.get, f"held/{name}/main.vela", rules)
        made[name] = f"{printed}exit {code}\n"
    return made


def _faulty(files: dict[str, str], faults: list[str]) -> dict[str, str]:
    for fault in faults:
        path, old, new = FAULTS[fault]
        files[path] = faulty(files[path], {fault: (old, new)}, [fault])
    return files


def _writing(files: Mapping[str, str], before: str = "") -> str:
    folder = "mkdir -p vela\n"
    return f"{before}\n{folder}" + "".join(put(path, text) for path, text in files.items())
