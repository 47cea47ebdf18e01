"""Packing of a run for the site: one pass over its records, compressed chunks out.

A site holds the records themselves, byte for byte, in compressed chunks of about a megabyte; the
trajectory page unpacks the one it needs. Chunks are classic scripts, the only kind of file that a
page opened from a local folder may load.
"""

from __future__ import annotations

import base64
import bisect
import hashlib
import json
import os
import shutil
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from hexathlon.evaluators.content import Image
from hexathlon.evaluators.records.canonical import canonical_bytes
from hexathlon.evaluators.records.media import MediaStore, media_parts
from hexathlon.evaluators.records.plan import PLAN_FILE
from hexathlon.leaderboard.folding import FOLDED, fold, unfold
from hexathlon.leaderboard.state import state_of
from hexathlon.leaderboard.submission import OUTCOMES, Reading, Submission, TrialLine
from hexathlon.leaderboard.text import shown
from hexathlon.leaderboard.tokens import Vocabulary, tokens_by_record, turn_tokens

__all__ = ["pack_run", "packed_text", "unpacked_lines", "unpacked_text"]

CHUNK_BYTES = 1_500_000
"""Least size of a chunk's records before compression; the last chunk may be smaller."""
LEVEL = 3
"""Of zlib: twice as fast as its default of 6, for files that are a tenth longer."""
FOLDED_LEVEL = 6
"""Of folded chunks, which are shorter."""


def pack_run(run: Path, out: Path, media_folder: Path) -> Submission:
    """Read and check a run and write its packed files.

    Args:
        run: Run directory.
        out: New directory for ``plan.json``, ``data/`` and, for later builds, ``state.json``.
        media_folder: Directory for its images and files, each stored once.

    Raises:
        SubmissionRejected: If the run is invalid; ``out`` is then incomplete.
    """
    (out / "data").mkdir(parents=True)
    reading, media = Reading(run), _Media(run, media_folder)
    chunks = _Chunks(out / "data")
    tokens = tokens_by_record(run)
    kept: dict[int, Any] = {}
    for one in reading.lines():
        chunks.add(one.number, one.line)
        if tokens and one.record and (nodes := tokens.get(one.record["hash"])):
            kept[one.number] = nodes
        if one.has_parts:
            media.add(one.record or {})
    chunks.close()
    submission = reading.finish()
    trials = sorted(reading.trials, key=_failures_first)
    # A plan's path is followed only for runs with tokens, which no submission contains.
    vocabulary = Vocabulary.of(run, reading.plan) if kept else Vocabulary({})
    parts = _write_tokens(out / "data", kept, chunks.firsts, vocabulary)
    index = _index(trials, chunks.firsts, parts)
    _write(out / "data" / "index.js", packed_text("index", index))
    _write(out / "data" / "tasks.js", packed_text("tasks", _tasks(submission)))
    shutil.copyfile(run / PLAN_FILE, out / PLAN_FILE)
    chunks.digest.update((out / PLAN_FILE).read_bytes())
    content = chunks.digest.hexdigest()
    state = state_of(submission) | {"content": content, "media": media.names}
    _write(out / "state.json", json.dumps(state).encode())
    _write(out / "starts.json", json.dumps(sorted(submission.begun())).encode())
    return submission


def packed_text(name: str, content: bytes) -> bytes:
    """Return a script that passes compressed bytes to the page; nothing in it is foreign text."""
    level = FOLDED_LEVEL if content[:1] == FOLDED else LEVEL
    packed = base64.b64encode(zlib.compress(content, level))
    return b'hexathlon("%s","%s");\n' % (name.encode("ascii"), packed)


def unpacked_text(script: bytes, longest: int = 1 << 28) -> bytes:
    """Return the content of such a script, unfolded.

    Raises:
        ValueError: If it is not one, or its content is longer than ``longest`` bytes.
    """
    parts = script.split(b'"')
    if len(parts) != 5 or parts[0] != b"hexathlon(":
        raise ValueError("not a data file of a leaderboard")
    stream = zlib.decompressobj()
    try:
        content = stream.decompress(base64.b64decode(parts[3], validate=True), longest)
    except zlib.error as error:
        raise ValueError(f"damaged data file: {error}") from None
    if stream.unconsumed_tail or not stream.eof:
        raise ValueError("a data file is unfinished, or too long")
    return unfold(content, longest)


