"""The agent that replays the actions of recorded trials."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from hexathlon.baselines.agents.base import AgentMismatch, Episode, GaveUp, Turn
from hexathlon.envs.messages import Message
from hexathlon.evaluators.records import RecordError, TrialKey, record_key, records_file
from hexathlon.evaluators.records.regular import irregularity
from hexathlon.tasks.validation import reason

__all__ = ["ReplayAgent", "ReplayPlayer"]


class ReplayAgent:
    """Replays the recorded actions of each trial.

    Only file offsets are kept in memory. If a trial has several records, the last one is replayed.

    Args:
        path: A run directory or record file.

    Raises:
        AgentMismatch: If there are no records, or they cannot be read.
    """

    name = "replay"
    version = "1"
    asynchronous = False

    def __init__(self, path: Path) -> None:
        self._file = records_file(path)
        fault = irregularity(self._file)
        if fault:
            raise AgentMismatch(f"cannot replay {path}: it {fault}")
        try:
            self._offsets = dict(_offsets(self._file))
        except OSError as error:
            raise AgentMismatch(f"cannot replay {path}: {reason(error)}") from None
        except (ValueError, LookupError, TypeError, RecordError):
            raise AgentMismatch(
                f"cannot replay {path}: expected a run directory or its records.jsonl"
            ) from None
        if not self._offsets:
            raise AgentMismatch(f"cannot replay {path}: it has no records")

    def begin(self, episode: Episode) -> "ReplayPlayer":
        """Return a player of the trial's recorded actions.

        Raises:
            AgentMismatch: If the trial was not recorded.
        """
        key = (episode.env, episode.task.id, episode.seed, episode.trial)
        if key not in self._offsets:
            raise AgentMismatch(f"{self._file} has no record of {key}; plan the same trials")
        with self._file.open("rb") as file:
            file.seek(self._offsets[key])
            record = json.loads(file.readline())
        return ReplayPlayer([step["action"] for step in record["steps"]])


class ReplayPlayer:
    """Takes a sequence of actions in order."""

    def __init__(self, actions: Sequence[str]) -> None:
        self._actions = iter(actions)

    def act(self, messages: Sequence[Message]) -> Turn:
        """Return the next recorded action."""
        for action in self._actions:
            return Turn(action)
        raise GaveUp("the recorded trial has no further action")


def _offsets(path: Path) -> Iterator[tuple[TrialKey, int]]:
    offset = 0
    with path.open("rb") as file:
        for line in file:
            if line.endswith(b"\n"):
                yield record_key(json.loads(line)), offset
            offset += len(line)
