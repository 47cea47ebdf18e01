"""What was played while training: the records, kept so that they can be judged again."""

import gzip
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, cast

from hexathlon.baselines.harness.rescore import judged_again
from hexathlon.evaluators.canonical import canonical_bytes
from hexathlon.evaluators.records import TrialRecord
from hexathlon.tasks.taskset import build_task

__all__ = ["RolloutLog"]

Rewards = Literal["played", "rescored"]


class RolloutLog:
    """A folder of rollouts, one compressed file of JSON lines a batch.

    Args:
        folder: Where they go.
        rewards: `played` takes each reward as the episode gave it; `rescored` reads the records
            back from the file and takes what `hexathlon rescore` would give them.
        rank: Of this process, where several train together and each keeps its own rollouts.
    """

    def __init__(self, folder: Path, rewards: Rewards = "played", rank: int | None = None) -> None:
        self._folder = folder
        self._rewards = rewards
        self._suffix = "" if rank is None else f"-{rank}"

    def keep(
        self, step: int, attempt: int, records: Sequence[TrialRecord]
    ) -> Sequence[TrialRecord]:
        """Write a batch and return the records that training takes its rewards from.

        Raises:
            OSError: They cannot be written.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / f"step-{step:06}-{attempt}{self._suffix}.jsonl.gz"
        text = b"".join(canonical_bytes(record) + b"\n" for record in records)
        part = path.with_suffix(".part")
        part.write_bytes(gzip.compress(text, compresslevel=3, mtime=0))
        os.replace(part, path)
        return records if self._rewards == "played" else rescored(path)


def rescored(path: Path) -> list[TrialRecord]:
    """Return the records of a batch, each judged again from what was recorded."""
    with gzip.open(path, "rb") as file:
        records = [json.loads(line) for line in file]
    return [
        cast(TrialRecord, judged_again(build_task(record["key"]["task"]), record))
        for record in records
    ]
