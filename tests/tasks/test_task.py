"""The task record."""

import pytest
from pydantic import ValidationError

from hexathlon.tasks.task import Check, Limits, Task
from support.toy import ToySource

ID = "toy/count/hard/test/00007"


@pytest.fixture
def task() -> Task:
    return ToySource().build(ID)


def test_is_immutable_and_refuses_unknown_fields(task):
    with pytest.raises(ValidationError, match="frozen"):
        task.instruction = "other"
    with pytest.raises(ValidationError, match="extra"):
        Task(**{**task.model_dump(), "hint": "x"})


def test_hash_covers_every_field_and_survives_json(task):
    assert Task.model_validate_json(task.model_dump_json()).hash == task.hash
    changes = {
        "instruction": "other",
        "seed": task.seed + 1,
        "limits": Limits(turns=3),
        "checks": (Check(name="other"),),
        "params": {"target": 0},
        "canary": "",
        "twin": "t",
        "version": "2",
    }
    hashes = {task.model_copy(update={field: value}).hash for field, value in changes.items()}
    assert len(hashes | {task.hash}) == len(changes) + 1


def test_template_is_the_second_part_of_the_id(task):
    assert task.template == "count"


@pytest.mark.parametrize("bad", ["", "toy/count/hard/test", "Toy/a/b/c/d", "toy//hard/test/1"])
def test_an_id_has_five_parts(task, bad):
    with pytest.raises(ValidationError):
        Task(**{**task.model_dump(), "id": bad})


@pytest.mark.parametrize(
    "limits", [{"turns": 0}, {"seconds_per_action": 0}, {"observation_chars": 70_000}]
)
def test_limits_are_bounded(limits):
    with pytest.raises(ValidationError):
        Limits(**limits)
