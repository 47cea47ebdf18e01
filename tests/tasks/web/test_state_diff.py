"""Differences of a site's state: SQLite finds the same ones as a comparison of all rows does."""

from hypothesis import given
from hypothesis import strategies as st

from hexathlon.tasks.web.world.network import state_diff
from hexathlon.tasks.web.world.store import SiteStore

SCHEMA = """
CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT COLLATE NOCASE, size REAL);
CREATE TABLE people ("group" TEXT PRIMARY KEY, "order" INTEGER);
CREATE TABLE _hidden (id INTEGER PRIMARY KEY);
"""
VALUES = st.one_of(st.none(), st.integers(0, 3), st.sampled_from(["a", "A", "1", ""]), st.just(1.0))
EDITS = st.lists(
    st.one_of(
        st.tuples(
            st.just("INSERT OR REPLACE INTO notes VALUES (?, ?, ?)"),
            st.integers(1, 6),
            VALUES,
            VALUES,
        ),
        st.tuples(st.just("DELETE FROM notes WHERE id = ?"), st.integers(1, 6)),
        st.tuples(
            st.just("INSERT OR REPLACE INTO people VALUES (?, ?)"), st.sampled_from("pqrs"), VALUES
        ),
        st.tuples(st.just('DELETE FROM people WHERE "group" = ?'), st.sampled_from("pqrs")),
        st.tuples(st.just("INSERT OR REPLACE INTO _hidden VALUES (?)"), st.integers(1, 3)),
    ),
    max_size=8,
)


def by_all_rows(before: SiteStore, after: SiteStore):
    changes = {}
    for table in ("notes", "people"):
        old, new = (
            {next(iter(row.values())): row for row in store.rows(f"SELECT * FROM {table}")}
            for store in (before, after)
        )
        if old != new:
            changes[table] = {
                "added": [row for key, row in new.items() if key not in old],
                "removed": [row for key, row in old.items() if key not in new],
                "changed": [[old[k], row] for k, row in new.items() if k in old and old[k] != row],
            }
    return changes


@given(EDITS, EDITS)
def test_same_differences_as_by_all_rows(first, second):
    store = SiteStore()
    store.script(SCHEMA)
    for sql, *values in first:
        store.execute(sql, values)
    blob = store.save()
    for sql, *values in second:
        store.execute(sql, values)
    saved = store.save()
    differences = by_all_rows(SiteStore(blob), store)
    assert state_diff(blob, store) == differences
    assert store.save() is saved, "comparing writes nothing"
    # The same with a store that records which tables were written.
    store = SiteStore(blob)
    for sql, *values in second:
        store.execute(sql, values)
    assert state_diff(blob, store) == differences


def test_triggers_and_other_statements_are_followed():
    store = SiteStore()
    store.script(
        SCHEMA
        + """
        CREATE TRIGGER t AFTER INSERT ON notes BEGIN INSERT INTO people VALUES ('z', 1); END;"""
    )
    blob = store.save()
    store = SiteStore(blob)
    store.execute("INSERT INTO notes VALUES (1, 'a', 1)")
    assert set(state_diff(blob, store)) == {"notes", "people"}
    store = SiteStore(blob)
    store.execute('update PEOPLE set "order" = 2')
    assert state_diff(blob, store) == {}
    store = SiteStore(blob)
    store.execute("WITH x AS (SELECT 'p' AS g) INSERT INTO people SELECT g, 1 FROM x")
    assert set(state_diff(blob, store)) == {"people"}


def test_derived_values_are_dropped_when_content_is_written():
    store = SiteStore()
    store.script(SCHEMA + "CREATE TABLE _sessions (id INTEGER PRIMARY KEY);")
    store.memo["x"] = 1
    store.execute("INSERT INTO _sessions VALUES (1)")
    assert store.memo == {"x": 1}
    store.execute("DELETE FROM People")
    assert store.memo == {}
