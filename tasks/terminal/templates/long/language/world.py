"""A run of a Vela program in the reference: its scopes, modules, calls and output."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from hexathlon.tasks.terminal.templates.long.language.meaning import (
    Meaning,
    Routine,
    Unit,
    VelaError,
)
from hexathlon.tasks.terminal.templates.long.language.scanning import Token, scan

__all__ = ["Code", "Leave", "ProgramRun", "Successor", "VelaScope"]

Code = Callable[["VelaScope"], Any]


class Successor(NamedTuple):
    """A call that takes the place of the function that returns it."""

    routine: Routine
    given: list[Any]
    file: str
    line: int


class Leave(Exception):
    """The end of the program by `exit`."""


class VelaScope(dict[str, Any]):
    """The names of one scope, with the scope around it and what its file and function keep."""

    def __init__(self, around: VelaScope | None, file: str = "", later: list[Any] | None = None):
        super().__init__()
        self.around = around
        self.file: str = file or (around.file if around is not None else "")
        self.later: list[Any] | None = later
        self.fixed: set[str] = set()
        self.routine: Routine | None = around.routine if around is not None else None
        if later is None and around is not None:
            self.later = around.later

    def holder(self, name: str) -> VelaScope | None:
        """Return the nearest scope with this name."""
        scope: VelaScope | None = self
        while scope is not None and name not in scope:
            scope = scope.around
        return scope


class ProgramRun:
    """A run of a program: its files, modules, output and depth of calls."""

    def __init__(
        self,
        files: Callable[[str], str | None],
        path: str,
        rules: Mapping[str, Any],
        build: Callable[[ProgramRun, str, list[Token]], Code],
    ) -> None:
        self.build = build
        self.files, self.path, self.rules = files, path, rules
        self.mean = Meaning(rules)
        self.out: list[str] = []
        self.active: list[tuple[str, str, int]] = []
        """Name, file and line of each call of a function written in Vela, outermost first."""

        self.done: dict[str, Unit] = {}
        self.open: list[str] = []
        self.core = VelaScope(None)
        self.core.update(self.mean.builtins())
        if rules["leave"]:
            self.core["exit"] = Routine("exit", (0, 1), self._exit, False)

    def _exit(self, given: list[Any]) -> None:
        code = given[0] if given else 0
        if not self.mean.number(code):
            raise VelaError("type", "bad argument for exit")
        if code not in range(256):
            raise VelaError("value", f"bad exit code {code}")
        raise Leave(code)

    def load(self, path: str) -> VelaScope:
        """Run a file and return its global names."""
        text = self.files(path) or ""
        body = self.build(self, path, scan(text, self.rules))
        names = VelaScope(self.core, path)
        self.open.append(path)
        try:
            body(names)
        finally:
            self.open.pop()
        return names

    def fail(self, names: VelaScope, line: int, kind: str, message: str, value: Any = None) -> Any:
        """Raise an error at a place."""
        error = VelaError(kind, message, value)
        raise self.placed(error, names, line)

    def placed(self, error: VelaError, names: VelaScope, line: int) -> VelaError:
        """Return the error with its place and the calls that led there, unless it has them."""
        if error.place is None:
            error.place, error.calls = (names.file, line), tuple(self.active)
        return error

    def at(self, names: VelaScope, line: int, work: Callable[..., Any], *given: Any) -> Any:
        """Return the result of an operation that stands on this line."""
        try:
            return work(*given)
        except VelaError as error:
            self.placed(error, names, line)
            raise

    def call(self, names: VelaScope, line: int, called: Any, given: list[Any]) -> Any:
        """Call a function with values."""
        self.check(names, line, called, given)
        if not called.own:
            return self.at(names, line, called.run, given)
        if len(self.active) >= self.rules["limit"]:
            self.fail(names, line, "depth", f"more than {self.rules['limit']} calls")
        self.active.append((called.name, names.file, line))
        try:
            result = called.run(given)
            while isinstance(result, Successor):
                self.active[-1] = (result.routine.name, result.file, result.line)
                result = result.routine.run(result.given)
            return result
        finally:
            self.active.pop()

    def check(self, names: VelaScope, line: int, called: Any, given: list[Any]) -> None:
        """Raise an error if a value cannot be called so."""
        if not isinstance(called, Routine):
            self.fail(names, line, "type", f"cannot call {self.mean.kind(called)}")
        least, most = called.takes
        if len(given) < least or (most is not None and len(given) > most):
            wanted = f"at least {least}" if most is None else f"{least} to {most}"
            wanted = str(least) if least == most else wanted
            text = f"{called.name} takes {wanted} arguments, got {len(given)}"
            self.fail(names, line, "type", text)

    def enter(self, names: VelaScope, body: Code) -> Any:
        """Run a function's body and then its deferred calls."""
        later = names.later = []
        result, error, leaving = None, None, None
        try:
            signal = body(names)
            result = signal[1] if signal else None
        except VelaError as raised:
            error = raised
        except Leave as end:
            if self.rules["leave"] == "now":
                raise
            leaving = end
        while later:
            try:
                later.pop()()
            except VelaError as raised:
                error = error if error and self.rules["deferror"] == "first" else raised
        if leaving or error:
            raise leaving or error or RuntimeError
        return result
