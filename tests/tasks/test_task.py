"""The task record."""

import pytest
from pydantic import ValidationError

from hexathlon.tasks.errors import InvalidRecord
from hexathlon.tasks.task import Check, Limits, Task
from support.toy import ToySource

ID = "toy/count/hard/test/00007"


@pytest.fixture
def task() -> Task:
    return ToySource().build(ID)


def test_is_immutable_and_refuses_unknown_fields(task):
    with pytest.raises(ValidationError, match="frozen"):
        task.instruction = "other"
    with pytest.raises(InvalidRecord, match="^Task has no field 'hint'; it has id, family, "):
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


def test_agents_see_only_an_opaque_id(task):
    _, *address = task.id.split("/")
    generator, digest = task.opaque_id.split("/")
    assert generator == "toy" and task.hash.startswith(digest)
    assert not any(part in digest for part in address)


@pytest.mark.parametrize("bad", ["", "toy/count/hard/test", "Toy/a/b/c/d", "toy//hard/test/1"])
def test_an_id_has_five_parts(task, bad):
    with pytest.raises(InvalidRecord, match=f"^Task.id must match .*, got '{bad}'$"):
        Task(**{**task.model_dump(), "id": bad})


@pytest.mark.parametrize(
    ("limits", "sentence"),
    [
        ({"turns": 0}, "Limits.turns must be at least 1, got 0"),
        ({"seconds_per_action": 0}, "Limits.seconds_per_action must be more than 0.0, got 0"),
        (
            {"observation_chars": 70_000},
            "Limits.observation_chars must be at most 65536, got 70000",
        ),
        ({"turns": "few"}, "Limits.turns must be a valid integer, .*, got 'few'"),
    ],
)
def test_limits_are_bounded_and_say_so_in_a_sentence(limits, sentence):
    with pytest.raises(InvalidRecord, match=f"^{sentence}$"):
        Limits(**limits)


def test_every_wrong_field_is_named(task):
    lacking = {"id": task.id, "level": "extreme", "checks": ()}
    with pytest.raises(InvalidRecord) as caught:
        Task(**lacking)
    sentences = str(caught.value).split("; ")
    assert "Task.family is required" in sentences
    assert (
        "Task.level must be one of 'tiny', 'easy', 'medium' or 'hard', got 'extreme'" in sentences
    )
    assert "Task.checks needs at least 1 item(s), got ()" in sentences
