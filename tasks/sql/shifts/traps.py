"""Kinds of traps, none of which a ticket mentions, and the draw of those of a day."""

from collections.abc import Mapping

from hexathlon.tasks.sql.draws import ValueDraw
from hexathlon.tasks.task import Split

__all__ = ["DAMAGES", "HELD_OUT", "MISTAKES", "NEEDED", "TRAPS", "draw_traps"]

_DATA = (
    "unit_change", "late_rows", "soiled_keys", "superseded", "stale_view", "kept_kind",
    "app_unit", "soiled_holds",
)  # fmt: skip
_ROUTINES = (
    "step_limit", "rounding", "lock_undo", "cascade", "mirror", "fraction", "tombstones",
    "no_backdating", "pause_declines", "sibling_closed", "nightly_follow",
)  # fmt: skip
_BOOKS = ("tally", "log", "reported")
DAMAGES = (
    "feed_again", "price_sync", "crm_sync", "arrivals", "setting_reset", "history_reset",
    "reactivated", "offers_reset", "withdrawn_back", "results_trimmed",
)  # fmt: skip
"""Routines of colleagues after which something that an earlier ticket asked for does not hold."""
_ENTRIES = ("new_hold", "new_lift")
TRAPS = (*_DATA, *_ROUTINES, *_BOOKS, *DAMAGES, *_ENTRIES)
HELD_OUT = frozenset(
    {
        "late_rows", "kept_kind", "step_limit", "mirror", "tombstones", "pause_declines",
        "nightly_follow", "reported", "crm_sync", "reactivated", "offers_reset", "withdrawn_back",
    }
)  # fmt: skip
"""Kinds that never occur in the train split."""
NEEDED: Mapping[str, str] = {
    "step_limit": "prices",
    "rounding": "prices",
    "nightly_follow": "prices",
    "price_sync": "prices",
    "mirror": "delivery",
    "feed_again": "delivery",
    "tombstones": "withdraw_delivery",
    "withdrawn_back": "withdraw_delivery",
    "lock_undo": "moves",
    "cascade": "moves",
    "no_backdating": "moves",
    "crm_sync": "moves",
    "history_reset": "moves",
    "fraction": "setting",
    "sibling_closed": "setting",
    "setting_reset": "setting",
    "pause_declines": "twin",
    "reactivated": "twin",
    "offers_reset": "offers",
    "arrivals": "results",
    "results_trimmed": "results",
}
"""The ticket that a trap requires; a routine of colleagues runs after it."""
MISTAKES: Mapping[str, str] = {
    "soiled_holds": "hold_as_written",
    "step_limit": "price_as_it_came_out",
    "rounding": "price_as_it_came_out",
    "lock_undo": "locked_left",
    "cascade": "cascade_left",
    "mirror": "copies_left",
    "fraction": "fraction_left",
    "tombstones": "tombstones_left",
    "no_backdating": "backdated_left",
    "pause_declines": "declined_left",
    "sibling_closed": "sibling_left",
    "nightly_follow": "nightly_left",
    "new_hold": "new_hold_missed",
    "new_lift": "twin_refused",
    **{book: f"{book}_left" for book in _BOOKS},
    **{job: f"{job}_left" for job in DAMAGES},
}
"""The mistake of overlooking a trap; those without one change the first figure."""
_LEAST, _MOST = 14, 16
_GROUPS = ((_DATA, 3, 5), (_ROUTINES, 4, 5), (_BOOKS, 2, 2), (DAMAGES, 5, 6))
"""Kinds, with the fewest and the most of them on a day."""


def draw_traps(draw: ValueDraw, split: Split) -> frozenset[str]:
    """Draw 14 to 17 traps, five or six of which come after the ticket that they damage."""
    left = draw.between(_LEAST, _MOST) - sum(least for _, least, _ in _GROUPS)
    chosen: set[str] = set()
    for place in draw.sample(range(len(_GROUPS)), len(_GROUPS)):
        kinds, least, most = _GROUPS[place]
        more = min(left, most - least)
        left -= more
        fit = [kind for kind in kinds if split != "train" or kind not in HELD_OUT]
        drawn = draw.sample(fit, least + more)
        if {"step_limit", "rounding"} <= set(drawn):
            spare = [kind for kind in fit if kind not in drawn]
            drawn[drawn.index("rounding")] = draw.pick(spare)
        chosen.update(drawn)
    if draw.chance(0.6):
        chosen.add(draw.pick(_ENTRIES))
    return frozenset(chosen)
