"""Results that OSWorld's metrics compare: texts, JSON, files, and what could not be read."""

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["MetricUnsupported", "StoredFile", "content_of", "json_of", "stored_value", "text_of"]


class MetricUnsupported(Exception):
    """A task requires a metric, a getter or an option that is not implemented."""


@dataclass(frozen=True)
class StoredFile:
    """A file as it was read from the machine."""

    content: bytes


def stored_value(value: Mapping[str, Any] | None) -> Any:
    """Return a result from its JSON form in the final state.

    Args:
        value: `{"text": …}`, `{"json": …}`, `{"file": base64}`, `{"files": [base64 or null]}`,
            or None for what does not exist.

    Raises:
        MetricUnsupported: If no getter can read the result.
    """
    if value is None:
        return None
    if "unsupported" in value:
        raise MetricUnsupported(str(value["unsupported"]))
    if "files" in value:
        return [None if each is None else _file(each) for each in value["files"]]
    if "file" in value:
        return _file(value["file"])
    return value["json"] if "json" in value else value["text"]


def content_of(result: Any) -> bytes | None:
    """Return a file's bytes; None if the result is not a file."""
    return result.content if isinstance(result, StoredFile) else None


def text_of(result: Any) -> str | None:
    """Return a file's text, or a text as it is; None if it is missing or not UTF-8."""
    if isinstance(result, str):
        return result
    content = content_of(result)
    try:
        return None if content is None else content.decode("utf-8")
    except UnicodeDecodeError:
        return None


def json_of(result: Any) -> Any:
    """Return a file's JSON content; None if it has none."""
    text = text_of(result)
    try:
        return None if text is None else json.loads(text)
    except (ValueError, RecursionError):
        return None


def _file(encoded: str) -> StoredFile:
    return StoredFile(base64.b64decode(encoded))
