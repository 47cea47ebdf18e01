"""The task source `roleplay`: conversations and games of generated characters.

Ids count within a stratum (template and level); `address` goes round the strata, so that any
prefix of a split covers templates and levels. Even indices are English, odd ones Chinese.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from hexathlon.tasks.errors import UnknownTask
from hexathlon.tasks.roleplay.assembling import (
    TWIN_BIT,
    dialogue_task,
    draw_game,
    draw_stage,
    game_task,
)
from hexathlon.tasks.roleplay.game import Game
from hexathlon.tasks.roleplay.scripts import (
    alternatives,
    mutants,
    oracle_actions,
    played,
)
from hexathlon.tasks.roleplay.stage import Stage
from hexathlon.tasks.roleplay.templates.catalogue import DIALOGUES, GAMES, TWINS
from hexathlon.tasks.roleplay.trivial import policies
from hexathlon.tasks.seeding import derive_seed
from hexathlon.tasks.source import Address, Script, TaskSource, parse_address
from hexathlon.tasks.task import LEVELS, Level, Split, Task

__all__ = ["RolePlaySource", "source"]

PER_STRATUM: Mapping[Split, int] = {"dev": 8, "test": 32, "heldout": 32}
"""Tasks of each template and level in the splits that have an end."""


class RolePlaySource(TaskSource):
    """Generated characters in conversations and games."""

    name = "roleplay"
    family = "roleplay"
    version = "1"

    def __init__(self) -> None:
        self._strata = [(template, level) for level in LEVELS for template in (*DIALOGUES, *GAMES)]

    def size(self, split: Split, level: Level | None = None) -> int | None:
        """The number of tasks of a split; train has no end."""
        return None if split == "train" else PER_STRATUM[split] * len(self._of(level))

    def address(self, split: Split, index: int, level: Level | None = None) -> str:
        """The id of the index-th task: round after round over the strata."""
        strata = self._of(level)
        template, own = strata[index % len(strata)]
        return str(Address(self.name, template, own, split, index // len(strata)))

    def build(self, task_id: str, salt: str | None = None) -> Task:
        """Build one task; the same id and salt give the same task everywhere.

        Raises:
            UnknownTask: There is no such template, level or index, or the salt is missing.
        """
        address = self._address(task_id, salt)
        seed = self._seed(address, salt)
        if address.template in GAMES:
            game = draw_game(address, seed)
            task = game_task(address, self.name, self.version, seed, game)
            return task.model_copy(update={"twin": _twin(address)})
        return dialogue_task(address, self.name, self.version, seed, draw_stage(address, seed))

    def oracle(self, task: Task) -> Script:
        """Do right in every beat, or reach the goal."""
        game = self._game(task)
        return played(game.oracle if game else oracle_actions(self._stage(task)))

    def alternatives(self, task: Task) -> Mapping[str, Script]:
        """Other right solutions."""
        game = self._game(task)
        return _all_played(game.alternatives) if game else alternatives(self._stage(task))

    def mutants(self, task: Task) -> Mapping[str, Script]:
        """Near misses."""
        game = self._game(task)
        return _all_played(game.mutants) if game else mutants(self._stage(task))

    def policies(self, task: Task) -> Mapping[str, Script]:
        """Trivial agents."""
        game = self._game(task)
        if game is None:
            return policies(self._stage(task), task.instruction)
        return {**policies(game.stage, task.instruction), **_all_played(game.policies)}

    def _stage(self, task: Task) -> Stage:
        return draw_stage(parse_address(task.id), task.seed)

    def _game(self, task: Task) -> Game | None:
        if task.template not in GAMES:
            return None
        return draw_game(parse_address(task.id), task.seed)

    def _seed(self, address: Address, salt: str | None) -> int:
        shared = address
        if address.template in TWINS:
            shared = replace(address, index=address.index & ~TWIN_BIT)
        return derive_seed("roleplay-task", self.version, str(shared), salt or "")

    def _of(self, level: Level | None) -> list[tuple[str, Level]]:
        return [item for item in self._strata if level in (None, item[1])]

    def _address(self, task_id: str, salt: str | None) -> Address:
        address = parse_address(task_id)
        if address.source != self.name or task_id != str(address):
            raise UnknownTask(task_id, f"it is not written as ids of {self.name!r} are")
        if (address.template, address.level) not in self._strata:
            raise UnknownTask(task_id, f"there is no template {address.template!r}")
        limit = PER_STRATUM.get(address.split)
        if limit is not None and address.index >= limit:
            raise UnknownTask(task_id, f"{address.split} holds {limit} tasks of each kind")
        if (address.split == "heldout") != (salt is not None):
            raise UnknownTask(task_id, "the held-out split needs a salt, and only it does")
        return address


def _twin(address: Address) -> str | None:
    """The id of the task that differs in the deciding fact alone."""
    if address.template not in TWINS:
        return None
    return str(replace(address, index=address.index ^ TWIN_BIT))


def _all_played(scripts: Mapping[str, Sequence[str]]) -> dict[str, Script]:
    return {name: played(actions) for name, actions in scripts.items()}


def source() -> RolePlaySource:
    """The source, for the registry."""
    return RolePlaySource()
