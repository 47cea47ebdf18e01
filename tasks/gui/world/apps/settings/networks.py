"""The wireless networks in range."""

from hexathlon.tasks.gui.world.phone.app import ContentDraws

__all__ = ["draw_networks"]

_NAMES = ("Birchwood", "Cafe Solis", "Delta-5G", "Elm House", "FritzNet", "Guest", "Harbour Hotel",
          "Ivy Court", "Juniper", "Kestrel", "Library", "Maple-2G", "Northgate", "Orchard",
          "Pinewood", "Quay 7")  # fmt: skip
_KEYS = "abcdefghjkmnpqrstuvwxyz23456789"


def draw_networks(draws: ContentDraws) -> None:
    """Draw networks: one in use, one known, others with and without a password."""
    names = draws.sample(draws.own(_NAMES), 4)
    for place, name in enumerate(names):
        key = "".join(draws.pick(_KEYS) for _ in range(8)) if place != 3 else ""
        draws.add("networks", name=f"{name} {draws.between(1, 99)}", key=key,
                  saved=place < 2, connected=place == 0)  # fmt: skip
