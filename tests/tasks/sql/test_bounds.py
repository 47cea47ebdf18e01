"""Rows at the bounds of a query exist, and every law of the columns still holds."""

import itertools
from typing import Any

import pytest

from hexathlon.tasks.sql.bench import bench_for
from hexathlon.tasks.sql.bounds import bound_values, off_by_one
from hexathlon.tasks.sql.domains import DOMAINS
from hexathlon.tasks.sql.populate_bounds import BOUNDED_LAWS, Bounds, ColumnBounds
from hexathlon.tasks.sql.programs.expressions import Compare, Literal, Ref, both
from hexathlon.tasks.sql.programs.relations import Aggregate, Filter, GroupBy, Scan
from hexathlon.tasks.sql.programs.text import sql_text
from hexathlon.tasks.sql.schema import Column, Table
from hexathlon.tasks.sql.world.database import hidden_bytes
from hexathlon.tasks.sql.world.world import World, world_for, world_id
from hexathlon.tasks.task import LEVELS

WORLDS = [world_id("test", index, level) for level in LEVELS for index in range(len(DOMAINS))]


def canonical(table: Table, rows: list[Any], column: Column) -> list[Any]:
    names = [each.name for each in table.columns]
    return [column.canonical(dict(zip(names, row, strict=True))) for row in rows]


def middles(world: World) -> Bounds:
    """Return two values from the middle of every column that can have bounds."""
    rows = world.rows(1, 300)
    return tuple(
        ColumnBounds(table.name, column.name, tuple(known[len(known) // 2 :][:2]))
        for table in world.schema.asked()
        for column in table.columns
        if column.law.kind in BOUNDED_LAWS and column.role != "soft_delete"
        for known in [sorted({v for v in canonical(table, rows[table.name], column) if v})]
        if known
    )


@pytest.mark.parametrize("identifier", WORLDS)
def test_values_at_bounds_exist_and_satisfy_every_law(identifier: str):
    world = world_for(identifier)
    bounds = middles(world)
    rows = world.rows(2, 300, bounds)
    plain = world.rows(2, 300)
    present = 0
    for table, name, values in bounds:
        found = canonical(world.schema.table(table), rows[table], world.schema.column(table, name))
        present += bool(set(values) & set(found))
    assert present >= 0.8 * len(bounds)
    for table in world.schema.asked():
        assert len(rows[table.name]) == len(plain[table.name])
        for column in table.columns:
            values = canonical(table, rows[table.name], column)
            known = [value for value in values if value is not None]
            where = (table.name, column.name)
            if not column.nullable:
                assert len(known) == len(values), where
            if column.unique:
                assert len(set(known)) == len(known), where
            if column.role == "amount":
                assert all(float(value * 4).is_integer() for value in known), where
            if column.role == "date":
                assert max(known, default="") <= world.schema.today, where
            if column.role == "date" and column.law.after and not column.law.after[1]:
                first = table.column(column.law.after[0])
                starts = canonical(table, rows[table.name], first)
                pairs = zip(starts, values, strict=True)
                assert all(a <= b for a, b in pairs if a is not None and b is not None), where


def test_without_bounds_a_population_is_unchanged():
    world = world_for("bank-hard-dev-1")
    assert world.rows(3, 200) == world.rows(3, 200, ())
    assert world.rows(3, 200) != world.rows(3, 200, middles(world))


def test_an_address_with_bounds_gives_the_same_database():
    bench = bench_for("retail-easy-dev-3")
    population = bench.at_bounds(middles(bench.world), 0)
    params = {"world": bench.world.id, "hidden": [population.address()]}
    (image,) = hidden_bytes(params)
    same = bench.world.sqlite_bytes(population.seed, population.size, population.bounds)
    assert image == same


def test_bounds_of_totals_are_those_of_their_column():
    """A HAVING bound is reached by a group of one row, so the summed column gets its values."""
    world = world_for("retail-easy-dev-3")
    table, column = next(
        (table, column)
        for table, role in itertools.product(world.schema.asked(), ("amount",))
        for column in table.with_role(role)
    )
    scan = Scan(table.name, "t", tuple(each.name for each in table.columns))
    total = Aggregate("total", "sum", Ref(f"t.{column.name}"))
    kept = Filter(
        GroupBy(scan, (f"t.{table.key}",), (total,)),
        both(Compare(">", Ref("total"), Literal(12.5))),
    )
    (found,) = bound_values(kept, world.schema, world.rows(1, 100))
    assert found == ColumnBounds(table.name, column.name, (11.5, 12.25, 12.5, 12.75, 13.5))
    texts = [sql_text(near) for near, _ in off_by_one(kept, world.schema)]
    assert len(texts) == 5 and any(">= 12.5" in text for text in texts)
