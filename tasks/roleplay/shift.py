"""The task source `roleplay-shift`: dialogues under user, character and composition shift.

As R-EMID has it, one factor changes and all else stays: each shifted task has a twin of the same
seed, level and kind in the distribution. Users shift in how they talk, characters in the worlds
they come from, dialogues in how they are composed.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from hexathlon.tasks.errors import UnknownTask
from hexathlon.tasks.roleplay.assembling import dialogue_task, draw_stage
from hexathlon.tasks.roleplay.scripts import (
    alternatives,
    mutants,
    oracle_actions,
    played,
)
from hexathlon.tasks.roleplay.stage import MANNERS, Stage
from hexathlon.tasks.roleplay.trivial import policies
from hexathlon.tasks.seeding import derive_seed
from hexathlon.tasks.source import Address, Script, TaskSource, parse_address
from hexathlon.tasks.task import LEVELS, Level, Split, Task

__all__ = ["SHIFTS", "ShiftSource", "Turn", "reference_turns", "source"]

_KINDS = ("boundary", "timepoint", "secret", "style")
"""Templates whose beats may stand in any order."""

_OLD = ("harbour", "abbey", "market", "caravan")
_NEW = ("starship", "frontier", "clockwork", "radio")
SHIFTS: Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any]]] = {
    "user": ({"manners": MANNERS}, {"manners": ("childlike", "tipsy", "learned", "poetic")}),
    "character": ({"settings": _OLD}, {"settings": _NEW}),
    "dialogue": ({"composition": "usual"}, {"composition": "blocks"}),
}
"""For each shift what holds in the distribution and what under the shift."""

_FIXED: Mapping[str, Any] = {"manners": MANNERS, "settings": _OLD, "composition": "usual"}
PER_STRATUM: Mapping[Split, int] = {"dev": 8, "test": 40, "heldout": 40}


class Turn(NamedTuple):
    """One turn as an estimator of information takes it."""

    context: Mapping[str, str]
    """`user`, `character`, `dialogue` and `features`: what the turn is about."""

    reference: str
    """What a character who does right says."""


class ShiftSource(TaskSource):
    """Pairs of tasks that differ in one factor."""

    name = "roleplay-shift"
    family = "roleplay"
    version = "1"

    def __init__(self) -> None:
        places = [f"{shift}-{side}" for shift in SHIFTS for side in ("in", "out")]
        self._strata = [(template, level) for level in LEVELS for template in places]

    def size(self, split: Split, level: Level | None = None) -> int | None:
        """The number of tasks of a split; train has no end."""
        return None if split == "train" else PER_STRATUM[split] * len(self._of(level))

    def address(self, split: Split, index: int, level: Level | None = None) -> str:
        """The id of the index-th task; twins stand side by side."""
        strata = self._of(level)
        template, own = strata[index % len(strata)]
        return str(Address(self.name, template, own, split, index // len(strata)))

    def build(self, task_id: str, salt: str | None = None) -> Task:
        """Build one task.

        Raises:
            UnknownTask: There is no such task, or the salt is missing.
        """
        address = self._address(task_id, salt)
        seed = _seed(address, self.version, salt or "")
        task = dialogue_task(address, self.name, self.version, seed, _stage(address, seed))
        shift, _, side = address.template.partition("-")
        other = f"{shift}-{'out' if side == 'in' else 'in'}"
        return task.model_copy(update={"twin": str(replace(address, template=other))})

    def oracle(self, task: Task) -> Script:
        """Do right in every beat."""
        return played(oracle_actions(_stage_of(task)))

    def alternatives(self, task: Task) -> Mapping[str, Script]:
        """Other right solutions."""
        return alternatives(_stage_of(task))

    def mutants(self, task: Task) -> Mapping[str, Script]:
        """Near misses."""
        return mutants(_stage_of(task))

    def policies(self, task: Task) -> Mapping[str, Script]:
        """Trivial agents."""
        return policies(_stage_of(task), task.instruction)

    def _of(self, level: Level | None) -> list[tuple[str, Level]]:
        return [item for item in self._strata if level in (None, item[1])]

    def _address(self, task_id: str, salt: str | None) -> Address:
        address = parse_address(task_id)
        known = (address.template, address.level) in self._strata
        if address.source != self.name or task_id != str(address) or not known:
            raise UnknownTask(task_id, f"{self.name} has no such task")
        limit = PER_STRATUM.get(address.split)
        if limit is not None and address.index >= limit:
            raise UnknownTask(task_id, f"{address.split} holds {limit} tasks of each kind")
        if (address.split == "heldout") != (salt is not None):
            raise UnknownTask(task_id, "the held-out split needs a salt, and only it does")
        return address


def reference_turns(task: Task) -> list[Turn]:
    """Return the turns of a task's own right solution, for estimates of information.

    The reply of a model takes the place of the reference where a model is measured; its own
    earlier replies then stand in the dialogue.
    """
    stage = _stage_of(task)
    said: list[str] = []
    turns = []
    for beat, act in zip(stage.beats, oracle_actions(stage), strict=True):
        said.append(beat.line)
        context = {
            "user": task.params["manner"],
            "character": task.instruction,
            "dialogue": "\n".join(said),
            "features": json.dumps(dict(beat.query), ensure_ascii=False, sort_keys=True),
        }
        reply = str(json.loads(act)["arguments"]["reply"])
        turns.append(Turn(context, reply))
        said.append(reply)
    return turns


def _seed(address: Address, version: str, salt: str) -> int:
    """The same for both twins."""
    shared = replace(address, template=address.template.partition("-")[0])
    return derive_seed("roleplay-shift", version, str(shared), salt)


def _stage_of(task: Task) -> Stage:
    return _stage(parse_address(task.id), task.seed)


def _stage(address: Address, seed: int) -> Stage:
    shift, _, side = address.template.partition("-")
    kind = _KINDS[address.index // 2 % len(_KINDS)]
    changes = {**_FIXED, **SHIFTS[shift][side == "out"]}
    return draw_stage(replace(address, template=kind), seed, **changes)


def source() -> ShiftSource:
    """The source, for the registry."""
    return ShiftSource()
