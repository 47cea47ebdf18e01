"""Tables that a change adds to a population: rows by name, and days near each other."""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta

from hexathlon.tasks.sql.supplement import AddedTable
from hexathlon.tasks.sql.writes.plan import NamedRow

__all__ = ["added_table", "day_after"]


def added_table(
    name: str, rows: Sequence[NamedRow], key: tuple[str, ...], kinds: Mapping[str, str]
) -> AddedTable:
    """Return a table.

    Args:
        name: Its name.
        rows: Its rows, with a value for every column.
        key: Columns of its primary key.
        kinds: Types of its columns, in their order.
    """
    values = tuple(tuple(row[column] for column in kinds) for row in rows)
    return AddedTable(name, tuple(kinds.items()), values, key)


def day_after(day: str, days: int) -> str:
    """Return the day so many days after another one, both as YYYY-MM-DD."""
    return (date.fromisoformat(day) + timedelta(days=days)).isoformat()
