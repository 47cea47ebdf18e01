"""Short tasks on the shop: find, look up, put into the cart, correct an address, cancel."""

import json
from typing import ClassVar
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
    changed,
)
from hexathlon.tasks.web.templates.shop_scripts import (
    add_goods,
    euros,
    goods_of,
    shop_words,
    unique_titles,
)
from hexathlon.tasks.web.world.sites.shop.account_pages import parcel_of
from hexathlon.tasks.web.world.store import SiteStore, StoreRow

__all__ = ["TEMPLATES"]

_PAGE = r"shop\.hexathlon\.test/products/{}$"


def _named(scene: WebScene, store: SiteStore) -> tuple[StoreRow, str] | None:
    """Draw a product and the words that identify it: its title, and its seller if it has twins."""
    if scene.level == "tiny":
        rows = unique_titles(store)
        if not rows:
            return None
        row = scene.pick(rows)
        return row, scene.say(f'"{row["title"]}"', f"“{row['title']}”")
    rows = store.rows(
        "SELECT * FROM products p WHERE (SELECT count(*) FROM products o WHERE o.title = p.title) "
        "> 1 AND (SELECT count(*) FROM products o WHERE o.title = p.title AND o.seller = p.seller) "
        "= 1 ORDER BY id"
    )
    if not rows:
        return None
    row = scene.pick(rows)
    return row, scene.say(
        f'"{row["title"]}" sold by {row["seller"]}', f"{row['seller']}销售的“{row['title']}”"
    )


def _by_search(pilot: Pilot, row: StoreRow) -> Script:
    query = urlencode({"q": row["title"], "seller": row["seller"]})
    yield from pilot.goto("shop", f"/products?{query}")
    yield from pilot.click("link", row["title"])


