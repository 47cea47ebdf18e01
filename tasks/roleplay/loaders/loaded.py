"""Shared code of the loaders: items of a public data set as prose conversations.

These data sets are scored by models, so the headline is unscored until a judge has read the record
(`hexathlon judge`). Metrics that a set's own rules compute without a model are reported under their
names. A loader only parses its format into `LoadedConversation`s.
"""

import hashlib
import json
import os
import re
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hexathlon.tasks.bilingual import Language
from hexathlon.tasks.errors import MissingData, TaskError, UnknownTask
from hexathlon.tasks.public_data import data_folder
from hexathlon.tasks.roleplay.assembling import canary
from hexathlon.tasks.roleplay.scripts import played
from hexathlon.tasks.roleplay.tools import dialogue_tools
from hexathlon.tasks.seeding import derive_seed
from hexathlon.tasks.source import Script, TaskAddress, TaskSource, parse_address
from hexathlon.tasks.task import Check, Level, Limits, Split, Task
from hexathlon.tasks.tool_calls import tool_call

__all__ = ["BadData", "LoadedConversation", "LoadedConversations", "read_json", "read_lines"]

_HEADS: Mapping[str, tuple[str, str]] = {
    "play": ("You play {name}. Stay in this role.", "你扮演{name}。请一直保持这个角色。"),
    "profile": ("Character", "角色"),
    "scene": ("Scene", "场景"),
    "before": ("What was said before", "此前的对话"),
    "answer": (
        "Answer the other speaker in plain text, as the character would.",
        "请以角色的身份，用普通文字回答对方。",
    ),
}


class BadData(TaskError):
    """A file of a public data set has an invalid format."""


@dataclass(frozen=True)
class LoadedConversation:
    """A conversation of a public data set."""

    template: str
    character: str
    profile: str
    lines: Sequence[str]
    """The other speaker's turns."""

    language: Language = "en"
    scene: str = ""
    before: Sequence[tuple[str, str]] = ()
    """Speaker and text of earlier turns."""

    references: Sequence[str] = ()
    """The data set's reference replies to the last line."""

    manner: str = ""
    """Instructions for a model that plays the other speaker."""

    facts: Mapping[str, Any] = field(default_factory=dict)
    """Additional data for the set's judge, such as metrics."""


class LoadedConversations(TaskSource):
    """A public data set with one split, `test`, in the order of its files."""

    family = "roleplay"
    version = "3"
    folder = ""
    """The data set's directory inside HEXATHLON_DATA."""

    level: Level = "medium"
    rubric: str | None = "roleplay"
    counted: Sequence[str] = ()
    """Verifiers of the set's own rules that need no model; reported beside the headline."""

    def __init__(self, root: Path | None = None) -> None:
        self._root = root
        self._read: dict[str, LoadedConversation] = {}
        self._data: str | None = None

    @property
    def root(self) -> Path:
        """The data set's directory.

        Raises:
            MissingData: If HEXATHLON_DATA is not set and no directory was given.
        """
        if self._root is not None:
            return self._root
        return data_folder(f"{self.folder}/") / self.folder

    @abstractmethod
    def items(self) -> Sequence[LoadedConversation]:
        """Parse the data set's items in the order of its files."""

    def size(self, split: Split, level: Level | None = None) -> int | None:
        """Return the number of items; all belong to `test`."""
        fits = split == "test" and level in (None, self.level)
        return len(self._items()) if fits else 0

    def address(self, split: Split, index: int, level: Level | None = None) -> str:
        """Return the id of the item at `index`."""
        return list(self._items())[index]

    def build(self, task_id: str, salt: str | None = None) -> Task:
        """Build the task of an item.

        Raises:
            UnknownTask: If the data set has no such item.
        """
        item = self._items().get(task_id)
        if item is None:
            raise UnknownTask(task_id, f"{self.name} has no such task")
        address, seed = parse_address(task_id), derive_seed("roleplay-loaded", task_id)
        truth = {"references": list(item.references)}
        return Task(
            id=task_id, family=self.family, generator=self.name, version=self.version,
            level=address.level, split=address.split, seed=seed, instruction=_told(item),
            params={
                "mode": "dialogue", "language": item.language, "character": item.character,
                "manner": item.manner, "lines": [{"text": line} for line in item.lines],
                "facts": dict(item.facts),
            },
            tools=dialogue_tools()[:1], limits=Limits(turns=len(item.lines) + 2),
            checks=(
                Check(name="roleplay_judged"),
                *(Check(name=name, params=truth, headline=False) for name in self.counted),
            ),
            rubric=self.rubric, canary=canary(self.name, seed),
        )  # fmt: skip

    def oracle(self, task: Task) -> Script:
        """Give the data set's reference reply, if there is one; no rule verifies it."""
        references = self._items()[task.id].references
        last = references[0] if references else "…"
        return played(["…"] * (len(task.params["lines"]) - 1) + [tool_call("say", reply=last)])

    def fingerprint(self) -> str:
        """Return the SHA-256 of the loaders' code and the items."""
        digest = hashlib.sha256(super().fingerprint().encode())
        for task_id, item in self._items().items():
            digest.update(f"{task_id}\n{item!r}\n".encode())
        return digest.hexdigest()

    def _items(self) -> dict[str, LoadedConversation]:
        data = os.environ.get("HEXATHLON_DATA")
        if not self._read or data != self._data:  # another directory holds another data set
            counts: dict[str, int] = {}
            read = {}
            for item in self.items():
                template = re.sub(r"[^A-Za-z0-9_.-]+", "_", item.template)
                place = counts.get(template, 0)
                counts[template] = place + 1
                read[str(TaskAddress(self.name, template, self.level, "test", place))] = item
            self._read, self._data = read, data
        return self._read


def read_json(path: Path) -> Any:
    """Read a JSON file.

    Raises:
        MissingData: If the file does not exist.
        BadData: If the file is not JSON.
    """
    try:
        return json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise MissingData(f"there is no {path}; HEXATHLON_DATA names the folder of data") from None
    except ValueError as error:
        raise BadData(f"{path} is not JSON: {error}") from None


def read_lines(path: Path) -> list[Any]:
    """Read a JSON Lines file, or a file with a single JSON array."""
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        raise MissingData(f"there is no {path}; HEXATHLON_DATA names the folder of data") from None
    try:
        if text.lstrip().startswith("["):
            return list(json.loads(text))
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    except ValueError as error:
        raise BadData(f"{path} is not JSON lines: {error}") from None


def _told(item: LoadedConversation) -> str:
    place = int(item.language == "zh")
    parts = [_HEADS["play"][place].replace("{name}", item.character)]
    if item.profile:
        parts.append(f"# {_HEADS['profile'][place]}\n{item.profile}")
    if item.scene:
        parts.append(f"# {_HEADS['scene'][place]}\n{item.scene}")
    if item.before:
        said = "\n".join(f"{speaker}: {text}" for speaker, text in item.before)
        parts.append(f"# {_HEADS['before'][place]}\n{said}")
    return "\n\n".join([*parts, _HEADS["answer"][place]])
