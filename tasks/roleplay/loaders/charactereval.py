"""CharacterEval (format only): Chinese dialogues from novels, scored per metric by a reward model.

Reads `test_data.jsonl` (a JSON array of {id, role, novel_name, context}), `character_profiles.json`
({role: profile}) and, if present, `id2metric.jsonl` ({id: [[metric_en, metric_zh], …]}).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from hexathlon.tasks.roleplay.loaders.loaded import (
    BadData,
    LoadedConversation,
    LoadedConversations,
    read_json,
)

__all__ = ["CharacterEvalSource", "source"]


class CharacterEvalSource(LoadedConversations):
    """CharacterEval's contexts."""

    name = "charactereval"
    folder = "charactereval"

    def items(self) -> Sequence[LoadedConversation]:
        """Return one item per context; the agent answers its last utterance."""
        profiles = read_json(self.root / "character_profiles.json")
        path = self.root / "id2metric.jsonl"
        metrics = read_json(path) if path.exists() else {}
        return [_item(row, profiles, metrics) for row in read_json(self.root / "test_data.jsonl")]


def _item(
    row: Mapping[str, Any], profiles: Mapping[str, Any], metrics: Mapping[str, Any]
) -> LoadedConversation:
    turns = [line.partition("：")[::2] for line in row["context"].split("\n") if line.strip()]
    if not turns or turns[-1][0] == row["role"]:
        raise BadData(f"context {row['id']} does not end with another speaker's turn")
    profile = profiles.get(row["role"], "")
    text = (
        profile if isinstance(profile, str) else "\n".join(f"{k}：{v}" for k, v in profile.items())
    )
    speaker, said = turns[-1]
    return LoadedConversation(
        "context", row["role"], text, [f"{speaker}：{said}"], "zh",
        before=turns[:-1],
        facts={"id": row["id"], "metrics": [pair[0] for pair in metrics.get(str(row["id"]), ())]},
    )  # fmt: skip


def source() -> CharacterEvalSource:
    """Create the source for the registry."""
    return CharacterEvalSource()
