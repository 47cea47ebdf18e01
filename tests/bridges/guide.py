"""The examples of the guide to other tools."""

import re
from pathlib import Path

_GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "bridges.md"


def example(name: str) -> str:
    """Return the block of the guide that opens with the name of a file."""
    found = re.search(rf"```python\n(# {re.escape(name)}\n.*?)```", _GUIDE.read_text("utf-8"), re.S)
    assert found, f"the guide has no {name}"
    return found[1]
