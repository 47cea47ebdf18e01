"""The task source `roleplay`: conversations and games with generated characters.

Ids are numbered within a stratum (template and level); `address` cycles through the strata, so that
any prefix of a split covers templates and levels. At `hard`, every other task is a scene. Even
indices are English, odd ones Chinese.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from hexathlon.tasks.roleplay.assembling import (
    TWIN_BIT,
    dialogue_task,
    draw_game,
    draw_scene,
    draw_stage,
    game_task,
    scene_task,
)
from hexathlon.tasks.roleplay.game import Game
from hexathlon.tasks.roleplay.scenes.compose import SCENES, DrawnScene
from hexathlon.tasks.roleplay.scenes.scripts import (
    SCENE_TOLERATED,
    scene_alternatives,
    scene_mutants,
    scene_oracle,
    scene_policies,
)
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
from hexathlon.tasks.task import LEVELS, Level, Split, Task

__all__ = ["RolePlaySource", "source"]

PER_STRATUM: Mapping[Split, int] = {"dev": 160, "test": 32, "heldout": 32}
"""Tasks per template and level in the bounded splits."""
_DRAWN_AS = "1"
"""Seed component independent of `version`, which can change without redrawing all tasks."""
_TEMPLATES = (*DIALOGUES, *GAMES)


def _scenes_per_template(split: Split) -> int:
    """Return the number of scenes per template, of which there are as many as other hard tasks."""
    return PER_STRATUM[split] * len(_TEMPLATES) // len(SCENES)


class RolePlaySource(StratifiedSource):
    """Conversations and games with generated characters."""

    name = "roleplay"
    family = "roleplay"
    version = "7"
    per_stratum = PER_STRATUM
    tolerated = {
        **TOLERATED,
        **{f"{scene}/{change}": why for scene in SCENES for change, why in SCENE_TOLERATED.items()},
    }

    def __init__(self) -> None:
        self._plain = [(template, level) for level in LEVELS for template in _TEMPLATES]
        self.strata = [*self._plain, *((template, "hard") for template in SCENES)]

    def size(self, split: Split, level: Level | None = None) -> int | None:
        """Return the number of tasks in a split, or None for the unbounded train split."""
        if split == "train":
            return None
        scenes = len(SCENES) * _scenes_per_template(split) if level in (None, "hard") else 0
        return PER_STRATUM[split] * sum(level in (None, own) for _, own in self._plain) + scenes

    def limit_of(self, address: TaskAddress) -> int | None:
        """Return the number of tasks of one template, level and split; None if it is unbounded."""
        if address.template in SCENES and address.split != "train":
            return _scenes_per_template(address.split)
        return super().limit_of(address)

    def address(self, split: Split, index: int, level: Level | None = None) -> str:
        """Return the id of the task at `index`, in round-robin order over the strata.

        Scenes take every other place at `hard`, and the last places of a round over all levels.
        """
        plain = [item for item in self._plain if level in (None, item[1])]
        scenes = len(_TEMPLATES) if level in (None, "hard") else 0
        number, place = divmod(index, len(plain) + scenes)
        if level == "hard":
            is_scene, place = bool(place % 2), place // 2
        else:
            is_scene, place = place >= len(plain), place % len(plain)
        if is_scene:
            number, place = divmod(number * scenes + place, len(SCENES))
            return str(TaskAddress(self.name, SCENES[place], "hard", split, number))
        template, own = plain[place]
        return str(TaskAddress(self.name, template, own, split, number))

    def build(self, task_id: str, salt: str | None = None) -> Task:
        """Build one task; the same id and salt give the same task everywhere.

        Raises:
            UnknownTask: If the template, level or index does not exist, or the salt is missing.
        """
        address = self.checked(task_id, salt)
        seed = self._seed(address, salt)
        if address.template in SCENES:
            scene = draw_scene(address, seed)
            turns = len(scene_oracle(scene))
            return scene_task(address, self.name, self.version, seed, scene, turns)
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
        scene = self._scene(task)
        if scene:
            return played(scene_oracle(scene))
        game = self._game(task)
        return played(game.oracle if game else oracle_actions(self._stage(task)))

    def alternatives(self, task: Task) -> Mapping[str, Script]:
        """Return alternative correct solutions."""
        scene = self._scene(task)
        if scene:
            return _all_played(scene_alternatives(scene))
        game = self._game(task)
        return _all_played(game.alternatives) if game else alternatives(self._stage(task))

    def mutants(self, task: Task) -> Mapping[str, Script]:
        """Return near misses."""
        scene = self._scene(task)
        if scene:
            return _all_played(scene_mutants(scene))
        game = self._game(task)
        return _all_played(game.mutants) if game else mutants(self._stage(task))

    def policies(self, task: Task) -> Mapping[str, Script]:
        """Return trivial agents."""
        scene = self._scene(task)
        if scene:
            trivial = policies(scene.plot.stage, task.instruction)
            return {**trivial, **_all_played(scene_policies(scene))}
        game = self._game(task)
        if game is None:
            return policies(self._stage(task), task.instruction)
        return {**policies(game.stage, task.instruction), **_all_played(game.policies)}

    def thought(self, task: Task, heard: Sequence[str], action: str) -> str:
        """Quote the card's line that decides the question; empty for games and scenes."""
        if task.template in (*GAMES, *SCENES):
            return ""
        return thought(self._stage(task), len(heard) - 1)

    def _stage(self, task: Task) -> Stage:
        return draw_stage(parse_address(task.id), task.seed)

    def _scene(self, task: Task) -> DrawnScene | None:
        if task.template not in SCENES:
            return None
        return draw_scene(parse_address(task.id), task.seed)

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
