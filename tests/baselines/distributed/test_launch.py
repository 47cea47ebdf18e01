"""Launching rank processes: results, failures named by their cause, and nothing left behind."""

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")

from hexathlon.baselines.distributed.launch import RankFailed, other_ranks
from hexathlon.baselines.learner.ranks import ALONE

TESTS = Path(__file__).resolve().parents[2]
ENTRIES = "support.rank_entries"


@pytest.fixture(autouse=True)
def entries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let other processes import the tests' own entry points."""
    monkeypatch.setenv("PYTHONPATH", str(TESTS))


def test_ranks_exchange_values(tmp_path: Path) -> None:
    with other_ranks(f"{ENTRIES}:agree", tmp_path, 3) as ranks:
        assert ranks.joined([ranks.number]) == [0, 1, 2]
    assert not torch.distributed.is_initialized()


def test_one_rank_starts_no_process(tmp_path: Path) -> None:
    with other_ranks("no.such.module:entry", tmp_path, 1) as ranks:
        assert ranks is ALONE
    assert list(tmp_path.iterdir()) == []


def test_failing_rank_is_named_with_its_last_line(tmp_path: Path) -> None:
    last = "rank 1 ended with code 1 after .*ValueError: rank 1 has no data in"
    with pytest.raises(RankFailed, match=last), other_ranks(f"{ENTRIES}:fail", tmp_path, 2):
        torch.distributed.barrier()
    assert not torch.distributed.is_initialized()


def test_missing_entry_point_is_named(tmp_path: Path) -> None:
    with (
        pytest.raises(RankFailed, match="rank 1 ended with code 1 after .*No module named 'no'"),
        other_ranks("no.such.module:entry", tmp_path, 2),
    ):
        pass


def test_error_of_the_first_rank_is_raised_unchanged(tmp_path: Path) -> None:
    with (
        pytest.raises(RuntimeError, match="^no memory$"),
        other_ranks(f"{ENTRIES}:work", tmp_path, 2),
    ):
        raise RuntimeError("no memory")


def test_ranks_end_when_the_first_is_killed(tmp_path: Path) -> None:
    psutil = pytest.importorskip("psutil", reason="pip install psutil")
    code = (
        "import sys, time; from pathlib import Path;"
        "from hexathlon.baselines.distributed.launch import other_ranks\n"
        f"with other_ranks('{ENTRIES}:work', Path(sys.argv[1]), 2): time.sleep(600)"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)])
    try:
        until = time.monotonic() + 120
        while not (tmp_path / "busy-1").exists() and time.monotonic() < until:
            time.sleep(0.05)
        others: list[Any] = psutil.Process(process.pid).children()
        assert others
    finally:
        process.kill()
        process.wait()
    _, alive = psutil.wait_procs(others, timeout=300)
    assert not alive
