"""Values and operations of Vela under a given set of rules, for the reference `compiling`."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

__all__ = ["Meaning", "Routine", "Unit", "VelaError"]

_LOW, _HIGH = -(2**63), 2**63 - 1
_VERBS = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide", "%": "divide"}


class VelaError(Exception):
    """A runtime error; an operation leaves the place to its caller."""

    def __init__(self, kind: str, message: str, value: Any = None) -> None:
        super().__init__(kind, message)
        self.kind, self.message, self.value = kind, message, value
        self.place: tuple[str, int] | None = None
        self.calls: tuple[tuple[str, str, int], ...] = ()


class Routine:
    """A function, written in Vela or built in; `takes` is its least and most number of values."""

    def __init__(
        self, name: str, takes: tuple[int, int | None], run: Callable[[list[Any]], Any], own: bool
    ) -> None:
        self.name, self.takes, self.run, self.own = name, takes, run, own


class Unit:
    """A module: its path and its global names."""

    def __init__(self, name: str, names: dict[str, Any]) -> None:
        self.name, self.names = name, names


class Meaning:
    """Operations on values under the rules of one release."""

    def __init__(self, rules: Mapping[str, Any]) -> None:
        self.rules = rules

    def kind(self, value: Any) -> str:
        """Return the name of a value's type."""
        if isinstance(value, bool):
            return "bool"
        for kind, name in ((int, "int"), (str, "string"), (list, "list"), (dict, "map")):
            if isinstance(value, kind):
                return name
        return "nil" if value is None else "module" if isinstance(value, Unit) else "function"

    def number(self, value: Any) -> bool:
        """Whether a value is an integer."""
        return self.kind(value) == "int"

    def order(self, table: Mapping[Any, Any], sort: bool | None = None) -> list[Any]:
        """Return a map's keys in the order of iteration."""
        if self.rules["maporder"] == "sorted" if sort is None else sort:
            numbers = sorted(key for key in table if not isinstance(key, str))
            return numbers + sorted(key for key in table if isinstance(key, str))
        return [*table]

    def show(self, value: Any, inside: bool = False, within: Sequence[int] = ()) -> str:
        """Return a value as text; `within` holds the identities of the values around it."""
        kind = self.kind(value)
        if id(value) in within:
            if not self.rules["cycles"]:
                raise VelaError("value", "endless value")
            if self.rules["cycles"] == "levels":
                return f"^{len(within) - within.index(id(value))}"
            return "[...]" if kind == "list" else "{...}"
        here = [*within, id(value)] if kind in ("list", "map") else within
        if kind == "string":
            marks = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t"}
            return f'"{"".join(marks.get(c, c) for c in value)}"' if inside else str(value)
        if kind == "list":
            return f"[{', '.join(self.show(each, True, here) for each in value)}]"
        if kind == "map":
            keys = self.order(value, self.rules["maporder"] in ("sorted", "written"))
            pairs = (f"{self.show(key, True)}: {self.show(value[key], True, here)}" for key in keys)
            return f"{{{', '.join(pairs)}}}"
        if kind in ("function", "module"):
            return f"<{'fn' if kind == 'function' else kind} {value.name}>"
        return "nil" if value is None else str(value).lower()

    def holds(self, value: Any) -> bool:
        """Whether a value counts as true."""
        if value is None or value is False:
            return False
        if self.rules["truth"] == "strict" or value is True:
            return True
        if self.number(value):
            return bool(value != 0)
        empty = self.kind(value) in ("string", "list", "map") and len(value) == 0
        return not (empty and self.rules["truth"] == "loose")

    def equal(self, left: Any, right: Any, begun: frozenset[tuple[int, int]] = frozenset()) -> bool:
        """Whether two values are equal; values of different types are not.

        `begun` holds the identities of pairs whose comparison is under way.
        """
        kind = self.kind(left)
        if kind != self.kind(right):
            return False
        if kind in ("list", "map"):
            pair = (id(left), id(right))
            if pair in begun:
                if self.rules["cycles"]:
                    return True
                raise VelaError("value", "endless value")
            begun |= {pair}
        if kind == "list":
            return len(left) == len(right) and not any(
                not self.equal(left[n], right[n], begun) for n in range(len(left))
            )
        if kind == "map":
            known = all(key in right for key in left) and len(left) == len(right)
            return known and all(
                self.equal(left[key], right[key], begun) for key in self.order(left)
            )
        return left is right if kind in ("function", "module") else bool(left == right)

    def fit(self, number: int) -> int:
        """Return the result of an operation within the range of integers."""
        rule = self.rules["overflow"]
        if rule == "none" or _LOW <= number <= _HIGH:
            return number
        if rule == "trap":
            raise VelaError("arithmetic", "overflow")
        number &= 2**64 - 1
        return number - 2**64 if number > _HIGH else number

    def arithmetic(self, sign: str, left: Any, right: Any) -> Any:
        """Return the result of `+ - * / %`."""
        kinds = self.kind(left), self.kind(right)
        if kinds == ("int", "int"):
            if sign in "/%" and right == 0:
                raise VelaError("arithmetic", "division by zero")
            quotient, remainder = divmod(left, right) if sign in "/%" else (0, 0)
            inexact = remainder != 0 and quotient < 0
            if sign == "/":
                return self.fit(quotient + (inexact and self.rules["division"] != "floor"))
            if sign == "%":
                toward = inexact and self.rules["division"] == "trunc"
                return self.fit(remainder - right if toward else remainder)
            products = {"+": left + right, "-": left - right}
            return self.fit(products[sign] if sign in products else left * right)
        if sign == "+" and kinds == ("list", "list"):
            return [*left, *right]
        needed = {"any": 1, "strings": 2}.get(self.rules["plus"], 3)
        strings = kinds.count("string")
        if sign == "+" and (strings >= needed or (needed == 3 and kinds[0] == "string")):
            return self.show(left) + self.show(right)
        raise VelaError("type", f"cannot {_VERBS[sign]} {kinds[0]} and {kinds[1]}")

    def searched(self, value: Any, holder: Any) -> bool:
        """Whether a list, map or string holds a value."""
        kinds = self.kind(holder), self.kind(value)
        if kinds[0] == "map" and self.rules["within"] == "keys":
            return self.key(value) in holder
        if kinds[0] in ("list", "map"):
            held = holder if kinds[0] == "list" else [holder[key] for key in self.order(holder)]
            return any(self.equal(value, each) for each in held)
        if kinds == ("string", "string"):
            return str(holder).find(value) >= 0
        raise VelaError("type", f"cannot search {kinds[0]} for {kinds[1]}")

    def compared(self, sign: str, left: Any, right: Any) -> bool:
        """Return the result of a comparison."""
        if sign.endswith("in"):
            return self.searched(left, right) == (sign == "in")
        kinds = {self.kind(left), self.kind(right)}
        strict = self.rules["equality"] == "typed" and "nil" not in kinds
        plain = sign in ("==", "!=")
        bad = len(kinds) == 2 and strict if plain else kinds not in ({"int"}, {"string"})
        if bad:
            raise VelaError("type", f"cannot compare {self.kind(left)} and {self.kind(right)}")
        if plain:
            return self.equal(left, right) is (sign == "==")
        signs = {"<": left < right, ">": left > right, "<=": left <= right, ">=": left >= right}
        return bool(signs[sign])

    def key(self, value: Any) -> Any:
        """Return a value that may be a map's key."""
        if self.kind(value) not in ("int", "string"):
            raise VelaError("type", f"bad key {self.kind(value)}")
        return value

    def place(self, value: Sequence[Any], at: Any) -> int:
        """Return the position that an index means."""
        if not self.number(at):
            raise VelaError("type", f"bad index {self.kind(at)}")
        found = at + len(value) if at < 0 and self.rules["index"] != "none" else at
        if found not in range(len(value)):
            raise VelaError("index", f"index {at} out of range")
        return int(found)

    def get(self, value: Any, at: Any) -> Any:
        """Return an element."""
        kind = self.kind(value)
        if kind == "map":
            if self.key(at) in value:
                return value[at]
            raise VelaError("index", f"no key {self.show(at, True)}")
        if kind not in ("list", "string"):
            raise VelaError("type", f"cannot index {kind}")
        return value[self.place(value, at)]

    def put(self, value: Any, at: Any, new: Any) -> None:
        """Change an element."""
        kind = self.kind(value)
        if kind not in ("list", "map"):
            raise VelaError("type", f"cannot assign into {kind}")
        value[self.key(at) if kind == "map" else self.place(value, at)] = new

    def cut(self, value: Any, low: Any, high: Any) -> Any:
        """Return a slice."""
        if self.kind(value) not in ("list", "string"):
            raise VelaError("type", f"cannot index {self.kind(value)}")
        for end in (low, high):
            if end is not None and not self.number(end):
                raise VelaError("type", f"bad index {self.kind(end)}")
        return value[slice(low, high)]

    def builtins(self) -> dict[str, Routine]:
        """Return the functions of the language by name."""
        one: dict[str, Callable[[list[Any]], Any]] = {
            "len": lambda given: len(self._only("len", given, "string", "list", "map")),
            "str": lambda given: self.show(given[0]),
            "int": lambda given: self._int(self._only("int", given, "string")),
            "type": lambda given: self.kind(given[0]),
            "pop": lambda given: self._pop(self._only("pop", given, "list")),
            "keys": lambda given: self.order(self._only("keys", given, "map")),
            "sum": lambda given: self._sum(self._only("sum", given, "list")),
            "sort": lambda given: self._sort(self._only("sort", given, "list")),
        }
        two: dict[str, Callable[[list[Any]], Any]] = {
            "push": lambda given: self._only("push", given, "list").append(given[1]),
            "has": lambda given: self._only("has", given, "map") is None or self._has(given),
            "del": lambda given: self._del(self._only("del", given, "map"), given[1]),
            "range": self._range,
            "join": self._join,
        }
        made = {name: Routine(name, (1, 1), run, False) for name, run in one.items()}
        return made | {name: Routine(name, (2, 2), run, False) for name, run in two.items()}

    def _only(self, name: str, given: list[Any], *kinds: str) -> Any:
        if self.kind(given[0]) not in kinds:
            raise VelaError("type", f"bad argument for {name}")
        return given[0]

    def _int(self, text: str) -> int:
        sound = re.fullmatch("[-+]?[0-9]+", text) is not None
        if not sound or (self.rules["overflow"] != "none" and not _LOW <= int(text) <= _HIGH):
            raise VelaError("value", f"not a number: {self.show(text, True)}")
        return int(text)

    def _pop(self, values: list[Any]) -> Any:
        if not values:
            raise VelaError("index", "pop from an empty list")
        return values.pop()

    def _sum(self, values: list[Any]) -> int:
        if not all(self.number(each) for each in values):
            raise VelaError("type", "bad argument for sum")
        total = 0
        for each in values:
            total = self.fit(total + each)
        return total

    def _sort(self, values: list[Any]) -> list[Any]:
        if {self.kind(each) for each in values} not in (set(), {"int"}, {"string"}):
            raise VelaError("type", "bad argument for sort")
        result = sorted(values)
        if self.rules["sort"] == "copy":
            return result
        values[:] = result
        return values

    def _has(self, given: list[Any]) -> bool:
        return self.key(given[1]) in given[0]

    def _del(self, table: dict[Any, Any], key: Any) -> Any:
        value = self.get(table, key)
        del table[key]
        return value

    def _range(self, given: list[Any]) -> list[int]:
        if not all(self.number(each) for each in given):
            raise VelaError("type", "bad argument for range")
        return [*range(*given)]

    def _join(self, given: list[Any]) -> str:
        if [self.kind(given[0]), self.kind(given[1])] != ["list", "string"]:
            raise VelaError("type", "bad argument for join")
        return str(given[1]).join(self.show(each) for each in given[0])
