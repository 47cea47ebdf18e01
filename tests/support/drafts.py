"""Drafts of the process: a test that visits a task again does not draw it again."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from types import ModuleType

import pytest

MOST = 64
"""Number of drafts kept; the sources keep four, because users seldom visit a task twice."""


@contextmanager
def kept_drafts(module: ModuleType) -> Iterator[None]:
    """Keep more drafts of the source in `module` within the context."""
    patch = pytest.MonkeyPatch()
    patch.setattr(module, "_kept_draft", lru_cache(maxsize=MOST)(module._kept_draft.__wrapped__))
    try:
        yield
    finally:
        patch.undo()
