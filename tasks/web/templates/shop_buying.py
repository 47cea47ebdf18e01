"""Purchase tasks: a fully specified order, a declined card, the best coupon."""

from datetime import date
from typing import Any, ClassVar

from hexathlon.tasks.source import Script
from hexathlon.tasks.task import Level
from hexathlon.tasks.web.pilot import Pilot
from hexathlon.tasks.web.templates.draft import (
    ExpectedAnswer,
    Solver,
    WebDraft,
    WebScene,
    WebTemplate,
)
from hexathlon.tasks.web.templates.shop_scripts import (
    GOODS,
    add_goods,
    euros,
    fill_checkout,
    order_rows,
    place_order,
    shop_words,
)
from hexathlon.tasks.web.world.sites.shop.pricing import (
    coupon_problem,
    line_discounts,
    price_totals,
    settings_of,
)
from hexathlon.tasks.web.world.store import SiteStore, StoreRow

__all__ = ["TEMPLATES"]


def _unique(store: SiteStore, condition: str = "1") -> list[StoreRow]:
    return store.rows(
        f"{GOODS} WHERE p.title IN (SELECT title FROM products GROUP BY title HAVING count(*) = 1) "
        f"AND {condition} ORDER BY v.id"
    )


class Buy(WebTemplate):
    """Order goods with everything as asked and no extras; in the twin too few are left."""

    name: ClassVar[str] = "shop_buy"
    levels: ClassVar[tuple[Level, ...]] = ("easy", "medium")
    twins: ClassVar[bool] = True

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw goods, an address, a card and, at the medium level, a coupon, a window and a note."""
        plan = scene.plan("shop")
        store = scene.store(plan, "shop")
        rich = scene.level == "medium"
        rows = _unique(store, "p.return_days > 0 AND v.price < 30000")
        if not rows:
            return None
        row = scene.pick(rows)
        quantity = int(scene.rng.integers(3, 6))
        spare, few = int(scene.rng.integers(4, 30)), int(scene.rng.integers(1, quantity))
        left = quantity + spare if scene.feasible else few
        # The stock that the page shows, so that nobody can report it without having looked.
        record = f"{row['product']}/{few}"
        plan = plan.with_edits(
            [("shop", "UPDATE variants SET stock = ? WHERE id = ?", (left, row["variant"]))]
        )
        lines = [{**row, "stock": left, "quantity": quantity}]
        today = date.fromisoformat(plan.start[:10])
        addresses = store.rows("SELECT * FROM addresses ORDER BY id")
        payments = [each for each in store.rows("SELECT * FROM payments ORDER BY id")
                    if each["expires"] >= plan.start[:7]]  # fmt: skip
        address, payment = scene.pick(addresses[1:]), scene.pick(payments[1:])
        coupons = [
            each
            for each in store.rows("SELECT * FROM coupons ORDER BY code")
            if not coupon_problem(each, lines, today) and each["kind"] != "shipping"
        ]
        slots = store.rows(
            "SELECT * FROM slots WHERE method = 'express' AND places > 0 ORDER BY id"
        )
        if rich and not (coupons and slots):
            return None
        coupon = scene.pick(coupons) if rich else None
        slot = scene.pick(slots) if rich else None
        note = scene.say("Please ring twice", "请按两次门铃") if rich else ""
        method = "express" if rich else "pickup"
        totals = price_totals(lines, coupon, method, slot["fee"] if slot else 0, settings_of(store))
        words = _order_words(scene, row, quantity, address, payment)
        if rich and coupon and slot:
            words += scene.say(
                f"Express delivery on {slot['day']} between {slot['hours']}, coupon "
                f"{coupon['code']}, "
                f'note "{note}". ',
                f"加急配送，{slot['day']} {slot['hours']}，使用优惠券{coupon['code']}，"
                f"备注“{note}”。",
            )
        else:
            words += scene.say("Have it sent to a parcel shop. ", "送到自提点。")
        words += scene.say(
            "No extras, no newsletter. If fewer than that are left, order nothing, leave the "
            "cart empty and report the product's article number and how many are left, in the form P1234AB/7, "
            "as ACTION_NOT_ALLOWED_ERROR.",
            "不要任何附加服务，不订阅资讯。如果剩余不足，就不要下单，购物车保持为空，"
            "并以 ACTION_NOT_ALLOWED_ERROR 报告该商品的货号和剩余数量，格式如 P1234AB/7。",
        )

        def order(
            variant: str, count: int, keep: tuple[str, ...] = (), code: bool = True
        ) -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from add_goods(pilot, variant, count)
                yield from fill_checkout(
                    pilot, address=address["id"], method=method, slot=slot["id"] if slot else 0,
                    payment=payment["id"], keep=keep, note=note,
                    coupon=coupon["code"] if coupon and code else "",
                )  # fmt: skip
                yield from place_order(pilot)
                yield from pilot.finish()

            return solve

        def report(record: str, *, look: bool = True) -> Solver:
            def solve(pilot: Pilot) -> Script:
                if look:
                    yield from pilot.goto("shop", f"/products/{row['product']}")
                yield from pilot.refuse("ACTION_NOT_ALLOWED_ERROR", record)

            return solve

        def tries(pilot: Pilot) -> Script:
            yield from add_goods(pilot, row["variant"], quantity)
            yield from pilot.refuse("ACTION_NOT_ALLOWED_ERROR", record.lower())

        evidence = (rf"shop\.hexathlon\.test/products/{row['product']}$",)
        if not scene.feasible:
            return WebDraft(
                plan, words, report(record), evidence=evidence,
                answer=ExpectedAnswer("ACTION_NOT_ALLOWED_ERROR", record=record),
                alternatives={"tries": tries},
                mutants={"fewer": _fewer(order, row["variant"], few),
                         "unseen": report(record, look=False),
                         "number_only": report(row["product"]),
                         "other_count": report(f"{row['product']}/{quantity}")},
            )  # fmt: skip
        expected = order_rows(
            lines, person=scene.people(plan)[0].login, totals=totals,
            shares=line_discounts(coupon, lines), address=address["label"], method=method,
            payment=payment["label"], coupon=coupon["code"] if coupon else "", note=note,
            slot=f"{slot['day']} {slot['hours']}" if slot else "",
        )  # fmt: skip
        if slot:
            expected["slots"] = {"changed": [[slot["id"], {"places": slot["places"] - 1}]]}

        def in_steps(pilot: Pilot) -> Script:
            yield from add_goods(pilot, row["variant"], 1)
            yield from pilot.fill(tuple(f"{word} {row['variant']}" for word in
                                        shop_words(pilot, "quantity")), str(quantity),
                                  role="spinbutton")  # fmt: skip
            yield from pilot.click("button", shop_words(pilot, "change"))
            yield from fill_checkout(
                pilot, address=address["id"], method=method, slot=slot["id"] if slot else 0,
                payment=payment["id"], note=note, coupon=coupon["code"] if coupon else "",
            )  # fmt: skip
            yield from place_order(pilot)
            yield from pilot.finish()

        return WebDraft(
            plan, words, order(row["variant"], quantity), changes={"shop": expected},
            evidence=evidence, alternatives={"in_steps": in_steps},
            mutants={"insured": order(row["variant"], quantity, ("insurance",)),
                     "newsletter": order(row["variant"], quantity, ("newsletter",)),
                     "one_less": order(row["variant"], quantity - 1),
                     "refuses": report(record)},
        )  # fmt: skip


def _fewer(order: Any, variant: str, count: int) -> Solver:
    solver: Solver = order(variant, count, (), False)
    return solver


def _order_words(
    scene: WebScene, row: StoreRow, quantity: int, address: StoreRow, payment: StoreRow
) -> str:
    return scene.say(
        f'Order {quantity} of "{row["title"]}", {row["options"]}, to my address '
        f'"{address["label"]}", '
        f"paid with {payment['label']}. ",
        f"请订购{quantity}件“{row['title']}”（{row['options']}），寄到“{address['label']}”，"
        f"用{payment['label']}支付。",
    )


class DeclinedCard(WebTemplate):
    """Order, and make sure that it is paid: the bank may decline the card a moment later."""

    name: ClassVar[str] = "shop_declined"
    levels: ClassVar[tuple[Level, ...]] = ("easy", "medium")

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw goods and two cards; the funds of the first card decide."""
        plan = scene.plan("shop")
        store = scene.store(plan, "shop")
        rows = _unique(store, "v.stock > 5")
        payments = [each for each in store.rows("SELECT * FROM payments ORDER BY id")
                    if each["expires"] >= plan.start[:7]]  # fmt: skip
        count = 1 if scene.level == "easy" else 2
        if len(rows) < count + 1 or len(payments) < 2:
            return None
        chosen = scene.sample(rows, count + 1)
        if len({row["product"] for row in chosen}) <= count:
            return None
        lines = [{**row, "quantity": 1} for row in chosen[:count]]
        first, second = scene.sample(payments, 2)
        address = scene.pick(store.rows("SELECT * FROM addresses ORDER BY id"))
        totals = price_totals(lines, None, "pickup", 0, settings_of(store))
        declined = bool(scene.rng.random() < 0.75)
        funds = totals.total - int(scene.rng.integers(1, 400)) if declined else totals.total
        plan = plan.with_edits(
            [("shop", "UPDATE _funds SET funds = ? WHERE label = ?", (funds, first["label"]))]
        )
        names = scene.say(" and ", "和").join(
            scene.say(
                f'one "{line["title"]}", {line["options"]}',
                f"“{line['title']}”（{line['options']}）1件",
            )
            for line in lines
        )
        instruction = scene.say(
            f'Order {names}, to a parcel shop (address "{address["label"]}"), without extras or '
            f"newsletter, in one order. Pay with {first['label']}. The bank answers a moment "
            "after the "
            f"order: if it declines, pay the same order with {second['label']} instead. I need "
            "the order to "
            "be paid.",
            f"请在同一个订单里订购{names}，送到自提点（地址选“{address['label']}”），"
            "不要附加服务，不订阅资讯。"
            f"用{first['label']}支付。银行在下单后稍等片刻才答复：如果被拒，"
            f"就用{second['label']}支付同一个订单。"
            "订单必须付款成功。",
        )

        def order(pay: str, keys: tuple[str, ...], keep: tuple[str, ...] = ()) -> Solver:
            def solve(pilot: Pilot) -> Script:
                for key in keys:
                    yield from add_goods(pilot, key)
                yield from fill_checkout(pilot, address=address["id"], method="pickup", slot=0,
                                         payment=(second if pay == "second" else first)["id"],
                                         keep=keep)  # fmt: skip
                yield from place_order(pilot)
                if pay in ("checked", "waited"):
                    yield from pilot.look()
                    number = _number_of(pilot)
                    if pay == "waited":
                        yield from pilot.look()
                        yield from pilot.goto("shop", "/cart")
                    yield from pilot.goto("shop", f"/orders/{number}")
                    if _asks_again(pilot):
                        yield from pilot.select(shop_words(pilot, "payment"), second["label"])
                        yield from pilot.click("button", shop_words(pilot, "pay_again"))
                yield from pilot.finish()

            return solve

        keys = tuple(line["variant"] for line in lines)
        wrong = (*keys[:-1], chosen[-1]["variant"])
        expected = order_rows(
            lines, person=scene.people(plan)[0].login, totals=totals, shares=[0] * count,
            address=address["label"], method="pickup",
            payment=(second if declined else first)["label"],
        )  # fmt: skip
        mutants = {
            "insured": order("checked", keys, ("insurance",)),
            "other": order("checked", wrong),
            "second_card": order("second", keys),
            "extra": order("checked", (*keys, wrong[-1])),
        }
        if declined:
            mutants |= {"trusting": order("first", keys)}
            del mutants["second_card"]
        return WebDraft(
            plan, instruction, order("checked", keys), changes={"shop": expected},
            evidence=(r"shop\.hexathlon\.test/orders/\d+$",),
            alternatives={"waited": order("waited", keys)}, mutants=mutants,
        )  # fmt: skip


