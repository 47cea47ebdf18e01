"""Enlargement of a schema beyond its questions: decoy copies and other departments' tables."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from hexathlon.tasks.sql.domains import DOMAINS
from hexathlon.tasks.sql.growth import Growth, grow
from hexathlon.tasks.sql.naming import Namer
from hexathlon.tasks.sql.schema import Law, Table
from hexathlon.tasks.task import Level

DECOYS = {"tiny": (0, 0), "easy": (0, 0), "medium": (2, 4), "hard": (6, 14)}
TABLES = (50, 55, 60, 60, 70, 80, 90, 100, 120, 150, 200, 300, 400)
"""Table counts from which that of a hard schema is drawn."""

_ENDINGS = ("_2019_bak", "_old", "_copy", "_2021_archive", "_bak2", "_20220301", "_legacy")
_VIEWS = ("v_{}_tmp", "tmp_{}", "stg_{}", "x_{}")
_OFFICES = ("", "eu_", "us_", "apac_", "hq_")


def decoys(
    tables: Sequence[Table], level: Level, namer: Namer, rng: np.random.Generator
) -> list[Table]:
    """Return near-copies of some tables, without foreign keys, sometimes one column short."""
    least, most = DECOYS[level]
    number = least + int(rng.integers(most - least + 1))
    bases = [table for table in tables if table.scale != "lookup"]
    copies: list[Table] = []
    for index in range(number):
        base = bases[int(rng.integers(len(bases)))]
        if rng.random() < 0.65:
            name = base.name + _ENDINGS[int(rng.integers(len(_ENDINGS)))]
        else:
            name = _VIEWS[index % len(_VIEWS)].format(base.name)
        if name.lower() not in namer.taken:
            namer.taken.add(name.lower())
            copies.append(_copy(base, name, rng))
    return copies


def _copy(base: Table, name: str, rng: np.random.Generator) -> Table:
    kept = base.columns[:-1] if len(base.columns) > 4 and rng.random() < 0.4 else base.columns
    columns = tuple(replace(c, references=None, unique=False, law=Law("none")) for c in kept)
    names = {column.name for column in columns}
    return replace(
        base, name=name, columns=columns, decoy=True, copy_of=base.name, primary_key=(),
        natural_key=None, soft_delete=base.soft_delete if base.soft_delete in names else None,
    )  # fmt: skip


def departments(own: str, wanted: int, namer: Namer, rng: np.random.Generator) -> list[Table]:
    """Return up to `wanted` tables of other industries, each with its department's prefix."""
    names = [name for name in sorted(DOMAINS) if name != own]
    tables: list[Table] = []
    for office in _OFFICES:
        for index in rng.permutation(len(names)):
            if len(tables) >= wanted:
                return tables[:wanted]
            name = names[int(index)]
            prefix = office + name[:3] + "_"
            growth = Growth(namer, "hard", rng, prefix, core=False)
            tables.extend(grow(DOMAINS[name], growth))
    return tables[:wanted]
