"""X27: concurrent episodes in one browser give the same observations and scores as serial ones."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from hexathlon.envs.web.env import WebEnv
from hexathlon.tasks.registry import get_source
from support.chromium import skip_without_chromium

pytestmark = pytest.mark.browser

DEADLINE = 240


def episode(place: int) -> tuple[list[str], float, dict]:
    """Play the oracle of a task in a browser context of its own."""
    source = get_source("web")
    task = source.address("dev", 2 * place, "tiny")
    env = WebEnv(backend="chromium")
    try:
        screen, _ = env.reset(seed=place, options={"task": task})
        screens, script, reward = [screen], source.oracle(source.build(task)), 0.0
        action = next(script)
        while True:
            screen, reward, terminated, truncated, _ = env.step(action)
            screens.append(screen)
            if terminated or truncated:
                return screens, reward, env.final_state()
            action = script.send(screen)
    finally:
        env.close()


def test_parallel_equals_serial():
    skip_without_chromium()
    places = range(4)
    serial = [episode(place) for place in places]
    with ThreadPoolExecutor(len(places)) as pool:
        running = [pool.submit(episode, place) for place in places]
        parallel = [each.result(DEADLINE) for each in running]
    assert parallel == serial
    assert [reward for _, reward, _ in serial] == [1.0] * len(places)
    assert len({screens[0] for screens, _, _ in serial}) == len(places)
