"""A scene under construction: its figures, the moments of its threads, and what becomes due.

A moment is one line of a figure. Threads add moments with constraints on order and presence, things
that the character must do of its own accord (`Due`), and what must not reach other ears
(`Confidence`). `hexathlon.tasks.roleplay.scenes.order` draws the order.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hexathlon.tasks.bilingual import BilingualText
from hexathlon.tasks.roleplay.card import NothingLeft, fill, table
from hexathlon.tasks.roleplay.lexicon import person_name, setting, unseen
from hexathlon.tasks.roleplay.stage import Stage
from hexathlon.tasks.roleplay.text import found

__all__ = ["KEPT", "Confidence", "Due", "Figure", "Plot", "SceneMoment"]

_START = re.compile(r"(?<=[.?!] )[a-z]")
"""First letters of later sentences, where a value may stand; `fill` capitalises the first one."""

KEPT = ("secret", "against_my_rules")
"""Accepted reasons for declining what the character could do but must not."""


@dataclass(frozen=True)
class Figure:
    """Somebody who visits the character."""

    name: str
    given: str
    trade: str


@dataclass
class SceneMoment:
    """One line of a figure, and the acceptable responses."""

    key: str
    """`thread.line`; unique within a scene."""

    speaker: int
    line: str
    """Its text; `{other}` in it is the option that the character did not choose."""

    accept: Sequence[Mapping[str, Any]] = ()
    """Acceptable responses; empty if any will do."""

    asks: bool = True
    """Whether the line waits for one of the four responses."""

    company: tuple[int, ...] = ()
    """Figures that must be present beside the speaker."""

    absent: tuple[int, ...] = ()
    alone: bool = False
    """Whether nobody but the speaker and `company` may be present."""

    after: str = ""
    """Moment that must come before, at least `gap` places earlier."""

    gap: int = 1
    later: str = ""
    """Another moment that must come before."""

    until_bell: int = 0
    """Bell that must not have rung yet; 0 for no such limit."""

    from_bell: int = 0
    """Bell that must have rung; 0 for no such limit."""

    rings: int = 0
    """Bell that rings directly after this moment; 0 for none."""

    final: bool = False
    """Whether the speaker goes home afterwards."""

    narration: str = ""
    variants: Sequence[Mapping[str, Any]] = ()
    """Other texts of the line: `if` lists events that must have happened, `text` the line."""

    unless: str = ""
    """Event that makes the moment superfluous."""

    guess: bool = False
    """Whether the line guesses at something kept secret, which prose must not confirm or deny."""

    choice: Mapping[str, Any] = field(default_factory=dict)
    visits_of: int | None = None
    """Figure whose visits so far are asked for; the answer follows from the order."""

    @property
    def thread(self) -> str:
        """The kind of the thread."""
        return self.key.partition(".")[0]


@dataclass
class Due:
    """Something that the character does of its own accord."""

    thread: str
    act: str
    """`tell` or `give`."""

    to: int
    what: tuple[str, ...]
    """Accepted spellings of what is told or given."""

    at: str
    """Moment at which the occasion arises; the oracle does it there."""

    since: str
    """Moment from which on it may be done."""

    bell: int = 0
    """Bell before which it may not be done."""

    until: str = "end"
    """`visit` if it must be done before that figure next leaves, or `end`."""

    alone: bool = False
    price: int = 0
    settles: bool = False
    """Whether the line of `at` is settled by it."""


@dataclass
class Confidence:
    """Something that only some figures may hear."""

    thread: str
    values: tuple[str, ...]
    allowed: tuple[int, ...]
    since: str
    """Moment from which on it is a confidence; empty for the whole scene."""

    until: str = ""
    """Moment from which on it no longer is one; empty if it stays one."""


class Plot:
    """A scene under construction.

    Args:
        stage: Card, unused words and speech rules.
        count: Number of figures.
        namesakes: Whether the first two figures have the same given name.
    """

    def __init__(self, stage: Stage, count: int, namesakes: bool) -> None:
        self.stage, self.rng, self.language = stage, stage.rng, stage.language
        self.setting = setting(stage.card["setting"])
        self.currency = str(stage.card["words"]["currency"])
        self.figures = self._drawn_figures(count, namesakes)
        self.moments: list[SceneMoment] = []
        self.dues: list[Due] = []
        self.confidences: list[Confidence] = []
        self.goods: list[str] = []
        """Things that the character has from the beginning."""

        self.limits: dict[str, dict[int, int]] = {}
        """The largest amount that each buyer pays, by ware."""

        self.received: dict[str, str] = {}
        """Things left with the character, and the moments from which on it has them."""

        self.rules: dict[str, str] = {}
        """Lines of the sheet that depend on threads, by name of the line."""

        self.homes: dict[int, str] = {}
        self._numbers: set[int] = set()
        self._remarks: set[str] = set()
        self._taken: list[str] = []

    # -- drawing ---------------------------------------------------------------------------

    def cast(self, count: int, homeless: int = 0) -> list[int]:
        """Draw distinct figures; the first `homeless` of them have no home so far."""
        order = [int(i) for i in self.rng.permutation(len(self.figures))]
        first = [i for i in order if i not in self.homes][:homeless]
        if len(first) < homeless:
            raise NothingLeft("every figure has a home")
        return [*first, *[i for i in order if i not in first]][:count]

    def take(self, kind: str) -> str:
        """Return an unused word of a kind.

        Raises:
            NothingLeft: If none is left, or if one of this scene's words is part of another.
        """
        word = self.stage.pools.take(kind)[self.language]
        if any(found(word, other) or found(other, word) for other in self._taken):
            raise NothingLeft(f"{word} and another word cannot be told apart in prose")
        self._taken.append(word)
        return word

    def pairs(self, kind: str, count: int) -> list[str]:
        """Draw distinct words from one of the setting's lists, never the same twice."""
        used = self.stage.choice_words.get(kind, ())
        words = [pair[self.language] for pair in self.setting.pairs(kind)]
        free = [word for word in words if word not in used]
        if len(free) < count:
            raise NothingLeft(kind)
        chosen = tuple(self.stage.some(free, count))
        self.stage.choice_words[kind] = (*used, *chosen)
        return list(chosen)

    def number(self, low: int, high: int) -> int:
        """Return a number that no other thread uses."""
        free = [n for n in range(low, high + 1) if n not in self._numbers]
        if not free:
            raise NothingLeft("numbers")
        chosen = int(self.rng.choice(free))
        self._numbers.add(chosen)
        return chosen

    def coin(self) -> bool:
        """Return a fair coin."""
        return bool(self.rng.integers(2))

    # -- words -----------------------------------------------------------------------------

    def say(self, thread: str, line: str, **values: Any) -> str:
        """Return a sentence of `scenes.toml` in the wording of this split.

        Figures are given by index, under the names A to E.
        """
        options = table("scenes")[thread][line]
        text = options if isinstance(options, str) else options[self._wording(len(options))]
        return self.filled(text, **values)

    def filled(self, text: str, **values: Any) -> str:
        """Fill a pair of sentences."""
        named = {
            key: self.figures[value].name if key in "ABCDE" else value
            for key, value in values.items()
        }
        said = fill(text, self.language, {"cur": self.currency, **named})
        if self.language == "en":
            said = _START.sub(lambda match: match[0].upper(), said)
        return said

    def ordinal(self, bell: int) -> str:
        """Return the ordinal number of a bell."""
        text = table("scenes")["ordinals"]["names"][bell - 1]
        return BilingualText.parse(text)[self.language]

    def bell_names(self, bell: int) -> tuple[str, ...]:
        """Return the accepted names of a bell."""
        name = self.ordinal(bell)
        if self.language == "en":
            return (name, f"{name} bell", f"bell {bell}", str(bell))
        return (name, f"第{name}遍", f"第{name}遍钟", f"第{name}遍钟响", f"第{name}", str(bell))

    def names(self, figure: int) -> tuple[str, ...]:
        """Return the accepted spellings of a figure's name."""
        own = self.figures[figure]
        shared = sum(other.given == own.given for other in self.figures) > 1
        return (own.name,) if shared else (own.name, own.given)

    def small_talk(self) -> str:
        """Return a remark without consequences."""
        lines = table("scenes")["small"]
        kind = "unseen" if unseen(self.stage.order.split) else "lines"
        free = [text for text in lines[kind] if text not in self._remarks]
        text = str(self.stage.pick(free or lines[kind]))
        self._remarks.add(text)
        return self.filled(text)

    def _wording(self, count: int) -> int:
        """Return the place of the wording: the first half is for training."""
        half = count // 2
        place = int(self.rng.integers(half))
        return place + half if unseen(self.stage.order.split) else place

    # -- adding ----------------------------------------------------------------------------

    def add(
        self, key: str, speaker: int, line: str, *accept: Mapping[str, Any], **more: Any
    ) -> str:
        """Add a moment and return its key."""
        self.moments.append(SceneMoment(key, speaker, line, accept, **more))
        return key

    def _drawn_figures(self, count: int, namesakes: bool) -> list[Figure]:
        trades = [pair[self.language] for pair in self.setting.pairs("trades")]
        own = self.stage.card["words"]["trade"]
        trades = self.stage.some([trade for trade in trades if trade != own], count)
        given = self.stage.pools.take("given")
        figures = []
        for place, trade in enumerate(trades):
            if not (namesakes and place == 1):
                given = self.stage.pools.take("given") if place else given
            name = self._named(given)
            figures.append(Figure(name, given[self.language], trade))
        if len({figure.name for figure in figures}) < count:
            raise NothingLeft("two figures have the same name")
        return figures

    def _named(self, given: BilingualText) -> str:
        name = person_name(self.setting, given, self.stage.pools.take("family"))
        return name[self.language]
