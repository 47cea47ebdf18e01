"""Transcripts for judges: a question and numbered messages, with quote lookup.

A transcript is made from a trial record, from chat messages, or from a single reply. Every text is
cleaned once, here (see `hexathlon.evaluators.judges.isolation`), so that judges, hashes and quote
lookups use the same text. Images appear in the text as a line with their hash, and beside it for
judges that accept images.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Self

from hexathlon.evaluators.content import Content, Image, described
from hexathlon.evaluators.judges.isolation import clean
from hexathlon.evaluators.judges.rubric import Scope

__all__ = ["JudgedMessage", "JudgedTranscript", "squeezed"]

_AGENT = "assistant"
_SHORTEST_QUOTE = 4
"""Characters without spaces, CJK ones count double. Shorter quotes must be whole messages."""

_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")


class JudgedMessage(NamedTuple):
    """One message as shown to a judge."""

    role: str
    text: str
    images: tuple[Image, ...] = ()
    """Its images whose bytes are available; the text describes all of them."""


class JudgedTranscript(NamedTuple):
    """A question and the messages after it; message 0 comes first."""

    lines: tuple[JudgedMessage, ...]

    @classmethod
    def of_messages(cls, messages: Iterable[Mapping[str, Any]]) -> Self:
        """Make a transcript from chat messages; tool calls are shown as JSON."""
        return cls(
            tuple(
                JudgedMessage(_role(row.get("role")), _text_of(row), _images_of(row.get("content")))
                for row in messages
            )
        )

    @classmethod
    def of_record(
        cls, record: Mapping[str, Any], load: Callable[[Any], Content] | None = None
    ) -> Self:
        """Make a transcript from a trial record: its opening, then actions and observations.

        Args:
            record: The trial.
            load: Returns content of the record with its bytes, for judges that accept images;
                None keeps only the lines that describe them.
        """
        lines = [_line("user", record["opening"], load)]
        for step in record["steps"]:
            lines.append(JudgedMessage(_AGENT, clean(step["action"])))
            lines.append(_line("environment", step["observation"], load))
        return cls(tuple(lines))

    @classmethod
    def of_reply(cls, question: str, reply: str) -> Self:
        """Make a transcript from one question and one reply."""
        return cls((JudgedMessage("user", clean(question)), JudgedMessage(_AGENT, clean(reply))))

    def within(self, scope: Scope) -> list[int]:
        """Return the indexes of the messages in which evidence may occur."""
        if scope == "transcript":
            return list(range(len(self.lines)))
        own = [index for index, line in enumerate(self.lines) if line.role == _AGENT]
        return own[-1:] if scope == "last" else own

    def spoken(self, scope: Scope) -> str:
        """Return the text of the messages in scope."""
        return "\n".join(self.lines[index].text for index in self.within(scope))

    def find(self, quote: str, scope: Scope) -> int | None:
        """Return the first message in scope that contains the quote, or None.

        Letter case and all spaces are ignored: a quote may span lines that were cut between Chinese
        sentences or inside a long word. A quote of fewer than four characters counts only if it is
        the whole message, since it would occur almost anywhere; one without a letter or digit never
        counts.
        """
        sought = _unspaced(quote)
        substance = _substance(sought)
        if not substance:
            return None
        for index in self.within(scope):
            text = _unspaced(self.lines[index].text)
            if sought == text or (substance >= _SHORTEST_QUOTE and sought in text):
                return index
        return None

    @property
    def question(self) -> str:
        """The text before the agent's first turn."""
        parts = []
        for line in self.lines:
            if line.role == _AGENT:
                break
            parts.append(line.text)
        return "\n".join(parts)

    @property
    def images(self) -> tuple[Image, ...]:
        """The images with available bytes, without duplicates, in order."""
        return tuple(dict.fromkeys(image for line in self.lines for image in line.images))

    @property
    def size(self) -> int:
        """Number of characters of the agent's own turns."""
        return len(self.spoken("agent"))


def squeezed(text: str) -> str:
    """Return a text in lower case with single spaces and plain quotation marks, for comparison."""
    plain = text.translate(_PLAIN)
    return " ".join(plain.casefold().split())


_PLAIN = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'", "…": "..."})


def _unspaced(text: str) -> str:
    return squeezed(text).replace(" ", "")


def _substance(text: str) -> int:
    if not any(c.isalnum() for c in text):
        return 0
    return len(text) + len(_CJK.findall(text))


def _line(role: str, content: Any, load: Callable[[Any], Content] | None) -> JudgedMessage:
    if isinstance(content, str):
        return JudgedMessage(role, clean(content))
    parts: Content = () if load is None else load(content)
    images = tuple(part for part in parts if isinstance(part, Image))
    return JudgedMessage(role, clean(described(content)), images)


def _role(role: Any) -> str:
    """Return a role from a closed list, as a judge never sees free text in place of a role."""
    return role if role in ("system", "user", "assistant", "tool", "environment") else "other"


def _text_of(message: Mapping[str, Any]) -> str:
    parts = [_described(message.get("content") or "")]
    calls: Sequence[Any] = message.get("tool_calls") or ()
    for call in calls:
        parts.append(json.dumps(clean(_plain(call)), ensure_ascii=False, sort_keys=True))
    return clean("\n".join(part for part in parts if part))


def _described(content: Any) -> str:
    return described(content) if isinstance(content, tuple) else str(content)


def _images_of(content: Any) -> tuple[Image, ...]:
    parts = content if isinstance(content, tuple) else ()
    return tuple(part for part in parts if isinstance(part, Image))


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
