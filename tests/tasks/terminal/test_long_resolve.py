"""The template `long_resolve`: programs against the exhaustive reference, and evidence of rules."""

import csv
import io
import json
from dataclasses import replace
from itertools import product
from random import Random

import pytest

from hexathlon.tasks.registry import get_source
from hexathlon.tasks.terminal.dice import Dice
from hexathlon.tasks.terminal.source import draft_of
from hexathlon.tasks.terminal.templates.long.resolve import (
    RECORDED_ONLY,
    mixed_case,
    rules_of,
    settled,
    telling_case,
)
from hexathlon.tasks.terminal.templates.long.resolve.admission import version_key
from hexathlon.tasks.terminal.templates.long.resolve.faults import FAULTS
from hexathlon.tasks.terminal.templates.long.resolve.house import (
    TWISTS,
    Pin,
    Registers,
    Rename,
    draw_house,
)
from hexathlon.tasks.terminal.templates.long.resolve.instances import LockCase, small_case
from hexathlon.tasks.terminal.templates.long.resolve.large import large_answer
from hexathlon.tasks.terminal.templates.long.resolve.program import (
    alternative_text,
    naive_text,
    program_text,
)
from hexathlon.tasks.terminal.templates.long.resolve.reference import (
    RULES,
    SLIPS,
    LockResolution,
    resolve,
)

SOURCE = get_source("terminal")
NAMES = ["keel", "anvil", "tk-drill", "hinge", "jig", "tk-urn", "mandrel"]
HUB = ["base", "axle", "bolt", "cog", "disc"]
OLD = "2023-10-01"


def loaded(text):
    """Return the program's function from a request and registers to status and answer."""
    module = {"__file__": "/nowhere/resolve.py", "__name__": "resolve"}
    exec(compile(text, "resolve.py", "exec"), module)

    def answer(request, registers):
        files = registers.files()
        module["register"] = lambda name: list(
            csv.DictReader(io.StringIO(files[f"registers/{name}.csv"]))
        )
        return module["answer"](json.loads(json.dumps(request)))

    return answer


def house(seed, split="test"):
    return draw_house(Dice("house", seed), split, "tk-")


@pytest.mark.parametrize("seed", range(4))
def test_all_methods_agree_with_the_reference(seed):
    rules, rng = house(seed), Random(seed)
    programs = [loaded(made(rules)) for made in (program_text, alternative_text, naive_text)]
    for focus in [*rules_of(rules), *sorted(rules.twists), *sorted(rules.twists)]:
        case = small_case(rng, rules, NAMES, focus)
        expected = resolve(rules, case.registers, case.request)
        for program in programs:
            assert program(case.request, case.registers) == expected, focus


def test_the_reference_finds_the_best_of_all_selections():
    rules, rng, compared = house(1), Random(8), 0
    for _ in range(40):
        case = small_case(rng, rules, NAMES[:4])
        resolution = LockResolution(rules, case.registers, case.request, frozenset())
        best = every_selection(resolution)
        status, answer = resolution.answer()
        assert (status == 0) == (best is not None)
        if best is not None:
            assert answer["lock"] == best
            compared += 1
    assert compared > 10


