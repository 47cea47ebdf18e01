"""The second derivation of a shift's result: every change in turn, on copies of the sites."""

from collections.abc import Mapping, Sequence
from typing import Any

from hexathlon.tasks.web.templates.draft import WebScene
from hexathlon.tasks.web.templates.shifts.stages import Writing
from hexathlon.tasks.web.world.network import WorldPlan, initial_blobs, state_diff
from hexathlon.tasks.web.world.store import SiteStore

__all__ = ["replayed"]


def replayed(
    scene: WebScene, plan: WorldPlan, writings: Sequence[Writing], expected: Mapping[str, Any]
) -> bool:
    """Whether carrying out all writings by SQL leads to the expected changes and no others."""
    blobs = dict(initial_blobs(plan))
    edits = [edit for job, target, values in writings for edit in job.edits(target, values)]
    found: dict[str, Any] = {}
    for site in {site for site, _, _ in edits}:
        store = SiteStore(blobs[site])
        for place, sql, values in edits:
            if place == site:
                store.execute(sql, values)
        difference = state_diff(blobs[site], store)
        store.close()
        if difference:
            found[site] = difference
    return _values_expected(expected) == _values_found(found)


def _values_expected(expected: Mapping[str, Any]) -> dict[tuple[str, ...], str]:
    """Return the changed values by site, table, key and column."""
    return {
        (site, table, str(key), name): str(value)
        for site, tables in expected.items()
        for table, kinds in tables.items()
        for key, columns in kinds["changed"]
        for name, value in columns.items()
    }


def _values_found(found: Mapping[str, Any]) -> dict[tuple[str, ...], str]:
    """Return the values that differ, and every row that came or went, in the same form."""
    values: dict[tuple[str, ...], str] = {}
    for site, tables in found.items():
        for table, kinds in tables.items():
            for before, after in kinds["changed"]:
                key = str(next(iter(after.values())))
                for name in after:
                    if after[name] != before[name]:
                        values[site, table, key, name] = str(after[name])
            for kind in ("added", "removed"):
                for row in kinds[kind]:
                    values[site, table, str(next(iter(row.values()))), kind] = ""
    return values
