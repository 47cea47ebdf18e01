"""The service desk: forms of line ids, and closing a case in which nothing was done."""

import pytest

from hexathlon.envs.shopping.env import ShoppingEnv
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.shopping.templates.table import templates_of
from hexathlon.tasks.shopping.world.desk.desk import subject_of
from hexathlon.tasks.task import Task
from support.shop import call, played

SOURCE = get_source("shopping")


def served(template: str, count: int = 6) -> Task:
    """A tiny case that is carried out."""
    names = templates_of("tiny")
    for turn in range(count):
        for side in (0, 1):
            index = 2 * (names.index(template) + turn * len(names)) + side
            task = SOURCE.build(SOURCE.address("dev", index, "tiny"))
            if task.checks[0].params["answer"] is None:
                return task
    raise AssertionError(f"{template} has no case that is carried out")


def with_long_lines(task: Task):
    """The oracle's actions with lines as "ORDER/LINE"."""
    for name, arguments in task.checks[0].params["plan"]["actions"]:
        order, changed = arguments["order"], dict(arguments)
        if "line" in changed:
            changed["line"] = f"{order}/{changed['line']}"
        if "lines" in changed:
            changed["lines"] = [f"{order}/{line}" for line in changed["lines"]]
        assert changed != arguments
        if "user" in task.params:
            yield call("propose", action=name, arguments=changed)
        yield call(name, **changed)
    yield call("finish_case")


@pytest.mark.parametrize(
    "template", ["change_item", "exchange", "return_window", "dialogue_exchange"]
)
def test_lines_may_be_given_with_their_order(template):
    task = served(template)
    assert played(ShoppingEnv(), task.id, with_long_lines(task)) == 1.0


def test_an_unknown_line_is_answered_with_the_accepted_forms():
    task = served("change_item")
    order = task.checks[0].params["plan"]["actions"][0][1]["order"]
    env = ShoppingEnv()
    env.reset(options={"task": task.id})
    for wrong in ("O10000000/1", "7", ""):
        text, *_ = env.step(call("change_item", order=order, line=wrong, variant="P000000-01"))
        assert f"{order}/1" in text


def test_subjects_do_not_depend_on_the_form_of_a_line():
    short, long = "1", "O12345678/1"
    assert subject_of("a", {"line": short}) == subject_of("a", {"line": long})
    assert subject_of("a", {"lines": [short]}) == subject_of("a", {"lines": [long]})


def test_finishing_with_nothing_done_is_warned_of_once():
    task = served("cancel")
    env = ShoppingEnv()
    env.reset(options={"task": task.id})
    text, _, ended, *_ = env.step(call("finish_case"))
    assert not ended and ("report_impossible" in text)
    state = env.snapshot()
    _, reward, ended, *_ = env.step(call("finish_case"))
    assert ended and reward == 0.0
    env.restore(state)
    _, _, ended, *_ = env.step(call("finish_case"))
    assert ended, "the warning is part of the state"


def test_a_clerk_who_acted_is_not_warned():
    task = served("cancel")
    assert played(ShoppingEnv(), task.id, SOURCE.oracle(task)) == 1.0
