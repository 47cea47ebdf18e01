"""Music: songs, albums, playlists and a player.

Nothing sounds: the player is a row with the song and what the buttons set.
"""

from hexathlon.tasks.gui.world.apps.music.music import MusicApp

__all__ = ["app"]

app = MusicApp()
"""The app for music."""
