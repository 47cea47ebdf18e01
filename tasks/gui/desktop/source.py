"""The task source `desktop`: ids, splits, levels, twins and the scripts that validate a task.

Tasks come in pairs (indices 2k and 2k + 1) that share a template; where a template has twins, one
of them is infeasible, and a coin drawn for the pair decides which. Splits differ in people, places
and goods. Documents and requests come from the templates.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import ClassVar

from hexathlon.tasks.errors import GenerationExhausted
from hexathlon.tasks.gui.desktop.draft import DesktopDraft, DesktopScene, DesktopSolver
from hexathlon.tasks.gui.desktop.pilot import DesktopPilot
from hexathlon.tasks.gui.desktop.programs import PROGRAMS
from hexathlon.tasks.gui.desktop.table import TEMPLATES, templates_of
from hexathlon.tasks.gui.desktop.tools import DESKTOP_TOOLS
from hexathlon.tasks.gui.desktop.trivial import desktop_policies
from hexathlon.tasks.paired import PairedSource
from hexathlon.tasks.seeding import derive_seed, generator_for
from hexathlon.tasks.source import Script, TaskAddress, parse_address
from hexathlon.tasks.task import Check, Level, Limits, Split, Task

__all__ = ["DesktopSource", "source"]

_ATTEMPTS = 60
_LOOKS: dict[bool, tuple[str, ...]] = {False: ("light", "dark"), True: ("large", "contrast")}
"""Looks of the desktop, by whether the split is one of test."""


class DesktopSource(PairedSource):
    """Work with real programs on a Linux desktop."""

    name = "desktop"
    family = "gui"
    version = "1"
    sizes: ClassVar[Mapping[Split, int | None]] = {
        "train": None, "dev": 480, "test": 480, "heldout": 480,
    }  # fmt: skip

    def templates_of(self, level: Level) -> Sequence[str]:
        """Return the names of the templates with tasks of a level."""
        return templates_of(level)

    def build(self, task_id: str, salt: str | None = None) -> Task:
        """Build one task; the same id gives the same task in every process.

        Raises:
            UnknownTask: If the address does not exist, or the salt is missing.
        """
        at = self.checked(task_id, salt)
        draft = _kept_draft(task_id, salt or "")
        template = TEMPLATES[at.template]
        looks = _LOOKS[at.split in ("test", "heldout")]
        look = looks[derive_seed("desktop look", task_id, salt or "") % len(looks)]
        other = TaskAddress(self.name, at.template, at.level, at.split, at.index ^ 1)
        return Task(
            id=task_id,
            family=self.family,
            generator=self.name,
            version=self.version,
            level=at.level,
            split=at.split,
            seed=derive_seed("desktop task", task_id, salt or ""),
            instruction=_instruction(draft, template.reason),
            params={
                "desktop": {
                    "files": {path: dict(stored) for path, stored in draft.files.items()},
                    "look": look,
                    "open": [list(pair) for pair in draft.open_at_start],
                },
                "salt": salt or "",
            },
            tools=DESKTOP_TOOLS,
            limits=Limits(turns=draft.turns, seconds_per_action=120.0),
            checks=(
                Check(
                    name="desktop_state",
                    params={
                        "changed": {path: dict(each) for path, each in draft.changed.items()},
                        "deleted": list(draft.deleted),
                        "answer": None if draft.answer is None else list(draft.answer),
                        "refusal": draft.refusal and {
                            "reason": draft.refusal.reason, "record": draft.refusal.record,
                        },
                    },
                ),
            ),
            twin=str(other) if template.twins else None,
            canary=f"canary-{derive_seed('desktop canary', task_id):x}",
        )  # fmt: skip

    def oracle(self, task: Task) -> Script:
        """Solve the task with the tools."""
        return _run(_draft_of(task).solve)

    def alternatives(self, task: Task) -> Mapping[str, Script]:
        """Return alternative correct solutions."""
        return {name: _run(each) for name, each in _draft_of(task).alternatives.items()}

    def mutants(self, task: Task) -> Mapping[str, Script]:
        """Return near misses."""
        return {name: _run(each) for name, each in _draft_of(task).mutants.items()}

    def policies(self, task: Task) -> Mapping[str, Script]:
        """Return trivial desktop users."""
        return desktop_policies(task)


def _instruction(draft: DesktopDraft, reason: str) -> str:
    """Return the request; for tasks with twins, with the reason code of a refusal."""
    parts = [
        draft.instruction,
        f"The programs are: {', '.join(PROGRAMS)}. Files are in the home folder /home/user. "
        "Save what you change, change nothing else, and end with status.",
    ]
    if reason:
        parts.append(
            f"If it cannot be done, change nothing and end with status infeasible, the reason "
            f"{reason}, and as the record what the request says to name."
        )
    return "\n\n".join(parts)


@lru_cache(maxsize=16)
def _kept_draft(task_id: str, salt: str) -> DesktopDraft:
    """Draw a task; a pure function of its id and the salt."""
    at = parse_address(task_id)
    template = TEMPLATES[at.template]
    pair = ("desktop", at.template, at.level, at.split, at.index // 2, salt)
    side = (at.index + derive_seed("side", *pair)) % 2
    for attempt in range(_ATTEMPTS):
        # Twins share every draw; other pairs differ from the first one onwards.
        own = () if template.twins else (side,)
        rng = generator_for(*pair, attempt, *own)
        feasible = side == 0 or not template.twins
        draft = template.draw(DesktopScene(rng, at.level, at.split, feasible))
        if draft is not None:
            return draft
    raise GenerationExhausted(f"{at}: no instance in {_ATTEMPTS} attempts")


def _draft_of(task: Task) -> DesktopDraft:
    return _kept_draft(task.id, str(task.params["salt"]))


def _run(solver: DesktopSolver) -> Script:
    return solver(DesktopPilot())


def source() -> DesktopSource:
    """Create the source for the registry."""
    return DesktopSource()
