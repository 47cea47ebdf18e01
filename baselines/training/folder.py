"""The folder of a training run: one recipe, one process at a time."""

import fcntl
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hexathlon.baselines.training.recipe import Recipe

__all__ = ["RECIPE_FILE", "FolderInUse", "RecipeDiffers", "claimed", "is_training"]

RECIPE_FILE = "recipe.json"
_LOCK_FILE = "train.lock"
_TRIES = 10


class RecipeDiffers(Exception):
    """The folder contains the run of another recipe."""


class FolderInUse(Exception):
    """Another process is training in the folder."""


@contextmanager
def claimed(folder: Path, recipe: Recipe) -> Iterator[None]:
    """Reserve the folder for this process and this recipe; create it if necessary.

    Raises:
        FolderInUse: If another process is training in it.
        RecipeDiffers: If it contains the run of another recipe.
    """
    folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(folder / _LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        if not _locked(handle):
            raise FolderInUse(
                f"another process is training in {folder}: follow it with `hexathlon train --watch "
                f"{folder}`, or choose another --out"
            )
        _write_recipe(folder, recipe)
        yield
    finally:
        os.close(handle)


def is_training(folder: Path) -> bool:
    """Whether a process is training in the folder."""
    try:
        handle = os.open(folder / _LOCK_FILE, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False


def _locked(handle: int) -> bool:
    """Try to take the lock, for up to 0.2 s: watchers hold it briefly."""
    for _ in range(_TRIES):
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(0.02)
        else:
            return True
    return False


def _same(text: str, wanted: str) -> bool:
    """Return whether a recipe's file describes the run of another.

    The states of a sharded learner are read by any number of ranks.
    """
    table: dict[str, Any] = json.loads(wanted)
    if table["learner"]["kind"] != "sharded":
        return text == wanted
    try:
        kept = json.loads(text)
    except ValueError:
        return False
    return isinstance(kept, dict) and {**kept, "ranks": table["ranks"]} == table


def _write_recipe(folder: Path, recipe: Recipe) -> None:
    file = folder / RECIPE_FILE
    text = json.dumps(recipe.model_dump(mode="json"), indent=1)
    if file.exists() and not _same(file.read_text(), text):
        raise RecipeDiffers(
            f"{folder} contains the run of another recipe (see {file}); choose another --out"
        )
    file.write_text(text)
