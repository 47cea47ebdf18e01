"""Log of a run on a cluster, in the run's folder: one line for every start and every loss."""

import time
from pathlib import Path

__all__ = ["LOG_FILE", "note"]

LOG_FILE = "cluster.log"


def note(folder: Path, line: str) -> None:
    """Append a line with a timestamp.

    Args:
        folder: The run's folder.
        line: What happened.
    """
    with (folder / LOG_FILE).open("a", encoding="utf-8") as file:
        file.write(f"{time.strftime('%Y-%m-%dT%H:%M:%S')} {line}\n")
