"""Registry of templates by name."""

from collections.abc import Callable, Mapping

from hexathlon.tasks.roleplay.game import Game
from hexathlon.tasks.roleplay.stage import Stage, TaskSpec
from hexathlon.tasks.roleplay.templates.bargain import bargain
from hexathlon.tasks.roleplay.templates.boundary import boundary, timepoint
from hexathlon.tasks.roleplay.templates.consistency import consistency
from hexathlon.tasks.roleplay.templates.inquiry import inquiry
from hexathlon.tasks.roleplay.templates.memory import memory
from hexathlon.tasks.roleplay.templates.priority import priority
from hexathlon.tasks.roleplay.templates.secrets import secrets
from hexathlon.tasks.roleplay.templates.style import style

__all__ = ["DIALOGUES", "GAMES", "TWINS"]

DIALOGUES: Mapping[str, Callable[[TaskSpec], Stage]] = {
    "boundary": boundary,
    "timepoint": timepoint,
    "memory": memory,
    "secret": secrets,
    "style": style,
    "priority": priority,
    "consistency": consistency,
}
"""Templates whose tasks are dialogues made of beats."""

GAMES: Mapping[str, Callable[[TaskSpec], Game]] = {"negotiation": bargain, "interrogation": inquiry}
"""Templates whose tasks are games with a pay-off."""

TWINS = ("negotiation",)
"""Templates whose tasks come in pairs, one feasible and one infeasible."""
