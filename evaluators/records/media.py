"""Bytes of images and files, stored once by hash in a directory beside the records.

A record names its parts by hash, so the hash chain covers them; this module finds, writes and
checks the files. Images are PNG files named by the hash of their pixels. Files keep their bytes
under a neutral suffix, so that no name or type chosen by an agent reaches the file system.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hexathlon.evaluators.content import (
    MAX_BYTES,
    Content,
    ContentError,
    content_from_json,
    part_from_json,
)
from hexathlon.evaluators.records.reader import records_file
from hexathlon.evaluators.records.regular import irregularity
from hexathlon.evaluators.records.trial import RecordError

__all__ = [
    "MEDIA_FOLDER",
    "MediaStore",
    "contents_of",
    "has_parts",
    "media_parts",
    "read_content",
    "stored_media",
]

MEDIA_FOLDER = "media"


def contents_of(record: Mapping[str, Any]) -> Iterator[tuple[str, str | list[dict[str, Any]]]]:
    """Yield (field name, content) for every content of a record."""
    yield "opening", record["opening"]
    for index, step in enumerate(record["steps"]):
        yield f"steps[{index}].observation", step["observation"]


def media_parts(record: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (field name, part) for every image and file part of a record."""
    for place, content in contents_of(record):
        if not isinstance(content, str):
            yield from ((place, part) for part in content if part["type"] != "text")


def has_parts(record: Mapping[str, Any]) -> bool:
    """Whether any content of a record is a list of parts, which may name images or files."""
    if type(record["opening"]) is list:
        return True
    for step in record["steps"]:
        if type(step["observation"]) is list:
            return True
    return False


def read_content(path: Path | str, value: str | list[dict[str, Any]]) -> Content:
    """Return the content of a record's field, with its bytes.

    Args:
        path: Run directory or record file of the record.
        value: The field: an opening or an observation.

    Raises:
        RecordError: If a stored file is missing or was changed.
    """
    if isinstance(value, str):
        return value
    store = MediaStore.beside(path)
    try:
        return content_from_json(value, store.read)
    except ContentError as error:
        raise RecordError(f"{store.folder}: {error}") from None


def stored_media(path: Path | str, record: Mapping[str, Any]) -> dict[str, bytes]:
    """Return the bytes referenced by a record of a run directory or record file, by hash.

    Raises:
        RecordError: If some of them are missing.
    """
    store = MediaStore.beside(path)
    return {part["sha256"]: store.read(part) for _, part in media_parts(record)}


class MediaStore:
    """A directory of images and files named by their hashes.

    Args:
        folder: Created when the first file is stored.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def beside(cls, path: Path | str) -> MediaStore:
        """Return the store of a run directory or record file."""
        return cls(records_file(Path(path)).parent / MEDIA_FOLDER)

    @staticmethod
    def name(part: Mapping[str, Any]) -> str:
        """Return the file name of a JSON part's bytes."""
        return f"{part['sha256']}.{'png' if part['type'] == 'image' else 'bin'}"

    def path(self, part: Mapping[str, Any]) -> Path:
        """Return the file path of a JSON part's bytes."""
        return self.folder / self.name(part)

    def read(self, part: Mapping[str, Any]) -> bytes:
        """Return the stored bytes of a JSON part, unchecked.

        Raises:
            RecordError: If they are missing, or larger than any part may be.
        """
        path = self.path(part)
        fault = irregularity(path)
        if fault:
            raise RecordError(f"the {part['type']} {MEDIA_FOLDER}/{path.name} {fault}")
        try:
            if path.stat().st_size > MAX_BYTES:
                raise RecordError(f"{path} has more than {MAX_BYTES:,} bytes")
            return path.read_bytes()
        except OSError as error:
            raise RecordError(
                f"the {part['type']} {MEDIA_FOLDER}/{path.name} is missing: {error.strerror}"
            ) from None

    def fault(self, part: Mapping[str, Any]) -> str:
        """Return what is wrong with the stored bytes of a JSON part; empty if they match it."""
        try:
            part_from_json(part, self.read)
        except RecordError as error:
            return str(error)
        except ContentError as error:
            return f"the {part['type']} {MEDIA_FOLDER}/{self.name(part)} was changed: {error}"
        return ""

    def add(self, part: Mapping[str, Any], data: bytes, *, sync: bool = True) -> None:
        """Store the bytes of a JSON part atomically under their name.

        Raises:
            RecordError: If the bytes do not match the part's hash.
        """
        try:
            part_from_json(part, lambda _: data)
        except ContentError as error:
            raise RecordError(f"the bytes of {part['type']} {part['sha256']}: {error}") from None
        self.folder.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=self.folder, suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                if sync:
                    os.fsync(file.fileno())
            os.chmod(temporary, 0o644)
            os.replace(temporary, self.path(part))
        except BaseException:
            os.unlink(temporary)
            raise
        if sync:
            _sync_folder(self.folder)


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
