"""Cached tasks: the same record, by the same code; held-out tasks never."""

import json
import time
from pathlib import Path

import pytest

from hexathlon.tasks.cache import keys
from hexathlon.tasks.cache.disk import DiskCache, shared_cache
from hexathlon.tasks.cache.keys import FAMILIES, family_of, files_digest, within
from hexathlon.tasks.errors import UnknownTask
from hexathlon.tasks.fingerprint.modules import deciding_modules
from hexathlon.tasks.gui.source import GuiSource
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.stored import built as built_module
from hexathlon.tasks.stored.built import built
from hexathlon.tasks.stored.sources import CACHED_SOURCES, code_of_source
from hexathlon.tasks.task import Task
from support.toy import ToySource

TASK = "gui/send_text/tiny/test/00000"


class BuildsOnce(GuiSource):
    """The event's own source, which counts the tasks that it builds."""

    count = 0

    def build(self, task_id: str, salt: str | None = None) -> Task:
        self.count += 1
        return super().build(task_id, salt)


BuildsOnce.__module__ = GuiSource.__module__


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DiskCache:
    monkeypatch.setenv("HEXATHLON_CACHE", str(tmp_path))
    monkeypatch.setenv("HEXATHLON_CACHE_SIZE", "10MB")
    monkeypatch.setattr(built_module, "WORTH_STORING_S", 0.0)
    cache = shared_cache()
    assert cache is not None
    return cache


@pytest.fixture(scope="module")
def task_id() -> str:
    return GuiSource().address("test", 0, "tiny")


def test_a_task_is_built_once_and_is_the_same_afterwards(cache, task_id):
    source = BuildsOnce()
    first, second = built(source, task_id), built(source, task_id)
    assert source.count == 1
    assert cache.usage().entries == 1
    assert first == second
    assert (first.hash, repr(first)) == (second.hash, repr(second))


def test_planted_entries_are_not_used(cache, task_id):
    source = BuildsOnce()
    right = built(source, task_id)
    (path,) = (p for p in cache.folder.rglob("*") if p.is_file())
    wrong = right.model_copy(update={"instruction": "Do nothing."})
    path.write_bytes(wrong.model_dump_json().encode())
    assert built(source, task_id) == right
    # An entry with a digest of its own, but of another task or of no task at all.
    key = path.parent.name + path.name
    for value in (right.model_copy(update={"id": f"{task_id[:-1]}7"}).model_dump_json(), "[]"):
        cache.put(key, value.encode())
        assert built(source, task_id) == right
    assert source.count == 4


def test_held_out_tasks_are_not_stored(cache):
    source = BuildsOnce()
    task_id = source.address("heldout", 0, "tiny")
    assert built(source, task_id, "salt") == built(source, task_id, "salt")
    assert source.count == 2
    assert not cache.folder.exists()


def test_tasks_of_other_packages_are_not_stored(cache):
    source = ToySource()
    assert code_of_source(source) is None
    assert built(source, source.address("test", 0)) == source.build(source.address("test", 0))
    assert not cache.folder.exists()


def test_quickly_built_tasks_are_not_stored(cache, task_id, monkeypatch):
    monkeypatch.setattr(built_module, "WORTH_STORING_S", 60.0)
    built(BuildsOnce(), task_id)
    assert not cache.folder.exists()


def test_values_that_json_would_change_are_not_stored(cache, task_id, monkeypatch):
    source = BuildsOnce()
    task = source.build(task_id)
    odd = task.model_copy(update={"params": {**task.params, "pair": (1, 2)}})
    monkeypatch.setattr(GuiSource, "build", lambda self, task_id, salt=None: odd)
    assert built(source, task_id).params["pair"] == (1, 2)
    assert not cache.folder.exists()


def test_unknown_tasks_are_errors_as_without_a_cache(cache):
    with pytest.raises(UnknownTask):
        built(GuiSource(), "gui/no_such_template/tiny/test/00000")


def test_the_key_follows_the_code(monkeypatch, tmp_path):
    for folder in ("gui", "web", "shared", "cache"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "code.py").write_text("A = 1\n")
    monkeypatch.setattr(keys, "_TASKS", tmp_path)
    monkeypatch.setattr(keys, "_STARTED", time.time() + 60)

    def digest() -> str | None:
        files_digest.cache_clear()
        return files_digest("gui")

    try:
        first = digest()
        for folder, counts in (("gui", True), ("shared", True), ("web", False), ("cache", False)):
            (tmp_path / folder / "code.py").write_text("A = 2\n")
            assert (digest() != first) == counts, folder
            (tmp_path / folder / "code.py").write_text("A = 1\n")
            assert digest() == first
        (tmp_path / "gui" / "words.txt").write_text("")
        assert digest() != first
        monkeypatch.setattr(keys, "_STARTED", time.time() - 60)
        assert digest() is None, "changed after the process started"
    finally:
        files_digest.cache_clear()


@pytest.mark.parametrize("name", sorted(CACHED_SOURCES))
def test_the_key_covers_all_that_decides_a_sources_tasks(name):
    source = get_source(name)
    module = type(source).__module__
    family = family_of(module)
    assert family in FAMILIES
    found = deciding_modules((module, *source.late_modules))
    assert within(family, found, source.data_files())
    assert not any(keys.family_of(each) not in (None, family) for each in found)
    assert not any(
        each.startswith(("hexathlon.tasks.cache", "hexathlon.tasks.stored")) for each in found
    )


def test_the_key_follows_the_libraries(monkeypatch):
    source = GuiSource()
    code_of_source.cache_clear()
    keys.code_of_family.cache_clear()
    first = code_of_source(source)
    monkeypatch.setattr(keys.np, "__version__", "0.0")
    code_of_source.cache_clear()
    keys.code_of_family.cache_clear()
    second = code_of_source(source)
    code_of_source.cache_clear()
    keys.code_of_family.cache_clear()
    assert first != second


def test_records_round_trip_through_json(task_id):
    task = GuiSource().build(task_id)
    assert json.loads(task.model_dump_json()) == task.model_dump(mode="json")
