"""The transitive imports of a module within its own package, found without importing anything.

Imports inside functions count; imports under `TYPE_CHECKING` do not. A parent package counts
through its `__init__`, except for the top-level package, which usually imports everything. Modules
imported by computed names cannot be detected; sources declare them (`TaskSource.late_modules`).
"""

import ast
import gc
import hashlib
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from hexathlon.tasks.fingerprint.code import canonical_code, imports_of, reduce_module

__all__ = ["deciding_modules", "modules_digest", "package_folders"]

_OWN = "hexathlon"
"""Imports of this package are followed from any package."""

_UNDECIDING = ("hexathlon.tasks.fingerprint", "hexathlon.tasks.registry")
"""Modules that find or hash sources and therefore cannot affect tasks."""


class _Module(NamedTuple):
    digest: str
    imports: tuple[tuple[str, str], ...]
    """Module and name for each `from module import name`; an empty name for `import module`."""


def modules_digest(modules: Sequence[str]) -> str:
    """Return a SHA-256 (hex) of the code of the given modules and of all their imports.

    Raises:
        FileNotFoundError: If one of `modules` has no Python file.
    """
    digest = hashlib.sha256()
    for name, path in deciding_modules(modules).items():
        digest.update(f"{name} {_parsed(name, path).digest}\n".encode())
    return digest.hexdigest()


def deciding_modules(modules: Sequence[str]) -> dict[str, Path]:
    """Return modules and their transitive imports in their packages, with files, sorted by name.

    Args:
        modules: Dotted names; `package.*` stands for all modules directly in a package.

    Raises:
        FileNotFoundError: If one of `modules` has no Python file.
    """
    tops = {name.partition(".")[0] for name in modules} | {_OWN}
    waiting = [name for pattern in modules for name in _expanded(pattern)]
    for name in waiting:
        if _file_of(name) is None:
            raise FileNotFoundError(f"the module {name} is in no Python file")
    found: dict[str, Path] = {}
    with _without_collector():
        while waiting:
            name = waiting.pop()
            path = None if name in found else _file_of(name)
            if path is None or _is_undeciding(name):
                continue
            found[name] = path
            waiting += _parents(name)
            waiting += [
                _target(*item) for item in _parsed(name, path).imports if _top(item[0]) in tops
            ]
    return dict(sorted(found.items()))


def package_folders(module: str) -> list[Path]:
    """Return the directories of a module's top-level package, or of a standalone module."""
    top = _top(module)
    package = sys.modules.get(top) or find_spec(top)
    places = getattr(package, "__path__", None) or getattr(
        package, "submodule_search_locations", None
    )
    if places:
        return [Path(place) for place in places]
    file = _loaded_file(top)
    return [file.parent] if file else []


def _loaded_file(name: str) -> Path | None:
    """Return the file of a loaded module, or of an importable top-level one."""
    module = sys.modules.get(name) or (None if "." in name else find_spec(name))
    file = getattr(module, "__file__", None) or getattr(module, "origin", None)
    return Path(file) if file and file.endswith(".py") else None


def _is_undeciding(name: str) -> bool:
    return any(name == own or name.startswith(f"{own}.") for own in _UNDECIDING)


def _top(name: str) -> str:
    return name.partition(".")[0]


def _parents(name: str) -> Iterator[str]:
    """Return the packages that contain a module, except the top-level one."""
    parts = name.split(".")
    return (".".join(parts[:end]) for end in range(2, len(parts)))


def _expanded(pattern: str) -> list[str]:
    if not pattern.endswith(".*"):
        return [pattern]
    package = pattern.removesuffix(".*")
    path = _file_of(package)
    files = sorted(path.parent.glob("*.py")) if path else []
    return [package, *(f"{package}.{file.stem}" for file in files if file.stem != "__init__")]


@cache
def _file_of(name: str) -> Path | None:
    """Return the file of a module, by its path in the package or as it was loaded."""
    _, *inner = name.split(".")
    for folder in package_folders(name) if inner else ():
        base = folder.joinpath(*inner)
        for path in (base / "__init__.py", base.with_name(f"{base.name}.py")):
            if path.is_file():
                return path
    return _loaded_file(name)


@cache
def _parsed(name: str, path: Path) -> _Module:
    tree = reduce_module(ast.parse(path.read_bytes()))
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    imports = dict.fromkeys(_imported(imports_of(tree), package))
    return _Module(hashlib.sha256(canonical_code(tree).encode()).hexdigest(), tuple(imports))


def _imported(
    statements: Iterable[ast.Import | ast.ImportFrom], package: str
) -> Iterator[tuple[str, str]]:
    for statement in statements:
        names = [alias.name for alias in statement.names]
        if isinstance(statement, ast.Import):
            yield from ((name, "") for name in names)
            continue
        base = statement.module or ""
        if statement.level:
            parts = package.split(".")
            above = parts[: len(parts) - statement.level + 1]
            base = ".".join([*above, base] if base else above)
        yield from ((base, name) for name in names)


def _target(module: str, name: str) -> str:
    """Return the submodule that an import names, or the module it imports from."""
    inner = f"{module}.{name}"
    return inner if name and _file_of(inner) else module


@contextmanager
def _without_collector() -> Iterator[None]:
    """Pause garbage collection: parsing creates no garbage, and collecting adds a third."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
