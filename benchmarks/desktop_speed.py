"""Speed of the desktop: its start, and one turn of an agent (click, elements, screenshot).

Clicks alternate between two places. A click where the last one was waits until the two are no
double click; `click again at once` is the whole of that wait.

    .venv/bin/python benchmarks/desktop_speed.py --turns 40

A turn includes the wait until all programs sleep. Prints medians and 95th percentiles.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from hexathlon.envs.gui.desktop.device import DesktopDevice
from hexathlon.tasks.gui.desktop.source import DesktopSource

TASKS = {
    "Text Editor": ("desktop/append-line", "Documents"),
    "Spreadsheet": ("desktop/stock-count", "Documents/stock.gnumeric"),
    "Files": ("desktop/rename-file", "Documents"),
    "Accounts": ("desktop/enter-expense", "Documents/household.xhb"),
    "Notes": ("desktop/page-line", "Notes/notebook.zim"),
}  # fmt: skip


def seconds(what: Callable[[], Any]) -> float:
    start = time.perf_counter()
    what()
    return time.perf_counter() - start


def task_of(prefix: str) -> Any:
    source = DesktopSource()
    for level in ("tiny", "easy"):
        for at in range(80):
            address = source.address("dev", at, level)
            if address.startswith(f"{prefix}/"):
                return source.build(address)
    raise LookupError(prefix)


def measure(app: str, prefix: str, file: str, turns: int) -> None:
    task, device = task_of(prefix), DesktopDevice()
    try:
        started = seconds(lambda: device.open(task, np.random.default_rng(0)))
        if app == "Text Editor":
            file = next(iter(task.params["desktop"]["files"]))
        opened = seconds(lambda: device.act("open_app", {"app_name": app, "file": file}))
        device.elements()
        width, height = device.size
        steps: dict[str, list[float]] = {"click": [], "elements": [], "screenshot": [], "turn": []}
        for turn in range(turns):
            # Far enough from the place before to be no double click with it.
            place = {"x": width // 2 + 20 * (turn % 2), "y": height // 2 + turn % 5}
            spent = [seconds(lambda place=place: device.act("click", place)),
                     seconds(device.elements), seconds(device.pixels)]  # fmt: skip
            for name, each in zip(steps, [*spent, sum(spent)], strict=True):
                steps[name].append(each * 1000)
        again = [seconds(lambda: device.act("click", place)) * 1000 for _ in range(3)]
        count = len(device.elements())
        shown = "  ".join(
            f"{name} {statistics.median(each):.1f} (95 %: {sorted(each)[int(0.95 * turns)]:.1f})"
            for name, each in steps.items()
        )
        shown += f"  click again at once {statistics.median(again):.0f}"
        print(f"{app}: start {started:.2f} s, opened {opened:.2f} s, {count} elements; ms: {shown}")
    finally:
        device.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=40)
    turns = parser.parse_args().turns
    for app, (prefix, file) in TASKS.items():
        measure(app, prefix, file, turns)


if __name__ == "__main__":
    main()
