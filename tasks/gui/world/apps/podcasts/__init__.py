"""Podcasts: shows, episodes, downloads and a queue.

Nothing is played or downloaded: both are columns of the episodes.
"""

from hexathlon.tasks.gui.world.apps.podcasts.podcasts import PodcastsApp

__all__ = ["app"]

app = PodcastsApp()
"""The podcasts app."""
