"""The oracle's recorded actions: replayed in an equal episode, and left where one differs."""

from pathlib import Path

import pytest

from hexathlon.tasks.cache.disk import DiskCache, shared_cache
from hexathlon.tasks.gui.source import GuiSource
from hexathlon.tasks.source import Script
from hexathlon.tasks.stored import scripts
from hexathlon.tasks.stored.scripts import oracle_script
from hexathlon.tasks.task import Task


class Counting(GuiSource):
    """Its oracle adds up what it hears, and says so; it counts how often it is asked."""

    asked = 0

    def oracle(self, task: Task) -> Script:
        self.asked += 1
        return self._adding()

    def _adding(self) -> Script:
        total = 0
        for _ in range(3):
            total += int((yield f"total {total}"))


Counting.__module__ = GuiSource.__module__


@pytest.fixture(scope="module")
def task() -> Task:
    return GuiSource().build(GuiSource().address("test", 0, "tiny"))


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DiskCache:
    monkeypatch.setenv("HEXATHLON_CACHE", str(tmp_path))
    monkeypatch.setenv("HEXATHLON_CACHE_SIZE", "10MB")
    monkeypatch.setattr(scripts, "WORTH_STORING_S", 0.0)
    cache = shared_cache()
    assert cache is not None
    return cache


def said(source: Counting, task: Task, heard: list[str]) -> list[str]:
    """Return the actions of an episode that ends after the answers in `heard`."""
    script = oracle_script(source, task)
    actions = [next(script)]
    for answer in heard:
        actions.append(script.send(answer))
    script.close()
    return actions


def test_the_same_episode_is_replayed_without_the_oracle(cache, task):
    source = Counting()
    first = said(source, task, ["1", "2"])
    assert first == ["total 0", "total 1", "total 3"]
    assert source.asked == 1
    assert said(source, task, ["1", "2"]) == first
    assert source.asked == 1


@pytest.mark.parametrize("heard", [["5", "2"], ["1", "5"], ["1"], [], ["1", "2"]])
def test_other_episodes_get_what_the_oracle_would_say(cache, task, heard):
    source = Counting()
    said(source, task, ["1", "2"])
    totals = [sum(map(int, heard[:place])) for place in range(len(heard) + 1)]
    assert said(source, task, heard) == [f"total {total}" for total in totals]


def test_a_longer_episode_continues_with_the_oracle_and_ends_with_it(cache, task):
    source = Counting()
    said(source, task, ["1"])
    script = oracle_script(source, task)
    assert [next(script), script.send("1"), script.send("2")] == ["total 0", "total 1", "total 3"]
    with pytest.raises(StopIteration):
        script.send("3")
    assert source.asked == 2
    assert said(source, task, ["1", "2"]) == ["total 0", "total 1", "total 3"]
    assert source.asked == 2, "the longer episode was recorded"


def test_planted_actions_are_not_played(cache, task):
    source = Counting()
    said(source, task, ["1", "2"])
    (path,) = (p for p in cache.folder.rglob("*") if p.is_file())
    path.write_bytes(b'[["", "harm"]]')
    assert said(source, task, ["1", "2"]) == ["total 0", "total 1", "total 3"]
    cache.put(path.parent.name + path.name, b"7")
    assert said(source, task, ["1"]) == ["total 0", "total 1"]
    assert source.asked == 3


def test_held_out_episodes_are_not_recorded(cache, task):
    source = Counting()
    heldout = task.model_copy(update={"split": "heldout"})
    assert said(source, heldout, ["1", "2"]) == said(source, heldout, ["1", "2"])
    assert source.asked == 2
    assert not cache.folder.exists()


def test_quick_oracles_are_not_recorded(cache, task, monkeypatch):
    monkeypatch.setattr(scripts, "WORTH_STORING_S", 60.0)
    said(Counting(), task, ["1"])
    assert not cache.folder.exists()
