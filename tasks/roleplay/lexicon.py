"""The vocabulary of each setting, and its partition among splits.

A setting is a file of word pairs. Names, places, dishes, heirlooms and events are grids: a first
part combined with a second part. Each cell of a grid belongs to one split, so that splits differ in
their characters and everything about them, not only in seeds.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.resources import files
from typing import Any

from hexathlon.tasks.bilingual import BilingualText
from hexathlon.tasks.task import Split

__all__ = ["SETTINGS", "Grid", "Setting", "person_name", "setting", "unseen"]

SETTINGS = (
    "harbour", "abbey", "market", "starship", "frontier", "caravan", "clockwork", "radio",
)  # fmt: skip

_SHARES: dict[Split, tuple[int, ...]] = {
    "train": (0, 1, 2, 3, 4, 5),
    "dev": (6, 7),
    "test": (8, 9),
    "heldout": (10, 11),
}
_ALL = 12


def unseen(split: Split) -> bool:
    """Return whether a split uses wordings that training never shows, as well as other names."""
    return split in ("test", "heldout")


@dataclass(frozen=True)
class Grid:
    """Compounds of a first and a second part."""

    first: tuple[BilingualText, ...]
    second: tuple[BilingualText, ...]
    joiner: BilingualText

    def cells(self, split: Split) -> tuple[BilingualText, ...]:
        """Return the compounds that belong to a split, in order."""
        return tuple(
            BilingualText(a.en + self.joiner.en + b.en, _chinese(a.zh, self.joiner.zh, b.zh))
            for i, a in enumerate(self.first)
            for j, b in enumerate(self.second)
            if (i * 5 + j * 7) % _ALL in _SHARES[split]
        )


_TITLES = frozenset("勋爵 夫人 小姐 上校 先生 博士 少校 船长 女王 修士".split())
"""Titles, which follow the name in Chinese."""


def _chinese(first: str, joiner: str, second: str) -> str:
    return second + joiner + first if first in _TITLES else first + joiner + second


@dataclass(frozen=True, eq=False)
class Setting:
    """The vocabulary of one world; one object per world, compared by identity."""

    key: str
    data: Mapping[str, Any]

    def pair(self, name: str) -> BilingualText:
        """Return a single pair, such as `currency`."""
        return BilingualText.parse(self.data[name])

    def pairs(self, name: str) -> tuple[BilingualText, ...]:
        """Return a list of pairs, such as `trades`."""
        return tuple(map(BilingualText.parse, self.data[name]))

    @property
    def years(self) -> tuple[int, int]:
        """First and last possible year of a character's present."""
        first, last = self.data["years"]
        return int(first), int(last)

    @cached_property
    def culture(self) -> Mapping[str, Any]:
        """The grammar of personal names."""
        return dict(_names()[self.data["culture"]])

    def words(self, kind: str, split: Split) -> tuple[BilingualText, ...]:
        """Return a split's words of a kind: its cells of a grid, or a list common to all splits.

        Lists are short and do not name things particular to a character, so splits share them.
        """
        return _words(self, kind, split)


@lru_cache(maxsize=512)
def _words(own: Setting, kind: str, split: Split) -> tuple[BilingualText, ...]:
    if kind in ("given", "family", "pet"):
        return _grid(own.culture[kind]).cells(split)
    if isinstance(own.data[kind], dict):
        return _grid(own.data[kind]).cells(split)
    return own.pairs(kind)


def person_name(own: Setting, given: BilingualText, family: BilingualText) -> BilingualText:
    """Write a full name in the order customary in the culture."""
    if own.culture.get("order") == "family first":
        return BilingualText(f"{family.en} {given.en}", family.zh + given.zh)
    return BilingualText(f"{given.en} {family.en}", f"{given.zh}·{family.zh}")


@lru_cache(maxsize=32)
def setting(key: str) -> Setting:
    """Load a setting."""
    text = (files(__package__) / "settings" / f"{key}.toml").read_text("utf-8")
    return Setting(key, tomllib.loads(text))


@lru_cache(maxsize=1)
def _names() -> Mapping[str, Any]:
    return tomllib.loads((files(__package__) / "names.toml").read_text("utf-8"))


def _grid(data: Mapping[str, Any]) -> Grid:
    return Grid(
        tuple(map(BilingualText.parse, data["a"])),
        tuple(map(BilingualText.parse, data["b"])),
        BilingualText.parse(data.get("join", "|")),
    )
