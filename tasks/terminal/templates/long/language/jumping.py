"""Statements of Vela that leave their place as closures, in the reference: jumps and errors."""

from __future__ import annotations

from typing import Any

from hexathlon.tasks.terminal.templates.long.language.declaring import Declarations
from hexathlon.tasks.terminal.templates.long.language.meaning import Routine
from hexathlon.tasks.terminal.templates.long.language.world import Code, Successor, VelaScope

__all__ = ["Jumps"]


class Jumps(Declarations):
    """Builds closures for `return`, `break`, `continue` and `throw`."""

    def on_return(self, line: int) -> Code:
        """`return`."""
        if not self.inside:
            self.next -= 1
            self.wrong()
        if self.sees(";"):
            return self.ended(lambda names: ("return", None))
        value, call = self.calling()
        if call and self.rules["tail"] and not self.guards:
            return self.ended(self.succeeding(value, call))
        return self.ended(lambda names: ("return", value(names)))

    def calling(self) -> tuple[Code, tuple[Any, ...]]:
        """Return the next expression and, if it is nothing but a call, the parts of that."""
        start = self.next
        whole = self.expression()
        end, self.next = self.next, start
        if self.sees("-", "not"):
            self.next = end
            return whole, ()
        _, form, detail = self.postfix()
        call = form == "call" and self.next == end
        self.next = end
        return whole, detail if call else ()

    def succeeding(self, value: Code, call: tuple[Any, ...]) -> Code:
        """Return a `return` whose call takes the place of the function."""
        line, called, given = call
        world, same = self.world, self.rules["tail"] == "same"

        def end(names: VelaScope) -> Any:
            if names.later:
                return "return", value(names)
            function = called(names)
            values = [each(names) for each in given]
            own = isinstance(function, Routine) and function.own
            if not own or (same and function is not names.routine):
                return "return", world.call(names, line, function, values)
            world.check(names, line, function, values)
            return "return", Successor(function, values, names.file, line)

        return end

    def on_break(self, line: int) -> Code:
        """`break` and `continue`."""
        self.next -= 1
        if not self.loops:
            self.wrong()
        signal = self.must("break", "continue"), ""
        if self.rules["labels"] and not self.sees(";"):
            token = self.tokens[self.next]
            if token.kind != "name" or token.value not in self.loops:
                self.wrong()
            signal = signal[0], self.name()
        return self.ended(lambda names: signal)

    on_continue = on_break

    def on_throw(self, line: int) -> Code:
        """`throw`."""
        value, world = self.expression(), self.world

        def throw(names: VelaScope) -> None:
            made = value(names)
            kind, text = "user", world.at(names, line, self.mean.show, made)
            if self.rules["rethrow"] and isinstance(made, dict):
                given = made.get("kind"), made.get("message")
                if all(isinstance(each, str) for each in given):
                    kind, text = str(given[0]), str(given[1])
            world.fail(names, line, kind, text, made)

        return self.ended(throw)
