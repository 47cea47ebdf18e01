"""Rules of OSWorld's metrics: a method, such as `eq`, `re.I` or `range.le`, and a reference."""

import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

from hexathlon.evaluators.gui.osworld.values import MetricUnsupported

__all__ = ["has_fields", "matches_rule"]

_COMPARISONS: Mapping[str, Callable[[Any, Any], Any]] = {
    name: getattr(operator, name) for name in ("eq", "ne", "le", "lt", "ge", "gt")
}
_EDGES: Mapping[str, Callable[[Any, Any], Any]] = {"e": operator.le, "t": operator.lt}
_FLAGS = {"I": re.I, "M": re.M, "S": re.S, "X": re.X, "A": re.A, "U": re.U}


def matches_rule(value: Any, rule: Mapping[str, Any]) -> bool:
    """Return whether a value satisfies a rule; values of another type do not.

    Raises:
        MetricUnsupported: If the rule's method is not implemented.
    """
    method, reference = str(rule["method"]), rule["ref"]
    try:
        return _matches(value, method, reference)
    except (TypeError, ValueError, AttributeError):
        return False


def _matches(value: Any, method: str, reference: Any) -> bool:
    name, _, rest = method.partition(".")
    if name == "re":
        flags = re.NOFLAG
        for flag in filter(None, rest.split(".")):
            if flag not in _FLAGS:
                raise MetricUnsupported(f"the flag {flag!r} of the method {method!r}")
            flags |= _FLAGS[flag]
        return re.search(reference, value, flags) is not None
    if method in _COMPARISONS:
        return bool(_COMPARISONS[method](value, reference))
    if name == "range" and len(rest) == 2 and set(rest) <= set(_EDGES):
        low, high = reference
        return bool(_EDGES[rest[0]](low, value) and _EDGES[rest[1]](value, high))
    if method.startswith("approx:"):
        return bool(abs(float(value) - reference) <= float(method.partition(":")[2]))
    if method in ("str_list_eq", "str_set_eq"):
        parts = value.strip("\"'").split(",")
        if method == "str_list_eq":
            return bool(parts == list(reference))
        return bool(set(parts) == set(reference))
    raise MetricUnsupported(f"the method {method!r} of a rule")


def has_fields(pattern: Mapping[str, Any], row: Mapping[str, Any]) -> bool:
    """Return whether a row has all fields of a pattern with equal values."""
    return all(key in row and row[key] == value for key, value in pattern.items())
