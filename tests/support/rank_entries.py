"""Entry points of rank processes in tests of launching."""

import time
from pathlib import Path

from hexathlon.baselines.learner.ranks import Ranks


def fail(folder: Path, ranks: Ranks) -> None:
    """Fail before the first exchange."""
    raise ValueError(f"rank {ranks.number} has no data in {folder.name}")


def work(folder: Path, ranks: Ranks) -> None:
    """Stay busy for long, without an exchange that would reveal that another rank is gone."""
    (folder / f"busy-{ranks.number}").touch()
    time.sleep(600)


def agree(folder: Path, ranks: Ranks) -> None:
    """Take part in one exchange."""
    ranks.joined([ranks.number])
