"""Environments of this machine, including those of plugins.

Listing them imports no built-in environment, and the loader of plugins only if one is installed.
"""

import importlib
from importlib.metadata import entry_points

from hexathlon.baselines.harness.errors import EnvironmentUnavailable
from hexathlon.envs.registry import ENVIRONMENTS, PLUGIN_GROUP, EnvironmentInfo

__all__ = ["all_environments"]


def all_environments() -> list[EnvironmentInfo]:
    """Return every environment, including those of plugins.

    Raises:
        EnvironmentUnavailable: If a plugin cannot be loaded.
    """
    importlib.invalidate_caches()
    if entry_points(group=PLUGIN_GROUP):
        from hexathlon.envs.plugins import PluginError, load_plugins

        try:
            load_plugins()
        except PluginError as error:
            raise EnvironmentUnavailable(str(error)) from None
    return list(ENVIRONMENTS.values())
