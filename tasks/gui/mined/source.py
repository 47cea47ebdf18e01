"""The task source `gui-mined`: an unlimited curriculum from exploration of the simulator's apps.

Levels are numbers of needed steps. Requests describe the change of a row in the words of its table:
no template and no annotation is involved.
"""

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar

from hexathlon.tasks.errors import GenerationExhausted
from hexathlon.tasks.gui.mined.walk import MinedWalk, mine
from hexathlon.tasks.gui.pilot import PhonePilot
from hexathlon.tasks.gui.tools import PHONE_TOOLS
from hexathlon.tasks.gui.world.apps.names import APP_NAMES
from hexathlon.tasks.gui.world.system.plan import PhonePlan
from hexathlon.tasks.paired import PairedSource
from hexathlon.tasks.seeding import derive_seed, generator_for
from hexathlon.tasks.source import Script, parse_address
from hexathlon.tasks.task import Check, Level, Limits, Split, Task

__all__ = ["MinedSource", "source"]

_TRIES = 400
_STEPS: Mapping[Level, tuple[int, ...]] = {
    "tiny": (1,), "easy": (2,), "medium": (3,), "hard": (4, 5, 6, 7, 8, 9),
}  # fmt: skip
_TEXTS = ("blue door", "north gate", "late shift", "spare keys", "second floor", "red folder",
          "green lamp", "old bridge", "early train", "quiet room")  # fmt: skip
_TITLES = ("title", "name", "label", "time", "id")


class MinedSource(PairedSource):
    """Tasks that random walks found."""

    name = "gui-mined"
    family = "gui"
    version = "1"
    sizes: ClassVar[Mapping[Split, int | None]] = {
        "train": None, "dev": 1_600, "test": 800, "heldout": 800,
    }  # fmt: skip
    late_modules = tuple(f"hexathlon.tasks.gui.world.apps.{name}.*" for name in APP_NAMES)

    def templates_of(self, level: Level) -> Sequence[str]:
        """Return the only name: exploration has no templates."""
        return ("walk",)

    def build(self, task_id: str, salt: str | None = None) -> Task:
        """Build one task; the same id gives the same task in every process.

        Raises:
            UnknownTask: If the address does not exist, or the salt is missing.
        """
        at = self.checked(task_id, salt)
        plan, walk = _mined(task_id, salt or "")
        return Task(
            id=task_id, family=self.family, generator=self.name, version=self.version,
            level=at.level, split=at.split, seed=derive_seed("gui-mined task", task_id, salt or ""),
            instruction=_request(walk),
            params={"world": plan.to_json(), "salt": salt or "",
                    "curriculum": {"app": walk.app, "steps": len(walk.steps)}},
            tools=PHONE_TOOLS, limits=Limits(turns=10 + 4 * len(walk.steps)),
            checks=(Check(name="gui_state", params={
                "changes": _changes(walk),
                "answer": {"status": "complete", "data": None, "record": "", "ordered": True}}),),
            canary=f"canary-{derive_seed('gui-mined canary', task_id):x}",
        )  # fmt: skip

    def oracle(self, task: Task) -> Script:
        """Repeat the steps that were needed."""
        _, walk = _mined(task.id, str(task.params["salt"]))
        return _script(walk, len(walk.steps))

    def mutants(self, task: Task) -> Mapping[str, Script]:
        """Return the walk cut short, and reports without it."""
        _, walk = _mined(task.id, str(task.params["salt"]))
        cut = {f"first {count} steps": _script(walk, count) for count in range(len(walk.steps))}
        return {**cut, "refused": _refused()}

    def data_files(self) -> Sequence[str]:
        """Return the pattern of the label files."""
        return ("tasks/gui/world/**/*.toml",)


def _script(walk: MinedWalk, count: int) -> Script:
    pilot = PhonePilot("en")
    yield from pilot.open(walk.app)
    for step in walk.steps[:count]:
        if step.text:
            yield from pilot.fill(step.names, step.text)
        else:
            yield from pilot.tap_entry(step.names, step.role)
    yield from pilot.done()


def _refused() -> Script:
    yield json.dumps({"name": "status", "arguments": {"goal_status": "infeasible"}})


@lru_cache(maxsize=8)
def _mined(task_id: str, salt: str) -> tuple[PhonePlan, MinedWalk]:
    """Explore until a walk of the level's length is found; a pure function of id and salt."""
    at = parse_address(task_id)
    rng = generator_for("gui-mined", task_id, salt)
    seed = derive_seed("gui-mined world", at.split, at.index // 8, salt) % 1_000_000_000
    start = f"2026-0{1 + seed % 6}-{10 + seed % 17}T{8 + seed % 3:02d}:30:00"
    plan = PhonePlan(seed, at.split, "en", 2, start)
    for _ in range(_TRIES):
        app = APP_NAMES[int(rng.integers(len(APP_NAMES)))]
        walk = mine(plan, app, _TEXTS, rng)
        if walk is not None and len(walk.steps) in _STEPS[at.level] and _describable(plan, walk):
            return plan, walk
    raise GenerationExhausted(f"{at}: no walk of this length in {_TRIES} tries")


def _changes(walk: MinedWalk) -> dict[str, Any]:
    if walk.kind == "removed":
        return {walk.table: {"removed": [walk.before["id"]]}}
    if walk.kind == "added":
        row = {name: value for name, value in walk.row.items() if name != "id"}
        return {walk.table: {"added": [row]}}
    return {walk.table: {"changed": [[walk.row["id"], _new_values(walk)]]}}


def _new_values(walk: MinedWalk) -> dict[str, Any]:
    return {name: value for name, value in walk.row.items() if value != walk.before.get(name)}


def _title(row: Mapping[str, Any]) -> str:
    """Return the text by which a row is called; empty if it has none."""
    return next((str(row[name]) for name in _TITLES if row.get(name) not in ("", None)), "")


def _describable(plan: PhonePlan, walk: MinedWalk) -> bool:
    """Whether a request can name the row and its values without numbers of other rows."""
    given = _given(walk) if walk.kind == "added" else _new_values(walk)
    if not all(isinstance(value, str | bool) for value in given.values()):
        return False
    if walk.kind == "added":
        return any(isinstance(value, str) and len(value) > 2 for value in given.values())
    titles = [_title(row) for row in plan.table(walk.table).values()]
    title = _title(walk.before)
    return titles.count(title) == 1 and not title.isdigit()


def _given(walk: MinedWalk) -> dict[str, Any]:
    """Return the values of a new row that are not empty."""
    return {name: value for name, value in walk.row.items()
            if name != "id" and value not in ("", False, None, 0)}  # fmt: skip


def _request(walk: MinedWalk) -> str:
    """Describe the change."""
    things = walk.table.partition(".")[2].replace("_", " ")
    if walk.kind == "added":
        shown = _listed(_given(walk))
        return f"In the app {walk.app}, add to the {things}: {shown}. All else is usual."
    title = _title(walk.before)
    if walk.kind == "removed":
        return f'In the app {walk.app}, remove "{title}" from the {things}.'
    return f'In the app {walk.app}, change "{title}" of the {things}: {_listed(_new_values(walk))}.'


def _listed(values: Mapping[str, Any]) -> str:
    words = {True: "yes", False: "no"}
    return ", ".join(
        f"{name.replace('_', ' ')} {words[value] if isinstance(value, bool) else json.dumps(value)}"
        for name, value in values.items()
    )


def source() -> MinedSource:
    """Create the source for the registry."""
    return MinedSource()
