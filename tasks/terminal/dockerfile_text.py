"""Text level of a Dockerfile: instructions, here-documents, and expansion of variables.

Follows the builder's rules: `#` lines are comments anywhere but in a here-document, the escape
character joins lines, single quotes and the escape character keep `$` as it is.
"""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

__all__ = ["Instruction", "expand", "read_instructions", "split_words"]

_MARK = re.compile(r"<<(-?)[ \t]*(['\"]?)([A-Za-z_]\w*)\2")
_ESCAPE = re.compile(r"#\s*escape\s*=\s*([\\`])\s*$")
_WITH_DOCUMENTS = ("RUN", "COPY", "ADD")
_VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)(?::?([-+?])([^}]*))?\})")


class Instruction(NamedTuple):
    """One instruction of a Dockerfile."""

    word: str
    """Its name, in capitals."""

    rest: str
    """The text after it, with continued lines joined."""

    documents: Mapping[str, tuple[str, bool]]
    """Here-documents by name: the text, and whether variables in it are expanded."""


def read_instructions(text: str) -> Iterator[Instruction]:
    """Yield the instructions of a Dockerfile."""
    lines = text.replace("\r\n", "\n").split("\n")
    escape = _escape_character(lines)
    place = 0
    while place < len(lines):
        line = lines[place].lstrip()
        place += 1
        if not line.strip() or line.startswith("#"):
            continue
        while line.rstrip().endswith(escape) and place < len(lines):
            following = lines[place]
            place += 1
            if not following.strip() or following.lstrip().startswith("#"):
                continue
            line = line.rstrip()[:-1] + following
        line = line.rstrip().removesuffix(escape)
        word, rest = (line.split(None, 1) + [""])[:2]
        documents: dict[str, tuple[str, bool]] = {}
        if word.upper() in _WITH_DOCUMENTS:
            for mark in _MARK.finditer(rest):
                end = _end_of(lines, place, mark[3], tabs=bool(mark[1]))
                if end is None:
                    continue
                body = [each.lstrip("\t") if mark[1] else each for each in lines[place:end]]
                documents[mark[3]] = ("".join(f"{each}\n" for each in body), not mark[2])
                place = end + 1
        yield Instruction(word.upper(), rest.strip(), documents)


def _escape_character(lines: list[str]) -> str:
    for line in lines:
        if not line.lstrip().startswith("#"):
            break
        match = _ESCAPE.match(line.strip())
        if match:
            return match[1]
    return "\\"


def _end_of(lines: list[str], place: int, name: str, *, tabs: bool) -> int | None:
    for number in range(place, len(lines)):
        if (lines[number].lstrip("\t") if tabs else lines[number]) == name:
            return number
    return None


def split_words(text: str, values: Mapping[str, str]) -> list[str]:
    """Return the words of an instruction, with quotes removed and variables expanded.

    Raises:
        ValueError: If a quote is not closed.
    """
    words: list[str] = []
    current: list[str] | None = None
    quote = ""
    place = 0
    while place < len(text):
        char = text[place]
        if char == "\\" and quote != "'" and place + 1 < len(text):
            current = [*(current or []), text[place + 1]]
            place += 2
            continue
        if quote:
            if char == quote:
                quote = ""
                place += 1
                continue
        elif char in "'\"":
            quote, current = char, current or []
            place += 1
            continue
        elif char.isspace():
            if current is not None:
                words.append("".join(current))
            current = None
            place += 1
            continue
        match = _VARIABLE.match(text, place) if char == "$" and quote != "'" else None
        current = current or []
        current.append(_value(match, values) if match else char)
        place = match.end() if match else place + 1
    if quote:
        raise ValueError("No closing quotation")
    return words + (["".join(current)] if current is not None else [])


def expand(text: str, values: Mapping[str, str]) -> str:
    """Return a text with its variables expanded; those without a value are empty."""
    return re.sub(
        rf"\\\$|{_VARIABLE.pattern}",
        lambda match: "$" if match[0] == "\\$" else _value(match, values),
        text,
    )


def _value(match: re.Match[str], values: Mapping[str, str]) -> str:
    value = values.get(match[1] or match[2], "")
    if match[3] == "-":
        return value or expand(match[4], values)
    if match[3] == "+":
        return expand(match[4], values) if value else ""
    return value
