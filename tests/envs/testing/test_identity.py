"""Endings, which no id may predict: the last calls of an episode and their common values."""

import json

from hexathlon.envs.testing.identity_checks import endings
from hexathlon.envs.testing.solving import Solved
from hexathlon.tasks.registry import get_source

SOURCE = get_source("roleplay")
TASK = SOURCE.build(SOURCE.address("test", 0))


def ended(*calls: dict[str, str]) -> list[Solved]:
    """Return an episode for each call of `finish`, its last one."""
    actions = [json.dumps({"name": "finish", "arguments": arguments}) for arguments in calls]
    return [Solved(TASK, "", ("look", action), 1.0, "") for action in actions]


YES, NO = {"answer": "yes", "kind": "a"}, {"answer": "no", "kind": "b"}


def test_an_ending_is_the_last_call_with_its_common_values():
    found = endings(ended(YES, YES, YES, NO, NO, NO, {"answer": "rare", "kind": "a"}))
    assert found[0] == "finish finish.answer='yes' finish.kind='a'"
    assert found[3] == "finish finish.answer='no' finish.kind='b'"
    assert found[6] == "finish finish.kind='a'"


def test_an_argument_that_is_not_scored_is_no_part_of_an_ending():
    found = endings(ended(YES, YES, YES, NO, NO, NO), {"finish.kind"})
    assert set(found) == {"finish finish.answer='yes'", "finish finish.answer='no'"}
