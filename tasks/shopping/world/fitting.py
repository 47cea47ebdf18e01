"""Properties that a product cannot have, given its kind and its other properties.

The catalogue combines the values of a category freely. The shop states only what can be true of the
goods: a drip machine has no pump pressure, wired headphones no battery. Pages leave such properties
out, no request rests on them, and nobody has ordered goods that cannot exist.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from hexathlon.tasks.catalogue.product import Product

__all__ = ["can_exist", "left_out"]

GoodsFacts = Mapping[str, str]
"""Values by property; `kind` is the kind of goods."""

Applies = Callable[[GoodsFacts], bool]


def _is(name: str, *values: str) -> Applies:
    return lambda facts: facts.get(name) in values


def _both(first: Applies, second: Applies) -> Applies:
    return lambda facts: first(facts) and second(facts)


_LEFT_OUT: Mapping[str, Sequence[tuple[Applies, tuple[str, ...]]]] = {
    "backpacks": ((_is("kind", "hiking"), ("laptop",)),),
    "bottles": (
        (_is("body", "tritan", "glass"), ("warmth", "wall")),
        (_is("body", "tritan"), ("weight",)),
    ),
    "building_sets": ((_is("stuff", "metal"), ("age",)), (_is("stuff", "card"), ("motor",))),
    "coffee_makers": (
        (_is("kind", "drip"), ("pressure", "milk")),
        (_is("kind", "espresso", "capsule"), ("filter", "jug")),
        (_both(_is("size", "family"), _is("tank", "0.8")), ("tank",)),
        (_both(_is("size", "compact", "slim"), _is("tank", "2.4")), ("tank",)),
    ),
    "face_creams": ((_is("kind", "night"), ("sun",)), (_is("sun", "0"), ("sun",))),
    "headphones": (
        (_is("link", "jack", "usb_c"), ("battery", "codec")),
        (_is("link", "dongle"), ("codec",)),
    ),
    "jackets": (
        (_is("kind", "fleece"), ("water", "breath", "fill")),
        (_is("kind", "shell"), ("fill",)),
        (_is("fabric", "cotton"), ("water", "breath")),
        (_both(_is("kind", "insulated"), _is("fill", "mesh")), ("fill",)),
        (_both(_is("kind", "insulated"), _is("packed", "280")), ("packed",)),
    ),
    "office_chairs": (
        (_is("kind", "drafting"), ("tilt", "lift")),
        (_both(_is("head", "none"), _is("tilt", "135", "160")), ("tilt",)),
    ),
    "pans": (
        (_is("coating", "ptfe"), ("heat",)),
        (_is("metal", "copper", "aluminium"), ("stove",)),
        (_is("handle", "wood"), ("stove", "heat")),
    ),
    "pet_beds": (
        (_is("form", "flat"), ("height",)),
        (_is("height", "0"), ("height",)),
        (_is("kind", "cat"), ("load",)),
        (_both(_is("wash", "whole"), _is("fill", "spelt", "memory")), ("fill",)),
    ),
    "power_banks": (
        (lambda facts: True, ("flight",)),  # none may travel as cargo only
        (_both(_is("capacity", "5000"), _is("power", "65", "100")), ("power",)),
    ),
    "running_shoes": (
        (_both(_is("kind", "road"), _is("outsole", "lugs", "spikes")), ("outsole",)),
        (_both(_is("kind", "trail"), _is("outsole", "slick", "spikes")), ("outsole",)),
        (_both(_is("kind", "track"), _is("outsole", "lugs")), ("outsole",)),
    ),
    "tea": (
        (_is("leaf", "herbal"), ("caffeine", "steeps", "harvest")),
        (_is("caffeine", "0"), ("caffeine",)),
        (_is("kind", "bags"), ("steeps",)),
    ),
    "tents": ((lambda facts: True, ("weight", "height")),),  # one value for one and for six people
}
"""By category: when a rule applies, and the properties that it leaves out."""

_IMPOSSIBLE: Mapping[str, Applies] = {
    "bottles": _both(_is("kind", "flask"), _is("body", "tritan", "glass")),
    "jackets": _both(_is("kind", "fleece"), _is("fabric", "nylon", "cotton")),
    "pans": _both(_is("handle", "folding"), _is("metal", "iron")),
    "pet_beds": _both(_is("kind", "mat"), _is("form", "donut", "cave", "sofa")),
    "power_banks": _both(_is("kind", "slim", "magnetic"), _is("capacity", "20000", "27000")),
    "tea": lambda facts: (
        _both(_is("leaf", "herbal", "white", "oolong"), _is("origin", "uji", "darjeeling"))(facts)
        or _both(_is("kind", "pressed"), _is("leaf", "herbal"))(facts)
    ),
    "tents": _both(_is("kind", "pyramid"), _is("poles", "air")),
}
"""By category: goods that nobody makes."""


def left_out(product: Product) -> frozenset[str]:
    """Return the properties of a product that its pages do not state."""
    return _left_out(product.category, product.kind, tuple(product.attributes.items()))


@lru_cache(maxsize=4096)
def _left_out(category: str, kind: str, attributes: tuple[tuple[str, str], ...]) -> frozenset[str]:
    facts = {**dict(attributes), "kind": kind}
    rules = _LEFT_OUT.get(category, ())
    return frozenset(name for applies, names in rules if applies(facts) for name in names)


def can_exist(product: Product) -> bool:
    """Whether goods such as this product are made at all."""
    impossible = _IMPOSSIBLE.get(product.category)
    return impossible is None or not impossible({**product.attributes, "kind": product.kind})
