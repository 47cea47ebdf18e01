"""The phone as a small picture."""

import json
import re
from collections import Counter, defaultdict

import gymnasium
import pytest

from hexathlon.envs.testing import assert_conforms
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.source import play

SOURCE = get_source("gui-pixels")
ENV = "pixels/GUIPixels-v0"


@pytest.mark.parametrize("index", range(6))
def test_scripts_touch_pixels_and_get_the_expected_scores(index):
    task_id = SOURCE.address("dev", index, "tiny")
    task = SOURCE.build(task_id)
    env = gymnasium.make(ENV)
    actions: list[str] = []

    def score(script):
        env.reset(seed=index, options={"task": task_id})

        def respond(action):
            actions.append(action)
            observation, _, terminated, truncated, _ = env.step(action)
            return None if terminated or truncated else observation["text"]

        play(script, respond)
        return env.verdict().score

    assert score(SOURCE.oracle(task)) == 1
    assert "index" not in "".join(actions) and '"x"' in "".join(actions)
    assert [score(each) for each in SOURCE.mutants(task).values()] == [0, 0, 0]


def test_the_request_precedes_the_list_of_elements():
    env = gymnasium.make(ENV)
    observation, _ = env.reset(seed=0, options={"task": SOURCE.address("dev", 0, "tiny")})
    request, _, listed = observation["text"].rpartition("\n\n")
    assert request.startswith("I want") and "switch" in listed
    assert observation["image"].shape == (165, 135, 3)


def drawn(split, count):
    """Return the request, the starting states and the switches to touch of each task."""
    tasks = (SOURCE.build(SOURCE.address(split, index, "tiny")) for index in range(count))
    return [
        (
            task.instruction.rstrip("."),
            {edit[2]["id"]: edit[2]["value"] for edit in task.params["world"]["edits"]},
            frozenset(
                row for row, _ in task.checks[0].params["changes"]["settings.values"]["changed"]
            ),
        )
        for task in tasks
    ]


def test_the_request_does_not_determine_the_rows():
    """Without the picture, no guess succeeds on much more than a sixth of the tasks."""
    wrong = defaultdict(Counter)
    for request, _, rows in drawn("dev", 800):
        switches = frozenset(re.findall(r'"(.*?)"', request)), request.endswith("on")
        wrong[switches][rows] += 1
    assert all(len(each) == 6 for each in wrong.values())
    assert sum(max(each.values()) for each in wrong.values()) < 0.27 * 800


@pytest.mark.parametrize("index", range(8))
def test_thoughts_read_the_named_switches_up_to_the_first_wrong_one(index):
    task_id = SOURCE.address("train", index, "tiny")
    task, env = SOURCE.build(task_id), gymnasium.make(ENV)
    observation, _ = env.reset(seed=0, options={"task": task_id})
    named = re.findall(r'"(.*?)"', task.instruction)
    wanted = "on" if task.instruction.endswith(" on.") else "off"
    heard, names = [observation["text"]], list[str]()

    def respond(action):
        name = json.loads(action)["name"]
        if name == "wait":
            return env.step(action)[0]["text"]
        states = dict(re.findall(r'^switch "(.*?)" \[\d+\] (on|off)', heard[-1], re.MULTILINE))
        read = [
            tuple(one.rsplit(" ", 1)) for one in SOURCE.thought(task, heard, action).split(", ")
        ]
        assert read == [(one, states[one]) for one in named[: len(read)]]
        right = [state == wanted for _, state in read]
        assert all(right[:-1]) and right[-1] == (name == "status")
        assert name != "status" or len(read) == len(named)
        names.append(name)
        observation, _, terminated, truncated, _ = env.step(action)
        heard.append(observation["text"])
        return None if terminated or truncated else observation["text"]

    play(SOURCE.oracle(task), respond)
    assert names.count("click") in (1, 2) and names[-1] == "status"


def test_switches_start_in_either_state():
    starts = [states for _, states, _ in drawn("train", 400)]
    shares = {name: sum(each[name] for each in starts) / 400 for name in starts[0]}
    assert len(shares) == 6 and all(0.42 < share < 0.58 for share in shares.values())


def test_splits_share_no_request():
    def requests(split):
        return {
            (frozenset(re.findall(r'"(.*?)"', request)), request.endswith("on"))
            for request, _, _ in drawn(split, 400)
        }

    assert not requests("train") & requests("dev")
    assert min(len(requests("train")), len(requests("dev"))) >= 17


def test_conforms():
    assert_conforms(ENV, fuzz=20, tasks=2, sample=4)
