"""Tasks of choosing goods: the cheapest that fit, and the best pair with the best coupon."""

import json
from collections import defaultdict
from datetime import date
from functools import lru_cache
from itertools import product
from typing import Any, ClassVar, NamedTuple
from urllib.parse import urlencode

from hexathlon.tasks.source import Script
from hexathlon.tasks.task import Level
from hexathlon.tasks.web.pilot import Pilot
from hexathlon.tasks.web.templates.draft import (
    ExpectedAnswer,
    Solver,
    WebDraft,
    WebScene,
    WebTemplate,
    added,
)
from hexathlon.tasks.web.templates.shop_scripts import (
    GOODS,
    add_goods,
    euros,
    fill_checkout,
    goods_of,
    order_rows,
    place_order,
)
from hexathlon.tasks.web.world.network import WorldPlan
from hexathlon.tasks.web.world.sites.shop.pricing import (
    coupon_problem,
    line_discounts,
    price_totals,
    settings_of,
)
from hexathlon.tasks.web.world.store import SiteStore, StoreRow

__all__ = ["TEMPLATES"]


class _Wish(NamedTuple):
    """Conditions on goods."""

    kind: str
    label: str
    value: str
    days: int
    quantity: int

    def fits(self, row: StoreRow) -> bool:
        """Whether a variant meets every condition."""
        return bool(
            row["kind"] == self.kind
            and row["specs"].get(self.label) == self.value
            and row["days"] <= self.days
            and row["stock"] >= self.quantity
            and row["return_days"] > 0
        )

    def select(self, store: SiteStore) -> set[str]:
        """The same by query."""
        rows = store.rows(
            f"{GOODS}, json_each(p.spec) s WHERE p.kind = ? AND json_extract(s.value, '$[0]') = ? "
            "AND json_extract(s.value, '$[1]') = ? AND p.days <= ? AND v.stock >= ? AND "
            "p.return_days > 0",
            self,
        )
        return {row["variant"] for row in rows}


@lru_cache(maxsize=8)
def _offers(plan: WorldPlan) -> tuple[dict[str, list[StoreRow]], dict[str, list[tuple[str, str]]]]:
    """Return all variants by kind, and the useful specification lines by kind.

    Those are lines that 3 to 12 products share and that neither title nor features show.
    """
    goods = [dict(row) for row in goods_of(plan)]
    specs: dict[str, dict[str, str]] = {}
    counts: dict[str, dict[tuple[str, str], int]] = defaultdict(lambda: defaultdict(int))
    for row in goods:
        if row["product"] not in specs:
            specs[row["product"]] = dict(json.loads(row["spec"]))
            for pair in specs[row["product"]].items():
                counts[row["kind"]][pair] += pair[1] not in row["features"]
        row["specs"] = specs[row["product"]]
    pairs = {
        kind: [pair for pair, count in sorted(lines.items()) if 3 <= count <= 12]
        for kind, lines in sorted(counts.items())
    }
    by_kind: dict[str, list[StoreRow]] = defaultdict(list)
    for row in goods:
        by_kind[row["kind"]].append(row)
    return by_kind, {kind: lines for kind, lines in pairs.items() if lines}


def _wish_words(scene: WebScene, wish: _Wish) -> str:
    return scene.say(
        f'{wish.quantity} of the kind "{wish.kind}" whose specification says "{wish.label}: '
        f'{wish.value}"',
        f"种类为“{wish.kind}”的{wish.quantity}件，规格表须写明“{wish.label}：{wish.value}”",
    )


