"""The file of an arena: players, comparisons, ratings, and who compared.

Ratings are a function of the comparisons. The reader derives them again, so a file shows no rating
that its comparisons do not give. Judged ratings are evidence of a judge, never verified scores.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hexathlon.evaluators.records.canonical import canonical_bytes, content_hash
from hexathlon.evaluators.statistics.ratings import Comparison, RatedGroup, bradley_terry
from hexathlon.tasks.validation import reason

__all__ = ["ArenaDocument", "ArenaError", "read_arena", "write_arena"]

ARENA_SCHEMA = "hexathlon.arena/1"
_MAX_BYTES = 256 << 20


class ArenaError(ValueError):
    """A file is not that of an arena, or was changed."""


@dataclass(frozen=True, slots=True)
class ArenaDocument:
    """An arena as published."""

    title: str
    kind: str
    """`rules`, `groupwise` or `pairwise`."""

    players: Sequence[Mapping[str, Any]]
    scenes: int
    """Number of scenes that at least two players played."""

    comparisons: Sequence[Comparison]
    abstained: int
    unplayed: int
    groups: Sequence[RatedGroup]
    """Ratings, derived from the comparisons."""

    judge: Mapping[str, Any]
    """Identity, rubrics, audit and usage of the judge; empty if the tasks' rules compared."""

    @property
    def withheld(self) -> Sequence[str]:
        """Why the judge's comparisons are not published; empty if they are."""
        return tuple(self.judge.get("rejected", ()))

    @property
    def remarks(self) -> Sequence[str]:
        """Objections to the ratings; empty if there are none."""
        found = []
        if self.judge and not self.judge["audited"]:
            found.append("unaudited")
        if self.judge.get("experimental"):
            found.append("experimental criteria")
        kin = self.judge.get("kin", ())
        if kin:
            found.append(f"judge of the same model family as {', '.join(kin)}")
        return tuple(found)

    def share(self, first: str, second: str) -> tuple[float, int]:
        """Return the share that `first` won against `second`, ties by half, and their number."""
        won, count = 0.0, 0
        for row in self.comparisons:
            if {row.first, row.second} == {first, second}:
                won += row.result if row.first == first else 1.0 - row.result
                count += 1
        return (won / count if count else 0.0), count


def write_arena(path: Path, data: Mapping[str, Any]) -> None:
    """Write an arena; an older file is replaced.

    Args:
        path: File to write.
        data: Title, kind, players, judge, comparisons, abstained, unplayed and groups, as in
            `ArenaDocument`.
    """
    content = {"schema": ARENA_SCHEMA, **data}
    draft = path.with_name(path.name + ".part")
    draft.write_bytes(canonical_bytes({**content, "hash": content_hash(content)}) + b"\n")
    draft.replace(path)


def read_arena(path: Path) -> ArenaDocument:
    """Read an arena and derive its ratings from its comparisons.

    Raises:
        ArenaError: If the file cannot be read or was changed.
    """
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise ArenaError(f"{path} has more than {_MAX_BYTES >> 20} MiB")
        data = json.loads(path.read_bytes())
    except OSError as error:
        raise ArenaError(f"cannot read the arena {path}: {reason(error)}") from None
    except ValueError:
        raise ArenaError(f"{path} is not JSON: expected a file of `hexathlon arena`") from None
    if not isinstance(data, dict) or data.get("schema") != ARENA_SCHEMA:
        raise ArenaError(f"{path}: expected a file of `hexathlon arena`, schema {ARENA_SCHEMA!r}")
    if data.pop("hash", None) != content_hash(data):
        raise ArenaError(f"{path} was changed after it was written")
    try:
        return _document(data)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ArenaError(f"{path} does not have the content of an arena: {error}") from None


def _document(data: Mapping[str, Any]) -> ArenaDocument:
    rows = [
        Comparison(str(first), str(second), float(result), str(scene))
        for first, second, result, scene in data["comparisons"]
    ]
    groups = bradley_terry(rows) if rows else []
    named = {str(player["name"]) for player in data["players"]}
    unknown = sorted({name for row in rows for name in row[:2]} - named)
    if unknown:
        raise ValueError(f"comparisons of {', '.join(unknown)}, who are not among the players")
    return ArenaDocument(
        str(data["title"]),
        str(data["kind"]),
        tuple(data["players"]),
        len({row.scene for row in rows}),
        tuple(rows),
        int(data["abstained"]),
        int(data["unplayed"]),
        tuple(groups),
        data["judge"],
    )
