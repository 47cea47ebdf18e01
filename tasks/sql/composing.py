"""Search for an accepted draft at a task's address: an instance that passes screening.

The search is deterministic and bounded. Its result is the number of the attempt that passed. The
task stores it, so that the draft can be rebuilt without the search and without a salt.
"""

from collections import Counter
from dataclasses import dataclass, replace
from functools import lru_cache

from hexathlon.tasks.errors import GenerationExhausted
from hexathlon.tasks.seeding import derive_seed, generator_for
from hexathlon.tasks.sql.bench import bench_for
from hexathlon.tasks.sql.phenomena import LEAST, phenomena
from hexathlon.tasks.sql.programs.relation import Relation
from hexathlon.tasks.sql.programs.relations import Join
from hexathlon.tasks.sql.programs.walk import pruned, scans
from hexathlon.tasks.sql.realise import question
from hexathlon.tasks.sql.register import register
from hexathlon.tasks.sql.schema import Schema
from hexathlon.tasks.sql.screening import DraftRejected, Kept, screen
from hexathlon.tasks.sql.supplement import Obstacle, Supplement
from hexathlon.tasks.sql.templates.catalogue import all_templates
from hexathlon.tasks.sql.templates.draft import QueryDraft, QueryTemplate
from hexathlon.tasks.sql.templates.drawing import Unbindable
from hexathlon.tasks.sql.templates.scene import QueryScene
from hexathlon.tasks.task import Level

__all__ = ["ATTEMPTS", "WORLD_TRIES", "Composition", "compose", "recompose"]

WORLD_TRIES = 8
"""Attempts in one world before moving to the next."""
ATTEMPTS = 128
_IDLE_REGISTER = 0.2
"""Share of ordinary questions above level tiny that come with a register that does not concern
them."""


@dataclass(frozen=True, slots=True)
class Composition:
    """An accepted draft with its question."""

    world: str
    attempt: int
    draft: QueryDraft
    kept: Kept
    tables: tuple[str, ...]
    instruction: str
    supplement: Supplement | None = None

    @property
    def obstacle(self) -> Obstacle | None:
        """Why the question cannot be answered, or None if it can."""
        return self.supplement.obstacle if self.supplement is not None else None


def compose(template: str, worlds: list[str], seed: int) -> Composition:
    """Search for an instance; worlds get `WORLD_TRIES` attempts each, in turn.

    Raises:
        GenerationExhausted: If no attempt passes.
    """
    reasons: Counter[str] = Counter()
    for attempt in range(ATTEMPTS):
        world = worlds[(attempt // WORLD_TRIES) % len(worlds)]
        try:
            return recompose(template, world, seed, attempt)
        except Unbindable:
            reasons["unbindable"] += 1
        except DraftRejected as rejected:
            reasons[str(rejected)] += 1
    told = ", ".join(f"{reason} {count}" for reason, count in reasons.most_common())
    raise GenerationExhausted(
        f"template {template} found no instance in {ATTEMPTS} attempts, first in {worlds[0]}: "
        f"{told}"
    )


@lru_cache(maxsize=128)
def recompose(template: str, world: str, seed: int, attempt: int) -> Composition:
    """Make one attempt.

    Raises:
        Unbindable: If the schema has no parts that suit the template.
        DraftRejected: If the draft does not pass screening.
    """
    bench = bench_for(world)
    rng = generator_for("sql-draft", seed, attempt)
    level = bench.world.level
    chosen = all_templates()[template]
    scene = QueryScene(bench.schema, level, rng, bench.hidden[0].rows, _side(chosen, seed))
    draft = _spoken(chosen.build(scene), bench.schema)
    if len(phenomena(draft.program)) < LEAST[level]:
        raise DraftRejected("shallow")
    kept = screen(draft, bench, correlated=level != "hard")
    tables = tuple(dict.fromkeys(scan.table for scan in scans(draft.program)))
    text = question(draft, bench.schema, tables, rng)
    supplement = _supplement(draft, bench.schema, level, seed, attempt)
    return Composition(world, attempt, draft, kept, tables, text, supplement)


def _supplement(
    draft: QueryDraft, schema: Schema, level: Level, seed: int, attempt: int
) -> Supplement | None:
    """Return what accompanies the question; some questions get a register that blocks nothing."""
    rng = generator_for("sql-register", seed, attempt)
    idle = draft.blocked is None and (rng.random() >= _IDLE_REGISTER or level == "tiny")
    if draft.supplement is not None or idle:
        return draft.supplement
    return register(schema, draft.program, level, rng, bool(draft.blocked))


def _spoken(draft: QueryDraft, schema: Schema) -> QueryDraft:
    """Return the draft without joins to parents that the question does not mention.

    Such a join would only drop rows whose reference is not known.
    """

    def to_parent(join: Join) -> bool:
        return all(_is_key(join.right, name, schema) for _, name in join.on)

    def smaller(program: Relation) -> Relation:
        return pruned(program, (), to_parent)

    return replace(
        draft,
        program=smaller(draft.program),
        other=smaller(draft.other) if draft.other is not None else None,
        wrong=tuple((name, smaller(program)) for name, program in draft.wrong),
    )


def _is_key(relation: Relation, name: str, schema: Schema) -> bool:
    """Whether a column is the whole primary key of a relation's only table."""
    found = list(scans(relation))
    if not found:
        return False
    table = schema.table(found[0].table)
    return table.primary_key == (name.partition(".")[2],) and name.startswith(f"{found[0].alias}.")


def _side(template: QueryTemplate, seed: int) -> int:
    """Return which twin a template draws, by a coin shared by both, so names reveal nothing."""
    if template.twin is None:
        return 0
    return (derive_seed("sql-side", seed) + (template.name > template.twin)) % 2
