"""Hexathlon: six events for language-model agents, as gymnasium environments.

Importing this package registers the environments, so that `gymnasium.make("hexathlon/SQL-v0")`
works. Nothing heavier than gymnasium is loaded; each part is imported where it is used.
"""

from importlib.metadata import PackageNotFoundError, version

from hexathlon.envs.registry import register_environments

__all__ = ["__version__"]

try:
    __version__ = version("hexathlon")
except PackageNotFoundError:  # the sources are on the path, but nothing was installed
    __version__ = "0+unknown"

register_environments()
