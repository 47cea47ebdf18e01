"""Settings of the C library's memory allocator."""

import ctypes

__all__ = ["keep_freed_memory"]

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
_LARGE = 1 << 30


def keep_freed_memory() -> bool:
    """Let this process keep freed blocks of up to 1 GiB instead of returning them to the system.

    Every activation of an update is a block of megabytes. Mapping each one afresh makes the system
    clear its pages one by one, 7 % of the time of an update of a million parameters. In exchange,
    the
    process stays as large as its largest step.

    Returns:
        Whether the C library accepted the setting; False where it is not glibc.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return False
    return bool(mallopt(_MMAP_THRESHOLD, _LARGE)) and bool(mallopt(_TRIM_THRESHOLD, _LARGE))
