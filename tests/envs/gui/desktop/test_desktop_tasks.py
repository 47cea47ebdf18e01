from collections.abc import Iterator
from typing import Any

import gymnasium
import pytest

import hexathlon  # noqa: F401
from hexathlon.tasks.gui.desktop.source import DesktopSource
from hexathlon.tasks.gui.desktop.table import TEMPLATES, templates_of
from hexathlon.tasks.source import Script, play
from hexathlon.tasks.task import LEVELS
from support.desktops import SECONDS, require_desktop

SOURCE = DesktopSource()


@pytest.fixture(scope="module")
def env() -> Iterator[Any]:
    require_desktop()
    made = gymnasium.make("hexathlon/GUI-v0", taskset="desktop", device={"seconds": SECONDS})
    yield made
    made.close()


def score_of(env: Any, task_id: str, script: Script, split: str) -> tuple[float, dict[str, Any]]:
    """The reward at the end of a script, and the last info."""
    env.reset(seed=1, options={"task": task_id})
    reward, info = 0.0, {}

    def respond(action: str) -> str | None:
        nonlocal reward, info
        observation, reward, ended, cut, info = env.step(action)
        return None if ended or cut else str(observation)

    play(script, respond)
    return float(reward), info


def addresses(split: str, pairs: int) -> list[str]:
    """Both sides of the first pairs of every template at each of its levels."""
    found = []
    for level in LEVELS:
        names = templates_of(level)
        for place in range(len(names) * pairs):
            found += [SOURCE.address(split, 2 * place + side, level) for side in (0, 1)]
    return found


SAMPLE = ("append-line/tiny", "rename-file/tiny", "stock-count/tiny")


@pytest.mark.parametrize("kind", SAMPLE)
def test_the_oracle_scores_and_a_mutant_does_not(env, kind):
    task_id = next(each for each in addresses("test", 1) if f"/{kind}/" in each)
    task = SOURCE.build(task_id)
    reward, info = score_of(env, task_id, SOURCE.oracle(task), "test")
    assert reward == 1.0, info
    reward, info = score_of(env, task_id, next(iter(SOURCE.mutants(task).values())), "test")
    assert reward == 0.0, info


@pytest.mark.slow
@pytest.mark.parametrize("task_id", addresses("test", 1))
def test_oracle_alternatives_and_mutants_of_every_template(env, task_id):
    task = SOURCE.build(task_id)
    right = {"oracle": SOURCE.oracle(task), **SOURCE.alternatives(task)}
    assert len(right) >= 2 and len(SOURCE.mutants(task)) >= 3
    for name, script in right.items():
        reward, info = score_of(env, task_id, script, "test")
        assert reward == 1.0, (name, info)
    for name, script in SOURCE.mutants(task).items():
        reward, info = score_of(env, task_id, script, "test")
        assert reward == 0.0, (name, info)


def test_there_are_templates_for_one_and_for_several_programs():
    assert len(TEMPLATES) >= 30
    assert sum(template.twins for template in TEMPLATES.values()) >= 4
