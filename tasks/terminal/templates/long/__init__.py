"""Tasks with a long horizon: worlds of many files, several phases, and nothing announced."""

import importlib
import pkgutil

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")
