"""The store as a world: browse, ask, add to the cart, order.

The catalogue is shared by all episodes and never changes. An episode's changes are one small
immutable value, so saving a state is returning that value.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, cast

import numpy as np

from hexathlon.envs.shopping import pages
from hexathlon.envs.shopping.customer import Customer, as_question
from hexathlon.envs.shopping.till import Bought, lines_of, order_record, priced
from hexathlon.tasks.catalogue.money import PriceBreakdown
from hexathlon.tasks.catalogue.product import Product, Variant
from hexathlon.tasks.shopping.world.facts import facts_of
from hexathlon.tasks.shopping.world.looks import draw_market_look
from hexathlon.tasks.shopping.world.retail import DeskProblem
from hexathlon.tasks.shopping.world.settings import StoreSettings, open_settings
from hexathlon.tasks.shopping.world.wording import find_variant, money, say
from hexathlon.tasks.task import Task

__all__ = ["StoreWorld"]

_PER_PAGE = 10
_MOST_LINES = 20


class _State(NamedTuple):
    """The episode's changes."""

    cart: tuple[tuple[str, str, int], ...] = ()
    """(product, variant, quantity)."""

    coupons: tuple[str, ...] = ()
    opened: tuple[str, ...] = ()
    offers: tuple[tuple[str, bool], ...] = ()
    """(variant, accepted), in order."""

    order: tuple[str, str] | None = None
    """Address and speed of the order placed from the cart."""

    answer: tuple[str, str] | None = None
    customer: Any = None
    look: str = "stall"
    """Name of the look of item pages and tables."""


