"""Hexathlon: six events for language-model agents, as gymnasium environments.

Importing this package registers the environments, so that `gymnasium.make("hexathlon/SQL-v0")`
works. Nothing heavier than gymnasium is loaded; each part is imported where it is used.
"""

from hexathlon.envs.registry import register_environments

__all__ = ["__version__"]

__version__ = "0.1.0"

register_environments()
