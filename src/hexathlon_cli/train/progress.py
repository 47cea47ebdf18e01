"""Progress of a training run on standard error."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from hexathlon.baselines.harness.progress import log_interval

__all__ = ["shown"]


@contextmanager
def shown() -> Iterator[Any]:
    """Show progress: bars on a terminal, otherwise a line every few seconds."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _Lines().report
        return
    columns = (
        TextColumn("{task.description:11}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[said]}"),
    )
    with Progress(*columns, console=console) as progress:
        bars: dict[str, Any] = {}

        def report(phase: str, step: int, steps: int, metrics: dict[str, float]) -> None:
            if phase not in bars:
                bars[phase] = progress.add_task(phase, total=steps, said="")
            progress.update(bars[phase], completed=step)
            if metrics:
                progress.update(bars[phase], said=_said(metrics))

        yield report


class _Lines:
    """Progress lines for a log file."""

    def __init__(self) -> None:
        self._started = self._last = time.monotonic()

    def report(self, phase: str, step: int, steps: int, metrics: dict[str, float]) -> None:
        now = time.monotonic()
        if now - self._last < log_interval(now - self._started) and step < steps:
            return
        self._last = now
        line = f"{now - self._started:6.0f} s  {phase:11} {step}/{steps}  {_said(metrics)}"
        typer.echo(line.rstrip(), err=True)


_SHOWN = (
    ("loss", "loss/policy"),
    ("reward", "reward"),
    ("success", "success"),
    ("dev", "dev/success"),
    ("KL", "kl"),
    ("entropy", "entropy"),
)


def _said(metrics: dict[str, float]) -> str:
    parts = [f"{name} {metrics[key]:.3f}" for name, key in _SHOWN if key in metrics]
    if "seconds/collect" in metrics:
        parts.append(f"play {metrics['seconds/collect']:.1f} s")
        parts.append(f"learn {metrics['seconds/learn']:.1f} s")
        parts.append(f"{metrics['tokens/drawn'] / metrics['seconds/collect']:,.0f} tokens/s")
    return "  ".join(parts)
