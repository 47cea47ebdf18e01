"""The brief view of a page: its content, with the number of every element after its name.

Headers, footers and navigation are omitted. A very small policy copies left to right: having
written an element's name, it continues with the number that follows it.
"""

import re
from collections.abc import Sequence

__all__ = ["brief_text"]

_ELEMENT = re.compile(r'(?<!\\)(\[\d+\]) ((?:drop zone|[a-z]+)(?: "(?:[^"\\]|\\.)*")?)')


def brief_text(title: str, content: Sequence[str]) -> str:
    """Return the brief view.

    Args:
        title: Title of the page.
        content: Lines of the page outside headers, footers and navigation.
    """
    return "\n".join([f"Page: {title}", *(_ELEMENT.sub(r"\2 \1", line) for line in content)])
