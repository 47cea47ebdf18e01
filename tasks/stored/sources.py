"""The sources whose tasks are cached, and the code that determines them."""

from functools import cache

from hexathlon.tasks.cache.keys import code_of_family, family_of, key_of
from hexathlon.tasks.source import TaskSource

__all__ = ["CACHED_SOURCES", "code_of_source"]

CACHED_SOURCES = frozenset({"sql", "shopping", "terminal", "web", "gui", "gui-mined", "gui-pixels"})
"""Sources whose tasks depend only on the code and data in this package. Role-play and desktop are
left out: they build tasks in 0.2 to 3 ms."""


@cache
def code_of_source(source: TaskSource) -> str | None:
    """Return a digest of what determines a source's tasks; None if they are not cached."""
    family = family_of(type(source).__module__)
    if source.name not in CACHED_SOURCES or family is None:
        return None
    code = code_of_family(family)
    if code is None:
        return None
    libraries = [f"{name} {digest}" for name, digest in sorted(source.dependencies().items())]
    own = (source.name, source.version, type(source).__qualname__)
    return key_of("source", code, *own, *libraries)
