"""Who speaks the other speaker's lines: the script itself, or a model that words them anew.

A model decides nothing: it is given the line, who says it, and what was said before, and its
wording is used only if it keeps every name and number that the line turns on and brings in
nothing that the script keeps hidden. So tasks stay checkable whoever speaks.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from hexathlon.tasks.roleplay.text import found

__all__ = ["Cue", "Voice", "worded"]

_LONGEST = 1_000


class Cue(NamedTuple):
    """What a voice is told before it speaks."""

    line: str
    """What is to be said, as the script has it."""

    manner: str
    """How this speaker talks."""

    language: str
    said: Sequence[str]
    """The conversation so far, the other speaker's lines and the character's in turn."""


Voice = Callable[[Cue], str]


def worded(voice: Voice | None, cue: Cue, keep: Sequence[str], hidden: Sequence[Any]) -> str:
    """Return a line in a voice's words, or the script's where they will not do.

    Args:
        voice: A model; None for the script.
        cue: What it is told.
        keep: What the line must name.
        hidden: What it must not name.
    """
    if voice is None:
        return cue.line
    text = voice(cue).strip()
    if not text or len(text) > _LONGEST or text[0] in "{[":
        return cue.line
    if not all(found(text, word) for word in keep):
        return cue.line
    if any(found(text, str(word)) and not found(cue.line, str(word)) for word in hidden):
        return cue.line
    return text
