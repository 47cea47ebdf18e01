"""Gallery: photos, albums, a bin, and an editor whose edits are data.

Photos of receipts show payments of the bank; their text can be read in the details of a photo.
"""

from hexathlon.tasks.gui.world.apps.gallery.gallery import GalleryApp

__all__ = ["app"]

app = GalleryApp()
"""The app for photos."""
