"""Data-parallel updates over real processes: N ranks give the result of one."""

import socket
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")
pytest.importorskip("transformers", reason="pip install 'hexathlon[train]'")

from support.learning import difference, examples, rank_config, updated

TESTS = Path(__file__).resolve().parents[2]
DEADLINE = 600.0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_two_ranks_equal_one(tmp_path: Path) -> None:
    port, out = str(free_port()), tmp_path / "state.pt"
    ranks = [
        subprocess.Popen(
            [sys.executable, "-m", "support.learning", str(rank), "2", port, str(out)],
            cwd=TESTS,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    try:
        for process in ranks:
            _, errors = process.communicate(timeout=DEADLINE)
            assert process.returncode == 0, errors
    finally:
        for process in ranks:
            process.kill()
            process.wait()
    alone = updated(rank_config(), examples(9), steps=2)
    assert difference(alone, torch.load(out, weights_only=True)) <= 1e-6
