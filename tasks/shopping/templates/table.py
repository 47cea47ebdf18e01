"""Registry of templates by name, with the levels of each."""

from collections.abc import Callable
from functools import cache, partial
from typing import NamedTuple

from hexathlon.tasks.shopping.scene import ShoppingScene
from hexathlon.tasks.shopping.templates.budget import BUDGETS
from hexathlon.tasks.shopping.templates.case import ServiceCase
from hexathlon.tasks.shopping.templates.dialogue import DIALOGUES
from hexathlon.tasks.shopping.templates.draft import ShoppingDraft
from hexathlon.tasks.shopping.templates.household.compose import (
    HOUSEHOLDS,
    HouseDraft,
    compose_household,
)
from hexathlon.tasks.shopping.templates.impossible import IMPOSSIBLE
from hexathlon.tasks.shopping.templates.personal import PERSONAL
from hexathlon.tasks.shopping.templates.purchase import PURCHASES
from hexathlon.tasks.shopping.templates.service import SERVICE_DIALOGUES, SERVICES
from hexathlon.tasks.shopping.templates.shifts.compose import SHIFTS, ShiftDraft, compose_shift
from hexathlon.tasks.shopping.templates.talks.compose import TALKS, TalkDraft, compose_talk
from hexathlon.tasks.task import Level

__all__ = ["TEMPLATES", "ShoppingTemplate", "groups_of", "templates_of"]


class ShoppingTemplate(NamedTuple):
    """A kind of task."""

    make: Callable[
        [ShoppingScene], ShoppingDraft | ServiceCase | ShiftDraft | HouseDraft | TalkDraft | None
    ]
    twins: bool = False
    levels: tuple[Level, ...] = ("tiny", "easy", "medium")
    """At `hard`, only grouped templates exist: one condition or one twist does not decide there."""

    dialogue: bool = False
    """Whether a service case is played in dialogue; purchases set this themselves."""

    group: str = ""
    """Group of templates with several requests or issues; empty for all others."""


_PLAIN: dict[str, ShoppingTemplate] = {
    **{name: ShoppingTemplate(make) for name, make in PURCHASES.items()},
    # In the shop's own words, the words of a request alone lead to the target.
    "exact": ShoppingTemplate(PURCHASES["exact"], levels=("tiny", "easy")),
    "far_page": ShoppingTemplate(PURCHASES["far_page"], levels=("medium",)),
    **{name: ShoppingTemplate(make, twins=True) for name, make in PERSONAL.items()},
    **{
        name: ShoppingTemplate(make, twins=name not in ("dialogue_ask", "dialogue_hidden"))
        for name, make in DIALOGUES.items()
    },
    **{
        name: ShoppingTemplate(make, twins=name == "delivery_choice")
        for name, make in BUDGETS.items()
    },
    **{name: ShoppingTemplate(make, twins=True) for name, make in IMPOSSIBLE.items()},
    **{
        name: ShoppingTemplate(make, twins=name != "two_requests")
        for name, make in SERVICES.items()
    },
    "two_requests": ShoppingTemplate(SERVICES["two_requests"], levels=("easy", "medium")),
    **{
        name: ShoppingTemplate(make, twins=True, dialogue=True)
        for name, make in SERVICE_DIALOGUES.items()
    },
}
_GROUPED: dict[str, ShoppingTemplate] = {
    **{
        name: ShoppingTemplate(
            partial(compose_shift, template=name), levels=("hard",), group="shift"
        )
        for name in SHIFTS
    },
    **{
        name: ShoppingTemplate(
            partial(compose_household, template=name),
            levels=("medium", "hard") if name.startswith("month_") else ("medium",),
            group=name.partition("_")[0],
        )
        for name in HOUSEHOLDS
    },
    **{
        name: ShoppingTemplate(
            partial(compose_talk, template=name), levels=("medium",), group="talk"
        )
        for name in TALKS
    },
}

TEMPLATES: dict[str, ShoppingTemplate] = {**_PLAIN, **_GROUPED}


@cache
def groups_of(level: Level) -> tuple[tuple[str, ...], ...]:
    """Return the grouped templates of a level, by group in a fixed order.

    At `hard`, each kind of month is a group of its own: months are harder than shifts.
    """
    groups: dict[str, list[str]] = {}
    for name, template in _GROUPED.items():
        if level in template.levels:
            alone = level == "hard" and template.group == "month"
            groups.setdefault(name if alone else template.group, []).append(name)
    return tuple(tuple(names) for names in groups.values())


@cache
def templates_of(level: Level) -> tuple[str, ...]:
    """Return the templates of a level, in a fixed order."""
    return tuple(name for name, template in TEMPLATES.items() if level in template.levels)
