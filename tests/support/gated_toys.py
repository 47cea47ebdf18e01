"""Toy episodes in other processes that wait for the test before each turn, or kill their process.

A gate is a directory. A turn writes the file `reached-N` there and continues once `open-N` exists,
or `open` for all turns.
"""

import os
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hexathlon.baselines.agents.base import Agent, Episode, PastTurn, Turn
from hexathlon.baselines.agents.scripted import ScriptedAgent, ScriptPlayer
from hexathlon.envs.messages import Message
from support.toy import ToyEnv
from support.watching import files_written, wait_for_files


class Gate:
    """A gate that turns wait for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def open(self, turn: int | None = None) -> None:
        (self.folder / ("open" if turn is None else f"open-{turn}")).touch()

    def reached(self, turn: int) -> bool:
        return bool(list(self.folder.glob(f"reached-{turn}-*")))

    def is_open(self, turn: int) -> bool:
        return (self.folder / "open").exists() or (self.folder / f"open-{turn}").exists()

    def note(self, turn: int, name: str) -> None:
        (self.folder / f"reached-{turn}-{name}").touch()

    def wait(self, turn: int) -> None:
        self.note(turn, str(os.getpid()))
        wait_for_files(self.folder, lambda: self.is_open(turn))

    async def wait_on_loop(self, turn: int, name: str) -> None:
        self.note(turn, name)
        await files_written(self.folder, lambda: self.is_open(turn))


class GatedToy(ToyEnv):
    """Waits before each turn; may also report its process id, or kill its process."""

    gate: Gate | None = None
    tells_process = False
    deadly = ""
    """Task whose first turn kills the process."""

    def step(self, action: Any) -> Any:
        if self.task.id == self.deadly:
            os._exit(7)
        if self.gate is not None:
            self.gate.wait(self._turn + 1)
        return super().step(action)

    def on_reset(self, task: Any) -> str:
        text = super().on_reset(task)
        return f"{text} Process {os.getpid()}." if self.tells_process else text


@dataclass(frozen=True)
class GatedToys:
    """Makes gated environments in a worker."""

    folder: str = ""
    tells_process: bool = False
    deadly: str = ""

    def __call__(self, env_id: str) -> GatedToy:
        env = GatedToy()
        env.gate = Gate(Path(self.folder)) if self.folder else None
        env.tells_process, env.deadly = self.tells_process, self.deadly
        return env


def oracle(number: int) -> Agent:
    return ScriptedAgent("oracle")


@dataclass(frozen=True)
class Patient:
    """Creates an oracle whose turns wait for a gate, as those of a remote model do."""

    folder: str

    def __call__(self, number: int) -> Agent:
        return PatientAgent(Gate(Path(self.folder)))


class PatientAgent:
    name, version, asynchronous = "patient", "1", True

    def __init__(self, gate: Gate) -> None:
        self.gate = gate

    def begin(self, episode: Episode) -> "PatientPlayer":
        script = ScriptPlayer(episode.source.oracle(episode.task))
        return PatientPlayer(script, self.gate, episode)


class PatientPlayer:
    def __init__(self, script: ScriptPlayer, gate: Gate, episode: Episode) -> None:
        self._script, self._gate, self._turns = script, gate, 0
        self._name = f"{episode.task.id.replace('/', '-')}-{episode.trial}"

    def act(self, messages: Sequence[Message]) -> Awaitable[Turn]:
        return self._act(messages)

    async def _act(self, messages: Sequence[Message]) -> Turn:
        self._turns += 1
        await self._gate.wait_on_loop(self._turns, self._name)
        return self._script.act(messages)

    def save(self) -> None:
        return None

    def resume(self, past: Sequence[PastTurn], memory: Any) -> None:
        for turn in past:
            self._turns += 1
            self._script.act(turn.messages)
