"""Shifted tasks and their twins."""

import pytest

from hexathlon.tasks.registry import get_source
from hexathlon.tasks.roleplay.shift import SHIFTS, reference_turns
from support.scenes import build, play, right


@pytest.mark.parametrize("shift", SHIFTS)
@pytest.mark.parametrize("level", ["tiny", "hard"])
@pytest.mark.parametrize("index", range(8))
def test_twins_differ_in_one_factor(shift, level, index):
    inside = build(f"roleplay-shift/{shift}-in/{level}/test/{index:05d}")
    outside = build(inside.twin)
    assert outside.twin == inside.id and inside.seed == outside.seed
    for task in (inside, outside):
        assert play(task, right(task))[1].score == 1.0
    lines = [[line["text"] for line in task.params["lines"]] for task in (inside, outside)]
    assert lines[0] != lines[1]
    assert (inside.params["manner"] != outside.params["manner"]) == (shift == "user")
    assert (inside.params["setting"] != outside.params["setting"]) == (shift == "character")
    if shift != "character":
        assert inside.instruction == outside.instruction


def test_under_composition_shift_the_same_is_asked_in_blocks():
    inside = build("roleplay-shift/dialogue-in/hard/test/00000")
    outside = build("roleplay-shift/dialogue-out/hard/test/00000")
    acts = [beat["act"] for beat in outside.checks[0].params["beats"] if beat["act"] != "say"]
    assert acts == sorted(acts)
    wanted = [
        sorted(str(b["value"]) for b in task.checks[0].params["beats"] if b["act"] != "say")
        for task in (inside, outside)
    ]
    assert wanted[0] == wanted[1]


def test_reference_turns_contain_the_parts_of_the_context():
    task = build("roleplay-shift/user-out/medium/dev/00003")
    turns = reference_turns(task)
    assert len(turns) == len(task.params["lines"])
    for place, turn in enumerate(turns):
        assert set(turn.context) == {"user", "character", "dialogue", "features"}
        assert turn.context["dialogue"].split("\n")[-1] == task.params["lines"][place]["text"]
        assert turn.reference not in turn.context["dialogue"].split("\n")[-1]


def test_the_set_is_complete():
    source = get_source("roleplay-shift")
    ids = [source.address("dev", i) for i in range(source.size("dev"))]
    assert len(set(ids)) == len(ids)
    assert ids[0].replace("-in/", "-out/") == ids[1]
