"""Location of public data sets: a directory that the user names, never one inside the package."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

from hexathlon.tasks.errors import MissingData
from hexathlon.tasks.public_data import data_folder

__all__ = ["data_digest", "data_file"]


def data_file(folder: str, name: str) -> Path:
    """Return the path of a public data file.

    Raises:
        MissingData: If `HEXATHLON_DATA` is not set, or the file is not below it.
    """
    path = data_folder(f"{folder}/{name}") / folder / name
    if not path.is_file():
        raise MissingData(f"there is no {path}: HEXATHLON_DATA must hold {folder}/{name}")
    return path


def data_digest(folder: str, names: Sequence[str]) -> str:
    """Return a SHA-256 (hex) of public data files; a missing file is hashed as missing.

    Raises:
        MissingData: If `HEXATHLON_DATA` is not set.
    """
    digest = hashlib.sha256()
    for name in names:
        path = data_folder(f"{folder}/{name}") / folder / name
        if not path.is_file():
            digest.update(f"{name} is missing\n".encode())
            continue
        with path.open("rb") as file:
            digest.update(f"{name} {hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode())
    return digest.hexdigest()
