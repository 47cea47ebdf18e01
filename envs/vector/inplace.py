"""In-process stepping of a vector's environments, one after another.

Overhead per step is kept minimal, since a text environment's own step takes a few microseconds.
An answer that neither ends an episode nor fails stays in the form in which the environment
returned it; the others are `Arrival`s.
"""

from collections.abc import Callable, Sequence
from typing import Any

from hexathlon.envs.errors import EnvFault
from hexathlon.envs.status import Status
from hexathlon.envs.vector.lanes import Arrival, Lane

__all__ = ["InPlace", "Round"]


Round = tuple[list[Any], list[Any], list[Arrival]]
"""Result of a step of all environments: the observations; the info of each, or the `Advance` from
which it can be made; and at least the answers that ended an episode, failed or carried a reward.
"""


class InPlace:
    """The environments of a vector, all in this process.

    Args:
        lanes: One per environment.
    """

    def __init__(self, lanes: Sequence[Lane]) -> None:
        self._lanes = lanes
        self._advances = [lane.advance for lane in lanes]
        self._numbered = list(enumerate(self._advances))

    def step(self, actions: Sequence[Any]) -> Round:
        """Step all environments, one action each."""
        observations: list[Any] = []
        infos: list[Any] = []
        eventful: list[Arrival] = []
        for advance, action in zip(self._advances, actions):  # noqa: B905 - slower when strict
            try:
                turn = advance(action)
            except EnvFault as fault:
                arrival = self._lanes[len(infos)].failed(fault)
            else:
                if turn[1] is _ONGOING:
                    observations.append(turn[0])
                    infos.append(turn)
                    continue
                arrival = self._lanes[len(infos)].arrived(turn)
            observations.append(arrival.observation)
            infos.append(arrival.info)
            eventful.append(arrival)
        return observations, infos, eventful

    def send(
        self, actions: Sequence[Any], arrive: Callable[[Arrival], None], latest: list[Any]
    ) -> bool:
        """Step all environments, and pass each answer to `arrive` as soon as it exists.

        Returns:
            Whether all episodes continue; their observations are then in `latest`.
        """
        go_on = True
        for (number, advance), action in zip(self._numbered, actions):  # noqa: B905 - as above
            try:
                turn = advance(action)
            except EnvFault as fault:
                arrival = self._lanes[number].failed(fault)
            else:
                if turn[1] is _ONGOING:
                    observation, _, turns, errors, cut = turn
                    info = {  # as `info_of` returns, without the call
                        "status": "ongoing",
                        "reward_terms": {},
                        "turn": turns,
                        "tool_errors": errors,
                        "cut_chars": cut,
                    }
                    latest[number] = observation
                    arrive(_new(Arrival, (number, observation, 0.0, False, False, info, None)))
                    continue
                arrival = self._lanes[number].arrived(turn)
            go_on = False
            arrive(arrival)
        return go_on


_ONGOING = Status.ONGOING  # cached, as the member lookup is slow
_new = tuple.__new__
