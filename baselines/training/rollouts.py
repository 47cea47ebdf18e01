"""Stored rollouts of a training run, for rescoring and learning."""

import gzip
import json
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, cast

from hexathlon.baselines.harness.rescore import rescore_record
from hexathlon.baselines.pipeline.collect import scored_again
from hexathlon.baselines.tokens.trajectory import Trajectory
from hexathlon.evaluators.records import TrialRecord
from hexathlon.evaluators.records.canonical import canonical_bytes
from hexathlon.tasks.taskset import build_task

__all__ = ["RolloutLog", "newest", "recorded", "rescored", "shared", "stored"]

Rewards = Literal["played", "rescored"]


class RolloutLog:
    """A folder of rollouts, one compressed file of JSON lines per batch.

    Args:
        folder: The folder.
        rewards: `played` keeps the episodes' rewards; `rescored` reads the records back from the
            file and rescores them as `hexathlon rescore` does.
        rank: Number of this rank if there are several; each stores its own rollouts.
        tokens: Whether to store tokens and log-probabilities in addition to the records.
        texts: Whether to store prompts and tools in addition to the records, for peers of a swarm.
    """

    def __init__(
        self,
        folder: Path,
        rewards: Rewards = "played",
        rank: int | None = None,
        *,
        tokens: bool = False,
        texts: bool = False,
    ) -> None:
        self._tokens = tokens
        self._texts = texts
        self._folder = folder
        self._rewards = rewards
        self._suffix = "" if rank is None else f"-{rank}"

    def keep(self, step: int, attempt: int, played: Sequence[Trajectory]) -> Sequence[Trajectory]:
        """Write a batch and return its trajectories with the rewards for training.

        Raises:
            OSError: If they cannot be written.
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
        if not self._tokens and not self._texts:
            return canonical_bytes({"record": trajectory.record}) + b"\n"
        kept = trajectory if self._tokens else replace(trajectory, tokens=None)
        return canonical_bytes(kept.as_json()) + b"\n"


def stored(path: Path) -> list[Trajectory]:
    """Return the trajectories of a batch stored with tokens.

    Raises:
        ValueError: If only its records were stored.
    """
    rows = _rows(path)
    if any(row.get("tokens") is None for row in rows):
        raise ValueError(f"{path} has no tokens; train with rollout.keep_tokens = true")
    return [Trajectory.from_json(row) for row in rows]


def newest(folder: Path, batches: int) -> list[Path]:
    """Return the files of the last batches in a folder, oldest first; none if it is absent."""
    return sorted(folder.glob("step-*.jsonl.gz"))[-batches:]


def shared(path: Path) -> list[Trajectory]:
    """Return the trajectories of a batch that was stored with its prompts, without their tokens.

    Raises:
        ValueError: If only its records were stored.
    """
    rows = _rows(path)
    if any("system_prompt" not in row for row in rows):
        raise ValueError(f"{path} has no prompts; train with swarm.share = true")
    return [Trajectory.from_json({**row, "tokens": None}) for row in rows]


def recorded(folder: Path, batches: int) -> list[TrialRecord]:
    """Return the records of the last batches of a run; of all batches if there are fewer."""
    paths = newest(folder, batches)
    return [cast(TrialRecord, row["record"]) for path in paths for row in _rows(path)]


def rescored(path: Path) -> list[TrialRecord]:
    """Return the records of a batch, each rescored from its recorded evidence."""
    records = [row["record"] for row in _rows(path)]
    return [
        cast(TrialRecord, rescore_record(build_task(record["key"]["task"]), record))
        for record in records
    ]


def _rows(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rb") as file:
        return [json.loads(line) for line in file]
