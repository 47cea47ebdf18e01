"""Where public data is looked for: a folder that the user names, never one inside the package."""

from pathlib import Path

from hexathlon.tasks.errors import MissingData
from hexathlon.tasks.public_data import data_folder

__all__ = ["data_file"]


def data_file(folder: str, name: str) -> Path:
    """Return the path of a public data file.

    Raises:
        MissingData: `HEXATHLON_DATA` is not set, or the file is not below it.
    """
    path = data_folder(f"{folder}/{name}") / folder / name
    if not path.is_file():
        raise MissingData(f"there is no {path}: HEXATHLON_DATA must hold {folder}/{name}")
    return path
