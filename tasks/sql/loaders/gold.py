"""Analysis of gold statements: query hardness, row order, MySQL-to-SQLite translation."""

import re
from collections.abc import Sequence

__all__ = ["hardness", "is_ordered", "tokens", "translated"]

_TOKEN = re.compile(
    r"'(?:[^'\\]|''|\\.)*'|\"(?:[^\"\\]|\"\"|\\.)*\"|`[^`]*`|\[[^\]]*\]|\w+|[^\s\w]", re.DOTALL
)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "b": "\b", "Z": "\x1a"}


def tokens(sql: str) -> list[str]:
    """Return the statement's words, string literals and symbols."""
    return _TOKEN.findall(sql)


def is_ordered(sql: str) -> bool:
    """Whether the outermost query orders its rows."""
    depth = 0
    words = tokens(sql)
    for place, word in enumerate(words):
        depth += {"(": 1, ")": -1}.get(word, 0)
        after = words[place + 1].upper() if place + 1 < len(words) else ""
        if depth == 0 and word.upper() == "ORDER" and after == "BY":
            return True
    return False


def hardness(sql: str) -> str:
    """Return `easy`, `medium`, `hard` or `extra`, by the number of parts of the query.

    Close to Spider's own classes, which count the same parts on a parsed query.
    """
    words = [word.upper() for word in tokens(sql)]
    nested = words.count("SELECT") - 1
    parts = sum(words.count(word) for word in ("JOIN", "GROUP", "ORDER", "LIMIT", "OR", "LIKE"))
    parts += max(0, sum(words.count(w) for w in ("COUNT", "SUM", "AVG", "MIN", "MAX")) - 1)
    parts += words.count("AND")
    if nested <= 0:
        return "easy" if parts == 0 else "medium" if parts <= 3 else "hard"
    return "hard" if parts <= 1 else "extra"


def translated(statement: str, names: Sequence[str] = ()) -> str:
    r"""Translate a MySQL statement to SQLite, preserving the meaning of every string literal.

    Backslash escapes in literals are resolved, `\'` becomes `''`, and table names among `names`
    that need quotes (such as those that begin with a digit) get them.
    """
    bare = sorted((name for name in names if not name.isidentifier()), key=len, reverse=True)
    pieces = []
    last = 0
    for match in _TOKEN.finditer(statement):
        pieces.append(statement[last : match.start()])
        word = match.group()
        if word[0] in "'\"":
            pieces.append(_unescaped(word))
        elif word in bare:
            pieces.append(f"`{word}`")
        else:
            pieces.append(word)
        last = match.end()
    return "".join([*pieces, statement[last:]])


def _unescaped(word: str) -> str:
    quote, inner = word[0], word[1:-1]

    def resolve(match: re.Match[str]) -> str:
        letter = match.group(1)
        return quote * 2 if letter == quote else _ESCAPES.get(letter, letter)

    return quote + re.sub(r"\\(.)", resolve, inner, flags=re.DOTALL) + quote
