"""Notes: titles and texts with labels, pinned notes, an archive, and checklists.

Independent of other apps; texts that they share become notes.
"""

from hexathlon.tasks.gui.world.apps.notes.notes import NotesApp

__all__ = ["app"]

app = NotesApp()
