"""COPY and ADD of a Dockerfile, on files held as data."""

import fnmatch
import posixpath
import re
import shlex
from collections.abc import Mapping
from types import MappingProxyType

from hexathlon.envs.errors import TaskUnsupported
from hexathlon.envs.sandbox.image import Entry
from hexathlon.tasks.terminal.dockerfile import Copy, ParsedDockerfile, Run

__all__ = ["FILE_TIME", "copied", "leading_copies"]

FILE_TIME = 1_772_323_200
"""Modification time of all files of an image."""

_PATTERN = re.compile(r"[*?\[]")
_PROGRAMS = (b"#!", b"\x7fELF")


def leading_copies(
    recipe: ParsedDockerfile, context: Mapping[str, bytes], named: Mapping[str, bytes]
) -> tuple[dict[str, Entry], list[Copy | Run]]:
    """Split off the copies before the first command, which need no sandbox.

    `named` are files of the context that only a step which names them copies.
    """
    files: dict[str, Entry] = {}
    steps = list(recipe.steps)
    while steps:
        step = steps[0]
        if isinstance(step, Copy):
            if step.stage is not None or step.owner or step.unpack:
                break
            files.update(copied(step, context, named))
        elif _makes_one_folder(step):
            files[shlex.split(step.command)[-1]] = Entry(folder=True, mode=0o755, mtime=FILE_TIME)
        else:
            break
        steps.pop(0)
    return files, steps


def _makes_one_folder(step: Run) -> bool:
    plain = step.command.startswith("mkdir -p /") and not step.user
    return (
        plain
        and not re.search(r"[$`;&|<>*?{]", step.command)
        and len(shlex.split(step.command)) == 3
    )


def copied(
    step: Copy,
    context: Mapping[str, bytes | Entry],
    named: Mapping[str, bytes] = MappingProxyType({}),
) -> dict[str, Entry]:
    """Return what a step writes.

    Args:
        step: The step.
        context: Files by relative path: contents, or entries whose modes are kept.
        named: Further files, for steps whose source is not in the context.

    Raises:
        TaskUnsupported: If a source does not exist.
    """
    entries: dict[str, Entry] = {}
    sources: list[tuple[str, Mapping[str, bytes | Entry]]] = []
    for source in step.sources:
        place: Mapping[str, bytes | Entry] = context
        found = _matching(source, step, context)
        if not found and _PATTERN.search(source) is None:
            place, found = named, _matching(source, step, named)
        if not found:
            raise TaskUnsupported(
                f"the Dockerfile copies {source!r}, which does not exist", cause="task_build"
            )
        sources += [(name, place) for name in found]
    into = step.target.endswith("/") or len(sources) > 1
    for name, place in sources:
        folder = "" if name == "." else f"{name}/"
        whole = step.documents.get(name, place.get(name))
        if whole is not None:
            base = posixpath.basename(name)
            inner = {posixpath.join(step.target, base) if into else step.target: whole}
        else:
            inner = {
                posixpath.join(step.target, path.removeprefix(folder)): data
                for path, data in place.items()
                if path.startswith(folder) and (path != "Dockerfile" or folder)
            }
        for path, data in inner.items():
            entries[posixpath.normpath(path)] = _entry(data, step.mode)
    return entries


def _matching(source: str, step: Copy, context: Mapping[str, bytes | Entry]) -> list[str]:
    """Return the files and directories of the context that a source names."""
    name = posixpath.normpath(source).strip("/")
    if name in step.documents or name in context or name == ".":
        return [name]
    if any(path.startswith(f"{name}/") for path in context):
        return [name]
    if _PATTERN.search(name):
        depth = name.count("/") + 1
        tops = {"/".join(path.split("/")[:depth]) for path in context}
        parts = name.split("/")
        return [
            top
            for top in sorted(tops)
            if top.count("/") + 1 == depth and all(map(fnmatch.fnmatchcase, top.split("/"), parts))
        ]
    return []


def _entry(data: bytes | str | Entry, mode: int | None) -> Entry:
    if isinstance(data, Entry):
        return data
    if isinstance(data, str):
        data = data.encode()
    return Entry(data, mode or (0o755 if data.startswith(_PROGRAMS) else 0o644), mtime=FILE_TIME)
