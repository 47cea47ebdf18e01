"""Voices of the other speaker: the script itself, or a model that rewords its lines.

A model decides nothing. It receives the line, the speaker and the conversation so far, and its
wording is used only if it keeps every name and number that matters and adds nothing that the
script keeps hidden. So tasks stay checkable whichever voice is used.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from hexathlon.tasks.roleplay.text import found

__all__ = ["Cue", "Voice", "worded"]

_LONGEST = 1_000


class Cue(NamedTuple):
    """Input of a voice."""

    line: str
    """The scripted line."""

    manner: str
    """The speaker's manner of speech."""

    language: str
    said: Sequence[str]
    """The conversation so far, alternating between the other speaker and the character."""


Voice = Callable[[Cue], str]


def worded(voice: Voice | None, cue: Cue, keep: Sequence[str], hidden: Sequence[Any]) -> str:
    """Return a line in a voice's words, or the script's if those are invalid.

    Args:
        voice: A model; None for the script.
        cue: Its input.
        keep: Words that the line must contain.
        hidden: Words that it must not contain.
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
