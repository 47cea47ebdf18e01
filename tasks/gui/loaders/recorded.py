"""Recorded trajectories of experts on a phone, as tasks that are replayed step by step.

A file is JSON lines, one trajectory each, in the form in which UI-S1 publishes AndroidControl:

    {"goal": "…", "episode_id": 7, "steps": [{
        "screenshot": "images/7_0.png",
        "action_content": {"action": "click", "coordinate": [9, 9], "bbox": [0, 0, 20, 20]},
        "step_instruction": "…", "size": [1080, 2400], "elements": [{"text": "…", "bbox": […]}]}]}

The actions are those of `mobile_use`. `check_options` in a step replaces `action_content` for the
comparison and may have `candidate_bbox`, a list of boxes. `step_instruction`, `size` and `elements`
are optional. `HEXATHLON_DATA/gui_replay` holds `train.jsonl`, `dev.jsonl` and `test.jsonl`, or any
of them, and the screenshots.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from hexathlon.tasks.errors import InvalidRecord, MissingData, UnknownTask
from hexathlon.tasks.gui.loaders.recorded_actions import (
    RecordedAction,
    RecordedStep,
    Recording,
    call_of,
)
from hexathlon.tasks.gui.loaders.tools import PUBLIC_PHONE_TOOLS
from hexathlon.tasks.public_data import data_folder
from hexathlon.tasks.seeding import derive_seed
from hexathlon.tasks.source import Script, TaskAddress, TaskSource, parse_address
from hexathlon.tasks.task import Check, Level, Limits, Split, Task
from hexathlon.tasks.tool_calls import tool_call

__all__ = ["RecordedSource", "read_recordings", "source"]

_SPLITS: tuple[Split, ...] = ("train", "dev", "test")
_SIZE = (1080, 2400)
_ACTION_KEYS = frozenset(
    {"action", "coordinate", "coordinate2", "text", "time", "button", "status", "direction", "bbox",
     "candidate_bbox"}
)  # fmt: skip
_STEP_KEYS = frozenset(
    {"screenshot", "action_content", "check_options", "step_instruction", "size", "elements",
     "thought", "bbox", "candidate_bbox"}
)  # fmt: skip
_MOST_STEPS = 100
_LEVELS: tuple[tuple[int, Level], ...] = ((3, "easy"), (7, "medium"))
"""Maximum number of steps per level; longer trajectories are hard."""


class RecordedSource(TaskSource):
    """One task for each recorded trajectory.

    Args:
        root: Folder of the files; `gui_replay` below HEXATHLON_DATA by default.
    """

    family = "gui"
    name = "gui-replay"
    version = "1"

    def __init__(self, root: Path | None = None) -> None:
        self._root = root

    @property
    def root(self) -> Path:
        """The folder of the files."""
        return self._root or data_folder("gui_replay/") / "gui_replay"

    def size(self, split: Split, level: Level | None = None) -> int | None:
        """Return the number of trajectories, of all levels or of one."""
        return len(self._numbers(split, level))

    def address(self, split: Split, index: int, level: Level | None = None) -> str:
        """Return the id of the trajectory at `index`."""
        number = self._numbers(split, level)[index]
        level = _level(self.recordings(split)[number])
        return str(TaskAddress(self.name, "trajectory", level, split, number))

    def build(self, task_id: str, salt: str | None = None) -> Task:
        """Build the task with this id.

        Raises:
            UnknownTask: If there is no such trajectory.
        """
        recording = self._find(task_id)
        at = parse_address(task_id)
        return Task(
            id=task_id, family=self.family, generator=self.name, version=self.version,
            level=_level(recording), split=at.split, seed=derive_seed("gui-replay", task_id),
            instruction=recording.goal,
            params={"recording": recording.model_dump(mode="json")},
            tools=PUBLIC_PHONE_TOOLS, limits=Limits(turns=2 * len(recording.steps) + 4),
            checks=(Check(name="gui_replay", params={"steps": len(recording.steps)}),),
            canary=f"hexathlon-{self.name}-{derive_seed('gui-replay-canary', task_id):016x}",
        )  # fmt: skip

    def oracle(self, task: Task) -> Script:
        """Repeat the expert's actions."""
        for step in self._find(task.id).steps:
            name, arguments = call_of(step.expert)
            yield tool_call(name, **arguments)

    def mutants(self, task: Task) -> Mapping[str, Script]:
        """Return agents whose actions never match, because the recording has none of that kind."""
        recorded = {call_of(step.expert)[0] for step in self._find(task.id).steps}
        wrong = {"wait", "navigate_home", "double_tap", "keyboard_enter"} - recorded
        return {name: _calls([(name, {})] * _MOST_STEPS) for name in sorted(wrong)}

    def fingerprint(self) -> str:
        """Return the SHA-256 of the loader's code and the files."""
        digest = hashlib.sha256(super().fingerprint().encode())
        for split in _SPLITS:
            path = self.root / f"{split}.jsonl"
            if path.is_file():
                digest.update(split.encode() + hashlib.sha256(path.read_bytes()).digest())
        return digest.hexdigest()

    def screenshot(self, name: str) -> bytes:
        """Return a screenshot named by a step.

        Raises:
            MissingData: If the folder does not contain it.
        """
        path = (self.root / name).resolve()
        if not path.is_relative_to(self.root.resolve()) or not path.is_file():
            raise MissingData(f"there is no screenshot {name!r} in {self.root}")
        return path.read_bytes()

    def recordings(self, split: Split) -> Sequence[Recording]:
        """Return the trajectories of a split; empty if it has no file.

        Raises:
            MissingData: If a line cannot be read.
        """
        path = self.root / f"{split}.jsonl"
        if path not in self._cache:
            self._cache[path] = tuple(read_recordings(path)) if path.is_file() else ()
        return self._cache[path]

    @cached_property
    def _cache(self) -> dict[Path, tuple[Recording, ...]]:
        return {}

    def _numbers(self, split: Split, level: Level | None) -> list[int]:
        if split not in _SPLITS:
            return []
        rows = self.recordings(split)
        return [number for number, row in enumerate(rows) if level in (None, _level(row))]

    def _find(self, task_id: str) -> Recording:
        at = parse_address(task_id)
        if at.source == self.name and at.split in _SPLITS and at.template == "trajectory":
            rows = self.recordings(at.split)
            if at.index < len(rows) and _level(rows[at.index]) == at.level and str(at) == task_id:
                return rows[at.index]
        raise UnknownTask(task_id, f"{self.name} has no such trajectory")