class AddToCart(WebTemplate):
    """Put a variant of a product into the cart."""

    name: ClassVar[str] = "shop_add"
    levels: ClassVar[tuple[Level, ...]] = ("tiny", "easy")

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw a product, a variant in stock and a quantity."""
        plan = scene.plan("shop")
        store = scene.store(plan, "shop")
        named = _named(scene, store)
        if named is None:
            return None
        row, words = named
        variants = store.rows(
            "SELECT * FROM variants WHERE product = ? AND stock >= 3 ORDER BY id", (row["id"],)
        )
        if len(variants) < 2:
            return None
        variant, wrong = scene.sample(variants, 2)
        quantity = int(scene.rng.integers(2, 5))
        others = store.rows(
            "SELECT v.* FROM variants v JOIN products p ON p.id = v.product WHERE p.id != ? AND "
            "v.stock >= ? ORDER BY p.title != ?, v.id LIMIT 1",
            (row["id"], quantity, row["title"]),
        )
        instruction = scene.say(
            f"Put {quantity} of {words} into the cart, in the variant {variant['options']}.",
            f"把{words}放入购物车：规格型号“{variant['options']}”，{quantity}件。",
        )
        person = scene.people(plan)[0].login

        def solver(key: str, count: int) -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from add_goods(pilot, key, count)
                yield from pilot.finish()

            return solve

        def by_search(pilot: Pilot) -> Script:
            yield from _by_search(pilot, row)
            yield from pilot.select(shop_words(pilot, "variant"), variant["options"])
            yield from pilot.fill(shop_words(pilot, "quantity"), str(quantity), role="spinbutton")
            yield from pilot.click("button", shop_words(pilot, "add_to_cart"))
            yield from pilot.finish()

        return WebDraft(
            plan,
            instruction,
            solver(variant["id"], quantity),
            changes=added(
                "shop", "cart", {"person": person, "variant": variant["id"], "quantity": quantity}
            ),
            alternatives={"by_search": by_search},
            mutants={
                "wrong_variant": solver(wrong["id"], quantity),
                "one_more": solver(variant["id"], quantity + (1 if quantity < 4 else -1)),
                "other_product": solver(others[0]["id"], quantity),
            },
            turns=20,
        )


class LookUp(WebTemplate):
    """Read a property, and the price of a variant, from a product's page."""

    name: ClassVar[str] = "shop_lookup"
    levels: ClassVar[tuple[Level, ...]] = ("tiny", "easy")

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw a product, a line of its specification and a variant."""
        plan = scene.plan("shop")
        store = scene.store(plan, "shop")
        named = _named(scene, store)
        if named is None:
            return None
        row, words = named
        spec = [pair for pair in json.loads(row["spec"]) if pair[1] not in row["features"]]
        label, value = scene.pick(spec)
        variants = store.rows("SELECT * FROM variants WHERE product = ? ORDER BY id", (row["id"],))
        variant = scene.pick(variants)
        price = euros(variant["price"])
        two = scene.level == "easy"
        asked = scene.say(
            f'What does the specification of {words} give as "{label}"?',
            f"{words}的规格表中“{label}”一项写的是什么？",
        )
        if two:
            asked += scene.say(
                f" Add, as a second value, the price of the variant {variant['options']} in euros, "
                "such as 12.50.",
                f"第二个值请给出规格型号“{variant['options']}”的价格，单位欧元，如 12.50。",
            )
        data = (value, price) if two else (value,)
        evidence = (_PAGE.format(row["id"]),)
        other = next(pair[1] for pair in spec if pair[1] != value)

        def solver(answer: tuple[str, ...], *, look: bool = True) -> Solver:
            def solve(pilot: Pilot) -> Script:
                if look:
                    yield from pilot.goto("shop", f"/products/{row['id']}")
                yield from pilot.finish("RETRIEVE", answer)

            return solve

        def by_search(pilot: Pilot) -> Script:
            yield from _by_search(pilot, row)
            yield from pilot.finish("RETRIEVE", data)

        return WebDraft(
            plan,
            asked,
            solver(data),
            answer=ExpectedAnswer(data=data),
            evidence=evidence,
            alternatives={"by_search": by_search},
            mutants={
                "unseen": solver(data, look=False),
                "other_line": solver((other, price) if two else (other,)),
                "too_much": solver((*data, label)),
            },
            turns=20,
        )


class CorrectAddress(WebTemplate):
    """Change two fields of an address; a second one has a similar label."""

    name: ClassVar[str] = "shop_address"
    levels: ClassVar[tuple[Level, ...]] = ("easy",)

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw an address, a new street and a new phone number."""
        plan = scene.plan("shop")
        old = scene.say("Home (old)", "家（旧）")
        plan = plan.with_edits(
            [
                (
                    "shop",
                    "INSERT INTO addresses (person, label, name, street, city, postcode, phone, "
                    "note) "
                    "SELECT person, ?, name, street, city, postcode, phone, '' FROM addresses "
                    "WHERE id = 1",
                    (old,),
                ),
            ]
        )
        store = scene.store(plan, "shop")
        rows = store.rows("SELECT * FROM addresses ORDER BY id")
        row, twin = rows[0], rows[-1]
        house = int(scene.rng.integers(2, 180))
        street = scene.say(f"Weaver Lane {house}", f"织布巷{house}号")
        phone = (
            f"0{int(scene.rng.integers(151, 179))} {int(scene.rng.integers(1_000_000, 9_999_999))}"
        )
        instruction = scene.say(
            f'My delivery address "{row["label"]}" has changed: the street is now {street}, the '
            "phone "
            f"number {phone}. Correct it; the rest stays.",
            f"我的收货地址“{row['label']}”有变：街道门牌改为{street}，电话改为{phone}。请更正，"
            "其余不变。",
        )

        def solver(number: int, *, call: bool = True, way: str = street) -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from pilot.goto("shop", f"/addresses/{number}")
                yield from pilot.fill(shop_words(pilot, "street"), way)
                if call:
                    yield from pilot.fill(shop_words(pilot, "phone"), phone)
                yield from pilot.click("button", shop_words(pilot, "save"))
                yield from pilot.finish()

            return solve

        def by_list(pilot: Pilot) -> Script:
            yield from pilot.goto("shop", "/addresses")
            yield from pilot.click("link", row["label"])
            yield from pilot.fill(shop_words(pilot, "phone"), phone)
            yield from pilot.fill(shop_words(pilot, "street"), street)
            yield from pilot.click("button", shop_words(pilot, "save"))
            yield from pilot.finish()

        return WebDraft(
            plan,
            instruction,
            solver(row["id"]),
            changes=changed("shop", "addresses", row["id"], street=street, phone=phone),
            alternatives={"by_list": by_list},
            mutants={
                "old_address": solver(twin["id"]),
                "street_only": solver(row["id"], call=False),
                "wrong_house": solver(row["id"], way=street.replace(str(house), str(house + 1))),
            },
            turns=20,
        )


