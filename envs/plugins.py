"""Environments from other packages, discovered by entry point.

A package with environments declares a module or a function under the entry-point group
`hexathlon.envs`. Loading it registers the environments with Gymnasium and with `offer`. Importing
hexathlon loads no plugin; the commands load all of them, and so does `load_plugins()`.

See `docs/guides/plugins.md` for a complete example.
"""

import importlib
from importlib.metadata import EntryPoint, entry_points
from typing import NamedTuple

import gymnasium

from hexathlon.envs.registry import ENVIRONMENTS, PLUGIN_GROUP, EnvironmentInfo
from hexathlon.evaluators.verifier import Verifier, register_verifier
from hexathlon.tasks.registry import register_source
from hexathlon.tasks.source import TaskSource

__all__ = ["GROUP", "Plugin", "PluginError", "enlist", "load_plugins", "offer"]

GROUP = PLUGIN_GROUP


class PluginError(Exception):
    """A plugin could not be loaded; the message names it and its fault."""


class Plugin(NamedTuple):
    """One loaded plugin."""

    name: str
    package: str
    version: str
    environments: tuple[str, ...]
    """The ids it registered."""


_loaded: dict[tuple[str, str], Plugin] = {}


def load_plugins() -> list[Plugin]:
    """Load every installed plugin not loaded yet, and return all plugins, sorted by name.

    Raises:
        PluginError: If one cannot be imported, raises, or registers no environment.
    """
    importlib.invalidate_caches()
    for entry_point in sorted(entry_points(group=GROUP), key=lambda found: found.name):
        key = (entry_point.name, entry_point.value)
        if key not in _loaded:
            _loaded[key] = _load(entry_point)
    return sorted(_loaded.values())


def enlist(source: type[TaskSource], verifier: Verifier) -> None:
    """Register a task source, and its verifier under the same name and version.

    Called where the environment's module is imported: worker processes import nothing else.

    Raises:
        TaskError: If another source has this name.
        ValueError: If another verifier has it.
    """
    register_source(source.name, source)
    register_verifier(source.name, verifier, version=source.version)


def offer(
    env_id: str,
    entry_point: str,
    *,
    family: str,
    title: str,
    tasksets: tuple[str, ...] = (),
    vector_entry_point: str | None = None,
) -> None:
    """Register an environment with Gymnasium and with Hexathlon's commands.

    Args:
        env_id: `namespace/Name-v0`; the namespace is the package's own, not `hexathlon`.
        entry_point: `module:Class`, as text, so that it is imported only when needed.
        family: The task family.
        title: One line for listings.
        tasksets: Names of supported task sources, the default first; the family's by default.
        vector_entry_point: `module:function`; see `hexathlon.envs.vector.vectorised`.

    Raises:
        PluginError: If the id is taken, or is in our namespace.
    """
    if env_id.startswith("hexathlon/"):
        raise PluginError(f"{env_id}: the namespace 'hexathlon' is ours; use your package's name")
    info = EnvironmentInfo(
        env_id, family, title, entry_point, vector_entry_point or "", tuple(tasksets) or (family,)
    )
    if ENVIRONMENTS.get(env_id, info) != info or (
        env_id in gymnasium.registry and env_id not in ENVIRONMENTS
    ):
        raise PluginError(f"the id {env_id} is taken; choose another")
    if env_id not in ENVIRONMENTS:
        gymnasium.register(
            env_id,
            entry_point=entry_point,
            vector_entry_point=vector_entry_point,
            disable_env_checker=True,
            order_enforce=False,
        )
        ENVIRONMENTS[env_id] = info


def _load(entry_point: EntryPoint) -> Plugin:
    package = entry_point.dist
    source = f"{package.name} {package.version}" if package is not None else "an unknown package"
    label = f"the plugin {entry_point.name!r} of {source} ({entry_point.value})"
    before = set(ENVIRONMENTS)
    try:
        loaded = entry_point.load()
        if callable(loaded):
            loaded()
    except Exception as error:
        raise PluginError(
            f"{label} could not be loaded: {type(error).__name__}: {error}. "
            "Fix it, or uninstall the package"
        ) from error
    brought = tuple(env_id for env_id in ENVIRONMENTS if env_id not in before)
    if not brought:
        raise PluginError(f"{label} registered no environment; call hexathlon.envs.plugins.offer")
    return Plugin(
        entry_point.name,
        package.name if package is not None else "",
        package.version if package is not None else "",
        brought,
    )
