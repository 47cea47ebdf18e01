"""Equality of results: cells, multisets, order, columns, tolerance."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hexathlon.evaluators.sql.compare import ComparisonPolicy, difference, overlap, same_cell

BAG = ComparisonPolicy()
BY_FIRST = ComparisonPolicy(ordered=True, order_by=(0,))
cells = st.one_of(
    st.none(), st.integers(-3, 3), st.sampled_from([0.5, 1.0, -2.0]),
    st.sampled_from(["1", "", "a"]), st.sampled_from([b"1", b""]),
)  # fmt: skip
tables = st.lists(st.tuples(cells, cells), max_size=6)


@pytest.mark.parametrize(
    ("gold", "got", "same"),
    [
        (1, 1.0, True), (1, True, True), (0, False, True), (1, 2, False), (1, "1", False),
        (1.0, "1.0", False), (None, None, True), (None, 0, False), (None, "", False),
        ("a", "a ", False), ("a", "A", False), (b"a", "a", False), (b"a", b"a", True),
        (0.1 + 0.2, 0.3, True), (100.0, 100.0000001, True), (100.0, 100.000001, False),
        (2**53, float(2**53), True), (2**53 + 1, 2**53, False), (float("inf"), float("inf"), True),
        (float("nan"), float("nan"), True), (float("nan"), 0.0, False), (10**400, 1e300, False),
        (0.0, -0.0, True), (0, 1e-12, False),
    ],
)  # fmt: skip
def test_cells(gold, got, same):
    assert same_cell(gold, got, 1e-9) is same
    assert same_cell(got, gold, 1e-9) is same


@pytest.mark.parametrize(
    ("gold", "got", "policy", "word"),
    [
        ([(1,), (2,)], [(2,), (1,)], BAG, ""),
        ([(1,), (2,)], [(2,), (1,)], ComparisonPolicy(ordered=True), "order"),
        ([(1,), (2,)], [(1,), (3,)], ComparisonPolicy(ordered=True), "values"),
        ([(1,), (1,)], [(1,)], BAG, "rows"),
        ([(1,), (1,), (2,)], [(1,), (2,), (2,)], BAG, "values"),
        ([(1, 2)], [(2, 1)], BAG, "values"),
        ([(1, 2)], [(2, 1)], ComparisonPolicy(any_column_order=True), ""),
        ([(1, 2), (3, 4)], [(2, 1), (3, 4)], ComparisonPolicy(any_column_order=True), "values"),
        ([(0.3, "a")], [(0.1 + 0.2, "a")], BAG, ""),
        ([(0.3, "a")], [(0.1 + 0.2, "a")], ComparisonPolicy(tolerance=0.0), "values"),
        ([(0.3, "a"), (0.3, "b")], [(0.1 + 0.2, "b"), (0.3, "a")], BAG, ""),
        ([(5, "a"), (5, "b")], [(5, "b"), (5, "a")], BY_FIRST, ""),
        ([(5, "a"), (4, "b")], [(4, "b"), (5, "a")], BY_FIRST, "order"),
        ([], [], ComparisonPolicy(any_column_order=True), ""),
        ([(None,)], [(0,)], BAG, "values"),
        ([(1.0,)] * 900, [(1,)] * 900, BAG, ""),
        ([(i + 0.5,) for i in range(900)], [(i + 0.5 + 1e-12,) for i in range(900)], BAG, ""),
    ],
)  # fmt: skip
def test_results(gold, got, policy, word):
    assert difference(gold, got, policy) == word


def test_tolerance_pairs_rows_exactly_not_greedily():
    # 1.0 fits both, 1.0000000015 only the second: a greedy pairing of the first would fail.
    gold = [(1.0000000008,), (1.0,)]
    actual = [(1.0000000005,), (1.0000000015,)]
    assert difference(gold, actual, BAG) == ""


@settings(max_examples=200)
@given(tables, st.randoms(use_true_random=False))
def test_a_shuffled_result_is_the_same_bag(rows, random):
    shuffled = list(rows)
    random.shuffle(shuffled)
    assert difference(rows, shuffled, BAG) == ""
    assert overlap(rows, shuffled) == 1.0


@settings(max_examples=200)
@given(tables, tables)
def test_difference_is_symmetric_and_agrees_with_overlap(left, right):
    same = not difference(left, right, ComparisonPolicy(tolerance=0.0))
    assert same == (not difference(right, left, ComparisonPolicy(tolerance=0.0)))
    assert same == (overlap(left, right) == 1.0)
