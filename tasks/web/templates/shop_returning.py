"""Tasks of returning goods by the shop's rules, as a customer."""

from datetime import date, timedelta
from typing import Any, ClassVar, NamedTuple

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
from hexathlon.tasks.web.templates.shop_scripts import ask_return, euros, goods_of
from hexathlon.tasks.web.world.network import Edit
from hexathlon.tasks.web.world.sites.shop.pricing import (
    last_return_day,
    refund_of,
    settings_of,
)
from hexathlon.tasks.web.world.sites.shop.vocabulary import shop_label
from hexathlon.tasks.web.world.store import SiteStore, StoreRow

__all__ = ["TEMPLATES", "past_order"]

_HYGIENE = ("face_creams", "tea")


def past_order(
    number: int, person: str, goods: StoreRow, *, placed: date, delivered: str, quantity: int = 1,
    discount: int = 0, item: int = 0, coupon: str = "", payment: str = "", note: str = "",
    shipping: int = 0,
) -> list[Edit]:  # fmt: skip
    """Return the edits that add an order of one line; `item` is the line's number."""
    gross = goods["price"] * quantity
    order = (
        "INSERT INTO orders SELECT ?, ?, ?, ?, ?, label, 'standard', '', "
        "coalesce(nullif(?, ''), (SELECT label FROM payments ORDER BY id LIMIT 1)), ?, ?, ?, ?, "
        "0, 0, "
        "?, 0, ? FROM addresses ORDER BY id LIMIT 1"
    )
    line = (
        "INSERT INTO items (id, number, variant, title, options, department, price, quantity, "
        "discount, return_days, category) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    )
    status = "delivered" if delivered else "placed"
    return [
        ("shop", order, (number, person, f"{placed.isoformat()} 17:2{number % 10}:00", status,
                         delivered, payment, coupon, gross, discount, shipping,
                         gross - discount + shipping, note)),
        ("shop", line, (item or number * 10, number, goods["variant"], goods["title"],
                        goods["options"], goods["department"], goods["price"], quantity, discount,
                        goods["return_days"], goods["category"])),
    ]  # fmt: skip


def _returnable(
    row: StoreRow, delivered: date, condition: str, today: date, settings: dict[str, int]
) -> bool:
    """Whether the rules allow a return, from the text of the rules."""
    age = (today - delivered).days
    if condition == "defective":
        return age <= settings["fault_days"]
    if row["return_days"] == 0 or (row["category"] in _HYGIENE and condition == "opened"):
        return False
    if age <= row["return_days"]:
        return True
    first, final, until = (settings[f"jubilee_{name}"] for name in ("from", "to", "until"))
    return first <= delivered.toordinal() <= final and today.toordinal() <= until


class ReturnOne(WebTemplate):
    """Return goods that an anniversary rule may still cover; in the twin it does not."""

    name: ClassVar[str] = "shop_return"
    levels: ClassVar[tuple[Level, ...]] = ("medium",)
    twins: ClassVar[bool] = True

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw an order whose regular period is over; its day of delivery decides."""
        plan = scene.plan("shop")
        store = scene.store(plan, "shop")
        settings = settings_of(store)
        today = date.fromisoformat(plan.start[:10])
        rows = [row for row in goods_of(plan) if row["return_days"] and not row["owned"]
                and row["category"] not in _HYGIENE]  # fmt: skip
        if len(rows) < 2:
            return None
        goods, other = scene.sample(rows, 2)
        quantity = int(scene.rng.integers(2, 4))
        discount = int(scene.rng.integers(3, 9)) * 100 + int(scene.rng.integers(1, 99))
        inside = bool(scene.rng.random() < 0.5)
        edge = settings["jubilee_from"] if inside else settings["jubilee_to"]
        step = int(scene.rng.integers(0, 2))
        day = edge + step if inside else edge - step
        if not scene.feasible:
            day = edge - 1 - step if inside else edge + 1 + step
        delivered = date.fromordinal(day)
        if (today - delivered).days <= 31 or goods["price"] * quantity <= 2 * discount:
            return None
        number = 1 + store.value("SELECT max(number) FROM orders")
        item = 1 + store.value("SELECT max(id) FROM items")
        person = scene.people(plan)[0].login
        edits = past_order(number, person, goods, placed=delivered - timedelta(days=4),
                           delivered=delivered.isoformat(), quantity=quantity, discount=discount,
                           item=item, coupon="WELCOME")  # fmt: skip
        edits += past_order(
            number + 1,
            person,
            other,
            placed=today - timedelta(days=12),
            delivered=(today - timedelta(days=8)).isoformat(),
            item=item + 1,
        )
        plan = plan.with_edits(edits)
        line = scene.store(plan, "shop").row("SELECT * FROM items WHERE id = ?", (item,))
        assert line is not None
        condition = scene.pick(("unopened", "opened"))
        refund = refund_of(line, 1, condition, settings)
        paid = (line["price"] * quantity - discount) // quantity
        kept = condition == "opened" and line["price"] > settings["fee_over"]
        if refund != (paid * (100 - settings["fee_percent"]) // 100 if kept else paid):
            return None
        method = "collect" if line["price"] >= settings["collect_over"] else "dropoff"
        last = last_return_day(delivered.isoformat(), goods["return_days"], settings)
        allowed = _returnable(goods, delivered, condition, today, settings)
        if allowed != scene.feasible or last is None or (today <= last) != allowed:
            return None
        instruction = scene.say(
            f'I want to return one of the {quantity} pieces of "{goods["title"]}" that I '
            "ordered: changed "
            f'my mind, condition "{shop_label(condition, "en")}". If the shop\'s rules still '
            "allow it, "
            "request the return, with the refund that the rules give and the way back that they "
            "ask for. "
            "If they do not, request nothing and report the item's number on the order as "
            "ACTION_NOT_ALLOWED_ERROR.",
            f"我买了{quantity}件“{goods['title']}”，想退1件：不想要了，"
            f"状况为“{shop_label(condition, 'zh')}”。"
            "如果商店规则仍允许，请提交退货申请，填写规则算出的退款金额和规则要求的退回方式；"
            "如果不允许，就不要申请，以 ACTION_NOT_ALLOWED_ERROR 报告订单上该商品的明细号。",
        )

        def request(amount: int, way: str = method, count: int = 1) -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from pilot.goto("shop", "/help/returns")
                yield from ask_return(pilot, number, item, reason="changed", condition=condition,
                                      method=way, refund=amount, quantity=count)  # fmt: skip
                yield from pilot.finish()

            return solve

        def report(record: int, *, look: bool = True) -> Solver:
            def solve(pilot: Pilot) -> Script:
                if look:
                    yield from pilot.goto("shop", f"/orders/{number}")
                    yield from pilot.goto("shop", "/help/returns")
                yield from pilot.refuse("ACTION_NOT_ALLOWED_ERROR", str(record))

            return solve

        def by_list(pilot: Pilot) -> Script:
            yield from pilot.goto("shop", "/orders")
            yield from pilot.click("link", f"#{number}")
            yield from (request(refund) if scene.feasible else report(item))(pilot)

        evidence = (rf"shop\.hexathlon\.test/orders/{number}(/return)?$", "/help/returns$")
        if not scene.feasible:
            return WebDraft(
                plan, instruction, report(item), evidence=evidence,
                answer=ExpectedAnswer("ACTION_NOT_ALLOWED_ERROR", record=str(item)),
                alternatives={"by_list": by_list},
                mutants={"requests": request(refund), "order_number": report(number),
                         "other_item": report(item + 1), "unseen": report(item, look=False)},
            )  # fmt: skip
        wrong = "collect" if method == "dropoff" else "dropoff"
        return WebDraft(
            plan,
            instruction,
            request(refund),
            evidence=evidence,
            changes={
                "shop": {
                    "returns": {"added": [_row(item, 1, "changed", condition, method, refund)]}
                }
            },
            alternatives={"by_list": by_list},
            mutants={
                "list_price": request(line["price"]),
                "wrong_way": request(refund, wrong),
                "all_pieces": request(refund, count=quantity),
                "refuses": report(item),
            },
        )


def _row(
    item: int, quantity: int, reason: str, condition: str, method: str, refund: int
) -> dict[str, Any]:
    return {"item": item, "quantity": quantity, "reason": reason, "condition": condition,
            "method": method, "state": "requested", "refund": refund, "code": ""}  # fmt: skip


class _Piece(NamedTuple):
    goods: StoreRow
    number: int
    item: int
    delivered: date
    quantity: int
    discount: int
    condition: str


class ReturnSweep(WebTemplate):
    """Of seven items, request the return of those that the rules allow."""

    name: ClassVar[str] = "shop_returns"
    levels: ClassVar[tuple[Level, ...]] = ("medium",)

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw items near the limits of the rules."""
        plan = scene.plan("shop")
        store = scene.store(plan, "shop")
        settings = settings_of(store)
        today = date.fromisoformat(plan.start[:10])
        pieces = _pieces(scene, store, settings, today)
        if pieces is None:
            return None
        person = scene.people(plan)[0].login
        edits: list[Edit] = []
        for piece in pieces:
            edits += past_order(
                piece.number, person, piece.goods, placed=piece.delivered - timedelta(days=3),
                delivered=piece.delivered.isoformat(), quantity=piece.quantity,
                discount=piece.discount, item=piece.item, coupon="FIGS" if piece.discount else "",
            )  # fmt: skip
        # One item was also ordered earlier: only the later order is meant.
        again = pieces[0]
        edits += past_order(
            again.number - 20,
            person,
            again.goods,
            placed=again.delivered - timedelta(days=70),
            delivered=(again.delivered - timedelta(days=66)).isoformat(),
            item=again.item + 20,
        )
        plan = plan.with_edits(edits)
        lines = {row["id"]: row for row in scene.store(plan, "shop").rows("SELECT * FROM items")}
        allowed = [
            piece
            for piece in pieces
            if _returnable(piece.goods, piece.delivered, piece.condition, today, settings)
        ]
        if not 3 <= len(allowed) <= 5:
            return None
        told = [piece for piece in (pieces[int(i)] for i in scene.rng.permutation(len(pieces)))]
        names = "; ".join(_piece_words(scene, piece) for piece in told)
        instruction = scene.say(
            "I changed my mind about some of my orders; defective articles arrived faulty. Where "
            "an "
            "article was ordered more than once, I mean the latest order. Request the return of "
            "everything "
            "below that the shop's rules let me return today, one request per article for all "
            "its pieces, "
            "with the exact refund and the way back that the rules ask for, and leave the others "
            "alone. "
            'The reason is "Changed my mind", or "Arrived faulty" for defective articles. '
            f"The articles: {names}. Answer with the sum of the refunds in euros, such as 123.40.",
            "我有些订单不想要了；有缺陷的商品是送到时就有故障。同一商品订过多次的，"
            "指最近的那个订单。"
            "以下商品中，凡商店规则今天仍允许退的，请逐件提交退货申请（每种商品一个申请，"
            "包含全部件数），"
            "填写准确的退款金额和规则要求的退回方式；其余的不要动。原因填“不想要了”，"
            "有缺陷的填“商品有故障”。"
            f"商品如下：{names}。回答退款总和（欧元，如 123.40）。",
        )
        facts = {piece.item: _facts(lines[piece.item], piece, settings) for piece in pieces}
        total = sum(facts[piece.item][1] for piece in allowed)

        def solver(
            chosen: list[_Piece], *, off: int = 0, sure: int = total, way: bool = True
        ) -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from pilot.goto("shop", "/help/returns")
                yield from pilot.goto("shop", "/orders")
                for place, piece in enumerate(chosen):
                    method, refund = facts[piece.item]
                    if not way and place == 0:
                        method = "dropoff" if method == "collect" else "collect"
                    yield from ask_return(
                        pilot, piece.number, piece.item,
                        reason="faulty" if piece.condition == "defective" else "changed",
                        condition=piece.condition, method=method, quantity=piece.quantity,
                        refund=refund + (off if place == 0 else 0),
                    )  # fmt: skip
                yield from pilot.finish("MUTATE", [euros(sure)])

            return solve

        added = [
            _row(
                piece.item,
                piece.quantity,
                "faulty" if piece.condition == "defective" else "changed",
                piece.condition,
                *facts[piece.item],
            )
            for piece in allowed
        ]
        extra = next(piece for piece in pieces if piece not in allowed)
        return WebDraft(
            plan,
            instruction,
            solver(allowed),
            changes={"shop": {"returns": {"added": added}}},
            answer=ExpectedAnswer(data=(euros(total),)),
            evidence=("/help/returns$",),
            alternatives={"other_order": solver(allowed[::-1])},
            mutants={
                "one_missing": solver(allowed[:-1]),
                "one_too_many": solver([*allowed, extra]),
                "wrong_refund": solver(allowed, off=1),
                "wrong_way": solver(allowed, way=False),
                "wrong_sum": solver(allowed, sure=total + 1),
            },
            turns=110,
        )


def _facts(line: StoreRow, piece: _Piece, settings: dict[str, int]) -> tuple[str, int]:
    gross = line["price"] * piece.quantity
    method = "collect" if gross >= settings["collect_over"] else "dropoff"
    return method, refund_of(line, piece.quantity, piece.condition, settings)


def _piece_words(scene: WebScene, piece: _Piece) -> str:
    condition = shop_label(piece.condition, scene.language)
    return f'"{piece.goods["title"]}", {piece.goods["options"]} ({condition})'


def _pieces(
    scene: WebScene, store: SiteStore, settings: dict[str, int], today: date
) -> list[_Piece] | None:
    """Draw seven items, each at a limit of a rule."""
    rows = [row for row in goods_of(scene.plan("shop")) if not row["owned"]]
    usual = [row for row in rows if row["return_days"] and row["category"] not in _HYGIENE]
    dear = [row for row in usual if row["price"] > settings["fee_over"]]
    final = [row for row in rows if not row["return_days"]]
    hygiene = [row for row in rows if row["return_days"] and row["category"] in _HYGIENE]
    if len(usual) < 8 or len(dear) < 3 or len(final) < 2:
        return None
    first, last = settings["jubilee_from"], settings["jubilee_to"]
    sides = scene.rng.integers(0, 2, size=8).tolist()
    plans: list[tuple[StoreRow, int, str]] = []
    used: set[str] = set()

    def pick(choices: list[StoreRow]) -> StoreRow:
        row: StoreRow = scene.pick(
            [each for each in choices if each["title"] not in used] or choices
        )
        used.add(row["title"])
        return row

    a, b, c = pick(usual), pick(usual), pick(usual)
    # At the edge of the regular period, at both edges of the anniversary rule.
    plans.append((a, today.toordinal() - a["return_days"] - sides[0], "unopened"))
    plans.append((b, first - sides[1], "opened"))
    plans.append((c, last + sides[2], "unopened"))
    e, f = pick(dear), pick(dear)
    plans.append((e, today.toordinal() - int(scene.rng.integers(3, e["return_days"])), "opened"))
    plans.append((f, today.toordinal() - settings["fault_days"] - sides[3], "defective"))
    g, h = pick(final), pick(final)
    plans.append(
        (g, today.toordinal() - int(scene.rng.integers(5, 60)), ("unopened", "defective")[sides[4]])
    )
    if hygiene and sides[5]:
        h = pick(hygiene)
        plans.append((h, today.toordinal() - 9, ("unopened", "opened")[sides[6]]))
    else:
        plans.append((h, int(scene.rng.integers(first, last + 1)), "unopened"))
    if len({row["title"] for row, _, _ in plans}) < len(plans):
        return None
    start = 1 + store.value("SELECT max(number) FROM orders") + 40
    item = 1 + store.value("SELECT max(id) FROM items")
    pieces = []
    for place, (row, day, condition) in enumerate(plans):
        quantity = int(scene.rng.choice((1, 2, 3), p=(0.6, 0.25, 0.15)))
        discount = (
            int(scene.rng.integers(101, 1200))
            if row["return_days"] and scene.rng.random() < 0.6
            else 0
        )
        if row["price"] <= 2 * discount:
            discount = 0
        pieces.append(_Piece(row, start + place, item + place, date.fromordinal(day), quantity,
                             discount, condition))  # fmt: skip
    return pieces


TEMPLATES: tuple[WebTemplate, ...] = (ReturnOne(), ReturnSweep())