def unpacked_lines(data: Path) -> Iterator[bytes]:
    """Yield the record lines in a submission's ``data`` folder, byte for byte."""
    for path in sorted(data.glob("records-*.js")):
        yield from unpacked_text(path.read_bytes()).splitlines(keepends=True)


class _Chunks:
    """Writer of record chunks."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lines: list[bytes] = []
        self._size = 0
        self.digest = hashlib.sha256()
        """Of the compressed chunks, which name the run's content as well as its records do."""
        self.firsts: list[int] = []
        """Number of each chunk's first line."""

    def add(self, number: int, line: bytes) -> None:
        if not self._lines:
            self.firsts.append(number)
        self._lines.append(line)
        self._size += len(line)
        if self._size >= CHUNK_BYTES:
            self.close()

    def close(self) -> None:
        if self._lines:
            name = f"records-{len(self.firsts) - 1:04d}"
            data = packed_text(name, fold(b"".join(self._lines)))
            self.digest.update(data)
            _write(self._folder / f"{name}.js", data)
        self._lines, self._size = [], 0


class _Media:
    """Copies of the images and files that a run's records refer to.

    Images are re-encoded, so that nothing but their pixels gets into the site.
    """

    def __init__(self, run: Path, folder: Path) -> None:
        self._store = MediaStore.beside(run)
        self._folder = folder
        self._names: set[str] = set()

    def add(self, record: dict[str, Any]) -> None:
        for _, part in media_parts(record):
            name = self._store.name(part)
            if name in self._names:
                continue
            self._names.add(name)
            if not (self._folder / name).exists():
                data = self._store.read(part)
                is_image = part["type"] == "image"
                self._place(name, Image.from_bytes(data).png() if is_image else data)

    def _place(self, name: str, data: bytes) -> None:
        draft = self._folder / f"{name}.{os.getpid()}"
        _write(draft, data)
        draft.rename(self._folder / name)

    @property
    def names(self) -> list[str]:
        return sorted(self._names)


def _failures_first(line: TrialLine) -> tuple[int, str, str, int]:
    return (OUTCOMES.index(line.outcome), line.env, line.task, line.line)


_COLUMNS = ("line", "seed", "trial", "reward", "turns", "tokens")


def _write_tokens(
    data: Path, kept: Mapping[int, Any], firsts: Sequence[int], vocabulary: Vocabulary
) -> list[int]:
    """Write the tokens of each chunk's trials by line; return the numbers of chunks with tokens."""
    parts: dict[int, dict[str, Any]] = {}
    for line, nodes in kept.items():
        part = bisect.bisect_right(firsts, line) - 1
        parts.setdefault(part, {})[str(line)] = turn_tokens(nodes, vocabulary)
    for part, lines in parts.items():
        name = f"tokens-{part:04d}"
        _write(data / f"{name}.js", packed_text(name, canonical_bytes(lines)))
    return sorted(parts)


def _index(
    lines: Sequence[TrialLine], firsts: Sequence[int], token_parts: Sequence[int] = ()
) -> bytes:
    """Return the index of all trials as columns; texts are places in a list of shared words."""
    words: dict[str, int] = {}
    place: dict[str, int] = {}

    def places(texts: Sequence[str]) -> list[int]:
        for text in dict.fromkeys(texts):
            if text not in place:
                place[text] = words.setdefault(shown(text), len(words))
        return [place[text] for text in texts]

    fields = dict(zip(TrialLine._fields, zip(*lines, strict=True), strict=True))
    columns: dict[str, Any] = {name: fields[name] for name in _COLUMNS}
    columns["seconds"] = [None if s is None else round(s, 3) for s in fields["seconds"]]
    columns["outcome"] = places([one.outcome for one in lines])
    for name in ("env", "task", "level", "template"):
        columns[name] = places(fields[name])
    columns["stop"] = places([one.cause or one.stop for one in lines])
    columns |= {"words": list(words), "firsts": list(firsts), "tokens_of": list(token_parts)}
    return canonical_bytes(columns)


def _tasks(submission: Submission) -> bytes:
    """Return the score of every task, for comparisons: rewards, trials and their lines."""
    envs = {
        f"{env.env} {env.version}": {
            shown(name): [round(task.reward, 6), task.trials, task.scored]
            for name, task in sorted(env.tally.tasks.items())
        }
        for env in submission.summary.envs
    }
    return canonical_bytes(envs)


def _write(path: Path, data: bytes) -> None:
    path.write_bytes(data)
