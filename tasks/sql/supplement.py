"""Documents and tables that accompany one task, beside those of its world.

For questions, they hold what decides whether there is an answer: registers, notices, parameters,
which the question itself never mentions. For scripts of changes, they are the rules, and the tables
of imports and histories.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hexathlon.tasks.sql.schema import Value

__all__ = ["AddedDocument", "AddedTable", "Obstacle", "Supplement", "added_document"]


@dataclass(frozen=True, slots=True)
class AddedDocument:
    """A document of one task."""

    name: str
    title: str
    dated: str
    text: str


@dataclass(frozen=True, slots=True)
class AddedTable:
    """A table of one task."""

    name: str
    columns: tuple[tuple[str, str], ...]
    """Names with types."""
    rows: tuple[tuple[Value, ...], ...]
    key: tuple[str, ...] = ()
    """Columns of the primary key, if one is declared."""

    def params(self) -> dict[str, Any]:
        """Return the table as JSON."""
        described: dict[str, Any] = {
            "name": self.name,
            "columns": [list(column) for column in self.columns],
            "rows": [list(row) for row in self.rows],
        }
        return {**described, "key": list(self.key)} if self.key else described


@dataclass(frozen=True, slots=True)
class Obstacle:
    """The reason why a question cannot be answered, as the agent must report it."""

    reason: str
    evidence: tuple[str, ...]
    """Numbers accepted as evidence; none occurs in the question."""


@dataclass(frozen=True, slots=True)
class Supplement:
    """What accompanies one task."""

    documents: tuple[AddedDocument, ...]
    tables: tuple[AddedTable, ...] = ()
    """Tables that are equal in the visible and the hidden databases."""
    obstacle: Obstacle | None = None
    """None if the question can be answered."""
    decoys: tuple[str, ...] = ()
    """Numbers of records that block nothing."""

    def params(self) -> dict[str, Any]:
        """Return the supplement as a task parameter, without the obstacle."""
        return {
            "documents": [
                {"name": d.name, "title": d.title, "dated": d.dated, "text": d.text}
                for d in self.documents
            ],
            "tables": [table.params() for table in self.tables],
        }


def added_document(params: Mapping[str, Any], name: str) -> Mapping[str, str] | None:
    """Return a task's own document of that name, from the task's parameters."""
    documents = (params.get("supplement") or {}).get("documents", ())
    return next((document for document in documents if document["name"] == name), None)
