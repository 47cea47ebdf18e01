"""The transitive imports of a module within its own package, found without importing anything.

Imports inside functions count, those under `TYPE_CHECKING` do not. A parent package counts with
its `__init__`, except the top-level one, which usually imports everything. Modules imported by
computed names are not seen: sources name them (`TaskSource.late_modules`).

A module's location does not count: within a digest, an import is the digest of the imported module,
so moving a module changes nothing, and importing from a different one does.
"""

import ast
import gc
import hashlib
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from hexathlon.tasks.fingerprint.code import (
    Imported,
    canonical_code,
    reduce_module,
    take_imports,
)

__all__ = ["deciding_modules", "modules_digest", "package_folders"]

_OWN = "hexathlon"
"""Imports of this package are followed from any package."""

_UNDECIDING = (
    "hexathlon.tasks.cache",
    "hexathlon.tasks.fingerprint",
    "hexathlon.tasks.registry",
    "hexathlon.tasks.stored",
)
"""Modules that find, hash or store tasks and therefore cannot affect them."""


class _Module(NamedTuple):
    code: str
    """Digest of the code without the locations of its imports; empty if there is no code."""
    imports: tuple[Imported, ...]
    """Its imports from its own package and from hexathlon, by absolute names."""


def modules_digest(modules: Sequence[str]) -> str:
    """Return a SHA-256 (hex) of the code of the given modules and of all their imports.

    Raises:
        FileNotFoundError: If one of `modules` has no Python file.
    """
    parsed = {name: _parsed(name, path) for name, path in deciding_modules(modules).items()}
    digests = _digests(parsed)
    first, *late = [name for pattern in modules for name in _expanded(pattern)]
    parts = [digests[first], *sorted(digests[name] for name in late), ""]
    # Packages run when a module in them is imported; empty ones do nothing.
    parts += sorted({digests[name] for name, module in parsed.items() if module.code})
    return _hash(parts)


def _digests(parsed: Mapping[str, _Module]) -> dict[str, str]:
    """Digests of modules that cover what they import, and what that imports in turn.

    Each round follows the imports one step further. The rounds end when one distinguishes no
    further modules, which also works for circular imports.
    """
    digests = {name: module.code for name, module in parsed.items()}
    while True:
        finer = {
            name: _hash([module.code, *(_label(item, digests) for item in module.imports)])
            for name, module in parsed.items()
        }
        if len(set(finer.values())) <= len(set(digests.values())):
            return finer
        digests = finer


def _label(item: Imported, digests: Mapping[str, str]) -> str:
    """The imported thing, without its location; modules that do not count are named."""
    target = _target(*item)
    name = "" if target != item.module else item.name
    return f"{digests.get(target, target)} {name}"


def _hash(parts: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


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
            imports = _parsed(name, path).imports
            waiting += [_target(*item) for item in imports if _top(item.module) in tops]
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
    tops = {_top(name), _OWN}
    taken = take_imports(tree, lambda module: _top(_absolute(module, package)) in tops)
    imports = [Imported(_absolute(module, package), name) for module, name in taken]
    code = _hash([canonical_code(tree)]) if tree.body else ""
    return _Module(code, tuple(imports))


def _absolute(module: str, package: str) -> str:
    """Return the full name of a module, as written in a package, relative or not."""
    base = module.lstrip(".")
    level = len(module) - len(base)
    if not level:
        return base
    parts = package.split(".")
    above = parts[: len(parts) - level + 1]
    return ".".join([*above, base] if base else above)


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
