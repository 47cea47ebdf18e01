"""What is known of task sets without importing their sources: sizes, and missing public data.

Listing all events would otherwise import every generator and loader only for this. Tests compare
it with the sources.
"""

from collections.abc import Mapping
from types import MappingProxyType

from hexathlon.tasks.errors import MissingData
from hexathlon.tasks.public_data import data_folder
from hexathlon.tasks.public_sets import PUBLIC_SETS
from hexathlon.tasks.task import Split

__all__ = ["GENERATED_SIZES", "missing_data"]

GENERATED_SIZES: Mapping[str, Mapping[Split, int | None]] = MappingProxyType(
    {
        "sql": {"train": None, "dev": 10_000, "test": 1_500},
        "terminal": {"train": None, "dev": 16_640, "test": 624},
        "shopping": {"train": None, "dev": 25_800, "test": 1_200},
        "web": {"train": None, "dev": 12_800, "test": 1_600},
        "gui": {"train": None, "dev": 12_800, "test": 1_600},
        "gui-mined": {"train": None, "dev": 1_600, "test": 800},
        "gui-pixels": {"train": None, "dev": 800, "test": 400},
        "desktop": {"train": None, "dev": 480, "test": 480},
        "roleplay": {"train": None, "dev": 5_760, "test": 1_152},
        "roleplay-shift": {"train": None, "dev": 192, "test": 960},
    }
)
"""Number of tasks by split over all levels; None if it is unbounded."""

_WITHOUT_DATA = ("dbbench", "harbor", "terminal-bench")
"""Public sets that can be opened without HEXATHLON_DATA."""

_FIRST_FILES = {
    "webshop": "webshop/items_ins_v2.json",
    "tau2-retail": "tau2_retail/tasks.json",
}
"""The file that a source asks for first, if it does not ask for its folder."""


def missing_data(source: str) -> str:
    """Return why a public set cannot be opened if HEXATHLON_DATA is not set; empty otherwise."""
    public = PUBLIC_SETS.get(source)
    if public is None or source in _WITHOUT_DATA:
        return ""
    try:
        data_folder(_FIRST_FILES.get(source, f"{public.folder}/"))
    except MissingData as error:
        return str(error)
    return ""
