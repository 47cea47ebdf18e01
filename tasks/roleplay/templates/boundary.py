"""Knowledge boundary and time-point characters: answer, correct or refuse for the right reason."""

from collections.abc import Mapping, Sequence

from hexathlon.tasks.roleplay.stage import Stage, TaskSpec
from hexathlon.tasks.task import Level

__all__ = ["boundary", "timepoint"]

_BOUNDARY: Mapping[Level, Sequence[str]] = {
    "tiny": ("known", "contradicted", "omitted"),
    "easy": ("known", "confirmed", "contradicted", "omitted", "foreign"),
    "medium": (
        "known", "confirmed", "contradicted", "presupposed", "omitted", "omitted_claim", "foreign",
    ),
    "hard": (
        "known", "confirmed", "confirmed", "contradicted", "contradicted", "presupposed", "beyond",
        "omitted", "omitted_claim", "foreign", "world_omitted",
    ),
}  # fmt: skip
_TIMEPOINT: Mapping[Level, Sequence[str]] = {
    "tiny": ("life_year", "later_year", "world_contradicted"),
    "easy": ("world_year", "later_year", "life_contradicted", "ruler_after", "known"),
    "medium": (
        "age", "world_confirmed", "later_confirmed", "later_year", "life_contradicted",
        "next_ruler", "ruler_at",
    ),
    "hard": (
        "age_contradicted", "age_at", "gap", "later_confirmed", "later_year", "life_presupposed",
        "next_ruler", "ruler_at", "ruler_contradicted", "world_omitted", "world_presupposed",
    ),
}  # fmt: skip


def boundary(order: TaskSpec) -> Stage:
    """Ask questions that the card answers, contradicts or leaves open."""
    stage = Stage.opened(order)
    stage.beats = stage.shuffled(stage.ask(*stage.varied(_BOUNDARY[order.level]), about="boundary"))
    stage.led_in()
    return stage


def timepoint(order: TaskSpec) -> Stage:
    """Ask about times before and after the character's present; future events are on the card."""
    stage = Stage.opened(order, must=("birth_year",))
    stage.card["show_later"] = True
    stage.beats = stage.shuffled(
        stage.ask(*stage.varied(_TIMEPOINT[order.level]), about="timepoint")
    )
    stage.led_in()
    return stage
