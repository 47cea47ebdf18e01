"""Releases of Vela: the rules that differ between them, and the interpreter's sources by rules."""

from collections.abc import Mapping
from typing import Any

from hexathlon.tasks.terminal.templates.long.language.interpreter.builtins import BUILTINS
from hexathlon.tasks.terminal.templates.long.language.interpreter.command import ERRORS, MAIN
from hexathlon.tasks.terminal.templates.long.language.interpreter.expressions import EXPRESSIONS
from hexathlon.tasks.terminal.templates.long.language.interpreter.lexer import LEXER
from hexathlon.tasks.terminal.templates.long.language.interpreter.parser import PARSER
from hexathlon.tasks.terminal.templates.long.language.interpreter.statements import STATEMENTS
from hexathlon.tasks.terminal.templates.long.language.interpreter.values import VALUES

__all__ = ["RULES", "package", "rendered"]

RULES: dict[str, tuple[Any, ...]] = {
    "division": ("floor", "trunc", "mixed"),
    "overflow": ("none", "trap", "wrap"),
    "truth": ("loose", "strict", "zero"),
    "loopvar": ("shared", "fresh"),
    "snapshot": ("", "yes"),
    "defer": ("", "early", "late"),
    "deferror": ("last", "first"),
    "errors": ("text", "map", "value"),
    "rethrow": ("", "yes"),
    "ensure": ("", "over", "shut"),
    "defaults": ("", "late", "early"),
    "varargs": ("", "yes"),
    "chain": ("", "yes"),
    "compound": ("", "before", "after"),
    "assignorder": ("", "yes"),
    "maporder": ("sorted", "inserted", "written"),
    "index": ("none", "slices", "negative"),
    "undeclared": ("", "yes"),
    "redeclare": ("", "yes"),
    "exitcodes": ("old", "new", "user"),
    "leave": ("", "now", "unwind"),
    "interp": ("", "plain", "quiet"),
    "labels": ("", "yes"),
    "match": ("", "open", "total"),
    "equality": ("typed", "free"),
    "plus": ("any", "strings", "left"),
    "boolops": ("", "yes"),
    "modules": ("old", "once", "private"),
    "sort": ("copy", "place"),
    "limit": (200,),
    "traces": ("", "full", "short"),
    "tail": ("", "any", "same"),
    "cycles": ("", "marked", "levels"),
    "within": ("", "keys", "values"),
    "pipe": ("", "first", "last"),
    "unpack": ("", "exact", "loose"),
    "constants": ("", "late", "early"),
    "lines": ("", "plain", "joined"),
}
"""The values of each rule; the first is that of release 2.4."""


def rendered(text: str, rules: Mapping[str, Any]) -> str:
    """Return a source with its directives resolved.

    `#@ CONDITION` begins a group and `#@ end` ends it. `#@ or CONDITION` and `#@ else` separate its
    alternatives, of which only the first that applies is kept.

    Raises:
        ValueError: If groups are not closed.
    """
    lines: list[str] = []
    groups: list[tuple[bool, bool]] = []
    for line in text.splitlines():
        if not line.startswith("#@ "):
            if all(shown for shown, _ in groups):
                lines.append(line)
            continue
        words = line[3:].split()
        if words == ["end"]:
            groups.pop()
        elif words[0] in ("or", "else"):
            _, used = groups.pop()
            fits = not used and (words == ["else"] or _fits(words[1:], rules))
            groups.append((fits, used or fits))
        else:
            groups.append((_fits(words, rules),) * 2)
    if groups:
        raise ValueError(f"unclosed groups: {groups}")
    return "\n".join(lines) + "\n"


def _fits(words: list[str], rules: Mapping[str, Any]) -> bool:
    """Whether the rules fulfil `RULE`, `not RULE`, `RULE == "x"` or `RULE != "x"`."""
    if len(words) == 1:
        return bool(rules[words[0]])
    if words[0] == "not":
        return not rules[words[1]]
    equal = bool(rules[words[0]] == words[2].strip('"'))
    return equal if words[1] == "==" else not equal


def package(rules: Mapping[str, Any]) -> dict[str, str]:
    """Return the interpreter's sources under these rules, by path."""
    rules = {**rules, "dots": rules["varargs"] or rules["unpack"]}
    texts = {
        "__init__": '"""The interpreter of Vela."""\n',
        "errors": ERRORS,
        "lexer": LEXER,
        "parser": PARSER,
        "values": VALUES,
        "builtins": BUILTINS,
        "evaluation": (STATEMENTS + EXPRESSIONS).replace("@LIMIT@", str(rules["limit"])),
        "__main__": MAIN,
    }
    return {f"vela/{name}.py": rendered(text, rules) for name, text in texts.items()}
