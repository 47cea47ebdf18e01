"""The task source `terminal`: generated tasks in Harbor format.

Ids are numbered within a stratum (template and level); `address` cycles through the strata, so that
any prefix of a split covers templates and levels evenly.
"""

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import chain, zip_longest
from typing import Any

from hexathlon.tasks.seeding import derive_seed
from hexathlon.tasks.source import Script, parse_address
from hexathlon.tasks.strata import StratifiedSource
from hexathlon.tasks.task import LEVELS, Check, Level, Limits, Split, Task
from hexathlon.tasks.terminal.dice import Dice
from hexathlon.tasks.terminal.draft import TerminalDraft
from hexathlon.tasks.terminal.harbor_form import checks_of, harbor_files
from hexathlon.tasks.terminal.policies import policies_for
from hexathlon.tasks.terminal.sameness import same_result
from hexathlon.tasks.terminal.scripts import solving, working
from hexathlon.tasks.terminal.templates.catalogue import all_templates
from hexathlon.tasks.terminal.tools import TOOLS
from hexathlon.tasks.terminal.zones import zones_digest

__all__ = ["TerminalSource", "draft_of", "files_of", "source"]

PER_STRATUM: dict[Split, int] = {"dev": 160, "test": 6, "heldout": 6}
"""Tasks per template and level in the bounded splits."""

_DRAWN_AS = "1"
"""Seed component independent of `version`, which can change without redrawing all tasks."""

_PLAYED = 12
"""Near misses of one shift that are played."""

_TURNS: dict[Level, int] = {"tiny": 15, "easy": 25, "medium": 40, "hard": 60}


