"""What the desks of shifts, households and conversations share: records, a state, tools by name."""

from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar, cast

from hexathlon.tasks.bilingual import Language
from hexathlon.tasks.shopping.world.tables import Base, Record, TableChanges, Tables
from hexathlon.tasks.shopping.world.wording import say

__all__ = ["RecordDesk"]

_State = TypeVar("_State")


class RecordDesk(Generic[_State]):
    """Records and tools; the tool NAME is the method `do_NAME`.

    Args:
        params: `records` ([table, key, record]) and `language`.
    """

    state: _State
    """Everything that changes, except records."""

    def __init__(self, params: Mapping[str, Any]) -> None:
        self._language: Language = params["language"]
        tables: dict[str, dict[str, Record]] = {}
        for table, key, record in params["records"]:
            tables.setdefault(table, {})[key] = record
        self.tables = Tables(Base(tables))

    def save(self) -> tuple[_State, TableChanges]:
        """Return the state and the changed records as an immutable value."""
        return self.state, self.tables.changes()

    def load(self, saved: tuple[_State, TableChanges]) -> None:
        """Restore what `save` returned."""
        self.state, changes = saved
        self.tables = Tables(self.tables.base, changes)

    def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Run one tool.

        Raises:
            DeskProblem: If the call cannot be carried out; nothing was booked or ordered then.
        """
        return cast("Callable[..., str]", getattr(self, f"do_{name}"))(**arguments)

    def _say(self, en: str, zh: str) -> str:
        return say(self._language, en, zh)
