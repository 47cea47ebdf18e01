"""Naming styles of schemas, one per schema, from plain words to cryptic abbreviations.

Every name is an identifier that needs no quotes and is not a keyword of SQLite, PostgreSQL or
DuckDB.
"""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

LetterCase = Literal["snake", "camel", "pascal"]

ABBREVIATIONS = {
    "account": "acct", "address": "addr", "amount": "amt", "balance": "bal", "building": "bldg",
    "category": "ctg", "code": "cd", "count": "cnt", "country": "ctry", "customer": "cst",
    "date": "dt", "department": "dept", "description": "descr", "discount": "disc",
    "employee": "emp", "flag": "fl", "group": "grp", "id": "id", "invoice": "inv", "level": "lvl",
    "line": "ln", "manager": "mgr", "member": "mbr", "monthly": "mth", "name": "nm",
    "number": "no", "order": "ord", "patient": "pat", "payment": "pmt", "percentage": "pct",
    "price": "prc", "product": "prd", "quantity": "qty", "rating": "rtg", "reference": "ref",
    "region": "rgn", "remark": "rmk", "salary": "sal", "segment": "seg", "status": "stat",
    "student": "stu", "supplier": "sup", "ticket": "tkt", "transaction": "txn", "type": "typ",
    "unit": "un", "vehicle": "veh", "version": "ver", "warehouse": "whs", "weight": "wgt",
    "year": "yr",
}  # fmt: skip

KEYWORDS = frozenset(
    """
    abort action add after all alter always analyse analyze and any array as asc asof attach
    authorization autoincrement before begin between binary both by cascade case cast check collate
    collation column commit concurrently conflict constraint create cross current default
    deferrable deferred delete desc describe detach distinct do drop each else end escape except
    exclude exclusive exists explain fail false fetch filter first following for foreign freeze
    from full generated glob grant group groups having if ignore ilike immediate in index indexed
    initially inner insert instead intersect into is isnull join key lambda last lateral leading
    left like limit localtime localtimestamp match materialized natural no not nothing notnull null
    nulls of offset on only or order others outer over overlaps partition pivot pivot_longer
    pivot_wider placing plan positional pragma preceding primary qualify query raise range
    recursive references regexp reindex release rename replace restrict returning right rollback
    row rows savepoint select semi anti session_user set show similar some summarize symmetric
    table tablesample temp temporary then ties to trailing transaction trigger true unbounded union
    unique unpivot update user using vacuum values variadic verbose view virtual when where window
    with within without
    """.split()
)


@dataclass
class Namer:
    """Assigns unique names to tables, and to columns within a table."""

    case: LetterCase = "snake"
    cryptic: bool = False
    plural: bool = True
    table_prefix: str = ""
    """Prefix of every table name, for example `crm_`."""
    column_prefix: bool = False
    """Whether column names are prefixed with letters of the table's name."""
    long_keys: bool = False
    """Whether the key of `customer` is `customer_id` rather than `id`."""
    taken: set[str] = field(default_factory=set)

    def table(self, noun: str, plural: str, prefix: str = "") -> str:
        """Return a table name not yet used in this schema."""
        words = plural if self.plural and not self.cryptic else noun
        return _free(self.table_prefix + prefix + self.spell(words), self.taken, "_tbl")

    def column(self, words: str, noun: str, taken: set[str]) -> str:
        """Return a column name that is not in `taken`, and add it there."""
        start = f"{_letters(noun)} " if self.column_prefix else ""
        return _free(self.spell(start + words), taken, "_val")

    def key(self, noun: str, taken: set[str]) -> str:
        """Return the name of a table's key column."""
        return self.column(f"{noun} id" if self.long_keys else "id", noun, taken)

    def spell(self, words: str) -> str:
        """Join words into one identifier."""
        parts = words.lower().replace("-", " ").split()
        if self.cryptic:
            parts = [abbreviate(part) for part in parts]
        if self.case == "snake":
            return "_".join(parts)
        joined = "".join(part.capitalize() for part in parts)
        return joined if self.case == "pascal" else joined[:1].lower() + joined[1:]


def namer_for(level: str, rng: np.random.Generator) -> Namer:
    """Draw a style for the level."""
    cryptic = {"tiny": 0.0, "easy": 0.0, "medium": 0.35, "hard": 0.75}[level]
    case: LetterCase = ("snake", "snake", "camel", "pascal")[int(rng.integers(4))]
    prefixes = ("", "", "", "t_", "tbl_")
    plain = level in ("tiny", "easy")
    return Namer(
        case=case,
        cryptic=bool(rng.random() < cryptic),
        plural=bool(rng.random() < 0.6),
        table_prefix="" if plain else prefixes[int(rng.integers(len(prefixes)))],
        column_prefix=bool(not plain and rng.random() < 0.3),
        long_keys=bool(rng.random() < 0.5),
    )


def abbreviate(word: str) -> str:
    """Abbreviate a word as in a legacy database: `customer` becomes `cst`."""
    if word in ABBREVIATIONS:
        return ABBREVIATIONS[word]
    if len(word) <= 4:
        return word
    return (word[0] + "".join(letter for letter in word[1:] if letter not in "aeiou"))[:4]


def _letters(noun: str) -> str:
    return "".join(word[:3] for word in noun.lower().split())[:4]


def _free(name: str, taken: set[str], ending: str) -> str:
    candidate = name + ending if name.lower() in KEYWORDS else name
    number = 2
    while candidate.lower() in taken:
        candidate = f"{name}_{number}"
        number += 1
    taken.add(candidate.lower())
    return candidate
