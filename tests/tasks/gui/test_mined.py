"""Tasks mined by exploration: solvable, described, and not satisfied by less."""

import pytest

from hexathlon.envs.gui.env import GUIEnv
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.source import play
from hexathlon.tasks.task import LEVELS

SOURCE = get_source("gui-mined")


def score_of(env, task_id, script, seed):
    env.reset(seed=seed, options={"task": task_id})

    def respond(action):
        observation, _, terminated, truncated, _ = env.step(action)
        return None if terminated or truncated else observation

    play(script, respond)
    return env.verdict().score


@pytest.mark.parametrize("level", LEVELS)
def test_needed_steps_solve_a_task_and_fewer_do_not(level):
    env = GUIEnv(taskset="gui-mined")
    for seed in range(3):
        task = SOURCE.build(SOURCE.address("test", seed, level))
        assert score_of(env, task.id, SOURCE.oracle(task), seed) == 1, task.instruction
        for name, script in SOURCE.mutants(task).items():
            assert score_of(env, task.id, script, seed) == 0, (task.instruction, name)


def test_levels_are_numbers_of_needed_steps():
    steps = [
        SOURCE.build(SOURCE.address("dev", 0, level)).params["curriculum"]["steps"]
        for level in LEVELS
    ]
    assert steps[:3] == [1, 2, 3] and steps[3] >= 4


def test_a_task_is_a_pure_function_of_its_id():
    task_id = SOURCE.address("train", 5, "easy")
    one, two = SOURCE.build(task_id), get_source("gui-mined").build(task_id)
    assert one == two and one.id == task_id
    app = one.params["curriculum"]["app"]
    assert app in one.instruction
