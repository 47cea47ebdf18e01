"""`long_language`: two independent implementations agree, and every decision is tested."""

import subprocess
import sys

import pytest

from hexathlon.tasks.terminal.dice import Cast, Dice
from hexathlon.tasks.terminal.templates.long.language.archive import (
    INSIDE,
    OUTSIDE,
    TEST_ONLY,
    Archive,
)
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
    assert not [n for n, rules in archive.other_rules.items() if agree(held, rules, right, n)]


def agree(held, rules, right, name):
    """Whether all programs end as they should; those about the rule run first."""
    order = sorted(held, key=lambda program: name[:4] not in program)
    return all(results({each: held[each]}, rules)[each] == right[each] for each in order)


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
    for name in dice.some(sorted(held), 30):
        done = subprocess.run(
            [sys.executable, "-m", "vela", f"held/{name}/main.vela"],
            cwd=tmp_path, capture_output=True, text=True, timeout=30, check=False,
        )  # fmt: skip
        found = f"{done.stdout}{done.stderr}exit {done.returncode}\n"
        assert found == expected[name], name


RARE: list[tuple[dict[str, str], dict[str, str], tuple[str, int]]] = [
    ({}, {"m": 'let a = [1];\nfn f() { push(a, 2); return 0; }\nprint a, f(), a;\n'},
     ("[1] 0 [1, 2]\n", 0)),
    ({}, {"m": "print 1;\nfn f() {\n"}, ("m:3: syntax error\n", 2)),
    ({"ensure": "over"},
     {"m": 'try { import "n" as n; } finally { print "never"; }\n', "n.vela": "\nlet = 1;\n"},
     ("n.vela:2: syntax error\n", 2)),
    ({"defer": "early"},
     {"m": 'fn f() { defer print_it(); import "n" as n; }\nfn print_it() { print 1; }\nf();\n',
      "n.vela": "let"},
     ("n.vela:1: syntax error\n", 2)),
    ({}, {"m": 'import "n" as n;\nn.bump();\nprint n.k;\n',
          "n.vela": "let k = 1;\nfn bump() { k = k + 1; }\n"}, ("2\n", 0)),
    ({"compound": "before"},
     {"m": 'len += "x";\nprint len;\nimport "n" as n;\n', "n.vela": 'print len("four");\n'},
     ("<fn len>x\n4\n", 0)),
    ({"compound": "after", "undeclared": "yes"}, {"m": 'print 1;\nlen += "x";\n'},
     ("1\nm:2: name error: len is not defined\n", 1)),
    ({"constants": "late", "unpack": "exact"}, {"m": "let [a] = [1];\nconst [b] = [a];\n"},
     ("m:2: syntax error\n", 2)),
    ({"pipe": "first", "traces": "full"}, {"m": "fn f(x) { return x[9]; }\n[1]\n  |> f();\n"},
     ("m:1: index error: index 9 out of range\n  in f, m:3\n", 1)),
]  # fmt: skip
"""Rules in place of the old ones, files, and what the papers prescribe for them."""


@pytest.mark.parametrize(("rules", "files", "expected"), RARE)
def test_rare_programs_end_as_the_papers_say(rules, files, expected, tmp_path):
    rules = {**OLD, "limit": 200, **rules}
    assert outcome(files.get, "m", rules) == expected
    for path, text in (package(rules) | files).items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", "vela", "m"],
        cwd=tmp_path, capture_output=True, text=True, timeout=30, check=False,
    )  # fmt: skip
    assert (done.stdout + done.stderr, done.returncode) == expected


@pytest.mark.parametrize("split", ["dev", "test"])
@pytest.mark.parametrize("seed", range(8))
def test_the_papers_give_the_rules(seed, split):
    """The rules follow from the papers by reading them as the governance says."""
    archive, _ = archive_of(seed, split)
    papers = Papers(archive.papers())
    for name, number in archive.numbers.items():
        versions = [*PROPOSALS[name][1]]
        value = {"accepted": versions[0], "changed": versions[-1]}.get(
            papers.standing(f"{number:04d}"), OLD[name]
        )
        if name == "limit":
            value = {"deep": archive.limits[0], "other": archive.limits[1]}.get(value, 200)
        assert archive.rules[name] == value, (name, archive.fates[name])


