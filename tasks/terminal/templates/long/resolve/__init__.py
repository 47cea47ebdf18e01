"""Lock files of packages by the rules of a house, after the service that wrote them was retired.

It knows drafts and probes; it does not know sandboxes or the source that numbers the tasks.
"""

import json
from random import Random  # noqa: TID251 - private generators, seeded from the task's draws
from typing import Any

from hexathlon.tasks.terminal.draft import TerminalDraft, put, template
from hexathlon.tasks.terminal.templates.long.resolve.documents import documents, format_text
from hexathlon.tasks.terminal.templates.long.resolve.house import House, Registers, draw_house
from hexathlon.tasks.terminal.templates.long.resolve.instances import LockCase, small_case
from hexathlon.tasks.terminal.templates.long.resolve.large import large_answer
from hexathlon.tasks.terminal.templates.long.resolve.program import (
    alternative_text,
    naive_text,
    program_text,
    starting_text,
)
from hexathlon.tasks.terminal.templates.long.resolve.reference import (
    RULES,
    SLIPS,
    LockResolution,
    resolve,
)

__all__ = ["RECORDED_ONLY", "mixed_case", "rules_of", "telling_case"]

RECORDED_ONLY = ("platform_empty", "relisted", "unlisted_lock", "blocked")
"""Rules that no document contains."""

_RECORDS = 30
_EVIDENCE = 3
"""Records at least that differ where one of these rules is left out."""

_NEAR_MISSES = 14
_MIXED = 6
_TELLING = 5
"""Rules that decide a mixed request at least."""

_CLUSTERS = 40
_SECONDS = 10.0

_SHOW = """python3 - <<'END'
import json, subprocess
made = subprocess.run(["python3", "resolve.py"], stdin=open("held-out.json"), capture_output=True)
try:
    answer = json.loads(made.stdout) if made.stdout.strip() else None
except ValueError:
    answer = "not JSON"
print(json.dumps([made.returncode, answer]))
END"""


@template("long_resolve", ("hard",))
def long_resolve(draft: TerminalDraft) -> None:
    """Write lock files for any day by policies that replace each other, and by old records."""
    dice = draft.dice
    prefix = dice.pick(("tk-", "ho-", "in-", "va-"))
    house = draw_house(dice, draft.split, prefix)
    rng = Random(dice.whole(0, 2**40))
    names = _package_names(draft, prefix)
    registrar, *others = draft.cast.names("person", 4)
    for path, text in documents(house, registrar, others).items():
        draft.file(path, text)
    draft.file("docs/format.md", format_text(_CLUSTERS))
    _registers_and_samples(draft, rng, house, names)
    _records(draft, rng, house, names)
    draft.file("resolve.py", starting_text(), 0o755)
    draft.say(
        "The service that wrote the lock files of our products is switched off, and its source "
        "is lost. resolve.py was written in an afternoon and is right for the simplest requests at "
        "best. Make `python3 resolve.py` answer any request for any day since 2024-01-01, as "
        "the policies of that day and the practice of the service require. "
        "docs/format.md describes requests and answers, records/ are requests that the service "
        "answered while it ran, and samples/ are three easy ones. Only the standard library may "
        "be used."
    )
    draft.turns = 50
    rules = rules_of(house)
    for rule in rules:
        case = telling_case(rng, house, names, rule)
        _probe(draft, f"rule_{rule}", case, resolve(house, case.registers, case.request))
    bad = small_case(rng, house, names)
    roots = [*bad.request["roots"], f"{names[0]} =>1.0"]
    _probe(
        draft,
        "unreadable_root",
        LockCase({**bad.request, "roots": roots}, bad.registers),
        (2, None),
    )
    for number in range(1, _MIXED + 1):
        case = mixed_case(rng, house, names)
        _probe(draft, f"mixed_{number}", case, resolve(house, case.registers, case.request))
    _large_probe(draft, rng, house)
    draft.part("resolve.py", put("resolve.py", program_text(house), "755"))
    draft.alternative("remembered_rests", put("resolve.py", alternative_text(house), "755"))
    draft.mutant("every_combination", put("resolve.py", naive_text(house), "755"))
    for rule in dice.some(rules, _NEAR_MISSES):
        draft.mutant(f"without_{rule}", put("resolve.py", program_text(house, rule), "755"))


def rules_of(house: House) -> list[str]:
    """Return the rules of a house that can be missed."""
    slips = [name for name, (twist, _) in SLIPS.items() if house.has(twist)]
    return [*RULES, *sorted(house.twists), *slips]


