"""Batched info that is merged on first access.

Gymnasium's vectors merge the info of all environments into arrays at every step, which can cost
more than a step of a text environment. Here merging is deferred until the dictionary is read.
"""

from collections.abc import Sequence
from typing import Any

from gymnasium.vector import VectorEnv

from hexathlon.envs.infos import Advance, info_of

__all__ = ["LazyInfos", "lazy_infos"]

InfoSource = tuple[VectorEnv[Any, Any, Any] | None, Sequence[int], list[dict[str, Any] | Advance]]


class LazyInfos(dict[str, Any]):
    """A dictionary equal to the info of Gymnasium's own vectors, filled on first access.

    Attributes:
        source: The vector, whose merging rules apply (None once merged); the indices of the
            environments that answered; the info of each, or the `Advance` from which it is made.
    """

    # Assigned by the vector: a Python __init__ would cost as much as the rest of a batch.
    __slots__ = ("source",)

    source: InfoSource

    @property
    def each(self) -> dict[int, dict[str, Any]]:
        """The unmerged info of each environment, by index."""
        return dict(zip(self.source[1], self._made(), strict=True))

    def _made(self) -> list[Any]:
        infos = self.source[2]
        for place, info in enumerate(infos):
            if isinstance(info, tuple):
                infos[place] = info_of(*info[1:], {})
        return infos

    def _fill(self) -> None:
        vector, numbers, infos = self.source
        if vector is not None:
            self.source = None, numbers, infos
            merged: dict[str, Any] = {}
            for number, info in zip(numbers, self._made(), strict=True):
                merged = vector._add_info(merged, info, number)
            dict.update(self, merged)

    def __reduce__(self) -> Any:
        return dict, (dict(self),)


def lazy_infos(
    vector: VectorEnv[Any, Any, Any],
    numbers: Sequence[int],
    infos: list[dict[str, Any] | Advance],
) -> LazyInfos:
    """Return the info of these environments, merged on first access by the vector's rules."""
    merged = LazyInfos()
    merged.source = vector, numbers, infos
    return merged


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
