"""All templates: importing this module registers them in a fixed order."""

import importlib

from hexathlon.tasks.sql.templates import draft
from hexathlon.tasks.sql.templates.draft import Template

__all__ = ["templates"]

_MODULES = (
    "rows",
    "groups",
    "partners",
    "windows",
    "dates",
    "sets",
    "nested",
    "asking",
    "impossible",
)


def templates() -> tuple[Template, ...]:
    """Return every template, in order of registration."""
    for name in _MODULES:
        importlib.import_module(f"hexathlon.tasks.sql.templates.{name}")
    return tuple(draft.registered())
