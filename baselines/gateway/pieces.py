"""The text of a reply while it is sampled, as far as what follows cannot change it."""

from collections.abc import Callable, Sequence

from hexathlon.baselines.tokens.render import ChatRenderer

__all__ = ["TextPieces"]

_PARTIAL = "\N{REPLACEMENT CHARACTER}"
_MARKS = range(0xE000, 0xF900)
"""Characters for private use: tokenizers mark with them what the next token is written like."""


class TextPieces:
    """Passes on the text of a reply, piece by piece.

    Text that may begin a stop string or a tool call waits until that is decided, and so do the
    bytes of an unfinished character.

    Args:
        renderer: Decodes tokens.
        ends: Strings that end the text: stop strings, and what opens a tool call.
        calls: Whether the reply may be a tool call: the whitespace around its text is not passed
            on, and nothing is of a reply that does not begin with a word.
        tell: Receives the pieces.
    """

    def __init__(
        self,
        renderer: ChatRenderer,
        ends: Sequence[str],
        calls: bool,
        tell: Callable[[str], None],
    ) -> None:
        self._renderer = renderer
        self._ends = tuple(end for end in ends if end)
        self._calls = calls
        self._tell = tell
        self._ids: list[int] = []
        self._before = self._until = 0
        self._text = ""
        self._told = 0

    def take(self, token: int) -> None:
        """Take the next token of the reply."""
        if token in self._renderer.stop_ids:
            return
        self._ids.append(token)
        decode = self._renderer.decode  # of a few tokens together: one alone may lack its space
        known = decode(self._ids[self._before : self._until])
        text = decode(self._ids[self._before :])
        if len(text) <= len(known) or text[-1] == _PARTIAL or ord(text[-1]) in _MARKS:
            return
        self._text += text[len(known) :]
        self._before, self._until = self._until, len(self._ids)
        certain = self._certain()
        if len(certain) > self._told:
            self._tell(certain[self._told :])
            self._told = len(certain)

    def _certain(self) -> str:
        text = self._text
        places = [text.find(end) for end in self._ends if end in text]
        text = text[: min(places)] if places else text[: len(text) - self._undecided(text)]
        if self._calls:
            text = text.rstrip() if text[:1].isalpha() else ""
        return text

    def _undecided(self, text: str) -> int:
        """Return the length of the text's end that may begin one of the ends."""
        return max(
            (size for end in self._ends for size in range(1, len(end))
             if text.endswith(end[:size])),
            default=0,
        )  # fmt: skip
