"""Imports of a module inside its package."""

from pathlib import Path

import pytest

from hexathlon.tasks import fingerprint
from hexathlon.tasks.fingerprint import declared_files, fingerprint_of
from hexathlon.tasks.fingerprint.modules import deciding_modules, modules_digest

PLUGIN = {
    "__init__.py": "from {top}.source import everything\nimport {top}.unused\n",
    "source.py": """
        from typing import TYPE_CHECKING
        import json, numpy
        from . import near
        from .below.deep import value
        from hexathlon.tasks.seeding import derive_seed
        if TYPE_CHECKING:
            import {top}.typing_only
        def build():
            import {top}.late as late
            return late
        FACTORY = "{top}.named:factory"
        """,
    "near.py": "from .source import build\n",
    "late.py": "x = 1\n",
    "below/__init__.py": "from {top}.below import beside\n",
    "below/beside.py": "",
    "below/deep.py": "value = 1\n",
    "typing_only.py": "",
    "named.py": "",
    "unused.py": "",
    "forms/__init__.py": "",
    "forms/one.py": "",
    "forms/two.py": "from ..unused import x\n",
    "words/a.txt": "a",
}


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a package that is on the path and was never imported."""
    top = f"plugin_{tmp_path.name.replace('-', '_')}"
    for name, text in PLUGIN.items():
        path = tmp_path / top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = text.format(top=top).splitlines()
        path.write_text("\n".join(line.removeprefix(" " * 8) for line in lines))
    monkeypatch.syspath_prepend(tmp_path)
    return top


def names(top: str, *modules: str) -> set[str]:
    found = deciding_modules([f"{top}.{name}" for name in modules])
    return {name.removeprefix(f"{top}.") for name in found}


def test_imports_are_followed_through_the_package_and_hexathlon(plugin):
    assert names(plugin, "source") == {
        "source", "near", "late", "below", "below.beside", "below.deep",
        "hexathlon.tasks", "hexathlon.tasks.seeding",
    }  # fmt: skip


def test_modules_with_computed_names_are_named(plugin):
    more = names(plugin, "source", "forms.*") - names(plugin, "source")
    assert more == {"forms", "forms.one", "forms.two", "unused"}


def test_a_lone_module_is_a_package_of_its_own(tmp_path, monkeypatch):
    (tmp_path / "__init__.py").write_text("")
    (tmp_path / "lone_source.py").write_text("import lone_other\nimport hexathlon.tasks.task\n")
    (tmp_path / "lone_other.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    found = deciding_modules(["lone_source"])
    assert found["lone_source"] == tmp_path / "lone_source.py"
    own = {f"hexathlon.tasks{name}" for name in ("", ".task", ".record", ".errors")}
    assert set(found) == {"lone_source", *own}


def test_a_module_without_a_file_is_an_error(plugin):
    with pytest.raises(FileNotFoundError, match="in no Python file"):
        modules_digest([f"{plugin}.missing"])


def test_sources_are_found_by_name_and_do_not_pull_each_other_in():
    modules = deciding_modules(["hexathlon.tasks.terminal.directories"])
    assert not [name for name in modules if name.startswith("hexathlon.tasks.sql")]
    assert not [name for name in modules if "fingerprint" in name or "registry" in name]


def test_names_data_and_dependencies_count(plugin):
    def fingerprint(name="a 1", data=("words/*.txt",), numpy="x"):
        return fingerprint_of(name, [f"{plugin}.late"], data, {"numpy": numpy})

    assert fingerprint() == fingerprint()
    others = {fingerprint(name="a 2"), fingerprint(data=()), fingerprint(numpy="y"), fingerprint()}
    assert len(others) == 4


def test_a_pattern_without_a_file_is_an_error(plugin):
    assert list(declared_files(f"{plugin}.source", ["words/*.txt"])) == ["words/a.txt"]
    with pytest.raises(FileNotFoundError, match=r"matches 'words/\*.csv'"):
        declared_files(f"{plugin}.source", ["words/*.csv"])


PLACED = {
    "source.py": """
        import numpy
        {imports}
        def build():
            from {top}.{late} import word
            return first() + second + word
        """,
    "{first}.py": "from {top}.{second} import second\ndef first():\n    return second\n",
    "{second}.py": "second = 2\n",
    "{late}.py": "word = 3\n",
    "other.py": "from {top}.{second} import second\nfirst = abs\nword = 4\n",
    "{words}/a.txt": "a",
}
PLACES = {"first": "first", "second": "second", "late": "late", "words": "words"}


@pytest.fixture
def placed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The fingerprint of a small package with freely placed modules."""
    monkeypatch.syspath_prepend(tmp_path)
    count = 0

    def fingerprint(imports=("first", "second"), texts=PLACED, **places: str) -> str:
        nonlocal count
        count += 1
        own = PLACES | places
        top = f"placed_{tmp_path.name.replace('-', '_')}_{count}"
        names = zip(imports, ("first", "second"), strict=True)
        lines = sorted(f"from {top}.{own.get(name, name)} import {what}" for name, what in names)
        for name, text in texts.items():
            slashed = {key: value.replace(".", "/") for key, value in own.items()}
            path = tmp_path / top / name.format(**slashed)
            path.parent.mkdir(parents=True, exist_ok=True)
            text = text.format(top=top, imports=f"\n{' ' * 8}".join(lines), **own)
            path.write_text("\n".join(line.removeprefix(" " * 8) for line in text.splitlines()))
        for folder in {path.parent for path in (tmp_path / top).rglob("*.py")}:
            (folder / "__init__.py").write_text("")
        return fingerprint_of("a 1", [f"{top}.source"], [f"{own['words']}/*.txt"], {})

    return fingerprint


