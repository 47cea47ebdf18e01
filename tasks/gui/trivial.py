"""Trivial users of a phone, whose scores set the floor."""

import json
import re
from collections.abc import Mapping

from hexathlon.tasks.gui.world.apps.names import APP_NAMES
from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.source import Script
from hexathlon.tasks.task import Task

__all__ = ["phone_policies"]

_TAPS = 15
_WORDY_ACTIONS = 20
_ELEMENT = re.compile(
    r'^(?:\[(\d+)\] )?(\w+)(?: "((?:[^"\\]|\\.)*)")?(?: \[(\d+)\])?(.*)$', re.MULTILINE
)
_QUOTED = re.compile(r'"([^"]+)"|“([^”]+)”')
_TOUCHED = ("button", "item", "switch", "checkbox", "radio", "chip", "tab", "tile", "menuitem",
            "picker", "image", "pin", "card")  # fmt: skip

_ToolUse = tuple[str, dict[str, object]]


def phone_policies(task: Task) -> Mapping[str, Script]:
    """Return the policies by name; in shifts, they report on every request."""
    requests = 1 + len(task.params.get("requests", ()))
    done: _ToolUse = ("status", {"goal_status": "complete"})
    refused: _ToolUse = ("status", {"goal_status": "infeasible", "reason": "not_allowed"})
    return {
        "majority": _uses(*[done] * requests),
        "infeasible": _uses(*[refused] * requests),
        "dump": _dump(task, requests),
        "tapper": _tapper(task),
        "words": _words(task),
    }


def _write(name: str, arguments: dict[str, object]) -> str:
    return json.dumps({"name": name, "arguments": arguments}, ensure_ascii=False)


def _uses(*uses: _ToolUse) -> Script:
    for name, arguments in uses:
        yield _write(name, arguments)


def _dump(task: Task, requests: int) -> Script:
    """Answer with everything that the first screens show."""
    rng = generator_for("gui dump", task.seed)
    app = APP_NAMES[int(rng.integers(len(APP_NAMES)))]
    screen = yield _write("open_app", {"app_name": app})
    names = [match[2] for match in _ELEMENT.findall(screen) if match[2]]
    for _ in range(requests):
        yield _write("answer", {"text": "; ".join(names)[:3000]})
        yield _write("status", {"goal_status": "complete"})


def _tapper(task: Task) -> Script:
    """Tap at random, then finish."""
    rng = generator_for("gui tapper", task.seed)
    screen = yield _write("wait", {})
    for _ in range(_TAPS):
        found = [first or second for first, role, _, second, _ in _ELEMENT.findall(screen)
                 if role in _TOUCHED]  # fmt: skip
        found = [number for number in found if number]
        if not found:
            screen = yield _write("navigate_back", {})
            continue
        index = int(found[int(rng.integers(len(found)))])
        screen = yield _write("click", {"index": index})
    yield _write("status", {"goal_status": "complete"})


def _words(task: Task) -> Script:
    """Follow the words of the request: tap what it names, type what it quotes, then finish.

    Of the unused elements, the one whose name shares most with the request comes first; quoted
    texts that no element shows are typed into the fields in order.
    """
    wanted = _grams(task.instruction)
    quoted = [first or second for first, second in _QUOTED.findall(task.instruction)]
    screen = yield _write("wait", {})
    used: set[tuple[str, str]] = set()
    for _ in range(_WORDY_ACTIONS):
        best: tuple[float, str, dict[str, object], tuple[str, str]] | None = None
        for first, role, name, second, _rest in _ELEMENT.findall(screen):
            number = first or second
            if not number or (name, role) in used:
                continue
            score, tool = 0.0, "click"
            arguments: dict[str, object] = {"index": int(number)}
            if role == "textbox" and quoted:
                score, tool = 0.55, "input_text"
                arguments = {"index": int(number), "text": quoted[0], "clear_text": True}
            elif role in _TOUCHED:
                grams = _grams(name)
                score = len(grams & wanted) / len(grams) if grams else 0.0
            if score >= 0.4 and (best is None or score > best[0]):
                best = (score, tool, arguments, (name, role))
        if best is None:
            break
        used.add(best[3])
        quoted = [text for text in quoted if text != best[2].get("text")]
        screen = yield _write(best[1], best[2])
    yield _write("status", {"goal_status": "complete"})


def _grams(text: str) -> set[str]:
    """Return the words of a text, and pairs of neighbouring Chinese characters."""
    words = set(re.findall(r"[a-z0-9]+", text.lower()))
    return words | {text[i : i + 2] for i in range(len(text) - 1) if text[i] >= "\u4e00"}
