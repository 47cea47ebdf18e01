"""MiniWoB++ pages in Chromium: seeds, rewards, and a scripted policy that solves them."""

import pytest

from hexathlon.envs.errors import BackendMissing, ForkUnsupported
from hexathlon.envs.web.env import WebEnv
from hexathlon.tasks.errors import UnknownTask
from hexathlon.tasks.registry import get_source
from support.chromium import skip_without_chromium
from support.miniwob_policy import SOLVERS, solve

pytest.importorskip("miniwob", reason="miniwob is not installed (extra: miniwob)")
pytestmark = pytest.mark.browser

QUICK = ("click-test-2", "click-checkboxes", "click-tab-2", "enter-text", "choose-list",
         "use-slider", "navigate-tree", "drag-box")  # fmt: skip


@pytest.fixture(scope="module")
def env():
    skip_without_chromium()
    env = WebEnv(backend="chromium", taskset="miniwob")
    yield env
    env.close()


def play(env: WebEnv, page: str, seed: int = 0) -> tuple[float, dict[str, float]]:
    opening, _ = env.reset(seed=1, options={"task": f"miniwob/{page}/easy/train/{seed:05d}"})
    script = solve(page, opening)
    try:
        action = next(script)
        while True:
            observation, reward, terminated, truncated, info = env.step(action)
            if terminated or truncated:
                return reward, info["reward_terms"]
            action = script.send(observation)
    except (StopIteration, LookupError, TypeError, ValueError):
        return 0.0, {}  # the script does not know this case


@pytest.mark.parametrize("page", QUICK)
def test_scripts_solve_pages(env, page):
    assert play(env, page)[0] == 1.0


@pytest.mark.slow
def test_scripts_solve_at_least_forty_different_pages(env):
    solved = [page for page in SOLVERS if play(env, page)[0] == 1.0]
    assert len(solved) >= 40, solved


def test_a_seed_fixes_the_page_and_seeds_differ(env):
    def opening(seed: int) -> str:
        task = f"miniwob/click-checkboxes/easy/test/{seed:05d}"
        return env.reset(seed=1, options={"task": task})[0]

    assert opening(3) == opening(3)
    assert len({opening(seed) for seed in range(5)}) == 5


def test_rewards_by_name(env):
    opening, _ = env.reset(seed=1, options={"task": "miniwob/click-test-2/easy/train/00000"})
    wrong = '{"name": "click", "arguments": {"bid": "2"}}'
    _, reward, terminated, _, info = env.step(wrong)
    assert (reward, terminated) == (0.0, True)
    assert info["reward_terms"] == {
        "original": -1.0,
        "raw": -1.0,
        "binary": -1.0,
        "threshold": -1.0,
    }
    reward, terms = play(env, "click-test-2")
    assert reward == terms["raw"] == terms["binary"] == terms["threshold"] == 1.0
    assert terms["original"] == pytest.approx(1 - 0 / 30, abs=0.07)


def test_an_episode_that_the_page_has_not_ended_is_worth_nothing(env):
    env.reset(seed=1, options={"task": "miniwob/click-test-2/easy/train/00000"})
    for _ in range(30):
        _, reward, terminated, truncated, info = env.step('{"name": "noop", "arguments": {}}')
    assert (reward, terminated, truncated) == (0.0, False, True)
    assert set(info["reward_terms"].values()) == {0.0}


def test_pages_cannot_be_forked_and_need_a_real_browser(env):
    env.reset(seed=1, options={"task": "miniwob/click-test-2/easy/train/00000"})
    with pytest.raises(ForkUnsupported):
        env.fork(1)
    twin = WebEnv(taskset="miniwob")
    with pytest.raises(BackendMissing, match="backend='chromium'"):
        twin.reset(seed=1)


def test_pages_reach_nothing_outside(env):
    env.reset(seed=1, options={"task": "miniwob/click-test-2/easy/train/00000"})
    page = env.browser._tab.page
    code = "() => fetch('http://example.com/').then(() => 'reached', () => 'refused')"
    assert env.browser._driver.call(page.evaluate(code)) == "refused"
    for path in ("/../environment.py", "/%2e%2e/environment.py", "/miniwob/../../dom.py"):
        code = f"() => fetch('{path}').then((answer) => answer.status)"
        assert env.browser._driver.call(page.evaluate(code)) == 404


def test_addresses():
    source = get_source("miniwob")
    assert source.size("train") is None
    assert source.size("test") == 20 * 134
    assert source.build(source.address("test", 5)).params["miniwob"]["page"]
    for wrong in (
        "miniwob/no-page/easy/test/00000",
        "miniwob/click-test/easy/test/00020",
        "miniwob/click-test/hard/test/00000",
    ):
        with pytest.raises(UnknownTask):
            source.build(wrong)
