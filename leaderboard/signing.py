"""Signatures over submissions and ledger lines: Ed25519 keys in files, verified offline.

A signature shows that the holder of a key signed these bytes. Whose key it is, the maintainers of
a board must know; a board lists known keys in ``keys.json``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from hexathlon.evaluators.records.canonical import canonical_bytes, sha256_hex
from hexathlon.tasks.validation import reason

__all__ = [
    "KEY_PREFIX",
    "Signature",
    "SigningError",
    "check_signature",
    "make_key",
    "public_key",
    "sign",
]

KEY_PREFIX = "ed25519:"
ROLES = ("submitter", "rerun", "maintainer")


class SigningError(Exception):
    """A key or signature that is malformed or does not match, or a missing library."""


class Signature(NamedTuple):
    """A signature over the hash of some bytes, with the signer's role and date."""

    role: str
    """``submitter``, ``rerun`` (of who ran the plan again) or ``maintainer``."""
    key: str
    """Public key, ``ed25519:`` and 64 hexadecimal digits."""
    name: str
    date: str
    of: str
    """SHA-256 of the signed bytes."""
    signature: str
    """128 hexadecimal digits."""

    def as_json(self) -> dict[str, str]:
        """Return the signature as JSON."""
        return self._asdict()

    @classmethod
    def from_json(cls, value: Any) -> Signature:
        """Return the signature of such JSON.

        Raises:
            SigningError: If it has another form.
        """
        fields = cls._fields
        if not isinstance(value, Mapping) or sorted(value) != sorted(fields):
            raise SigningError(f"expected the fields {', '.join(fields)}")
        for name, text in value.items():
            if not isinstance(text, str) or len(text) > 200:
                raise SigningError(f"field {name}: expected a short text")
        if value["role"] not in ROLES:
            raise SigningError(f"field role: expected one of {', '.join(ROLES)}")
        return cls(**value)

    def statement(self) -> bytes:
        """Return the bytes that are signed: everything but the signature itself."""
        fields = {name: text for name, text in self._asdict().items() if name != "signature"}
        return b"hexathlon signature\n" + canonical_bytes(fields)


def _library() -> Any:
    try:
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        raise SigningError("signatures need the extra: pip install 'hexathlon[submit]'") from None
    return ed25519


def make_key(path: Path) -> str:
    """Write a new private key, readable by its owner alone, and return the public key.

    Raises:
        SigningError: If the file exists.
    """
    private = _library().Ed25519PrivateKey.generate()
    data = {"schema": "hexathlon.key/1", "private": private.private_bytes_raw().hex()}
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise SigningError(f"{path} exists already: a key is never overwritten") from None
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        json.dump(data, file)
        file.write("\n")
    return public_key(path)


def _private(path: Path) -> Any:
    try:
        data = json.loads(path.read_bytes())
        return _library().Ed25519PrivateKey.from_private_bytes(bytes.fromhex(data["private"]))
    except OSError as error:
        raise SigningError(f"cannot read the key {path}: {reason(error)}") from None
    except (KeyError, TypeError, ValueError):
        raise SigningError(f"{path} is not a key: `hexathlon submit key` writes one") from None


def public_key(path: Path) -> str:
    """Return the public key of a private key's file."""
    return str(KEY_PREFIX + _private(path).public_key().public_bytes_raw().hex())


def sign(data: bytes, key: Path, role: str, name: str, date: str) -> Signature:
    """Return a signature over bytes."""
    unsigned = Signature(role, public_key(key), name, date, sha256_hex(data), "")
    return unsigned._replace(signature=_private(key).sign(unsigned.statement()).hex())


def check_signature(signature: Signature, data: bytes) -> str | None:
    """Return what is wrong with a signature over bytes, or None."""
    if signature.of != sha256_hex(data):
        return f"signs {signature.of[:12]}…, the content is {sha256_hex(data)[:12]}…"
    if not signature.key.startswith(KEY_PREFIX):
        return f"names a key of an unknown kind: {signature.key!r:.60}"
    try:
        raw = bytes.fromhex(signature.key.removeprefix(KEY_PREFIX))
        stated = bytes.fromhex(signature.signature)
        key = _library().Ed25519PublicKey.from_public_bytes(raw)
    except ValueError:
        return "has a malformed key or signature"
    from cryptography.exceptions import InvalidSignature

    try:
        key.verify(stated, signature.statement())
    except InvalidSignature:
        return f"was not made by the key {signature.key[:20]}…"
    return None