def test_the_location_of_modules_and_files_does_not_count(placed):
    original = placed()
    assert original == placed()
    assert original == placed(first="inner.first", second="inner.deep.second")
    assert original == placed(first="z", second="a")  # sorted in reverse
    assert original == placed(late="inner.late", words="inner/words")


def test_importing_from_another_module_counts(placed):
    original = placed()
    assert original != placed(imports=("other", "second"))
    assert original != placed(imports=("first", "other"))
    assert original != placed(imports=("first", "first"))  # the same value, through `first`


def test_code_far_down_the_imports_counts(placed):
    changed = {**PLACED, "{second}.py": "second = 3\n"}
    late = {**PLACED, "{late}.py": "word = 4\n"}
    named = {**PLACED, "{words}/b.txt": PLACED["{words}/a.txt"]}
    hashes = {placed(), placed(texts=changed), placed(texts=late), placed(texts=named)}
    assert len(hashes) == 4


def test_imports_in_a_circle_are_hashed(placed):
    circle = {**PLACED, "{second}.py": "from {top}.{first} import first\nsecond = 2\n"}
    assert placed(texts=circle) == placed(texts=circle, first="inner.first")
    changed = {**circle, "{first}.py": "def first():\n    return 9\n"}
    assert placed(texts=circle) != placed(texts=changed)


def test_a_fingerprint_from_the_cache_is_the_derived_one(tmp_path, monkeypatch):
    derive = fingerprint._content_digest.__wrapped__
    modules, patterns = ("hexathlon.tasks.gui.desktop.source",), ()
    derived = derive(modules, patterns)
    monkeypatch.setenv("HEXATHLON_CACHE", str(tmp_path))
    monkeypatch.setenv("HEXATHLON_CACHE_SIZE", "1MB")
    assert derive(modules, patterns) == derived
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == 1
    monkeypatch.setattr(fingerprint, "_derived_digest", lambda *given: "derived again")
    assert derive(modules, patterns) == derived
    # Modules and data that the key does not cover are read anew.
    assert derive(("support.toy",), ()) == "derived again"
    assert derive(modules, ("envs/gui/*.toml",)) == "derived again"
    assert derive(modules, ("tasks/web/*.toml",)) == "derived again"
