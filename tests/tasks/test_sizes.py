"""What `list` knows of task sets without their sources is what the sources say."""

import sys

import pytest

from hexathlon.envs.registry import ENVIRONMENTS
from hexathlon.tasks.errors import MissingData
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.sizes import GENERATED_SIZES, missing_data
from hexathlon.tasks.taskset import TaskSet

TASKSETS = sorted(name for info in ENVIRONMENTS.values() for name in info.tasksets)


@pytest.mark.parametrize("name", sorted(GENERATED_SIZES))
def test_sizes_are_those_of_the_sources(name):
    sizes = {split: get_source(name).size(split) for split in ("train", "dev", "test")}
    assert sizes == GENERATED_SIZES[name], "write the sizes of the source into tasks/sizes.py"


@pytest.mark.parametrize("name", TASKSETS)
def test_missing_data_is_what_the_source_misses(name, monkeypatch, tmp_path):
    monkeypatch.delenv("HEXATHLON_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
    known = missing_data(name)
    for value in vars(sys.modules[type(get_source(name)).__module__]).values():
        if hasattr(value, "cache_clear"):
            value.cache_clear()  # files that another test has read in this process
    if known:
        with pytest.raises(MissingData) as raised:
            _ = [TaskSet(name, split).size for split in ("train", "dev", "test")]
        assert str(raised.value) == known
    monkeypatch.setenv("HEXATHLON_DATA", str(tmp_path))
    assert missing_data(name) == ""


def test_every_set_that_needs_data_is_known(monkeypatch, tmp_path):
    monkeypatch.delenv("HEXATHLON_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
    names = {name for name in TASKSETS if missing_data(name)}
    assert {"spider", "webshop", "webarena", "gui-replay", "coser"} <= names
    assert not names & {"sql", "dbbench", "harbor", "miniwob", "gui-mined"}
