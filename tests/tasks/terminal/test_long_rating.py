"""Rating: the program against the recorded engine, and what the records show."""

import contextlib
import csv
import io
import json
import sys

import pytest

from hexathlon.tasks.registry import get_source
from hexathlon.tasks.terminal.source import draft_of
from hexathlon.tasks.terminal.templates.long.rating import near_misses, wrong_rates
from hexathlon.tasks.terminal.templates.long.rating.engine import rated
from hexathlon.tasks.terminal.templates.long.rating.rates import CHOICES

SOURCE = get_source("terminal")
TASKS = [f"terminal/long_rating/hard/{split}/{n:05d}" for split in ("dev", "test") for n in (0, 1)]


@pytest.fixture(scope="module", params=TASKS)
def draft(request):
    return draft_of(SOURCE.build(request.param))


def rates_of(draft):
    """The engine's rates, as the reference program has them."""
    text = draft.solution.partition('T = json.loads(r"""')[2].partition('""")')[0]
    return json.loads(text)


def printed(text, held):
    out, before = io.StringIO(), sys.stdin
    sys.stdin = io.StringIO(held)
    try:
        with contextlib.redirect_stdout(out):
            exec(compile(text, "rate.py", "exec"), {"__name__": "__main__"})
    finally:
        sys.stdin = before
    return out.getvalue()


def test_every_near_miss_fails_on_some_held_out_month(draft):
    misses = near_misses(rates_of(draft))
    assert len(misses) >= 35
    for name, text in misses.items():
        assert any(
            printed(text, probe.files["held.csv"]) != probe.expect["text"] for probe in draft.probes
        ), name


def test_the_records_decide_every_choice_figure_and_habit(draft):
    """Another choice disagrees with two records at least that the engine has priced."""
    rates = rates_of(draft)
    months = [
        list(csv.DictReader(io.StringIO(data.decode())))
        for path, data in draft.files.items()
        if path.startswith("records/")
    ]
    changed = draft.files["operations/changed-by-clerks.csv"].decode()
    outages = draft.files["operations/outages.md"].decode()
    tried = {
        name: wrong
        for name, wrong in wrong_rates(rates).items()
        if name.startswith(("other_", "handbook_", "without_habit_", "all_", "parcels_"))
    }
    assert len(tried) >= len(CHOICES) + 10
    found = dict.fromkeys(tried, 0)
    for rows in months:
        engine = rated(rows, rates)
        own = [
            place
            for place, row in enumerate(rows)
            if f"\n{row['id']},{row['date'][:7]}\n" not in changed and row["date"] not in outages
        ]
        for place in own:
            net, gross = (round(float(rows[place][name]) * 100) for name in ("net", "gross"))
            assert (net, gross) == engine[place], rows[place]["id"]
        for name, wrong in tried.items():
            made = rated(rows, wrong)
            found[name] += sum(made[place] != engine[place] for place in own)
    assert not {name: count for name, count in found.items() if count < 2}


def test_handbook_and_records_differ_in_places(draft):
    text = " ".join(draft.files["handbook.md"].decode().split())
    assert "1 May" in text and "31 December" in text
    assert len(rates_of(draft)["holidays"]) == 4