def _number_of(pilot: Pilot) -> str:
    return pilot.screen.partition("/orders/")[2].partition(")")[0]


def _asks_again(pilot: Pilot) -> bool:
    return any(f'button "{word}"' in pilot.screen for word in shop_words(pilot, "pay_again"))


class BestCoupon(WebTemplate):
    """Order the contents of the cart with the coupon that saves most."""

    name: ClassVar[str] = "shop_coupon"
    levels: ClassVar[tuple[Level, ...]] = ("medium",)

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw a cart for which neither the highest percentage nor the highest amount is best."""
        plan = scene.plan("shop")
        store = scene.store(plan, "shop")
        rows = store.rows(f"{GOODS} WHERE v.stock > 5 AND v.price < 9000 ORDER BY v.id")
        if len(rows) < 8:
            return None
        picked = scene.sample(rows, 4)
        if len({row["product"] for row in picked}) < 4:
            return None
        lines = [{**row, "quantity": int(scene.rng.integers(1, 3))} for row in picked]
        person = scene.people(plan)[0].login
        plan = plan.with_edits([
            ("shop", "INSERT INTO cart (id, person, variant, quantity) VALUES (?, ?, ?, ?)",
             (901 + place, person, line["variant"], line["quantity"]))
            for place, line in enumerate(lines)
        ])  # fmt: skip
        today, settings = date.fromisoformat(plan.start[:10]), settings_of(store)
        coupons = store.rows("SELECT * FROM coupons ORDER BY code")
        fitting = [each for each in coupons if not coupon_problem(each, lines, today)]
        totals = {
            each["code"]: price_totals(lines, each, "standard", 0, settings) for each in fitting
        }
        if len(fitting) < 3:
            return None
        ranked = sorted(fitting, key=lambda each: totals[each["code"]].total)
        best = ranked[0]
        if totals[best["code"]].total == totals[ranked[1]["code"]].total:
            return None
        if _saving(best, lines, settings) != max(
            _saving(each, lines, settings) for each in fitting
        ):
            return None
        naive = {max((each for each in coupons if each["kind"] == kind),
                     key=lambda each: (each["amount"], each["code"]))["code"]
                 for kind in ("percent", "amount")}  # fmt: skip
        if best["code"] in naive:
            return None
        slots = store.rows(
            "SELECT * FROM slots WHERE method = 'standard' AND places > 0 AND fee = 0 "
            "ORDER BY day, hours"
        )
        if not slots:
            return None
        slot = slots[0]
        address = scene.pick(store.rows("SELECT * FROM addresses ORDER BY id"))
        payment = store.rows("SELECT * FROM payments ORDER BY id")[0]
        instruction = scene.say(
            "Order what is in my cart, with the one coupon that makes the total lowest. Standard "
            "delivery in the earliest window that has places left and costs nothing extra, to "
            f'"{address["label"]}", paid with {payment["label"]}; no extras, no newsletter. '
            "Answer with "
            "the coupon's code and the total in euros, such as 12.50.",
            "请下单购买购物车里的商品，使用让总价最低的那张优惠券。标准配送，"
            "选择仍有名额且不另收费的最早时段，"
            f"寄到“{address['label']}”，用{payment['label']}支付；不要附加服务，不订阅资讯。"
            "回答优惠券码和总价（欧元，如 12.50）。",
        )

        def order(code: str, window: int = slot["id"], told: str = "") -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from pilot.goto("shop", "/offers")
                yield from fill_checkout(
                    pilot,
                    address=address["id"],
                    method="standard",
                    slot=window,
                    payment=payment["id"],
                    coupon=code,
                )
                yield from place_order(pilot)
                answer = told or euros(totals[code].total)
                yield from pilot.finish("MUTATE", [code, answer])

            return solve

        def compares(pilot: Pilot) -> Script:
            for each in fitting[:3]:
                yield from pilot.goto("shop", "/cart")
                yield from pilot.fill(shop_words(pilot, "code"), each["code"])
                yield from pilot.click("button", shop_words(pilot, "use_code"))
            yield from order(best["code"])(pilot)

        expected = order_rows(
            lines,
            person=person,
            totals=totals[best["code"]],
            shares=line_discounts(best, lines),
            address=address["label"],
            method="standard",
            payment=payment["label"],
            coupon=best["code"],
            slot=f"{slot['day']} {slot['hours']}",
        )
        expected["slots"] = {"changed": [[slot["id"], {"places": slot["places"] - 1}]]}
        expected["cart"] = {"removed": [901 + place for place in range(len(lines))]}
        later = slots[-1]["id"] if slots[-1]["id"] != slot["id"] else None
        mutants = {
            "second_best": order(ranked[1]["code"]),
            "worst": order(ranked[-1]["code"]),
            "wrong_total": order(best["code"], told=euros(totals[best["code"]].total + 1)),
        }
        if later:
            mutants["later"] = order(best["code"], later)
        return WebDraft(
            plan, instruction, order(best["code"]), changes={"shop": expected},
            answer=ExpectedAnswer(data=(best["code"], euros(totals[best["code"]].total))),
            alternatives={"compares": compares}, mutants=mutants,
        )  # fmt: skip


def _saving(coupon: StoreRow, lines: list[StoreRow], settings: dict[str, int]) -> int:
    """A coupon's saving, computed from the rules rather than from the shop's totals."""
    eligible = sum(
        line["price"] * line["quantity"]
        for line in lines
        if line["return_days"] > 0
        and (not coupon["department"] or coupon["department"] == line["department"])
    )
    goods = sum(line["price"] * line["quantity"] for line in lines)
    if coupon["kind"] == "shipping":
        return settings["shipping_standard"] if goods < settings["free_shipping"] else 0
    cut = int(
        eligible * coupon["amount"] / 100 + 1e-9
        if coupon["kind"] == "percent"
        else min(coupon["amount"], eligible)
    )
    lost = goods >= settings["free_shipping"] > goods - cut
    return cut - (settings["shipping_standard"] if lost else 0)


TEMPLATES: tuple[WebTemplate, ...] = (Buy(), DeclinedCard(), BestCoupon())
