"""Construction of a dialogue task: card, rules, secrets, beats and the visitor."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from hexathlon.tasks.bilingual import Language
from hexathlon.tasks.roleplay.asking import Asker
from hexathlon.tasks.roleplay.beat import Beat
from hexathlon.tasks.roleplay.card import NothingLeft, Pools, draw_card, fill, table
from hexathlon.tasks.roleplay.lexicon import SETTINGS
from hexathlon.tasks.roleplay.voice import draw_rules
from hexathlon.tasks.task import Level, Split

__all__ = ["MANNERS", "Stage", "TaskSpec"]

MANNERS: tuple[str, ...] = ("plain", "courteous", "gruff", "chatty")
"""Visitors' manners of speech, except those reserved for shifted tasks."""

_TOLD: Mapping[Level, int] = {"tiny": 5, "easy": 7, "medium": 8, "hard": 10}
_RULES: Mapping[Level, int] = {"tiny": 0, "easy": 0, "medium": 1, "hard": 2}
_PLAIN_RULES = ("closing", "address", "no_exclamation")


class TaskSpec(NamedTuple):
    """The specification from which a task is drawn."""

    template: str
    level: Level
    split: Split
    language: Language
    rng: np.random.Generator
    settings: Sequence[str] = SETTINGS
    manners: Sequence[str] = MANNERS
    composition: str = "usual"
    """`usual` mixes the beats; `blocks` groups them by act, with asides in between."""

    twin: bool = False
    """Whether to draw the second of two tasks that differ only in the deciding fact."""


@dataclass
class Stage:
    """A task under construction."""

    order: TaskSpec
    card: dict[str, Any]
    pools: Pools
    asker: Asker
    manner: str
    beats: list[Beat] = field(default_factory=list)
    rules: list[dict[str, Any]] = field(default_factory=list)
    secrets: list[dict[str, Any]] = field(default_factory=list)
    slots: dict[str, Any] = field(default_factory=dict)
    """The visitor's own facts, given when asked."""

    choice_words: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """The character's options, by kind."""

    @classmethod
    def opened(
        cls,
        order: TaskSpec,
        *,
        told: int | None = None,
        rules: Sequence[str] | None = None,
        must: Sequence[str] = (),
    ) -> "Stage":
        """Draw the card, its speech rules and the visitor.

        Args:
            order: The specification of the task.
            told: Number of attributes on the card; None selects the level's default.
            rules: Kinds of rules; None selects the level's default.
            must: Attributes that the card must state.
        """
        rng = order.rng
        key = order.settings[int(rng.integers(len(order.settings)))]
        count = _TOLD[order.level] if told is None else told
        manner = order.manners[int(rng.integers(len(order.manners)))]
        # The card has its own random stream, so that a different world leaves everything else
        # unchanged.
        own = np.random.Generator(np.random.PCG64(int(rng.integers(1 << 62))))
        card, pools = draw_card(key, order.split, order.language, own, count, (*must, "home"))
        stage = cls(order, card, pools, Asker(card, pools, rng, order.level), manner)
        if rules is None:
            chosen = rng.permutation(len(_PLAIN_RULES))[: _RULES[order.level]]
            rules = [_PLAIN_RULES[int(i)] for i in sorted(chosen)]
        stage.rules = draw_rules(rules, key, order.language, rng, _needed(card))
        return stage

    @property
    def level(self) -> Level:
        """The task's level."""
        return self.order.level

    @property
    def language(self) -> Language:
        """The task's language."""
        return self.order.language

    @property
    def rng(self) -> np.random.Generator:
        """The task's random generator."""
        return self.order.rng

    def pick(self, options: Sequence[Any]) -> Any:
        """Draw one of several options."""
        return options[int(self.rng.integers(len(options)))]

    def some(self, options: Sequence[Any], count: int) -> list[Any]:
        """Draw several distinct options."""
        return [options[int(i)] for i in self.rng.permutation(len(options))[:count]]

    def ask(self, *makers: str, about: str = "knowledge") -> list[Beat]:
        """Create beats by `Asker` method names, with a plain question for exhausted methods.

        Raises:
            NothingLeft: If both a method and the plain question in its place are exhausted.
        """
        made = []
        for maker in makers:
            try:
                beat: Beat = getattr(self.asker, maker)()
            except NothingLeft:
                beat = self.asker.known()
            made.append(_about(beat, about))
        return made

    def varied(self, makers: Sequence[str]) -> list[str]:
        """Return the methods with some of them asked more often or left out, except at `tiny`."""
        if self.level == "tiny":
            return list(makers)
        count = len(makers) + int(self.rng.integers(-1, 2))
        drawn = [str(self.pick(makers)) for _ in makers]
        return [*self.some(makers, len(makers) - 1), *drawn][: max(2, count)]

    def shuffled(self, beats: Sequence[Beat]) -> list[Beat]:
        """Return the beats in the order that the composition specifies."""
        mixed = [beats[int(i)] for i in self.rng.permutation(len(beats))]
        if self.order.composition == "usual":
            return mixed
        blocks: list[Beat] = []
        for beat in sorted(mixed, key=lambda beat: beat.act):
            if blocks and blocks[-1].act != beat.act:
                blocks.append(self._aside())
            blocks.append(beat)
        return blocks

    def _aside(self) -> Beat:
        line = fill(self.pick(table("visitor")["asides"]["lines"]), self.language, {})
        return Beat(line, "say", about="aside")

    def led_in(self) -> None:
        """Add lead-ins to lines, in the visitor's manner of speech."""
        leads = table("visitor")["manners"][self.manner]["lead"]
        asked = [place for place, beat in enumerate(self.beats) if _asks(beat)]
        chosen = self.some(asked, min(len(leads), 1 + len(asked) // 2))
        for place, lead in zip(chosen, self.some(leads, len(chosen)), strict=True):
            self.beats[place] = self.beats[place].led_in(fill(lead, self.language, {}))

    def rules_at(self, place: int) -> list[dict[str, Any]]:
        """Return the speech rules in force for a beat."""
        return [r for r in self.rules if r.get("from", 0) <= place < r.get("until", 1 << 30)]


def _asks(beat: Beat) -> bool:
    return beat.line.endswith(("?", "？")) and not beat.line.startswith(('"', "“"))


def _about(beat: Beat, about: str) -> Beat:
    return replace(beat, about=about)


def _needed(card: Mapping[str, Any]) -> str:
    """Return everything that a reply may have to name, so that no rule forbids it."""
    names = [event["name"] for event in (*card["world"], *card["later"], *card["rulers"])]
    return " ".join(map(str, [card["name"], *card["attributes"].values(), *names]))
