"""Results as text: values that must not be mistaken for something else."""

import pytest

from hexathlon.envs.sql.text import found_text, result_text, work_text
from hexathlon.tasks.sql.world.backends.base import ColumnInfo, QueryResult, TableInfo


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        (None, "NULL"), ("NULL", "'NULL'"), ("", "''"), (" a", "' a'"), ("a ", "'a '"), ("a", "a"),
        ("a b", "a b"), ("a  b", "a  b"), ("a|b", "'a|b'"), ("a\nb", "'a\\nb'"), ("a\tb",
        "'a\\tb'"),
        ("\x00", "'\\x00'"), ("\u202e", "'\\u202e'"), ("é", "é"), (1, "1"), (1.0, "1.0"),
        (0.1 + 0.2, "0.30000000000000004"), (float("inf"), "inf"), (b"\x00\xff", "x'00ff'"), (b"",
        "x''"),
        ("x" * 250, "x" * 200 + "…[+50 characters]"), (b"\x01" * 60,
        "x'" + "01" * 50 + "'…[+10 bytes]"),
        ("ANNULLED", "ANNULLED"), ("b'x'", "b'x'"),
    ],
)  # fmt: skip
def test_cells(cell, shown):
    text = result_text(QueryResult(("c",), [(cell,)]))
    assert text == f"c\n{shown}\n(1 row)"
    beside = result_text(QueryResult(("c", "d"), [(cell, "z")]))
    assert beside == f"c | d\n{shown} | z\n(1 row)"


def test_a_result_without_columns_says_what_changed():
    assert result_text(QueryResult((), [])) == "Done."
    assert result_text(QueryResult((), [], changed=1)) == "Done. 1 row changed."
    assert result_text(QueryResult(("a",), [(1,)], changed=2)) == "a\n1\n(1 row)\n2 rows changed."


def test_work_is_shown_beside_its_limit():
    assert work_text(12_345, 1_000_000) == "\n(12,345 steps; the limit is 1,000,000)"


def test_an_empty_result_still_shows_its_columns():
    assert result_text(QueryResult(("a", "b"), [])) == "a | b\n(0 rows)"


def test_searching_shows_at_most_forty_tables():
    column = ColumnInfo("code", "TEXT", True, False, None)
    catalogue = {f"t{i}": TableInfo(f"t{i}", (column,)) for i in range(60)}
    lines = found_text(catalogue, "code").splitlines()
    assert len(lines) == 41 and lines[-1] == "(and 20 more tables)"
