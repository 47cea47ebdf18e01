"""The base class of apps, and the drawing of their initial content."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, ClassVar, TypeVar

from hexathlon.tasks.bilingual import Language
from hexathlon.tasks.drawn import own_share
from hexathlon.tasks.gui.world.kit.looks import Colour
from hexathlon.tasks.gui.world.kit.widgets import ScreenWidget
from hexathlon.tasks.gui.world.phone.context import AppView
from hexathlon.tasks.gui.world.phone.core import PhoneRow, PhoneTable
from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.task import Split

__all__ = ["ContentDraws", "PhoneApp"]

_Item = TypeVar("_Item")
_BLOCK = 512


class ContentDraws:
    """Draws and collects the initial content of one app.

    Args:
        app: The app.
        seed: Seed of the phone.
        split: Split whose share of names and texts is used.
        language: Language of the content.
        scale: Size of the content, 1 to 4.
        start: When the phone starts.
        others: Returns tables of other apps, by full name.
    """

    def __init__(
        self, app: str, seed: int, split: Split, language: Language, scale: int, start: datetime,
        others: Any,
    ) -> None:  # fmt: skip
        self.app, self.split, self.scale, self.start = app, split, scale, start
        self.language: Language = language
        self._numbers = _unit_numbers("gui content", app, seed)
        self._others = others
        self.tables: dict[str, dict[Any, PhoneRow]] = {}

    def unit(self) -> float:
        """Return a number in [0, 1)."""
        return next(self._numbers)

    def add(self, table: str, **columns: Any) -> Any:
        """Add a row to a table of the app; return its key, `columns["id"]` or the next number."""
        rows = self.tables[f"{self.app}.{table}"]
        key = columns.pop("id", None)
        if key is None:
            key = len(rows) + 1
        rows[key] = {"id": key, **columns}
        return key

    def rows(self, table: str) -> list[PhoneRow]:
        """Return the rows of a table of this app, or by full name of another one."""
        if "." not in table:
            return list(self.tables[f"{self.app}.{table}"].values())
        found: PhoneTable = self._others(table)
        return list(found.values())

    def own(self, items: Sequence[_Item]) -> Sequence[_Item]:
        """Return the split's own share of names or texts."""
        return own_share(items, self.split)

    def say(self, en: _Item, zh: _Item) -> _Item:
        """Return the text in the phone's language."""
        return zh if self.language == "zh" else en

    def chance(self, probability: float) -> bool:
        """Return True with the given probability."""
        return self.unit() < probability

    def between(self, low: int, high: int) -> int:
        """Return an integer from `low` to `high`, inclusive."""
        return low + int(self.unit() * (high - low + 1))

    def pick(self, items: Sequence[_Item]) -> _Item:
        """Return one of several items."""
        return items[int(self.unit() * len(items))]

    def sample(self, items: Sequence[_Item], count: int) -> list[_Item]:
        """Return several distinct items in random order."""
        rest = list(items)
        return [rest.pop(int(self.unit() * len(rest))) for _ in range(min(count, len(rest)))]

    def day(self, offset: int) -> str:
        """Return the day `offset` days after the start, `YYYY-MM-DD`."""
        return (self.start + timedelta(days=offset)).date().isoformat()

    def stamp(self, offset: int, hour: int, minute: int) -> str:
        """Return a time `offset` days after the start, `YYYY-MM-DD HH:MM`."""
        return f"{self.day(offset)} {hour:02d}:{minute:02d}"


def _unit_numbers(*key: str | int) -> Iterator[float]:
    """Yield numbers in [0, 1), drawn in blocks, since single draws of numpy are slow."""
    rng = generator_for(*key)
    while True:
        yield from rng.random(_BLOCK).tolist()


class PhoneApp(ABC):
    """An app: tables, initial content, screens and handlers.

    A screen is a method `screen_NAME(view)` that returns an `AppPage`, `Dialog`, `BottomSheet` or
    `Menu`; the first one is `home`. A handler is a method `do_NAME(acts, **params)`. Apps have no
    private state: all of it is in tables and in the screens' values.
    """

    name: ClassVar[str]
    icon: ClassVar[str]
    colour: ClassVar[Colour]
    tables: ClassVar[Mapping[str, Sequence[str]]] = {}
    """Tables by name, with their volatile columns, which verifiers do not compare."""

    ephemeral: ClassVar[Sequence[str]] = ()
    """Tables whose changes are not compared, such as a history of searches."""

    sends: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    """Tables whose rows reach other people, with the column values that identify such rows. A row
    that was sent and then deleted still counts as sent."""

    references: ClassVar[Mapping[str, Mapping[str, str]]] = {}
    """Columns, by table, that hold keys of rows which the user can create: the other table's full
    name by column. A new row is known by its content, since its key depends on earlier actions."""

    receives: ClassVar[Mapping[str, str]] = {}
    """Screens that open what other apps share, by kind: `text` or `file`. The screen's parameters
    are `title`, `text` and `file`."""

    def seed(self, draws: ContentDraws) -> None:  # noqa: B027 - apps without content are fine
        """Fill the tables of a new phone."""

    @abstractmethod
    def screen_home(self, view: AppView) -> ScreenWidget:
        """Return the first screen."""
