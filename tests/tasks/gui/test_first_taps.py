"""The smallest tasks: what their requests give away."""

import re
from collections import Counter

from hexathlon.tasks.registry import get_source

SOURCE = get_source("gui")


def flips(split, count):
    """Return the named switches, the starting states and the switches to touch of each task."""
    ids = (SOURCE.address(split, index, "tiny") for index in range(count))
    tasks = [SOURCE.build(each) for each in ids if "/settings_flip/" in each]
    return [
        (
            re.findall(r'"(.*?)" (?:on|off)', task.instruction),
            {edit[2]["id"]: edit[2]["value"] for edit in task.params["world"]["edits"]},
            {row for row, _ in task.checks[0].params["changes"]["settings.values"]["changed"]},
        )
        for task in tasks
    ]


def test_switches_start_in_either_state_whatever_is_asked():
    drawn = flips("train", 900)
    assert len(drawn) >= 200
    for switch in drawn[0][1]:
        share = sum(states[switch] for _, states, _ in drawn) / len(drawn)
        assert 0.35 < share < 0.65, switch


def test_touching_the_same_switches_everywhere_is_rarely_right():
    drawn = flips("train", 900)
    assert {len(named) for named, _, _ in drawn} == {4, 5}
    assert all(0 < len(wrong) < len(named) for named, _, wrong in drawn)
    ((_, most),) = Counter(frozenset(wrong) for _, _, wrong in drawn).most_common(1)
    assert most < 0.1 * len(drawn)
