"""`hexathlon data`: public sets are installed, and missing files are named."""

import json
import os
import shutil
import sqlite3
import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from hexathlon.tasks.errors import MissingData
from hexathlon.tasks.public_sets import PUBLIC_SETS
from hexathlon.tasks.registry import get_source, source_names
from hexathlon.tasks.sql.loaders.spider import SpiderSource
from hexathlon_cli.app import run

QUESTIONS = [
    {"db_id": "shop", "question": "Which names are there?", "query": "SELECT name FROM item"},
    {"db_id": "shop", "question": "Which are dear?", "query": "SELECT name FROM item WHERE p > 9"},
    {"db_id": "gone", "question": "How many?", "query": "SELECT COUNT(*) FROM t"},
]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A user's copy of Spider, two folders deep, with one database missing."""
    folder = tmp_path / "copy"
    inner = folder / "spider_data" / "release"
    (inner / "database" / "shop").mkdir(parents=True)
    (inner / "dev.json").write_text(json.dumps(QUESTIONS), "utf-8")
    with closing(sqlite3.connect(inner / "database" / "shop" / "shop.sqlite")) as database:
        database.executescript("CREATE TABLE item (name, p); INSERT INTO item VALUES ('tea', 3)")
        database.commit()
    return folder


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder for public sets."""
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.setenv("HEXATHLON_DATA", str(folder))
    yield folder


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/null", "pipe", "torn.zip", "missing"])
def test_what_is_no_copy_is_refused_without_reading_on(
    path: str, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "torn.zip").write_bytes(b"PK\x03\x04torn")
    assert run(["data", "add", "spider", str(tmp_path / path)]) == 1
    expected = f"error: {tmp_path / path} is not a directory, zip or tar archive\n"
    assert capsys.readouterr().err == expected
    assert not list(data.iterdir())


@pytest.mark.parametrize("kind", ["folder", "zip", "tar"])
def test_a_copy_is_installed_and_checked(
    kind: str, copy: Path, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = copy
    if kind == "zip":
        path = copy.with_suffix(".zip")
        with zipfile.ZipFile(path, "w") as archive:
            for file in copy.rglob("*"):
                archive.write(file, file.relative_to(copy.parent))
    elif kind == "tar":
        path = copy.with_suffix(".tar.gz")
        with tarfile.open(path, "w:gz") as tar:
            tar.add(copy, "copy")
    assert run(["data", "add", "spider", str(path)]) == 0
    shown = capsys.readouterr()
    assert (data / "spider" / "dev.json").is_file()
    assert sorted(one.name for one in data.iterdir()) == ["spider"], "no remains"
    assert "2 of 3 tasks load" in shown.out
    assert "1 do not: there is no database file spider/database/gone/gone.sqlite" in shown.err
    assert "1 questions have an empty expected answer" in shown.err
    assert run(["data", "check", "spider"]) == 0
    assert "2 of 3 tasks load" in capsys.readouterr().out
    assert run(["data", "add", "spider", str(path)]) == 1
    assert "already exists; replace it with --replace" in capsys.readouterr().err
    assert run(["data", "add", "spider", str(path), "--replace"]) == 0


def test_an_invalid_copy_is_rejected_and_leaves_nothing(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = tmp_path / "wrong"
    wrong.mkdir()
    (wrong / "dev.json").write_text("[]", "utf-8")
    torn = tmp_path / "torn.zip"
    with zipfile.ZipFile(torn, "w") as archive:
        archive.writestr("dev.json", "[]" * 1000)
    torn.write_bytes(torn.read_bytes()[:200])
    for line, said in (
        (["add", "spider", str(wrong)], "it lacks database/*/*.sqlite"),
        (["add", "spider", str(torn)], "is not a directory, zip or tar archive"),
        (["add", "spider", str(tmp_path / "nowhere")], "is not a directory, zip or tar archive"),
        (["add", "spidr", str(wrong)], "did you mean 'spider'?"),
        (["check", "spidr"], "did you mean 'spider'?"),
    ):
        assert run(["data", *line]) == 1
        assert said in capsys.readouterr().err
    assert list(data.iterdir()) == []
    assert run(["data", "check", "spider"]) == 4
    assert "hexathlon data add spider PATH" in capsys.readouterr().err


def test_an_archive_cannot_write_outside(
    copy: Path, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "evil.tar"
    with tarfile.open(path, "w") as tar:
        tar.add(copy / "spider_data" / "release", "../../escaped")
    assert run(["data", "add", "spider", str(path)]) == 1
    assert "cannot be unpacked" in capsys.readouterr().err
    assert not (tmp_path / "escaped").exists() and list(data.iterdir()) == []


def test_the_folder_must_be_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("HEXATHLON_DATA", raising=False)
    assert run(["data", "check", "spider"]) == 4
    assert "HEXATHLON_DATA is not set" in capsys.readouterr().err
    assert run(["data", "list", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {row["set"] for row in rows} == set(PUBLIC_SETS)
    assert {row["state"] for row in rows} == {"absent"}


def test_databases_without_a_file_are_named_at_loading(copy: Path) -> None:
    root = copy / "spider_data" / "release"
    with pytest.raises(MissingData, match="1 of 3 dev questions need databases without a file"):
        SpiderSource(root).size("dev")
    shutil.copytree(root / "database" / "shop", root / "database" / "gone")
    (root / "database" / "gone" / "shop.sqlite").rename(root / "database" / "gone" / "gone.sqlite")
    assert SpiderSource(root).size("dev") == 3


def test_dbbenchs_dev_split_is_reached(data: Path, shared_data: Path) -> None:
    source = get_source("dbbench")
    assert source.size("dev") == 0
    (data / "dbbench").mkdir()
    lines = (shared_data / "dbbench" / "standard.jsonl").read_bytes().splitlines(keepends=True)
    (data / "dbbench" / "dev.jsonl").write_bytes(b"".join(lines[:5]))
    fresh = type(source)()
    assert fresh.size("dev") == 5 and fresh.size("test") == 300
    assert fresh.build(fresh.address("dev", 0)).split == "dev"


def test_every_set_is_a_source_and_installed_ones_load(
    shared_data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert set(PUBLIC_SETS) <= set(source_names())
    monkeypatch.setenv("HEXATHLON_DATA", str(shared_data))
    for name in ("tau2-retail", "pingpong", "spider"):
        assert run(["data", "check", name]) == 0
        shown = capsys.readouterr()
        loaded, tasks = shown.out.splitlines()[-1].split(" tasks load")[0].split(" of ")
        assert loaded == tasks != "0", name
    assert "28 questions have an empty expected answer" in shown.err


def test_empty_answers_are_counted_separately(
    copy: Path, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The oracle is right on both; an agent that submits nothing is right on the empty one."""
    root = copy / "spider_data" / "release"
    (root / "dev.json").write_text(json.dumps(QUESTIONS[:2]), "utf-8")
    assert run(["data", "add", "spider", str(root)]) == 0
    for agent, said in (
        ("oracle", "score 100.0% on these, 100.0% on the others"),
        ("noop", "score 0.0% on these, 0.0% on the others"),
    ):
        out = str(tmp_path / agent)
        line = ["eval", f"agent:{agent}", "--envs", "SQL", "--taskset", "spider", "--split", "dev"]
        assert run([*line, "--tasks", "0", "--out", out]) == 0
        shown = capsys.readouterr().out
        assert f"1 of 2 tasks have an empty expected answer; {said}." in " ".join(shown.split())
