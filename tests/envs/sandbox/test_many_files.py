"""Work for many files grows with their number: system calls are counted, not seconds."""

import os
from collections import Counter
from pathlib import Path

import pytest

from hexathlon.envs.sandbox.changes import Changes, covered
from hexathlon.envs.sandbox.image import Entry
from hexathlon.envs.sandbox.kernel import writing
from hexathlon.envs.sandbox.namespaces.export import _Found, export

CALLS = ("open", "stat", "lstat", "listdir", "mkdir", "unlink", "chmod", "utime", "readlink")


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    calls: Counter[str] = Counter()

    def counting(name: str) -> None:
        real = getattr(os, name)

        def call(*arguments: object, **more: object) -> object:
            calls["all"] += 1
            return real(*arguments, **more)

        monkeypatch.setattr(os, name, call)

    for name in CALLS:
        counting(name)
    return calls


def layer(place: Path, count: int) -> str:
    for number in range(count):
        folder = place / f"app/many/{number % 7}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / str(number)).write_text("x")
    return str(place)


def test_reading_changes_is_linear(tmp_path: Path, counted: Counter[str]) -> None:
    (tmp_path / "below/app").mkdir(parents=True)
    spent = []
    for count in (200, 800):
        upper = layer(tmp_path / f"{count}", count)
        before = counted["all"]
        changes = export([upper], [str(tmp_path / "below")], 0, 1 << 20, 50_000)
        spent.append(counted["all"] - before)
        assert sum(not entry.folder for entry in changes.written.values()) == count
    assert spent[1] <= 4 * spent[0]
    assert spent[1] <= 6 * 800


def test_forgetting_does_not_look_at_other_paths() -> None:
    class Places(dict):  # type: ignore[type-arg]
        def __iter__(self) -> None:  # type: ignore[override]
            raise AssertionError("all paths were looked at")

    found = _Found(places=Places())
    for number in range(100):
        found.note(f"/a/{number}")
        found.places[f"/a/{number}"] = ("", os.stat("/"))
        found.forget(f"/b/{number}")
    found.note("/a")
    found.forget("/a")
    assert len(found.places) == 0


def test_writing_is_linear(tmp_path: Path, counted: Counter[str]) -> None:
    spent = []
    for count in (200, 800):
        files = {f"{tmp_path}/{count}/{n % 7}/{n}": Entry(b"x", mtime=9) for n in range(count)}
        before = counted["all"]
        writing.apply(Changes(files))
        spent.append(counted["all"] - before)
    assert spent[1] <= 4 * spent[0]
    assert spent[1] <= 5 * 800


def test_a_covered_path_is_found_without_a_look_at_the_others() -> None:
    class Tops(frozenset):  # type: ignore[type-arg]
        def __iter__(self) -> None:  # type: ignore[override]
            raise AssertionError("all paths were looked at")

    tops = Tops({"/app/a", "/b"})
    assert covered("/app/a", tops) and covered("/app/a/b/c", tops) and covered("/b/x", tops)
    assert not covered("/app", tops) and not covered("/app/ab", tops) and not covered("/", tops)
