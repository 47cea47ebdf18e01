"""Behaviour of other packages that determines tasks: draws, rankings, time zones."""

import re
from pathlib import Path

import numpy as np

from hexathlon.tasks.catalogue import ranking
from hexathlon.tasks.fingerprint.draws import METHODS, draws_digest
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.taskset import TaskSet
from hexathlon.tasks.terminal import zones

TERMINAL = Path(__file__).resolve().parents[3] / "tasks" / "terminal"


class Recording(np.random.Generator):
    """Records the names of the requested methods."""

    used: set[str] = set()

    def __getattribute__(self, name):
        if not name.startswith("_"):
            Recording.used.add(name)
        return super().__getattribute__(name)


def test_task_generators_use_only_the_probed_methods(monkeypatch):
    monkeypatch.setattr(np.random, "Generator", Recording)
    for name in ("sql", "shopping", "terminal", "roleplay", "roleplay-shift"):
        tasks = TaskSet(type(get_source(name))(), "test")
        for index in range(4):
            assert tasks[index].generator == name
    assert {"integers", "permutation", "random", "choice"} <= Recording.used <= set(METHODS)


def test_draws_are_those_of_numpy_since_1_17():
    """On failure, this numpy draws other tasks from the same seeds: see docs/decisions.md."""
    assert draws_digest()[:16] == "fb98dba73495592c"


def test_rankings_are_those_of_the_pinned_tantivy():
    """On failure, this tantivy may reject other purchases: see docs/decisions.md."""
    assert ranking.ranking_digest()[:16] == "e83c3d11ffa8cea4"


def test_zones_of_all_templates_are_probed():
    text = "".join(path.read_text() for path in TERMINAL.rglob("*.py") if path.name != "zones.py")
    named = set(re.findall(r'"((?:Africa|America|Asia|Australia|Europe|Pacific)/\w+)"', text))
    assert named == set(zones.ZONES)


def test_a_zone_with_other_rules_gives_another_digest(monkeypatch):
    before = zones.zones_digest()
    monkeypatch.setattr(zones, "ZONES", ("Africa/Cairo", *zones.ZONES[1:]))
    zones.zones_digest.cache_clear()
    assert zones.zones_digest() != before
    zones.zones_digest.cache_clear()
