"""Collective operations with a single process."""

import pytest

pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")

from hexathlon.baselines.learner.ranks import ALONE


def test_collectives_with_one_rank_are_identity() -> None:
    assert (ALONE.number, ALONE.count, ALONE.first) == (0, 1, True)
    assert ALONE.share([1, 2, 3]) == [1, 2, 3] == ALONE.joined([1, 2, 3])
    assert ALONE.from_first(lambda: "made") == "made"
    assert [list(part) for part in ALONE.cuts(range(5), 2)] == [[0, 1], [2, 3, 4]]
    assert [list(part) for part in ALONE.cuts(range(1), 3)] == [[0]]
