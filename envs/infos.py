"""Batched info that is put together only when somebody looks at it.

Gymnasium's vectors merge the info of all environments into arrays at every step, which can cost
more than a step of a text environment. Here the merging waits until the dictionary is read.
"""

from collections.abc import Sequence
from typing import Any

from gymnasium.vector import VectorEnv

__all__ = ["LazyInfos"]


class LazyInfos(dict[str, Any]):
    """A dictionary equal to what gymnasium's own vectors return, filled at first reading.

    Args:
        vector: The vector, whose rules for merging apply.
        numbers: Which environments answered.
        infos: The info of each of them.
    """

    __slots__ = ("_infos", "_numbers", "_vector")

    def __init__(
        self,
        vector: VectorEnv[Any, Any, Any],
        numbers: Sequence[int],
        infos: Sequence[dict[str, Any]],
    ) -> None:
        self._vector: VectorEnv[Any, Any, Any] | None = vector
        self._numbers = numbers
        self._infos = infos

    @property
    def each(self) -> dict[int, dict[str, Any]]:
        """Each environment's own info by number, as it came."""
        return dict(zip(self._numbers, self._infos, strict=True))

    def _fill(self) -> None:
        if self._vector is not None:
            vector, self._vector = self._vector, None
            merged: dict[str, Any] = {}
            for number, info in zip(self._numbers, self._infos, strict=True):
                merged = vector._add_info(merged, info, number)
            dict.update(self, merged)

    def __reduce__(self) -> Any:
        return dict, (dict(self),)


def _reading(name: str) -> Any:
    method = getattr(dict, name)

    def read(self: LazyInfos, *args: Any, **kwargs: Any) -> Any:
        self._fill()
        return method(self, *args, **kwargs)

    read.__name__ = name
    read.__doc__ = method.__doc__
    return read


for _name in (
    "__contains__ __delitem__ __eq__ __getitem__ __ior__ __iter__ __len__ __ne__ __or__ __repr__ "
    "__reversed__ __ror__ __setitem__ copy get items keys pop popitem setdefault update values"
).split():
    setattr(LazyInfos, _name, _reading(_name))
