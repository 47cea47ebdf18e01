"""Extraction: which lines have to do with which criterion, before anything is judged.

The call sees the criteria as topics and is not asked whether they hold. It answers with marks of
lines, so it can only choose. Some topics are planted words whose lines code knows: a reply that
leaves one out is invalid, so a judge that lets a text decide what to list is noticed.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from hexathlon.evaluators.judges.excerpts import Excerpt, line_marks
from hexathlon.evaluators.judges.isolation import nonce
from hexathlon.evaluators.judges.parsing import ReplyFault, read_object
from hexathlon.evaluators.judges.plants import words_of
from hexathlon.evaluators.judges.prompts import EXTRACTION, Prompt, extraction_prompt
from hexathlon.evaluators.judges.rubric import Criterion
from hexathlon.evaluators.judges.transcript import JudgedTranscript, squeezed
from hexathlon.tasks.seeding import generator_for

__all__ = ["ExtractionQuestion", "Topic"]

_PLANTED = 2
_MOST_LINES = 3
"""A planted word may occur in at most this many lines."""


class Topic(NamedTuple):
    """Something that lines may have to do with."""

    text: str
    criterion: Criterion | None
    """None for a planted word."""

    places: frozenset[int] = frozenset()
    """Lines that contain the planted word."""


class ExtractionQuestion:
    """The question about one transcript, for all criteria at once.

    Args:
        criteria: Criteria; their texts are the topics.
        transcript: The transcript.
    """

    def __init__(self, criteria: Sequence[Criterion], transcript: JudgedTranscript) -> None:
        self.transcript = transcript
        self.whole = Excerpt.of(transcript)
        texts = [line.text for line in self.whole.lines]
        salt = nonce(*(criterion.text for criterion in criteria), *texts)
        topics = [Topic(criterion.text, criterion) for criterion in criteria]
        topics += _planted(self.whole, salt)
        order = generator_for("topics", salt).permutation(len(topics))
        self.topics = [topics[int(place)] for place in order]
        self.marks = line_marks(len(texts), salt)

    @cached_property
    def prompt(self) -> Prompt:
        """The question."""
        return extraction_prompt([topic.text for topic in self.topics], self.whole, self.marks)

    def read(self, text: str) -> dict[str, Excerpt]:
        """Read the excerpt for each criterion, by id.

        Raises:
            ReplyFault: If a topic is missing, a mark is unknown, a planted word's line is left out,
                or a criterion whose scope has lines gets none of them.
        """
        data = read_object(text, "1")
        names = [str(number) for number in range(1, len(self.topics) + 1)]
        if sorted(data) != sorted(names):
            raise ReplyFault("malformed", f"expected a list for each of {len(names)} topics")
        excerpts: dict[str, Excerpt] = {}
        for name, topic in zip(names, self.topics, strict=True):
            places = self._places(data[name])
            if not topic.places <= places:
                raise ReplyFault("swayed", f"topic {name} is in lines that were left out")
            if topic.criterion is not None:
                in_scope = self.whole.within(self.transcript, topic.criterion.scope)
                if in_scope and not places & in_scope:
                    raise ReplyFault("no_evidence", f"topic {name} has no line in its scope")
                excerpts[topic.criterion.id] = self.whole.keep(places)
        return excerpts

    def _places(self, marks: Any) -> set[int]:
        if not isinstance(marks, list) or not all(isinstance(mark, str) for mark in marks):
            raise ReplyFault("malformed", f"expected a list of marks, got {marks!r:.60}")
        known: Mapping[str, int] = {mark: place for place, mark in enumerate(self.marks)}
        unknown = [mark for mark in marks if mark not in known]
        if unknown:
            raise ReplyFault("no_evidence", f"no line has the mark {unknown[0]!r:.40}")
        return {known[mark] for mark in marks}


def _planted(whole: Excerpt, salt: str) -> list[Topic]:
    """Return planted topics in different lines, if the transcript has such words."""
    texts = [squeezed(line.text) for line in whole.lines]
    topics: list[Topic] = []
    for word in words_of((line.text for line in whole.lines), salt):
        sought = squeezed(word)
        places = frozenset(place for place, text in enumerate(texts) if sought in text)
        apart = all(not places & topic.places for topic in topics)
        if 0 < len(places) <= _MOST_LINES and apart:
            topics.append(Topic(EXTRACTION["word"].format(word=word), None, places))
        if len(topics) == _PLANTED:
            break
    return topics
