"""Trivial browser users, whose scores set the floor."""

import json
import re
from collections.abc import Mapping

from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.source import Script
from hexathlon.tasks.task import Task

__all__ = ["trivial_policies"]

_CLICKS = 12
_WORDY_ACTIONS = 20
_ELEMENT = re.compile(
    r"\[(\d+)\] (link|button|textbox|searchbox|combobox|checkbox|radio|disclosure)"
    r'(?: "((?:[^"\\]|\\.)*)")?([^\[\n]*)'
)
_QUOTED = re.compile(r'"([^"]+)"|“([^”]+)”')

_Call = tuple[str, dict[str, object]]


def trivial_policies(task: Task) -> Mapping[str, Script]:
    """Return the policies by name; in shifts, they report on every request."""
    requests = 1 + len(task.params.get("requests", ()))
    done: _Call = ("finish", {"task_type": "MUTATE"})
    refused: _Call = ("report_infeasible", {"status": "ACTION_NOT_ALLOWED_ERROR"})
    return {
        "majority": _calls(*[done] * requests),
        "infeasible": _calls(("noop", {}), *[refused] * requests),
        "dump": _dump(),
        "clicker": _clicker(task),
        "words": _words(task),
    }


def _calls(*calls: _Call) -> Script:
    for name, arguments in calls:
        yield json.dumps({"name": name, "arguments": arguments})


def _dump() -> Script:
    """Answer with everything the first page shows."""
    screen = yield json.dumps({"name": "noop", "arguments": {}})
    words = re.findall(r"[\w#.,€-]+", screen)[:400]
    arguments = {"task_type": "RETRIEVE", "retrieved_data": words}
    yield json.dumps({"name": "finish", "arguments": arguments}, ensure_ascii=False)


def _clicker(task: Task) -> Script:
    """Click at random, then finish."""
    rng = generator_for("web clicker", task.seed)
    screen = yield json.dumps({"name": "noop", "arguments": {}})
    for _ in range(_CLICKS):
        numbers = re.findall(r"\[(\d+)\] (?:link|button|checkbox|radio)", screen)
        if not numbers:
            break
        bid = numbers[int(rng.integers(len(numbers)))]
        screen = yield json.dumps({"name": "click", "arguments": {"bid": bid}})
    yield json.dumps({"name": "finish", "arguments": {"task_type": "MUTATE"}})


def _words(task: Task) -> Script:
    """Follow the words of the request: click what it names, fill in what it quotes, then finish.

    Of the unused elements, the one whose name shares most with the request comes first.
    Quoted texts that no link shows are typed into the page's fields in order; lists are set to what
    the request mentions.
    """
    wanted = _grams(task.instruction)
    quoted = [first or second for first, second in _QUOTED.findall(task.instruction)]
    screen = yield json.dumps({"name": "noop", "arguments": {}})
    used: set[tuple[str, str]] = set()
    for _ in range(_WORDY_ACTIONS):
        page = screen.partition("\nTabs:")[2].partition("\n")[2].partition("\n")[0]
        best: tuple[float, str, dict[str, object], tuple[str, str]] | None = None
        for bid, role, name, rest in _ELEMENT.findall(screen):
            chosen = _use(bid, role, name, rest, task.instruction, wanted, quoted)
            key = (name + page if role in ("textbox", "searchbox", "combobox") else name, role)
            if chosen is None or key in used or (best is not None and best[0] >= chosen[0]):
                continue
            best = (*chosen, key)
        if best is None:
            break
        _, tool, arguments, key = best
        used.add(key)
        quoted = [
            text
            for text in quoted
            if text not in (arguments.get("text"), key[0])
            and not (tool == "click" and text in key[0])
        ]
        screen = yield json.dumps({"name": tool, "arguments": arguments}, ensure_ascii=False)
    yield json.dumps({"name": "finish", "arguments": {"task_type": "MUTATE"}})


def _use(
    bid: str, role: str, name: str, rest: str, request: str, wanted: set[str], quoted: list[str]
) -> tuple[float, str, dict[str, object]] | None:
    """Return how well an element fits the request, and what to do with it."""
    if role in ("textbox", "searchbox"):
        return (0.6, "fill", {"bid": bid, "text": quoted[0]}) if quoted else None
    if role == "combobox":
        options = rest.partition("options: ")[2].split(", ")
        named = [option for option in options if len(option) > 1 and option in request]
        return (0.9, "select_option", {"bid": bid, "options": named[0]}) if named else None
    grams = _grams(name)
    score = len(grams & wanted) / len(grams) if grams else 0.0
    return (score, "click", {"bid": bid}) if score >= 0.4 else None


def _grams(text: str) -> set[str]:
    """Return the words of a text, and pairs of neighbouring Chinese characters."""
    words = set(re.findall(r"[a-z0-9]+", text.lower()))
    return words | {text[i : i + 2] for i in range(len(text) - 1) if text[i] >= "\u4e00"}
