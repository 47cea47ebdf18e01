"""Temporary folders: those of killed processes are deleted, those of living ones are not."""

import subprocess
import sys
from pathlib import Path

import pytest

from hexathlon.baselines.cluster.scratch import ScratchFolder

OWNER = """
import sys
from hexathlon.baselines.cluster.scratch import ScratchFolder
folder = ScratchFolder("replica-")
(folder.path / "model.safetensors").write_bytes(b"weights")
print(folder.path, flush=True)
sys.stdin.read()
"""


def owner(temporary: Path) -> "tuple[subprocess.Popen[str], Path]":
    """Start a process that has a folder; return both."""
    process = subprocess.Popen(
        [sys.executable, "-c", OWNER],
        env={"TMPDIR": str(temporary)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def test_only_folders_of_dead_processes_are_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    foreign = tmp_path / "replica-without-lock"
    foreign.mkdir()
    killed, left = owner(tmp_path)
    living, kept = owner(tmp_path)
    try:
        assert left.parent == kept.parent == tmp_path
        killed.kill()
        killed.communicate(timeout=60)
        assert left.exists()
        mine = ScratchFolder("replica-")
        assert not left.exists()
        assert (kept / "model.safetensors").exists() and foreign.exists()
        mine.close()
        mine.close()
        assert not mine.path.exists()
    finally:
        for process in (killed, living):
            process.kill()
            process.communicate(timeout=60)
