"""All templates: importing this module registers them in a fixed order."""

import importlib

from hexathlon.tasks.sql.templates.draft import QueryTemplate, registered

__all__ = ["all_templates"]

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


def all_templates() -> dict[str, QueryTemplate]:
    """Every template by name, in the order in which the modules name them."""
    for name in _MODULES:
        importlib.import_module(f"hexathlon.tasks.sql.templates.{name}")
    return {item.name: item for item in registered()}
