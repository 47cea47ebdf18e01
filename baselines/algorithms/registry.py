"""Registries: functions by name, with checks of the parameters that a recipe gives them."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Generic, TypeVar

__all__ = ["Registry", "UnknownPart"]

Part = TypeVar("Part", bound=Callable[..., Any])


class UnknownPart(ValueError):
    """A recipe names a part or a parameter that does not exist."""


class Registry(Generic[Part]):
    """Parts of one kind by name.

    Args:
        kind: Kind of the parts in messages, such as "advantage estimator".
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._parts: dict[str, Part] = {}

    def register(self, name: str) -> Callable[[Part], Part]:
        """Return a decorator that adds a function under a name."""

        def add(part: Part) -> Part:
            if name in self._parts:
                raise ValueError(f"the {self.kind} {name!r} is already registered")
            self._parts[name] = part
            return part

        return add

    def __getitem__(self, name: str) -> Part:
        """Return the part with a name.

        Raises:
            UnknownPart: If there is none.
        """
        if name not in self._parts:
            known = ", ".join(sorted(self._parts))
            raise UnknownPart(f"there is no {self.kind} {name!r}; there are {known}")
        return self._parts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._parts))

    def defaults(self, name: str) -> dict[str, Any]:
        """Return a part's parameters (its keyword-only arguments) with their defaults."""
        parameters = inspect.signature(self[name]).parameters.values()
        return {
            parameter.name: parameter.default
            for parameter in parameters
            if parameter.kind is parameter.KEYWORD_ONLY and parameter.default is not parameter.empty
        }

    def resolve(self, name: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return all parameters of a part; given values override the defaults.

        Raises:
            UnknownPart: If a given name is not a parameter of the part.
            ValueError: If the type of a given value differs from the default's.
        """
        defaults = self.defaults(name)
        unknown = sorted(set(given) - set(defaults))
        if unknown:
            known = ", ".join(defaults) or "none"
            raise UnknownPart(
                f"the {self.kind} {name!r} has no parameter {', '.join(unknown)}; it has {known}"
            )
        for parameter, value in given.items():
            if not _fits(value, defaults[parameter]):
                raise ValueError(
                    f"the parameter {parameter} of the {self.kind} {name!r} is {value!r}; "
                    f"expected a value like its default {defaults[parameter]!r}"
                )
        return {**defaults, **given}


def _fits(value: Any, default: Any) -> bool:
    """Return whether a value may replace a default; ints may replace floats, lists tuples."""
    if isinstance(default, float):
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if isinstance(default, tuple):
        if not isinstance(value, (list, tuple)):
            return False
        return not default or all(_fits(item, default[0]) for item in value)
    return type(value) is type(default)
