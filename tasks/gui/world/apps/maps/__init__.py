"""Maps: places of a drawn town, with opening hours, routes, and lists of saved places.

Independent of other apps, to which it shares addresses.
"""

from hexathlon.tasks.gui.world.apps.maps.maps import MapsApp

__all__ = ["app"]

app = MapsApp()
"""The maps app."""