def every_selection(resolution):
    """Try every combination of versions, needed or not; return the best lock file."""
    names = sorted(resolution.index)
    family = {resolution.renamed(name): kin for kin, name in resolution.registers.families}
    rated = []
    for picked in product(*([None, *resolution.domains[name]] for name in names)):
        chosen = {n: e for n, e in zip(names, picked, strict=True) if e is not None}
        needed, todo, fits = set(), [need[1:] for need in resolution.roots], True
        opened = set()
        while todo and fits:
            name, bounds, extras = todo.pop()
            fits = name in chosen and resolution.fits(chosen[name].version, bounds)
            fits = fits and set(extras) <= set(chosen[name].extras)
            if fits and name not in needed:
                needed.add(name)
                todo += chosen[name].needs
            for extra in extras if fits else ():
                if (name, extra) not in opened:
                    opened.add((name, extra))
                    todo += chosen[name].extras[extra]
        for entry in chosen.values():
            for name, bounds, _ in entry.breaks:
                taken = chosen.get(name)
                fits = fits and not (taken and resolution.fits(taken.version, bounds))
        kin = {(family[n], e.key[0][0]) for n, e in chosen.items() if n in family}
        if not fits or needed != set(chosen) or len({name for name, _ in kin}) < len(kin):
            continue
        costs = [resolution.cost(name, entry) for name, entry in chosen.items()]
        order = [
            resolution.domains[n].index(e) if e else 99 for n, e in zip(names, picked, strict=True)
        ]
        total = (sum(cost[0] for cost in costs), sum(cost[1] for cost in costs))
        rated.append((total, order, {n: e.version for n, e in chosen.items()}))
    return min(rated, key=lambda item: item[:2])[2] if rated else None


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("split", ["dev", "test"])
def test_a_program_without_a_rule_fails_where_the_rule_is_tested(split, seed):
    rules, rng = house(seed, split), Random(seed)
    for rule in rules_of(rules):
        program = loaded(program_text(rules, rule))
        case = telling_case(rng, rules, NAMES, rule)
        expected = resolve(rules, case.registers, case.request)
        try:
            found = program(case.request, case.registers)
        except Exception as error:
            found = error
        assert found != expected, rule


def test_mixed_requests_are_decided_by_many_rules():
    rules, rng = house(2), Random(2)
    case = mixed_case(rng, rules, NAMES)
    right = resolve(rules, case.registers, case.request)
    assert right[0] == 0
    answers = [
        resolve(rules, case.registers, case.request, frozenset([rule])) for rule in rules_of(rules)
    ]
    assert sum(answer != right for answer in answers) >= 5
    for made in (program_text, alternative_text, naive_text):
        assert loaded(made(rules))(case.request, case.registers) == right


def test_every_rule_has_a_near_miss():
    assert set(FAULTS) == {*RULES, *SLIPS}
    with pytest.raises(ValueError, match="changes nothing"):
        FAULTS["none"] = ("no such text", "")
        try:
            program_text(house(0), "none")
        finally:
            del FAULTS["none"]


def test_large_requests_are_solved_by_both_methods():
    rules = house(3)
    case, expected = large_answer(Random(3), rules, HUB, 12)
    for made in (program_text, alternative_text):
        assert loaded(made(rules))(case.request, case.registers) == expected


def test_large_answers_follow_from_their_parts():
    rules = house(4)
    case, expected = large_answer(Random(4), rules, HUB, 2)
    assert resolve(rules, case.registers, case.request) == expected


@pytest.mark.parametrize("split", ["dev", "test"])
def test_rules_without_a_document_are_evident_from_three_records(split):
    draft = draft_of(SOURCE.build(f"terminal/long_resolve/hard/{split}/00001"))
    rules = house_of(draft)
    records = [json.loads(data) for path, data in draft.files.items() if "records/" in path]
    assert len(records) == 30
    for rule in RECORDED_ONLY:
        differing = 0
        for record in records:
            registers = registers_of(record["registers"])
            right = resolve(rules, registers, record["request"])
            assert right == (record["status"], record["answer"])
            differing += right != resolve(rules, registers, record["request"], frozenset([rule]))
        assert differing >= 3, rule


def house_of(draft):
    """Return the house of a draft, drawn again."""
    dice = Dice(draft.template, draft.level, draft.split, seed_of(draft))
    prefix = dice.pick(("tk-", "ho-", "in-", "va-"))
    return draw_house(dice, draft.split, prefix)


def seed_of(draft):
    return SOURCE.build(f"terminal/{draft.template}/hard/{draft.split}/00001").seed


