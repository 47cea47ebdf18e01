"""Which offers have to be looked at to be sure of the cheapest order."""

from collections.abc import Mapping, Sequence
from typing import Any

from hexathlon.tasks.shopping.world.household.prices import PackChoice, Wanted, cheapest
from hexathlon.tasks.shopping.world.tables import Record

__all__ = ["looked_up"]

_AT_ONCE = 4
"""Number of offers that `show_offers` shows."""


def looked_up(
    offers: Sequence[Record], sellers: Mapping[str, Record], wanted: Wanted
) -> tuple[list[tuple[str, dict[str, Any]]], PackChoice]:
    """Return the calls of a shopper who looks only at what the lists leave cheapest, and the find.

    The shopper takes what the lists do not tell for granted, opens the offers of the order that is
    then the cheapest, reads their reviews, and begins again until nothing new has to be opened.
    """
    calls: list[tuple[str, dict[str, Any]]] = []
    shown: set[str] = set()
    read: set[str] = set()
    while True:
        known = [_as_known(offer, shown, read) for offer in offers]
        best = cheapest(known, sellers, wanted)
        if not best:
            return calls, ()
        chosen = [offer for offer, _ in best[0][1]]
        new = [offer for offer in chosen if offer not in shown]
        if new:
            calls += [
                ("show_offers", {"offers": new[i : i + _AT_ONCE]})
                for i in range(0, len(new), _AT_ONCE)
            ]
            shown.update(new)
            continue
        unread = [offer for offer in chosen if offer not in read]
        if not unread:
            return calls, best[0][1]
        calls += [("read_reviews", {"offer": offer}) for offer in unread]
        read.update(unread)


def _as_known(offer: Record, shown: set[str], read: set[str]) -> Record:
    known = dict(offer)
    if offer["id"] not in shown:
        known.update(stock=99, dispatch=0, contents=[])
    if offer["id"] not in read:
        known["reviews"] = []
    return known
