"""What `list` knows of task sets without their sources is what the sources say."""

import json
import subprocess
import sys

import pytest

from hexathlon.envs.registry import ENVIRONMENTS
from hexathlon.tasks.errors import MissingData
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.sizes import GENERATED_SIZES, PUBLIC_SPLITS, known_sizes, missing_data
from hexathlon.tasks.task import SPLITS
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
    if name not in ("harbor", "terminal-bench"):
        assert missing_data(name) == ""


def test_splits_are_those_without_a_secret():
    assert tuple(split for split in SPLITS if split != "heldout") == PUBLIC_SPLITS


@pytest.mark.parametrize("name", ["chinook", "dbbench", "miniwob"])
def test_sizes_of_sets_that_are_shipped_or_installed(name, monkeypatch):
    if name == "miniwob":
        pytest.importorskip("miniwob", reason="pip install 'hexathlon[miniwob]'")
    monkeypatch.delenv("HEXATHLON_DATA", raising=False)
    assert known_sizes(name) == {split: TaskSet(name, split).size for split in PUBLIC_SPLITS}


def test_dev_split_of_dbbench_is_read_from_the_users_data(monkeypatch, tmp_path):
    monkeypatch.setenv("HEXATHLON_DATA", str(tmp_path))
    assert known_sizes("dbbench") is None


def test_task_directories_are_missing_until_there_is_one(monkeypatch, tmp_path):
    monkeypatch.setenv("HEXATHLON_DATA", str(tmp_path))
    assert str(tmp_path / "harbor") in missing_data("harbor")
    (tmp_path / "harbor" / "hello").mkdir(parents=True)
    (tmp_path / "harbor" / "hello" / "task.toml").touch()
    assert missing_data("harbor") == ""


def test_listing_all_events_imports_no_source_and_no_environment(monkeypatch, tmp_path):
    monkeypatch.delenv("HEXATHLON_DATA", raising=False)  # sizes of the user's data are counted
    lines = [
        "import json, sys",
        "from hexathlon.baselines.harness.listing import all_environments",
        "from hexathlon_cli.events import sizes_of",
        "all(sizes_of(info, name) for info in all_environments() for name in info.tasksets)",
        "print(json.dumps(sorted(sys.modules)))",
    ]
    command = [sys.executable, "-c", "\n".join(lines)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, timeout=120, cwd=tmp_path
    )
    loaded = set(json.loads(done.stdout))
    assert "hexathlon.tasks.sizes" in loaded
    unneeded = {"pydantic", "hexathlon.envs.base", "hexathlon.tasks.source", "hexathlon.tasks.sql"}
    assert not loaded & unneeded


def test_every_set_that_needs_data_is_known(monkeypatch, tmp_path):
    monkeypatch.delenv("HEXATHLON_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
    names = {name for name in TASKSETS if missing_data(name)}
    assert {"spider", "webshop", "webarena", "gui-replay", "coser"} <= names
    assert not names & {"sql", "dbbench", "miniwob", "gui-mined"}
