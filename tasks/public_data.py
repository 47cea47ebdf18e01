"""Where public data is looked for: a folder that the user names, never one inside the package."""

import os
from pathlib import Path

from hexathlon.tasks.errors import MissingData

__all__ = ["data_folder"]


def data_folder(wanted: str) -> Path:
    """The folder of public data sets that the user brings: the variable HEXATHLON_DATA.

    Args:
        wanted: What is looked for in it, for the message.

    Raises:
        MissingData: The variable is not set.
    """
    folder = os.environ.get("HEXATHLON_DATA")
    if not folder:
        raise MissingData(
            f"bring your own copy: set HEXATHLON_DATA to the folder that holds it as {wanted}"
        )
    return Path(folder)
