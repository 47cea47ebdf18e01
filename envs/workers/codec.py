"""Plain data between processes: bytes that can be decoded without executing code.

With pickle, a worker, which processes the agent's input, could run code in the caller. Here a
message is a JSON tree plus the raw bytes of its arrays; decoding creates only None, booleans,
numbers, strings, bytes, lists, tuples, dictionaries, numeric arrays and message parts.
"""

import json
import struct
from typing import Any

import numpy as np

from hexathlon.evaluators.content import File, Image, Text

__all__ = ["NotPlainData", "decode", "encode"]

_LENGTH = struct.Struct(">I")
_NUMERIC = "biuf"


class NotPlainData(TypeError):
    """A value cannot be sent between processes; the message names its place and type."""


def encode(value: Any) -> bytes:
    """Encode plain data.

    Raises:
        NotPlainData: If it contains a value that is not plain.
    """
    blobs: list[bytes] = []
    tree = json.dumps(_flatten(value, blobs, "value"), separators=(",", ":")).encode()
    return b"".join([_LENGTH.pack(len(tree)), tree, *blobs])


def decode(data: bytes) -> Any:
    """Decode the output of `encode`.

    Raises:
        ValueError: If the bytes are damaged.
    """
    start = _LENGTH.size
    if len(data) < start:
        raise ValueError(f"expected at least {start} bytes, got {len(data)}")
    (length,) = _LENGTH.unpack_from(data)
    tree = json.loads(data[start : start + length])
    reader = _Blobs(memoryview(data)[start + length :])
    value = _rebuild(tree, reader)
    reader.expect_end()
    return value


def _flatten(value: Any, blobs: list[bytes], place: str) -> Any:
    if isinstance(value, str):
        return str(value)
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, list):
        return [_flatten(item, blobs, f"{place}[{i}]") for i, item in enumerate(value)]
    if isinstance(value, tuple):
        return {"t": [_flatten(item, blobs, f"{place}[{i}]") for i, item in enumerate(value)]}
    if isinstance(value, dict):
        return {
            "d": [
                [_flatten(key, blobs, f"a key of {place}"), _flatten(item, blobs, f"{place}.{key}")]
                for key, item in value.items()
            ]
        }
    if isinstance(value, bytes):
        blobs.append(value)
        return {"b": len(value)}
    if isinstance(value, np.generic):
        return _flatten(value.item(), blobs, place)
    if isinstance(value, np.ndarray) and value.dtype.kind in _NUMERIC:
        blobs.append(np.ascontiguousarray(value).tobytes())
        return {"a": [value.nbytes, value.dtype.str, list(value.shape)]}
    if isinstance(value, Text | Image | File):
        return _flatten_part(value, blobs)
    raise NotPlainData(
        f"{place} is {type(value).__name__}; processes exchange only None, bool, int, float, "
        "str, bytes, list, tuple, dict, numeric arrays and message parts"
    )


def _flatten_part(part: Text | Image | File, blobs: list[bytes]) -> Any:
    match part:
        case Text(text):
            return {"x": str(text)}
        case Image(width, height, pixels):
            blobs.append(pixels)
            return {"i": [width, height, len(pixels)]}
        case File(name, media_type, data):
            blobs.append(data)
            return {"f": [str(name), str(media_type), len(data)]}


class _Blobs:
    def __init__(self, data: memoryview) -> None:
        self._data, self._at = data, 0

    def take(self, size: int) -> memoryview:
        end = self._at + size
        if size < 0 or end > len(self._data):
            raise ValueError(f"expected {size} more bytes, got {len(self._data) - self._at}")
        part, self._at = self._data[self._at : end], end
        return part

    def expect_end(self) -> None:
        if self._at != len(self._data):
            raise ValueError(f"{len(self._data) - self._at} bytes too many")


def _rebuild(tree: Any, blobs: _Blobs) -> Any:
    if isinstance(tree, list):
        return [_rebuild(item, blobs) for item in tree]
    if not isinstance(tree, dict):
        return tree
    if len(tree) != 1:
        raise ValueError(f"expected one tag, got {sorted(tree)}")
    ((tag, content),) = tree.items()
    if tag == "t":
        return tuple(_rebuild(item, blobs) for item in content)
    if tag == "d":
        return {_rebuild(key, blobs): _rebuild(item, blobs) for key, item in content}
    if tag == "b":
        return bytes(blobs.take(content))
    if tag == "a":
        return _array(content, blobs)
    if tag == "x":
        return Text(content)
    if tag == "i":
        width, height, size = content
        return Image(width, height, bytes(blobs.take(size)))
    if tag == "f":
        name, media_type, size = content
        return File(name, media_type, bytes(blobs.take(size)))
    raise ValueError(f"unknown tag {tag!r}")


def _array(content: list[Any], blobs: _Blobs) -> Any:
    size, kind, shape = content
    dtype = np.dtype(kind)
    if dtype.kind not in _NUMERIC:
        raise ValueError(f"arrays of {kind!r} are not allowed")
    return np.frombuffer(blobs.take(size), dtype).reshape(shape).copy()
