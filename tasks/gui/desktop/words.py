"""People, goods and places of desktop tasks; each split uses its own share of each list."""

from collections.abc import Sequence

from hexathlon.tasks.drawn import own_share
from hexathlon.tasks.task import Split

__all__ = ["GOODS", "PEOPLE", "PLACES", "TOPICS", "shared"]

_FIRST = ("Ada", "Bruno", "Carla", "Dmitri", "Elena", "Farid", "Greta", "Hugo", "Ines", "Jonas",
          "Katia", "Leon", "Mira", "Nadia", "Oskar", "Petra", "Quentin", "Rosa", "Stefan", "Tilda",
          "Ulla", "Viktor", "Wanda", "Yusuf")  # fmt: skip
_LAST = ("Ahrens", "Bianchi", "Castro", "Dvorak", "Eriksen", "Fontana", "Gruber", "Hansen",
         "Ivanova", "Jansen", "Keller", "Lindqvist", "Moreau", "Novak", "Okafor", "Peeters",
         "Quiroga", "Rossi", "Santos", "Tanaka", "Ulrich", "Vargas", "Weiss", "Zeman")  # fmt: skip

PEOPLE: tuple[str, ...] = tuple(
    f"{first} {last}" for at, first in enumerate(_FIRST) for last in _LAST[at % 3 :: 3]
)
GOODS: tuple[str, ...] = (
    "apples", "bandages", "candles", "drill bits", "envelopes", "felt pens", "gloves", "hinges",
    "ink", "jam jars", "kettles", "lamps", "mugs", "nails", "oil", "paper", "quilts", "rope",
    "staples", "tape", "umbrellas", "varnish", "wire", "yarn", "batteries", "brushes", "buckets",
    "cables", "clamps", "cups", "filters", "folders", "forks", "funnels", "hooks", "knives",
    "labels", "ladders", "magnets", "mats", "mirrors", "napkins", "pans", "pegs", "pins", "plates",
    "plugs", "racks", "rulers", "sacks", "screws", "sieves", "soap", "sponges", "spoons",
    "stamps", "stools", "straps", "switches", "towels", "trays", "tubes", "valves", "wheels",
)  # fmt: skip
PLACES: tuple[str, ...] = (
    "Aarau", "Bergen", "Cadiz", "Delft", "Evora", "Fulda", "Ghent", "Halle", "Ivrea", "Jena",
    "Kiel", "Lucca", "Malmo", "Namur", "Oulu", "Porto", "Quimper", "Riga", "Siena", "Trier",
    "Umea", "Vaduz", "Wels", "Zadar", "Arles", "Basel", "Como", "Dover", "Essen", "Faro",
    "Graz", "Huesca",
)  # fmt: skip
TOPICS: tuple[str, ...] = (
    "budget", "concert", "delivery", "election", "festival", "garden", "harvest", "inspection",
    "journey", "kitchen", "library", "market", "newsletter", "orchard", "picnic", "quarry",
    "repairs", "survey", "training", "upgrade", "voyage", "workshop", "archive", "bakery",
    "cellar", "depot", "exhibit", "ferry", "gallery", "harbour", "island", "museum",
)  # fmt: skip


def shared(values: Sequence[str], split: Split) -> Sequence[str]:
    """Return a split's share of a list."""
    return own_share(values, split)
