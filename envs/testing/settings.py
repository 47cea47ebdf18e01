"""Settings of the process that no episode may change."""

import decimal
import locale
import signal
import sys

import numpy as np

__all__ = ["process_settings"]


def process_settings() -> dict[str, str]:
    """Return the settings by name, as comparable strings."""
    context = decimal.getcontext().copy()
    context.clear_flags()  # flags left by calculations are not settings
    return {
        "the locale": locale.setlocale(locale.LC_ALL),
        "the decimal context": repr(context),
        "numpy's error handling": repr(np.geterr()),
        "numpy's print options": repr(np.get_printoptions()),
        "the recursion limit": str(sys.getrecursionlimit()),
        "a signal handler": repr([signal.getsignal(each) for each in sorted(signal.Signals)]),
    }
