"""The cache's files: checked, bounded, shared by processes, never in the way."""

import hashlib
import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hexathlon.tasks.cache.disk import DiskCache, cache_location, cache_size, shared_cache
from hexathlon.tasks.errors import TaskError


def key(name: object) -> str:
    return hashlib.sha256(str(name).encode()).hexdigest()


@pytest.fixture
def cache(tmp_path: Path) -> DiskCache:
    return DiskCache(tmp_path / "cache", 100_000)


def entry(cache: DiskCache, name: object) -> Path:
    """The file of an entry: the only one whose path ends with the rest of its key."""
    (path,) = (p for p in cache.folder.rglob("*") if p.is_file() and key(name).endswith(p.name))
    return path


def test_values_come_back_and_others_are_absent(cache):
    assert cache.get(key(1)) is None
    cache.put(key(1), b"one" * 1000)
    cache.put(key(2), b"")
    assert (cache.get(key(1)), cache.get(key(2)), cache.get(key(3))) == (b"one" * 1000, b"", None)
    assert cache.usage().entries == 2
    assert cache.usage().size < 1000
    with pytest.raises(ValueError, match="expected a SHA-256"):
        cache.get("../../etc/passwd")


@pytest.mark.parametrize("damage", ["torn", "flipped", "foreign", "empty"])
def test_damaged_entries_are_ignored_and_written_anew(cache, damage):
    cache.put(key(1), b"right")
    path = entry(cache, 1)
    content = path.read_bytes()
    path.write_bytes(
        {
            "torn": content[:-1],
            "flipped": content[:-1] + bytes([content[-1] ^ 1]),
            "foreign": b"something else",
            "empty": b"",
        }[damage]
    )
    assert cache.get(key(1)) is None
    assert not path.exists()
    cache.put(key(1), b"right")
    assert cache.get(key(1)) == b"right"


def test_an_entry_under_another_key_is_not_taken_for_its_value(cache):
    cache.put(key(1), b"one")
    cache.put(key(2), b"two")
    entry(cache, 1).write_bytes(entry(cache, 2).read_bytes())
    assert cache.get(key(1)) is None
    assert cache.get(key(2)) == b"two"


def test_the_least_recently_used_entries_are_dropped(tmp_path):
    noise = {name: os.urandom(1000) for name in range(30)}
    cache = DiskCache(tmp_path / "cache", 20_000)
    for name in range(15):
        cache.put(key(name), noise[name])
        os.utime(entry(cache, name), (name, name))
    assert cache.get(key(0)) == noise[0]  # used now, and so the most recent
    for name in range(15, 30):
        cache.put(key(name), noise[name])
        assert cache.usage().size <= 20_000
    assert cache.get(key(0)) == noise[0]
    assert cache.get(key(29)) == noise[29]
    assert cache.get(key(1)) is None


def test_what_is_larger_than_the_cache_is_not_stored(tmp_path):
    cache = DiskCache(tmp_path / "cache", 500)
    cache.put(key(1), os.urandom(1000))
    assert not cache.folder.exists()


def test_clearing_removes_entries_and_nothing_else(cache):
    for name in range(3):
        cache.put(key(name), b"x")
    other = cache.folder / "notes.txt"
    other.write_text("mine")
    assert cache.clear().entries == 3
    assert cache.usage() == (0, 0)
    assert other.read_text() == "mine"


def test_abandoned_drafts_are_removed_and_recent_ones_kept(cache):
    cache.put(key(1), b"x")
    old, new = (entry(cache, 1).with_name(name) for name in (".old", ".new"))
    for draft in (old, new):
        draft.write_bytes(b"draft")
    os.utime(old, (time.time() - 7200,) * 2)
    assert cache.usage().entries == 1
    assert (old.exists(), new.exists()) == (False, True)


def test_the_folder_is_private_and_one_that_others_can_write_to_is_not_used(cache):
    cache.put(key(1), b"x")
    assert stat.S_IMODE(cache.folder.stat().st_mode) == 0o700
    cache.folder.chmod(0o777)
    again = DiskCache(cache.folder)
    assert "other users can write" in again.problem()
    assert again.get(key(1)) is None
    again.put(key(2), b"y")
    assert again.usage().entries == 1


def test_a_folder_that_cannot_be_created_is_no_error(tmp_path):
    (tmp_path / "file").write_text("")
    cache = DiskCache(tmp_path / "file" / "cache")
    cache.put(key(1), b"x")
    assert cache.get(key(1)) is None
    assert cache.usage() == (0, 0)
    assert cache.clear() == (0, 0)


WRITER = """
import hashlib, sys
from pathlib import Path
from hexathlon.tasks.cache.disk import DiskCache
cache = DiskCache(Path(sys.argv[1]), 20_000)
for turn in range(60):
    key = hashlib.sha256(str(turn % 7).encode()).hexdigest()
    found = cache.get(key)
    assert found in (None, key.encode() * 40), found
    cache.put(key, key.encode() * 40)
    if turn % 20 == 19:
        cache.clear()
"""


def test_processes_that_write_and_clear_at_once_read_whole_values(tmp_path):
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path / "c")], stderr=subprocess.PIPE, text=True
        )
        for _ in range(3)
    ]
    for writer in writers:
        _, errors = writer.communicate(timeout=60)
        assert writer.returncode == 0, errors


@pytest.mark.parametrize(
    ("text", "size"),
    [("", 10**9), ("500MB", 5 * 10**8), ("1.5 gb", 15 * 10**8), ("0", 0), ("OFF", 0), ("7", 7)],
)
def test_the_size_is_read_from_the_environment(monkeypatch, text, size):
    monkeypatch.setenv("HEXATHLON_CACHE_SIZE", text)
    assert cache_size() == size
    assert (shared_cache() is None) == (size == 0)


def test_a_size_that_is_none_is_explained(monkeypatch):
    monkeypatch.setenv("HEXATHLON_CACHE_SIZE", "big")
    with pytest.raises(TaskError, match="HEXATHLON_CACHE_SIZE is 'big'; set it to a size"):
        cache_size()


def test_the_folder_follows_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("HEXATHLON_CACHE", str(tmp_path))
    assert cache_location() == tmp_path / "built"
    monkeypatch.delenv("HEXATHLON_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_location() == tmp_path / "xdg" / "hexathlon" / "built"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert cache_location() == tmp_path / "home" / ".cache" / "hexathlon" / "built"


def test_the_tests_themselves_use_no_cache():
    assert shared_cache() is None


def test_another_directory_is_another_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("HEXATHLON_CACHE_SIZE", "1MB")
    folders = []
    for name in ("one", "two", "one"):
        monkeypatch.setenv("HEXATHLON_CACHE", str(tmp_path / name))
        folders.append(shared_cache().folder)
    assert folders == [tmp_path / name / "built" for name in ("one", "two", "one")]
    monkeypatch.setenv("HEXATHLON_CACHE", "off")
    assert shared_cache() is None
