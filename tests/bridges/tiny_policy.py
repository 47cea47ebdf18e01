"""A tiny checkpoint behind `hexathlon serve policy`, in processes of the environment with torch."""

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

_ROOT = Path(__file__).resolve().parents[2]
_PYTHON = _ROOT / ".venv" / "bin" / "python"
_SERVE = "from hexathlon_cli import main; main()"


class ServedPolicy(NamedTuple):
    """A policy that solves one task about half the time, with one turn."""

    url: str
    """Ends in /v1."""

    task: str


@contextlib.contextmanager
def tiny_policy(folder: Path) -> Iterator[ServedPolicy]:
    """Yield the address of a policy; its server ends with the block."""
    if not _PYTHON.exists():
        pytest.skip("scripts/install --train")
    env = {**os.environ, "PYTHONPATH": str(_ROOT / "tests"), "OMP_NUM_THREADS": "1"}
    path = folder / "half"
    made = [str(_PYTHON), "-m", "bridges.learned", str(path)]
    task = subprocess.run(made, env=env, check=True, capture_output=True, text=True).stdout.strip()
    command = [str(_PYTHON), "-c", _SERVE, "serve", "policy", str(path), "--port", "0"]
    with subprocess.Popen(command, env=env, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr
            said = next(line for line in server.stderr if "is served on" in line)
            yield ServedPolicy(said.split("served on ")[1].split(";")[0].strip(), task)
        finally:
            server.terminate()
