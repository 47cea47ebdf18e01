"""The shop of a task: catalogue, language, customer, coupons and addresses, from its parameters."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from hexathlon.tasks.bilingual import Language
from hexathlon.tasks.catalogue import (
    Address,
    CartLine,
    Catalogue,
    Coupon,
    Product,
    Rules,
    SearchPage,
    Sort,
    Variant,
    open_catalogue,
)

__all__ = ["StoreSettings", "cart_line", "open_settings"]


@dataclass(frozen=True)
class StoreSettings:
    """The constants of an episode."""

    catalogue: Catalogue
    language: Language
    rules: Rules
    coupons: Mapping[str, Coupon]
    """The customer's coupons, by code."""

    addresses: Mapping[str, Address]
    profile: tuple[str, ...]
    history: tuple[Mapping[str, str], ...]
    """Earlier orders: `id`, `summary` and `text`."""

    def product(self, product_id: str) -> Product | None:
        """Return a product, or None if it does not exist."""
        try:
            return self.catalogue.product(product_id)
        except KeyError:
            return None

    def search(
        self,
        query: str,
        category: str,
        filters: Mapping[str, Any],
        sort: Sort,
        page: int,
        per_page: int,
    ) -> SearchPage:
        """Search; price filters are in whole currency units.

        Raises:
            ValueError: If a filter or category is unknown; the message lists the valid ones.
        """
        plain = {name: _plain(name, value) for name, value in filters.items()}
        for name in ("price_min", "price_max"):
            if name in plain:
                plain[name] = round(min(max(float(plain[name]), 0.0), _DEAREST) * 100)
        return self.catalogue.search(
            query,
            language=self.language,
            category=category or None,
            filters=plain,
            sort=sort,
            page=int(page),
            per_page=per_page,
        )


_DEAREST = 1e9


def _plain(name: str, value: Any) -> str | int | float:
    if isinstance(value, (str, int, float)) and value == value:
        return value
    raise ValueError(f"filter {str(name)[:40]!r} needs a text or a number")


def open_settings(params: Mapping[str, Any]) -> StoreSettings:
    """Open the shop described by a task's parameters."""
    catalogue = open_catalogue(params["catalogue"]["seed"], params["catalogue"]["size"])
    held = set(params.get("coupons", ()))
    coupons = {c.code: c for c in catalogue.coupons if c.code in held}
    # A catalogue has many bundles; a task names those on offer.
    offered = set(params.get("bundles", ()))
    rules = catalogue.rules()
    bundles = {key: bundle for key, bundle in rules.bundles.items() if key in offered}
    addresses = {
        name: Address("", "", "", region)
        for name, region in params.get("addresses", {"home": "city"}).items()
    }
    return StoreSettings(
        catalogue=catalogue,
        language=params["language"],
        rules=replace(rules, bundles=bundles),
        coupons=coupons,
        addresses=addresses,
        profile=tuple(params.get("profile", ())),
        history=tuple(params.get("history", ())),
    )


def cart_line(product: Product, variant: Variant, quantity: int) -> CartLine:
    """Return a cart line for a variant."""
    return CartLine(
        product.id, variant.id, quantity, variant.price_cents, product.category,
        product.brand.en, product.seller.id, product.bundles,
    )  # fmt: skip
