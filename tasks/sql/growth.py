"""Growth of tables from a domain's grammar: entities, fields and their distributions.

The result is clean: `soiling` adds dirt afterwards, and `sprawl` adds copies.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from hexathlon.tasks.sql.domains.grammar import Domain, Entity, Field, Link
from hexathlon.tasks.sql.naming import Namer
from hexathlon.tasks.sql.schema import Column, ColumnType, Law, Role, Table
from hexathlon.tasks.task import LEVELS, Level

OPTIONAL_FIELD = {"tiny": 0.45, "easy": 0.65, "medium": 0.8, "hard": 0.9}
OUTER_ENTITY = 0.8
"""Probability of an entity of the level's own tier; entities of lower tiers are always included."""

_TYPES: dict[Role, ColumnType] = {
    "key": "INTEGER", "foreign_key": "INTEGER", "flag": "INTEGER", "quantity": "INTEGER",
    "rating": "INTEGER", "year": "INTEGER", "soft_delete": "INTEGER", "amount": "REAL",
}  # fmt: skip
_DRIVERS = ("category", "status", "rating", "flag", "foreign_key")


@dataclass(frozen=True)
class Growth:
    """The parameters of one growth: style, probabilities and where names start."""

    namer: Namer
    level: Level
    rng: np.random.Generator
    prefix: str = ""
    """Prefix of table names, for tables of another department."""
    core: bool = True


def grow(domain: Domain, growth: Growth) -> list[Table]:
    """Return tables for some of the domain's entities, parents before children."""
    entities = _chosen(domain, growth)
    grown: dict[str, Table] = {}
    for entity in entities:
        grown[entity.noun] = _table(entity, growth, grown)
    return list(grown.values())


def _chosen(domain: Domain, growth: Growth) -> list[Entity]:
    tier = LEVELS.index(growth.level)
    kept: list[Entity] = []
    nouns: set[str] = set()
    for entity in domain.entities:
        if entity.tier > tier or (entity.tier == tier > 0 and growth.rng.random() > OUTER_ENTITY):
            continue
        if entity.pairs and any(part.target not in nouns for part in _links(entity)[:2]):
            continue
        kept.append(entity)
        nouns.add(entity.noun)
    return kept


def _links(entity: Entity) -> list[Link]:
    return [part for part in entity.parts if isinstance(part, Link)]


def _table(entity: Entity, growth: Growth, grown: Mapping[str, Table]) -> Table:
    taken: set[str] = set()
    noun = entity.noun
    columns: list[Column] = []
    if not entity.pairs:
        key = growth.namer.key(noun, taken)
        start = float((1, 1, 101, 1001)[int(growth.rng.integers(4))])
        columns.append(
            Column(key, "INTEGER", "key", f"{noun} id", unique=True, law=Law("key", low=start))
        )
    own_name = growth.namer.table(noun, entity.plural, growth.prefix)
    words: dict[str, str] = {}
    for part in entity.parts:
        if isinstance(part, Link):
            column = _reference(part, entity, own_name, columns, growth, grown, taken)
        elif part.optional and growth.rng.random() > OPTIONAL_FIELD[growth.level]:
            column = None
        else:
            column = _property(part, noun, columns, words, growth, grown, taken)
        if column is not None:
            words[part.words] = column.name
            columns.append(column)
    keys = tuple(column.name for column in columns[: 2 if entity.pairs else 1])
    return Table(
        own_name, noun, entity.plural, tuple(columns), primary_key=keys, core=growth.core,
        scale=entity.scale if growth.core else "side", weight=entity.weight,
    )  # fmt: skip


def _reference(
    part: Link, entity: Entity, own_name: str, columns: Sequence[Column], growth: Growth,
    grown: Mapping[str, Table], taken: set[str],
) -> Column | None:  # fmt: skip
    itself = part.target == entity.noun
    if not itself and part.target not in grown:
        return None
    target = own_name if itself else grown[part.target].name
    key = columns[0].name if itself else grown[part.target].key
    law = Law(
        "self_reference" if itself else "reference",
        skew=part.skew, null_rate=part.null_rate, barren=part.barren,
    )  # fmt: skip
    return Column(
        growth.namer.column(f"{part.words} id", entity.noun, taken), "INTEGER", "foreign_key",
        part.words, part.null_rate > 0, (target, key), law=law,
    )  # fmt: skip


def _property(
    part: Field, noun: str, columns: Sequence[Column], words: Mapping[str, str], growth: Growth,
    grown: Mapping[str, Table], taken: set[str],
) -> Column:  # fmt: skip
    rng = growth.rng
    values = part.values
    if part.role in ("category", "status", "name") and len(values) > 4:
        kept = sorted(rng.permutation(len(values))[: max(4, len(values) - int(rng.integers(3)))])
        values = tuple(values[int(index)] for index in kept)
    law = Law(
        _law_kind(part), part.low, part.high, float((0.5, 0.5, 1.0)[int(rng.integers(3))]),
        part.null_rate, pool=part.pool,
    )  # fmt: skip
    if part.role in ("amount", "quantity", "rating") and not part.unique:
        law = replace(law, driver=_driver(columns, rng))
    if part.role == "flag":
        law = replace(law, low=0.15 + 0.05 * int(rng.integers(6)))
    if part.after:
        law = replace(law, after=_after(part.after, columns, words, grown))
    return Column(
        growth.namer.column(part.words, noun, taken), _TYPES.get(part.role, "TEXT"), part.role,
        part.words, part.null_rate > 0, None, values, part.unit,
        part.unique or part.role == "name", None, law,
    )  # fmt: skip


def _law_kind(part: Field) -> str:
    if part.role == "name":
        return "listed_name" if part.values else "name"
    if part.role == "amount" and part.unique:
        return "unique_amount"
    return part.role


def _driver(columns: Sequence[Column], rng: np.random.Generator) -> str | None:
    candidates = [column.name for column in columns if column.role in _DRIVERS]
    if not candidates or rng.random() < 0.25:
        return None
    return candidates[int(rng.integers(len(candidates)))]


def _after(
    words: str, columns: Sequence[Column], known: Mapping[str, str], grown: Mapping[str, Table]
) -> tuple[str, str] | None:
    if words not in known:
        return None
    column = next(column for column in columns if column.name == known[words])
    if column.role == "date":
        return column.name, ""
    parent = next((table for table in grown.values() if column.references
                   and table.name == column.references[0]), None)  # fmt: skip
    dates = parent.with_role("date") if parent else ()
    return (column.name, dates[0].name) if dates else None
