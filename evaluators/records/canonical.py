"""Canonical JSON and hashes over it.

Values that are equal as JSON give the same bytes here, on every platform and Python version: keys
sorted, no spaces, non-ASCII characters as UTF-8, no NaN or infinity. Everything that is hashed
(tasks, plans, trial records, final states) is hashed over these bytes.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

_ENCODER = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
)
_MAKE = getattr(json.encoder, "c_make_encoder", None)
_COMPILED = _MAKE and _MAKE(
    None, _ENCODER.default, json.encoder.encode_basestring, None, ":", ",", True, False, False
)
"""What `_ENCODER` makes anew for every call; it sees no reference cycles. None in interpreters
without it.
"""


def canonical_json(value: Any) -> str:
    """Return the canonical JSON text of a value.

    Raises:
        ValueError: If it contains NaN or an infinity.
        TypeError: If it contains a value that JSON cannot represent.
    """
    if _COMPILED is not None:
        try:
            return "".join(_COMPILED(value, 0))
        except RecursionError:  # too deep, or a cycle: the encoder says which
            pass
    return _ENCODER.encode(value)


def canonical_bytes(value: Any) -> bytes:
    r"""Return the canonical JSON of a value as valid UTF-8.

    A lone surrogate, which UTF-8 cannot represent and models do emit, is written as the JSON escape
    ``\udXXX``; a high and a low surrogate in sequence are first joined, as every JSON reader does.
    """
    return encode_text(canonical_json(value))


def encode_text(text: str) -> bytes:
    """Encode JSON text as UTF-8, with lone surrogates as JSON escapes."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
        return joined.encode("utf-8", "backslashreplace")


def sha256_hex(data: bytes) -> str:
    """Return the SHA-256 of bytes as 64 hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def content_hash(value: Any) -> str:
    """Return the SHA-256 of a value's canonical JSON as 64 hexadecimal digits."""
    return sha256_hex(canonical_bytes(value))


def text_hash(text: str) -> str:
    """Return the SHA-256 of a text's UTF-8 bytes, lone surrogates kept, as hexadecimal digits."""
    return sha256_hex(text.encode("utf-8", "surrogatepass"))


def find_non_string_key(value: Any) -> str | None:
    """Return the path (``a.b[3]``) of the first mapping key that is not a string, or None.

    Python sorts such keys before it converts them to strings on writing, so a record with one could
    never be hashed to the same value again after reading.
    """
    pairs: Any
    if isinstance(value, dict):
        pairs = value.items()
    elif isinstance(value, list | tuple):
        pairs = enumerate(value)
    else:
        return None
    for key, item in pairs:
        if type(key) is not str and isinstance(value, dict):
            return f"[{key!r}]"
        if isinstance(item, dict | list | tuple):
            path = find_non_string_key(item)
            if path is not None:
                return f".{key}{path}" if isinstance(value, dict) else f"[{key}]{path}"
    return None
