"""Tasks with a long horizon: worlds of many files with a history, and work in several phases.

Each module registers the templates of one world, at level hard and with the prefix `long_`. It
knows drafts and probes; it does not know sandboxes or the source that numbers the tasks.
"""

import importlib
import pkgutil

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")
