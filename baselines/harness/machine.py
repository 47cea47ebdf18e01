"""Provenance of a run: code revision, package versions and hardware; not part of any hash."""

import importlib.metadata
import os
import platform
import subprocess
from pathlib import Path
from typing import Any

__all__ = ["code_state", "hardware"]

_PACKAGES = ("hexathlon", "gymnasium", "numpy", "pydantic", "httpx", "sqlalchemy")
_ROOT = Path(__file__).resolve().parents[2]


def code_state() -> dict[str, Any]:
    """Return git revision, whether tracked files differ from it, and package versions."""
    revision = _git("rev-parse", "HEAD")
    return {
        "git_revision": revision,
        "dirty": None if revision is None else bool(_git("status", "--porcelain", "-uno")),
        "packages": {name: _version(name) for name in _PACKAGES},
        "python": platform.python_version(),
    }


def hardware() -> dict[str, Any]:
    """Return processor architecture, operating system, cores and memory."""
    pages, size = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    return {
        "machine": platform.machine(),
        "system": platform.system(),
        "cores": os.cpu_count(),
        "memory_gb": round(pages * size / 2**30, 1),
    }


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _git(*arguments: str) -> str | None:
    if not (_ROOT / ".git").exists():
        return None
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=_ROOT, capture_output=True, text=True, timeout=10, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
