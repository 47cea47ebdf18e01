"""The task source `sql`: questions about generated databases, and changes to them.

Questions are realised from query programs. Ids are numbered within a stratum (template and level);
`address` cycles through the strata, so that any prefix of a split covers templates and levels
evenly. Tasks of one round share their worlds, and therefore their databases; shifts have worlds of
their own, of level medium, since their own tables are what makes them hard; estates have companies,
and questions about engines a database each.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial

from hexathlon.tasks.seeding import derive_seed
from hexathlon.tasks.source import Script, TaskAddress
from hexathlon.tasks.sql.assembling import (
    engine_task,
    estate_task,
    question_task,
    shift_task,
    write_task,
)
from hexathlon.tasks.sql.composing import ATTEMPTS, WORLD_TRIES, Composition, compose, recompose
from hexathlon.tasks.sql.engines.finding import Accepted, find
from hexathlon.tasks.sql.engines.tasks import (
    ENGINES,
    engine_alternatives,
    engine_mutants,
    engine_oracle,
    engine_policies,
)
from hexathlon.tasks.sql.estates.estate import Estate, estate_of, find_estate
from hexathlon.tasks.sql.estates.tasks import (
    ESTATES,
    estate_alternatives,
    estate_mutants,
    estate_oracle,
    estate_policies,
)
from hexathlon.tasks.sql.mixture import (
    GROUPS,
    arranged_round,
    other_strata,
    own_strata,
    times_of,
)
from hexathlon.tasks.sql.schema import Schema
from hexathlon.tasks.sql.scripts import Exploring, handing_in, impossible, solving
from hexathlon.tasks.sql.shifts.day import ShiftDay, day_of
from hexathlon.tasks.sql.shifts.tasks import (
    SHIFTS,
    compose_shift,
    shift_alternatives,
    shift_mutants,
    shift_oracle,
    shift_policies,
)
from hexathlon.tasks.sql.templates.catalogue import all_templates
from hexathlon.tasks.sql.tools import IMPOSSIBLE_REASONS
from hexathlon.tasks.sql.world.world import WORLDS, world_for, world_id
from hexathlon.tasks.sql.writes.instances import WriteInstance, write_templates
from hexathlon.tasks.sql.writes.tasks import compose_write, recompose_write, scripting, writing
from hexathlon.tasks.strata import StratifiedSource
from hexathlon.tasks.task import LEVELS, Level, Split, Task

__all__ = ["SQLSource", "source"]

PER_STRATUM: dict[Split, int] = {"dev": 40, "test": 6, "heldout": 6}
"""Tasks per template and level in the bounded splits."""
_SHIFT_WORLDS = 6
_DRAWN_AS = "2"
"""Seed component independent of `version`, which can change without redrawing all tasks."""


class SQLSource(StratifiedSource):
    """Questions about generated databases, and changes to them."""

    name = "sql"
    family = "sql"
    version = "11"
    tolerated = {
        "alter:submit.sql": "a digit may decide nothing: less than a quarter in an amount, whose "
        "values are quarters; a day that no month has; the 1 in COUNT(CASE ... THEN 1 END); the "
        "length of a SUBSTR of dates that ends at a hyphen; the code of a category not asked for",
        "alter:submit.script": "a digit may decide nothing, as in queries",
    }
    late_modules = ("hexathlon.tasks.sql.templates.*", "hexathlon.tasks.sql.engines.*")
    per_stratum = PER_STRATUM

    def __init__(self) -> None:
        self._twins = {item.name: item.twin for item in all_templates().values() if item.twin}
        others = other_strata()
        self._places = {stratum: place for place, stratum in enumerate(others)}
        self.strata = [*others, *own_strata()]
        self._rounds = {level: arranged_round(level) for level in (None, *LEVELS)}

    # -- tasks -----------------------------------------------------------------------------

    def build(self, task_id: str, salt: str | None = None) -> Task:
        """Build one task; the same id and salt give the same task everywhere.

        Raises:
            UnknownTask: If the template, level or index does not exist, or the salt is missing.
            GenerationExhausted: If no instance passed screening.
        """
        address = self.checked(task_id, salt)
        return _built(self, address, salt)

    def size(self, split: Split, level: Level | None = None) -> int | None:
        """Return the number of tasks in a split, or None for the unbounded train split."""
        if split == "train":
            return None
        return self.per_stratum[split] * len(self._rounds[level])

    def address(self, split: Split, index: int, level: Level | None = None) -> str:
        """Return the id of the task at `index`, by the mixture of templates."""
        arranged = self._rounds[level]
        template, own, place, times = arranged[index % len(arranged)]
        number = index // len(arranged) * times + place
        return str(TaskAddress(self.name, template, own, split, number))

    def limit_of(self, address: TaskAddress) -> int | None:
        """Return the number of tasks of one template, level and split; None for the train split."""
        limit = super().limit_of(address)
        return None if limit is None else limit * times_of(address.template, address.level)

    def leading(self, template: str) -> str:
        """Return the template itself or, for a pair of twins, always the same one of the two."""
        return min(template, self._twins.get(template) or template)

    def worlds(self, address: TaskAddress, salt: str | None) -> list[str]:
        """Return the ids of the worlds to try, the round's own first; the same for twins."""
        if address.template in SHIFTS:
            return _shift_worlds(address, salt)
        if address.template in ESTATES:
            return [_company(address, salt)]
        place = self._places[self.leading(address.template), address.level]
        first = address.index * GROUPS + place * GROUPS // len(self._places)
        end = 1 << 40 if address.split == "train" else WORLDS[address.split]
        return [
            world_id(address.split, (first + step) % end, address.level, salt)
            for step in range(-(-ATTEMPTS // WORLD_TRIES))
        ]

    def twin(self, template: str) -> str | None:
        """Return the template whose task with the same index differs only in the deciding fact."""
        return self._twins.get(template)

    # -- scripts ---------------------------------------------------------------------------

    def oracle(self, task: Task) -> Script:
        """Explore, read, clarify what the question leaves open, test the query and submit it."""
        if task.template in SHIFTS:
            return shift_oracle(_day(task))
        if task.template in ENGINES:
            return engine_oracle(_engine(task))
        if task.template in ESTATES:
            return estate_oracle(_estate(task))
        if task.params["mode"] == "write":
            change = _change(task)
            asked = [table.name for table in world_for(change.world).schema.asked()]
            tables = [*(table.name for table in change.tables), *asked[:2]]
            documents = change.documents or task.params["documents"][:1]
            return _handing_in_change(change, change.gold, tables, documents)
        made = _question(task)
        documents, obstacle = _needed(made, task), made.obstacle
        added = made.supplement.tables if made.supplement is not None else ()
        records = [f"SELECT * FROM {table.name}" for table in added]
        if obstacle is not None:
            exploring = Exploring(made.tables, documents, None, records)
            return impossible(obstacle.reason, obstacle.evidence[0], exploring)
        return solving(made.kept.gold, Exploring(made.tables, documents, made.draft.slot, records))

    def alternatives(self, task: Task) -> Mapping[str, Script]:
        """Return the same meaning in other words: other SQL, or other accepted evidence."""
        if task.template in SHIFTS:
            return shift_alternatives(_day(task))
        if task.template in ENGINES:
            return engine_alternatives(_engine(task))
        if task.template in ESTATES:
            return estate_alternatives(_estate(task))
        if task.params["mode"] == "write":
            change = _change(task)
            return {"other_statements": _handing_in_change(change, change.alternative)}
        made = _question(task)
        if made.obstacle is not None:
            evidence = f"'{made.obstacle.evidence[0].lower()}' "
            return {"other_spelling": impossible(made.obstacle.reason, evidence)}
        return {k: handing_in(v, made.draft.slot) for k, v in made.kept.alternatives.items()}

    def mutants(self, task: Task) -> Mapping[str, Script]:
        """Return the near misses that screening distinguished from the solution."""
        if task.template in SHIFTS:
            return shift_mutants(_day(task))
        if task.template in ENGINES:
            return engine_mutants(_engine(task))
        if task.template in ESTATES:
            return estate_mutants(_estate(task))
        if task.params["mode"] == "write":
            change = _change(task)
            return {k: _handing_in_change(change, sql) for k, sql in change.mutants.items()}
        made = _question(task)
        decoys = made.supplement.decoys if made.supplement is not None else ()
        if made.obstacle is not None:
            reason, evidence = made.obstacle.reason, made.obstacle.evidence[0]
            other = IMPOSSIBLE_REASONS[IMPOSSIBLE_REASONS.index(reason) - 1]
            return {
                "answered_anyway": handing_in(made.kept.gold),
                "first_record": impossible(reason, decoys[0]),
                "last_record": impossible(reason, decoys[-1]),
                "wrong_reason": impossible(other, evidence),
            }
        misses = {k: handing_in(v, made.draft.slot) for k, v in made.kept.mutants.items()}
        if made.draft.slot is not None:
            misses["guessed_without_asking"] = handing_in(made.kept.gold)
        if decoys:
            misses["called_impossible"] = impossible("not_permitted", decoys[0])
        return misses

    def policies(self, task: Task) -> Mapping[str, Script]:
        """Return trivial agents: dump, majority, first table, always impossible, nothing."""
        if task.template in SHIFTS:
            return shift_policies(_day(task))
        if task.template in ENGINES:
            return engine_policies(_engine(task))
        if task.template in ESTATES:
            return estate_policies(_estate(task))
        schema = world_for(task.params["world"]).schema
        asked = schema.asked()
        spoken = [table for table in asked if table.plural in task.instruction] or list(asked)
        biggest = max(asked, key=lambda table: (table.scale == "event", table.weight))
        if task.params["mode"] == "write":
            wipe = [f"DELETE FROM {table.name}" for table in reversed(asked)]
            hand = partial(_handing_in_change, _change(task))
            return {
                "dump": hand([f"SELECT * FROM {biggest.name}"]),
                "majority": hand([f"DELETE FROM {spoken[0].name}"]),
                "first_table": hand(wipe[-1:]),
                "delete_everything": hand(wipe),
                "always_impossible": impossible("missing_data", spoken[-1].noun),
                "empty": hand([]),
            }
        return {
            "dump": handing_in(_everything(schema, [table.name for table in spoken])),
            "majority": handing_in(f"SELECT COUNT(*) FROM {spoken[0].name}"),
            "first_table": handing_in(f"SELECT * FROM {schema.tables[0].name}"),
            "always_impossible": impossible("missing_data", spoken[-1].noun),
            "empty": handing_in("SELECT NULL WHERE 1 = 0"),
        }


def _everything(schema: Schema, spoken: list[str]) -> str:
    """Select all columns of the first table that the question names, joined with its parents."""
    first = spoken[0]
    joins = "".join(
        f" LEFT JOIN {edge.parent} AS p{place} ON c.{edge.column} = p{place}.{edge.parent_column}"
        for place, edge in enumerate(edge for edge in schema.edges() if edge.child == first)
    )
    return f"SELECT * FROM {first} AS c{joins}"


def _question(task: Task) -> Composition:
    return recompose(task.template, task.params["world"], task.seed, task.params["attempt"])


def _day(task: Task) -> ShiftDay:
    params = task.params
    return day_of(task.template, params["world"], params["shift"]["seed"], params["attempt"])


def _engine(task: Task) -> Accepted:
    own = task.params["engine"]
    return find(own["template"], own["level"], own["split"], own["seed"])


def _estate(task: Task) -> Estate:
    params, own = task.params, task.params["estate"]
    return estate_of(own["metric"], params["world"], own["seed"], params["attempt"])


def _company(address: TaskAddress, salt: str | None) -> str:
    """Return the company of an estate; tasks of the same index have the same one."""
    number = address.index
    if address.split == "heldout":
        number = derive_seed("sql-estate-heldout", salt or "", address.index)
    return f"estate-{address.split}-{number}"


def _shift_worlds(address: TaskAddress, salt: str | None) -> list[str]:
    """Return the ids of the worlds to try for a shift."""
    first = address.index * len(SHIFTS) + SHIFTS.index(address.template)
    end = 1 << 40 if address.split == "train" else WORLDS[address.split]
    return [
        world_id(address.split, (first + 7 * step) % end, "medium", salt)
        for step in range(_SHIFT_WORLDS)
    ]


def _change(task: Task) -> WriteInstance:
    return recompose_write(task.template, task.params["world"], task.seed, task.params["attempt"])


def _handing_in_change(
    change: WriteInstance,
    statements: Sequence[str],
    tables: Sequence[str] = (),
    documents: Sequence[str] = (),
) -> Script:
    """Return the script that makes a change, or hands its statements in, as the task asks."""
    return (scripting if change.hidden else writing)(statements, tables, documents)


def _needed(made: Composition, task: Task) -> list[str]:
    """Return the documents a sensible agent reads: general ones and the definitions in question."""
    documents = world_for(made.world).schema.documents
    added = made.supplement.documents if made.supplement is not None else ()
    return [item.name for item in added] + [
        item.name
        for item in documents
        if item.metric is None or item.metric.name in task.instruction
    ]


@lru_cache(maxsize=256)
def _built(source: SQLSource, address: TaskAddress, salt: str | None) -> Task:
    leader = replace(address, template=source.leading(address.template))
    seed = derive_seed("sql-task", _DRAWN_AS, str(leader), salt or "")
    if address.template in ENGINES:
        found = find(address.template, address.level, address.split, seed)
        return engine_task(address, source.version, seed, found)
    worlds = source.worlds(address, salt)
    if address.template in SHIFTS:
        attempt, day = compose_shift(address.template, worlds, seed)
        return shift_task(address, source.version, seed, day, attempt)
    if address.template in ESTATES:
        estate = find_estate(address.template.removeprefix("estate_"), worlds[0], seed)
        return estate_task(address, source.version, seed, estate)
    if address.template in write_templates():
        attempt, change = compose_write(address.template, worlds, seed)
        return write_task(address, source.version, seed, change, attempt)
    made = compose(address.template, worlds, seed)
    return question_task(address, source.version, seed, made, source.twin(address.template))


def source() -> SQLSource:
    """Create the source for the registry."""
    return SQLSource()
