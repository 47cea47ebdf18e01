"""All apps by name; a package is imported when its app is first used."""

import importlib
from functools import cache

from hexathlon.tasks.gui.world.apps.names import APP_NAMES
from hexathlon.tasks.gui.world.phone.app import PhoneApp

__all__ = ["app_named"]


@cache
def app_named(name: str) -> PhoneApp:
    """Return an app.

    Raises:
        KeyError: If there is no app of this name.
    """
    if name not in APP_NAMES:
        raise KeyError(f"there is no app {name!r}; the apps are {', '.join(APP_NAMES)}")
    module = importlib.import_module(f"hexathlon.tasks.gui.world.apps.{name}")
    app = module.app
    assert isinstance(app, PhoneApp) and app.name == name, f"{module.__name__}.app is not {name}"
    return app
