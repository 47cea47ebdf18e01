"""The phone as a small picture."""

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
    assert observation["image"].shape == (300, 135, 3)


def test_conforms():
    assert_conforms(ENV, fuzz=20, tasks=2, sample=4)
