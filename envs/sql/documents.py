"""Documents accompanying a database, as named by a task."""

from collections.abc import Mapping
from typing import Any

from hexathlon.tasks.sql.supplement import added_document
from hexathlon.tasks.sql.world.world import world_for

__all__ = ["DocumentShelf"]


class DocumentShelf:
    """Documents by name.

    `params["documents"]` is either a mapping of names to texts, or a list of names of documents of
    the task's world and of its supplement.
    """

    def __init__(self, params: Mapping[str, Any]) -> None:
        self._listed = params.get("documents") or ()
        self._params = params

    def listing(self) -> str:
        """Return one line per document: name and, if available, title and date."""
        lines = [self._heading(name) for name in self._listed]
        return "\n".join([f"{len(lines)} document{'' if len(lines) == 1 else 's'}", *lines])

    def text(self, name: str) -> str | None:
        """Return the text of a document, or None if the task does not include it."""
        if name not in self._listed:
            return None
        if isinstance(self._listed, Mapping):
            return str(self._listed[name])
        title, dated, text = self._parts(name)
        return f"{title}\nDated {dated}\n\n{text}"

    def _heading(self, name: str) -> str:
        if isinstance(self._listed, Mapping):
            return name
        title, dated, _ = self._parts(name)
        return f"{name}: {title} ({dated})"

    def _parts(self, name: str) -> tuple[str, str, str]:
        """Return title, date and text of a document."""
        added = added_document(self._params, name)
        if added is not None:
            return added["title"], added["dated"], added["text"]
        document = world_for(str(self._params.get("world"))).schema.document(name)
        return document.title, document.dated, document.text
