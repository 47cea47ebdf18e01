"""Offers of partner sellers, and the cheapest basket under joint conditions."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hexathlon.tasks.shopping.world.tables import Record

__all__ = ["basket_total", "best_baskets", "fits_wishes", "valid_baskets"]


def basket_total(offers: Sequence[Record], sellers: Mapping[str, Record]) -> int:
    """Return prices plus the delivery fee of every seller that does not deliver for free."""
    total = sum(offer["cents"] for offer in offers)
    for name in {offer["seller"] for offer in offers}:
        goods = sum(offer["cents"] for offer in offers if offer["seller"] == name)
        if goods < sellers[name]["free_cents"]:
            total += sellers[name]["fee_cents"]
    return int(total)


def fits_wishes(offer: Record, sellers: Mapping[str, Record], wishes: Mapping[str, Any]) -> bool:
    """Whether an offer can be had and arrives in time."""
    arrival = offer["dispatch"] + sellers[offer["seller"]]["days"]
    return bool(offer["units"] > offer["reserved"] and arrival <= wishes["by"])


def valid_baskets(
    offers: Sequence[Record], sellers: Mapping[str, Record], wishes: Mapping[str, Any]
) -> Iterator[tuple[int, tuple[Record, ...]]]:
    """Yield every basket that meets the wishes, with its total.

    Args:
        offers: All offers.
        sellers: Terms by seller.
        wishes: `kinds`, `by` (day of arrival), `sellers` (largest number of sellers), and
            `without`, a seller not wanted or "".
    """
    usable = [
        offer
        for offer in offers
        if fits_wishes(offer, sellers, wishes) and offer["seller"] != wishes["without"]
    ]
    for system in sorted({offer["system"] for offer in usable}):
        choices = [
            [o for o in usable if o["system"] == system and o["kind"] == kind]
            for kind in wishes["kinds"]
        ]
        for chosen in _joined(choices, wishes["sellers"]):
            yield basket_total(chosen, sellers), chosen


def _joined(choices: Sequence[Sequence[Record]], most: int) -> list[tuple[Record, ...]]:
    """Return all ways to take one offer of each choice from a limited number of sellers."""
    found: list[tuple[tuple[Record, ...], frozenset[str]]] = [((), frozenset())]
    for offers in choices:
        longer = (
            ((*chosen, offer), sellers | {offer["seller"]})
            for chosen, sellers in found
            for offer in offers
        )
        found = [each for each in longer if len(each[1]) <= most]
    return [chosen for chosen, _ in found]


def best_baskets(
    offers: Sequence[Record], sellers: Mapping[str, Record], wishes: Mapping[str, Any]
) -> list[tuple[int, tuple[str, ...]]]:
    """Return the totals and offers of the two cheapest baskets, the cheapest first."""
    found = sorted(
        (total, tuple(sorted(offer["id"] for offer in chosen)))
        for total, chosen in valid_baskets(offers, sellers, wishes)
    )
    return found[:2]
