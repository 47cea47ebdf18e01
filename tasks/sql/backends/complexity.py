"""How many times a statement's common table expressions would be copied while it is compiled.

SQLite copies the text of a common table expression at each place that names it, before any limit
or callback can stop it: twenty expressions that each name the previous one twice make a million
copies. This module counts the copies from the text alone, on the safe side.
"""

import re
from functools import lru_cache

__all__ = ["copies"]

_TOKEN = re.compile(
    r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`(?:[^`]|``)*`|\[[^\]]*\]"
    r"|--[^\n]*|/\*.*?(?:\*/|$)|[^\W\d][\w$]*|[().,]",
    re.DOTALL,
)
_FILLERS = ("not", "materialized")


@lru_cache(maxsize=256)
def copies(sql: str) -> int:
    """Number of times that bodies of common table expressions are expanded, at least."""
    tokens = [_plain(token) for token in _TOKEN.findall(sql) if not token.startswith(("--", "/*"))]
    spans = _definitions(tokens)
    if not spans:
        return 0
    names = {name for name, _, _ in spans}
    inside = [False] * len(tokens)
    for _, start, end in spans:
        inside[start:end] = [True] * (end - start)
    outer = [token for token, hidden in zip(tokens, inside, strict=True) if not hidden]
    bodies: dict[str, list[str]] = {name: [] for name in sorted(names)}
    for name, start, end in spans:
        bodies[name].extend(token for token in tokens[start:end] if token in names)
    cost: dict[str, int] = {}
    return sum(_cost(token, bodies, cost, ()) for token in outer if token in names)


def _plain(token: str) -> str:
    if token[0] in "\"`[":
        token = token[1:-1]
    return token.lower()


def _definitions(tokens: list[str]) -> list[tuple[str, int, int]]:
    """`name [(columns)] AS [NOT] [MATERIALIZED] ( body )` as (name, body start, body end)."""
    found = []
    for position, token in enumerate(tokens):
        if token != "as":
            continue
        start = position + 1
        while start < len(tokens) and tokens[start] in _FILLERS:
            start += 1
        if start >= len(tokens) or tokens[start] != "(":
            continue
        name = position - 1
        if name >= 0 and tokens[name] == ")":
            name = _opening(tokens, name) - 1
        if name >= 0:
            found.append((tokens[name], start, _closing(tokens, start)))
    return found


def _closing(tokens: list[str], start: int) -> int:
    depth = 0
    for position in range(start, len(tokens)):
        depth += {"(": 1, ")": -1}.get(tokens[position], 0)
        if depth == 0:
            return position
    return len(tokens)


def _opening(tokens: list[str], end: int) -> int:
    depth = 0
    for position in range(end, -1, -1):
        depth += {")": 1, "(": -1}.get(tokens[position], 0)
        if depth == 0:
            return position
    return 0


def _cost(
    name: str, bodies: dict[str, list[str]], cost: dict[str, int], above: tuple[str, ...]
) -> int:
    if name in above or len(above) > 100:
        return 1
    if name not in cost:
        below = (*above, name)
        cost[name] = 1 + sum(_cost(token, bodies, cost, below) for token in bodies[name])
    return cost[name]
