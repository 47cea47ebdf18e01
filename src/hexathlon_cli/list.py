"""The command `list`."""

from collections.abc import Mapping
from typing import Any

from hexathlon_cli.options import AsJson

__all__ = ["list_"]


def list_(as_json: AsJson = False) -> int:
    """List events and task sets, plugins included.

    For each task set: the number of tasks per split, or what is missing on this machine.
    """
    import json

    from hexathlon.baselines.harness.listing import all_environments
    from hexathlon.baselines.harness.tables import ReportTable
    from hexathlon_cli.events import SPLITS, describe_event, sizes_of
    from hexathlon_cli.output import print_table, print_text

    infos = all_environments()
    events = [describe_event(info) for info in infos]
    sizes = [{name: sizes_of(info, name) for name in info.tasksets} for info in infos]
    if as_json:
        shown = [{**event, "sizes": size} for event, size in zip(events, sizes, strict=True)]
        print_text(json.dumps(shown, indent=2, ensure_ascii=False))
        return 0
    rows = tuple((e["id"], e["title"], e["install"] or "") for e in events)
    print_table(ReportTable("Events", ("id", "event", "requires"), rows))
    tasksets = tuple(
        (event["name"], name, *_cells(counts))
        for event, size in zip(events, sizes, strict=True)
        for name, counts in size.items()
    )
    print_table(ReportTable("Task sets", ("event", "--taskset", *SPLITS, "needs"), tasksets))
    print_text("Details: `hexathlon show SQL`. Play as the agent: `hexathlon play SQL`.")
    return 0


def _cells(sizes: Mapping[str, Any]) -> tuple[str, ...]:
    """Return a set's row: tasks by split, and what is missing."""
    from hexathlon_cli.events import MISSING, SPLITS, UNBOUNDED

    if MISSING in sizes:
        return (*("" for _ in SPLITS), str(sizes[MISSING]))
    counts = (sizes[split] for split in SPLITS)
    return (*("∞" if n == UNBOUNDED else f"{n:,}" if n else "–" for n in counts), "")
