"""Prices, arrivals and the cheapest order that meets a request.

`cheapest` goes through all combinations; `cheapest_again` finds the lowest total with a table of
what has been spent with each seller. They share no arithmetic.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from math import ceil

from hexathlon.tasks.shopping.world.tables import Record

__all__ = [
    "PackChoice", "MarketNeed", "Wanted", "arrival", "cheapest", "cheapest_again", "contents_of",
    "fit_of", "lines_total", "sending_day",
]  # fmt: skip

PackChoice = tuple[tuple[str, int], ...]
"""(offer, packs), sorted."""

_MOST_CHOICES = 60_000


@dataclass(frozen=True)
class MarketNeed:
    """Goods of one kind that are wanted."""

    kind: str
    units: int
    fit: str = ""
    """Value that has to fit; empty if any will do."""

    brand: str = ""
    without: tuple[str, ...] = ()
    """What the goods must not contain."""

    by: int = 99
    """Last day of arrival."""


@dataclass(frozen=True)
class Wanted:
    """A whole request."""

    day: int
    needs: tuple[MarketNeed, ...]
    sellers: int = 9
    """Largest number of sellers."""

    banned: tuple[str, ...] = ()
    """Sellers and brands that are not bought from."""

    matching: bool = False
    """Whether everything has to have the same fit."""

    reviews: int = 3
    """Number of verified reviews that prevail over a specification."""

    day_cents: int = 0
    """What a day of waiting for the last parcel is worth, in cents."""

    def with_need(self, place: int, **fields: object) -> "Wanted":
        """Return the request with one need changed."""
        needs = list(self.needs)
        needs[place] = replace(needs[place], **fields)  # type: ignore[arg-type]
        return replace(self, needs=tuple(needs))

    def with_needs(self, **fields: object) -> "Wanted":
        """Return the request with every need changed."""
        needs = [replace(need, **fields) for need in self.needs]  # type: ignore[arg-type]
        return replace(self, needs=tuple(needs))


def sending_day(offer: Record, seller: Record, day: int) -> int:
    """Return the day on which an offer ordered on `day` is sent; sellers pause some days."""
    sent = day + int(offer["dispatch"])
    first, last = seller["pause"]
    return int(last) + 1 if first <= sent <= last else sent


def arrival(offer: Record, seller: Record, day: int) -> int:
    """Return the day on which an offer ordered on `day` arrives."""
    return sending_day(offer, seller, day) + int(seller["days"])


def _reviewed(offer: Record, what: str, least: int) -> list[str]:
    """Return the values that at least `least` verified reviews report."""
    said = [r["value"] for r in offer["reviews"] if r["what"] == what and r["verified"]]
    return sorted({value for value in said if said.count(value) >= least})


def fit_of(offer: Record, least: int) -> str:
    """Return what an offer fits, by its specification or else its reviews."""
    return next(iter(_reviewed(offer, "fit", least)), str(offer["fit"]))


def contents_of(offer: Record, least: int) -> set[str]:
    """Return what an offer contains, by its specification and its reviews."""
    return {*offer["contents"], *_reviewed(offer, "contains", least)}


def _suits(offer: Record, seller: Record, need: MarketNeed, wanted: Wanted) -> bool:
    packs = ceil(need.units / offer["units"])
    return (
        offer["kind"] == need.kind
        and offer["stock"] >= packs
        and offer["seller"] not in wanted.banned
        and offer["brand"] not in wanted.banned
        and need.brand in ("", offer["brand"])
        and need.fit in ("", fit_of(offer, wanted.reviews))
        and not contents_of(offer, wanted.reviews) & set(need.without)
        and arrival(offer, seller, wanted.day) <= need.by
    )


def _candidates(
    offers: Sequence[Record], sellers: Mapping[str, Record], wanted: Wanted
) -> list[list[tuple[Record, int]]]:
    return [
        [
            (offer, ceil(need.units / offer["units"]))
            for offer in offers
            if _suits(offer, sellers[offer["seller"]], need, wanted)
        ]
        for need in wanted.needs
    ]


def lines_total(lines: Sequence[tuple[Record, int]], sellers: Mapping[str, Record]) -> int:
    """Return what an order costs with delivery and what sellers take off for sets."""
    spent: dict[str, int] = {}
    kinds: dict[str, set[str]] = {}
    for offer, packs in lines:
        seller = offer["seller"]
        spent[seller] = spent.get(seller, 0) + offer["cents"] * packs
        kinds.setdefault(seller, set()).add(offer["kind"])
    total = 0
    for name, goods in spent.items():
        seller = sellers[name]
        bundled = seller["bundle"]["cents"] if len(kinds[name]) >= seller["bundle"]["kinds"] else 0
        fee = 0 if goods >= seller["free_cents"] else seller["fee_cents"]
        total += goods + fee - bundled
    return total


def cheapest(
    offers: Sequence[Record], sellers: Mapping[str, Record], wanted: Wanted
) -> list[tuple[int, PackChoice]]:
    """Return the two cheapest orders with their totals, or fewer.

    Raises:
        ValueError: If there are too many combinations.
    """
    found: dict[PackChoice, int] = {}
    for candidates in _parts(_candidates(offers, sellers, wanted), wanted):
        if _size(candidates) > _MOST_CHOICES:
            raise ValueError("too many combinations")
        for lines in product(*candidates):
            choice = tuple(sorted((offer["id"], packs) for offer, packs in lines))
            if choice not in found:
                found[choice] = lines_total(lines, sellers) + _waiting(lines, sellers, wanted)
    return sorted((total, choice) for choice, total in found.items())[:2]


def _waiting(
    lines: Sequence[tuple[Record, int]], sellers: Mapping[str, Record], wanted: Wanted
) -> int:
    if not wanted.day_cents:
        return 0
    last = max(arrival(offer, sellers[offer["seller"]], wanted.day) for offer, _ in lines)
    return wanted.day_cents * (last - wanted.day)


def _parts(
    candidates: list[list[tuple[Record, int]]], wanted: Wanted
) -> Iterator[list[list[tuple[Record, int]]]]:
    """Yield the candidates of each set of sellers and each fit that can be combined."""
    names = sorted({offer["seller"] for group in candidates for offer, _ in group})
    sets = (
        [set(names)]
        if wanted.sellers >= len(candidates)
        else [set(chosen) for chosen in combinations(names, min(wanted.sellers, len(names)))]
    )
    fits = sorted({fit_of(o, wanted.reviews) for group in candidates for o, _ in group})
    for chosen in sets:
        for fit in fits if wanted.matching else [""]:
            yield [
                [
                    (offer, packs)
                    for offer, packs in group
                    if offer["seller"] in chosen and fit in ("", fit_of(offer, wanted.reviews))
                ]
                for group in candidates
            ]


def _size(candidates: Sequence[Sequence[object]]) -> int:
    size = 1
    for group in candidates:
        size *= len(group)
    return size


def cheapest_again(
    offers: Sequence[Record], sellers: Mapping[str, Record], wanted: Wanted
) -> int | None:
    """Return the lowest total, found need by need; None if the request cannot be met."""
    names = sorted(sellers)
    start = tuple((0, 0) for _ in names)
    states: set[tuple[str, int, tuple[tuple[int, int], ...]]] = {("", 0, start)}
    for group in _candidates(offers, sellers, wanted):
        grown = set()
        for fit, last, spent in states:
            for offer, packs in group:
                own = fit_of(offer, wanted.reviews) if wanted.matching else ""
                if fit not in ("", own):
                    continue
                place = names.index(offer["seller"])
                cents, kinds = spent[place]
                changed = (cents + packs * offer["cents"], kinds + 1)
                parts = (*spent[:place], changed, *spent[place + 1 :])
                if sum(1 for each in parts if each[1]) > wanted.sellers:
                    continue
                comes = arrival(offer, sellers[offer["seller"]], wanted.day)
                waited = max(last, comes - wanted.day) if wanted.day_cents else 0
                grown.add((own, waited, parts))
        states = grown
    totals = []
    for _, waited, spent in states:
        paid = waited * wanted.day_cents
        for name, (cents, kinds) in zip(names, spent, strict=True):
            seller = sellers[name]
            if kinds:
                paid += cents + (seller["fee_cents"] if cents < seller["free_cents"] else 0)
                paid -= seller["bundle"]["cents"] if kinds >= seller["bundle"]["kinds"] else 0
        totals.append(paid)
    return min(totals, default=None)
