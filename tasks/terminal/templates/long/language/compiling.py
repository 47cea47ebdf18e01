"""A reference for Vela: one pass from the text to closures, under the rules of one release.

Shares nothing with the interpreter that tasks ship: statements return signals instead of raising
exceptions, and there are no trees.
"""

from __future__ import annotations

import posixpath
import sys
from collections.abc import Callable, Mapping
from typing import Any

from hexathlon.tasks.terminal.templates.long.language.declaring import Pattern
from hexathlon.tasks.terminal.templates.long.language.expressing import nothing, sequence
from hexathlon.tasks.terminal.templates.long.language.jumping import Jumps
from hexathlon.tasks.terminal.templates.long.language.meaning import Unit, VelaError
from hexathlon.tasks.terminal.templates.long.language.scanning import SyntaxProblem, Token
from hexathlon.tasks.terminal.templates.long.language.world import (
    Code,
    Leave,
    ProgramRun,
    VelaScope,
)

__all__ = ["outcome"]


class ClosureBuilder(Jumps):
    """Builds closures for statements."""

    def program(self) -> Code:
        """Return the whole file."""
        parts = []
        while self.tokens[self.next].kind != "end":
            parts.append(self.statement())
        return sequence(parts)

    def block(self) -> Code:
        """Return a block, run in the scope that it is given."""
        self.must("{")
        parts = []
        while not self.sees("}"):
            parts.append(self.statement())
        self.must("}")
        return sequence(parts)

    def statement(self) -> Code:
        """Return the next statement."""
        token, after = self.tokens[self.next], self.tokens[min(self.next + 1, len(self.tokens) - 1)]
        label = ""
        if self.rules["labels"] and token.kind == "name" and after[:2] == ("sign", ":"):
            label = self.name()
            self.must(":")
            if not self.sees("while", "for"):
                self.wrong()
        if self.sees("while", "for"):
            return self.loop(label)
        if self.sees("{"):
            block = self.block()
            return lambda names: block(VelaScope(names))
        if self.sees("fn") and after.kind == "name":
            line = self.line
            self.must("fn")
            own = self.name()
            return self.declaring(line, own, self.function(own))
        if token.kind == "sign":
            reader = getattr(self, f"on_{token.value}", None)
            if reader is not None:
                if self.shut and token.value in ("return", "break", "continue"):
                    self.wrong()
                self.next += 1
                return reader(token.line)  # type: ignore[no-any-return]
        return self.plain()

    def on_print(self, line: int) -> Code:
        """`print`."""
        values = [self.expression()]
        while self.take(","):
            values.append(self.expression())
        self.must(";")
        world, show = self.world, self.mean.show

        def printing(names: VelaScope) -> None:
            shown = [world.at(names, line, show, each(names)) for each in values]
            world.out.append(" ".join(shown) + "\n")

        return printing

    def on_if(self, line: int) -> Code:
        """`if`."""
        test, then = self.expression(), self.block()
        other: Code = nothing
        if self.take("else"):
            if self.sees("if"):
                self.must("if")
                other = self.on_if(line)
            else:
                other = self.block()
        holds = self.mean.holds
        return lambda names: (then if holds(test(names)) else other)(VelaScope(names))

    def loop(self, label: str) -> Code:
        """`while` and `for`."""
        line, again = self.line, self.must("while", "for") == "while"
        name: str | Pattern = ""
        if not again:
            unpacked = self.rules["unpack"] and self.sees("[")
            name = self.pattern() if unpacked else self.name()
            self.must("in")
        head = self.expression()
        self.loops.append(label)
        body = self.block()
        self.loops.pop()
        return (
            self.repeated(label, head, body) if again else self.each(line, label, name, head, body)
        )

    def repeated(self, label: str, test: Code, body: Code) -> Code:
        """Return a `while` loop."""

        def loop(names: VelaScope) -> Any:
            while self.mean.holds(test(names)):
                signal = body(VelaScope(names))
                if signal and (signal[0] == "return" or signal[1] not in ("", label)):
                    return signal
                if signal and signal[0] == "break":
                    break
            return None

        return loop

    def each(self, line: int, label: str, name: str | Pattern, source: Code, body: Code) -> Code:
        """Return a `for` loop."""
        world, rules = self.world, self.rules

        def loop(names: VelaScope) -> Any:
            values = source(names)
            if self.mean.kind(values) not in ("list", "map", "string"):
                world.fail(names, line, "type", f"cannot iterate {self.mean.kind(values)}")
            values = self.mean.order(values) if isinstance(values, dict) else values
            held = VelaScope(names)
            for value in tuple(values) if rules["snapshot"] else values:
                held = VelaScope(names) if rules["loopvar"] == "fresh" else held
                if isinstance(name, str):
                    held[name] = value
                else:
                    held.update(self.parts(names, line, name, value))
                signal = body(VelaScope(held))
                if signal and (signal[0] == "return" or signal[1] not in ("", label)):
                    return signal
                if signal and signal[0] == "break":
                    break
            return None

        return loop

    def on_try(self, line: int) -> Code:
        """`try`."""
        self.guards += 1
        body, ensure = self.block(), self.rules["ensure"]
        name, handler, last = "", None, None
        if not self.sees("catch", "finally") or (self.sees("finally") and not ensure):
            self.wrong()
        if self.take("catch"):
            name, handler = self.name(), self.block()
        if ensure and self.take("finally"):
            before, self.shut = self.shut, self.shut or ensure == "shut"
            last = self.block()
            self.shut = before
        self.guards -= 1
        caught = self.catching(body, name, handler) if handler else body
        return self.finishing(caught, last) if last else (lambda names: caught(VelaScope(names)))

    def catching(self, body: Code, name: str, handler: Code) -> Code:
        """Return a block with its handler."""

        def attempt(names: VelaScope) -> Any:
            try:
                return body(VelaScope(names))
            except VelaError as error:
                caught: Any = error.message
                if self.rules["errors"] != "text":
                    line = error.place[1] if error.place else 0
                    caught = {"kind": error.kind, "message": error.message, "line": line}
                    if self.rules["errors"] == "value" and error.kind == "user":
                        caught["value"] = error.value
            held = VelaScope(names)
            held[name] = caught
            return handler(held)

        return attempt

    def finishing(self, body: Code, last: Code) -> Code:
        """Return a block with what always follows it."""

        def attempt(names: VelaScope) -> Any:
            try:
                signal = body(VelaScope(names))
            except (VelaError, Leave) as stopped:
                if isinstance(stopped, Leave) and self.rules["leave"] == "now":
                    raise
                signal = last(VelaScope(names))
                if signal:
                    return signal
                raise
            return last(VelaScope(names)) or signal

        return attempt

    def on_import(self, line: int) -> Code:
        """`import`."""
        token, world = self.tokens[self.next], self.world
        if token.kind != "text":
            self.wrong()
        self.next += 1
        self.must("as")
        name, old = self.name(), self.rules["modules"] == "old"

        def load(names: VelaScope) -> Unit:
            near = posixpath.dirname(world.path if old else names.file)
            path = posixpath.normpath(posixpath.join(near, f"{token.value}.vela"))
            if path in world.open:
                world.fail(names, line, "import", f"{path} is still being imported")
            if world.files(path) is None:
                world.fail(names, line, "import", f"no module {path}")
            if old or path not in world.done:
                world.done[path] = Unit(path, world.load(path))
            return world.done[path]

        return self.ended(self.declaring(line, name, load))

    def on_defer(self, line: int) -> Code:
        """`defer`."""
        if not self.inside:
            self.next -= 1
            self.wrong()
        whole, call = self.calling()
        if not call:
            self.wrong()
        where, called, given = call
        world, late = self.world, self.rules["defer"] == "late"

        def defer(names: VelaScope) -> None:
            kept = names.later if names.later is not None else []
            if late:
                kept.append(lambda: whole(names))
                return
            function = called(names)
            values = [each(names) for each in given]
            kept.append(lambda: world.call(names, where, function, values))

        return self.ended(defer)

    def on_match(self, line: int) -> Code:
        """`match`."""
        value, cases, other = self.expression(), [], None
        self.must("{")
        while self.take("case"):
            choices = [self.expression()]
            while self.take(","):
                choices.append(self.expression())
            cases.append((choices, self.block()))
        if self.take("else"):
            other = self.block()
        self.must("}")
        world, mean, total = self.world, self.mean, self.rules["match"] == "total"

        def shown(names: VelaScope, made: Any) -> str:
            return str(world.at(names, line, mean.show, made, True))

        def choose(names: VelaScope) -> Any:
            made = value(names)
            for choices, body in cases:
                if any(
                    world.at(names, line, mean.equal, made, choice(names)) for choice in choices
                ):
                    return body(VelaScope(names))
            if other is None and total:
                world.fail(names, line, "value", f"no case for {shown(names, made)}")
            return other(VelaScope(names)) if other else None

        return choose

    def plain(self) -> Code:
        """Return an assignment or an expression as a statement."""
        start = self.next
        value = self.expression()
        end, line = self.next, self.line
        signs = ("=", "+=", "-=", "*=", "/=", "%=") if self.rules["compound"] else ("=",)
        if not self.sees(*signs):
            self.must(";")
            return lambda names: (value(names), None)[1]
        self.next = start
        prefixed = self.sees("-", "not")
        form, detail = ("", ()) if prefixed else self.postfix()[1:]
        if form not in ("name", "index") or self.next != end:
            self.next = end
            self.wrong()
        sign = self.must(*signs)
        right = self.expression()
        self.must(";")
        if sign != "=":
            return self.compound(line, sign[0], value, form, detail, right)
        return self.naming(detail, right) if form == "name" else self.storing(detail, right)


