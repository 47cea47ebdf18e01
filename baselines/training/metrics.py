"""The metrics of a run: one JSON line per step, read back by curves and watchers."""

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

__all__ = ["MetricsLog", "ProgressCallback", "read_metrics"]


ProgressCallback = Callable[[str, int, int, dict[str, float]], None]
"""Called with the phase, the step, the number of steps and the metrics."""


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
