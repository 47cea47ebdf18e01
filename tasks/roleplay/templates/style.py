"""Style and format: several rules of speech at once, kept through every kind of turn."""

from collections.abc import Mapping, Sequence

from hexathlon.tasks.roleplay.stage import Order, Stage
from hexathlon.tasks.task import Level

__all__ = ["style"]

_COUNTS: Mapping[Level, int] = {"tiny": 1, "easy": 2, "medium": 4, "hard": 6}
_KINDS = (
    "closing", "address", "taboo", "opening", "spelled", "sentences", "no_question", "short",
    "no_exclamation",
)  # fmt: skip
_STRONG = 6
"""The first of these are what a plain reply breaks; every task has at least one of them."""

_QUESTIONS: Mapping[Level, Sequence[str]] = {
    "tiny": ("known", "contradicted", "omitted"),
    "easy": ("known", "life_year", "contradicted", "omitted"),
    "medium": ("known", "life_year", "contradicted", "foreign", "omitted"),
    "hard": ("known", "life_year", "world_contradicted", "contradicted", "beyond", "foreign"),
}


def style(order: Order) -> Stage:
    """Plain questions; the difficulty is in how they are answered."""
    count = _COUNTS[order.level]
    strong = [int(i) for i in order.rng.permutation(_STRONG)[: max(1, count * 2 // 3)]]
    weak = [i for i in range(len(_KINDS)) if i not in strong and i >= _STRONG]
    more = [weak[int(i)] for i in order.rng.permutation(len(weak))[: count - len(strong)]]
    stage = Stage.opened(order, rules=[_KINDS[i] for i in sorted([*strong, *more])])
    questions = stage.ask(*_QUESTIONS[order.level], about="style")
    stage.beats = stage.shuffled(questions)
    stage.led_in()
    return stage
