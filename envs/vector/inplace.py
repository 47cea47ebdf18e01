"""Steps the environments of a vector one after another in this process.

As little as can be is done around each step, as a text environment's own step takes a few
microseconds. An answer that neither ends an episode nor fails is left in the form in which the
environment gave it; the others are `Arrival`s.
"""

from collections.abc import Callable, Sequence
from typing import Any

from hexathlon.envs.errors import EnvFault
from hexathlon.envs.status import Status
from hexathlon.envs.vector.lanes import Arrival, Lane

__all__ = ["InPlace", "Round"]


Round = tuple[list[Any], list[Any], list[Arrival]]
"""What a step of all environments gave: the observations; the info of each, or the `Advance` that
it can be made from; and at least those answers that ended an episode, failed or brought a reward.
"""


class InPlace:
    """The environments of a vector, all in this process.

    Args:
        lanes: One for each.
    """

    def __init__(self, lanes: Sequence[Lane]) -> None:
        self._lanes = lanes
        self._advances = [lane.advance for lane in lanes]
        self._numbered = list(enumerate(self._advances))

    def step(self, actions: Sequence[Any]) -> Round:
        """Step all, each with its action."""
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
        """Step all, and hand each answer to `arrive` as soon as it is there.

        Returns:
            Whether all go on; their observations then stand in `latest`.
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
                    info = {  # what `info_of` returns, without a call
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


_ONGOING = Status.ONGOING  # looking a member up takes time
_new = tuple.__new__