class TerminalSource(StratifiedSource):
    """Generated shell tasks."""

    name = "terminal"
    family = "terminal"
    version = "10"
    late_modules = (
        "hexathlon.tasks.terminal.templates.*",
        "hexathlon.tasks.terminal.templates.long.*",
        "hexathlon.tasks.terminal.templates.long.hopper.*",
        "hexathlon.tasks.terminal.templates.long.language.*",
        "hexathlon.tasks.terminal.templates.long.language.interpreter.*",
        "hexathlon.tasks.terminal.templates.long.rating.*",
        "hexathlon.tasks.terminal.templates.long.resolve.*",
        "hexathlon.tasks.terminal.templates.long.volume.*",
        "hexathlon.tasks.terminal.templates.shifts.*",
    )
    per_stratum = PER_STRATUM
    tolerated = {"drop:submit": "an agent that stops is graded by the files that it leaves"}

    def __init__(self) -> None:
        self.strata = _strata()

    def build(self, task_id: str, salt: str | None = None) -> Task:
        """Build one task; the same id and salt give the same task everywhere.

        Raises:
            UnknownTask: If the template, level or index does not exist, or the salt is missing.
        """
        address = self.checked(task_id, salt)
        seed = derive_seed("terminal-task", _DRAWN_AS, str(address), salt or "")
        draft = _draft(address.template, address.level, address.split, seed)
        return Task(
            id=task_id,
            family=self.family,
            generator=self.name,
            version=self.version,
            level=address.level,
            split=address.split,
            seed=seed,
            instruction=draft.instruction,
            params={"kind": "generated"},
            tools=TOOLS,
            limits=Limits(turns=draft.turns or _TURNS[address.level], seconds_per_action=60.0),
            checks=(Check(name="terminal_tests", params=_expected(draft)),),
            canary=_canary(seed),
        )

    def equivalent(self, task: Task, right: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
        """Whether the working directory holds the oracle's result, whatever stands beside it.

        Git's files are not in `changed`, so where a task needs git, tests have to agree too.
        """
        given = set(draft_of(task).files)
        git = "git" in all_templates()[task.template].needs
        return right["flags"] == other["flags"] and all(
            same_result(one["changed"], another["changed"], given)
            and (not git or one["tests"] == another["tests"])
            for one, another in zip(right["steps"], other["steps"], strict=True)
        )

    def data_files(self) -> Sequence[str]:
        """Return the scripts copied verbatim, with their comments, into every task directory."""
        return ("tasks/terminal/check_source.py", "tasks/terminal/judging.py")

    def dependencies(self) -> Mapping[str, str]:
        """Return digests of numpy's draws and of the time-zone rules used in logs and schedules."""
        return {**super().dependencies(), "zoneinfo": zones_digest()}

    # -- scripts ---------------------------------------------------------------------------

    def oracle(self, task: Task) -> Script:
        """Explore, run the solution and submit; in a shift, for each ticket."""
        draft = draft_of(task)
        if draft.tickets:
            return working(draft.tickets, [ticket.solution for ticket in draft.tickets])
        return solving(draft_of(task).solution, look=True)

    def alternatives(self, task: Task) -> Mapping[str, Script]:
        """Return alternative correct solutions."""
        draft = draft_of(task)
        if draft.tickets:
            days = draft.day_alternatives.items()
            return {name: working((), scripts) for name, scripts in days}
        return {name: solving(text) for name, text in draft_of(task).alternatives.items()}

    def mutants(self, task: Task) -> Mapping[str, Script]:
        """Return solutions with one requirement missing or wrong, after the same exploration.

        Of a shift's near misses, a dozen are drawn: each plays a whole day.
        """
        draft = draft_of(task)
        if draft.tickets:
            drawn = Dice("near misses", task.seed).some(sorted(draft.day_mutants), _PLAYED)
            return {name: working(draft.tickets, draft.day_mutants[name]) for name in drawn}
        return {name: solving(text, look=True) for name, text in draft_of(task).mutants.items()}

    def policies(self, task: Task) -> Mapping[str, Script]:
        """Return trivial agents."""
        return policies_for(task)


def draft_of(task: Task) -> TerminalDraft:
    """Return the draft of a generated task."""
    return _draft(task.template, task.level, task.split, task.seed)


def files_of(task: Task) -> dict[str, bytes]:
    """Return a generated task as a Harbor directory, mapping paths to bytes."""
    return harbor_files(parse_address(task.id), draft_of(task), task.canary)


def _expected(draft: TerminalDraft) -> dict[str, Any]:
    """Return the verifier's parameters: the expected test ids by step."""
    if draft.tickets:
        tests = {ticket.name: [probe.id for probe in ticket.probes] for ticket in draft.tickets}
        return {"tests": tests, "parts": True}
    checks = checks_of(draft)
    kept = [f"keep:{path}" for path in checks["keep"]]
    return {"tests": {"": kept + [probe["id"] for probe in checks["probes"]]}}


def _canary(seed: int) -> str:
    return f"hexathlon-terminal-canary-{derive_seed('canary', seed):016x}"


@lru_cache(maxsize=64)
def _draft(name: str, level: Level, split: Split, seed: int) -> TerminalDraft:
    draft = TerminalDraft(name, level, split, Dice(name, level, split, seed))
    all_templates()[name].write(draft)
    _require_whole(draft)
    return draft


def _require_whole(draft: TerminalDraft) -> None:
    """Reject an incomplete draft, which is a defect of the template rather than of the request."""
    last = draft.tickets[-1].probes if draft.tickets else draft.probes
    ids = [probe.id for probe in last]
    lacks = {
        "an instruction": not draft.instruction,
        "distinct probes": not ids or len(set(ids)) != len(ids),
        "files to keep": any(path not in draft.files for path in draft.kept),
        "three mutants": len(draft.day_mutants or draft.mutants) < 3,
        "an alternative": not (draft.day_alternatives or draft.alternatives),
        "plain JSON": json.loads(json.dumps(checks_of(draft, last))) != checks_of(draft, last),
    }
    missing = [name for name, lacking in lacks.items() if lacking]
    if missing:
        raise ValueError(f"the template {draft.template} ({draft.level}) lacks {missing}")


def _strata() -> list[tuple[str, Level]]:
    """Return all (template, level) pairs, cycling through the levels.

    Shifts take turns with the other templates of their level.
    """
    by_level: list[list[tuple[str, Level]]] = []
    for level in LEVELS:
        names = [item.name for item in all_templates().values() if level in item.levels]
        shifts = [name for name in names if name.startswith("shift_")]
        others = [name for name in names if name not in shifts]
        pairs = chain.from_iterable(zip_longest(others, shifts))
        by_level.append([(name, level) for name in pairs if name is not None])
    longest = max(map(len, by_level))
    return [group[place] for place in range(longest) for group in by_level if place < len(group)]


def source() -> TerminalSource:
    """Create the source for the registry."""
    return TerminalSource()
