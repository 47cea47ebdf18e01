"""Draws of a market: sellers, and offers of a kind with their reviews."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from hexathlon.tasks.bilingual import Language
from hexathlon.tasks.shopping.world.household.goods import (
    BRANDS,
    CONTENTS,
    SELLER_NAMES,
    MarketKind,
)

__all__ = ["draw_offers", "draw_sellers", "priced_anew"]

_PACKS = {"mats": (10, 15, 30), "liners": (10, 20, 30), "papers": (20, 40, 80), "pads": (6, 10, 16),
          "capsules": (10, 16, 30), "detergent": (18, 25, 40), "wipes": (40, 60, 100),
          "gloves": (20, 50, 100), "plasters": (20, 30, 50), "bars": (4, 6, 12),
          "crackers": (3, 5, 8), "cups": (2, 4, 6)}  # fmt: skip
_FILLERS = (
    ("Came well packed.", "包装很结实。"),
    ("Does the job.", "挺好用的，符合预期。"),
    ("Good value for money.", "性价比不错。"),
    ("My second order, still happy.", "第二次回购，依旧满意。"),
    ("The box was a bit dented, but nothing was damaged.", "外盒有点压瘪，里面没问题。"),
    ("A bit pricey, but fine.", "略贵，不过可以接受。"),
)
_FIT_WORDS = (
    ("Sold as {old}, but it is {new}.", "标的是{old}，实际是{new}。"),
    ("I ordered {old} and got {new}.", "买的{old}，收到的是{new}。"),
    ("Careful, this is really {new}.", "注意，其实是{new}的。"),
)
_CONTENT_WORDS = (
    ("It contains {new}, which the page does not mention.", "里面有{new}，页面上没写。"),
    ("Be careful, this has {new} in it.", "小心，确实含{new}。"),
    ("The label on the pack lists {new}.", "看了包装上的标签，写着含{new}。"),
)


def draw_sellers(
    rng: np.random.Generator, language: Language, count: int = 6
) -> dict[str, dict[str, Any]]:
    """Draw sellers with their terms."""
    known = SELLER_NAMES[language]
    names = [known[i] for i in rng.permutation(len(known)).tolist()[:count]]
    sellers = {}
    for name in names:
        start = int(rng.integers(2, 24))
        sellers[name] = {
            "id": name,
            "fee_cents": int(rng.integers(6, 17)) * 50,
            "free_cents": int(rng.integers(5, 12)) * 1000,
            "days": int(rng.integers(1, 4)),
            "pause": [start, start + int(rng.integers(2, 5))],
            "bundle": {"kinds": int(rng.integers(2, 4)), "cents": int(rng.integers(2, 9)) * 100},
        }
    return sellers


def draw_offers(
    rng: np.random.Generator,
    kind: MarketKind,
    ids: Sequence[str],
    sellers: Sequence[str],
    *,
    fits: Sequence[str],
    least: int,
    language: Language,
    brands: Sequence[str] = (),
) -> list[dict[str, Any]]:
    """Draw the offers of a kind.

    Args:
        rng: Random stream.
        kind: The kind.
        ids: Ids of the offers; one offer is drawn for each.
        sellers: Names of the sellers.
        fits: Values that are wanted; about two thirds of the offers have one of them.
        least: Number of verified reviews that prevail over a specification.
        language: Language of the reviews.
        brands: Brands that most offers have.
    """
    offers = []
    for offer_id in ids:
        wanted = fits and rng.random() < 0.65
        fit = str(rng.choice(list(fits if wanted else kind.fits))) if kind.fits else ""
        contents = [slug for slug in kind.contents if rng.random() < 0.3]
        units = int(rng.choice(_PACKS.get(kind.slug, (1,))))
        offer: dict[str, Any] = {
            "id": offer_id,
            "kind": kind.slug,
            "brand": str(rng.choice(list(brands if brands and rng.random() < 0.8 else BRANDS))),
            "fit": fit,
            "contents": contents,
            "units": units,
            "seller": sellers[int(rng.integers(len(sellers)))],
            "returns": int(rng.choice([0, 5, 10, 14])),
        }
        offer["reviews"] = _reviews(rng, kind, offer, least, language)
        offers.append(priced_anew(rng, kind, offer))
    return offers


def priced_anew(
    rng: np.random.Generator, kind: MarketKind, offer: dict[str, Any]
) -> dict[str, Any]:
    """Return an offer with another price, stock and time of dispatch."""
    scale = 0.75 + 0.5 * rng.random()
    bulk = 0.9 if offer["units"] == max(_PACKS.get(kind.slug, (1,))) else 1.0
    return {
        **offer,
        "cents": max(int(kind.cents * offer["units"] * scale * bulk) // 10 * 10, 90) - 1,
        "stock": int(rng.choice([1, 2, 4, 9, 20])) if kind.unit_en else int(rng.choice([0, 1, 3])),
        "dispatch": int(rng.integers(0, 4)),
    }


def _reviews(
    rng: np.random.Generator,
    kind: MarketKind,
    offer: dict[str, Any],
    least: int,
    language: Language,
) -> list[dict[str, Any]]:
    """Draw reviews; some offers have complaints that are many or verified enough, or just not."""
    side = language == "zh"
    drawn = [
        {"what": "", "value": "", "verified": bool(rng.random() < 0.7), "text": text[side]}
        for text in (_FILLERS[int(i)] for i in rng.permutation(len(_FILLERS))[: rng.integers(1, 5)])
    ]
    subjects = []
    if kind.fits:
        others = [fit for fit in kind.fits if fit != offer["fit"]]
        subjects.append(("fit", others[int(rng.integers(len(others)))], _FIT_WORDS))
    subjects += [
        ("contains", slug, _CONTENT_WORDS)
        for slug in kind.contents
        if slug not in offer["contents"]
    ]
    if subjects and rng.random() < 0.45:
        what, value, words = subjects[int(rng.integers(len(subjects)))]
        verified = least if rng.random() < 0.5 else int(rng.integers(0, least))
        guests = int(rng.integers(0, 2)) if verified >= least else int(rng.integers(1, 4))
        shown = CONTENTS[value][side] if what == "contains" else value
        for n in range(verified + guests):
            text = words[n % len(words)][side].format(old=offer["fit"], new=shown)
            drawn.append({"what": what, "value": value, "verified": n < verified, "text": text})
    return [drawn[i] for i in rng.permutation(len(drawn)).tolist()]
