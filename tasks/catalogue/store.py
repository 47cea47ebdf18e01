"""The arrays of a catalogue on disk: built once, memory-mapped, read-only, shared.

A catalogue occupies one directory in the user's cache, named after version, seed and size. It is
built in a temporary directory and moved into place when complete, so that readers see all or
nothing. If two processes build at once, the second waits for the first.
"""

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hexathlon.tasks.bilingual import LANGUAGES
from hexathlon.tasks.catalogue.index import build_index, index_version
from hexathlon.tasks.catalogue.layout import Layout, lay_out

__all__ = ["Store", "cache_folder", "open_store", "version"]

_DECIDING = (
    "columns.py",
    "design.py",
    "grammar.py",
    "index.py",
    "layout.py",
    "names.py",
    "noise.py",
    "pricing.py",
    "tokens.py",
    "goods/*.txt",
    "goods/*.py",
)
"""The files whose content determines the stored data."""
_PARALLEL_FROM = 50_000
"""Minimum size at which a second process builds the second index."""
_HELPER = f"import sys, {__name__} as store; store._build_one(*sys.argv[1:])"


@cache
def version() -> str:
    """Return a hash of what determines the stored data, with the index library's version."""
    digest = hashlib.sha256()
    for pattern in _DECIDING:
        for path in sorted(Path(__file__).parent.glob(pattern)):
            digest.update(path.read_bytes())
    return f"{digest.hexdigest()[:12]}-{index_version()}"


@dataclass(frozen=True)
class Store:
    """An open catalogue directory."""

    folder: Path
    seed: int
    size: int
    layout: Layout


def cache_folder(chosen: Path | None = None) -> Path:
    """Return the cache directory: argument, HEXATHLON_CACHE, XDG_CACHE_HOME or ~/.cache."""
    if chosen is not None:
        return chosen
    if "HEXATHLON_CACHE" in os.environ:
        return Path(os.environ["HEXATHLON_CACHE"])
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "hexathlon"


def open_store(seed: int, size: int, folder: Path) -> Store:
    """Open the catalogue in a cache directory, building it first if absent."""
    parent = folder / "catalogues"
    folder = parent / f"{version()}-s{seed}-n{size}"
    if not (folder / "catalogue.json").exists():
        parent.mkdir(parents=True, exist_ok=True)
        with _locked(parent / f".{folder.name}.lock"):
            if not (folder / "catalogue.json").exists():
                _build(folder, seed, size)
    arrays = {
        field.name: np.load(folder / f"{field.name}.npy", mmap_mode="r") for field in fields(Layout)
    }
    return Store(folder, seed, size, Layout(**arrays))


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _build(folder: Path, seed: int, size: int) -> None:
    """Build a catalogue beside its place and move it there; the caller holds the lock."""
    for remains in folder.parent.glob(f".{folder.name}.*/"):
        shutil.rmtree(remains)  # left by a builder that crashed
    draft = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        layout = lay_out(seed, size)
        for field in fields(Layout):
            np.save(draft / f"{field.name}.npy", _of(layout, field.name))
        _build_indexes(draft, layout, seed, size)
        (draft / "catalogue.json").write_text(
            json.dumps({"version": version(), "seed": seed, "size": size})
        )
        draft.chmod(0o755)
        draft.rename(folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _of(layout: Layout, name: str) -> npt.NDArray[Any]:
    array: npt.NDArray[Any] = getattr(layout, name)
    return array


def _build_indexes(draft: Path, layout: Layout, seed: int, size: int) -> None:
    first, *others = LANGUAGES
    if size < _PARALLEL_FROM:
        for language in LANGUAGES:
            build_index(draft, layout, seed, language)
        return
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    helpers = [
        subprocess.Popen([sys.executable, "-c", _HELPER, str(draft), str(seed), language],
                         env=environment, stderr=subprocess.PIPE, text=True)
        for language in others
    ]  # fmt: skip
    build_index(draft, layout, seed, first)
    for helper in helpers:
        _, errors = helper.communicate()
        if helper.returncode:
            raise RuntimeError(f"building a search index failed: {errors.strip()[-2000:]}")


def _build_one(draft: str, seed: str, language: str) -> None:
    """Build one index in a separate process."""
    folder = Path(draft)
    arrays = {f.name: np.load(folder / f"{f.name}.npy", mmap_mode="r") for f in fields(Layout)}
    build_index(folder, Layout(**arrays), int(seed), next(x for x in LANGUAGES if x == language))