class CancelOrder(WebTemplate):
    """Cancel the order of certain goods; in the twin it is already on its way."""

    name: ClassVar[str] = "shop_cancel"
    levels: ClassVar[tuple[Level, ...]] = ("easy", "medium")
    twins: ClassVar[bool] = True

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw two orders of the same goods; the later one is meant."""
        plan = scene.plan("shop")
        store = scene.store(plan, "shop")
        person = scene.people(plan)[0].login
        goods = [row for row in goods_of(plan) if not row["owned"]]
        if not goods:
            return None
        row = scene.pick(goods)
        first = 1 + store.value("SELECT max(number) FROM orders")
        numbers = (first, first + 1) if scene.rng.random() < 0.5 else (first + 1, first)
        meant, other = numbers
        status = "placed" if scene.feasible else "shipped"
        states = {meant: status, other: scene.pick(("placed", "shipped"))}
        note = {meant: scene.say("for the office", "公司用"), other: scene.say("for home", "家用")}
        edits = []
        for number in (first, first + 1):
            stamp = f"{plan.start[:8]}{int(plan.start[8:10]) - 1:02d} 18:{number % 60:02d}:00"
            edits += _order_edits(person, number, row, stamp, states[number], note[number])
        plan = plan.with_edits([("shop", sql, values) for sql, values in edits])
        instruction = scene.say(
            f'I ordered "{row["title"]}" twice. Cancel the order with the note "{note[meant]}" '
            "and keep the other one. If it can no longer be cancelled, change nothing and report "
            "the number of its parcel as ACTION_NOT_ALLOWED_ERROR.",
            f"我订了两次“{row['title']}”。请取消备注为“{note[meant]}”的那个订单，保留另一个。"
            "如果已经不能取消，就什么都不要改，以 ACTION_NOT_ALLOWED_ERROR 报告它的包裹编号。",
        )

        def cancel(number: int) -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from pilot.goto("shop", f"/orders/{number}")
                yield from pilot.click("button", shop_words(pilot, "cancel_order"))
                yield from pilot.click("button", shop_words(pilot, "cancel_order"))
                yield from pilot.finish()

            return solve

        def finishes(pilot: Pilot) -> Script:
            yield from pilot.goto("shop", f"/orders/{meant}")
            yield from pilot.finish()

        def report(number: int, *, look: bool = True) -> Solver:
            def solve(pilot: Pilot) -> Script:
                if look:
                    yield from pilot.goto("shop", f"/orders/{meant}")
                    yield from pilot.goto("shop", f"/orders/{number}")
                yield from pilot.refuse("ACTION_NOT_ALLOWED_ERROR", parcel_of(number))

            return solve

        def by_list(pilot: Pilot) -> Script:
            yield from pilot.goto("shop", f"/orders?{urlencode({'q': row['title']})}")
            yield from pilot.click("link", f"#{meant}")
            if scene.feasible:
                yield from pilot.click("button", shop_words(pilot, "cancel_order"))
                yield from pilot.click("button", shop_words(pilot, "cancel_order"))
                yield from pilot.finish()
            else:
                yield from pilot.refuse("ACTION_NOT_ALLOWED_ERROR", parcel_of(meant).lower())

        evidence = (rf"shop\.hexathlon\.test/orders/{meant}$",)
        if not scene.feasible:
            return WebDraft(
                plan, instruction, report(meant), evidence=evidence,
                answer=ExpectedAnswer("ACTION_NOT_ALLOWED_ERROR", record=parcel_of(meant)),
                alternatives={"by_list": by_list},
                mutants={"finishes": finishes, "other_parcel": report(other),
                         "unseen": report(meant, look=False)},
                turns=20,
            )  # fmt: skip
        return WebDraft(
            plan,
            instruction,
            cancel(meant),
            evidence=evidence,
            changes={
                "shop": {
                    "orders": {"changed": [[meant, {"status": "cancelled"}]]},
                    "variants": {"changed": [[row["variant"], {"stock": row["stock"] + 1}]]},
                }
            },
            alternatives={"by_list": by_list},
            mutants={
                **({"cancels_other": cancel(other)} if states[other] == "placed" else {}),
                "refuses": report(meant),
                "other_parcel": report(other),
                "finishes": finishes,
            },
            turns=20,
        )


def _order_edits(
    person: str, number: int, row: StoreRow, stamp: str, status: str, note: str
) -> list[tuple[str, tuple[object, ...]]]:
    order = (
        "INSERT INTO orders SELECT ?, ?, ?, ?, '', label, 'standard', '', "
        "(SELECT label FROM payments ORDER BY id LIMIT 1), '', ?, 0, 490, 0, 0, ?, 0, ? "
        "FROM addresses ORDER BY id LIMIT 1"
    )
    item = (
        "INSERT INTO items (number, variant, title, options, department, price, quantity, "
        "discount, "
        "return_days, category) VALUES (?, ?, ?, ?, ?, ?, 1, 0, ?, ?)"
    )
    return [
        (order, (number, person, stamp, status, row["price"], row["price"] + 490, note)),
        (item, (number, row["variant"], row["title"], row["options"], row["department"],
                row["price"], row["return_days"], row["category"])),
    ]  # fmt: skip


TEMPLATES: tuple[WebTemplate, ...] = (AddToCart(), LookUp(), CorrectAddress(), CancelOrder())
