"""Difficulty of a query program, as a count of phenomena; it separates the levels."""

from hexathlon.tasks.sql.programs.expressions import FunctionCall, Literal, Misreadable, Scalar
from hexathlon.tasks.sql.programs.relation import Relation
from hexathlon.tasks.sql.programs.relations import Aggregate, Combine, GroupBy, Join, Match, Window
from hexathlon.tasks.sql.programs.walk import nodes, scans

__all__ = ["LEAST", "phenomena"]

LEAST = {"tiny": 0, "easy": 1, "medium": 2, "hard": 3}
"""Minimum number of phenomena in a question of the level."""


def phenomena(program: Relation) -> tuple[str, ...]:
    """Return the names of the phenomena that a program combines."""
    labels = {variant.label for variant in nodes(program, Misreadable)}
    aliases = {scan.alias for scan in scans(program)}
    groups = list(nodes(program, GroupBy))
    found = {
        "joins": len(aliases) > 2 or bool(list(nodes(program, Join))),
        "many_joins": len(aliases) > 3,
        "documents": "outdated_document" in labels,
        "dirty": "skip_cleaning" in labels,
        "deleted_rows": "count_deleted" in labels,
        "windows": any(True for _ in nodes(program, Window)),
        "partners": any(True for _ in nodes(program, Match)),
        "sets": any(True for _ in nodes(program, Combine)),
        "nesting": len(groups) > 1 or any(True for _ in nodes(program, Scalar)),
        "conditional": any(item.where is not None for item in nodes(program, Aggregate)),
        "distinct": any(item.distinct for item in nodes(program, Aggregate)),
        "dates": any(_is_date(call) for call in nodes(program, FunctionCall)),
        "grouping": bool(groups),
    }
    return tuple(name for name, present in found.items() if present)


def _is_date(call: FunctionCall) -> bool:
    if call.function == "substr":
        return call.arguments[1:] in ((Literal(1), Literal(4)), (Literal(1), Literal(7)))
    return call.function == "days_between"