def read_recordings(path: Path) -> Iterator[Recording]:
    """Yield the trajectories of a file.

    Raises:
        MissingData: If a line is not a trajectory; the message states its number.
    """
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                yield _recording(json.loads(line))
            except (InvalidRecord, ValueError, KeyError, TypeError) as error:
                raise MissingData(f"{path}, line {number}: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    return f"the field {error} is required" if isinstance(error, KeyError) else str(error)


def _recording(entry: Mapping[str, Any]) -> Recording:
    steps = tuple(_step(step) for step in entry["steps"])
    if not steps:
        raise ValueError("expected at least one step")
    return Recording(goal=entry["goal"], steps=steps)


def _step(entry: Mapping[str, Any]) -> RecordedStep:
    unknown = sorted(set(entry) - _STEP_KEYS)
    if unknown:
        raise ValueError(f"a step has the unknown fields {unknown}")
    recorded = dict(entry["action_content"])
    options = dict(entry.get("check_options") or {})
    unknown = sorted((set(recorded) | set(options)) - _ACTION_KEYS)
    if unknown:
        raise ValueError(f"an action has the unknown fields {unknown}")
    boxes = _boxes(entry, options, recorded)
    values = {key: value for key, value in recorded.items() if "bbox" not in key}
    width, height = entry.get("size") or _SIZE
    return RecordedStep(
        screenshot=entry.get("screenshot", ""), size=(int(width), int(height)),
        expert=RecordedAction(**values), boxes=boxes,
        hint=entry.get("step_instruction", ""), elements=tuple(entry.get("elements") or ()),
    )  # fmt: skip


def _boxes(*places: Mapping[str, Any]) -> tuple[tuple[float, float, float, float], ...]:
    """Return all boxes that count as the target, from every field that may hold them."""
    boxes = []
    for place in places:
        for key in ("bbox", "candidate_bbox"):
            given = place.get(key) or []
            rows = given if given and isinstance(given[0], (list, tuple)) else [given]
            boxes += [tuple(float(edge) for edge in row) for row in rows if row]
    return tuple(dict.fromkeys(boxes))  # type: ignore[arg-type]


def _level(recording: Recording) -> Level:
    return next((name for most, name in _LEVELS if len(recording.steps) <= most), "hard")


def _calls(calls: Sequence[tuple[str, Mapping[str, Any]]]) -> Script:
    for name, arguments in calls:
        yield tool_call(name, **arguments)


def source() -> RecordedSource:
    """Create the source; the files are read when a task is requested."""
    return RecordedSource()
