"""Layouts of a shift: the best one is exact, and exchanges do not lead to it."""

import re
from itertools import permutations

import numpy as np
import pytest

from hexathlon.tasks.gui.templates.shifts.courses import LayoutChange
from hexathlon.tasks.gui.templates.shifts.layouts import COUNT, MARGIN, PAIRS, SiteLayout
from hexathlon.tasks.registry import get_source

SOURCE = get_source("gui")
STEPS = re.compile(r"(\d)-(\d): (\d+)")
BARRED = re.compile(r"([\w]+) must not have \w+ (\d)\.")
PLAN = re.compile(r"^\w+ \d+: ((?:\d ){7}\d)")


def problem_of(seed, barred=()):
    rng = np.random.default_rng(seed)
    steps = tuple(rng.integers(12, 25, len(PAIRS)).tolist())
    values = rng.integers(-5, 7, len(PAIRS)).tolist()
    return SiteLayout({}, steps, barred).given(dict(zip(PAIRS, values, strict=True)))


@pytest.mark.parametrize("barred", [(), ((2, 3), (5, 0))])
def test_the_best_layout_is_the_cheapest_of_all(barred):
    problem = problem_of(3, barred)
    costs = sorted((problem.cost(places), places) for places in permutations(range(COUNT))
                   if all(places[thing] != place for thing, place in barred))  # fmt: skip
    best, margin = problem.best()
    assert (problem.cost(best), margin) == (costs[0][0], costs[1][0] - costs[0][0])
    assert not margin or best == costs[0][1]


def test_a_problem_with_several_best_layouts_has_no_margin():
    assert SiteLayout({}, (12,) * len(PAIRS)).best()[1] == 0 < MARGIN


def test_exchanges_end_where_none_of_them_helps():
    problem = problem_of(4)
    ends = set.union(*problem.hasty((0, 1, 2, 3, 4, 5, 6, 7)))
    for end in ends:
        for one, other in PAIRS:
            places = list(end)
            places[one], places[other] = places[other], places[one]
            assert problem.cost(tuple(places)) >= problem.cost(end)


def test_a_newcomer_has_only_the_values_that_are_named():
    problem = problem_of(5, ((1, 1),))
    after = LayoutChange({(0, 4): 3, (4, 6): 0}, 4, lifted=(1, 1), added=(2, 7)).applied(problem)
    assert {pair: value for pair, value in after.values.items() if 4 in pair} == {(0, 4): 3}
    assert after.barred == ((2, 7),)
    assert all(after.values[pair] == value for pair, value in problem.values.items()
               if 4 not in pair)  # fmt: skip


def noted(task):
    """The problem as in the notes of an English day, with its names."""
    texts = [row["text"] for table, kind, row in task.params["world"]["edits"]
             if (table, kind) == ("notes.notes", "put")]  # fmt: skip
    first = next(text for text in texts if "Cost of a plan" in text)
    second = next(text for text in texts if text.startswith("Steps between"))
    names = re.search(r"list: (.*?)\. Each", first)[1].split(", ")
    problem = SiteLayout({}, tuple(int(far) for *_, far in STEPS.findall(second)))
    return changed(problem, names, first), names


def changed(problem, names, text):
    """A problem after a text has been applied, read without the code that wrote it."""
    if found := re.search(r"(\w+) comes instead of (\w+)", text):
        place = names.index(found[2])
        names[place] = found[1]
        problem = LayoutChange(newcomer=place).applied(problem)
    for thing, place in re.findall(r"(\w+) may have \w+ (\d) now", text):
        problem = LayoutChange(lifted=(names.index(thing), int(place) - 1)).applied(problem)
    for thing, place in BARRED.findall(text):
        problem = LayoutChange(added=(names.index(thing), int(place) - 1)).applied(problem)
    values = {tuple(sorted((names.index(one), names.index(other)))): int(value)
              for one, other, value in re.findall(r"(\w+) and (\w+) (-?\d+)", text)
              if one in names and other in names}  # fmt: skip
    return LayoutChange(values).applied(problem)


@pytest.fixture(scope="module")
def days():
    tasks = [SOURCE.build(SOURCE.address("dev", index, "hard")) for index in range(0, 12, 2)]
    english = [task for task in tasks if task.params["world"]["language"] == "en"]
    assert len(english) >= 3
    return english


def test_layouts_follow_from_notes_and_messages_alone(days):
    """Whoever follows the right one of two writers gets all layouts."""
    for task in days:
        title = re.search(r'"((?:Market|Camp) \d+)"', str(task.params) + task.instruction)[1]
        told = list(dict.fromkeys(
            tuple(int(number) - 1 for number in found[1].split())
            for request in task.checks[0].params["requests"]
            for row in request["part"].get("messages.messages", {}).get("added", [])
            if (found := PLAN.match(row["text"])) and row["text"].startswith(title)
        ))  # fmt: skip
        edits = task.params["world"]["edits"]
        morning = {
            row["thread"]: row["text"]
            for table, _, row in edits
            if table == "messages.messages" and row["text"].startswith(f"{title}:")
        }
        assert 1 <= len(told) <= 3 and len(morning) == 2
        assert any(layouts_of(task, title, writer, morning) == told for writer in morning)


def layouts_of(task, title, writer, morning):
    """The layouts of those who follow one writer."""
    problem, names = noted(task)
    problem = changed(problem, names, morning[writer])
    found = [problem.best()[0]]
    for request in task.params["requests"]:
        for notice in request["notices"]:
            if notice["params"]["id"] == writer and notice["text"].startswith(f"{title}:"):
                problem = changed(problem, names, notice["text"])
                found.append(problem.best()[0])
    return found
