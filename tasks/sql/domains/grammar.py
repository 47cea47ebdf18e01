"""The vocabulary for defining a domain: entities, their fields, and links between entities.

A `Domain` is the full vocabulary of one industry. A schema is grown from a part of it: entities of
low tiers first, optional fields at random. Table names and rows are determined elsewhere.
"""

from dataclasses import dataclass
from typing import Literal

from hexathlon.tasks.sql.schema import Role, Scale


@dataclass(frozen=True, slots=True)
class Field:
    """A property of an entity."""

    words: str
    role: Role
    values: tuple[str | int, ...] = ()
    low: float = 0.0
    high: float = 0.0
    unit: str | None = None
    null_rate: float = 0.0
    pool: str = ""
    after: str | None = None
    """Name of another date of the same entity, or noun of a link, that this date follows."""
    optional: bool = False
    unique: bool = False


@dataclass(frozen=True, slots=True)
class Link:
    """A foreign key to another entity, or to the entity itself."""

    target: str
    words: str
    null_rate: float = 0.0
    barren: float = 0.2
    skew: float = 1.0


@dataclass(frozen=True, slots=True)
class Entity:
    """A kind of thing, which becomes a table."""

    noun: str
    plural: str
    scale: Scale
    tier: Literal[0, 1, 2, 3]
    """0 is in every schema; 1, 2 and 3 are added at the levels easy, medium and hard."""
    parts: tuple[Field | Link, ...]
    pairs: bool = False
    """Whether it is a link table: its first two links together are its primary key."""
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Domain:
    """The vocabulary of one industry, parents before children."""

    name: str
    entities: tuple[Entity, ...]


def listed(*values: str) -> Field:
    """Define the name of a lookup table's rows, identical in every population."""
    return Field("name", "name", values)


def name(pool: str, words: str = "name") -> Field:
    """Define a unique name from a pool."""
    return Field(words, "name", pool=pool, unique=True)


def category(words: str, *values: str, null: float = 0.0, optional: bool = False) -> Field:
    """Define one of a few values."""
    return Field(words, "category", values, null_rate=null, optional=optional)


def status(words: str, *values: str) -> Field:
    """Define the state of an event, one of a few values."""
    return Field(words, "status", values)


def flag(words: str, optional: bool = True) -> Field:
    """Define a field of 0 or 1."""
    return Field(words, "flag", (0, 1), optional=optional)


def money(
    words: str, low: float, high: float, null: float = 0.0, unique: bool = False,
    optional: bool = False,
) -> Field:  # fmt: skip
    """Define an amount in dollars, a multiple of 0.25."""
    return Field(words, "amount", (), low, high, "USD", null, unique=unique, optional=optional)


def measure(
    words: str, low: float, high: float, unit: str, null: float = 0.0, optional: bool = False
) -> Field:
    """Define a measured amount in `unit`, a multiple of 0.25."""
    return Field(words, "amount", (), low, high, unit, null, optional=optional)


def count(words: str, low: float, high: float, null: float = 0.0, optional: bool = False) -> Field:
    """Define an integer."""
    return Field(words, "quantity", (), low, high, None, null, optional=optional)


def rating(words: str = "rating", null: float = 0.0) -> Field:
    """Define a rating from 1 to 5."""
    return Field(words, "rating", (1, 2, 3, 4, 5), 1, 5, None, null)


def day(words: str, span: int = 900, after: str | None = None, null: float = 0.0) -> Field:
    """Define a date within `span` days before the schema's current date."""
    return Field(words, "date", (), 0, span, None, null, after=after)


def year(words: str, low: int, high: int, optional: bool = False) -> Field:
    """Define a year between two others, inclusive."""
    return Field(words, "year", (), low, high, optional=optional)


def code(words: str, prefix: str, optional: bool = False) -> Field:
    """Define a unique identifier that people use, such as INV-00017."""
    return Field(words, "code", pool=prefix, unique=True, optional=optional)


def note(words: str, null: float = 0.4) -> Field:
    """Define a short remark."""
    return Field(words, "text", null_rate=null, pool="remark", optional=True)


def link(
    target: str, words: str = "", null: float = 0.0, barren: float = 0.2, skew: float = 1.0
) -> Link:
    """Define a reference to one row of another entity."""
    return Link(target, words or target, null, barren, skew)