def test_every_fate_occurs():
    fates = set().union(*(set(archive_of(seed)[0].fates.values()) for seed in range(8)))
    assert {*INSIDE, *OUTSIDE, *TEST_ONLY} <= fates
    early = set().union(*(set(archive_of(seed, "dev")[0].fates.values()) for seed in range(8)))
    assert not early & {*TEST_ONLY}


def test_some_minutes_and_dates_mislead():
    """Believing the first lists, or the first date of the freeze, leads to another release."""
    misled = 0
    for seed in range(6):
        archive, _ = archive_of(seed)
        texts = archive.papers()
        numbers = [f"{number:04d}" for number in archive.numbers.values()]
        right = [Papers(texts).standing(number) for number in numbers]
        for text in ("is corrected", "freeze of 3.0 is moved"):
            kept = {path: "\n".join(line for line in paper.split("\n") if text not in line)
                    for path, paper in texts.items()}  # fmt: skip
            misled += [Papers(kept).standing(number) for number in numbers] != right
    assert misled >= 8


class Papers:
    """A reading of the papers by the rules of governance, from their texts alone."""

    def __init__(self, texts):
        self.texts = texts
        self.minutes = {path[8:18]: text for path, text in texts.items() if "minutes/" in path}
        rows = [row.split(" | ") for row in texts["council.md"].split("\n") if row[:3] > "| 0"]
        self.seats = [(row[1], row[2], row[3].strip(" |")) for row in rows if row[0][2:].isdigit()]
        self.present = {
            date: text.split("Present: ")[1].split(".\n")[0].split(", ")
            for date, text in self.minutes.items()
        }
        for date, item in self.items():
            if item.startswith("Minutes of") and self.valid(date):
                listed, name = self.present[item[11:21]], item[23:].split(" ")[0]
                listed.append(name) if "as well" in item else listed.remove(name)
        self.freeze = texts["releases/3.0.md"].split("Freeze date: ")[1][:10]
        for date, item in self.items():
            if "freeze of 3.0" in item and self.valid(date):
                self.freeze = item.rstrip(".")[-10:]

    def items(self):
        for date, text in sorted(self.minutes.items()):
            for item in text.strip().split("\n* ")[1:]:
                yield date, item

    def valid(self, date, author=""):
        seated = {name for name, since, until in self.seats if since <= date <= until}
        return len(seated.intersection(self.present[date]) - {author}) >= 4

    def author(self, number):
        text = next(text for path, text in self.texts.items() if path[:14] == f"proposals/{number}")
        return text.split("Author: ")[1].split("\n")[0]

    def standing(self, number):
        """What stands on the day of the freeze: accepted, changed or out."""
        standing = void = "out"
        for date, item in self.items():
            if not item.startswith(number) or date > self.freeze:
                continue
            said = item.split(": ", 1)[1]
            made = self.meant(said, standing, void)
            if self.valid(date, self.author(number)):
                standing = made
            else:
                void = made
        return standing

    def meant(self, said, standing, void):
        if "is confirmed" in said:
            return "accepted" if "but for the change" in said else void
        holds = True
        for word in (" if ", " unless "):
            if word in said and "is in the release" in said:
                holds = (self.standing(said.split(word)[1][:4]) != "out") == (word == " if ")
        if "otherwise rejected" in said:
            return "accepted" if holds else "out"
        if "change" in said:
            return "changed" if holds else "accepted"
        if "accepted" in said:
            return "accepted"
        return "out" if "revoked" in said or "rejected" in said else standing


def test_directives_must_be_closed():
    with pytest.raises(ValueError, match="unclosed"):
        rendered("#@ defer\nx\n", OLD)


def test_the_old_release_runs():
    assert outcome({"m": "print 7 / -2, -7 % 3;"}.get, "m", OLD) == ("-4 2\n", 0)
