"""Hostile and random actions, and trivial policies that must neither crash nor score."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.source import Script
from hexathlon.tasks.task import Task, ToolSchema

__all__ = ["do_nothing", "fuzzed_actions", "random_calls", "spam"]

_STRINGS = (
    "",
    " ",
    "\x00",
    "\ud800",
    "🙂" * 40,
    "a" * 5_000,
    "é\u0301\u202e\ufeff",
    "'; DROP TABLE users; --",
    "<script>alert(1)</script>",
    "../../../../etc/passwd",
    "{{7*7}} ${7*7} %s %n {0}",
    "-1",
    "NaN",
    "null",
    "true",
    "1e400",
    "\\",
    '"',
    "`id`",
    "$(id)",
)
_BROKEN = (
    "",
    "{",
    "[",
    "{}",
    "[]",
    "[[]]",
    "null",
    "0",
    '"text"',
    '{"name": null}',
    '{"name": 5, "arguments": {}}',
    '{"name": "", "arguments": {}}',
    '{"name": "submit"',
    '{"name": "submit", "arguments": null}',
    '{"name": "submit", "arguments": []}',
    '{"name": "submit", "arguments": "{"}',
    '{"name": "submit", "arguments": {}, "extra": 1}',
    '{"arguments": {}}',
    '{"name": "__class__", "arguments": {}}',
    '{"name": "step", "arguments": {"action": "x"}}',
    '{"name": "close", "arguments": {}}',
    '{"name": "verdict", "arguments": {}}',
    "[" * 2_000,
    '{"a":' * 2_000,
    "[{}, {}, {}]",
    "\ud800{",
    "{\x00}",
    "9" * 5_000,
    '{"name": "submit", "arguments": {"x": NaN, "y": Infinity}}',
    '{"name": "submit", "arguments": {"x": 1e999}}',
    "[" + ",".join(['{"name": "submit", "arguments": {}}'] * 50) + "]",
)


def fuzzed_actions(task: Task, count: int, seed: int) -> Iterator[str]:
    """Yield `count` actions: broken JSON, wrong types, hostile strings, random calls."""
    rng = generator_for("fuzz", task.id, seed)
    for _ in range(count):
        kind = rng.random()
        if kind < 0.2:
            yield _pick(rng, _BROKEN)
        elif kind < 0.3:
            yield _pick(rng, _STRINGS)
        elif kind < 0.4:
            yield _mutilated(rng, _call(rng, task.tools, wild=False))
        else:
            yield _call(rng, task.tools, wild=kind < 0.75)


def random_calls(task: Task, seed: int) -> Script:
    """Call random tools with random arguments that fit their schemas."""
    rng = generator_for("random", task.id, seed)
    while True:
        yield _call(rng, task.tools, wild=False)


def do_nothing(task: Task) -> Script:
    """Send an empty message every turn."""
    while True:
        yield ""


def spam(task: Task) -> Script:
    """Pass the whole instruction to every tool as every argument, repeatedly."""
    while True:
        for schema in task.tools:
            properties = schema.parameters.get("properties", {})
            arguments = {name: _filled(part, task.instruction) for name, part in properties.items()}
            yield json.dumps({"name": schema.name, "arguments": arguments})
        yield task.instruction


def _filled(part: dict[str, Any], text: str) -> Any:
    if "enum" in part:
        return part["enum"][0]
    kind = part.get("type", "string")
    return {"integer": 1, "number": 1, "boolean": True, "array": [text], "object": {}}.get(
        kind if isinstance(kind, str) else "string", text
    )


def _call(rng: np.random.Generator, tools: Sequence[ToolSchema], *, wild: bool) -> str:
    if not tools:
        return _pick(rng, _STRINGS)
    schema = tools[int(rng.integers(len(tools)))]
    properties = schema.parameters.get("properties", {})
    required = schema.parameters.get("required", [])
    arguments: dict[str, Any] = {}
    for name, part in properties.items():
        if name in required or rng.random() < 0.5:
            arguments[name] = _anything(rng) if wild and rng.random() < 0.6 else _value(rng, part)
    if wild and rng.random() < 0.2:
        arguments[_pick(rng, _STRINGS)[:40]] = _anything(rng)
    return json.dumps({"name": schema.name, "arguments": arguments})


def _value(rng: np.random.Generator, part: dict[str, Any]) -> Any:
    if part.get("enum"):
        return part["enum"][int(rng.integers(len(part["enum"])))]
    kind = part.get("type", "string")
    if kind in ("integer", "number"):
        low, high = int(part.get("minimum", -5)), int(part.get("maximum", 100))
        return int(rng.integers(low, max(high, low) + 1))
    if kind == "boolean":
        return bool(rng.random() < 0.5)
    if kind == "array":
        items = part.get("items", {})
        return [_value(rng, items) for _ in range(int(rng.integers(0, 4)))]
    if kind == "object":
        return {}
    return _pick(rng, ("a", "1", "yes", "unknown", "name", *_STRINGS))


def _anything(rng: np.random.Generator) -> Any:
    choices: tuple[Any, ...] = (None, True, -1, 10**30, 1.5e308, [], {}, [[[]]], {"a": {"b": 1}})
    pick = int(rng.integers(len(choices) + 6))
    return choices[pick] if pick < len(choices) else _pick(rng, _STRINGS)


def _mutilated(rng: np.random.Generator, text: str) -> str:
    start = int(rng.integers(len(text))) if text else 0
    end = min(len(text), start + int(rng.integers(1, 6)))
    return text[:start] + _pick(rng, ("", "\x00", '"', "}", "é")) + text[end:]


def _pick(rng: np.random.Generator, options: Sequence[str]) -> str:
    return options[int(rng.integers(len(options)))]
