"""Database bytes: worlds, files, shipped and inline ones, on SQLite and elsewhere."""

import sqlite3
import threading
from contextlib import closing

import pytest

from hexathlon.tasks.errors import MissingData, TaskError
from hexathlon.tasks.sql.data import shipped_database
from hexathlon.tasks.sql.world.database import database_bytes, hidden_bytes
from hexathlon.tasks.sql.world.images import ByteCache, create_tables
from hexathlon.tasks.sql.world.world import world_for

WORLD = "clinic-medium-dev-1"


def _rows(image, statement):
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.deserialize(image)
        return connection.execute(statement).fetchall()


@pytest.mark.parametrize("identifier", [WORLD, "retail-hard-dev-9", "library-tiny-train-8"])
def test_the_image_contains_exactly_the_rows(identifier):
    world = world_for(identifier)
    params = {"world": identifier, "population": 4, "size": 300}
    image, rows = database_bytes(params), world.rows(4, 300)
    assert _rows(image, "PRAGMA integrity_check") == [("ok",)]
    assert _rows(image, "PRAGMA foreign_key_check") == []
    for table in world.schema.tables:
        found = _rows(image, f"SELECT * FROM {table.name}")
        assert sorted(map(repr, found)) == sorted(map(repr, rows[table.name]))


def test_sql_and_python_find_the_same_canonical_values_and_rows():
    for index in range(10):
        world = world_for(f"{('bank', 'farm', 'film')[index % 3]}-hard-test-{index}")
        rows, image = world.rows(1, 400), world.sqlite_bytes(1, 400)
        for table in world.schema.asked():
            names = [column.name for column in table.columns]
            cells = ", ".join(column.canonical_sql("x") for column in table.columns)
            condition = table.live_sql("x") or "TRUE"
            found = _rows(image, f"SELECT {cells} FROM {table.name} x WHERE {condition}")
            live = [dict(zip(names, row, strict=True)) for row in table.live_rows(rows[table.name])]
            own = [tuple(column.canonical(row) for column in table.columns) for row in live]
            assert sorted(map(repr, found)) == sorted(map(repr, own)), (world.id, table.name)


def test_hidden_databases_are_other_populations():
    params = {
        "world": WORLD, "population": 1, "size": 200,
        "hidden": [{"population": seed, "size": 200} for seed in (2, 3)],
    }  # fmt: skip
    images = [database_bytes(params), *hidden_bytes(params)]
    assert len(set(images)) == 3
    assert images[1] == world_for(WORLD).sqlite_bytes(2, 200)


def test_a_file_is_read_as_it_is(tmp_path, monkeypatch):
    file = tmp_path / "set" / "a.sqlite"
    file.parent.mkdir()
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE t AS SELECT 7 AS n")
        connection.commit()
    before = file.read_bytes()
    absolute = {"database": {"kind": "file", "path": str(file)}}
    assert _rows(database_bytes(absolute), "SELECT n FROM t") == [(7,)]
    monkeypatch.setenv("HEXATHLON_DATA", str(tmp_path))
    relative = {"database": {"kind": "file", "path": "set/a.sqlite"}}
    assert _rows(database_bytes(relative), "SELECT n FROM t") == [(7,)]
    assert file.read_bytes() == before
    assert sorted(path.name for path in file.parent.iterdir()) == ["a.sqlite"]


def test_a_changed_file_is_read_again(tmp_path):
    file = tmp_path / "a.sqlite"
    params = {"database": {"kind": "file", "path": str(file)}}
    for rows in (1, 3_000):
        with closing(sqlite3.connect(file)) as connection:
            connection.execute("CREATE TABLE IF NOT EXISTS t (n)")
            connection.executemany("INSERT INTO t VALUES (?)", [(n,) for n in range(rows)])
            connection.commit()
        assert _rows(database_bytes(params), "SELECT MAX(n) FROM t") == [(rows - 1,)]


def test_tables_may_be_given_in_the_parameters():
    table = {
        "name": 'odd "name"', "columns": [["First col", "TEXT"], ["n", "INTEGER"]],
        "rows": [["x", 1], [None, 2]],
    }  # fmt: skip
    image = database_bytes({"database": {"kind": "tables", "tables": [table]}})
    assert _rows(image, 'SELECT "First col", n FROM "odd ""name"""') == [("x", 1), (None, 2)]


def test_missing_things_are_named(monkeypatch):
    monkeypatch.delenv("HEXATHLON_DATA", raising=False)
    with pytest.raises(MissingData, match="HEXATHLON_DATA"):
        database_bytes({"database": {"kind": "file", "path": "spider/a.sqlite"}})
    with pytest.raises(MissingData, match="/nowhere/a.sqlite"):
        database_bytes({"database": {"kind": "file", "path": "/nowhere/a.sqlite"}})
    with pytest.raises(MissingData, match="no database 'x' is shipped"):
        shipped_database("x")
    with pytest.raises(TaskError, match="'cloud' is not known"):
        database_bytes({"database": {"kind": "cloud"}})
    with pytest.raises(TaskError, match="expected a kind"):
        database_bytes({})


def test_the_cache_keeps_to_its_limit_and_forgets_the_oldest():
    cache, made = ByteCache(100), []

    def make(key, size):
        def build():
            made.append(key)
            return bytes(size)

        return cache.get(key, build)

    for key, size in [("a", 40), ("b", 40), ("a", 40), ("c", 40), ("a", 40), ("b", 40)]:
        assert len(make(key, size)) == size
        assert cache.held <= 100
    assert made == ["a", "b", "c", "b"]
    assert len(make("huge", 101)) == 101
    assert cache.held == 80


def test_the_cache_is_safe_for_threads():
    cache, seen = ByteCache(1_000), []

    def work(start):
        for step in range(300):
            key = (start + step) % 17
            seen.append(cache.get(key, lambda key=key: bytes([key]) * 100) == bytes([key]) * 100)

    threads = [threading.Thread(target=work, args=(start,)) for start in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 2_400 and all(seen)
    assert cache.held == 1_000


def test_variants_of_chinook_are_sound_and_differ():
    images = [shipped_database("chinook", variant) for variant in range(4)]
    assert len(set(images)) == 4
    for image in images:
        assert _rows(image, "PRAGMA integrity_check") == [("ok",)]
        assert _rows(image, "PRAGMA foreign_key_check") == []


def test_duckdb_has_the_same_rows():
    duckdb = pytest.importorskip("duckdb", reason="the extra hexathlon[duckdb] is not installed")
    world = world_for("support-medium-test-11")
    rows = world.rows(2, 200)
    with duckdb.connect(":memory:") as connection:
        for table in world.schema.tables:
            statement = create_tables(table).replace(" INTEGER", " BIGINT")
            connection.execute(statement.replace(" REAL", " DOUBLE PRECISION"))
            marks = ", ".join("?" * len(table.columns))
            connection.executemany(f"INSERT INTO {table.name} VALUES ({marks})", rows[table.name])
        for table in world.schema.asked():
            cells = ", ".join(column.canonical_sql("x") for column in table.columns)
            condition = table.live_sql("x") or "TRUE"
            statement = f"SELECT {cells} FROM {table.name} x WHERE {condition}"
            found = connection.execute(statement).fetchall()
            own = _rows(world.sqlite_bytes(2, 200), statement)
            assert sorted(map(repr, found)) == sorted(map(repr, own)), table.name
