"""`long_language`: two independent implementations agree, and every decision is tested."""

import subprocess
import sys

import pytest

from hexathlon.tasks.terminal.dice import Cast, Dice
from hexathlon.tasks.terminal.templates.long.language.archive import Archive
from hexathlon.tasks.terminal.templates.long.language.compiling import outcome
from hexathlon.tasks.terminal.templates.long.language.proposals import PROPOSALS
from hexathlon.tasks.terminal.templates.long.language.release import RULES, package, rendered
from hexathlon.tasks.terminal.templates.long.language.task import held_programs, results

OLD = {name: values[0] for name, values in RULES.items()}


def archive_of(seed: int, split: str = "test") -> tuple[Archive, Dice]:
    dice = Dice("vela", split, seed)
    return Archive(dice, Cast(dice, split), split), dice


def test_every_rule_has_its_proposal():
    assert set(PROPOSALS) == set(RULES)
    for name, (_, versions) in PROPOSALS.items():
        if name != "limit":
            assert set(versions) <= set(RULES[name]) and RULES[name][0] not in versions


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 9))]
)
@pytest.mark.parametrize("split", ["dev", "test"])
def test_the_programs_tell_every_other_reading(split, seed):
    archive, dice = archive_of(seed, split)
    held = held_programs(archive, dice)
    right = results(held, archive.rules)
    same = [name for name, rules in archive.other_rules.items() if results(held, rules) == right]
    assert not same


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_the_interpreter_agrees_with_the_reference(seed, tmp_path):
    archive, dice = archive_of(seed)
    held = held_programs(archive, dice)
    for path, text in package(archive.rules).items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    for files in held.values():
        for path, text in files.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text)
    expected = results(held, archive.rules)
    for name in dice.some(sorted(held), 20):
        done = subprocess.run(
            [sys.executable, "-m", "vela", f"held/{name}/main.vela"],
            cwd=tmp_path, capture_output=True, text=True, timeout=30, check=False,
        )  # fmt: skip
        found = f"{done.stdout}{done.stderr}exit {done.returncode}\n"
        assert found == expected[name], name


@pytest.mark.parametrize("seed", range(8))
def test_the_minutes_give_the_rules(seed):
    """The rules follow from the papers by reading them as the governance says."""
    archive, _ = archive_of(seed)
    papers = archive.papers()
    freeze = papers["releases/3.0.md"].split("Freeze date: ")[1][:10]
    standing: dict[str, str] = {}
    void: dict[str, str] = {}
    for path in sorted(each for each in papers if each.startswith("minutes/")):
        date = path[8:18]
        members = papers[path].split("Members: ")[1].split(". Guests")[0].split(", ")
        items = papers[path].split("\n* ")[1:]
        for item in items if items != ["No decisions.\n"] else []:
            number, said = item[:4], item.split(": ", 1)[1]
            book = standing if len(members) >= 4 and date <= freeze else void
            if "confirmed" in said:
                book[number] = void[number]
            elif "change" in said:
                book[number] = "changed"
            elif "accepted" in said:
                book[number] = "accepted"
            elif "revoked" in said or "rejected" in said:
                book[number] = "out"
    for name, number in archive.numbers.items():
        versions = [*PROPOSALS[name][1]]
        value = {"accepted": versions[0], "changed": versions[-1]}.get(
            standing.get(f"{number:04d}", "out"), OLD[name]
        )
        if name == "limit":
            value = {"deep": archive.limits[0], "other": archive.limits[1]}.get(value, 200)
        assert archive.rules[name] == value, name


def test_directives_must_be_closed():
    with pytest.raises(ValueError, match="unclosed"):
        rendered("#@ defer\nx\n", OLD)


def test_the_old_release_runs():
    assert outcome({"m": "print 7 / -2, -7 % 3;"}.get, "m", OLD) == ("-4 2\n", 0)
