"""Registry of desktop templates by name, with the levels of each."""

from functools import cache

from hexathlon.tasks.gui.desktop.draft import DesktopTemplate
from hexathlon.tasks.gui.desktop.templates import (
    across,
    books,
    editor,
    folders,
    pages,
    pictures,
    sheets,
)
from hexathlon.tasks.task import Level

__all__ = ["TEMPLATES", "templates_of"]

TEMPLATES: dict[str, DesktopTemplate] = {
    template.name: template
    for module in (editor, sheets, folders, books, pages, pictures, across)
    for template in module.TEMPLATES
}


@cache
def templates_of(level: Level) -> tuple[str, ...]:
    """Return the names of the templates with tasks of a level."""
    return tuple(name for name, template in TEMPLATES.items() if level in template.levels)
