"""Other derived values in the cache on disk: bytes, keyed by what they were derived from."""

import time
from collections.abc import Callable, Sequence

from hexathlon.tasks.cache.disk import shared_cache
from hexathlon.tasks.cache.keys import code_of_family, key_of

__all__ = ["stored"]

WORTH_STORING_S = 0.005
"""Time in seconds from which a value is stored; small ones are read in 0.1 ms."""


def stored(kind: str, family: str, place: Sequence[str], make: Callable[[], bytes]) -> bytes:
    """Return a value from the cache, or derive it and store it if that took long.

    Args:
        kind: The kind of value.
        family: The family whose code and data determine it, with `place`.
        place: What it is derived from.
        make: Derives it.
    """
    cache = shared_cache()
    code = code_of_family(family) if cache is not None else None
    if cache is None or code is None:
        return make()
    key = key_of(kind, code, *place)
    value = cache.get(key)
    if value is None:
        started = time.perf_counter()
        value = make()
        if time.perf_counter() - started >= WORTH_STORING_S:
            cache.put(key, value)
    return value
