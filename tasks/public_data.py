"""Location of public data sets: a directory that the user names, never one inside the package."""

import os
from pathlib import Path

from hexathlon.tasks.errors import MissingData

__all__ = ["data_folder"]


def data_folder(wanted: str) -> Path:
    """Return the directory of the user's public data sets, from the variable HEXATHLON_DATA.

    Args:
        wanted: What the caller is looking for; appears in the error message.

    Raises:
        MissingData: If the variable is not set.
    """
    folder = os.environ.get("HEXATHLON_DATA")
    if not folder:
        raise MissingData(
            f"{wanted} is not bundled: set HEXATHLON_DATA to the directory that contains it"
        )
    return Path(folder)
