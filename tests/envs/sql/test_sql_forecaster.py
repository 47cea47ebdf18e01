"""A script that learns from train questions cannot tell impossible tasks or their evidence."""

import importlib.util
import sys
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[3] / "benchmarks" / "sql_impossible.py"


def _loaded():
    spec = importlib.util.spec_from_file_location("sql_impossible", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


FORECASTS = _loaded()


def test_it_learns_evidence_that_stands_in_questions():
    seen = FORECASTS.Seen
    lessons = [
        seen(f"Give the largest {word} of the loans.", "", "missing_data", frozenset({word}))
        for word in ("colour", "weight")
    ] + [seen(f"Count the {word}.") for word in ("loans", "films")]
    tasks = [
        seen("Give the largest height of the loans.", "", "missing_data", frozenset({"height"}))
    ]
    found = FORECASTS.rates(lessons, [*tasks, seen("Count the flights.")])
    assert found["right, of the impossible"] == 1.0
    assert found["right, of all"] == 0.5
    assert found["area under the curve of its words"] == 1.0


def test_it_learns_evidence_that_stands_in_what_is_read():
    seen = FORECASTS.Seen
    lessons = [
        seen("Count.", f"the entry number {n} holds", "not_permitted", frozenset({n}))
        for n in ("E-1", "E-2")
    ]
    tasks = [seen("Count.", "the entry number E-77 holds", "not_permitted", frozenset({"E-77"}))]
    assert FORECASTS.rates(lessons, tasks)["right, of all"] == 1.0


def test_it_earns_nothing_on_generated_tasks():
    names = ["held_first", "held_second"]
    lessons = [FORECASTS.seen_of(t, False) for t in FORECASTS.drawn("train", 40, names, "tiny")]
    tasks = [FORECASTS.seen_of(t, False) for t in FORECASTS.drawn("test", 12, names, "tiny")]
    found = FORECASTS.rates(lessons, tasks)
    assert found["impossible"] == found["tasks"] / 2
    assert found["right, of all"] == 0.0
    assert found["area under the curve of its words"] == 0.5
