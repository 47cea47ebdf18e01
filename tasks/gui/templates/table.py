"""Registry of templates by name and by level."""

from functools import cache

from hexathlon.tasks.gui.templates import (
    accounts,
    appointments,
    correspondence,
    days,
    errands,
    first_taps,
    home_life,
    household,
    leisure,
    media,
    money,
    money_across,
    office,
    outings,
    page_switches,
    people,
    places,
    routines,
    settings,
    texts,
)
from hexathlon.tasks.gui.templates.draft import GuiTemplate
from hexathlon.tasks.gui.templates.shifts import templates as shifts
from hexathlon.tasks.task import LEVELS, Level

__all__ = ["TEMPLATES", "templates_of"]

_MODULES = (
    first_taps,
    people,
    settings,
    texts,
    correspondence,
    appointments,
    household,
    places,
    routines,
    errands,
    days,
    media,
    money,
    money_across,
    office,
    accounts,
    outings,
    leisure,
    home_life,
    shifts,
    page_switches,
)

TEMPLATES: dict[str, GuiTemplate] = {
    template.name: template for module in _MODULES for template in module.TEMPLATES
}


@cache
def templates_of(level: Level) -> tuple[str, ...]:
    """Return the names of the templates with tasks of a level, in a fixed order."""
    assert level in LEVELS
    return tuple(name for name, template in TEMPLATES.items() if level in template.levels)
