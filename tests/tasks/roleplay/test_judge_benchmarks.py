"""Benchmarks of judges: planted errors are found again from the text, and floors are low."""

import re

import gymnasium
import pytest

from hexathlon.envs.testing import assert_conforms
from hexathlon.evaluators.judges.prompts import first_error_prompt
from hexathlon.evaluators.roleplay.verdicts import steps_of
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.roleplay.verdicts.paths import PATTERNS
from hexathlon.tasks.roleplay.verdicts.procedures import FAILURES, table, works
from hexathlon.tasks.source import play

ENVS = {"step-errors": "judging/FirstError-v0", "procedures": "judging/Verdicts-v0"}


def numbers(text):
    return list(map(int, re.findall(r"\d+", text)))


def first_wrong(question, steps):
    """The first step that the question, or the steps before it, contradict."""
    prices = {w: int(p) for w, p in re.findall(r"(\w+) (\d+) crowns", question.split(".")[0])}
    counts = {w: int(n) for n, w in re.findall(r"(\d+) of (\w+)", question)}
    paid = int(re.search(r"with (\d+) crowns", question)[1])
    costs, known = {}, {}
    for number, step in enumerate(steps, 1):
        head, _, rest = step.partition(":")
        if head == "Sought":
            right = rest == " the money in hand minus the cost of all goods."
        elif head == "Plan":
            right = all(f"the cost of {ware}" in rest for ware in counts)
        elif head.startswith("Cost of"):
            ware, (n, price, cost) = head.removeprefix("Cost of "), numbers(rest)
            costs[ware] = cost
            right = (n, price, n * price) == (counts[ware], prices[ware], cost)
        elif head == "Known so far":
            known = {w: int(c) for w, c in re.findall(r"(\w+) (\d+)", rest)}
            right = known == costs
        elif head == "Check":
            total, n, claimed = numbers(rest)
            right = total == n * claimed
        else:
            total = sum(known.values())
            right = f"= {total}." in step and numbers(step)[-3:-1] == [paid, total]
        if not right:
            return number
    return None


def tasks(name, template, count=60):
    source = get_source(name)
    return [source.build(f"{name}/{template}/easy/test/{n:05d}") for n in range(count)]


@pytest.mark.parametrize("template", [*PATTERNS, "sound"])
def test_the_planted_error_is_the_first_one(template):
    for task in tasks("step-errors", template):
        turn = task.checks[0].params["turn"]
        assert turn == first_wrong(task.params["question"], task.params["steps"])
        assert (turn is None) == (template == "sound")


@pytest.mark.parametrize("template", [*FAILURES, "harmless", "sound", "remarked"])
def test_a_procedure_works_exactly_without_a_critical_failure(template):
    for task in tasks("procedures", template):
        critical = task.checks[0].params["label"] == "met"
        assert critical == (template in FAILURES)
        assert works(task.params["question"], task.params["reply"]) != critical


def test_splits_share_no_procedures_wares_or_names():
    splits = ("train", "dev", "test", "heldout")
    words = {"procedures": {}, "wares": {}, "names": {}}
    for split in splits:
        salt = "s" if split == "heldout" else None
        drawn = {
            name: [
                get_source(name).build(f"{name}/{template}/easy/{split}/{n:05d}", salt).params
                for template in ("sound", other) for n in range(100)
            ]
            for name, other in (("step-errors", "deduction"), ("procedures", "omitted"))
        }  # fmt: skip
        words["procedures"][split] = {params["question"] for params in drawn["procedures"]}
        questions = [params["question"] for params in drawn["step-errors"]]
        words["wares"][split] = {w for q in questions for w in re.findall(r"\d+ of (\w+)", q)}
        words["names"][split] = {re.search(r"crowns\. (.+) buys", q)[1] for q in questions}
    for kind, each in words.items():
        assert all(len(own) > 1 for own in each.values()), kind
        assert sum(map(len, each.values())) == len(set().union(*each.values())), kind


@pytest.mark.parametrize("row", table()["procedures"], ids=lambda row: row["goal"])
def test_every_procedure_has_each_kind_of_failure(row):
    essential = [step for step in row["steps"] if "ruin" in step]
    assert any(step["needs"] for step in essential)
    assert len(essential) < len(row["steps"])  # an ornament to leave out
    lines = [step["text"] for step in row["steps"]]
    assert works(row["goal"], "\n".join(lines))
    assert not any(
        works(row["goal"], "\n".join(lines).replace(step["text"], step["ruin"]))
        for step in essential
    )


@pytest.mark.parametrize(("goal", "earlier", "later"), [
    ("beans", "Water the earth", "Press a bean"),
    ("beans", "Put the pot in the light", "Fill the pot"),
    ("boat", "Scrape the old tar", "Let the planks dry"),
    ("letter", "Pay the rider", "Find out when"),
    ("letter", "Write the name", "Fold the letter"),
    ("loaf", "Shape the dough", "Let the dough rise"),
])  # fmt: skip
def test_harmless_orders_are_no_failures(goal, earlier, later):
    (row,) = (row for row in table()["procedures"] if goal in row["goal"])
    lines = [step["text"] for step in row["steps"]]
    moved = next(line for line in lines if line.startswith(earlier))
    lines.remove(moved)
    lines.insert(next(n for n, line in enumerate(lines) if line.startswith(later)), moved)
    assert works(row["goal"], "\n".join(lines))


def score(name, task_id, script):
    env = gymnasium.make(ENVS[name], taskset=name)
    env.reset(seed=0, options={"task": task_id})

    def respond(action):
        observation, _, terminated, truncated, _ = env.step(action)
        return None if terminated or truncated else observation

    play(script, respond)
    return env.verdict().score


@pytest.mark.parametrize(("name", "floor"), [("step-errors", 1 / 7), ("procedures", 1 / 2)])
def test_oracles_score_1_near_misses_0_and_constant_judges_the_floor(name, floor):
    source = get_source(name)
    ids = [source.address("dev", number) for number in range(84)]
    constant: dict[str, list[float]] = {}
    for task_id in ids:
        task = source.build(task_id)
        assert score(name, task_id, source.oracle(task)) == 1
        assert {score(name, task_id, s) for s in source.alternatives(task).values()} == {1}
        assert {score(name, task_id, s) for s in source.mutants(task).values()} == {0}
        for policy, script in source.policies(task).items():
            constant.setdefault(policy, []).append(score(name, task_id, script))
    for policy, each in constant.items():
        assert sum(each) / len(each) == pytest.approx(floor), policy


def test_replies_that_cannot_be_read_have_the_same_terms():
    task = get_source("step-errors").build("step-errors/sound/easy/dev/00000")
    verdicts = []
    for reply in ("Step 1.", next(get_source("step-errors").oracle(task))):
        env = gymnasium.make(ENVS["step-errors"])
        env.reset(seed=0, options={"task": task.id})
        env.step(reply)
        verdicts.append(env.verdict())
    unread, read = verdicts
    assert list(unread.terms) == list(read.terms) and set(unread.terms.values()) == {0.0}
    assert read.terms == {"read": 1.0, "abstained": 0.0, "noticed": 1.0}


def test_a_judge_of_steps_reads_the_question_of_the_first_error():
    task = get_source("step-errors").build("step-errors/sound/easy/dev/00000")
    opening, info = gymnasium.make(ENVS["step-errors"]).reset(seed=0, options={"task": task.id})
    assert [info["system_prompt"], opening] == first_error_prompt(steps_of(task.params)).asks


def test_step_errors_conform():
    assert_conforms(ENVS["step-errors"], fuzz=20, tasks=60, sample=100, floor=0.3)
