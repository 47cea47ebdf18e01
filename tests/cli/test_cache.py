"""The commands `cache info` and `cache clear`."""

import hashlib
import json
from pathlib import Path

import pytest

from hexathlon.tasks.cache.disk import DiskCache
from hexathlon_cli.app import run


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HEXATHLON_CACHE", str(tmp_path))
    monkeypatch.setenv("HEXATHLON_CACHE_SIZE", "5MB")
    return tmp_path / "built"


def info(capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    assert run(["cache", "info", "--json"]) == 0
    shown: dict[str, object] = json.loads(capsys.readouterr().out)
    return shown


def test_info_and_clear(folder, capsys):
    assert info(capsys)["entries"] == 0
    DiskCache(folder).put(hashlib.sha256(b"key").hexdigest(), b"value")
    shown = info(capsys)
    assert shown["size"] == sum(path.stat().st_size for path in folder.rglob("*/*"))
    assert {**shown, "size": 0} == {
        "folder": str(folder), "state": "on", "limit": 5_000_000, "entries": 1, "size": 0,
    }  # fmt: skip
    assert run(["cache", "info"]) == 0
    assert "5.0 MB" in capsys.readouterr().out
    assert run(["cache", "clear"]) == 0
    assert "Entries removed: 1," in capsys.readouterr().out
    assert info(capsys)["entries"] == 0


def test_info_says_why_a_cache_is_not_used(folder, capsys, monkeypatch):
    folder.mkdir()
    folder.chmod(0o777)
    assert "other users can write" in str(info(capsys)["state"])
    folder.chmod(0o700)
    monkeypatch.setenv("HEXATHLON_CACHE_SIZE", "off")
    assert info(capsys)["state"] == "off"


def test_a_size_that_is_none_is_a_usage_error(folder, capsys, monkeypatch):
    monkeypatch.setenv("HEXATHLON_CACHE_SIZE", "plenty")
    assert run(["cache", "info"]) == 1
    assert "HEXATHLON_CACHE_SIZE is 'plenty'; set it to a size" in capsys.readouterr().err
