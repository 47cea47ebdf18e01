"""Ctrl-C on the command line: the first one stops, the second one ends the process at once.

Where a run is under way, `hexathlon.baselines.interrupts` replaces the handler installed here, so
that the run stops between two steps. The count of signals does not depend on handlers: Python
writes each signal to a descriptor that a thread reads, even while the main thread computes in C.
"""

import atexit
import os
import select
import signal
import sys
import threading
from types import FrameType

__all__ = ["INTERRUPTED", "install", "leave", "requested"]

INTERRUPTED = 130
"""Exit code of an interrupted command."""

_PATIENCE_S = 1.0
_NOTE = b"\nstopping after the current step; press Ctrl-C again to stop at once\n"
_SHOW_CURSOR = b"\033[?25h"


class _Raising:
    """Raises `KeyboardInterrupt`, and remembers it in case the exception is swallowed."""

    def __init__(self) -> None:
        self.requested = False
        self.leaving = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if self.leaving:
            return
        self.requested = True
        raise KeyboardInterrupt


_handler = _Raising()


def install() -> None:
    """Handle SIGINT for the rest of the process, unless it ignores the signal.

    A shell lets commands in the background ignore it.
    """
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return
    # Registered first, so called among the last at exit. Python then restores the default action
    # of handled signals, and a late Ctrl-C would replace the command's exit code.
    atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    threading.Thread(target=_watch, args=(reading,), name="interrupts", daemon=True).start()
    sys.unraisablehook = _report
    signal.signal(signal.SIGINT, _handler)


def requested() -> bool:
    """Whether an interruption was raised, even if it was swallowed or replaced."""
    return _handler.requested


def leave() -> None:
    """Let clean-up at exit finish: from now on only a second signal has an effect."""
    _handler.leaving = True


def _report(unraisable: "sys.UnraisableHookArgs") -> None:
    """Report an unraisable exception, unless it is an interruption, which is already recorded."""
    if not issubclass(unraisable.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(unraisable)


def _watch(signals: int) -> None:
    _await_interrupt(signals)
    ready, _, _ = select.select([signals], [], [], _PATIENCE_S)
    if not ready and not _handler.leaving:
        os.write(2, _NOTE)
    _await_interrupt(signals)
    if os.isatty(2):
        os.write(2, _SHOW_CURSOR)
    os._exit(INTERRUPTED)


def _await_interrupt(signals: int) -> None:
    while signal.SIGINT not in os.read(signals, 1):
        pass
