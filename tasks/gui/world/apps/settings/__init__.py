"""Settings of the phone: network, display, sound, apps and their permissions, about.

Independent of the apps that obey them.
"""

from hexathlon.tasks.gui.world.apps.settings.settings import SettingsApp

__all__ = ["app"]

app = SettingsApp()
