"""The task source `roleplay`: conversations and games with generated characters.

Ids are numbered within a stratum (template and level); `address` cycles through the strata, so that
any prefix of a split covers templates and levels. Even indices are English, odd ones Chinese.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from hexathlon.tasks.roleplay.assembling import (
    TWIN_BIT,
    dialogue_task,
    draw_game,
    draw_stage,
    game_task,
)
from hexathlon.tasks.roleplay.game import Game
from hexathlon.tasks.roleplay.scripts import (
    TOLERATED,
    alternatives,
    mutants,
    oracle_actions,
    played,
    thought,
)
from hexathlon.tasks.roleplay.stage import Stage
from hexathlon.tasks.roleplay.templates.catalogue import DIALOGUES, GAMES, TWINS
from hexathlon.tasks.roleplay.trivial import policies
from hexathlon.tasks.seeding import derive_seed
from hexathlon.tasks.source import Script, TaskAddress, parse_address
from hexathlon.tasks.strata import StratifiedSource
from hexathlon.tasks.task import LEVELS, Split, Task

__all__ = ["RolePlaySource", "source"]

PER_STRATUM: Mapping[Split, int] = {"dev": 160, "test": 32, "heldout": 32}
"""Tasks per template and level in the bounded splits."""
_DRAWN_AS = "1"
"""Seed component independent of `version`, which can change without redrawing all tasks."""


class RolePlaySource(StratifiedSource):
    """Conversations and games with generated characters."""

    name = "roleplay"
    family = "roleplay"
    version = "5"
    per_stratum = PER_STRATUM
    tolerated = TOLERATED

    def __init__(self) -> None:
        self.strata = [(template, level) for level in LEVELS for template in (*DIALOGUES, *GAMES)]

    def build(self, task_id: str, salt: str | None = None) -> Task:
        """Build one task; the same id and salt give the same task everywhere.

        Raises:
            UnknownTask: If the template, level or index does not exist, or the salt is missing.
        """
        address = self.checked(task_id, salt)
        seed = self._seed(address, salt)
        if address.template in GAMES:
            game = draw_game(address, seed)
            task = game_task(address, self.name, self.version, seed, game)
            return task.model_copy(update={"twin": _twin(address)})
        return dialogue_task(address, self.name, self.version, seed, draw_stage(address, seed))

    def data_files(self) -> Sequence[str]:
        """Return the patterns of the names, settings and phrases."""
        return ("tasks/roleplay/*.toml", "tasks/roleplay/settings/*.toml")

    def oracle(self, task: Task) -> Script:
        """Take the correct action in every beat, or reach the goal of the game."""
        game = self._game(task)
        return played(game.oracle if game else oracle_actions(self._stage(task)))

    def alternatives(self, task: Task) -> Mapping[str, Script]:
        """Return alternative correct solutions."""
        game = self._game(task)
        return _all_played(game.alternatives) if game else alternatives(self._stage(task))

    def mutants(self, task: Task) -> Mapping[str, Script]:
        """Return near misses."""
        game = self._game(task)
        return _all_played(game.mutants) if game else mutants(self._stage(task))

    def policies(self, task: Task) -> Mapping[str, Script]:
        """Return trivial agents."""
        game = self._game(task)
        if game is None:
            return policies(self._stage(task), task.instruction)
        return {**policies(game.stage, task.instruction), **_all_played(game.policies)}

    def thought(self, task: Task, heard: Sequence[str], action: str) -> str:
        """Quote the line of the card that decides the question; games have no thoughts."""
        return "" if task.template in GAMES else thought(self._stage(task), len(heard) - 1)

    def _stage(self, task: Task) -> Stage:
        return draw_stage(parse_address(task.id), task.seed)

    def _game(self, task: Task) -> Game | None:
        if task.template not in GAMES:
            return None
        return draw_game(parse_address(task.id), task.seed)

    def _seed(self, address: TaskAddress, salt: str | None) -> int:
        shared = address
        if address.template in TWINS:
            shared = replace(address, index=address.index & ~TWIN_BIT)
        return derive_seed("roleplay-task", _DRAWN_AS, str(shared), salt or "")


def _twin(address: TaskAddress) -> str | None:
    """Return the id of the task that differs only in the deciding fact."""
    if address.template not in TWINS:
        return None
    return str(replace(address, index=address.index ^ TWIN_BIT))


def _all_played(scripts: Mapping[str, Sequence[str]]) -> dict[str, Script]:
    return {name: played(actions) for name, actions in scripts.items()}


def source() -> RolePlaySource:
    """Create the source for the registry."""
    return RolePlaySource()