class CheapestFit(WebTemplate):
    """Put the cheapest variant that fits into the cart; product pages have the values."""

    name: ClassVar[str] = "shop_cheapest"
    levels: ClassVar[tuple[Level, ...]] = ("medium",)

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw a kind and conditions under which the cheapest of all does not fit."""
        plan = scene.plan("shop")
        store = scene.store(plan, "shop")
        goods, by_kind = _offers(plan)
        if not by_kind:
            return None
        kind = scene.pick(sorted(by_kind))
        of_kind = goods[kind]
        quantity = int(scene.rng.integers(2, 6))
        good = []
        for label, value in by_kind[kind]:
            for days in (4, 8):
                wish = _Wish(kind, label, value, days, quantity)
                prices = sorted(row["price"] for row in of_kind if wish.fits(row))
                if len(prices) >= 3 and prices[0] < prices[1]:
                    good.append((wish, prices[0]))
        good = [
            (wish, least)
            for wish, least in good
            if len({row["product"] for row in of_kind if row["price"] < least}) >= 3
        ]
        if not good:
            return None
        wish, _ = scene.pick(good)
        fitting = sorted((row for row in of_kind if wish.fits(row)), key=lambda row: row["price"])
        if {row["variant"] for row in fitting} != wish.select(store):
            return None
        best, second = fitting[:2]
        near = [
            row
            for row in of_kind
            if row["price"] < best["price"] and row["product"] != best["product"]
        ]
        person = scene.people(plan)[0].login
        instruction = scene.say(
            f"Put into the cart: {_wish_words(scene, wish)}, delivered within {wish.days} days. "
            "All pieces of the same variant, enough of them "
            "in stock, no final sale; of all variants that fit, the cheapest.",
            f"请放入购物车：{_wish_words(scene, wish)}，{wish.days}天内送达。"
            "所有件为同一规格型号，库存足够，不要特价不退的商品；"
            "在符合条件的规格型号中选最便宜的。",
        )
        candidates = [row["product"] for row in of_kind if row["price"] <= best["price"]]

        def solver(key: str, count: int, *, visit: int = 0) -> Solver:
            def solve(pilot: Pilot) -> Script:
                query = urlencode({"kind": kind, "within": wish.days, "sort": "price"})
                yield from pilot.goto("shop", f"/products?{query}")
                for each in list(dict.fromkeys(candidates))[:visit]:
                    yield from pilot.goto("shop", f"/products/{each}")
                yield from add_goods(pilot, key, count)
                yield from pilot.finish()

            return solve

        enough = (
            next(row for row in near if row["stock"] >= wish.quantity)
            if any(row["stock"] >= wish.quantity for row in near)
            else second
        )
        return WebDraft(
            plan, instruction, solver(best["variant"], wish.quantity, visit=12),
            changes=added("shop", "cart", {"person": person, "variant": best["variant"],
                                           "quantity": wish.quantity}),
            evidence=(rf"shop\.hexathlon\.test/products/{best['product']}$",),
            alternatives={"at_once": solver(best["variant"], wish.quantity)},
            mutants={"second": solver(second["variant"], wish.quantity),
                     "cheaper": solver(enough["variant"], wish.quantity),
                     "one_less": solver(best["variant"], wish.quantity - 1)},
            turns=40,
        )  # fmt: skip


class BestPair(WebTemplate):
    """Order two goods that arrive together at the lowest total, the coupon included."""

    name: ClassVar[str] = "shop_pair"
    levels: ClassVar[tuple[Level, ...]] = ("medium",)

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw two kinds and conditions; delivery, stock and coupons decide together."""
        plan = scene.plan("shop")
        store = scene.store(plan, "shop")
        goods, by_kind = _offers(plan)
        found = None
        for _ in range(12):
            kinds = scene.sample(sorted(by_kind), 2)
            wishes = []
            for kind in kinds:
                label, value = scene.pick(by_kind[kind])
                wishes.append(_Wish(kind, label, value, 8, int(scene.rng.integers(1, 4))))
            fitting = [[row for row in goods[wish.kind] if wish.fits(row)] for wish in wishes]
            found = _best(store, plan.start, fitting, wishes) if all(fitting) else None
            if found is not None:
                break
        if found is None or any(
            {row["variant"] for row in rows} != wish.select(store)
            for rows, wish in zip(fitting, wishes, strict=True)
        ):
            return None
        lines, coupon, totals, seconds = found
        addresses = store.rows("SELECT * FROM addresses ORDER BY id")
        payments = [
            each
            for each in store.rows("SELECT * FROM payments ORDER BY id")
            if each["expires"] >= plan.start[:7]
        ]
        address, payment = scene.pick(addresses[1:]), scene.pick(payments)
        words = [_wish_words(scene, wish) for wish in wishes]
        instruction = scene.say(
            f"For the new flat, order in one order: {words[0]}; and {words[1]}. Each kind in a "
            "single "
            "variant with enough pieces in stock, nothing on final sale, and both with the same "
            "delivery time, so that "
            "one parcel comes. "
            f'Parcel shop, address "{address["label"]}", paid with {payment["label"]}, no '
            "extras, no "
            "newsletter. Of everything that fits, choose goods and, if one helps, a coupon such "
            "that the "
            "total to pay is as low as possible. Answer with the total in euros, such as 123.40, "
            "and the "
            "article numbers of the two products in this order.",
            f"新房需要，请在同一个订单里订购：{words[0]}；以及{words[1]}。"
            "每个种类只选一种规格型号，库存足够，"
            "不要特价不退的商品，两者的送达时间须相同，以便一次寄到。送到自提点，"
            f"地址选“{address['label']}”，"
            f"用{payment['label']}支付，不要附加服务，不订阅资讯。在符合条件的组合中，"
            "选择商品和优惠券（如有帮助）使应付总额最低。回答总额（欧元，如 123.40），"
            "再按上述顺序给出两种商品的货号。",
        )
        person = scene.people(plan)[0].login

        def solver(chosen: list[StoreRow], code: str, told: str, visit: int = 0) -> Solver:
            def solve(pilot: Pilot) -> Script:
                for place, wish in enumerate(wishes):
                    query = urlencode({"kind": wish.kind, "sort": "price"})
                    yield from pilot.goto("shop", f"/products?{query}")
                    for each in list(dict.fromkeys(row["product"] for row in fitting[place]))[
                        :visit
                    ]:
                        yield from pilot.goto("shop", f"/products/{each}")
                yield from pilot.goto("shop", "/offers")
                for line in chosen:
                    yield from add_goods(pilot, line["variant"], line["quantity"])
                yield from fill_checkout(pilot, address=address["id"], method="pickup", slot=0,
                                         payment=payment["id"], coupon=code)  # fmt: skip
                yield from place_order(pilot)
                yield from pilot.finish("MUTATE", [told, *(line["product"] for line in chosen)])

            return solve

        code, told = coupon["code"] if coupon else "", euros(totals.total)
        expected = order_rows(
            lines, person=person, totals=totals, shares=line_discounts(coupon, lines), coupon=code,
            address=address["label"], method="pickup", payment=payment["label"],
        )  # fmt: skip
        mutants = {
            "other_pair": solver(seconds[0][0], _code(seconds[0][1]), euros(seconds[0][2])),
            "cheapest_alone": solver(seconds[1][0], _code(seconds[1][1]), euros(seconds[1][2])),
            "wrong_total": solver(lines, code, euros(totals.total + 10)),
        }
        mutants["other_coupon"] = (
            solver(lines, "", euros(totals.goods))
            if code
            else solver([{**line, "quantity": line["quantity"] + 1} for line in lines], "", told)
        )
        return WebDraft(
            plan,
            instruction,
            solver(lines, code, told, visit=6),
            changes={"shop": expected},
            answer=ExpectedAnswer(data=(told, *(line["product"] for line in lines))),
            evidence=tuple(rf"shop\.hexathlon\.test/products/{line['product']}$" for line in lines),
            alternatives={"at_once": solver(lines, code, told)},
            mutants=mutants,
            turns=80,
        )


