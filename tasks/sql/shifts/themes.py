"""Trades of a shift's own tables: their nouns, and the names of tables and columns.

The statements of a shift are written once, with roles in place of names: `@item` stands for a table
and `@item.booked` for the name of one of its columns.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from hexathlon.tasks.sql.naming import namer_for

__all__ = ["THEMES", "Names", "Theme", "names_for"]


@dataclass(frozen=True, slots=True)
class Theme:
    """The words of one trade."""

    name: str
    story: str
    account: tuple[str, str]
    """Singular and plural of what belongs to an entity of the world, with a class and a region."""
    item: tuple[str, str]
    """What is delivered to an account and has a quantity."""
    kinds: tuple[str, ...]
    classes: tuple[str, str, str]
    class_word: str
    region: tuple[str, str]
    done: str
    """The date of delivery, beside the date of booking."""
    unit: tuple[str, str, int, str]
    """Unit of quantities, the former smaller unit, the factor between them, and the unit's
    singular."""
    offer: tuple[str, str]
    loads: tuple[str, str]
    prefix: str
    """Letters of account numbers."""


THEMES: Mapping[str, Theme] = {
    each.name: each
    for each in (
        Theme(
            "service", "You are the analyst of a maintenance firm's contract office for one day.",
            ("contract", "contracts"), ("visit", "visits"),
            ("inspection", "repair", "cleaning", "fitting", "advice"),
            ("basic", "plus", "premier"), "tier", ("district", "districts"), "visit date",
            ("hours", "minutes", 60, "hour"), ("job", "jobs"), ("crew hours", "van days"), "CT",
        ),
        Theme(
            "storage", "You are the analyst of a storage company's billing desk for one day.",
            ("account", "accounts"), ("movement", "movements"),
            ("inbound", "outbound", "repacking", "labelling", "transfer"),
            ("small", "standard", "large"), "size class", ("site area", "site areas"),
            "movement date", ("dozens", "pieces", 12, "dozen"), ("campaign", "campaigns"),
            ("dock hours", "floor places"), "AC",
        ),
        Theme(
            "transport", "You are the analyst of a haulier's tariff office for one day.",
            ("agreement", "agreements"), ("load", "loads"),
            ("bulk", "chilled", "parcel", "tanker", "return"),
            ("spot", "regular", "partner"), "grade", ("lane", "lanes"), "delivery date",
            ("tonnes", "kilograms", 1000, "tonne"), ("tour", "tours"),
            ("driver hours", "axle places"), "AG",
        ),
        Theme(
            "rental", "You are the analyst of an equipment hire company for one day.",
            ("lease", "leases"), ("hire", "hires"),
            ("crane", "generator", "scaffold", "digger", "pump"),
            ("casual", "regular", "fleet"), "band", ("yard", "yards"), "return date",
            ("days", "hours", 24, "day"), ("project", "projects"),
            ("truck trips", "fitter days"), "LS",
        ),
        Theme(
            "lab", "You are the analyst of a laboratory's order office for one day.",
            ("standing order", "standing orders"), ("analysis", "analyses"),
            ("water", "soil", "blood", "alloy", "air"),
            ("single", "series", "priority"), "plan", ("branch", "branches"), "result date",
            ("batches", "samples", 12, "batch"), ("study", "studies"),
            ("bench hours", "freezer places"),
            "SO",
        ),
    )
}  # fmt: skip

_COLUMNS = {
    "region": {"code": "{region} code", "name": "{region} name", "opened": "opening date"},
    "account": {
        "no": "{account} number", "holder": "holder id", "region": "{region} code",
        "cls": "{class}", "status": "status", "opened": "opening date", "locked": "locked",
    },
    "history": {
        "no": "{account} number", "cls": "{class}", "first": "valid from", "last": "valid until",
    },
    "item": {
        "id": "{item} id", "no": "{account} number", "kind": "{item} kind",
        "booked": "booking date", "done": "{done}", "entered": "entry date", "qty": "quantity",
        "state": "state", "by": "replaced by", "source": "source",
    },
    "price": {
        "kind": "{item} kind", "region": "{region} code", "first": "valid from",
        "last": "valid until", "price": "price",
    },
    "setting": {
        "name": "setting", "value": "amount", "first": "valid from", "last": "valid until",
        "memo": "decision",
    },
    "period": {"month": "period month", "closed": "closing date"},
    "register": {
        "entry": "entry number", "what": "entry kind", "no": "{account} number",
        "day": "entry date", "author": "author", "refers": "refers to",
    },
    "officer": {
        "name": "officer", "region": "{region} code", "first": "valid from", "last": "valid until",
    },
    "offer": {
        "offer": "{offer} number", "no": "{account} number", "a": "{load_a}", "b": "{load_b}",
        "worth": "margin", "state": "state",
    },
    "stage": {
        "line": "line number", "no": "{account}", "kind": "kind", "booked": "booked",
        "done": "done", "qty": "quantity", "unit": "unit",
    },
    "list": {
        "line": "line number", "kind": "kind", "region": "{region}", "first": "starts",
        "price": "new price",
    },
    "tally": {"no": "{account} number", "rows": "row count"},
    "log": {
        "no": "{account} number", "was": "former value", "became": "new value",
        "day": "change date",
    },
    "reported": {"day": "report date", "ticket": "ticket number", "value": "amount"},
}  # fmt: skip
_COLUMNS["nightly"] = _COLUMNS["price"]
_TABLES = {
    "region": ("{region}", "{regions}"),
    "account": ("{account}", "{accounts}"),
    "history": ("{account} {class} history", "{account} {class} history"),
    "item": ("{item}", "{items}"),
    "price": ("price", "prices"),
    "nightly": ("price nightly", "prices nightly"),
    "setting": ("billing setting", "billing settings"),
    "period": ("billing period", "billing periods"),
    "register": ("hold register", "hold register"),
    "officer": ("register officer", "register officers"),
    "offer": ("{offer}", "{offers}"),
    "stage": ("delivery line", "delivery lines"),
    "list": ("price list line", "price list lines"),
    "view": ("counted {item}", "counted {items}"),
    "tally": ("{account} total", "{account} totals"),
    "log": ("{account} change", "{account} changes"),
    "reported": ("reported figure", "reported figures"),
}
_ROLE = re.compile(r"@([a-z]+)(?:\.([a-z]+))?")


@dataclass(frozen=True, slots=True)
class Names:
    """The identifiers of one day's tables and columns."""

    tables: Mapping[str, str]
    columns: Mapping[str, Mapping[str, str]]

    def __call__(self, text: str) -> str:
        """Return a text with names in place of roles."""
        return _ROLE.sub(
            lambda match: self.columns[match[1]][match[2]] if match[2] else self.tables[match[1]],
            text,
        )


def names_for(theme: Theme, taken: Iterable[str], rng: np.random.Generator) -> Names:
    """Draw a style of names and return the identifiers, none of which is in `taken`."""
    namer = namer_for("medium", rng)
    namer.taken.update(name.lower() for name in taken)
    words = {
        "region": theme.region[0], "regions": theme.region[1],
        "account": theme.account[0], "accounts": theme.account[1],
        "item": theme.item[0], "items": theme.item[1], "class": theme.class_word,
        "offer": theme.offer[0], "offers": theme.offer[1], "done": theme.done,
        "load_a": theme.loads[0], "load_b": theme.loads[1],
    }  # fmt: skip
    tables = {
        role: namer.table(noun.format(**words), plural.format(**words))
        for role, (noun, plural) in _TABLES.items()
    }
    columns: dict[str, dict[str, str]] = {}
    for role, own in _COLUMNS.items():
        used: set[str] = set()
        noun = _TABLES[role][0].format(**words)
        columns[role] = {
            key: namer.column(word.format(**words), noun, used) for key, word in own.items()
        }
    columns["nightly"] = columns["price"]
    return Names(tables, columns)
