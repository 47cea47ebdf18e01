"""Data-parallel updates over real processes: N ranks give the result of a single one."""

from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")
pytest.importorskip("transformers", reason="pip install 'hexathlon[train]'")

from hexathlon.baselines.distributed.launch import other_ranks
from support.learning import difference, examples, rank_config, take_part, updated

TESTS = Path(__file__).resolve().parents[2]


def test_two_ranks_equal_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(TESTS))  # for `support` in the other process
    with other_ranks("support.learning:take_part", tmp_path, 2) as ranks:
        assert (ranks.number, ranks.count) == (0, 2)
        together = take_part(tmp_path, ranks)
    alone = updated(rank_config(), examples(9), steps=2)
    assert difference(alone, together) <= 1e-6
