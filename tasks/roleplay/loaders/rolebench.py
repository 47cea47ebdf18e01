"""RoleBench (format only): questions to known roles with references, scored by Rouge-L.

Reads every `test.jsonl` and `general.jsonl` below the directory: {role, question, generated, type},
where `generated` is a list of replies. Role descriptions come from `profiles/desc.json` ({role:
text}), if present.
"""

from collections.abc import Sequence

from hexathlon.tasks.bilingual import Language
from hexathlon.tasks.errors import MissingData
from hexathlon.tasks.roleplay.loaders.loaded import (
    LoadedConversation,
    LoadedConversations,
    read_json,
    read_lines,
)

__all__ = ["RoleBenchSource", "source"]


class RoleBenchSource(LoadedConversations):
    """RoleBench's test questions."""

    name = "rolebench"
    folder = "rolebench"
    counted = ("rouge_l",)

    def items(self) -> Sequence[LoadedConversation]:
        """Return one item per question."""
        paths = sorted([*self.root.rglob("test.jsonl"), *self.root.rglob("general.jsonl")])
        if not paths:
            raise MissingData(f"there is no test.jsonl below {self.root}")
        described = self.root / "profiles" / "desc.json"
        profiles = read_json(described) if described.exists() else {}
        found = []
        for path in paths:
            parts = path.relative_to(self.root).with_suffix("").parts
            language: Language = "zh" if "zh" in parts[0] else "en"
            for row in read_lines(path):
                profile = str(profiles.get(row["role"], ""))
                found.append(
                    LoadedConversation(
                        "_".join(parts[:-1]) or "test",
                        row["role"],
                        profile,
                        [row["question"]],
                        language,
                        references=row.get("generated", ()),
                        facts={"type": row.get("type", "")},
                    )  # fmt: skip
                )
        return found


def source() -> RoleBenchSource:
    """Create the source for the registry."""
    return RoleBenchSource()
