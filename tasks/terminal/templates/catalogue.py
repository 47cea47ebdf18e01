"""All templates of generated terminal tasks: every module of this package registers its own."""

import importlib
import pkgutil
from collections.abc import Mapping
from functools import lru_cache

from hexathlon.tasks.terminal import templates
from hexathlon.tasks.terminal.draft import TerminalTemplate, registered

__all__ = ["all_templates"]


@lru_cache(maxsize=1)
def all_templates() -> Mapping[str, TerminalTemplate]:
    """All templates by name, sorted."""
    for module in pkgutil.iter_modules(templates.__path__):
        importlib.import_module(f"{templates.__name__}.{module.name}")
    return registered()
