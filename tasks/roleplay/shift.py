"""The task source `roleplay-shift`: dialogues under user, character and composition shift.

Following R-EMID, one factor changes and everything else is fixed: each shifted task has an
in-distribution twin of the same seed, level and kind. Users shift in how they talk, characters in
their worlds of origin, dialogues in their composition.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from hexathlon.tasks.roleplay.assembling import dialogue_task, draw_stage
from hexathlon.tasks.roleplay.scripts import (
    TOLERATED,
    alternatives,
    mutants,
    oracle_actions,
    played,
)
from hexathlon.tasks.roleplay.stage import MANNERS, Stage
from hexathlon.tasks.roleplay.trivial import policies
from hexathlon.tasks.seeding import derive_seed
from hexathlon.tasks.source import Script, TaskAddress, parse_address
from hexathlon.tasks.strata import StratifiedSource
from hexathlon.tasks.task import LEVELS, Split, Task

__all__ = ["SHIFTS", "ShiftSource", "ShiftTurn", "reference_turns", "source"]

_KINDS = ("boundary", "timepoint", "secret", "style")
"""Templates whose beats can be reordered freely."""

_OLD = ("harbour", "abbey", "market", "caravan")
_NEW = ("starship", "frontier", "clockwork", "radio")
SHIFTS: Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any]]] = {
    "user": ({"manners": MANNERS}, {"manners": ("childlike", "tipsy", "learned", "poetic")}),
    "character": ({"settings": _OLD}, {"settings": _NEW}),
    "dialogue": ({"composition": "usual"}, {"composition": "blocks"}),
}
"""For each shift, the settings in the distribution and under the shift."""

_FIXED: Mapping[str, Any] = {"manners": MANNERS, "settings": _OLD, "composition": "usual"}
_DRAWN_AS = "1"
"""Seed component independent of `version`, which can change without redrawing all tasks."""
PER_STRATUM: Mapping[Split, int] = {"dev": 8, "test": 40, "heldout": 40}


class ShiftTurn(NamedTuple):
    """One turn, as input to an estimator of information."""

    context: Mapping[str, str]
    """The turn's context: `user`, `character`, `dialogue` and `features`."""

    reference: str
    """The correct reply of the character."""


class ShiftSource(StratifiedSource):
    """Pairs of tasks that differ in one factor."""

    name = "roleplay-shift"
    family = "roleplay"
    version = "5"
    per_stratum = PER_STRATUM
    tolerated = TOLERATED

    def __init__(self) -> None:
        places = [f"{shift}-{side}" for shift in SHIFTS for side in ("in", "out")]
        self.strata = [(template, level) for level in LEVELS for template in places]

    def build(self, task_id: str, salt: str | None = None) -> Task:
        """Build one task.

        Raises:
            UnknownTask: If the task does not exist, or the salt is missing.
        """
        address = self.checked(task_id, salt)
        seed = _seed(address, salt or "")
        task = dialogue_task(address, self.name, self.version, seed, _stage(address, seed))
        shift, _, side = address.template.partition("-")
        other = f"{shift}-{'out' if side == 'in' else 'in'}"
        return task.model_copy(update={"twin": str(replace(address, template=other))})

    def data_files(self) -> Sequence[str]:
        """Return the patterns of the names, settings and phrases."""
        return ("tasks/roleplay/*.toml", "tasks/roleplay/settings/*.toml")

    def oracle(self, task: Task) -> Script:
        """Take the correct action in every beat."""
        return played(oracle_actions(_stage_of(task)))

    def alternatives(self, task: Task) -> Mapping[str, Script]:
        """Return alternative correct solutions."""
        return alternatives(_stage_of(task))

    def mutants(self, task: Task) -> Mapping[str, Script]:
        """Return near misses."""
        return mutants(_stage_of(task))

    def policies(self, task: Task) -> Mapping[str, Script]:
        """Return trivial agents."""
        return policies(_stage_of(task), task.instruction)


def reference_turns(task: Task, replies: Sequence[str] | None = None) -> list[ShiftTurn]:
    """Return the turns of a task's own solution, for estimates of information.

    Args:
        task: A task of this source.
        replies: A model's replies, in order: its own earlier replies are then part of the
            dialogue, and only turns that it replied to are returned.
    """
    stage = _stage_of(task)
    said: list[str] = []
    turns = []
    pairs = zip(stage.beats, oracle_actions(stage), strict=True)
    for number, (beat, act) in enumerate(pairs):
        if replies is not None and number == len(replies):
            break
        said.append(beat.line)
        context = {
            "user": task.params["manner"],
            "character": task.instruction,
            "dialogue": "\n".join(said),
            "features": json.dumps(dict(beat.query), ensure_ascii=False, sort_keys=True),
        }
        reference = str(json.loads(act)["arguments"]["reply"])
        turns.append(ShiftTurn(context, reference))
        said.append(reference if replies is None else replies[number])
    return turns


def _seed(address: TaskAddress, salt: str) -> int:
    """Return the seed, which both twins share."""
    shared = replace(address, template=address.template.partition("-")[0])
    return derive_seed("roleplay-shift", _DRAWN_AS, str(shared), salt)


def _stage_of(task: Task) -> Stage:
    return _stage(parse_address(task.id), task.seed)


def _stage(address: TaskAddress, seed: int) -> Stage:
    shift, _, side = address.template.partition("-")
    kind = _KINDS[derive_seed("roleplay-shift-kind", seed) % len(_KINDS)]
    changes = {**_FIXED, **SHIFTS[shift][side == "out"]}
    return draw_stage(replace(address, template=kind), seed, **changes)


def source() -> ShiftSource:
    """Create the source for the registry."""
    return ShiftSource()
