"""Gallery: photos, albums, a bin, and an editor whose edits are data.

Photos of receipts show payments made through the bank; a photo's details include its text.
"""

from hexathlon.tasks.gui.world.apps.gallery.gallery import GalleryApp

__all__ = ["app"]

app = GalleryApp()
"""The gallery app."""
