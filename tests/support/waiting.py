"""Waits for a condition, with a deadline."""

import time
from typing import Any


def wait_until(test: Any, seconds: float = 120.0) -> None:
    """Poll until a test holds."""
    deadline = time.monotonic() + seconds
    while not test():
        assert time.monotonic() < deadline, "the condition was not met in time"
        time.sleep(0.01)
