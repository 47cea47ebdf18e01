"""Metrics of a run: one JSON line per step, and further listeners such as TensorBoard."""

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

__all__ = ["Listener", "MetricsLog", "ProgressCallback", "listeners", "read_metrics"]


ProgressCallback = Callable[[str, int, int, dict[str, float]], None]
"""Called with the phase, the step, the number of steps and the metrics."""


class Listener(Protocol):
    """Receives the metrics of every step."""

    def log(self, step: int, metrics: Mapping[str, float]) -> None:
        """Record a step's metrics."""
        ...

    def close(self) -> None:
        """Write pending metrics."""
        ...


class MetricsLog:
    """Appends to `metrics.jsonl`; on resuming, lines of repeated steps are dropped.

    Args:
        path: The file.
        steps: Last step to keep.
    """

    def __init__(self, path: Path, steps: int) -> None:
        kept = [row for row in read_metrics(path) if row["step"] <= steps]
        text = "".join(json.dumps(row) + "\n" for row in kept)
        part = path.with_suffix(".part")
        part.write_text(text)
        os.replace(part, path)
        self._file = path.open("a", encoding="utf-8")

    def log(self, step: int, metrics: Mapping[str, Any]) -> None:
        """Append a line."""
        self._file.write(json.dumps({"step": step, **metrics}) + "\n")
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def read_metrics(path: Path) -> list[dict[str, Any]]:
    """Return the lines of a metrics file, without an incomplete last one."""
    if not path.exists():
        return []
    rows = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            rows.append(json.loads(line))
        except ValueError:
            break
    return rows


class _TensorBoard:
    def __init__(self, path: Path) -> None:
        from torch.utils.tensorboard import SummaryWriter

        self._writer: Any = SummaryWriter(str(path))

    def log(self, step: int, metrics: Mapping[str, float]) -> None:
        for name, value in metrics.items():
            if isinstance(value, (int, float)):
                self._writer.add_scalar(name, value, step)

    def close(self) -> None:
        self._writer.close()


class _Wandb:
    def __init__(self, path: Path, name: str) -> None:
        import wandb  # type: ignore[import-not-found]

        self._run = wandb.init(project="hexathlon", name=name, dir=str(path))

    def log(self, step: int, metrics: Mapping[str, float]) -> None:
        self._run.log(dict(metrics), step=step)

    def close(self) -> None:
        self._run.finish()


def listeners(names: tuple[str, ...], path: Path, run: str) -> list[Listener]:
    """Return the listeners of these names.

    Raises:
        ValueError: A name is unknown or its package is not installed.
    """
    made: list[Listener] = []
    for name in names:
        try:
            if name == "tensorboard":
                made.append(_TensorBoard(path / "tensorboard"))
            elif name == "wandb":
                made.append(_Wandb(path, run))
            else:
                raise ValueError(f"{name!r} is no listener; there are tensorboard and wandb")
        except ImportError as error:
            raise ValueError(f"{name} is not installed: pip install {name} ({error})") from None
    return made
