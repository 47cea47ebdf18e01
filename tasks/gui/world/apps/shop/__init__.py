"""Shop: a catalogue, a cart, orders, a wish list and addresses.

Independent of other apps; the bank app shows the payments for its orders.
"""

from hexathlon.tasks.gui.world.apps.shop.shop import ShopApp

__all__ = ["app"]

app = ShopApp()
"""The shop app."""
