"""Sizes of the generated task sets, known without importing their generators.

Listing all events would otherwise import every generator only for these numbers. A test compares
them with the sources.
"""

from collections.abc import Mapping
from types import MappingProxyType

from hexathlon.tasks.task import Split

__all__ = ["GENERATED_SIZES"]

GENERATED_SIZES: Mapping[str, Mapping[Split, int | None]] = MappingProxyType(
    {
        "sql": {"train": None, "dev": 7_400, "test": 1_110},
        "terminal": {"train": None, "dev": 14_560, "test": 546},
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
