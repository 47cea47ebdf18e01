"""A throw-away PostgreSQL server for the tests that need one."""

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.places import open_to_all

_SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "postgres"
_NOT_INSTALLED = 4


@contextmanager
def postgres_server() -> Iterator[str]:
    """Start a server, yield its SQLAlchemy URL, stop and remove it; skip if unavailable."""
    pytest.importorskip("psycopg", reason="the extra [postgres] is not installed")
    # A socket's path must stay short, so the server lives under the plain temporary directory.
    with tempfile.TemporaryDirectory(prefix="hexpg", dir=open_to_all()) as folder:
        Path(folder).chmod(0o755)
        done = subprocess.run(
            [_SCRIPT, "start", folder], capture_output=True, text=True, timeout=600, check=False
        )
        if done.returncode == _NOT_INSTALLED:
            pytest.skip("PostgreSQL is not installed here (Debian: apt-get install postgresql)")
        assert done.returncode == 0, done.stderr
        try:
            yield done.stdout.strip()
        finally:
            subprocess.run([_SCRIPT, "stop", folder], check=True, capture_output=True, timeout=600)
            Path(folder).mkdir(exist_ok=True)  # for the context, which removes it again
