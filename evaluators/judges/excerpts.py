"""Lines of a transcript, cut by code, and excerpts made of them.

A judge is shown single lines, each behind a mark drawn for the call, and chooses among them by
mark. It can leave lines out, but never add or change one: every word it is shown is a word of the
transcript.
"""

import base64
import hashlib
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from hexathlon.evaluators.content import Image
from hexathlon.evaluators.judges.rubric import Scope
from hexathlon.evaluators.judges.transcript import JudgedTranscript, squeezed

__all__ = ["LONGEST_LINE", "Excerpt", "ExcerptLine", "line_marks"]

LONGEST_LINE = 300
"""Characters; a longer sentence becomes several lines."""

_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+|(?<=[。！？；])")


class ExcerptLine(NamedTuple):
    """One sentence, or a part of a long one."""

    turn: int
    """Index of its message."""

    role: str
    text: str
    """Without line breaks."""


class Excerpt(NamedTuple):
    """Lines of a transcript, in its order."""

    lines: tuple[ExcerptLine, ...]
    images: tuple[Image, ...] = ()

    @classmethod
    def of(cls, transcript: JudgedTranscript) -> "Excerpt":
        """Return all lines of a transcript."""
        return cls(
            tuple(
                ExcerptLine(turn, message.role, piece)
                for turn, message in enumerate(transcript.lines)
                for piece in _pieces(message.text)
            ),
            transcript.images,
        )

    def keep(self, places: Iterable[int]) -> "Excerpt":
        """Return an excerpt with the lines at these indexes only."""
        return self._replace(lines=tuple(self.lines[place] for place in sorted(set(places))))

    def within(self, transcript: JudgedTranscript, scope: Scope) -> set[int]:
        """Return the indexes of the lines that are in scope."""
        turns = set(transcript.within(scope))
        return {place for place, line in enumerate(self.lines) if line.turn in turns}

    @property
    def text(self) -> str:
        """All lines, in the form used for comparison."""
        return squeezed("\n".join(line.text for line in self.lines))


def line_marks(count: int, salt: str) -> list[str]:
    """Return distinct marks of four or more letters and digits, determined by the salt.

    The salt is a hash over the whole call, so that no author of a line can know its mark.
    """
    size, marks = 4, dict[str, None]()
    number = 0
    while len(marks) < count:
        digest = hashlib.sha256(f"{salt} {number}".encode()).digest()
        marks[base64.b32encode(digest).decode().lower()[:size]] = None
        number += 1
        size = 4 if number < 20_000 else 6
    return list(marks)


def _pieces(text: str) -> list[str]:
    pieces: Sequence[str] = [part.strip() for part in _SENTENCE.split(text)]
    return [
        part[at : at + LONGEST_LINE]
        for part in pieces
        if part
        for at in range(0, len(part), LONGEST_LINE)
    ]
