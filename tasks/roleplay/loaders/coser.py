"""CoSER (format only): scenes from novels, one task per main character of a scene.

Reads `test_set.json`, or every `*_set.json`: {scenario, topic, key_characters: [{name, thought}],
dialogues: [{character, message}], character_profiles, plot, book, tag}. The other speakers' turns
are quoted from the book, without their thoughts in brackets; CoSER has models play them, which the
environment's `partner` supports.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hexathlon.tasks.errors import MissingData
from hexathlon.tasks.roleplay.loaders.loaded import (
    LoadedConversation,
    LoadedConversations,
    read_json,
)

__all__ = ["CoSERSource", "source"]

_THOUGHT = re.compile(r"\[[^\]]*\]\s*")


class CoSERSource(LoadedConversations):
    """CoSER's test scenes."""

    name = "coser"
    folder = "coser"

    def items(self) -> Sequence[LoadedConversation]:
        """Return one item per scene and main character who speaks in it."""
        paths = sorted({*self.root.glob("test_set.json"), *self.root.glob("*_set.json")})
        if not paths:
            raise MissingData(f"there is no test_set.json in {self.root}")
        return [item for path in paths for row in read_json(path) for item in _items(row)]


def _items(row: Mapping[str, Any]) -> Iterator[LoadedConversation]:
    for person in row["key_characters"]:
        lines, references = _lines(row["dialogues"], person["name"])
        if lines:
            profile = str(row["character_profiles"].get(person["name"], ""))
            yield LoadedConversation(
                row.get("tag") or "scene", person["name"], profile, lines,
                scene=f"{row['scenario']}\n\n{person.get('thought', '')}".strip(),
                references=references,
                facts={"book": row.get("book", ""), "topic": row.get("topic", "")},
            )  # fmt: skip


def _lines(dialogues: Sequence[Mapping[str, str]], name: str) -> tuple[list[str], list[str]]:
    """Return the lines before each of the character's turns, and the character's last turn."""
    lines: list[str] = []
    heard: list[str] = []
    last = ""
    for turn in dialogues:
        text = _THOUGHT.sub("", turn["message"]).strip()
        if turn["character"] != name:
            heard.append(f"{turn['character']}: {text}")
        elif heard:
            lines.append("\n".join(heard))
            heard, last = [], text
    return lines, [last] if last else []


def source() -> CoSERSource:
    """Create the source for the registry."""
    return CoSERSource()
