"""CharacterBench (format only): bilingual dialogues by dimension, scored 1 to 5 by a judge model.

Reads every `*.json` in the directory, each a JSON array: character_name, character_profile,
greeting, dialogue ({speaker, utterance}), and the English version under `translation_en`. The file
name is the dimension.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hexathlon.tasks.bilingual import Language
from hexathlon.tasks.errors import MissingData
from hexathlon.tasks.roleplay.loaders.loaded import (
    BadData,
    LoadedConversation,
    LoadedConversations,
    read_json,
)

__all__ = ["CharacterBenchSource", "source"]


class CharacterBenchSource(LoadedConversations):
    """CharacterBench's dialogues, in Chinese and, if present, in English."""

    name = "characterbench"
    folder = "characterbench"

    def items(self) -> Sequence[LoadedConversation]:
        """Return one item per dialogue and language."""
        paths = sorted(self.root.glob("*.json"))
        if not paths:
            raise MissingData(f"there is no *.json in {self.root}")
        return [
            item
            for path in paths
            for row in read_json(path)
            for item in _items(path.stem.removesuffix("_test"), row)
        ]


def _items(dimension: str, row: Mapping[str, Any]) -> Iterator[LoadedConversation]:
    yield _item(dimension, row, "zh", row.get("id"))
    if row.get("translation_en"):
        yield _item(dimension, row["translation_en"], "en", row.get("id"))


def _item(
    dimension: str, row: Mapping[str, Any], language: Language, identifier: Any
) -> LoadedConversation:
    name, user = row["character_name"], row.get("user_name") or "user"
    turns = [
        (name if turn["speaker"] == "character" else user, turn["utterance"])
        for turn in row["dialogue"]
    ]
    if not turns or row["dialogue"][-1]["speaker"] == "character":
        raise BadData(f"dialogue {identifier} of {dimension} does not end with the user's turn")
    before = [(name, row["greeting"])] if row.get("greeting") else []
    return LoadedConversation(
        f"{dimension}_{language}", name, row["character_profile"], [turns[-1][1]], language,
        before=[*before, *turns[:-1]],
        references=[row["reference"]] if row.get("reference") else (),
        facts={"dimension": dimension, "id": identifier},
    )  # fmt: skip


def source() -> CharacterBenchSource:
    """Create the source for the registry."""
    return CharacterBenchSource()
