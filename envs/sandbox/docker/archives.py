"""Tar archives as data: nothing is ever extracted onto this machine."""

import io
import tarfile
from collections.abc import Mapping
from typing import IO

from hexathlon.envs.sandbox.image import Entry

__all__ = ["archive_of", "entries_of"]

_KINDS = {tarfile.FIFOTYPE: "fifo", tarfile.CHRTYPE: "device", tarfile.BLKTYPE: "device"}


def archive_of(files: Mapping[str, Entry]) -> bytes:
    """Return entries as a tar archive; its paths are relative to the root."""
    store = io.BytesIO()
    with tarfile.open(fileobj=store, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for path in sorted(files):
            entry = files[path]
            info = tarfile.TarInfo(path.strip("/"))
            info.mode, info.mtime, info.uid, info.gid = entry.mode, entry.mtime, 0, 0
            if entry.folder:
                info.type = tarfile.DIRTYPE
            elif entry.link is not None:
                info.type, info.linkname = tarfile.SYMTYPE, entry.link
            else:
                info.size = len(entry.data)
            archive.addfile(info, io.BytesIO(entry.data))
    return store.getvalue()


def entries_of(
    source: IO[bytes], max_bytes: int, max_entries: int, prefix: str = ""
) -> tuple[dict[str, Entry], dict[str, str], bool]:
    """Read an archive.

    Returns:
        Entries by absolute path, omitted paths with reasons, and whether limits truncated it.
    """
    entries: dict[str, Entry] = {}
    special: dict[str, str] = {}
    bytes_left = max_bytes
    cut = False
    try:
        with tarfile.open(fileobj=source, mode="r|", errorlevel=0) as archive:
            for info in archive:
                path = prefix + "/" + info.name.strip("/").removeprefix("./")
                if len(entries) >= max_entries:
                    cut = True
                    break
                if not _speakable(path):
                    special[ascii(path)] = "name"
                    continue
                entry = _entry(archive, info, entries, prefix, bytes_left)
                if isinstance(entry, str):
                    special[path] = entry
                    cut |= entry == "too_long"
                    continue
                entries[path] = entry
                bytes_left -= len(entry.data)
    except tarfile.ReadError:
        cut = True  # the stream ended early: the archive was longer than was read
    return entries, special, cut


def _entry(
    archive: tarfile.TarFile,
    info: tarfile.TarInfo,
    found: Mapping[str, Entry],
    prefix: str,
    left: int,
) -> Entry | str:
    """Return one entry, or the reason why it is omitted."""
    mode, mtime = info.mode & 0o7777, int(info.mtime)
    if info.isdir():
        return Entry(b"", mode, info.uid, None, True, mtime)
    if info.issym():
        return Entry(b"", 0o777, info.uid, info.linkname, False, mtime)
    if info.islnk():  # a hard link to an earlier file
        first = found.get(f"{prefix}/{info.linkname.strip('/')}")
        return first if first is not None else "too_long"
    if not info.isreg():
        return _KINDS.get(info.type, "socket")
    if info.size > left:
        return "too_long"
    file = archive.extractfile(info)
    return Entry(file.read() if file else b"", mode, info.uid, None, False, mtime)


def _speakable(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return ".." not in path.split("/")
