"""Files: folders, documents, a bin, and what other apps share.

Files are rows: names, folders and, for documents, their text. Names are unique in a folder.
"""

from hexathlon.tasks.gui.world.apps.files.files import FilesApp

__all__ = ["app"]

app = FilesApp()
"""The files app."""
