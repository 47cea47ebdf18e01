"""The browser compared with BrowserGym 0.14 and with raw Playwright calls, on one MiniWoB++ page.

BrowserGym is installed in a separate environment, since it pins an old Playwright:

    python -m venv peer && peer/bin/pip install browsergym-core==0.14.3 browsergym-miniwob==0.14.3
    .venv/bin/python benchmarks/web_browser.py --peer peer/bin/python
"""

import argparse
import gc
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

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

    env = WebEnv(
        backend="chromium", taskset="miniwob", screenshot=screenshot, limits={"turns": 10_000}
    )
    options = {"task": f"miniwob/{PAGE}/easy/train/00000"}
    env.reset(seed=1, options=options)
    medians = {
        "reset": median_ms(lambda: env.reset(seed=1, options=options), resets),
        "click": median_ms(lambda: env.step(CLICK), clicks),
    }
    env.close()
    return medians


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
    medians: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return medians


def raw_calls(clicks: int) -> dict[str, float]:
    """Compare a step with the same two raw calls: a click on the element, and reading the page.

    Both run alternately on the same page of the same browser.
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


ROLES = ("python", "driver", "chromium")
"""This process, Playwright's driver (Node) and the processes of Chromium."""


class Use(NamedTuple):
    """Resources held by the processes at one moment."""

    handles: int
    memory_mb: dict[str, float]
    """Proportional memory by role."""


def leaks(episodes: int, contexts: int = 8, parts: int = 4) -> list[Figure]:
    """Measure the resources left over after many episodes in several concurrent contexts.

    Memory is measured after each part of the episodes: leaks grow from part to part, caches do not.
    """
    from concurrent.futures import ThreadPoolExecutor

    from hexathlon.envs.web.chromium.driver import Driver
    from hexathlon.envs.web.env import WebEnv

    envs = [WebEnv(backend="chromium") for _ in range(contexts)]
    driver = Driver.shared()

    def play(place: int, count: int) -> None:
        for number in range(count):
            # Few tasks, played beforehand, so that caches of worlds are full at the start.
            envs[place].reset(seed=place * 100_000 + number % 3)
            envs[place].step(CLICK)

    def use() -> Use:
        time.sleep(12)  # the server closes idle connections after 10 seconds
        gc.collect()
        return Use(len(os.listdir("/proc/self/fd")), family_mb())

    each = max(1, episodes // contexts // parts)
    with ThreadPoolExecutor(contexts) as pool:
        list(pool.map(lambda place: play(place, 6), range(contexts)))
        uses, seconds = [use()], 0.0
        for _ in range(parts):
            start = time.perf_counter()
            list(pool.map(lambda place: play(place, each), range(contexts)))
            seconds += time.perf_counter() - start
            uses.append(use())
    played, open_now = each * contexts * parts, driver.contexts
    for env in envs:
        env.close()
    return [
        Figure("episodes in 8 contexts", played),
        Figure("episodes per second", played / seconds),
        Figure("contexts open meanwhile", open_now, most=8),
        Figure("contexts left", driver.contexts, most=0),
        Figure("episodes left on the server", driver.server.episodes, most=0),
        Figure("additional open handles", uses[-1].handles - uses[0].handles, most=8),
        *(
            Figure(
                f"memory of {role}, {each * contexts * part} episodes", use.memory_mb[role], "MB"
            )
            for role in ROLES
            for part, use in enumerate(uses)
        ),
    ]


def family_mb() -> dict[str, float]:
    """Proportional memory of this process and its descendants, by role."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(entry.name)] = int((entry / "stat").read_text().rsplit(")")[-1].split()[1])
        except (OSError, ValueError, IndexError):
            continue
    own = {os.getpid()}
    for _ in range(6):
        own |= {child for child, parent in parents.items() if parent in own}
    totals = dict.fromkeys(ROLES, 0.0)
    for process in own:
        try:
            text = Path(f"/proc/{process}/smaps_rollup").read_text()
            name = Path(f"/proc/{process}/comm").read_text()
        except OSError:
            continue
        role = "chromium" if "chrom" in name or "headless" in name else "driver"
        role = "python" if process == os.getpid() else role
        totals[role] += int(text.partition("\nPss:")[2].split()[0]) / 1024
    return totals


def round_of(options: argparse.Namespace) -> dict[str, float]:
    """Measure everything once; milliseconds and their ratios, by name."""
    resets, clicks = options.resets, options.clicks
    text, picture = (ours(resets, clicks, screenshot=each) for each in (False, True))
    raw = raw_calls(clicks)
    found = {
        "ours, reset": text["reset"],
        "ours, click and full text": text["click"],
        "ours, click, full text and screenshot": picture["click"],
        "step": raw["step"],
        "click and aria_snapshot by raw Playwright": raw["raw"],
        "step over raw calls": raw["step"] / raw["raw"],
    }
    for sleeps, how in ((True, "as shipped"), (False, "without its sleeps")):
        if options.peer:
            other = peer(options.peer, resets, clicks, sleeps=sleeps)
            found |= {
                f"BrowserGym {how}, reset": other["reset"],
                f"BrowserGym {how}, click": other["click"],
                f"reset, {how}": other["reset"] / text["reset"],
                f"click, {how}": other["click"] / text["click"],
                f"click with a screenshot, {how}": other["click"] / picture["click"],
            }
    return found


TARGETS = {
    "reset, as shipped": {"least": 8},
    "click, as shipped": {"least": 9},
    "click, without its sleeps": {"least": 2.5},
    "step over raw calls": {"most": 1.3},
}
RATIOS = ("reset, ", "click, ", "click with", "step over")


def main() -> None:
    """Measure in alternating rounds and print the medians."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peer", help="Python of an environment with BrowserGym 0.14")
    parser.add_argument("--rounds", type=int, default=1, help="alternating rounds")
    parser.add_argument("--resets", type=int, default=20)
    parser.add_argument("--clicks", type=int, default=60)
    parser.add_argument(
        "--episodes",
        type=int,
        default=160,
        help="for leaks; 2,000 for the full measurement, 0 for none",
    )
    options = parser.parse_args()
    rounds = [round_of(options) for _ in range(options.rounds)]
    figures = [
        Figure(
            name,
            statistics.median(each[name] for each in rounds),
            "x" if name.startswith(RATIOS) else "ms",
            **TARGETS.get(name, {}),
        )
        for name in rounds[0]
    ]
    if options.episodes:
        figures += leaks(options.episodes)
    print_findings(figures)


if __name__ == "__main__":
    sys.exit(main())