def registers_of(files):
    def rows(name):
        return list(csv.reader(io.StringIO(files[f"{name}.csv"])))[1:]

    return Registers(
        tuple(Pin(*row) for row in rows("pins")),
        tuple(Rename(*row) for row in rows("renames")),
        tuple((row[0], row[1]) for row in rows("families")),
        tuple(row[0] for row in rows("closed")),
        tuple((row[0], row[1]) for row in rows("freezes")),
    )


def test_blocked_roots_are_named_beyond_doubt():
    rules, rng = house(2), Random(5)
    blocked = 0
    for _ in range(6):
        case = telling_case(rng, rules, NAMES, "blocked")
        status, answer = resolve(rules, case.registers, case.request)
        assert status == 3 and settled(rules, case, in_the_middle=True)
        blocked += answer["blocked_by"] != case.request["roots"][-1]
    assert blocked == 6


@pytest.mark.parametrize(
    ("bound", "version", "fits"),
    [
        ("<3", "3.0rc2", False),
        ("<3.0.post1", "3.0rc2", False),
        ("<3.0.post1", "3.0", True),
        ("<3.0rc2", "3.0rc1", True),
        ("<=3", "3.0rc2", True),
    ],
)
def test_bounds_below_a_version_exclude_its_candidates_as_the_mail_says(bound, version, fits):
    rules = replace(house(1), twists=frozenset(["ceiling"]))
    empty = {"day": "2024-05-01", "platform": "linux-x64", "roots": [], "index": {}}
    assert LockResolution(rules, Registers(), empty, frozenset()).fits(version, bound) is fits
    entry = {"version": version, "published": OLD}
    candidate = {"version": "4.0rc1", "published": OLD}
    request = {
        "day": rules.candidate_day,
        "platform": "linux-x64",
        "roots": ["keel >=1.0rc1", f"keel {bound}"],
        "index": {"keel": [entry, candidate]},
    }
    expected = resolve(rules, Registers(), request)
    assert expected[0] == (0 if fits else 3)
    assert loaded(program_text(rules))(request, Registers()) == expected


def test_requests_that_papers_do_not_decide_are_not_asked():
    rules = replace(house(1), twists=frozenset(["renames"]))
    renames = (Rename("keel", "jig", "2024-01-01"), Rename("anvil", "jig", "2024-01-01"))
    entries = [{"version": v, "published": day} for v, day in (("1.0", OLD), ("2.0", "2024-05-02"))]
    request = {"day": "2024-05-01", "platform": "linux-x64", "roots": ["jig"]}
    request["index"] = {"jig": entries, "keel": [], "anvil": []}

    def asked(**lock):
        return settled(rules, LockCase({**request, "lock": lock}, Registers(renames=renames)))

    assert asked() and asked(keel="1.0") and asked(jig="1.0", keel="2.0", anvil="1.0")
    assert not asked(keel="1.0", anvil="1.0")
    assert not asked(keel="2.0")


def test_a_version_listed_twice_may_be_chosen_as_either_entry_or_as_none():
    rules, rng, pairs = house(2), Random(3), 0
    for focus in ["relisted"] * 20 + ["yanked_kept", "advisory_grace", "closes_exempt"] * 20:
        case = small_case(rng, rules, NAMES, focus)
        for entries in case.request["index"].values():
            first = {}
            for entry in entries:
                other = first.setdefault(version_key(entry["version"]), entry)
                pairs += other is not entry
                marks = [{**each, "version": "", "needs": []} for each in (other, entry)]
                assert marks[0] == marks[1]
    assert pairs > 50


def test_four_kinds_of_rules_are_kept_for_the_test_split():
    early = set().union(*(house(seed, "dev").twists for seed in range(40)))
    late = set().union(*(house(seed, "test").twists for seed in range(40)))
    assert late == set(TWISTS) and set(TWISTS) - early == set(TWISTS[-4:])
    assert all(house(seed).twists & set(TWISTS[-4:]) for seed in range(10))
