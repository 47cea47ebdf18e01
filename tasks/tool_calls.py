"""Tool calls in the canonical text form, as scripts and agents write them."""

import json
from typing import Any

__all__ = ["tool_call"]


def tool_call(name: str, /, **arguments: Any) -> str:
    """Return a tool call in canonical form.

    >>> tool_call("search", query="tea")
    '{"name": "search", "arguments": {"query": "tea"}}'
    """
    return json.dumps({"name": name, "arguments": arguments}, ensure_ascii=False)
