"""The examples of the guide to other tools."""

import re
from pathlib import Path

_PAGES = Path(__file__).resolve().parents[2] / "docs" / "guides" / "doors"


def example(name: str) -> str:
    """Return the block of a page that opens with the name of a file."""
    text = "".join(path.read_text("utf-8") for path in sorted(_PAGES.glob("*.md")))
    found = re.search(rf"```python\n(# {re.escape(name)}\n.*?)```", text, re.S)
    assert found, f"the guide has no {name}"
    return found[1]
