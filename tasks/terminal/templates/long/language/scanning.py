"""Tokens for the reference of Vela, read character by character."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

__all__ = ["SyntaxProblem", "Token", "scan"]

_WORDS = """let fn return if else while for in break continue print try catch throw import as and or
    not nil true false""".split()
_RESERVED = {
    "defer": "defer",
    "ensure": "finally",
    "match": "match case",
    "constants": "const",
}
_NAME = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
_DIGITS = "0123456789"
_ESCAPES = {"n": "\n", "t": "\t", '"': '"', "\\": "\\"}


class SyntaxProblem(Exception):
    """A text that is no program: the file and line of the first token that cannot stand there."""

    def __init__(self, file: str, line: int) -> None:
        super().__init__(file, line)
        self.file, self.line = file, line


class Token(NamedTuple):
    """A token; its kind is sign, name, number, text, pieces, bad or end."""

    kind: str
    value: Any
    line: int


def scan(text: str, rules: Mapping[str, Any], line: int = 1) -> list[Token]:
    """Return the tokens of a text, up to the first character that cannot be read."""
    words = {*_WORDS}
    for rule, word in _RESERVED.items():
        words |= {*word.split()} if rules[rule] else set()
    signs = ["==", "!=", "<=", ">=", *"+-*/%<>=(){}[],;:."]
    signs = (["+=", "-=", "*=", "/=", "%="] if rules["compound"] else []) + signs
    signs = (["..."] if rules["varargs"] or rules["unpack"] else []) + signs
    signs = (["|>"] if rules["pipe"] else []) + signs
    found: list[Token] = []
    at = 0
    while at < len(text):
        mark = text[at]
        start = at
        if mark == "\n":
            line += 1
            at += 1
        elif mark in " \t\r":
            at += 1
        elif mark == "#":
            while at < len(text) and text[at] != "\n":
                at += 1
        elif mark in _NAME:
            while at < len(text) and text[at] in _NAME + _DIGITS:
                at += 1
            word = text[start:at]
            found.append(Token("sign" if word in words else "name", word, line))
        elif mark in _DIGITS:
            while at < len(text) and text[at] in _DIGITS:
                at += 1
            number = int(text[start:at])
            small = number < 2**63 or rules["overflow"] == "none"
            found.append(Token("number" if small else "bad", number, line))
        elif mark == '"':
            at = _closing(text, at, bool(rules["lines"]))
            if at < 0:
                return [*found, Token("bad", mark, line), Token("end", "", line)]
            found.append(_string(text[start + 1 : at], rules, line))
            line += text.count("\n", start, at)
            at += 1
        else:
            sign = next((each for each in signs if text.startswith(each, at)), "")
            if not sign:
                return [*found, Token("bad", mark, line), Token("end", "", line)]
            found.append(Token("sign", sign, line))
            at += len(sign)
    return [*found, Token("end", "", line)]


def _closing(text: str, at: int, long: bool) -> int:
    """Return the place of a string's closing quote, -1 without one.

    Unless the string may be `long`, the quote has to be on the same line.
    """
    at += 1
    while at < len(text) and text[at] != '"' and (long or text[at] != "\n"):
        at += 2 if text[at] == "\\" and text[at + 1 : at + 2] != "\n" else 1
    return at if at < len(text) and text[at] == '"' else -1


def _string(body: str, rules: Mapping[str, Any], line: int) -> Token:
    """Return the token of a string, in pieces if it has expressions."""
    pieces: list[Any] = [""]
    marks = iter(range(len(body)))
    for at in marks:
        mark, pair = body[at], body[at : at + 2]
        if pair == "\\\n" and rules["lines"] == "joined":
            rest = body[at + 2 :]
            for _ in range(1 + len(rest) - len(rest.lstrip(" \t"))):
                next(marks)
        elif mark == "\\":
            if pair[1:] not in _ESCAPES:
                return Token("bad", body, line)
            pieces[-1] += _ESCAPES[pair[1:]]
            next(marks)
        elif rules["interp"] and pair in ("{{", "}}"):
            pieces[-1] += mark
            next(marks)
        elif rules["interp"] and mark == "{":
            inside, brace, _ = body[at + 1 :].partition("}")
            if not brace:
                return Token("bad", body, line)
            pieces += [[each._replace(line=line) for each in scan(inside, rules, line)], ""]
            for _ in range(len(inside) + 1):
                next(marks)
        elif rules["interp"] and mark == "}":
            return Token("bad", body, line)
        else:
            pieces[-1] += mark
    return Token(
        "text" if len(pieces) == 1 else "pieces", pieces if pieces[1:] else pieces[0], line
    )
