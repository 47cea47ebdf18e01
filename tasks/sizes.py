"""What is known of task sets without importing their sources: sizes, and missing public data.

Listing all events would otherwise import every generator and loader only for this. Tests compare
it with the sources.
"""

import importlib.util
import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from hexathlon.tasks.errors import MissingData
from hexathlon.tasks.public_data import data_folder
from hexathlon.tasks.public_sets import PUBLIC_SETS

if TYPE_CHECKING:
    from hexathlon.tasks.task import Split

__all__ = ["GENERATED_SIZES", "PUBLIC_SPLITS", "known_sizes", "missing_data"]

PUBLIC_SPLITS: "tuple[Split, ...]" = ("train", "dev", "test")
"""Splits that need no secret."""

_DATA = "HEXATHLON_DATA"

GENERATED_SIZES: "Mapping[str, Mapping[Split, int | None]]" = MappingProxyType(
    {
        "sql": {"train": None, "dev": 12_480, "test": 1_872},
        "terminal": {"train": None, "dev": 15_680, "test": 588},
        "shopping": {"train": None, "dev": 25_800, "test": 1_200},
        "web": {"train": None, "dev": 12_800, "test": 1_600},
        "gui": {"train": None, "dev": 12_800, "test": 1_600},
        "gui-mined": {"train": None, "dev": 1_600, "test": 800},
        "gui-pixels": {"train": None, "dev": 800, "test": 400},
        "desktop": {"train": None, "dev": 480, "test": 480},
        "roleplay": {"train": None, "dev": 7_200, "test": 1_440},
        "roleplay-shift": {"train": None, "dev": 192, "test": 960},
        "verdicts": {"train": None, "dev": 2_400, "test": 2_400},
        "step-errors": {"train": None, "dev": 700, "test": 700},
        "procedures": {"train": None, "dev": 600, "test": 600},
    }
)
"""Number of tasks by split over all levels; None if it is unbounded."""

_SHIPPED_SIZES: "Mapping[str, Mapping[Split, int | None]]" = MappingProxyType(
    {
        "chinook": {"train": 0, "dev": 0, "test": 37},
        "dbbench": {"train": 0, "dev": 0, "test": 300},
    }
)
"""Sizes of the sets whose questions ship with the package; DBBench's dev split does not."""

_SEEDS_PER_PAGE = 20
"""Tasks of each MiniWoB++ page in dev and test."""

_DIRECTORIES = ("harbor", "terminal-bench")
"""Sets of task directories, each below HEXATHLON_DATA or `data`."""

_WITHOUT_DATA = ("dbbench",)
"""Public sets that can be opened without HEXATHLON_DATA."""

_FIRST_FILES = {
    "webshop": "webshop/items_ins_v2.json",
    "tau2-retail": "tau2_retail/tasks.json",
}
"""The file that a source asks for first, if it does not ask for its folder."""


def known_sizes(source: str) -> "Mapping[Split, int | None] | None":
    """Return a set's number of tasks by split; None if only its source can tell."""
    if source == "miniwob":
        return _miniwob_sizes()
    if source == "dbbench" and os.environ.get(_DATA):
        return None  # its dev split may be there
    return GENERATED_SIZES.get(source) or _SHIPPED_SIZES.get(source)


def _miniwob_sizes() -> "Mapping[Split, int | None] | None":
    found = importlib.util.find_spec("miniwob")
    if found is None or not found.submodule_search_locations:
        return None
    folder = Path(found.submodule_search_locations[0]) / "html"
    pages = [*(folder / "miniwob").glob("*.html"), *(folder / "flight").glob("*/wrapper.html")]
    fixed = _SEEDS_PER_PAGE * len(pages)
    return {"train": None, "dev": fixed, "test": fixed}


def missing_data(source: str) -> str:
    """Return why a public set cannot be opened, as far as folders tell; empty if it may be there.

    Folders are those in HEXATHLON_DATA, and for task directories also those in `data`.
    """
    if source in _DIRECTORIES:
        root = Path(os.environ.get(_DATA, "data")) / source
        marks = ("*/task.toml", "*/task.yaml")
        if any(place.is_file() for mark in marks for place in root.glob(mark)):
            return ""
        return (
            f"there are no task directories in {root}; put them there, or name another folder "
            f"in {_DATA}"
        )
    public = PUBLIC_SETS.get(source)
    if public is None or source in _WITHOUT_DATA:
        return ""
    try:
        data_folder(_FIRST_FILES.get(source, f"{public.folder}/"))
    except MissingData as error:
        return str(error)
    return ""
