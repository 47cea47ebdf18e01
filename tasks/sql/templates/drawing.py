"""Drawing from a schema: random choices, the valid metrics of a table, and sampled rows.

The part of a scene that conditions draw from; joins and facts are in
`hexathlon.tasks.sql.templates.scene`.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from hexathlon.tasks.sql.schema import Metric, Schema, Table
from hexathlon.tasks.task import Level

__all__ = ["Drawing", "Unbindable"]

Thing = TypeVar("Thing")


class Unbindable(Exception):
    """The schema has nothing that suits this template."""


class Drawing:
    """A task's random choices over one schema.

    Args:
        schema: The database's schema.
        level: Sets how many conditions and joins there are.
        rng: The task's own generator.
        sample: Rows of one small population by table name; thresholds are taken from them.
    """

    def __init__(
        self,
        schema: Schema,
        level: Level,
        rng: np.random.Generator,
        sample: Mapping[str, Sequence[tuple[Any, ...]]],
    ) -> None:
        self.schema = schema
        self.level = level
        self.rng = rng
        self.sample = sample
        self.hard = level == "hard"

    def pick(self, things: Iterable[Thing]) -> Thing:
        """Return one of the items.

        Raises:
            Unbindable: If there are none.
        """
        options = list(things)
        if not options:
            raise Unbindable
        return options[int(self.rng.integers(len(options)))]

    def shuffled(self, things: Iterable[Thing]) -> list[Thing]:
        """Return the items in random order."""
        options = list(things)
        return [options[int(place)] for place in self.rng.permutation(len(options))]

    def number(self, low: int, high: int) -> int:
        """Return a random integer in [low, high]."""
        return int(self.rng.integers(low, high + 1))

    def chance(self, probability: float) -> bool:
        """Return True with this probability."""
        return bool(self.rng.random() < probability)

    def metrics(self, table: Table) -> list[tuple[Metric, Metric | None]]:
        """Return a table's valid metrics, each with the outdated one that it replaced."""
        found = []
        for document in self.schema.documents:
            if document.metric and document.metric.table == table.name:
                if document.superseded_by is None:
                    old = [d.metric for d in self.schema.documents
                           if d.superseded_by == document.name and d.metric]  # fmt: skip
                    found.append((document.metric, old[0] if old else None))
        return [pair for pair in found if all(self._plain_terms(table, m) for m in pair if m)]

    def _plain_terms(self, table: Table, metric: Metric) -> bool:
        """Whether no term negates equality on a nullable column."""
        return not any(
            item.operator == "<>" and table.column(item.column).nullable
            for item in metric.conditions
        )
