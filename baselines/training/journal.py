"""The journal of groups that must not be played again: `lost.jsonl` in a run's folder.

A group is lost if failures leave too few of its rollouts, or if its update failed. Other groups
replace it. A resumed run reads the journal, so that a group which stopped or delayed the run is not
played again.
"""

import json
import os
from collections.abc import Iterable
from pathlib import Path

from hexathlon.baselines.pipeline.collect import GroupPlan
from hexathlon.baselines.training.metrics import read_metrics

__all__ = ["LOST_FILE", "Journal"]

LOST_FILE = "lost.jsonl"


class Journal:
    """Appends lost groups to a file; an incomplete last line is removed.

    Args:
        path: The file; it need not exist.
        writes: Whether this process writes the file; others only read it and keep a copy in memory.
    """

    def __init__(self, path: Path, *, writes: bool = True) -> None:
        self._path = path
        self._writes = writes
        if writes and path.exists():
            # Remove an incomplete last line, so that appending does not continue it.
            os.truncate(path, path.read_bytes().rfind(b"\n") + 1)
        self._lost = {(row["task"], row["seed"]) for row in read_metrics(path)}

    def holds(self, plan: GroupPlan) -> bool:
        """Return whether a group was lost before."""
        return (plan.task, plan.seed) in self._lost

    def add(self, plans: Iterable[GroupPlan], cause: str) -> None:
        """Add lost groups and sync the file.

        Args:
            plans: The groups.
            cause: Why they were lost, as a readable text.
        """
        fresh = [plan for plan in plans if not self.holds(plan)]
        self._lost |= {(plan.task, plan.seed) for plan in fresh}
        if not fresh or not self._writes:
            return
        rows = [{"task": plan.task, "seed": plan.seed, "cause": cause} for plan in fresh]
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as file:
            file.write("".join(json.dumps(row) + "\n" for row in rows))
            file.flush()
            os.fsync(file.fileno())
