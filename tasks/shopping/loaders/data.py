"""Where public data is looked for: a folder that the user names, never one inside the package."""

import os
from pathlib import Path

from hexathlon.tasks.errors import MissingData

__all__ = ["data_file"]


def data_file(folder: str, name: str) -> Path:
    """Return the path of a public data file.

    Raises:
        MissingData: `HEXATHLON_DATA` is not set, or the file is not below it.
    """
    root = os.environ.get("HEXATHLON_DATA")
    if not root:
        raise MissingData(
            f"the public data set {folder!r} is not part of this package: set HEXATHLON_DATA to "
            f"the folder that holds {folder}/{name}"
        )
    path = Path(root) / folder / name
    if not path.is_file():
        raise MissingData(f"there is no {path}: HEXATHLON_DATA must hold {folder}/{name}")
    return path
