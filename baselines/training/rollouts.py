"""The trajectories of a training run, stored so that they can be judged again or learned from."""

import gzip
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, cast

from hexathlon.baselines.harness.rescore import rescore_record
from hexathlon.baselines.pipeline.collect import scored_again
from hexathlon.baselines.tokens.trajectory import Trajectory
from hexathlon.evaluators.records import TrialRecord
from hexathlon.evaluators.records.canonical import canonical_bytes
from hexathlon.tasks.taskset import build_task

__all__ = ["RolloutLog", "rescored", "stored"]

Rewards = Literal["played", "rescored"]


class RolloutLog:
    """A folder of rollouts, one compressed file of JSON lines a batch.

    Args:
        folder: Where they go.
        rewards: `played` takes each reward as the episode gave it; `rescored` reads the records
            back from the file and takes what `hexathlon rescore` would give them.
        rank: Of this process, where several train together and each keeps its own rollouts.
        tokens: Whether tokens and their log-probabilities are stored beside the records.
    """

    def __init__(
        self,
        folder: Path,
        rewards: Rewards = "played",
        rank: int | None = None,
        *,
        tokens: bool = False,
    ) -> None:
        self._tokens = tokens
        self._folder = folder
        self._rewards = rewards
        self._suffix = "" if rank is None else f"-{rank}"

    def keep(self, step: int, attempt: int, played: Sequence[Trajectory]) -> Sequence[Trajectory]:
        """Write a batch and return the trajectories that training takes its rewards from.

        Raises:
            OSError: They cannot be written.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / f"step-{step:06}-{attempt}{self._suffix}.jsonl.gz"
        text = b"".join(self._line(trajectory) for trajectory in played)
        part = path.with_suffix(".part")
        part.write_bytes(gzip.compress(text, compresslevel=3, mtime=0))
        os.replace(part, path)
        if self._rewards == "played":
            return played
        return scored_again(played, rescored(path))

    def _line(self, trajectory: Trajectory) -> bytes:
        data = trajectory.as_json() if self._tokens else {"record": trajectory.record}
        return canonical_bytes(data) + b"\n"


def stored(path: Path) -> list[Trajectory]:
    """Return the trajectories of a batch that was stored with its tokens.

    Raises:
        ValueError: Only its records were stored.
    """
    rows = _rows(path)
    if any("tokens" not in row for row in rows):
        raise ValueError(f"{path} holds records alone; train with rollout.keep_tokens = true")
    return [Trajectory.from_json(row) for row in rows]


def rescored(path: Path) -> list[TrialRecord]:
    """Return the records of a batch, each judged again from what was recorded."""
    records = [row["record"] for row in _rows(path)]
    return [
        cast(TrialRecord, rescore_record(build_task(record["key"]["task"]), record))
        for record in records
    ]


def _rows(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rb") as file:
        return [json.loads(line) for line in file]
