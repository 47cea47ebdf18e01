"""The cache of catalogues: atomic, safe under concurrent builds, readable without write access."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from hexathlon.tasks.catalogue import open_catalogue
from hexathlon.tasks.catalogue import store as store_module
from hexathlon.tasks.catalogue.opening import open_index
from hexathlon.tasks.catalogue.store import cache_folder, open_store, version
from support.places import open_to_all


def _processes(code: str, count: int, *arguments: str) -> list[subprocess.Popen[str]]:
    environment = {"PYTHONPATH": ":".join(filter(None, sys.path)), "HOME": arguments[0]}
    return [
        subprocess.Popen([sys.executable, "-c", code, *arguments], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True, env=environment)
        for _ in range(count)
    ]  # fmt: skip


_OPEN = (
    "import sys; from pathlib import Path;"
    "from hexathlon.tasks.catalogue import open_catalogue;"
    "c = open_catalogue(5, 3000, Path(sys.argv[1]));"
    "print([h.product_id for h in c.search('navy', language='en').hits])"
)


def test_processes_that_build_at_once_end_with_one_catalogue(tmp_path: Path) -> None:
    builders = _processes(_OPEN, 3, str(tmp_path))
    results = [builder.communicate(timeout=600) for builder in builders]
    assert all(builder.returncode == 0 for builder in builders), results
    assert len({output for output, _ in results}) == 1
    folders = [each for each in (tmp_path / "catalogues").iterdir() if each.is_dir()]
    assert [folder.name for folder in folders] == [f"{version()}-s5-n3000"]


def test_a_builder_that_dies_leaves_nothing_that_is_taken_for_a_catalogue(tmp_path: Path) -> None:
    code = (
        "import os, sys; from pathlib import Path;"
        "from hexathlon.tasks.catalogue import store, open_catalogue;"
        "store.build_index = lambda *_: os._exit(9);"
        "open_catalogue(5, 1000, Path(sys.argv[1]))"
    )
    (dying,) = _processes(code, 1, str(tmp_path))
    dying.communicate(timeout=600)
    assert dying.returncode == 9
    assert open_catalogue(5, 1000, tmp_path).search("navy", language="en").total
    folders = [each.name for each in (tmp_path / "catalogues").iterdir() if each.is_dir()]
    assert folders == [f"{version()}-s5-n1000"], "the dead builder's draft is deleted"


def test_a_failed_build_leaves_no_draft(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("no room")

    monkeypatch.setattr(store_module, "build_index", fail)
    with pytest.raises(RuntimeError, match="no room"):
        open_store(6, 1000, tmp_path)
    assert not [each for each in (tmp_path / "catalogues").iterdir() if each.is_dir()]


def test_the_index_opens_in_a_read_only_directory(tmp_path: Path) -> None:
    """A directory of another user, or a read-only disk."""
    folder = open_store(7, 1000, tmp_path).folder
    with tempfile.TemporaryDirectory(dir=open_to_all()) as place:
        Path(place).chmod(0o755)
        locked = Path(place) / "locked"
        shutil.copytree(folder, locked)
        (locked / "index-en" / ".tantivy-meta.lock").unlink()
        (locked / "index-en").chmod(0o555)
        output, errors = _read_as_another_user(locked)
        assert output.split() == ["1000", "9"], errors
        assert ".tantivy-meta.lock" not in os.listdir(locked / "index-en")
        (locked / "index-en").chmod(0o755)


def test_the_mirror_goes_even_if_its_lock_is_created_while_it_is_emptied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The library's thread takes the lock once more after the index was opened."""
    folder = open_store(7, 1000, tmp_path / "cache").folder
    (folder / "index-en" / ".tantivy-meta.lock").unlink()
    mirrors = tmp_path / "mirrors"
    mirrors.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(mirrors))
    late: list[Path] = []
    remove = os.rmdir

    def rmdir(path: str, **more: int) -> None:
        if not late:
            late.extend(mirror / ".tantivy-meta.lock" for mirror in mirrors.iterdir())
            late[0].touch()
        remove(path, **more)

    monkeypatch.setattr(os, "rmdir", rmdir)
    assert open_index(folder, "en").searcher().num_docs == 1000
    assert late and not list(mirrors.iterdir())


def _read_as_another_user(folder: Path) -> tuple[str, str]:
    code = (
        "import os, sys; from pathlib import Path;"
        "from hexathlon.tasks.catalogue.opening import open_index;"
        "import tantivy; os.getuid() or os.setuid(65534);"
        "i = open_index(Path(sys.argv[1]), 'en'); s = i.searcher();"
        "print(s.num_docs, len(s.search(tantivy.Query.all_query(), 9).hits))"
    )
    (reader,) = _processes(code, 1, str(folder))
    return reader.communicate(timeout=600)


def test_opening_is_quick(tmp_path: Path) -> None:
    open_store(8, 1000, tmp_path)
    best = 1.0
    for _ in range(5):
        start = time.process_time()
        store = open_store(8, 1000, tmp_path)
        open_index(store.folder, "en")
        best = min(best, time.process_time() - start)
    assert best <= 0.05


def test_where_the_cache_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEXATHLON_CACHE", str(tmp_path / "own"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder(tmp_path) == tmp_path
    assert cache_folder() == tmp_path / "own"
    monkeypatch.delenv("HEXATHLON_CACHE")
    assert cache_folder() == tmp_path / "xdg" / "hexathlon"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "hexathlon"


@pytest.mark.slow
def test_the_second_process_builds_the_same_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    apart = open_catalogue(4, 60_000, tmp_path / "apart")
    monkeypatch.setattr(store_module, "_PARALLEL_FROM", 10**9)
    alone = open_catalogue(4, 60_000, tmp_path / "alone")
    for query in ("navy steel lid", "grey", "mechanical tactile"):
        assert apart.search(query, language="en").hits == alone.search(query, language="en").hits
    for query in ("藏青 不锈钢", "灰色", "机械键盘"):
        assert apart.search(query, language="zh").hits == alone.search(query, language="zh").hits
