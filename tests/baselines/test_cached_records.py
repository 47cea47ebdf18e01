"""Records are the same without a cache, with an empty one and with a filled one."""

import json
from pathlib import Path
from typing import Any

import pytest

import hexathlon
from hexathlon.baselines.harness.errors import CommandError
from hexathlon.tasks.cache import values
from hexathlon.tasks.cache.disk import shared_cache
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.sql.world.images import CACHE
from hexathlon.tasks.stored import built, scripts
from hexathlon.tasks.stored.sources import CACHED_SOURCES
from hexathlon.tasks.taskset import shared_taskset
from support.shop import cached_in

SETS = {
    "SQL": ("sql", "tiny"),
    "Shopping": ("shopping", "tiny"),
    "Terminal": ("terminal", "tiny"),
    "Web": ("web", "tiny"),
    "GUI": ("gui", "medium"),
    "RolePlay": ("roleplay", "tiny"),
}


def records(event: str, agent: str, out: Path) -> list[dict[str, Any]]:
    """Play two tasks with nothing left in memory, and return the records without times."""
    shared_taskset.cache_clear()
    CACHE._items.clear()
    CACHE.held = 0
    try:
        hexathlon.evaluate(agent, out, envs=(event,), level=SETS[event][1], tasks=2, workers=1)
    except CommandError as error:
        if event == "Terminal":
            pytest.skip(str(error))
        raise
    lines = (out / "records.jsonl").read_text("utf-8").splitlines()
    return [{k: v for k, v in json.loads(line).items() if k != "timing"} for line in lines]


@pytest.mark.parametrize("event", SETS)
def test_records_do_not_depend_on_the_cache(event, tmp_path, monkeypatch):
    for module in (built, scripts, values):
        monkeypatch.setattr(module, "WORTH_STORING_S", 0.0)
    with cached_in(tmp_path / "cache"):
        off = records(event, "agent:oracle", tmp_path / "off")
        assert [record["reward"] for record in off] == [1.0, 1.0]
        monkeypatch.setenv("HEXATHLON_CACHE_SIZE", "100MB")
        cache = shared_cache()
        assert cache is not None
        assert cache.usage().entries == 0
        cold = records(event, "agent:oracle", tmp_path / "cold")
        entries = cache.usage().entries
        source = get_source(SETS[event][0])
        if source.name in CACHED_SOURCES:
            assert entries >= 4, "two tasks and two scripts at least"

            def unexpected(*given: object) -> None:
                raise AssertionError(f"built again: {given}")

            monkeypatch.setattr(type(source), "build", unexpected)
            monkeypatch.setattr(type(source), "oracle", unexpected)
        warm = records(event, "agent:oracle", tmp_path / "warm")
        assert cache.usage().entries == entries
    assert off == cold == warm
