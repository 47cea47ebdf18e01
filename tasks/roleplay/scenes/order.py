"""The order of a scene's moments, and who is in the room at each of them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hexathlon.tasks.roleplay.card import NothingLeft
from hexathlon.tasks.roleplay.scenes.plot import SceneMoment

__all__ = ["PlacedMoment", "in_order"]

_BELLS = 3
_TRIES = 60
_MOST = 3
"""Largest number of figures present at once."""


@dataclass
class PlacedMoment:
    """A moment of the finished order."""

    moment: SceneMoment
    present: tuple[int, ...]
    bell: int = 0
    """Bell that rings just before it, before anybody of the previous moment leaves; 0 for none."""


def in_order(moments: Sequence[SceneMoment], rng: np.random.Generator) -> list[PlacedMoment]:
    """Draw an order that satisfies every constraint.

    Raises:
        NothingLeft: If none is found.
    """
    for _ in range(_TRIES):
        placed = _Evening(moments, rng).placed()
        if placed is not None:
            return placed
    raise NothingLeft("the moments of the scene fit into no order")


class _Evening:
    def __init__(self, moments: Sequence[SceneMoment], rng: np.random.Generator) -> None:
        self._left = list(moments)
        self._rng = rng
        self._total = len(moments)
        self._line: list[PlacedMoment] = []
        self._place: dict[str, int] = {}
        self._rung = 0
        self._ringing = 0
        self._ringers = {moment.rings for moment in moments if moment.rings}
        self._visit = 0

    def placed(self) -> list[PlacedMoment] | None:
        """Place one moment after the other; None if the draw leads nowhere."""
        while self._left:
            self._ring()
            ready = [moment for moment in self._left if self._ready(moment)]
            if not ready:
                return None
            self._put(self._chosen(ready))
        return self._line if self._rung == _BELLS else None

    def _ring(self) -> None:
        """Ring the next bell when its time has come and nothing has to happen before."""
        bell, count = self._rung + 1, len(self._line)
        if bell > _BELLS or bell in self._ringers or self._ringing:
            return
        if count < round(self._total * bell / (_BELLS + 1)):
            return
        if not any(moment.until_bell == bell for moment in self._left):
            self._rung = self._ringing = bell

    def _ready(self, moment: SceneMoment) -> bool:
        if moment.after and not self._long_ago(moment.after, moment.gap):
            return False
        if moment.later and moment.later not in self._place:
            return False
        if moment.from_bell > self._rung or 0 < moment.until_bell <= self._rung:
            return False
        if moment.rings:
            soon = round(self._total * moment.rings / (_BELLS + 1)) - 3
            early = any(m.until_bell == moment.rings for m in self._left)
            if moment.rings != self._rung + 1 or len(self._line) < soon or early:
                return False
        if moment.final:
            speaker = moment.speaker
            return not any(
                speaker in (m.speaker, *m.company) for m in self._left if m is not moment
            )
        return True

    def _long_ago(self, key: str, gap: int) -> bool:
        return key in self._place and len(self._line) - self._place[key] >= gap

    def _chosen(self, ready: list[SceneMoment]) -> SceneMoment:
        """Prefer whoever is there for a few lines, and what much depends on."""
        here = self._present()
        due = [m for m in ready if m.rings or 0 < m.until_bell == self._rung + 1]
        if due and (self._rng.random() < 0.6 or any(m.rings for m in due)):
            return self._drawn(due)
        near = [m for m in ready if m.speaker in here and not set(here) & set(m.absent)]
        near = [m for m in near if not m.alone or set(here) <= {m.speaker, *m.company}]
        if near and self._visit < 4 and self._rng.random() < 0.8:
            return self._drawn(near)
        return self._drawn([m for m in ready if m.speaker not in here] or ready)

    def _drawn(self, moments: list[SceneMoment]) -> SceneMoment:
        weights = np.array([1.0 + self._waiting(moment) for moment in moments])
        return moments[int(self._rng.choice(len(moments), p=weights / weights.sum()))]

    def _waiting(self, moment: SceneMoment) -> int:
        """Return how many later moments wait for this one, in places."""
        following = [m for m in self._left if moment.key in (m.after, m.later)]
        return max((m.gap + self._waiting(m) for m in following), default=0)

    def _present(self) -> tuple[int, ...]:
        return self._line[-1].present if self._line else ()

    def _put(self, moment: SceneMoment) -> None:
        here = self._present()
        needed = (moment.speaker, *moment.company)
        stay = [i for i in here if i not in needed and i not in moment.absent]
        if moment.alone:
            stay = []
        elif moment.speaker not in here:
            stay = [i for i in stay if self._rng.random() < 0.4]
        gone = {placed.moment.speaker for placed in self._line if placed.moment.final}
        stay = [i for i in stay if i not in gone][: _MOST - len(needed)]
        self._visit = self._visit + 1 if moment.speaker in here else 1
        self._line.append(PlacedMoment(moment, (*needed, *stay), self._ringing))
        self._ringing = 0
        if moment.rings:
            self._rung = self._ringing = moment.rings
        self._place[moment.key] = len(self._line) - 1
        self._left.remove(moment)
