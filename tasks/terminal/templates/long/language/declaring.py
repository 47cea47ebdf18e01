"""Declarations and assignments of Vela as closures, in the reference."""

from __future__ import annotations

from typing import Any

from hexathlon.tasks.terminal.templates.long.language.expressing import Expressions
from hexathlon.tasks.terminal.templates.long.language.world import Code, VelaScope

__all__ = ["Declarations", "Pattern"]

Pattern = tuple[list[str], str]
"""Names, and the one for what is left, empty without one."""


class Declarations(Expressions):
    """Builds closures for what gives values to names and places."""

    def declaring(self, line: int, name: str, value: Code) -> Code:
        """Return a declaration in the scope at hand."""
        return lambda names: self.declare(names, line, name, value(names))

    def declare(self, names: VelaScope, line: int, name: str, value: Any) -> None:
        """Declare a name in a scope; it is no constant."""
        if name in names and self.rules["redeclare"]:
            self.world.fail(names, line, "name", f"{name} is already declared")
        names[name] = value
        names.fixed.discard(name)

    def ended(self, code: Code) -> Code:
        """Return the code after its semicolon."""
        self.must(";")
        return code

    def on_let(self, line: int) -> Code:
        """`let`."""
        if self.rules["unpack"] and self.sees("["):
            pattern = self.pattern()
            self.must("=")
            return self.ended(self.unpacking(line, pattern, self.expression()))
        name = self.name()
        self.must("=")
        return self.ended(self.declaring(line, name, self.expression()))

    def on_const(self, line: int) -> Code:
        """`const`."""
        name = self.name()
        self.must("=")
        declare = self.declaring(line, name, self.expression())

        def fix(names: VelaScope) -> None:
            declare(names)
            names.fixed.add(name)

        return self.ended(fix)

    def pattern(self) -> Pattern:
        """Return the names of a pattern, and the one for what is left, empty without one."""
        self.must("[")
        names: list[str] = []
        while True:
            name = self.name()
            if self.take("..."):
                self.must("]")
                return names, name
            names.append(name)
            if not self.take(","):
                self.must("]")
                return names, ""

    def unpacking(self, line: int, pattern: Pattern, value: Code) -> Code:
        """Return a declaration of several names."""

        def declare(names: VelaScope) -> None:
            for name, part in self.parts(names, line, pattern, value(names)):
                self.declare(names, line, name, part)

        return declare

    def parts(
        self, names: VelaScope, line: int, pattern: Pattern, value: Any
    ) -> list[tuple[str, Any]]:
        """Return the names of a pattern with their values."""
        wanted, rest = pattern
        if self.mean.kind(value) != "list":
            self.world.fail(names, line, "type", f"cannot unpack {self.mean.kind(value)}")
        few, many = len(value) < len(wanted), len(value) > len(wanted)
        if self.rules["unpack"] == "exact" and (few or (many and not rest)):
            text = f"{'at least ' if rest else ''}{len(wanted)} values expected, got {len(value)}"
            self.world.fail(names, line, "value", text)
        made = [(name, value[n] if n < len(value) else None) for n, name in enumerate(wanted)]
        made += [(rest, value[len(wanted) :])] if rest else []
        return [each for each in made if each[0] != "_"]

    def naming(self, detail: tuple[Any, ...], right: Code) -> Code:
        """Return an assignment to a name."""
        line, name = detail

        def assign(names: VelaScope) -> None:
            if self.rules["constants"] == "early":
                self.changeable(names, line, name)
            self.keep(names, line, name, right(names))

        return assign

    def keep(self, names: VelaScope, line: int, name: str, value: Any) -> None:
        """Store a value under a name that exists, or else may become a global one."""
        held = self.changeable(names, line, name)
        if held is None or held is self.world.core:
            if self.rules["undeclared"]:
                self.world.fail(names, line, "name", f"{name} is not defined")
            held = names
            while held.around is not None and held.around is not self.world.core:
                held = held.around
        held[name] = value

    def changeable(self, names: VelaScope, line: int, name: str) -> VelaScope | None:
        """Return the scope that has a name, which must not be that of a constant."""
        held = names.holder(name)
        if held is not None and name in held.fixed:
            self.world.fail(names, line, "name", f"{name} is constant")
        return held

    def storing(self, detail: tuple[Any, ...], right: Code) -> Code:
        """Return an assignment to an element."""
        world, (line, whole, place) = self.world, detail
        codes = [whole, place, right] if self.rules["assignorder"] else [right, whole, place]

        def assign(names: VelaScope) -> None:
            made = [code(names) for code in codes]
            if not self.rules["assignorder"]:
                made = [*made[1:], made[0]]
            world.at(names, line, self.mean.put, *made)

        return assign

    def compound(
        self, line: int, sign: str, value: Code, form: str, detail: tuple[Any, ...], right: Code
    ) -> Code:
        """Return an assignment such as `+=`."""
        world, mean, first = self.world, self.mean, self.rules["compound"] == "before"

        def change(names: VelaScope) -> None:
            get, put = value, None
            if form == "index":
                where, whole, place = detail
                held, at = whole(names), place(names)
                get = lambda names: world.at(names, where, mean.get, held, at)  # noqa: E731
                put = lambda new: world.at(names, where, mean.put, held, at, new)  # noqa: E731
            if form == "name" and self.rules["constants"] == "early":
                self.changeable(names, *detail)
            if first:
                old = get(names)
                added = right(names)
            else:
                added = right(names)
                old = get(names)
            new = world.at(names, line, mean.arithmetic, sign, old, added)
            if put:
                put(new)
            else:
                self.keep(names, detail[0], detail[1], new)

        return change
