"""Doctests as code blocks in the API reference.

This is a griffe extension (see `mkdocs.yml`). Outside an `Examples:` section, griffe reads a
doctest as Markdown, in which `>>>` starts a quotation and brackets start a link.
"""

import re
from typing import Any

import griffe

_DOCTEST = re.compile(r"^>>> .*(?:\n.*\S.*)*", re.MULTILINE)


class FencedDoctests(griffe.Extension):
    """Extension that fences every doctest that is not indented."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Fence the doctests in the docstring of one object."""
        if obj.docstring is not None:
            value = obj.docstring.value
            obj.docstring.value = _DOCTEST.sub(lambda found: f"```pycon\n{found[0]}\n```", value)
