"""Estimate of the work needed to compile a statement, from its text alone.

SQLite copies the text of a common table expression to each place that names it, before any limit or
callback can intervene: twenty expressions that each name the previous one twice make a million
copies. PostgreSQL plans a join of fifty tables for seconds without checking the deadline. The
estimates are conservative.
"""

import re
from functools import lru_cache

__all__ = ["copies", "tables_joined"]

_TOKEN = re.compile(
    r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`(?:[^`]|``)*`|\[[^\]]*\]"
    r"|--[^\n]*|/\*.*?(?:\*/|$)|[^\W\d][\w$]*|[().,]",
    re.DOTALL,
)
_FILLERS = ("not", "materialized")
_AFTER_FROM = frozenset(
    "where group order having limit union except intersect select values".split()
)
_BEFORE_TABLE = frozenset(("from", "join", ",", "(", "main", ".", "in"))


@lru_cache(maxsize=256)
def copies(sql: str) -> int:
    """Return a lower bound on the number of expansions of common table expressions."""
    tokens = [_plain(token) for token in _TOKEN.findall(sql) if not token.startswith(("--", "/*"))]
    spans = _definitions(tokens)
    if not spans:
        return 0
    named_at = {position for _, position, _, _ in spans}
    bodies: dict[str, list[str]] = {name: [] for name, _, _, _ in spans}
    references = [
        (position, token)
        for position, token in enumerate(tokens)
        if token in bodies and position not in named_at and _may_be_table(tokens, position)
    ]
    outer = set(range(len(references)))
    for name, _, start, end in spans:
        for index, (position, token) in enumerate(references):
            if start < position < end:
                bodies[name].append(token)
                outer.discard(index)
    cost: dict[str, int] = {}
    return sum(_cost(references[index][1], bodies, cost, ()) for index in sorted(outer))


@lru_cache(maxsize=256)
def tables_joined(sql: str) -> int:
    """Return the total number of tables, subqueries and expressions in FROM clauses."""
    tokens = (token.lower() for token in _TOKEN.findall(sql) if not token.startswith(("--", "/*")))
    count, listing = 0, [False]
    for token in tokens:
        if token == "(":
            listing.append(listing[-1])  # parentheses in FROM may contain a join
        elif token == ")":
            listing = listing[:-1] or [False]
        elif token in ("from", "join"):
            count += 1
            listing[-1] = True
        elif token == "," and listing[-1]:
            count += 1
        elif token in _AFTER_FROM:
            listing[-1] = False
    return count


def _may_be_table(tokens: list[str], position: int) -> bool:
    """Whether a name can be a table in FROM: no qualifier, and where a table may occur."""
    after = tokens[position + 1] if position + 1 < len(tokens) else ""
    before = tokens[position - 1] if position else ""
    return after != "." and before in _BEFORE_TABLE


def _plain(token: str) -> str:
    if token[0] in "\"`['":  # SQLite accepts even a string literal as a table name
        token = token[1:-1]
    return token.lower()


def _definitions(tokens: list[str]) -> list[tuple[str, int, int, int]]:
    """Return name, position, body start and end of each `name [(columns)] AS [...] ( body )`."""
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
            found.append((tokens[name], name, start, _closing(tokens, start)))
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
