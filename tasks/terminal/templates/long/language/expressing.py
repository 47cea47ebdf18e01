"""Expressions of Vela as closures, in the reference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hexathlon.tasks.terminal.templates.long.language.meaning import Routine, Unit
from hexathlon.tasks.terminal.templates.long.language.scanning import SyntaxProblem, Token
from hexathlon.tasks.terminal.templates.long.language.world import Code, ProgramRun, VelaScope

__all__ = ["Expressions", "nothing", "sequence"]

_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")


class Expressions:
    """Reads tokens and builds closures for expressions."""

    def __init__(self, world: ProgramRun, path: str, tokens: list[Token]) -> None:
        self.world, self.path, self.tokens, self.next = world, path, tokens, 0
        self.rules, self.mean = world.rules, world.mean
        self.loops: list[str] = []
        self.inside = self.shut = False
        self.guards = 0
        """How many `try` statements of the same function are around the next token."""

    # -- reading

    @property
    def line(self) -> int:
        """The line of the next token."""
        return self.tokens[self.next].line

    def wrong(self) -> Any:
        """Raise a syntax error at the next token."""
        raise SyntaxProblem(self.path, self.line)

    def sees(self, *texts: str) -> bool:
        """Whether the next token is one of these words or signs."""
        token = self.tokens[self.next]
        return token.kind == "sign" and token.value in texts

    def take(self, *texts: str) -> str:
        """Return the next token if it is one of these, otherwise an empty text."""
        if not self.sees(*texts):
            return ""
        self.next += 1
        return str(self.tokens[self.next - 1].value)

    def must(self, *texts: str) -> str:
        """Return the next token, which has to be one of these."""
        return self.take(*texts) or str(self.wrong())

    def name(self) -> str:
        """Return the name that has to come next."""
        if self.tokens[self.next].kind != "name":
            self.wrong()
        self.next += 1
        return str(self.tokens[self.next - 1].value)

    # -- expressions

    def block(self) -> Code:
        """Return a block; statements are the subclass's."""
        raise NotImplementedError

    def expression(self) -> Code:
        """Return the next expression."""
        left = self._joined("or", lambda: self._joined("and", self._negation))
        while self.take("|>"):
            _, form, detail = self.postfix()
            if form != "call":
                self.wrong()
            left = self._piped(left, *detail)
        return left

    def _piped(self, value: Code, line: int, called: Code, given: list[Code]) -> Code:
        world, first = self.world, self.rules["pipe"] == "first"

        def pipe(names: VelaScope) -> Any:
            passed = [value(names)]
            function = called(names)
            others = [each(names) for each in given]
            return world.call(names, line, function, passed + others if first else others + passed)

        return pipe

    def _joined(self, word: str, part: Callable[[], Code]) -> Code:
        left = part()
        while self.take(word):
            left = self._lazy(word == "or", left, part())
        return left

    def _lazy(self, enough: bool, left: Code, right: Code) -> Code:
        holds, plain = self.mean.holds, self.rules["boolops"]

        def lazy(names: VelaScope) -> Any:
            value = left(names)
            if holds(value) != enough:
                value = right(names)
            return holds(value) if plain else value

        return lazy

    def _negation(self) -> Code:
        if not self.take("not"):
            return self._comparison()
        inner, holds = self._negation(), self.mean.holds
        return lambda names: not holds(inner(names))

    def _comparison(self) -> Code:
        first = self._sum()
        links: list[tuple[str, int, Code]] = []
        while (sign := self._sign()) and (self.rules["chain"] or not links):
            line = self.line
            self.next += 1
            links.append((sign, line, self._sum()))
        if not links:
            return first
        world, compared = self.world, self.mean.compared

        def chain(names: VelaScope) -> bool:
            left, result = first(names), True
            for sign, line, right in links:
                value = right(names)
                result = world.at(names, line, compared, sign, left, value)
                if not result:
                    break
                left = value
            return result

        return chain

    def _sign(self) -> str:
        """Return the comparison that comes next, if one does; `not` is passed over."""
        token, after = self.tokens[self.next], self.tokens[self.next + 1 : self.next + 2]
        if self.sees(*_COMPARISONS) or (self.rules["within"] and self.sees("in")):
            return str(token.value)
        if self.rules["within"] and self.sees("not") and after and after[0][:2] == ("sign", "in"):
            self.next += 1
            return "not in"
        return ""

    def _sum(self) -> Code:
        left = self._product()
        while self.sees("+", "-"):
            line = self.line
            left = self._binary(line, self.take("+", "-"), left, self._product())
        return left

    def _product(self) -> Code:
        left = self._unary()
        while self.sees("*", "/", "%"):
            line = self.line
            left = self._binary(line, self.take("*", "/", "%"), left, self._unary())
        return left

    def _binary(self, line: int, sign: str, left: Code, right: Code) -> Code:
        world, work = self.world, self.mean.arithmetic

        def binary(names: VelaScope) -> Any:
            first = left(names)
            return world.at(names, line, work, sign, first, right(names))

        return binary

    def _unary(self) -> Code:
        line = self.line
        if not self.take("-"):
            return self.postfix()[0]
        inner, world, mean = self._unary(), self.world, self.mean

        def minus(names: VelaScope) -> Any:
            value = inner(names)
            if not mean.number(value):
                world.fail(names, line, "type", f"cannot negate {mean.kind(value)}")
            return world.at(names, line, mean.fit, -value)

        return minus

    def postfix(self) -> tuple[Code, str, tuple[Any, ...]]:
        """Return a primary with what follows it, the form of its last part, and that part."""
        token = self.tokens[self.next]
        code, form, parts = self._primary(), "", ()
        detail: tuple[Any, ...] = parts
        if token.kind == "name":
            form, detail = "name", (token.line, token.value)
        while self.sees("(", "[", "."):
            line, mark = self.line, self.take("(", "[", ".")
            if mark == "(":
                given = self._several(")")
                code, form, detail = self._calling(line, code, given), "call", (line, code, given)
            elif mark == ".":
                code, form = self._member(line, code, self.name()), "member"
            else:
                code, form, detail = self._indexing(line, code)
        return code, form, detail

    def _calling(self, line: int, called: Code, given: list[Code]) -> Code:
        world = self.world

        def call(names: VelaScope) -> Any:
            function = called(names)
            return world.call(names, line, function, [each(names) for each in given])

        return call

    def _member(self, line: int, code: Code, name: str) -> Code:
        world, private = self.world, self.rules["modules"] == "private" and name[0] == "_"

        def member(names: VelaScope) -> Any:
            unit = code(names)
            if not isinstance(unit, Unit):
                world.fail(names, line, "type", f"no members in {world.mean.kind(unit)}")
            if private or name not in unit.names:
                world.fail(names, line, "name", f"{name} is not defined")
            return unit.names[name]

        return member

    def _indexing(self, line: int, code: Code) -> tuple[Code, str, tuple[Any, ...]]:
        world, mean, slices = self.world, self.mean, self.rules["index"] == "slices"
        low = nothing if slices and self.sees(":") else self.expression()
        if slices and self.take(":"):
            high = nothing if self.sees("]") else self.expression()
            self.must("]")

            def cut(names: VelaScope) -> Any:
                value, start = code(names), low(names)
                return world.at(names, line, mean.cut, value, start, high(names))

            return cut, "slice", ()
        self.must("]")

        def index(names: VelaScope) -> Any:
            value = code(names)
            return world.at(names, line, mean.get, value, low(names))

        return index, "index", (line, code, low)

    def _several(self, end: str) -> list[Code]:
        values = []
        while not self.sees(end):
            values.append(self.expression())
            if not self.take(","):
                break
        self.must(end)
        return values

    def _primary(self) -> Code:
        token = self.tokens[self.next]
        if token.kind in ("number", "text"):
            self.next += 1
            return lambda names: token.value
        if token.kind == "name":
            self.next += 1
            return self._lookup(token.line, token.value)
        if token.kind == "pieces":
            self.next += 1
            return self._pieces(token)
        sign = self.take("nil", "true", "false", "(", "[", "{", "fn") or self.wrong()
        if sign == "(":
            inner = self.expression()
            self.must(")")
            return inner
        if sign == "[":
            values = self._several("]")
            return lambda names: [each(names) for each in values]
        if sign == "fn":
            return self.function("fn")
        if sign == "{":
            return self._map(token.line)
        value = {"nil": None, "true": True, "false": False}[sign]
        return lambda names: value

    def _lookup(self, line: int, name: str) -> Code:
        world = self.world

        def find(names: VelaScope) -> Any:
            held = names.holder(name)
            if held is None:
                return world.fail(names, line, "name", f"{name} is not defined")
            return held[name]

        return find

    def _pieces(self, token: Token) -> Code:
        show, quiet = self.mean.show, self.rules["interp"] == "quiet"
        world, line = self.world, token.line
        codes: list[Code | str] = []
        for piece in token.value:
            if isinstance(piece, str):
                codes.append(piece)
                continue
            outer = self.tokens, self.next
            self.tokens, self.next = piece, 0
            codes.append(self.expression())
            if self.tokens[self.next].kind != "end":
                self.wrong()
            self.tokens, self.next = outer

        def text(names: VelaScope) -> str:
            made = ""
            for code in codes:
                value = code if isinstance(code, str) else code(names)
                made += "" if quiet and value is None else world.at(names, line, show, value)
            return made

        return text

    def _map(self, line: int) -> Code:
        pairs = []
        while not self.sees("}"):
            key = self.expression()
            self.must(":")
            pairs.append((key, self.expression()))
            if not self.take(","):
                break
        self.must("}")
        world, mean = self.world, self.mean

        def table(names: VelaScope) -> dict[Any, Any]:
            made = {}
            for key, value in pairs:
                held = world.at(names, line, mean.key, key(names))
                made[held] = value(names)
            return made

        return table

    def function(self, name: str) -> Code:
        """Return a function from its parameters on."""
        self.must("(")
        params: list[str] = []
        optional: list[Code] = []
        rest = ""
        while not self.sees(")"):
            param = self.name()
            if self.rules["varargs"] and self.take("..."):
                rest = param
                break
            if self.rules["defaults"] and self.take("="):
                optional.append(self.expression())
            elif optional:
                self.wrong()
            params.append(param)
            if not self.take(","):
                break
        self.must(")")
        outer = self.loops, self.inside, self.shut, self.guards
        self.loops, self.inside, self.shut, self.guards = [], True, False, 0
        body = self.block()
        self.loops, self.inside, self.shut, self.guards = outer
        world, early = self.world, self.rules["defaults"] == "early"
        least = len(params) - len(optional)

        def make(names: VelaScope) -> Routine:
            ready = [each(names) for each in optional] if early else []

            def run(given: list[Any]) -> Any:
                own = VelaScope(names)
                own.routine = made
                for place, param in enumerate(params):
                    if place < len(given):
                        own[param] = given[place]
                    elif early:
                        own[param] = ready[place - least]
                    else:
                        own[param] = optional[place - least](own)
                if rest:
                    own[rest] = given[len(params) :]
                return world.enter(own, body)

            made = Routine(name, (least, None if rest else len(params)), run, True)
            return made

        return make


def nothing(names: VelaScope) -> None:
    """Do nothing; the value is nil."""


def sequence(parts: list[Code]) -> Code:
    """Return code that runs the parts until one gives a signal."""

    def run(names: VelaScope) -> Any:
        for part in parts:
            signal = part(names)
            if signal:
                return signal
        return None

    return run
