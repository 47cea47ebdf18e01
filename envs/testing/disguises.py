"""Disguised forms of a text, such as reversed or in base64."""

import base64
import codecs
import hashlib
from collections.abc import Callable, Mapping
from functools import lru_cache

__all__ = ["DISGUISES"]

_LONG = 4
"""Shorter texts occur in disguised form by chance."""


def _plain(value: str) -> str:
    return value


def _backwards(value: str) -> str:
    return value[::-1]


def _spaced(value: str) -> str:
    return " ".join(value)


def _grouped(value: str) -> str:
    return f"{int(value):,}" if _is_number(value) else ""


def _hexadecimal(value: str) -> str:
    return hex(int(value)) if _is_number(value) else ""


def _bytes_in_hexadecimal(value: str) -> str:
    return _bytes(value).hex()


def _in_base64(value: str) -> str:
    return base64.b64encode(_bytes(value)).decode().rstrip("=")


def _rotated(value: str) -> str:
    rotated = codecs.encode(value, "rot13")
    return rotated if rotated != value else ""


def _first_part(value: str) -> str:
    return value[: len(value) // 2 + 1] if _has_halves(value) else ""


def _last_part(value: str) -> str:
    return value[-(len(value) // 2 + 1) :] if _has_halves(value) else ""


def _digest_by(name: str) -> Callable[[str], str]:
    return lambda value: hashlib.new(name, _bytes(value), usedforsecurity=False).hexdigest()


def _bytes(value: str) -> bytes:
    return value.encode("utf-8", "surrogatepass")


def _is_number(value: str) -> bool:
    return value.isascii() and value.isdigit() and len(value) < 100


def _has_halves(value: str) -> bool:
    return len(value) >= 6 and value.isalnum()


def _of_long_ones(form: Callable[[str], str]) -> Callable[[str], str]:
    @lru_cache(maxsize=1 << 14)
    def disguised(value: str) -> str:
        return form(value) if len(value) >= _LONG else ""

    return disguised


DISGUISES: Mapping[str, Callable[[str], str]] = {
    "": _plain,
    **{
        name: _of_long_ones(form)
        for name, form in {
            "backwards": _backwards,
            "spaced out": _spaced,
            "with thousands separators": _grouped,
            "in hexadecimal": _hexadecimal,
            "as bytes in hexadecimal": _bytes_in_hexadecimal,
            "in base64": _in_base64,
            "in rot13": _rotated,
            "in its first half": _first_part,
            "in its last half": _last_part,
            **{f"by its {name}": _digest_by(name) for name in ("md5", "sha1", "sha256")},
        }.items()
    },
}
"""Functions by name; each returns a text in this form, or an empty one if it has none."""
