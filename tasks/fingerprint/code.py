"""Canonical form of Python code, reduced to the parts that can affect its results.

Comments, formatting, docstrings, `__all__`, blocks under `TYPE_CHECKING` and annotations of
functions and variables are removed. Annotations in class bodies are kept, because dataclasses,
pydantic models and named tuples read them. A custom serialiser produces the text, identical under
CPython 3.11 to 3.14, unlike `ast.dump`. Only the standard library is used.
"""

import ast
from collections.abc import Callable
from itertools import groupby
from typing import Any, NamedTuple

__all__ = ["Imported", "canonical_code", "reduce_module", "take_imports"]

_UNWRITTEN = frozenset({"ctx", "kind", "type_comment", "type_ignores", "annotation", "returns"})
_FIELDS: dict[type, tuple[str, ...]] = {}
"""The fields to serialise, by node class."""

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_BLOCKS = ("body", "orelse", "finalbody")
_PARTS = ("handlers", "cases")


class Imported(NamedTuple):
    """One name that an import statement binds."""

    module: str
    """As written, with leading dots for a relative import."""
    name: str
    """Empty for `import module`."""


def canonical_code(tree: ast.Module) -> str:
    """Return the same text for all spellings of the same code.

    Args:
        tree: The parsed module, as returned by `reduce_module`.
    """
    parts: list[str] = []
    _write(tree, parts.append)
    return "".join(parts)


def reduce_module(tree: ast.Module) -> ast.Module:
    """Remove, in place, everything that cannot affect results; return the same tree."""
    _reduce(tree, in_class=False)
    return tree


def take_imports(tree: ast.Module, own: Callable[[str], bool]) -> list[Imported]:
    """Remove, in place, the modules of `from` imports; return what was imported.

    Neighbouring import statements become one that binds the same names, sorted, so that the code
    does not depend on the location of its own modules. The returned names are in the order in which
    the code then binds them. Other imports stay as they are; those of own modules are also
    returned.

    Args:
        tree: The parsed module, as `reduce_module` left it.
        own: Whether a module, as written, belongs to the package.
    """
    taken: list[Imported] = []
    _take(tree, own, taken)
    return taken


def _take(node: ast.AST, own: Callable[[str], bool], taken: list[Imported]) -> None:
    for name in _BLOCKS:
        block = getattr(node, name, None)
        if isinstance(block, list):  # a lambda's body is an expression
            block[:] = _without_places(block, own, taken)
    for name in _PARTS:
        for part in getattr(node, name, ()):
            _take(part, own, taken)


def _without_places(
    block: list[ast.stmt], own: Callable[[str], bool], taken: list[Imported]
) -> list[ast.stmt]:
    kept: list[ast.stmt] = []
    for are_imports, run in groupby(block, lambda s: isinstance(s, ast.Import | ast.ImportFrom)):
        statements = list(run)
        if not are_imports:
            for statement in statements:
                _take(statement, own, taken)
            kept += statements
            continue
        bound: list[tuple[ast.alias, Imported]] = []
        for statement in statements:
            if isinstance(statement, ast.ImportFrom):
                module = "." * statement.level + (statement.module or "")
                if own(module):
                    bound += [(alias, Imported(module, alias.name)) for alias in statement.names]
                    continue
            elif isinstance(statement, ast.Import):
                taken += [Imported(alias.name, "") for alias in statement.names if own(alias.name)]
            kept.append(statement)
        bound.sort(key=lambda pair: pair[0].asname or pair[0].name)
        if bound:
            names = [ast.alias(alias.asname or alias.name) for alias, _ in bound]
            kept.append(ast.ImportFrom(module=None, names=names, level=0))
            taken += [imported for _, imported in bound]
    return kept


def _reduce(node: ast.AST, *, in_class: bool) -> None:
    """Reduce every statement block below a node."""
    inner = isinstance(node, ast.ClassDef) or (in_class and not isinstance(node, _FUNCTIONS))
    for name in _BLOCKS:
        block = getattr(node, name, None)
        if isinstance(block, list):
            block[:] = _deciding(block, in_class=inner)
    for name in _PARTS:
        for part in getattr(node, name, ()):
            _reduce(part, in_class=inner)


def _deciding(block: list[ast.stmt], *, in_class: bool) -> list[ast.stmt]:
    kept: list[ast.stmt] = []
    for statement in block:
        if isinstance(statement, ast.If) and _is_type_checking(statement.test):
            kept += _deciding(statement.orelse, in_class=in_class)
        elif not _is_idle(statement):
            if isinstance(statement, ast.AnnAssign) and not in_class:
                if statement.value is None:
                    continue
                statement = ast.Assign(targets=[statement.target], value=statement.value)
            _reduce(statement, in_class=in_class)
            kept.append(statement)
    return kept


def _is_type_checking(test: ast.expr) -> bool:
    return getattr(test, "attr", getattr(test, "id", None)) == "TYPE_CHECKING"


def _is_idle(statement: ast.stmt) -> bool:
    """Whether a statement is a docstring, `...`, `pass`, `__all__` or a `__future__` import."""
    match statement:
        case ast.Expr(value=ast.Constant()) | ast.Pass() | ast.ImportFrom(module="__future__"):
            return True
        case (
            ast.Assign(targets=[ast.Name(id="__all__")])
            | ast.AnnAssign(target=ast.Name(id="__all__"))
            | ast.AugAssign(target=ast.Name(id="__all__"))
        ):
            return True
    return False


def _write(value: Any, write: Callable[[str], object]) -> None:
    """Serialise a node, a list of nodes or a plain value."""
    kind = type(value)
    if kind is list:
        write("[")
        for item in value:
            _write(item, write)
            write(",")
        write("]")
    elif kind is ast.Constant:
        # ascii(), because repr() depends on the Unicode tables of the running Python.
        write(f"{type(value.value).__name__}:{ascii(value.value)}")
    elif isinstance(value, ast.AST):
        write(f"{kind.__name__}(")
        for name in _FIELDS.get(kind) or _fields_of(kind):
            field = getattr(value, name, None)
            if field is not None and field != []:
                write(f"{name}=")
                _write(_joined(field) if kind is ast.JoinedStr else field, write)
                write(",")
        write(")")
    else:
        write(ascii(value))


def _fields_of(kind: type[ast.AST]) -> tuple[str, ...]:
    unwritten = _UNWRITTEN - {"annotation"} if kind is ast.AnnAssign else _UNWRITTEN
    _FIELDS[kind] = tuple(name for name in kind._fields if name not in unwritten)
    return _FIELDS[kind]


def _joined(parts: list[ast.expr]) -> list[ast.expr]:
    """Join adjacent string parts of an f-string; Python versions split them differently."""
    joined: list[ast.expr] = []
    for part in parts:
        before = joined[-1] if joined else None
        if isinstance(part, ast.Constant) and isinstance(before, ast.Constant):
            joined[-1] = ast.Constant(str(before.value) + str(part.value))
        else:
            joined.append(part)
    return [part for part in joined if not (isinstance(part, ast.Constant) and part.value == "")]
