"""Shows doctests as code in the API reference.

A griffe extension (see `mkdocs.yml`). Outside a section `Examples:` a doctest is plain Markdown
to griffe, where `>>>` begins a quotation and brackets a link.
"""

import re
from typing import Any

import griffe

_DOCTEST = re.compile(r"^>>> .*(?:\n.*\S.*)*", re.MULTILINE)


class FencedDoctests(griffe.Extension):
    """Puts a fence around every doctest that is not indented."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of one object, as it is shown."""
        if obj.docstring is not None:
            value = obj.docstring.value
            obj.docstring.value = _DOCTEST.sub(lambda found: f"```pycon\n{found[0]}\n```", value)
