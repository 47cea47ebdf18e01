"""The part of JSONPath that WebArena-Verified's checks use.

Names, positions, filters of equality (`[?(@.new == 1)]`), and keys by regular expression (`$.^…$`).
Strings along the path that contain JSON are parsed.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

__all__ = ["find", "is_path"]

_STEP = re.compile(
    r"""\.(?P<name>[^.\[\]]+) | \[(?P<place>\d+)\] | \[(?P<quote>['"])(?P<key>.*?)(?P=quote)\]
      | \[\?\(@\.(?P<field>\w+)\s*==\s*(?P<value>[^)]+)\)\]""",
    re.VERBOSE,
)


def is_path(key: str) -> bool:
    """Whether a key of a check is a path rather than a name."""
    return key.startswith("$") or (key.startswith("^") and key.endswith("$") and len(key) > 1)


def find(data: Any, path: str) -> Any:
    """Return the value at a path; a list if it has a filter, None if nothing is there.

    Raises:
        ValueError: If the path uses an unsupported feature.
    """
    if path.startswith("$.^") or path.startswith("^"):
        return _by_pattern(data, path.removeprefix("$."))
    nodes, end, filtered = [data], 1, False
    while end < len(path):
        step = _STEP.match(path, end)
        if step is None:
            raise ValueError(f"unsupported path: {path!r}")
        nodes = [found for node in nodes for found in _below(_opened(node), step)]
        filtered = filtered or step["field"] is not None
        end = step.end()
    if filtered:
        return nodes or None
    return nodes[0] if nodes else None


def _below(node: Any, step: re.Match[str]) -> list[Any]:
    if step["place"] is not None:
        place = int(step["place"])
        return [node[place]] if isinstance(node, list) and place < len(node) else []
    if step["field"] is not None:
        wanted = json.loads(step["value"])
        items = node if isinstance(node, list) else []
        return [
            each
            for each in items
            if isinstance(each, Mapping) and each.get(step["field"]) == wanted
        ]
    name = step["name"] or step["key"]
    return [node[name]] if isinstance(node, Mapping) and name in node else []


def _by_pattern(data: Any, pattern: str) -> Any:
    if not isinstance(data, Mapping):
        return None
    found = [value for key, value in data.items() if re.match(pattern, key)]
    return found[0] if len(found) == 1 else found or None


def _opened(node: Any) -> Any:
    if isinstance(node, str) and node[:1] in "[{":
        try:
            return json.loads(node)
        except json.JSONDecodeError:
            return node
    return node
