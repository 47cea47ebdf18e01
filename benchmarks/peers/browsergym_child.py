"""Reset and click of BrowserGym on a MiniWoB++ page; run by `benchmarks/web_browser.py`.

Arguments: path of Chromium, page, resets, clicks, and 1 to keep BrowserGym's sleeps or 0 to remove
them.
"""

import json
import statistics
import sys
import time

import browsergym.miniwob  # noqa: F401 - registers the pages
import gymnasium
from playwright.sync_api import BrowserType


def main() -> None:
    program, page, resets, clicks, sleeps = sys.argv[1:]
    options = {}
    if sleeps == "0":
        options["pre_observation_delay"] = 0.0
        time.sleep = lambda seconds: None
    launch = BrowserType.launch

    # BrowserGym's chat window is a separate browser, whose executable cannot be set.
    def with_program(self, **kwargs):
        return launch(self, **{**kwargs, "executable_path": program})

    BrowserType.launch = with_program
    env = gymnasium.make(
        f"browsergym/miniwob.{page}", disable_env_checker=True, max_episode_steps=None, **options
    )
    times: dict[str, list[float]] = {"reset": [], "click": []}
    for _ in range(int(resets) + 1):
        start = time.perf_counter()
        observation, _ = env.reset(seed=1)
        times["reset"].append(time.perf_counter() - start)
    nodes = observation["axtree_object"]["nodes"]
    bid = next(
        node["browsergym_id"] for node in nodes
        if node["role"]["value"] == "checkbox" and node.get("browsergym_id")
    )  # fmt: skip
    for _ in range(int(clicks)):
        start = time.perf_counter()
        _, _, terminated, truncated, info = env.step(f"click('{bid}')")
        times["click"].append(time.perf_counter() - start)
        if terminated or truncated:
            env.reset(seed=1)
    env.close()
    times["reset"] = times["reset"][1:]
    print(json.dumps({name: 1_000 * statistics.median(each) for name, each in times.items()}))


if __name__ == "__main__":
    main()
