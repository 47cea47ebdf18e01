"""Replays of programs that worked in the terminal event: the model answers as it did.

A trial's only action is the program's command. A replay runs it again in the same sandbox, and the
gateway gives the replies that were recorded. What must be equal afterwards is what the program did.
"""

import asyncio
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hexathlon.baselines.agents.base import Episode
from hexathlon.baselines.engines.apis.base import ApiCall
from hexathlon.baselines.engines.base import ChatReply, Usage
from hexathlon.baselines.engines.errors import BadRequest
from hexathlon.baselines.gateway.answers import ModelAnswer
from hexathlon.baselines.gateway.app import APIS, Gateway
from hexathlon.baselines.harness.errors import EnvironmentUnavailable
from hexathlon.baselines.programs.serving import PORT, GatewayServer, calls_file
from hexathlon.evaluators.records.plan import PlanError, read_plan

__all__ = ["ProgramReplays", "program_replays"]


@dataclass(frozen=True)
class ProgramReplays:
    """How the programs of one run are run again."""

    calls: Path
    """Directory with the recorded calls."""

    mounts: tuple[str, ...]
    memory_mb: int
    seconds: float

    def open(self, episode: Episode) -> Callable[[], None]:
        """Answer the calls of an episode's program; the returned function ends it.

        Raises:
            EnvironmentUnavailable: If the record of its calls is not here.
        """
        assert episode.admit is not None
        key = (episode.env, episode.task.id, episode.seed, episode.trial)
        answers = _RecordedAnswers(_rows(calls_file(self.calls, key)))
        listening = episode.admit(self.mounts, self.memory_mb, self.seconds, PORT)
        server = GatewayServer(Gateway(answers), listening)
        serving = threading.Thread(target=lambda: asyncio.run(server.run()), daemon=True)
        serving.start()

        def close() -> None:
            server.end()
            serving.join()
            listening.close()

        return close


def program_replays(run: Path, mounts: Sequence[str]) -> ProgramReplays | None:
    """Return how the programs of a run are replayed; None if its agent is no program.

    Args:
        run: The directory.
        mounts: Directories that its programs may see.

    Raises:
        EnvironmentUnavailable: If the run had further directories.
    """
    try:
        model = read_plan(run).get("model", {})
    except (PlanError, OSError):
        return None  # verification reports it
    if not isinstance(model, Mapping) or "command" not in model:
        return None
    for place in model.get("mounts", ()):
        if place not in mounts:
            raise EnvironmentUnavailable(
                f"the program of this run saw the directory {place}; allow it with --mount"
            )
    memory, seconds = int(model["memory_mb"]), float(model["seconds"])
    return ProgramReplays(run / "calls", tuple(mounts), memory, seconds)


class _RecordedAnswers:
    """Gives the recorded reply to the same request; else the next one that is left."""

    name = "recorded"
    context = 0

    def __init__(self, rows: Sequence[Mapping[str, Any]]) -> None:
        self._left = [(APIS[row["api"]].parse(row["request"]).request, row) for row in rows]

    async def answer(self, call: ApiCall) -> ModelAnswer:
        """Return the reply.

        Raises:
            BadRequest: If none is left.
        """
        if not self._left:
            raise BadRequest("the recorded trial has no further call")
        same = [n for n, (request, _) in enumerate(self._left) if request == call.request]
        _, row = self._left.pop(same[0] if same else 0)
        usage = Usage(**row["usage"])
        return ModelAnswer(ChatReply(row["reply"], usage, row["finish"], 0.0, 0.0))


def _rows(path: Path) -> list[dict[str, Any]]:
    try:
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    except (OSError, ValueError) as error:
        raise EnvironmentUnavailable(f"the program's calls cannot be read: {error}") from None
    return [row for row in rows if row.get("api") in APIS]
