"""PersonaGym: personas with five kinds of questions, one question per task.

Reads `questions.json` ({persona: {kind: [questions]}}), or the published directory with one file
per persona, named after it. Licence of the data: MIT.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from hexathlon.tasks.roleplay.loaders.loaded import (
    LoadedConversation,
    LoadedConversations,
    read_json,
)

__all__ = ["PersonaGymSource", "source"]


class PersonaGymSource(LoadedConversations):
    """PersonaGym's questions."""

    name = "personagym"
    folder = "personagym"

    def items(self) -> Sequence[LoadedConversation]:
        """Return one item per persona, kind and question."""
        return [
            LoadedConversation(_slug(kind), _inside(persona), "", [question], facts={"kind": kind})
            for persona, kinds in self._personas()
            for kind, questions in kinds.items()
            for question in questions
        ]

    def _personas(self) -> Iterator[tuple[str, Any]]:
        whole = self.root / "questions.json"
        folder = self.root / "questions"
        if not whole.exists() and folder.is_dir():
            for path in sorted(folder.rglob("*.json")):
                yield path.stem, read_json(path)
            return
        yield from read_json(whole).items()


def _inside(persona: str) -> str:
    """Return the persona as phrased inside a sentence."""
    return persona[:1].lower() + persona[1:] if persona.startswith(("A ", "An ")) else persona


def _slug(kind: str) -> str:
    return kind.lower().replace(" ", "_")


def source() -> PersonaGymSource:
    """Create the source for the registry."""
    return PersonaGymSource()
