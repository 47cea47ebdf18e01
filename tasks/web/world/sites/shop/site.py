"""The shop, assembled from its pages."""

from collections.abc import Mapping, Sequence
from importlib import resources
from typing import ClassVar

from hexathlon.tasks.web.world.site import Call, Site, SiteBrief
from hexathlon.tasks.web.world.sites.shop.account_pages import AccountPages
from hexathlon.tasks.web.world.sites.shop.catalogue_pages import GoodsPages, is_staff
from hexathlon.tasks.web.world.sites.shop.content import populate
from hexathlon.tasks.web.world.sites.shop.purchase_pages import PurchasePages, check_payment
from hexathlon.tasks.web.world.sites.shop.staff_pages import StaffPages
from hexathlon.tasks.web.world.store import SiteStore

__all__ = ["SITE", "Shop"]


class Shop(GoodsPages, PurchasePages, AccountPages, StaffPages, Site):
    """An online shop."""

    name: ClassVar[str] = "shop"
    schema: ClassVar[str] = (
        resources.files("hexathlon.tasks.web.world.sites.shop")
        .joinpath("schema.sql")
        .read_text("utf-8")
    )
    volatile: ClassVar[Mapping[str, Sequence[str]]] = {
        "cart": ("id",),
        "wishes": ("id",),
        "addresses": ("id",),
        "orders": ("number", "placed"),
        "items": ("id", "number"),
        "returns": ("id", "created", "comment"),
        "messages": ("id", "created", "body"),
        "variants": ("repriced",),
    }

    def populate(self, store: SiteStore, brief: SiteBrief) -> None:
        """Fill goods, rules, accounts and past orders."""
        populate(store, brief)

    def navigation(self, call: Call) -> Sequence[tuple[str, str]]:
        """Return the main navigation; staff have additional pages."""
        words = call.words
        items = [
            (words("goods"), "/products"),
            (words("offers"), "/offers"),
            (words("wishes"), "/wishes"),
            (words("cart"), "/cart"),
            (words("orders"), "/orders"),
            (words("returns"), "/returns"),
            (words("addresses"), "/addresses"),
            (words("help"), "/help"),
        ]
        if is_staff(call):
            items += [
                (words(f"admin_{name}"), f"/admin/{name}")
                for name in ("goods", "orders", "returns", "reviews")
            ]
        return items

    def run_job(self, call: Call, kind: str, subject: str) -> None:
        """Charge the card of an order."""
        check_payment(call, int(subject))


SITE = Shop()
