"""The browser beside BrowserGym 0.14, and beside raw Playwright calls, on one MiniWoB++ page.

BrowserGym is installed in an environment of its own, since it pins an old Playwright:

    python -m venv peer && peer/bin/pip install browsergym-core==0.14.3 browsergym-miniwob==0.14.3
    .venv/bin/python benchmarks/web_browser.py --peer peer/bin/python
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

from measuring import Figure, print_findings

PAGE = "click-checkboxes"
PEER = Path(__file__).parent / "peers" / "browsergym_child.py"
CLICK = '{"name": "click", "arguments": {"bid": "1"}}'


def median_ms(action, count: int, before=lambda: None) -> float:
    times = []
    for _ in range(count):
        before()
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return 1_000 * statistics.median(times)


def ours(resets: int, clicks: int, *, screenshot: bool) -> dict[str, float]:
    from hexathlon.envs.web.env import WebEnv

    env = WebEnv(backend="chromium", taskset="miniwob", screenshot=screenshot,
                 limits={"turns": 10_000})  # fmt: skip
    options = {"task": f"miniwob/{PAGE}/easy/train/00000"}
    env.reset(seed=1, options=options)
    found = {
        "reset": median_ms(lambda: env.reset(seed=1, options=options), resets),
        "click": median_ms(lambda: env.step(CLICK), clicks),
    }
    env.close()
    return found


def peer(python: str, resets: int, clicks: int, *, sleeps: bool) -> dict[str, float]:
    from hexathlon.envs.web.chromium.driver import chromium_path
    from hexathlon.tasks.web.loaders.miniwob import miniwob_folder

    environment = {**os.environ, "MINIWOB_URL": f"file://{miniwob_folder()}/miniwob/"}
    command = [python, str(PEER), chromium_path(), PAGE, str(resets), str(clicks), str(int(sleeps))]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    if done.returncode:
        raise SystemExit(f"the peer failed:\n{done.stderr[-2_000:]}")
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def raw_calls(clicks: int) -> dict[str, float]:
    """A step beside the same two raw calls: a click on the element, and reading its page.

    Both are run on the same page of the same browser, in turns.
    """
    from hexathlon.envs.web.env import WebEnv

    env = WebEnv(backend="chromium", taskset="miniwob", limits={"turns": 10_000})
    env.reset(seed=1, options={"task": f"miniwob/{PAGE}/easy/train/00000"})
    page, driver = env.browser._tab.page, env.browser._driver

    async def raw() -> None:
        await page.locator("input[type=checkbox]").first.click()
        await page.locator("body").aria_snapshot()

    times: dict[str, list[float]] = {"step": [], "raw": []}
    for _ in range(clicks):
        start = time.perf_counter()
        env.step(CLICK)
        middle = time.perf_counter()
        driver.call(raw())
        times["step"].append(middle - start)
        times["raw"].append(time.perf_counter() - middle)
    env.close()
    return {name: 1_000 * statistics.median(each) for name, each in times.items()}


def leaks(episodes: int, contexts: int = 8) -> dict[str, float]:
    """Many episodes in several contexts at once; what is left over afterwards."""
    from concurrent.futures import ThreadPoolExecutor

    from hexathlon.envs.web.chromium.driver import Driver
    from hexathlon.envs.web.env import WebEnv

    envs = [WebEnv(backend="chromium") for _ in range(contexts)]
    driver = Driver.shared()

    def play(place: int, count: int) -> None:
        for number in range(count):
            # Few tasks, which are played before, so that caches of worlds are full at the start.
            envs[place].reset(seed=place * 100_000 + number % 3)
            envs[place].step(CLICK)

    def use() -> tuple[int, float]:
        return len(os.listdir("/proc/self/fd")), family_mb()

    with ThreadPoolExecutor(contexts) as pool:
        list(pool.map(lambda place: play(place, 6), range(contexts)))
        time.sleep(12)  # the server closes idle connections after 10 seconds
        before = use()
        count = max(1, episodes // contexts)
        start = time.perf_counter()
        list(pool.map(lambda place: play(place, count), range(contexts)))
        seconds = time.perf_counter() - start
        time.sleep(12)
        after = use()
    open_now, served = driver.contexts, driver.server.episodes
    for env in envs:
        env.close()
    return {
        "episodes": count * contexts, "per second": count * contexts / seconds,
        "contexts": open_now, "left": driver.contexts, "served": served,
        "served left": driver.server.episodes,
        "handles": after[0] - before[0], "memory MB": after[1] - before[1],
        "memory start MB": before[1],
    }  # fmt: skip


def family_mb() -> float:
    """Proportional memory of this process and its descendants."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(entry.name)] = int((entry / "stat").read_text().rsplit(")")[-1].split()[1])
        except (OSError, ValueError, IndexError):
            continue
    own = {os.getpid()}
    for _ in range(6):
        own |= {child for child, parent in parents.items() if parent in own}
    total = 0
    for process in own:
        try:
            text = Path(f"/proc/{process}/smaps_rollup").read_text()
        except OSError:
            continue
        total += int(text.partition("\nPss:")[2].split()[0])
    return total / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peer", help="Python of an environment with BrowserGym 0.14")
    parser.add_argument("--resets", type=int, default=20)
    parser.add_argument("--clicks", type=int, default=60)
    parser.add_argument(
        "--episodes", type=int, default=160, help="for leaks; 2,000 is the long form"
    )
    options = parser.parse_args()
    resets, clicks = options.resets, options.clicks
    text, picture = (ours(resets, clicks, screenshot=each) for each in (False, True))
    figures = [
        Figure("ours, reset", text["reset"], "ms"),
        Figure("ours, click and full text", text["click"], "ms"),
        Figure("ours, click, full text and screenshot", picture["click"], "ms"),
    ]
    if options.peer:
        shipped = peer(options.peer, resets, clicks, sleeps=True)
        quick = peer(options.peer, resets, clicks, sleeps=False)
        figures += [
            Figure("BrowserGym as shipped, reset", shipped["reset"], "ms"),
            Figure("BrowserGym as shipped, click", shipped["click"], "ms"),
            Figure("BrowserGym without sleeps, reset", quick["reset"], "ms"),
            Figure("BrowserGym without sleeps, click", quick["click"], "ms"),
            Figure("reset, as shipped", shipped["reset"] / text["reset"], "x", least=8),
            Figure("click, as shipped", shipped["click"] / text["click"], "x", least=9),
            Figure("click, without its sleeps", quick["click"] / text["click"], "x", least=2.5),
            Figure("reset, without its sleeps", quick["reset"] / text["reset"], "x"),
            Figure("click with a screenshot, as shipped", shipped["click"] / picture["click"], "x"),
            Figure("click with a screenshot, without its sleeps",
                   quick["click"] / picture["click"], "x"),
        ]  # fmt: skip
    raw = raw_calls(clicks)
    figures += [
        Figure("step", raw["step"], "ms"),
        Figure("click and aria_snapshot by raw Playwright", raw["raw"], "ms"),
        Figure("step by raw calls", raw["step"] / raw["raw"], "x", most=1.3),
    ]
    found = leaks(options.episodes)
    figures += [
        Figure("episodes in 8 contexts", found["episodes"]),
        Figure("episodes per second", found["per second"]),
        Figure("contexts open meanwhile", found["contexts"], most=8),
        Figure("contexts left", found["left"], most=0),
        Figure("episodes left on the server", found["served left"], most=0),
        Figure("handles more", found["handles"], most=8),
        Figure("memory more", found["memory MB"], "MB"),
        Figure("memory at the start", found["memory start MB"], "MB"),
    ]
    print_findings(figures)


if __name__ == "__main__":
    sys.exit(main())
