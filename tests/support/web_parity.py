"""The same trajectory in the twin and in Chromium, compared after every step."""

import difflib
import json
import re
from collections.abc import Callable, Iterator

from hexathlon.envs.web.env import WebEnv
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.source import Script

_ACTS = re.compile(
    r"\[(\d+)\] (link|button|checkbox|radio|textbox|combobox|disclosure|drop zone|draggable|file|"
    r"date|searchbox|spinbutton)(?: (?:\"(?:[^\"\\]|\\.)*\"))?([^\[\n]*)"
)


def random_walk(seed: str, steps: int) -> Script:
    """Random actions of every kind, including refused ones; ends without a report."""
    rng = generator_for("web parity", seed)
    pick = lambda items: items[int(rng.integers(len(items)))]  # noqa: E731
    texts = ("2026-03-04", "12", "release", "审核", "a b & c", "two\nlines", "-3.5")
    screen = yield json.dumps({"name": "noop", "arguments": {}})
    for _ in range(steps):
        found = _ACTS.findall(screen)
        kind = float(rng.random())
        name, arguments = "noop", {}
        if found and kind < 0.82:
            bid, role, rest = pick(found)
            name, arguments = "click", {"bid": bid}
            if role in ("textbox", "searchbox", "date", "spinbutton"):
                name = pick(("fill", "fill", "fill", "clear", "press", "click"))
                arguments = {"bid": bid}
                if name == "fill":
                    arguments["text"] = pick(texts)
                elif name == "press":
                    arguments["key_comb"] = pick(("Enter", "Tab", "a"))
            elif role == "combobox":
                options = rest.partition("options: ")[2].strip()
                options = re.sub(r" and \d+ more.*$", "", options).split(", ")
                name = "select_option"
                arguments["options"] = pick(options)
            elif role in ("draggable", "drop zone"):
                places = [each[0] for each in found if each[1] == "drop zone"]
                if places:
                    name, arguments = "drag_and_drop", {"from_bid": bid, "to_bid": pick(places)}
            elif kind < 0.04:
                name = pick(("dblclick", "hover", "focus"))
            elif kind < 0.08:
                name, arguments = "press", {"bid": bid, "key_comb": pick(("Enter", "Escape"))}
        elif kind < 0.86:
            name = "go_back"
        elif kind < 0.88:
            name = "go_forward"
        elif kind < 0.90:
            name = "new_tab"
        elif kind < 0.92:
            name, arguments = "tab_focus", {"index": int(rng.integers(3))}
        elif kind < 0.94:
            name = "tab_close"
        elif kind < 0.96:
            name, arguments = "goto", {"url": pick(("http://example.com/", "file:///etc/passwd"))}
        elif kind < 0.97:
            name, arguments = "scroll", {"delta_y": 300}
        else:
            sites = re.findall(r"http://[\w.]+", screen)
            if sites:
                name, arguments = "goto", {"url": pick(sites) + pick(("/", "/nowhere", "/?page=2"))}
        screen = yield json.dumps({"name": name, "arguments": arguments}, ensure_ascii=False)


def differences(
    twin: WebEnv,
    browser: WebEnv,
    task_id: str,
    make: Callable[[], Script],
    look: int = 3,
    played: list[str] | None = None,
) -> Iterator[str]:
    """Play a script in both; yield every difference, with the actions that led to it."""
    played = [] if played is None else played
    first, _ = twin.reset(seed=look, options={"task": task_id})
    other, _ = browser.reset(seed=look, options={"task": task_id})
    yield from _compare(twin, browser, first, other, played)
    script = make()
    try:
        action = next(script)
        while True:
            played.append(action)
            ours, theirs = twin.step(action), browser.step(action)
            yield from _compare(twin, browser, ours[0], theirs[0], played)
            if ours[1:4] != theirs[1:4]:
                yield f"{task_id} after {played}: {ours[1:4]} and {theirs[1:4]}"
            if ours[2] or ours[3]:
                break
            action = script.send(ours[0])
    except StopIteration:
        pass
    left, right = twin.final_state(), browser.final_state()
    for key in left:
        if left[key] != right[key]:
            yield f"{task_id} after {played}: {key}\n  {left[key]}\n  {right[key]}"


def oracle_of(task_id: str) -> Callable[[], Script]:
    source = get_source("web")
    return lambda: source.oracle(source.build(task_id))


def _compare(twin: WebEnv, browser: WebEnv, ours: str, theirs: str, played: list[str]):
    views = twin.browser.view(), browser.browser.view()
    if ours == theirs and views[0] == views[1]:
        return
    rows = (*_lines(ours, views[0]), ""), (*_lines(theirs, views[1]), "")
    yield f"after {played[-4:]}:\n" + "\n".join(difflib.unified_diff(*rows, "twin", "browser", n=0))


def _lines(text: str, view) -> list[str]:
    return [*text.split("\n"), f"tabs {view.tabs} {view.current}", *view.text.split("\n")]
