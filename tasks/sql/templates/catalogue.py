"""All templates: importing this module registers them, in a fixed order."""

from hexathlon.tasks.sql.templates import draft, groups
from hexathlon.tasks.sql.templates.draft import Template

__all__ = ["templates"]

_MODULES = (groups,)


def templates() -> tuple[Template, ...]:
    """Every template, in the order in which the modules name them."""
    return tuple(draft.registered())
