"""What the kit takes for the same result of a terminal task."""

import pytest

from hexathlon.tasks.registry import get_source
from hexathlon.tasks.terminal.sameness import same_result

RIGHT = {"run": "755 aa", "old.txt": "deleted"}
GIVEN = {"run", "old.txt", "notes"}


@pytest.mark.parametrize(
    ("change", "same"),
    [
        ({}, True),
        ({"stray.txt": "644 bb"}, True),
        ({"run": "756 aa"}, True),
        ({"run": "655 aa"}, False),
        ({"run": "755 ab"}, False),
        ({"run": "deleted"}, False),
        ({"old.txt": "644 cc"}, False),
        ({"notes": "644 dd"}, False),
        ({"built": "deleted"}, False),
    ],
)
def test_new_files_and_rights_of_others_are_nobodys_concern(change, same):
    assert same_result(RIGHT, {**RIGHT, **change}, GIVEN) is same


def test_a_missing_change_is_a_difference():
    assert not same_result(RIGHT, {"run": "755 aa"}, GIVEN)


def test_tests_decide_where_git_holds_the_result():
    source = get_source("terminal")

    def state(outcome):
        step = {"changed": {}, "tests": [["log", outcome]]}
        return {"flags": [], "steps": [step]}

    for name, same in (("git_lost/tiny", False), ("c_tally/tiny", True)):
        task = source.build(f"terminal/{name}/dev/00000")
        assert source.equivalent(task, state("passed"), state("text")) is same
