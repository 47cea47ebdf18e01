"""RoleMRC (format only): a role, a passage and a dialogue, with one reference for the last turn.

Reads `roleMRC_test.jsonl`: {question: [{role, content}], reference, and a category under `task` or
`category`}. The first message is the system prompt with role and passage.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from hexathlon.tasks.roleplay.loaders.loaded import (
    BadData,
    LoadedConversation,
    LoadedConversations,
    read_lines,
)

__all__ = ["RoleMRCSource", "source"]


class RoleMRCSource(LoadedConversations):
    """RoleMRC's test dialogues."""

    name = "rolemrc"
    folder = "rolemrc"
    counted = ("rouge_l",)

    def items(self) -> Sequence[LoadedConversation]:
        """Return one item per dialogue."""
        rows = read_lines(self.root / "roleMRC_test.jsonl")
        return [_item(number, row) for number, row in enumerate(rows)]


def _item(number: int, row: Mapping[str, Any]) -> LoadedConversation:
    turns = [(turn["role"].lower(), turn["content"]) for turn in row["question"]]
    system = "\n".join(text for role, text in turns if role == "system")
    said = [turn for turn in turns if turn[0] != "system"]
    if not said or said[-1][0] != "user":
        raise BadData(f"dialogue {number} does not end with the user's turn")
    category = str(row.get("task") or row.get("category") or "dialogue")
    return LoadedConversation(
        category, "the role described below", system, [said[-1][1]], before=said[:-1],
        references=[row["reference"]], facts={"category": category},
    )  # fmt: skip


def source() -> RoleMRCSource:
    """Create the source for the registry."""
    return RoleMRCSource()
