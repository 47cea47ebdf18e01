"""The journal of lost groups, also after a writer was killed in the middle of a line."""

from pathlib import Path

import pytest

pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")

from hexathlon.baselines.pipeline.collect import GroupPlan
from hexathlon.baselines.rollout.limits import TrialLimits
from hexathlon.baselines.training.journal import LOST_FILE, Journal


def plan(task: str) -> GroupPlan:
    return GroupPlan(task, "harness/Toy-v0", TrialLimits(), 4, 7)


def test_lines_after_an_incomplete_line_are_kept(tmp_path: Path) -> None:
    path = tmp_path / LOST_FILE
    Journal(path).add([plan("a")], "faults")
    with path.open("a", encoding="utf-8") as file:
        file.write('{"task": "b", "se')
    reopened = Journal(path)
    assert reopened.holds(plan("a")) and not reopened.holds(plan("b"))
    reopened.add([plan("c")], "faults")
    later = Journal(path)
    assert [later.holds(plan(task)) for task in "abc"] == [True, False, True]


def test_a_reader_does_not_change_the_file(tmp_path: Path) -> None:
    path = tmp_path / LOST_FILE
    path.write_text('{"task": "a", "seed": 7, "cause": ""}\n{"tor')
    reader = Journal(path, writes=False)
    reader.add([plan("b")], "faults")
    assert reader.holds(plan("a")) and reader.holds(plan("b"))
    assert path.read_text().endswith('{"tor')
