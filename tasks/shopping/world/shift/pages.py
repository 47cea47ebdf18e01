"""Pages of the counter: the tools that show the policy, accounts, orders, stock and offers."""

from collections.abc import Mapping
from typing import Any

from hexathlon.tasks.catalogue import Catalogue
from hexathlon.tasks.shopping.world.record_desk import RecordDesk
from hexathlon.tasks.shopping.world.retail import DeskProblem
from hexathlon.tasks.shopping.world.shift.policy import ShiftPolicy, policy_page
from hexathlon.tasks.shopping.world.shift.views import (
    account_text,
    customer_text,
    offers_text,
    order_text,
    parcel_text,
    sellers_text,
    variants_text,
    warranty_text,
)
from hexathlon.tasks.shopping.world.tables import Record
from hexathlon.tasks.shopping.world.wording import money

__all__ = ["CounterPages"]


class CounterPages(RecordDesk[Any]):
    """The records of a day, and the tools that read them, in the look of the episode.

    Args:
        params: `policy`, `records` ([table, key, record]) and `language`.
        catalogue: The goods that orders refer to.
    """

    def __init__(self, params: Mapping[str, Any], catalogue: Catalogue) -> None:
        super().__init__(params)
        self._catalogue = catalogue
        self.policy = ShiftPolicy.from_json(params["policy"])

    def do_read_policy(self, page: str = "") -> str:
        """Read a page of the policy."""
        return policy_page(self.policy, page.strip().casefold(), self._language)

    def do_find_customer(self, email: str = "", name: str = "", postcode: str = "") -> str:
        """List accounts."""
        if not email and not name:
            raise DeskProblem(self._say("give an email or a name", "请给出邮箱或姓名"))
        found = []
        for key in self.tables.keys("customers"):
            record = self._record("customers", key)
            by_mail = record["email"] == email.strip().casefold() if email else True
            by_name = _fold(record["name"]) == _fold(name) if name else True
            by_code = record["address"]["postcode"] == postcode.strip() if postcode else True
            if by_mail and by_name and by_code:
                found.append(f"{key}  {record['name']}  {record['email']}")
        if not found:
            raise DeskProblem(self._say("no account fits", "没有符合的账户"))
        return "\n".join(found)

    def do_show_customer(self, customer: str) -> str:
        """Show an account."""
        record = self._record("customers", customer)
        orders = [self._record("orders", order) for order in record["orders"]]
        shown = customer_text(record, orders, self._catalogue, self._look, self._language)
        card = self._record("cards", record["id"])
        shown = f"{shown}\n{account_text(record, card, self.tables.base.tables, self._language)}"
        basket = self.tables.get("baskets", record["id"])
        if basket is None:
            return shown
        listed = f"{', '.join(basket['offers'])}  {money(basket['total_cents'], self._language)}"
        return f"{shown}\n{self._say('basket', '配套订单')}: {listed}"

    def do_show_order(self, order: str) -> str:
        """Show an order."""
        record = self._record("orders", order)
        return order_text(record, self._catalogue, self._look, self._language)

    def do_show_orders(self, orders: list[str]) -> str:
        """Show several orders."""
        return "\n\n".join(self.do_show_order(order) for order in orders)

    def do_show_history(self, order: str) -> str:
        """Show an order's history."""
        self._record("orders", order)
        log = self.tables.get("logs", order.strip()) or {"entries": {}}
        entries = [log["entries"][key][self._language] for key in sorted(log["entries"])]
        return "\n".join(entries)

    def do_show_parcel(self, order: str) -> str:
        """Show the parcel of an order."""
        record = self._record("orders", order)
        morning = self.tables.base.tables["parcels"].get(record["id"])
        if morning is None:
            raise DeskProblem(
                self._say(f"no parcel of {record['id']} waits here", f"{record['id']} 没有待发包裹")
            )
        return parcel_text(self._record("parcels", record["id"]), morning, self._language)

    def do_show_warranty(self, order: str) -> str:
        """Show the warranty entries of an order."""
        record = self._record("orders", order)
        morning = self.tables.base.tables["warranties"].get(record["id"])
        if morning is None:
            raise DeskProblem(
                self._say(f"{record['id']} has not arrived", f"{record['id']} 尚未签收")
            )
        return warranty_text(self._record("warranties", record["id"]), morning, self._language)

    def do_list_variants(self, item: str) -> str:
        """List an item's variants."""
        try:
            product = self._catalogue.product(item.strip().upper())
        except KeyError:
            raise self._missing(item) from None
        units = {variant.id: self._stock(variant.id)["units"] for variant in product.variants}
        return variants_text(product.id, units, self._catalogue, self._look, self._language)

    def do_show_stock(self, variant: str) -> str:
        """Show one variant's stock."""
        stock = self._stock(variant.strip().upper())
        return self._say(
            f"{variant}: {stock['units']} units, {stock['reserved']} reserved for other orders",
            f"{variant}：{stock['units']}件，其中{stock['reserved']}件已为其他订单预留",
        )

    def do_show_goodwill(self) -> str:
        """List the month's goodwill."""
        lines = []
        for key in self.tables.keys("goodwill"):
            paid = self._record("goodwill", key)
            if paid["cents"]:
                lines.append(f"{key}  {paid['customer']}  {money(paid['cents'], self._language)}")
        return "\n".join(lines)

    def do_list_sellers(self) -> str:
        """List sellers."""
        sellers = [self._record("sellers", key) for key in self.tables.keys("sellers")]
        return sellers_text(sellers, self._look, self._language)

    def do_list_offers(self, kind: str) -> str:
        """List offers of one kind."""
        offers = [self._record("offers", key) for key in self.tables.keys("offers")]
        found = [
            o for o in offers if _fold(kind) in (_fold(o["name"]["en"]), _fold(o["name"]["zh"]))
        ]
        if not found:
            names = dict.fromkeys(str(o["name"][self._language]) for o in offers)
            raise DeskProblem(self._say("the kinds of goods are ", "商品种类：") + ", ".join(names))
        return offers_text(found, self._look, self._language)

    def do_show_offer(self, offer: str) -> str:
        """Show an offer."""
        found = self._record("offers", offer)
        return offers_text([found], self._look, self._language, whole=True)

    @property
    def _look(self) -> str:
        return str(self.state.look)

    def _stock(self, variant: str) -> Record:
        known = self.tables.get("stock", variant)
        if known is not None:
            return known
        try:
            found = self._catalogue.product(variant.partition("-")[0]).variant(variant)
        except KeyError:
            raise self._missing(variant) from None
        return {"units": found.stock, "reserved": 0}

    def _record(self, table: str, key: str) -> Record:
        record = self.tables.get(table, key.strip())
        if record is None:
            raise self._missing(key)
        return record

    def _missing(self, key: str) -> DeskProblem:
        return DeskProblem(self._say(f"there is no {key[:60]!r}", f"没有 {key[:60]!r}"))


def _fold(text: str) -> str:
    return " ".join(text.casefold().split())
