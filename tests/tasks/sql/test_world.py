"""Worlds grow by level, never overlap across splits, and satisfy their declared laws."""

import itertools
from collections.abc import Iterable

import pytest

from hexathlon.tasks.errors import TaskError
from hexathlon.tasks.sql.domains import DOMAINS
from hexathlon.tasks.sql.domains.grammar import Link
from hexathlon.tasks.sql.naming import KEYWORDS, Namer, abbreviate
from hexathlon.tasks.sql.pools import _POOLS, pool_name, pool_size
from hexathlon.tasks.sql.sprawl import DECOYS
from hexathlon.tasks.sql.world.world import split_domains, world_for, world_id, world_ids
from hexathlon.tasks.task import LEVELS, SPLITS

SAMPLE = [(level, index) for level in LEVELS for index in range(14)]


def _longest_path(schema):
    near = {}
    for edge in schema.edges():
        if edge.child != edge.parent:
            near.setdefault(edge.child, set()).add(edge.parent)
            near.setdefault(edge.parent, set()).add(edge.child)

    def walk(table, seen):
        if len(seen) > 6:
            return len(seen)
        steps = [walk(n, seen | {n}) for n in sorted(near[table]) if n not in seen]
        return max(steps, default=len(seen))

    return max((walk(table, frozenset({table})) for table in sorted(near)), default=1) - 1


def test_there_are_enough_domains_and_grammars_are_closed():
    assert len(DOMAINS) >= 10
    for domain in DOMAINS.values():
        known = set()
        for entity in domain.entities:
            known.add(entity.noun)
            targets = {part.target for part in entity.parts if isinstance(part, Link)}
            assert targets <= known, (domain.name, entity.noun)


def is_plain(names: Iterable[str]) -> bool:
    """Whether no name needs quotes in any of the supported databases."""
    return all(
        name.isidentifier() and name.isascii() and name.lower() not in KEYWORDS for name in names
    )


@pytest.mark.parametrize(("level", "index"), SAMPLE)
def test_names_are_plain_and_unique(level, index):
    schema = world_for(world_id("test", index, level)).schema
    tables = [table.name.lower() for table in schema.tables]
    assert len(set(tables)) == len(tables)
    for table in schema.tables:
        names = [column.name.lower() for column in table.columns]
        assert len(set(names)) == len(names)
        assert is_plain([table.name, *names])


@pytest.mark.parametrize(("level", "least", "most"), [
    ("tiny", 3, 4), ("easy", 4, 10), ("medium", 9, 24), ("hard", 50, 400),
])  # fmt: skip
def test_schemas_grow_with_the_level(level, least, most):
    sizes = [len(world_for(world_id("dev", i, level)).schema.tables) for i in range(13)]
    assert least <= min(sizes) <= max(sizes) <= most


@pytest.mark.parametrize("index", range(14))
def test_hard_worlds_allow_joins_of_six(index):
    assert _longest_path(world_for(world_id("test", index, "hard")).schema) >= 6


@pytest.mark.parametrize("level", LEVELS)
def test_dirt_decoys_and_documents_come_with_the_level(level):
    schemas = [world_for(world_id("test", index, level)).schema for index in range(14)]
    decoys = [sum(table.decoy for table in schema.tables) for schema in schemas]
    kinds = {c.dirt.kind for s in schemas for t in s.asked() for c in t.columns if c.dirt}
    old = [d for s in schemas for d in s.documents if d.superseded_by]
    assert max(decoys) <= DECOYS[level][1]
    assert (min(decoys) > 0) == (level in ("medium", "hard"))
    assert bool(old) == (level in ("medium", "hard"))
    if level == "tiny":
        assert not kinds and not any(schema.documents for schema in schemas)
    if level == "hard":
        assert len(kinds) == 7
        assert any(t.soft_delete for s in schemas for t in s.asked())
        assert any(t.natural_key for s in schemas for t in s.asked())


def test_splits_share_no_world_and_no_name():
    ids = {split: set(world_ids(split, salt="x" * (split == "heldout"))) for split in SPLITS}
    for left, right in itertools.combinations(SPLITS, 2):
        assert not ids[left] & ids[right]
        for pool in _POOLS:
            names = [
                {pool_name(pool, split, i) for i in range(2 * pool_size(pool, split))}
                for split in (left, right)
            ]
            assert not names[0] & names[1]
    assert set(split_domains("test")) - set(split_domains("train")) == {"farm", "games"}


@pytest.mark.parametrize("pool", sorted(_POOLS))
def test_a_pool_never_repeats_a_name(pool):
    size = pool_size(pool, "train")
    names = [pool_name(pool, "train", index) for index in range(4 * size)]
    assert len(set(names)) == len(names)


def test_the_held_out_split_needs_its_salt():
    with pytest.raises(TaskError, match="salt"):
        world_id("heldout", 0, "easy")
    first, other = (world_id("heldout", 0, "easy", salt) for salt in ("a", "b"))
    assert first != other
    assert world_for(first).split == "heldout"


@pytest.mark.parametrize("wrong", [
    "retail", "retail-3", "retail-hard-test-x", "zoo-hard-test-1", "retail-huge-test-1",
    "retail-hard-exam-1", "retail-hard-test-1-2", "retail-hard-test-٣",
])  # fmt: skip
def test_wrong_ids_are_refused(wrong):
    with pytest.raises(TaskError, match="expected domain-level-split-number"):
        world_for(wrong)


@pytest.mark.parametrize(("word", "short"), [("customer", "cst"), ("status", "stat"),
                                             ("age", "age"), ("harvest", "hrvs")])  # fmt: skip
def test_abbreviations_look_like_old_databases(word, short):
    assert abbreviate(word) == short


def test_a_keyword_is_never_a_name():
    namer = Namer(plural=False)
    names = {namer.table(word, word) for word in sorted(KEYWORDS)}
    assert is_plain(names)


@pytest.mark.parametrize("case,wanted", [
    ("snake", "order_date"), ("camel", "orderDate"), ("pascal", "OrderDate"),
])  # fmt: skip
def test_styles(case, wanted):
    assert Namer(case=case).spell("order date") == wanted
