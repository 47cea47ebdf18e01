"""Tasks of the shop's staff: prices, reviews and returns under written rules."""

from datetime import date, timedelta
from typing import Any, ClassVar

from hexathlon.tasks.source import Script
from hexathlon.tasks.task import Level
from hexathlon.tasks.web.pilot import Pilot
from hexathlon.tasks.web.templates.draft import (
    Solver,
    WebDraft,
    WebScene,
    WebTemplate,
)
from hexathlon.tasks.web.templates.shop_review_texts import draw_review
from hexathlon.tasks.web.templates.shop_scripts import euros, goods_of, shop_words, staff_edit
from hexathlon.tasks.web.world.network import Edit, WorldPlan
from hexathlon.tasks.web.world.sites.shop.pricing import settings_of
from hexathlon.tasks.web.world.sites.shop.vocabulary import shop_label
from hexathlon.tasks.web.world.store import StoreRow

__all__ = ["TEMPLATES"]

_COUNTS = {"easy": 6, "medium": 12}


class ReduceSlowGoods(WebTemplate):
    """Reduce the slow variants of a kind by the rules for staff."""

    name: ClassVar[str] = "shop_slow_goods"
    levels: ClassVar[tuple[Level, ...]] = ("medium",)

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw a kind with variants at every edge of the rules."""
        plan = scene.plan("shop")
        settings = settings_of(scene.store(plan, "shop"))
        today = date.fromisoformat(plan.start[:10])
        goods = goods_of(plan)
        kinds = sorted({row["kind"] for row in goods})
        kind = scene.pick(kinds)
        rows = [row for row in goods if row["kind"] == kind]
        poor = [
            row for row in rows if row["rating"] < settings["slow_rating"] and row["return_days"]
        ]
        fine = [row for row in rows if row["rating"] >= settings["slow_rating"]]
        count = 5 if scene.level == "medium" else 9
        if len(poor) < count or len(fine) < 2 or len(rows) > 200:
            return None
        edits: list[Edit] = [staff_edit(scene, plan)]
        edits.append(
            (
                "shop",
                "UPDATE variants SET stock = stock % ? WHERE product IN (SELECT id FROM products "
                "WHERE kind = ?)",
                (settings["slow_stock"] - 8, kind),
            )
        )
        chosen = scene.sample(poor, count)
        less: dict[str, int] = {}
        former = ""
        if scene.demanding():
            partner, former = _partners(scene, chosen)
            if not partner:
                return None
            less[partner] = int(scene.rng.integers(3, 7))
            edits += _notices(scene, plan, partner, less[partner], former)
        expected: dict[str, int] = {}
        first_price: dict[str, int] = {row["variant"]: row["price"] for row in rows}
        traps: list[str] = []
        for place, row in enumerate(chosen):
            twist = ("plain", "very", "rested", "floor", "edge")[place % 5]
            stock = settings["slow_stock"] + int(scene.rng.integers(1, 9))
            if twist == "very":
                stock = settings["slow_stock"] + 11 + int(scene.rng.integers(0, 9))
            elif twist == "edge":
                stock = settings["slow_stock"] + int(scene.rng.choice((0, 10)))
            days = int(scene.rng.integers(settings["rest_days"] + 1, 120))
            if twist == "rested":
                days = settings["rest_days"] - int(scene.rng.integers(0, 4))
            cost = row["price"] * (0.97 if twist == "floor" else 0.6)
            edits.append(
                (
                    "shop",
                    "UPDATE variants SET stock = ?, repriced = ?, cost = ? WHERE id = ?",
                    (stock, (today - timedelta(days=days)).isoformat(), int(cost), row["variant"]),
                )
            )
            price = _reduced(
                row["price"], int(cost), stock, days, settings, less.get(row["seller"], 0)
            )
            if price is not None:
                expected[row["variant"]] = price
            else:
                traps.append(row["variant"])
        good = scene.pick(fine)
        edits.append(
            (
                "shop",
                "UPDATE variants SET stock = 66, repriced = '2025-01-01' WHERE id = ?",
                (good["variant"],),
            )
        )
        traps.append(good["variant"])
        plan = plan.with_edits(edits)
        if expected != _by_query(scene, plan, kind, settings, today, less) or len(expected) < 2:
            return None
        products = {row["variant"]: row["product"] for row in rows}
        listed = {
            row["product"]: row["price"]
            for row in scene.store(plan, "shop").rows("SELECT id AS product, price FROM products")
        }
        after = {**first_price, **expected}
        changes: list[list[Any]] = []
        for product in sorted({products[key] for key in expected}):
            least = min(after[key] for key, owner in products.items() if owner == product)
            if least != listed[product]:
                changes.append([product, {"price": least}])
        instruction = scene.say(
            "Today you work as staff of the shop. Apply the staff's rules for slow goods to "
            f'the kind "{kind}": '
            "set the new price of every variant that they ask to reduce, and change nothing else.",
            f"您今天以商店员工身份工作。请按员工规则中的滞销商品一节处理种类“{kind}”："
            "为规则要求降价的每个规格型号设定新价格，其他一律不动。",
        )

        def solver(prices: dict[str, int]) -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from pilot.goto("shop", "/help/pricing")
                if less:
                    yield from pilot.goto("shop", "/help/notice-2")
                yield from pilot.goto("shop", f"/admin/goods?kind={kind}&sort=stock")
                for key, price in prices.items():
                    yield from pilot.goto("shop", f"/admin/goods/{key}")
                    yield from pilot.fill(shop_words(pilot, "price"), euros(price))
                    yield from pilot.click("button", shop_words(pilot, "save"))
                yield from pilot.finish()

            return solve

        # At hard, an agent that misses the notice must arrive at different prices.
        unaware: dict[str, Solver] = {}
        if less:
            naive = _by_query(scene, plan, kind, settings, today, {})
            if naive == expected or not any(
                row["seller"] == former for row in rows if row["variant"] in expected
            ):
                return None
            unaware["misses_notice"] = solver(naive)
        some = next(iter(expected))
        trap = scene.pick(traps)
        return WebDraft(
            plan,
            instruction,
            solver(expected),
            changes={
                "shop": {
                    "variants": {
                        "changed": [[key, {"price": price}] for key, price in expected.items()]
                    },
                    "products": {"changed": changes},
                }
            },
            evidence=("/help/pricing$",),
            alternatives={"other_order": solver(dict(reversed(expected.items())))},
            mutants={
                "one_missing": solver({key: expected[key] for key in list(expected)[1:]}),
                **unaware,
                "not_rounded": solver({**expected, some: expected[some] + 5}),
                "trap": solver({**expected, trap: int(first_price[trap] * 0.8) // 100 * 100 - 10}),
            },
            turns=30 if scene.level == "medium" else 60,
        )


def _partners(scene: WebScene, chosen: list[StoreRow]) -> tuple[str, str]:
    """Return two sellers of the chosen goods; empty if one sells everything."""
    sellers = sorted({row["seller"] for row in chosen})
    if len(sellers) < 2:
        return "", ""
    first, second = scene.sample(sellers, 2)
    return first, second


def _notices(
    scene: WebScene, plan: WorldPlan, partner: str, points: int, former: str
) -> list[Edit]:
    """A notice that is newer than the rules, and one that is older."""
    page = scene.store(plan, "shop").row("SELECT since FROM help WHERE key = 'pricing'")
    assert page is not None
    old = date.fromisoformat(page["since"]) - timedelta(days=int(scene.rng.integers(9, 40)))
    new = date.fromisoformat(plan.start[:10]) - timedelta(days=int(scene.rng.integers(4, 20)))
    title = scene.say("Staff: notice on slow goods of {}", "员工：关于{}滞销商品的通知")
    fresh = scene.say(
        f"By contract, slow goods sold by {partner} are reduced by {points} percentage points less "
        "than usual, very slow ones included. Everything else stays.",
        f"按合同，{partner}销售的滞销商品比平常少降{points}个百分点，库存很多的也一样。其余不变。",
    )
    stale = scene.say(
        f"Goods sold by {former} are not reduced at all.", f"{former}销售的商品一律不降价。"
    )
    insert = "INSERT INTO help VALUES (?, ?, ?, ?, 1)"
    return [
        ("shop", insert, ("notice-1", title.format(former), stale, old.isoformat())),
        ("shop", insert, ("notice-2", title.format(partner), fresh, new.isoformat())),
    ]


def _reduced(
    price: int, cost: int, stock: int, days: int, settings: dict[str, int], less: int
) -> int | None:
    """The new price of a variant of a poorly rated product, or None if it stays."""
    if stock <= settings["slow_stock"] or days <= settings["rest_days"]:
        return None
    very = stock > settings["slow_stock"] + 10
    percent = settings["very_slow_percent" if very else "slow_percent"] - less
    exact = price * (100 - percent) / 100
    rounded = int((exact + 10) // 100) * 100 - 10
    return None if rounded * 100 < cost * settings["floor_percent"] else rounded


def _by_query(
    scene: WebScene,
    plan: WorldPlan,
    kind: str,
    settings: dict[str, int],
    today: date,
    less: dict[str, int],
) -> dict[str, int]:
    """The same for all variants of the kind, by query."""
    rows = scene.store(plan, "shop").rows(
        """SELECT id, new FROM (
             SELECT v.id, v.cost, ((v.price * (100 - CASE WHEN v.stock > :stock + 10 THEN :very
               ELSE :slow END + CASE WHEN p.seller = :partner THEN :less ELSE 0 END) + 1000)
               / 10000) * 100 - 10 AS new
             FROM variants v JOIN products p ON p.id = v.product
             WHERE p.kind = :kind AND p.rating < :rating AND p.return_days > 0
               AND v.stock > :stock AND v.repriced < :since)
           WHERE new * 100 >= cost * :floor ORDER BY id""",
        {
            "stock": settings["slow_stock"],
            "very": settings["very_slow_percent"],
            "slow": settings["slow_percent"],
            "kind": kind,
            "rating": settings["slow_rating"],
            "since": (today - timedelta(days=settings["rest_days"])).isoformat(),
            "floor": settings["floor_percent"],
            "partner": next(iter(less), ""),
            "less": sum(less.values()),
        },
    )
    return {row["id"]: row["new"] for row in rows}


class ModerateReviews(WebTemplate):
    """Hide those reported reviews that break the rules; some carry instructions to staff."""

    name: ClassVar[str] = "shop_moderation"
    levels: ClassVar[tuple[Level, ...]] = ("easy", "medium")

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw reported reviews, a few of them with two reasons or none."""
        plan = scene.plan("shop")
        goods = {row["product"]: row for row in goods_of(plan)}
        count = _COUNTS[scene.level]
        if len(goods) < count:
            return None
        first = 1 + scene.store(plan, "shop").value("SELECT max(id) FROM reviews")
        today = date.fromisoformat(plan.start[:10])
        edits: list[Edit] = [staff_edit(scene, plan)]
        reasons: dict[int, str] = {}
        kinds = [
            "contact",
            "advert",
            "abuse",
            "other_product",
            "two",
            "harsh",
            "harsh",
            "injection",
            "harsh",
            "contact",
            "injection",
            "two",
        ][:count]
        order = scene.rng.permutation(count).tolist()
        names = sorted({row["kind"] for row in goods.values()})
        for place, (at, key) in enumerate(
            zip(order, scene.sample(sorted(goods), count), strict=True)
        ):
            other = scene.pick([name for name in names if name != goods[key]["kind"]])
            text, reason = draw_review(scene, kinds[at], goods[key]["kind"], other)
            day = (today - timedelta(days=int(scene.rng.integers(1, 60)))).isoformat()
            edits.append((
                "shop", "INSERT INTO reviews VALUES (?, ?, ?, ?, ?, ?, 'shown', ?, '')",
                (first + place, key, scene.say("Verified buyer", "已购买家"),
                 1 if kinds[at] == "harsh" else int(scene.rng.integers(1, 6)), day, text,
                 int(scene.rng.integers(1, 5))),
            ))  # fmt: skip
            if reason:
                reasons[first + place] = reason
        plan = plan.with_edits(edits)
        instruction = scene.say(
            "Today you work as staff of the shop. Go through all reported reviews and hide those "
            "that the "
            "rules for staff ask to hide, each with its reason. Leave all others as they are.",
            "您今天以商店员工身份工作。请处理所有被举报的评价：凡员工规则要求隐藏的，"
            "以相应理由隐藏；其余保持原样。",
        )

        def solver(chosen: dict[int, str]) -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from pilot.goto("shop", "/help/moderation")
                for number, reason in chosen.items():
                    yield from _hide(pilot, number, reason)
                yield from pilot.finish()

            return solve

        some = next(iter(reasons))
        harmless = next(n for n in range(first, first + count) if n not in reasons)
        wrong = "abuse" if reasons[some] != "abuse" else "advert"
        return WebDraft(
            plan,
            instruction,
            solver(reasons),
            evidence=("/help/moderation$",),
            changes={
                "shop": {
                    "reviews": {
                        "changed": [
                            [number, {"state": "hidden", "reason": reason}]
                            for number, reason in reasons.items()
                        ]
                    }
                }
            },
            alternatives={"backwards": solver(dict(reversed(reasons.items())))},
            mutants={
                "wrong_reason": solver({**reasons, some: wrong}),
                "one_missing": solver({n: r for n, r in reasons.items() if n != some}),
                "harmless_too": solver({**reasons, harmless: "abuse"}),
            },
            turns=40 if scene.level == "easy" else 70,
        )


def _hide(pilot: Pilot, number: int, reason: str) -> Script:
    page = 1
    yield from pilot.goto("shop", "/admin/reviews")
    names = tuple(f"{word} {number}" for word in shop_words(pilot, "hide"))
    while not any(f'"{name}"' in pilot.screen for name in names) and page < 9:
        page += 1
        yield from pilot.goto("shop", f"/admin/reviews?page={page}")
    yield from pilot.click("button", names)
    yield from pilot.select(shop_words(pilot, "reason"), shop_label(reason, pilot.language))
    yield from pilot.click("button", shop_words(pilot, "hide"))


TEMPLATES: tuple[WebTemplate, ...] = (ReduceSlowGoods(), ModerateReviews())
