"""Text files that users name: settings, prices, secrets, labels."""

import errno
from pathlib import Path

__all__ = ["read_settings_text"]

_MEBIBYTE = 2**20


def read_settings_text(path: Path, most: int = 16) -> str:
    """Return the text of a file or pipe of at most `most` MiB; a device may never end.

    Raises:
        OSError: If it cannot be read, or is larger.
        UnicodeDecodeError: If it is not UTF-8.
    """
    with path.open("rb") as file:
        data = file.read(most * _MEBIBYTE + 1)
    if len(data) > most * _MEBIBYTE:
        raise OSError(errno.EFBIG, f"it is larger than {most} MiB", str(path))
    return data.decode("utf-8").replace("\r\n", "\n")