class StoreWorld:
    """One visit to the store."""

    def __init__(self, task: Task, rng: np.random.Generator) -> None:
        self._task = task
        self._settings: StoreSettings = open_settings(task.params)
        self._language = self._settings.language
        agenda = task.params.get("user")
        self._customer = Customer(agenda, int(rng.integers(1 << 31))) if agenda else None
        plain = task.level in ("tiny", "easy")
        self._state = _State(look="stall" if plain else draw_market_look(task.split, rng).name)

    @property
    def closed(self) -> bool:
        """Whether an order was placed or a report made."""
        return self._state.order is not None or self._state.answer is not None

    def opening(self) -> str:
        """Return the request: the instruction, or the customer's first words."""
        if self._customer is None:
            return self._task.instruction
        return f"{self._task.instruction}\n\n{self._customer.opening()}"

    def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Run one tool."""
        return cast("Callable[..., str]", getattr(self, f"_do_{name}"))(**arguments)

    def say(self, text: str) -> str:
        """Pass prose to the customer."""
        if self._customer is None:
            return self._words(
                "Nobody is listening here: call one of the tools.", "这里没有人在听，请调用工具。"
            )
        return self._customer.hear(text)

    def save(self) -> _State:
        """Return the state."""
        customer = self._customer.save() if self._customer else None
        return self._state._replace(customer=customer)

    def load(self, payload: _State) -> None:
        """Restore a state."""
        self._state = payload
        if self._customer is not None:
            self._customer = self._customer.resumed(payload.customer)

    def final_state(self) -> dict[str, Any]:
        """Return the orders placed, the items seen and offered, the answer, and the look."""
        state = self._state
        return {
            "orders": [self._order()] if state.order else [],
            "changes": {},
            "answer": dict(zip(("reason", "record"), state.answer, strict=True))
            if state.answer
            else None,
            "opened": list(state.opened),
            "offers": [{"subject": v, "accepted": accepted} for v, accepted in state.offers],
            "asked": list(self._customer.revealed) if self._customer else [],
            "outcome": "ended" if self.closed else "open",
            "look": state.look,
        }

    # Browsing ----------------------------------------------------------------------------------

    def _do_search(
        self,
        query: str,
        category: str = "",
        filters: Mapping[str, Any] | None = None,
        sort: str = "relevance",
        page: int = 1,
    ) -> str:
        try:
            found = self._settings.search(query, category, filters or {}, sort, page, _PER_PAGE)  # type: ignore[arg-type]
        except ValueError as problem:
            raise DeskProblem(str(problem)) from None
        return pages.results_text(found, self._language, _PER_PAGE)

    def _do_open_item(self, item: str) -> str:
        product = self._seen(item)
        bundles = pages.bundles_text(product, self._settings.rules, self._language)
        return pages.item_text(product, self._language, self._state.look) + bundles

    def _do_read_description(self, item: str) -> str:
        return self._seen(item).description[self._language]

    def _do_read_specification(self, item: str) -> str:
        return pages.specification_text(self._seen(item), self._language, self._state.look)

    def _do_read_reviews(self, item: str, page: int = 1) -> str:
        return pages.reviews_text(self._seen(item), int(page), self._language)

    def _do_choose_options(self, item: str, options: Mapping[str, Any] | str = "") -> str:
        product, variant = self._chosen(item, options)
        self._seen(product.id)
        return pages.variant_text(product, variant, self._language)

    def _do_compare(self, items: list[str]) -> str:
        if not items:
            raise DeskProblem(self._words("name the items to compare", "请给出要对比的商品"))
        return pages.comparison_text([self._product(item) for item in items], self._language)

    # Buying ------------------------------------------------------------------------------------

    def _do_add_to_cart(
        self, item: str, options: Mapping[str, Any] | str = "", quantity: int = 1
    ) -> str:
        product, variant = self._chosen(item, options)
        quantities = {variant: count for _, variant, count in self._state.cart}
        total = quantities.get(variant.id, 0) + int(quantity)
        if total > variant.stock:
            raise DeskProblem(
                self._words(
                    f"of {variant.id} only {variant.stock} are in stock",
                    f"{variant.id} 库存只有{variant.stock}件",
                )
            )
        if len(quantities) >= _MOST_LINES and variant.id not in quantities:
            raise DeskProblem(self._words("the cart is full", "购物车已满"))
        others = tuple(line for line in self._state.cart if line[1] != variant.id)
        self._state = self._state._replace(cart=(*others, (product.id, variant.id, total)))
        return self._do_view_cart()

    def _do_remove_from_cart(self, variant: str) -> str:
        left = tuple(line for line in self._state.cart if variant != line[1])
        if len(left) == len(self._state.cart):
            raise DeskProblem(
                self._words(
                    f"{variant[:60]!r} is not in the cart", f"购物车里没有 {variant[:60]!r}"
                )
            )
        self._state = self._state._replace(cart=left)
        return self._do_view_cart()

    def _do_view_cart(self) -> str:
        return pages.cart_text(self._lines(), self._price("home", "standard"), self._language)

    def _do_read_rules(self) -> str:
        return pages.rules_text(self._settings.rules, self._language)

    def _do_list_coupons(self) -> str:
        return pages.coupons_text(list(self._settings.coupons.values()), self._language)

    def _do_apply_coupon(self, code: str) -> str:
        coupon = self._settings.coupons.get(code.strip().upper())
        if coupon is None:
            raise DeskProblem(
                self._words(
                    f"the customer has no coupon {code[:60]!r}", f"没有优惠券 {code[:60]!r}"
                )
            )
        used = (*(known for known in self._state.coupons if known != coupon.code), coupon.code)
        before = self._state
        self._state = before._replace(coupons=used)
        refused = self._price("home", "standard").refused.get(coupon.code)
        if refused:
            self._state = before
            raise DeskProblem(
                self._words(
                    f"{coupon.code} does not hold: {refused}", f"{coupon.code} 不可用：{refused}"
                )
            )
        return self._do_view_cart()

    def _do_remove_coupon(self, code: str) -> str:
        left = tuple(known for known in self._state.coupons if known != code.strip().upper())
        if len(left) == len(self._state.coupons):
            raise DeskProblem(
                self._words(f"{code[:60]!r} is not in use", f"没有使用 {code[:60]!r}")
            )
        self._state = self._state._replace(coupons=left)
        return self._do_view_cart()

    def _do_checkout(self, address: str = "home", speed: str = "standard") -> str:
        if not self._state.cart:
            raise DeskProblem(self._words("the cart is empty", "购物车是空的"))
        if address not in self._settings.addresses:
            known = ", ".join(self._settings.addresses)
            raise DeskProblem(
                self._words(f"the addresses are: {known}", f"可用的收货地址：{known}")
            )
        self._state = self._state._replace(order=(address, speed))
        total = money(self._price(address, speed).total_cents, self._language)
        return self._words(f"Ordered. Total {total}.", f"下单成功，合计 {total}。")

    def _do_report_impossible(self, reason: str, record: str) -> str:
        self._state = self._state._replace(answer=(reason, record.strip()))
        return self._words("Reported.", "已报告。")

    # The customer ------------------------------------------------------------------------------

    def _do_view_profile(self) -> str:
        return pages.profile_text(self._settings.profile, self._settings.addresses)

    def _do_order_history(self) -> str:
        return "\n".join(order["summary"] for order in self._settings.history) or self._words(
            "There are no earlier orders.", "没有历史订单。"
        )

    def _do_view_order(self, order: str) -> str:
        for known in self._settings.history:
            if known["id"] == order.strip():
                return known["text"]
        raise DeskProblem(
            self._words(f"there is no order {order[:60]!r}", f"没有订单 {order[:60]!r}")
        )

    def _do_ask_user(self, question: str) -> str:
        return self.say(as_question(question))

    def _do_tell_user(self, message: str) -> str:
        return self.say(message)

    def _do_offer(self, item: str, options: Mapping[str, Any] | str = "") -> str:
        product, variant = self._chosen(item, options)
        if self._customer is None:
            raise DeskProblem(self._words("there is nobody to offer it to", "没有可以询问的顾客"))
        heard = self._customer.consider(facts_of(product, variant))
        if heard.judged:
            offers = (*self._state.offers, (variant.id, heard.accepted))
            self._state = self._state._replace(offers=offers)
        return heard.text

    # Helpers -----------------------------------------------------------------------------------

    def _product(self, item: str) -> Product:
        product = self._settings.product(item.strip().upper().partition("-")[0])
        if product is None:
            raise DeskProblem(
                self._words(
                    f"there is no item {item[:60]!r}; ids are on the result pages",
                    f"没有商品 {item[:60]!r}；编号见搜索结果页",
                )
            )
        return product

    def _seen(self, item: str) -> Product:
        product = self._product(item)
        if product.id not in self._state.opened:
            self._state = self._state._replace(opened=(*self._state.opened, product.id))
        return product

    def _chosen(self, item: str, options: Mapping[str, Any] | str) -> tuple[Product, Variant]:
        """Return the variant given by an item with options, or by a variant's id alone."""
        product = self._product(item)
        named = [v for v in product.variants if v.id == item.strip().upper()]
        if named and not options:
            return product, named[0]
        found = find_variant(product, options, self._language)
        if isinstance(found, str):
            raise DeskProblem(found)
        return product, found

    def _lines(self) -> list[Bought]:
        return lines_of(self._settings, self._state.cart)

    def _price(self, address: str, speed: str) -> PriceBreakdown:
        return priced(self._settings, self._lines(), self._state.coupons, address, speed)

    def _order(self) -> dict[str, Any]:
        address, speed = cast("tuple[str, str]", self._state.order)
        return order_record(self._lines(), self._price(address, speed), address, speed)

    def _words(self, en: str, zh: str) -> str:
        return say(self._language, en, zh)
