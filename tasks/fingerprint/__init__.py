"""Content hashes of task sources, which cover only what determines the tasks.

A hash covers the code of the source's module and of its imports within the package, without
comments, docstrings and formatting; the data files that the source names; and the behaviour of
the dependencies that it names, such as the draws of numpy's generators. The locations of modules
and files do not count.
"""

import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import takewhile
from pathlib import Path, PurePosixPath

from hexathlon.tasks.cache.disk import shared_cache
from hexathlon.tasks.cache.keys import family_of, files_digest, key_of, within
from hexathlon.tasks.fingerprint.modules import (
    deciding_modules,
    modules_digest,
    package_folders,
)

__all__ = ["declared_files", "fingerprint_of"]


def fingerprint_of(
    name: str, modules: Sequence[str], data_files: Sequence[str], dependencies: Mapping[str, str]
) -> str:
    """Return the fingerprint (SHA-256, hex) of a task source.

    Args:
        name: The source's name and version.
        modules: The source's module first, then the modules it imports by computed names.
        data_files: Glob patterns, relative to the directory of the top-level package.
        dependencies: Digests of the behaviour of other packages, by package name.

    Raises:
        FileNotFoundError: If a module has no Python file, or a pattern matches no file.
    """
    parts = [name, _content_digest(tuple(modules), tuple(data_files))]
    parts += [f"{package} {digest}" for package, digest in sorted(dependencies.items())]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def declared_files(module: str, patterns: Sequence[str]) -> dict[str, Path]:
    """Return the files that match the patterns, sorted and keyed by path within the package.

    Raises:
        FileNotFoundError: If a pattern matches no file.
    """
    found: dict[str, Path] = {}
    for pattern in patterns:
        matches = {
            path.relative_to(folder).as_posix(): path
            for folder in package_folders(module)
            for path in folder.glob(pattern)
        }
        if not matches:
            raise FileNotFoundError(f"no file of {module.partition('.')[0]} matches {pattern!r}")
        found |= matches
    return dict(sorted(found.items()))


@cache
def _content_digest(modules: tuple[str, ...], patterns: tuple[str, ...]) -> str:
    """Return the digest of code and data, from the cache on disk if it covers all of them."""
    disk, family = shared_cache(), family_of(modules[0])
    if disk is None or family is None or not within(family, modules, patterns):
        return _derived_digest(modules, patterns)
    files = files_digest(family)
    if files is None:
        return _derived_digest(modules, patterns)
    key = key_of("fingerprint", files, *modules, "", *patterns)
    known = disk.get(key)
    if known is not None:
        return known.decode()
    digest = _derived_digest(modules, patterns)
    if within(family, deciding_modules(modules), patterns):
        disk.put(key, digest.encode())
    return digest


def _derived_digest(modules: tuple[str, ...], patterns: tuple[str, ...]) -> str:
    digest = hashlib.sha256(modules_digest(modules).encode())
    for pattern in patterns:
        folder = _fixed_folder(pattern)
        for name, path in declared_files(modules[0], [pattern]).items():
            content = path.read_bytes()
            inner = PurePosixPath(name).relative_to(folder)
            digest.update(f"\n{inner} {len(content)}\n".encode())
            digest.update(content)
    return digest.hexdigest()


def _fixed_folder(pattern: str) -> str:
    """Return the folder above all possible matches of a pattern; its location does not count.

    >>> _fixed_folder("tasks/goods/*/words.txt")
    'tasks/goods'
    """
    parts = PurePosixPath(pattern).parts[:-1]
    fixed = list(takewhile(lambda part: not set(part) & set("*?["), parts))
    return "/".join(fixed) or "."
