"""Transit: connections between stations, lines, and tickets.

Independent of other apps; a ticket is paid by the account of the transit company.
"""

from hexathlon.tasks.gui.world.apps.transit.transit import TransitApp

__all__ = ["app"]

app = TransitApp()
"""The transit app."""
