"""A random tapper with many steps.

On each task it performs random actions without a budget: taps on elements, typing of quoted texts,
back, home, swipes, and then reports completion. Every hundredth step, the state is also judged as
if it reported there: the share of tasks that are right at any of these moments bounds every rule of
when to stop.

    python benchmarks/gui_tapper.py --tasks 100 --steps 10000
"""

import argparse
import re
import time

import numpy as np

from hexathlon.envs.gui.env import GUIEnv
from hexathlon.envs.gui.errors import DeviceRefusal
from hexathlon.evaluators.gui.state import gui_state
from hexathlon.evaluators.statistics import wilson
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.task import Level

_QUOTED = re.compile(r'"([^"]{1,80})"|“([^”]{1,80})”')
_CHECKED = 100
_LEVELS: tuple[Level, ...] = ("tiny", "easy", "medium", "hard")


def tapped(env: GUIEnv, task_id: str, steps: int) -> tuple[bool, bool]:
    """Return whether the tapper's state is right at the end, and at some moment."""
    env.reset(seed=0, options={"task": task_id})
    task, rng = env.task, np.random.default_rng(task_seed(task_id))
    (check,) = task.checks
    requests = len(check.params.get("requests", ())) or 1
    quoted = [one or other for one, other in _QUOTED.findall(task.instruction)] or ["1"]
    best = False
    for step in range(steps):
        act_at_random(env, rng, quoted)
        last = step == steps - 1
        if last or (not best and step % _CHECKED == 0):
            state = env.device.final_state()
            report = {"status": "complete", "answer": "", "record": "",
                      "changes": state.get("changes", {})}  # fmt: skip
            verdict = gui_state(task, check.params, {**state, "reports": [report] * requests}, ())
            best = best or verdict.score == 1
    return verdict.score == 1, best


def act_at_random(env: GUIEnv, rng: np.random.Generator, quoted: list[str]) -> None:
    """Perform one random action."""
    elements, draw = env.device.elements(), rng.random()
    touchable = [each for each in elements if each.clickable or each.editable]
    fields = [each for each in touchable if each.editable]
    try:
        if draw < 0.04 or not touchable:
            env.device.act("navigate_back", {})
        elif draw < 0.05:
            env.device.act("navigate_home", {})
        elif draw < 0.10:
            direction = ("up", "down", "left", "right")[int(rng.integers(4))]
            env.device.act("scroll", {"direction": direction})
        elif fields and draw < 0.25:
            field = fields[int(rng.integers(len(fields)))]
            text = quoted[int(rng.integers(len(quoted)))]
            env.device.act("input_text", {"text": text, "index": field.index, "clear_text": True})
        else:
            chosen = touchable[int(rng.integers(len(touchable)))]
            env.device.act("click", {"index": chosen.index})
    except DeviceRefusal:
        pass


def task_seed(task_id: str) -> int:
    """Return a seed from a task's id."""
    return int.from_bytes(task_id.encode()[-6:], "big")


def main() -> None:
    """Measure and print one line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=100)
    parser.add_argument("--steps", type=int, default=10_000)
    chosen = parser.parse_args()
    source, env = get_source("gui"), GUIEnv()
    begun, results = time.process_time(), dict[str, tuple[bool, bool]]()
    for number in range(chosen.tasks):
        level = _LEVELS[number % len(_LEVELS)]
        task_id = source.address("test", 7 * (number // len(_LEVELS)), level)
        results[task_id] = tapped(env, task_id, chosen.steps)
    print(f"{chosen.tasks} tasks, {time.process_time() - begun:.0f} CPU seconds")
    for place, moment in enumerate((f"after {chosen.steps} steps", "at some moment before")):
        solved = [name for name, right in results.items() if right[place]]
        low, high = wilson(len(solved) / chosen.tasks, chosen.tasks, 1.96)
        print(f"right {moment}: {len(solved)} ({low:.4f} to {high:.4f}) {', '.join(solved)}")


if __name__ == "__main__":
    main()
