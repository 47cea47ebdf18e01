"""Databases and expected contents of SQL tasks are the same with a cache on disk as without one."""

from pathlib import Path

import pytest

from hexathlon.evaluators.sql import writes
from hexathlon.tasks.cache import values
from hexathlon.tasks.cache.disk import DiskCache, shared_cache
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.sql.world import world as worlds
from hexathlon.tasks.sql.world.database import database_bytes
from hexathlon.tasks.sql.world.images import CACHE
from hexathlon.tasks.task import Task


@pytest.fixture(scope="module")
def task() -> Task:
    source = get_source("sql")
    ids = (source.address("test", index, "tiny") for index in range(1000))
    return source.build(next(name for name in ids if name.startswith("sql/write_")))


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DiskCache:
    monkeypatch.setenv("HEXATHLON_CACHE", str(tmp_path))
    monkeypatch.setattr(values, "WORTH_STORING_S", 0.0)
    return DiskCache(tmp_path / "built")


def forget() -> None:
    CACHE._items.clear()
    CACHE.held = 0
    writes._expected.clear()


def unexpected(*given: object) -> None:
    raise AssertionError("derived again")


def test_a_database_is_built_once(cache, task, monkeypatch):
    forget()
    image = database_bytes(task.params)
    monkeypatch.setenv("HEXATHLON_CACHE_SIZE", "10MB")
    forget()
    assert database_bytes(task.params) == image
    assert cache.usage().entries == 1
    monkeypatch.setattr(worlds, "image_of", unexpected)
    forget()
    assert database_bytes(task.params) == image
    forget()


def test_worlds_of_train_and_held_out_rounds_are_not_stored(cache, monkeypatch):
    monkeypatch.setenv("HEXATHLON_CACHE_SIZE", "10MB")
    for split, salt in (("train", None), ("heldout", "s")):
        worlds.world_for(worlds.world_id(split, 0, "tiny", salt)).sqlite_bytes(1, 20)
    assert shared_cache() is not None
    assert not cache.folder.exists()
    forget()


def test_expected_contents_are_derived_once(cache, task, monkeypatch):
    statements = task.checks[0].params["statements"]
    image = database_bytes(task.params)
    forget()
    right = writes.expected_content(task, statements, image)
    monkeypatch.setenv("HEXATHLON_CACHE_SIZE", "10MB")
    forget()
    assert writes.expected_content(task, statements, image) == right
    assert cache.usage().entries == 1
    monkeypatch.setattr(writes, "describe_content", unexpected)
    forget()
    assert writes.expected_content(task, statements, image) == right
    forget()
    with pytest.raises(AssertionError, match="derived again"):
        writes.expected_content(task, statements[:0], image)
    forget()
    with pytest.raises(AssertionError, match="derived again"):
        writes.expected_content(
            task.model_copy(update={"split": "heldout"}), statements, image, place=1
        )
    forget()