def _code(coupon: StoreRow | None) -> str:
    return coupon["code"] if coupon else ""


_Choice = tuple[list[StoreRow], StoreRow | None, int]


def _best(
    store: SiteStore, start: str, fitting: list[list[StoreRow]], wishes: list[_Wish]
) -> tuple[list[StoreRow], StoreRow | None, Any, tuple[_Choice, _Choice]] | None:
    """Return the best pair, its coupon and totals, and two nearly as good.

    None if two are equally good, if the delivery does not matter, or if a simpler rule finds it.
    """
    today, settings = date.fromisoformat(start[:10]), settings_of(store)
    coupons = [None, *store.rows("SELECT * FROM coupons ORDER BY code")]
    least = [
        sorted(_least_by_days(rows).values(), key=lambda row: row["price"]) for rows in fitting
    ]
    if any(len(rows) < 2 for rows in least) or least[0][0]["days"] == least[1][0]["days"]:
        return None
    choices: list[_Choice] = []
    for pair in product(*least):
        lines = [{**row, "quantity": wish.quantity} for row, wish in zip(pair, wishes, strict=True)]
        usable = [
            each for each in coupons if each is None or not coupon_problem(each, lines, today)
        ]
        best = min(usable, key=lambda each: price_totals(lines, each, "pickup", 0, settings).total)
        choices.append((lines, best, price_totals(lines, best, "pickup", 0, settings).total))
    choices.sort(key=lambda each: each[2])
    same = [each for each in choices if len({line["days"] for line in each[0]}) == 1]
    free = [each for each in choices if len({line["days"] for line in each[0]}) == 2]
    if len(same) < 2 or not free or free[0][2] >= same[0][2] or same[0][2] == same[1][2]:
        return None
    lines, coupon, _ = same[0]
    totals = price_totals(lines, coupon, "pickup", 0, settings)
    # The coupon's saving, derived again from the rules; ties between coupons are rejected.
    savings = sorted((_saved(each, lines, today) for each in coupons[1:] if each), reverse=True)
    if max(0, savings[0]) != totals.discount or (len(savings) > 1 and 0 < savings[0] == savings[1]):
        return None
    ordinary = {
        each["variant"]
        for rows in fitting
        for each in rows
        if each["price"] == min(row["price"] for row in rows)
    }
    if {line["variant"] for line in lines} <= ordinary or _tied(lines, fitting):
        return None
    return lines, coupon, totals, (same[1], free[0])


def _least_by_days(rows: list[StoreRow]) -> dict[int, StoreRow]:
    least: dict[int, StoreRow] = {}
    for row in rows:
        known = least.get(row["days"])
        if known is None or row["price"] < known["price"]:
            least[row["days"]] = row
    return least


def _tied(lines: list[StoreRow], fitting: list[list[StoreRow]]) -> bool:
    """Whether another variant with this delivery time has the same price."""
    return any(
        row["variant"] != line["variant"]
        and row["days"] == line["days"]
        and row["price"] == line["price"]
        for line, rows in zip(lines, fitting, strict=True)
        for row in rows
    )


def _saved(coupon: StoreRow, lines: list[StoreRow], today: date) -> int:
    if coupon["ends"] < today.isoformat() or coupon["kind"] == "shipping":
        return 0
    base = sum(
        line["price"] * line["quantity"]
        for line in lines
        if line["return_days"] and coupon["department"] in ("", line["department"])
    )
    if base == 0 or base < coupon["minimum"]:
        return 0
    return int(
        base * coupon["amount"] // 100
        if coupon["kind"] == "percent"
        else min(base, coupon["amount"])
    )


TEMPLATES: tuple[WebTemplate, ...] = (CheapestFit(), BestPair())
