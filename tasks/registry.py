"""Registry of task sources by name; a source is imported on first use."""

import importlib
from collections.abc import Callable
from typing import cast

from hexathlon.tasks.errors import TaskError, UnknownTaskSource
from hexathlon.tasks.source import TaskSource

__all__ = ["get_source", "register_source", "source_names"]

_factories: dict[str, str | Callable[[], TaskSource]] = {
    "sql": "hexathlon.tasks.sql.source:source",
    "spider": "hexathlon.tasks.sql.loaders.spider:source",
    "bird": "hexathlon.tasks.sql.loaders.bird:source",
    "intercode-sql": "hexathlon.tasks.sql.loaders.intercode:source",
    "dbbench": "hexathlon.tasks.sql.loaders.dbbench:source",
    "roleplay": "hexathlon.tasks.roleplay.source:source",
    "roleplay-shift": "hexathlon.tasks.roleplay.shift:source",
    "step-errors": "hexathlon.tasks.roleplay.verdicts.benchmarks:step_errors_source",
    "procedures": "hexathlon.tasks.roleplay.verdicts.benchmarks:procedures_source",
    "verdicts": "hexathlon.tasks.roleplay.verdicts.source:source",
    "personagym": "hexathlon.tasks.roleplay.loaders.personagym:source",
    "pingpong": "hexathlon.tasks.roleplay.loaders.pingpong:source",
    "charactereval": "hexathlon.tasks.roleplay.loaders.charactereval:source",
    "characterbench": "hexathlon.tasks.roleplay.loaders.characterbench:source",
    "rolebench": "hexathlon.tasks.roleplay.loaders.rolebench:source",
    "rolemrc": "hexathlon.tasks.roleplay.loaders.rolemrc:source",
    "coser": "hexathlon.tasks.roleplay.loaders.coser:source",
    "chinook": "hexathlon.tasks.sql.loaders.sample:source",
    "terminal": "hexathlon.tasks.terminal.source:source",
    "harbor": "hexathlon.tasks.terminal.directories:harbor",
    "terminal-bench": "hexathlon.tasks.terminal.directories:terminal_bench",
    "shopping": "hexathlon.tasks.shopping.source:source",
    "tau2-retail": "hexathlon.tasks.shopping.loaders.tau2:source",
    "web": "hexathlon.tasks.web.source:source",
    "desktop": "hexathlon.tasks.gui.desktop.source:source",
    "webarena": "hexathlon.tasks.web.loaders.webarena:webarena_source",
    "webarena-verified": "hexathlon.tasks.web.loaders.webarena_verified:source",
    "miniwob": "hexathlon.tasks.web.loaders.miniwob:source",
    "visualwebarena": "hexathlon.tasks.web.loaders.webarena:visual_source",
    "gui": "hexathlon.tasks.gui.source:source",
    "gui-mined": "hexathlon.tasks.gui.mined.source:source",
    "gui-pixels": "hexathlon.tasks.gui.pixels:source",
    "android-world": "hexathlon.tasks.gui.loaders.android_world:source",
    "osworld": "hexathlon.tasks.gui.loaders.osworld:source",
    "gui-replay": "hexathlon.tasks.gui.loaders.recorded:source",
    "webshop": "hexathlon.tasks.shopping.loaders.webshop:source",
}
_sources: dict[str, TaskSource] = {}


def register_source(name: str, factory: str | Callable[[], TaskSource]) -> None:
    """Register a task source.

    Args:
        name: First part of the source's task ids.
        factory: `module:function`, or a callable that returns the source; called at most once.

    Raises:
        TaskError: If the name is already registered with another factory.
    """
    if _factories.get(name, factory) != factory:
        raise TaskError(f"the task source name {name!r} is taken; choose another")
    _factories[name] = factory


def get_source(name: str) -> TaskSource:
    """Return the source with this name, importing it on first use.

    Raises:
        UnknownTaskSource: If no source is registered under the name.
    """
    if name not in _sources:
        if name not in _factories:
            raise UnknownTaskSource(name, _factories)
        factory = _factories[name]
        if isinstance(factory, str):
            module, _, attribute = factory.partition(":")
            factory = cast(
                "Callable[[], TaskSource]", getattr(importlib.import_module(module), attribute)
            )
        _sources[name] = factory()
    return _sources[name]


def source_names() -> list[str]:
    """Return the names of all registered sources, sorted."""
    return sorted(_factories)
