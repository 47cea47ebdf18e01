"""The task source `sql`: questions realised from query programs over generated worlds.

Ids count within a stratum (template and level); `address` goes round the strata, so that any
prefix of a split covers templates and levels evenly. Tasks of one round share their worlds, hence
their databases.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from hexathlon.tasks.errors import UnknownTask
from hexathlon.tasks.seeding import derive_seed, generator_for
from hexathlon.tasks.source import Address, Script, TaskSource, parse_address
from hexathlon.tasks.sql.bench import bench_for
from hexathlon.tasks.sql.clarify import agenda, idle_agenda
from hexathlon.tasks.sql.composing import ATTEMPTS, WORLD_TRIES, Composition, compose, recompose
from hexathlon.tasks.sql.scripts import handing_in, impossible, solving
from hexathlon.tasks.sql.templates.draft import Template, all_templates
from hexathlon.tasks.sql.tools import sql_tools
from hexathlon.tasks.sql.world import WORLDS, world_id
from hexathlon.tasks.task import LEVELS, Check, Level, Limits, Split, Task

__all__ = ["SQLSource", "source"]

PER_STRATUM: dict[Split, int] = {"dev": 6, "test": 9, "heldout": 9}
_GROUPS = 3
"""Worlds per level in one round over the strata."""
_IDLE_USER = 0.3
"""Share of the questions that leave nothing open and still come with a user."""


class SQLSource(TaskSource):
    """Questions to generated databases."""

    name = "sql"
    family = "sql"
    version = "1"

    def __init__(self) -> None:
        self._templates = all_templates()
        self._strata = _strata(self._templates)

    def size(self, split: Split, level: Level | None = None) -> int | None:
        """The number of tasks of a split; train has no end."""
        if split == "train":
            return None
        return PER_STRATUM[split] * len(self._of(level))

    def address(self, split: Split, index: int, level: Level | None = None) -> str:
        """The id of the index-th task: round after round over the strata."""
        strata = self._of(level)
        template, own = strata[index % len(strata)]
        return str(Address(self.name, template, own, split, index // len(strata)))

    def build(self, task_id: str, salt: str | None = None) -> Task:
        """Build one task; the same id and salt give the same task everywhere.

        Raises:
            UnknownTask: There is no such template, level or index, or the salt is missing.
            GenerationExhausted: No instance passed screening.
        """
        address = parse_address(task_id)
        self._check(task_id, address, salt)
        return _built(self, address, salt)

    def _check(self, task_id: str, address: Address, salt: str | None) -> None:
        if address.source != self.name or task_id != str(address):
            raise UnknownTask(task_id, f"it is not written as ids of {self.name} are")
        if (address.template, address.level) not in self._strata:
            raise UnknownTask(task_id, f"{address.template!r} has no level {address.level!r}")
        limit = PER_STRATUM.get(address.split)
        if limit is not None and address.index >= limit:
            raise UnknownTask(task_id, f"{address.split} holds {limit} tasks of each kind")
        if (address.split == "heldout") != (salt is not None):
            raise UnknownTask(task_id, "the held-out split needs a salt, and only it does")

    def _of(self, level: Level | None) -> list[tuple[str, Level]]:
        return [item for item in self._strata if level in (None, item[1])]

    # -- scripts ---------------------------------------------------------------------------

    def oracle(self, task: Task) -> Script:
        """Look around, read, ask where something is open, try the query, hand it in."""
        made = self._made(task)
        documents = task.params["documents"]
        return solving(made.kept.gold, made.tables, documents, made.draft.slot)

    def alternatives(self, task: Task) -> Mapping[str, Script]:
        """The same program in other styles, and as another algebra where there is one."""
        made = self._made(task)
        return {k: handing_in(v, made.draft.slot) for k, v in made.kept.alternatives.items()}

    def mutants(self, task: Task) -> Mapping[str, Script]:
        """The near misses that screening told apart."""
        made = self._made(task)
        return {k: handing_in(v, made.draft.slot) for k, v in made.kept.mutants.items()}

    def policies(self, task: Task) -> Mapping[str, Script]:
        """Trivial agents: dump, majority, first table, always impossible, nothing."""
        schema = bench_for(task.params["world"]).schema
        asked = schema.asked()
        spoken = [table for table in asked if table.plural in task.instruction] or list(asked)
        biggest = max(asked, key=lambda table: (table.scale == "event", table.weight))
        return {
            "dump": handing_in(f"SELECT * FROM {biggest.name}"),
            "majority": handing_in(f"SELECT COUNT(*) FROM {spoken[0].name}"),
            "first_table": handing_in(f"SELECT * FROM {schema.tables[0].name}"),
            "always_impossible": impossible("missing_data", spoken[-1].noun),
            "empty": handing_in("SELECT NULL WHERE 1 = 0"),
        }

    def _made(self, task: Task) -> Composition:
        params = task.params
        return recompose(task.template, params["world"], task.seed, params["attempt"])


def _strata(templates: Mapping[str, Template]) -> list[tuple[str, Level]]:
    """All (template, level), arranged so that each third of them covers all levels."""
    by_level = {
        level: [(item.name, level) for item in templates.values() if level in item.levels]
        for level in LEVELS
    }
    arranged: list[tuple[str, Level]] = []
    for group in range(_GROUPS):
        parts = [by_level[level][group::_GROUPS] for level in LEVELS]
        for place in range(max(map(len, parts))):
            arranged += [part[place] for part in parts if place < len(part)]
    return arranged


@lru_cache(maxsize=256)
def _built(source: SQLSource, address: Address, salt: str | None) -> Task:
    seed = derive_seed("sql-task", source.version, str(address), salt or "")
    made = compose(address.template, _worlds(source, address, salt), seed)
    bench = bench_for(made.world)
    documents = [document.name for document in bench.schema.documents]
    user = _user(made, seed)
    canary = f"hexathlon-sql-{derive_seed('sql-canary', seed):016x}"
    return Task(
        id=str(address),
        family=source.family,
        generator=source.name,
        version=source.version,
        level=address.level,
        split=address.split,
        seed=seed,
        instruction=made.instruction,
        params={
            "backend": "sqlite",
            "world": made.world,
            **bench.visible.address(),
            "mode": "read",
            "documents": documents,
            "user": user,
            "hidden": [population.address() for population in bench.hidden],
            "attempt": made.attempt,
        },
        tools=sql_tools("sql", documents=bool(documents), user=user is not None),
        limits=Limits(turns=20 if address.level in ("tiny", "easy") else 30),
        checks=(_check(made, canary),),
        canary=canary,
    )


def _check(made: Composition, canary: str) -> Check:
    params: dict[str, Any] = {
        "gold": made.kept.gold,
        "ordered": made.kept.ordered,
        "columns": made.kept.columns,
        "canary": canary,
    }
    return Check(name="sql_result", params=params)


def _user(made: Composition, seed: int) -> dict[str, Any] | None:
    if made.draft.slot is not None:
        return agenda(made.draft.slot)
    rng = generator_for("sql-user", seed)
    return idle_agenda() if rng.random() < _IDLE_USER else None


def _worlds(source: SQLSource, address: Address, salt: str | None) -> list[str]:
    """The worlds to try, the round's own first."""
    strata = source._strata
    group = strata.index((address.template, address.level)) * _GROUPS // len(strata)
    first = address.index * _GROUPS + group
    count = -(-ATTEMPTS // WORLD_TRIES)
    end = 1 << 40 if address.split == "train" else WORLDS[address.split]
    return [
        world_id(address.split, (first + step) % end, address.level, salt) for step in range(count)
    ]


def source() -> SQLSource:
    """The source, for the registry."""
    return SQLSource()
