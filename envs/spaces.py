"""Spaces for prose and for chat messages.

`gymnasium.spaces.Text` needs a finite alphabet and checks every character; `Unicode` is any
string up to a length, checked in constant time. It can be sampled, compared, pickled, seeded and
batched, including in shared memory.
"""

import copy
import ctypes
from collections.abc import Sequence as Seq
from typing import Any, Self

import numpy as np
from gymnasium import Space
from gymnasium.spaces import Dict, Sequence
from gymnasium.vector.utils import (
    create_shared_memory,
    read_from_shared_memory,
    write_to_shared_memory,
)
from numpy.typing import NDArray

from hexathlon.evaluators.content import ContentError, parts_of, text_of

__all__ = ["MAX_TEXT", "Contents", "Unicode", "message_space", "messages_space"]

MAX_TEXT = 65_536
"""Maximum length of an action or an observation, in characters."""

_WORDS = ("the", "order", "é", "数据", "SELECT", "{", '"name"', "42", "\n", "", "🙂", "</a>", "ok.")


class Unicode(Space[str]):
    """All strings of at most `max_length` characters.

    Args:
        max_length: In characters.
        examples: Strings that `sample` returns occasionally, such as well-formed tool calls.
        seed: For `sample`.

    >>> space = Unicode(5)
    >>> "naïve" in space, "" in space, "longer" in space, 7 in space
    (True, True, False, False)
    """

    def __init__(
        self,
        max_length: int = MAX_TEXT,
        *,
        examples: Seq[str] = (),
        seed: int | np.random.Generator | None = None,
    ) -> None:
        if max_length < 0:
            raise ValueError(f"max_length must not be negative, got {max_length}")
        self.max_length = max_length
        self.examples = tuple(text for text in examples if len(text) <= max_length)
        super().__init__(dtype=str, seed=seed)

    @property
    def is_np_flattenable(self) -> bool:
        """Always False: prose has no useful fixed-size array form."""
        return False

    def contains(self, x: Any) -> bool:
        """Return whether `x` is a string within the length limit."""
        return isinstance(x, str) and len(x) <= self.max_length

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        """Return an example or a few random words, in several scripts."""
        if mask is not None or probability is not None:
            raise ValueError("Unicode.sample takes neither mask nor probability")
        if self.examples and self.np_random.random() < 0.5:
            return self.examples[int(self.np_random.integers(len(self.examples)))]
        count = int(self.np_random.integers(0, 9))
        picks = self.np_random.integers(len(_WORDS), size=count)
        return " ".join(_WORDS[int(pick)] for pick in picks)[: self.max_length]

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Copy the generator, if any; the rest is immutable."""
        clone = type(self).__new__(type(self))
        clone.__dict__.update(self.__dict__)
        clone._np_random = copy.deepcopy(self._np_random, memo)
        return clone

    def __repr__(self) -> str:
        return f"Unicode({self.max_length})"

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.max_length == other.max_length

    __hash__ = None  # type: ignore[assignment]


class Contents(Unicode):
    """Message content: a string, or a tuple of parts whose text is within the length limit.

    Args:
        max_length: Of all text together, in characters.
        examples: As for `Unicode`.
        seed: For `sample`, which returns strings.
    """

    def contains(self, x: Any) -> bool:
        """Return whether `x` is a string or a tuple of parts within the length limit."""
        if not isinstance(x, tuple):
            return super().contains(x)
        try:
            parts_of(x)
        except ContentError:
            return False
        return len(text_of(x)) <= self.max_length

    def __repr__(self) -> str:
        return f"Contents({self.max_length})"


def message_space(examples: Seq[str] = ()) -> Dict:
    """Return the space of one chat message: exactly role, content, tool_calls, tool_call_id."""
    call = Dict({"id": Unicode(64), "name": Unicode(128), "arguments": Unicode(MAX_TEXT)})
    return Dict(
        {
            "role": Unicode(16),
            "content": Unicode(MAX_TEXT, examples=examples),
            "tool_calls": Sequence(call),
            "tool_call_id": Unicode(64),
        }
    )


def messages_space() -> Sequence:
    """Return the space of a tuple of chat messages, whose content may have parts."""
    message = message_space()
    return Sequence(Dict({**message.spaces, "content": Contents(MAX_TEXT)}))


# Shared memory: each text is its length followed by UTF-32 code points.


@create_shared_memory.register(Unicode)
def _create(space: Unicode, n: int = 1, ctx: Any = None) -> Any:
    return ctx.Array(ctypes.c_uint32, n * (space.max_length + 1))


@write_to_shared_memory.register(Unicode)
def _write(space: Unicode, index: int, value: str, shared_memory: Any) -> None:
    width = space.max_length + 1
    points = np.frombuffer(value.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    row = np.frombuffer(shared_memory.get_obj(), dtype=np.uint32)[index * width :]
    row[0] = len(points)
    row[1 : 1 + len(points)] = points


@read_from_shared_memory.register(Unicode)
def _read(space: Unicode, shared_memory: Any, n: int = 1) -> tuple[str, ...]:
    rows: NDArray[np.uint32] = np.frombuffer(shared_memory.get_obj(), dtype=np.uint32)
    rows = rows.reshape(n, space.max_length + 1)
    return tuple(
        row[1 : 1 + int(row[0])].tobytes().decode("utf-32-le", "surrogatepass") for row in rows
    )
