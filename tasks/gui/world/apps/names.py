"""Names of all apps, in the order of the launcher."""

__all__ = ["APP_NAMES"]

APP_NAMES: tuple[str, ...] = (
    "messages",
    "contacts",
    "phone",
    "notes",
    "mail",
    "calendar",
    "clock",
    "tasks",
    "maps",
    "gallery",
    "files",
    "music",
    "podcasts",
    "expenses",
    "bank",
    "shop",
    "transit",
    "settings",
)
"""Each is the name of a package next to this module, whose object `app` is the app."""
