"""Fixtures for all tests."""

import gc
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from support.docker_engine import docker_engine
from support.postgres import postgres_server

# Imports and collection create a million objects that live to the end; looking among them for
# garbage would take a quarter of the time. It is switched on again when the tests are collected.
gc.disable()
# What one test, or the user, has built must not decide what another one sees.
os.environ["HEXATHLON_CACHE_SIZE"] = "off"

_TOGETHER = ("baselines/cluster",)
"""Folders whose files run in one process, because they share a server that is slow to start."""

_LONGEST = (
    "baselines/cluster/test_connect.py", "baselines/cluster/test_training.py",
    "envs/testing/test_registered.py", "test_docs.py", "baselines/training/test_learning.py",
    "test_demo.py", "test_site.py", "test_wheel.py", "leaderboard/test_browser.py",
    "leaderboard/test_injection.py", "baselines/training/test_ranks.py",
    "baselines/test_equality.py",
    "cli/test_commands.py", "tasks/web/test_shifts.py", "baselines/training/test_mixture.py",
    "tasks/fingerprint/test_sources.py", "test_interrupts.py", "test_benchmarks.py",
    "tasks/sql/test_backends_servers.py",
    "baselines/test_resume_policy.py", "envs/testing/test_kit.py",
    "baselines/judging/test_audit.py",
    "envs/workers/test_hosted.py", "baselines/training/test_run.py", "leaderboard/test_build.py",
    "envs/web/test_chromium_features.py", "envs/test_left_open.py",
)  # fmt: skip
"""The slowest files, started first so that no worker is left alone with one of them at the end.

`test_connect` precedes the tests that keep a cluster open: a process has one connection.
"""
# Neither a failure nor a finding may depend on how busy the machine is, or on chance: property
# tests draw the same examples every time, except where `make test-slow` sets EXPLORE.
settings.register_profile(
    "tests",
    deadline=None,
    derandomize="EXPLORE" not in os.environ,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("tests")

_TESTS = Path(__file__).resolve().parent
_SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.hookimpl(optionalhook=True)  # pytest-xdist's
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give the tests of a file to one process, and those of a folder in `_TOGETHER` likewise."""
    from xdist.scheduler import LoadFileScheduling

    gc.enable()  # the controller does not collect tests

    class _ByFile(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = super()._split_scope(nodeid)
            folder, _, _ = file.removeprefix("tests/").rpartition("/")
            return folder if folder in _TOGETHER else file

    return _ByFile(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Move the files in `_LONGEST` to the front; the others keep their order."""
    places = {_TESTS / name: place for place, name in enumerate(_LONGEST)}
    items.sort(key=lambda item: places.get(item.path, len(places)))


def pytest_collection_finish() -> None:
    """Exempt modules and tests, which live to the end, from garbage collection."""
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The directory of public data beside the checkout."""
    if not _SHARED.is_dir():
        pytest.skip("the public data folder ../shared/data is not beside this checkout")
    return _SHARED


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """The SQLAlchemy URL of a throw-away PostgreSQL server."""
    with postgres_server() as url:
        yield url


@pytest.fixture(scope="session")
def docker_url() -> Iterator[str]:
    """The URL of a throw-away Docker engine."""
    with docker_engine() as url:
        yield url