def _calls(error: VelaError, rules: Mapping[str, Any]) -> str:
    """Return the calls that led to an error, as lines of its report."""
    if not rules["traces"]:
        return ""
    lines = [f"  in {name}, {file}:{line}\n" for name, file, line in error.calls[::-1]]
    if rules["traces"] == "short" and len(lines) > 6:
        lines = [*lines[:3], f"  ... {len(lines) - 6} more\n", *lines[-3:]]
    return "".join(lines)


def _build(world: ProgramRun, path: str, tokens: list[Token]) -> Code:
    return ClosureBuilder(world, path, tokens).program()


def outcome(
    files: Callable[[str], str | None], path: str, rules: Mapping[str, Any]
) -> tuple[str, int]:
    """Run a program; return what it prints with its report, and its exit code.

    Args:
        files: Gives the text of a file, None if it does not exist.
        path: The program's file.
        rules: The rules of the release; `release.RULES` lists them.
    """
    world = ProgramRun(files, path, rules, _build)
    depth = sys.getrecursionlimit()
    sys.setrecursionlimit(200_000)
    codes = {"old": (2, 1, 1), "new": (65, 70, 70), "user": (65, 70, 1)}[rules["exitcodes"]]
    report, code = "", 0
    try:
        world.load(path)
    except SyntaxProblem as problem:
        report, code = f"{problem.file}:{problem.line}: syntax error\n", codes[0]
    except VelaError as error:
        file, line = error.place or (path, 0)
        report = f"{file}:{line}: {error.kind} error: {error.message}\n{_calls(error, rules)}"
        code = codes[2 if error.kind == "user" else 1]
    except Leave as end:
        code = int(str(end))
    finally:
        sys.setrecursionlimit(depth)
    return "".join(world.out) + report, code
