"""Compares what a probe's command did with what was expected.

Needs the standard library alone and nothing of this package: the same file is written into the
`tests/` folder of every generated task, so that other harnesses judge by the same rules.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

__all__ = ["difference"]


def difference(expect: Mapping[str, Any], exit_code: int, output: bytes) -> str:
    """Say in a word what is wrong; empty when all is as expected.

    Args:
        expect: `exit` (a code, or "nonzero") with one of `text` (the output but for final line
            ends), `lines` (in any order), `json` (a value), `number` (with `tolerance`).
        exit_code: How the command ended.
        output: Its standard output, bytes.
    """
    wanted = expect.get("exit", 0)
    if wanted == "nonzero":
        if exit_code == 0:
            return "exit"
    elif wanted is not None and exit_code != wanted:
        return "exit"
    try:
        text = output.decode("utf-8")
    except UnicodeDecodeError:
        return "encoding"
    if "text" in expect:
        return "" if text.rstrip("\n") == expect["text"].rstrip("\n") else "text"
    if "lines" in expect:
        return "" if sorted(text.split("\n")) == sorted(expect["lines"] + [""]) else "lines"
    if "json" in expect:
        return _json_difference(expect["json"], text)
    if "number" in expect:
        return _number_difference(expect["number"], expect.get("tolerance", 1e-9), text)
    return ""


def _json_difference(wanted: Any, text: str) -> str:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return "not_json"
    return "" if _same(wanted, found) else "json"


def _number_difference(wanted: float, tolerance: float, text: str) -> str:
    try:
        found = float(text.strip())
    except ValueError:
        return "not_a_number"
    return "" if math.isfinite(found) and abs(found - wanted) <= tolerance else "number"


def _same(wanted: Any, found: Any) -> bool:
    if isinstance(wanted, bool) or isinstance(found, bool) or wanted is None or found is None:
        return wanted is found
    if isinstance(wanted, (int, float)):
        if not isinstance(found, (int, float)):
            return False
        try:
            return abs(wanted - found) <= 1e-9 * max(1.0, abs(wanted))
        except OverflowError:  # a whole number beyond every float
            return bool(wanted == found)
    if type(wanted) is not type(found):
        return False
    if isinstance(wanted, list):
        return len(wanted) == len(found) and all(map(_same, wanted, found))
    if isinstance(wanted, dict):
        return sorted(wanted) == sorted(found) and all(_same(wanted[k], found[k]) for k in wanted)
    return bool(wanted == found)
