"""Relations between values shown and answers: those that hold are found, chance is not."""

import random

import pytest

from hexathlon.envs.testing.arithmetic import derivation
from hexathlon.envs.testing.perturbing import neighbours
from hexathlon.tasks.task import ToolSchema
from support.toy import ToySource

DRAWN = random.Random(7)
TRUTH = [DRAWN.randrange(1_000, 10_000) for _ in range(20)]
OTHER = [DRAWN.randrange(1_000, 10_000) for _ in range(20)]
RELATIONS = {
    "x times and plus constants": lambda t, o: {"x": 3 * t - 7},
    "x plus y": lambda t, o: {"x": t - o, "y": o},
    "x minus y": lambda t, o: {"x": t + o, "y": o},
    "x xor y": lambda t, o: {"x": t ^ o, "y": o},
    "x followed by y": lambda t, o: {"x": str(t)[:1], "y": str(t)[1:]},
}


def found(values, truth=TRUTH):
    shown = [{place: str(value) for place, value in each.items()} for each in values]
    return derivation(shown, [str(each) for each in truth])


@pytest.mark.parametrize("relation", RELATIONS)
def test_each_relation_is_found(relation):
    values = [RELATIONS[relation](t, o) for t, o in zip(TRUTH, OTHER, strict=True)]
    assert found(values) == relation


def test_factors_are_found():
    pairs = [(o, 10 + place) for place, o in enumerate(OTHER)]
    truth = [a * b for a, b in pairs]
    assert found([{"x": a, "y": b} for a, b in pairs], truth) == "x times y"


def test_one_task_in_ten_may_be_off_and_three_may_not():
    values = [{"x": t - o, "y": o} for t, o in zip(TRUTH, OTHER, strict=True)]
    assert found([{"x": 1, "y": 1}, *values[1:]]) == "x plus y"
    assert found([{"x": 1, "y": 1}] * 3 + values[3:]) == ""


def test_unrelated_constant_and_missing_values_are_not_relations():
    assert found([{"x": o, "y": o % 97, "z": 5} for o in OTHER]) == ""
    assert found([{"x": 5, "y": 7} for _ in OTHER]) == ""
    assert found([{} for _ in OTHER]) == ""
    assert found([{"x": "seven", "y": "1/0"} for _ in OTHER]) == ""


def test_few_tasks_and_few_answers_are_not_evidence():
    assert found([{"x": t + 1} for t in TRUTH[:4]], TRUTH[:4]) == ""
    few = [12, 17, 19] * 6
    assert found([{"x": each + 1} for each in few], few) == ""


def test_a_change_is_tolerated_as_narrowly_as_its_name():
    task = ToySource().build("toy/count/tiny/dev/00000")
    reason = {"type": "string", "enum": ["lost", "late"]}
    schema = {"type": "object", "properties": {"reason": reason}}
    tool = ToolSchema(name="report", description="Report.", parameters=schema)
    task = task.model_copy(update={"tools": (tool,)})
    action = '{"name": "report", "arguments": {"reason": "lost"}}'
    names = [one.names for one in neighbours(task, (action,), {}) if one.kind.startswith("alter")]
    assert names[0] == (
        "alter:report.reason=late",
        "alter:report.reason=late",
        "alter:report.reason",
    )
