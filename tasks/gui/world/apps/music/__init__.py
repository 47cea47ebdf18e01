"""Music: songs, albums, playlists and a player.

No sound is played: the player is a row with the song and the player's settings.
"""

from hexathlon.tasks.gui.world.apps.music.music import MusicApp

__all__ = ["app"]

app = MusicApp()
"""The music app."""
