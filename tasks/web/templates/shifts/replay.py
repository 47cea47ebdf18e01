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
    return _plain(expected, {}) == _plain_diff(found, expected)


def _plain(expected: Mapping[str, Any], into: dict[str, Any]) -> dict[str, Any]:
    for site, tables in expected.items():
        for table, kinds in tables.items():
            for key, columns in kinds.get("changed", ()):
                into[f"{site}.{table}.{key}"] = {
                    name: str(value) for name, value in columns.items()
                }
            for row in kinds.get("added", ()):
                into[f"{site}.{table}+{sorted((k, str(v)) for k, v in row.items())}"] = {}
    return into


def _plain_diff(found: Mapping[str, Any], expected: Mapping[str, Any]) -> dict[str, Any]:
    into: dict[str, Any] = {}
    for site, tables in found.items():
        for table, kinds in tables.items():
            for before, after in kinds["changed"]:
                key = next(iter(after.values()))
                into[f"{site}.{table}.{key}"] = {
                    name: str(after[name]) for name in after if after[name] != before[name]
                }
            for row in kinds["added"]:
                first = expected.get(site, {}).get(table, {}).get("added", [{}])[0]
                named = sorted((k, str(v)) for k, v in row.items() if k in first)
                into[f"{site}.{table}+{named}"] = {}
            for row in kinds["removed"]:
                into[f"{site}.{table}-{next(iter(row.values()))}"] = {}
    return into
