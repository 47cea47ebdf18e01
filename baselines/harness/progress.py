"""Progress of long operations: on a terminal, a bar within two seconds; elsewhere, log lines."""

import sys
import threading
import time
from collections.abc import Callable
from typing import Any, TextIO

from hexathlon.baselines import interrupts
from hexathlon.evaluators.closing import Closing

__all__ = ["Progress", "log_interval", "Waiting"]

_QUIET = 1.2
"""Seconds without a bar, or without the name of a wait. Importing the bar takes part of the rest of
two seconds.
"""

_BETWEEN_LINES = 2.0
_LONGEST_INTERVAL = 15.0


def log_interval(elapsed: float) -> float:
    """Seconds between the progress lines of a log: 2 at first, more in long runs, at most 15."""
    return min(max(_BETWEEN_LINES, elapsed / 60), _LONGEST_INTERVAL)


class Waiting(Closing):
    """Writes the label of a wait, once, if it takes longer than `seconds`.

    Args:
        label: Name of the operation.
        seconds: Silent time before the message.
    """

    def __init__(self, label: str, seconds: float = _QUIET) -> None:
        self._timer = threading.Timer(seconds, self._say, (label,))
        self._timer.daemon = True
        self._timer.start()

    def join(self) -> None:
        """Wait until the message was written."""
        self._timer.join()

    def close(self) -> None:
        """End the wait."""
        self._timer.cancel()
        self._timer.join()

    def _say(self, label: str) -> None:
        sys.stderr.write(f"{label} …\n")
        sys.stderr.flush()


class Progress(Closing):
    """Displays the progress of an operation.

    Args:
        label: Name of the operation.
        total: Number of steps; None if unknown. May be set later, as the attribute.
        stream: Output, by default standard error; a bar is drawn only on a terminal.
        clock: Monotonic clock, in seconds.
    """

    def __init__(
        self,
        label: str,
        total: int | None,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.label, self.total = label, total
        self.done = 0
        self._stream = stream or sys.stderr
        self._clock = clock
        self._started = clock()
        self._logged = self._started
        self._bar: Any = None
        self._task: Any = None
        self._closed = False
        self._lock = threading.RLock()
        self._timer: threading.Timer | None = None
        if self._stream.isatty():  # shown in time even if the first step is long
            self._timer = threading.Timer(_QUIET, self._draw, ("",))
            self._timer.daemon = True
            self._timer.start()

    def advance(self, note: str = "") -> None:
        """Count one step; `note` is displayed next to the bar.

        Raises:
            KeyboardInterrupt: After SIGINT, even if the exception itself was swallowed.
        """
        self.done += 1
        interrupts.check()
        if self._bar is not None:
            self._bar.update(self._task, completed=self.done, total=self.total, note=note)
            return
        now = self._clock()
        if self._stream.isatty():
            if now - self._started >= _QUIET:
                self._draw(note)
        elif now - self._logged >= log_interval(now - self._started):
            self._logged = now
            of = "" if self.total is None else f" of {self.total:,}"
            self._stream.write(f"{self.label}: {self.done:,}{of} {note}\n")
            self._stream.flush()

    def _draw(self, note: str) -> None:
        with self._lock:
            if self._bar is None and not self._closed:
                self._start_bar(note)

    def _start_bar(self, note: str) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )
        from rich.progress import Progress as RichProgress

        bar = RichProgress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[note]}"),
            console=Console(file=self._stream),
            transient=True,
        )
        bar.start()
        self._task = bar.add_task(self.label, total=self.total, note=note)
        bar.update(self._task, completed=self.done)
        self._bar = bar

    def close(self) -> None:
        """Remove the bar."""
        if self._timer is not None:
            self._timer.cancel()
        with self._lock:
            self._closed = True
            if self._bar is not None:
                self._bar.stop()
                self._bar = None
