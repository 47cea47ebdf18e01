"""SQL rendering of a window column: as a window function, or as a per-row sub-query."""

from collections.abc import Mapping

from hexathlon.tasks.sql.programs.phrases import SqlDialect, ordering
from hexathlon.tasks.sql.programs.relations import Window

__all__ = ["over", "per_row"]


def over(node: Window, scope: Mapping[str, str], dialect: SqlDialect) -> str:
    """Render the column as a window function; `scope` gives the SQL of the source's columns."""
    argument = scope[node.argument] if node.argument else ""
    if node.function == "count" and not argument:
        argument = "*"
    parts = []
    if node.partition:
        parts.append(f"PARTITION BY {', '.join(scope[name] for name in node.partition)}")
    if node.order:
        keys = ", ".join(ordering(scope[name], down, dialect) for name, down in node.order)
        parts.append(f"ORDER BY {keys}")
    if node.frame == "running":
        parts.append("ROWS UNBOUNDED PRECEDING")
    elif isinstance(node.frame, int):
        parts.append(f"ROWS BETWEEN {node.frame} PRECEDING AND CURRENT ROW")
    elif node.order and node.function in ("sum", "avg", "count", "min", "max"):
        parts.append("ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING")
    return f"{node.function.upper()}({argument}) OVER ({' '.join(parts)})"


def per_row(
    node: Window, table: str, inner: dict[str, str], outer: dict[str, str], same: list[str]
) -> str:
    """Render a window function as a scalar sub-query correlated with the row."""
    value = inner[node.argument] if node.argument else "*"
    keys = [(inner[name], outer[name], down) for name, down in node.order]
    before = _before(keys)
    backwards = ", ".join(a + ("" if down else " DESC") for a, _, down in keys)
    equal = " AND ".join(f"{a} = {b}" for a, b, _ in keys)
    where, start = list(same), f"FROM {table} AS peer"

    def query(item: str, tests: list[str], tail: str = "") -> str:
        condition = f" WHERE {' AND '.join(tests)}" if tests else ""
        return f"(SELECT {item} {start}{condition}{tail})"

    if node.function in ("rank", "row_number"):
        return query("COUNT(*) + 1", [*where, before])
    if node.function == "dense_rank":
        return query(f"COUNT(DISTINCT {keys[0][0]}) + 1", [*where, before])
    if node.function == "lag":
        return query(value, [*where, before], f" ORDER BY {backwards} LIMIT 1")
    word = node.function.upper()
    if node.frame == "partition":
        return query(f"{word}({value})", where)
    upto = [*where, f"({before} OR {equal})"]
    if node.frame == "running":
        return query(f"{word}({value})", upto)
    tail = f" ORDER BY {backwards} LIMIT {int(node.frame) + 1}"
    last = query(f"{value} AS last_value", upto, tail)
    return f"(SELECT {word}(last_value) FROM {last} AS recent)"


def _before(keys: list[tuple[str, str, bool]]) -> str:
    """Return the condition that the peer's keys come strictly before the row's."""
    terms = []
    for place, (a, b, down) in enumerate(keys):
        ties = [f"{x} = {y}" for x, y, _ in keys[:place]]
        terms.append(" AND ".join([*ties, f"{a} {'>' if down else '<'} {b}"]))
    return terms[0] if len(terms) == 1 else f"({' OR '.join(terms)})"