def mixed_case(rng: Random, house: House, names: list[str]) -> LockCase:
    """Return a request that at least five rules decide at once.

    Raises:
        ValueError: If none is found.
    """
    rules = rules_of(house)
    for _ in range(400):
        case = small_case(rng, house, names, rng.choice(rules))
        right = resolve(house, case.registers, case.request)
        if right[0] or not settled(house, case):
            continue
        telling = 0
        for rule in rng.sample(rules, len(rules)):
            other = resolve(house, case.registers, case.request, frozenset([rule]))
            telling += right != other
            if telling == _TELLING:
                return case
    raise ValueError("no request is decided by several rules")


def telling_case(rng: Random, house: House, names: list[str], rule: str, **limits: Any) -> LockCase:
    """Return a request whose answer changes when one rule is left out.

    Raises:
        ValueError: If none is found.
    """
    for _ in range(2_000):
        case = small_case(rng, house, names, rule, **limits)
        right = resolve(house, case.registers, case.request)
        other = resolve(house, case.registers, case.request, frozenset([rule]))
        if right != other and settled(house, case, rule == "blocked"):
            return case
    raise ValueError(f"no request tells whether {rule} is applied")


def settled(house: House, case: LockCase, in_the_middle: bool = False) -> bool:
    """Whether papers and records decide an answer.

    It must be clear which versions are locked. If the answer names a root, the roots up to it have
    no lock file, and any number of those before it have one, also when the later ones are not in
    the request. With `in_the_middle` it has to have a lock file by itself, and another root has to
    follow.
    """
    resolution = LockResolution(house, case.registers, case.request, frozenset())
    if resolution.doubtful():
        return False
    status, answer = resolution.answer()
    if status == 0:
        return not in_the_middle
    roots = list(case.request["roots"])
    place = roots.index(answer["blocked_by"])

    def solved(some: list[str]) -> bool:
        request = {**case.request, "roots": some}
        return resolve(house, case.registers, request)[0] == 0

    if solved(roots[: place + 1]) or not all(solved(roots[:n]) for n in range(place, 0, -1)):
        return False
    return not in_the_middle or (solved([roots[place]]) and place + 1 < len(roots))


def _package_names(draft: TerminalDraft, prefix: str) -> list[str]:
    names = draft.cast.names("thing", 7)
    for place in draft.dice.some(range(7), 2):
        names[place] = prefix + names[place]
    return names


def _registers_and_samples(
    draft: TerminalDraft, rng: Random, house: House, names: list[str]
) -> None:
    """Add the registers of today, and easy requests that only the ordinary rules decide."""
    today = small_case(rng, house, names, "pins")
    for path, text in today.registers.files().items():
        draft.file(path, text)
    for number in range(3):
        packages = names[number : number + 3]
        index: dict[str, list[dict[str, Any]]] = {
            name: [
                {"version": version, "published": "2023-10-01", "licence": "MIT"}
                for version in ("1.0", "1.2", "2.0")
            ]
            for name in packages
        }
        index[packages[0]][1]["needs"] = [f"{packages[1]} <2"]
        request = {
            "day": "2024-01-09",
            "platform": "linux-x64",
            "roots": [f"{packages[0]} <2", packages[2]],
            "lock": {name: "1.0" for name in packages[number:]},
            "index": index,
        }
        status, answer = resolve(house, Registers(), request)
        draft.file(f"samples/{number + 1}.json", _text(request))
        draft.file(f"samples/{number + 1}.answer.json", _text(answer))


def _records(draft: TerminalDraft, rng: Random, house: House, names: list[str]) -> None:
    """Add what the service answered until its last day."""
    cases = [
        telling_case(rng, house, names, rule, last=house.retired)
        for rule in RECORDED_ONLY
        for _ in range(_EVIDENCE)
    ]
    while len(cases) < _RECORDS:
        case = small_case(rng, house, names, last=house.retired)
        if settled(house, case):
            cases.append(case)
    cases.sort(key=lambda case: str(case.request["day"]))
    for number, case in enumerate(cases, 1):
        status, answer = resolve(house, case.registers, case.request)
        files = {path.split("/")[1]: text for path, text in case.registers.files().items()}
        record = {"request": case.request, "registers": files, "status": status, "answer": answer}
        draft.file(f"records/{case.request['day']}-{number:03d}.json", _text(record))


def _text(value: Any) -> str:
    return json.dumps(value, indent=1) + "\n"


def _probe(draft: TerminalDraft, name: str, case: LockCase, expected: tuple[int, Any]) -> None:
    files = {"held-out.json": json.dumps(case.request), **case.registers.files()}
    draft.probe(name, _SHOW, files=files, json=list(expected))


def _large_probe(draft: TerminalDraft, rng: Random, house: House) -> None:
    """Add a large request within a budget of processor time."""
    names = draft.cast.names("service", 5)
    whole, expected = large_answer(rng, house, names, _CLUSTERS)
    files = {"held-out.json": json.dumps(whole.request), **whole.registers.files()}
    draft.probe(
        "large_product", _SHOW, files=files, seconds=2 * _SECONDS, cpu=_SECONDS, json=list(expected)
    )
