"""Tool calls of the SQL event in canonical form."""

import json
from typing import Any

__all__ = ["action"]


def action(name: str, /, **arguments: Any) -> str:
    """Return one tool call in canonical form."""
    return json.dumps({"name": name, "arguments": arguments}, ensure_ascii=False)
