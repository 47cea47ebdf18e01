"""Style and format: several speech rules at once, applied in every kind of turn."""

from collections.abc import Mapping, Sequence

from hexathlon.tasks.roleplay.stage import Stage, TaskSpec
from hexathlon.tasks.task import Level

__all__ = ["style"]

_COUNTS: Mapping[Level, int] = {"tiny": 1, "easy": 2, "medium": 4, "hard": 6}
_KINDS = (
    "closing", "address", "taboo", "opening", "spelled", "sentences", "no_question", "short",
    "no_exclamation",
)  # fmt: skip
_STRONG = 6
"""Number of leading rules that a plain reply breaks; every task has at least one of them."""

_QUESTIONS: Mapping[Level, Sequence[str]] = {
    "tiny": ("known", "contradicted", "omitted"),
    "easy": ("known", "life_year", "contradicted", "omitted"),
    "medium": ("known", "life_year", "contradicted", "foreign", "omitted"),
    "hard": ("known", "life_year", "world_contradicted", "contradicted", "beyond", "foreign"),
}


def style(order: TaskSpec) -> Stage:
    """Ask plain questions; the difficulty lies in the style of the replies."""
    count = _COUNTS[order.level]
    strong = [int(i) for i in order.rng.permutation(_STRONG)[: max(1, count * 2 // 3)]]
    weak = [i for i in range(len(_KINDS)) if i not in strong and i >= _STRONG]
    more = [weak[int(i)] for i in order.rng.permutation(len(weak))[: count - len(strong)]]
    stage = Stage.opened(order, rules=[_KINDS[i] for i in sorted([*strong, *more])])
    questions = stage.ask(*stage.varied(_QUESTIONS[order.level]), about="style")
    stage.beats = stage.shuffled(questions)
    stage.led_in()
    return stage
