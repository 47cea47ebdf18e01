"""Serves an application on loopback from a thread, for the length of a test."""

from contextlib import AbstractContextManager
from typing import Any

from support import serving

__all__ = ["served"]


def served(app: Any) -> AbstractContextManager[str]:
    """Yield the address of a server of the application; it ends with the block."""
    return serving.served(app, ws_ping_interval=None)
