"""Documents accompanying a database, as named by a task."""

from collections.abc import Mapping
from typing import Any

from hexathlon.tasks.sql.world.world import world_for

__all__ = ["DocumentShelf"]


class DocumentShelf:
    """Documents by name.

    `params["documents"]` is either a mapping of names to texts, or a list of names of documents of
    the task's world.
    """

    def __init__(self, params: Mapping[str, Any]) -> None:
        self._listed = params.get("documents") or ()
        self._world = params.get("world")

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
        document = world_for(str(self._world)).schema.document(name)
        return f"{document.title}\nDated {document.dated}\n\n{document.text}"

    def _heading(self, name: str) -> str:
        if isinstance(self._listed, Mapping):
            return name
        document = world_for(str(self._world)).schema.document(name)
        return f"{name}: {document.title} ({document.dated})"
