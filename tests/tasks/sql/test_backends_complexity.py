"""Counting the copies of common table expressions."""

import pytest

from hexathlon.tasks.sql.world.backends.complexity import copies, tables_joined


@pytest.mark.parametrize(
    ("sql", "count"),
    [
        ("SELECT 1 AS as_is", 0),
        ("WITH a AS (SELECT 1) SELECT * FROM a", 1),
        ("WITH a AS (SELECT 1), b AS (SELECT * FROM a, a) SELECT * FROM b", 3),
        ("WITH a(x, y) AS NOT MATERIALIZED (SELECT 1, 2) SELECT x FROM a JOIN a", 2),
        ("WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n FROM r) SELECT n FROM r", 2),
        ("WITH b AS (SELECT * FROM a, a), a AS (SELECT 1) SELECT * FROM b", 3),
        ("WITH \"a\" AS (SELECT 'as (') SELECT * FROM [A], `a`", 2),
        ("SELECT x AS y, (SELECT 1) FROM t -- with a as (select 1)", 0),
        ("WITH a AS (SELECT 1 AS v) SELECT a.v, a.v, x FROM 'a' WHERE a.v IN (SELECT v FROM a)", 2),
        ("SELECT CAST(x AS INTEGER) FROM t", 0),
    ],
)
def test_counts(sql, count):
    assert copies(sql) == count


def test_doubling_is_seen_without_being_done():
    parts = ["c0 AS (SELECT 1)"]
    parts += [f"c{i} AS (SELECT * FROM c{i - 1} a, c{i - 1} b)" for i in range(1, 60)]
    assert copies(f"WITH {', '.join(parts)} SELECT * FROM c59") > 2**59


def test_malformed_text_is_counted_without_complaint():
    for sql in ("WITH a AS (", ") AS (", "AS (SELECT", "((((", "'", 'x" AS ('):
        assert copies(sql) >= 0


@pytest.mark.parametrize(
    ("sql", "count"),
    [
        ("SELECT 1, 2, 3", 0),
        ("SELECT a, b FROM t WHERE a IN (1, 2, 3) ORDER BY a, b", 1),
        ("SELECT a FROM t, u AS v, w JOIN x ON f(a, b)", 5),
        ("SELECT a FROM (SELECT a, b FROM t, u) s, v GROUP BY a, b", 4),
        ("SELECT a FROM (VALUES (1, 2), (3, 4), (5, 6)) v", 1),
        ("SELECT ', , FROM t' -- FROM t, u", 0),
    ],
)
def test_tables_joined(sql, count):
    assert tables_joined(sql) == count
