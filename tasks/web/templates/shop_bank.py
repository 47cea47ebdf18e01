"""Tasks across shop and bank: reconcile orders with bookings, claim expenses, answer alerts."""

from dataclasses import replace
from datetime import date, timedelta
from typing import Any, ClassVar

from hexathlon.tasks.source import Script
from hexathlon.tasks.task import Level
from hexathlon.tasks.web.pilot import Pilot
from hexathlon.tasks.web.templates.bank_scripts import (
    account_path,
    bank_words,
    booking_edit,
    dispute_booking,
    next_id,
    user_accounts,
)
from hexathlon.tasks.web.templates.draft import (
    ExpectedAnswer,
    Solver,
    WebDraft,
    WebScene,
    WebTemplate,
)
from hexathlon.tasks.web.templates.shop_scripts import euros, shop_words
from hexathlon.tasks.web.world.network import Edit
from hexathlon.tasks.web.world.site import password_of
from hexathlon.tasks.web.world.sites.bank.vocabulary import bank_label
from hexathlon.tasks.web.world.sites.shop.vocabulary import shop_label
from hexathlon.tasks.web.world.store import StoreRow

__all__ = ["TEMPLATES", "card_charge", "keep_signed_in", "shop_name", "sign_in_words"]


def shop_name(scene: WebScene) -> str:
    """The shop's name on statements."""
    return scene.say("Fennel & Fig", "茴香集")


def sign_in_words(scene: WebScene, login: str) -> str:
    """How to sign in again when a session expires."""
    return scene.say(
        f' If a site asks you to sign in again: "{login}", password "{password_of(login)}".',
        f"如果网站要求重新登录：账号“{login}”，密码“{password_of(login)}”。",
    )


def card_charge(
    scene: WebScene,
    number: int,
    account: str,
    day: date,
    order: str,
    cents: int,
    kind: str = "card",
) -> Edit:
    """A booking of the shop."""
    purpose = scene.say(f"Order {order}", f"订单 {order}")
    return booking_edit(number, account, day.isoformat(), shop_name(scene), purpose, cents, kind)


def keep_signed_in(pilot: Pilot, site: str, path: str, login: str) -> Script:
    """Open a page; sign in first if the session has expired."""
    yield from pilot.goto(site, path)
    if "/sign-in" in pilot.screen.partition("Page:")[0]:
        yield from pilot.fill(pilot.words(site, "login"), login)
        yield from pilot.fill(pilot.words(site, "password"), password_of(login))
        yield from pilot.click("button", pilot.words(site, "sign_in"))
        yield from pilot.goto(site, path)


_SCALE = 4
"""Size of the content: smaller worlds have too few orders in a month."""


class Reconcile(WebTemplate):
    """Compare a month of orders with the bank's bookings; dispute and claim what is wrong."""

    name: ClassVar[str] = "shop_bank_reconcile"
    levels: ClassVar[tuple[Level, ...]] = ("medium",)

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw charges for the user's orders: right, too high, twice, in parts, not refunded."""
        plan = replace(scene.plan("shop", "bank"), session_actions=14, scale=_SCALE)
        login = scene.people(plan)[0].login
        orders = scene.store(plan, "shop").rows(
            "SELECT * FROM orders WHERE person = ? ORDER BY number", (login,)
        )
        today = date.fromisoformat(plan.start[:10])
        since = today - timedelta(days=int(scene.rng.integers(38, 46)))
        until = today - timedelta(days=4)
        orders = [
            row for row in orders if since.isoformat() <= row["placed"][:10] <= until.isoformat()
        ]
        if not 8 <= len(orders) <= 14:
            return None
        bank = scene.store(plan, "bank")
        account = user_accounts(bank)[0]
        order = [orders[int(i)] for i in scene.rng.permutation(len(orders))]
        high, double, parts, lost, settled = order[:5]
        edits: list[Edit] = []
        for row in orders:
            gone = row in (lost, settled)
            if gone != (row["status"] == "cancelled"):
                status = "cancelled" if gone else "delivered"
                edits.append(("shop", "UPDATE orders SET status = ? WHERE number = ?",
                              (status, row["number"])))  # fmt: skip
        number = next_id(bank, "transactions")
        wrong: dict[int, tuple[str, int]] = {}
        extra = int(scene.rng.choice((290, 350, 900, 1100)))
        rows: list[tuple[date, StoreRow, int, str]] = []
        for row in orders:
            day = date.fromisoformat(row["placed"][:10]) + timedelta(days=1)
            if row is parts:
                half = row["total"] // 3
                rows += [
                    (day, row, -half, "1/2"),
                    (day + timedelta(days=2), row, half - row["total"], "2/2"),
                ]
                continue
            rows.append((day, row, -(row["total"] + (extra if row is high else 0)),
                         "high" if row is high else ""))  # fmt: skip
            if row is double:
                rows.append((day + timedelta(days=2), row, -row["total"], "again"))
            if row is settled:
                rows.append((day + timedelta(days=2), row, row["total"], "back"))
        stranger = {**order[5], "number": max(row["number"] for row in orders) + 4_000}
        rows.append((until, stranger, -int(scene.rng.integers(1_500, 9_000)), "unknown"))
        for day, row, cents, mark in sorted(rows, key=lambda each: (each[0], each[1]["number"])):
            suffix = f" {mark}" if "/" in mark else ""
            kind = "refund" if cents > 0 else "card"
            edits.append(card_charge(scene, number, account["number"], day,
                                     f"{row['number']}{suffix}", cents, kind))  # fmt: skip
            if mark in ("high", "again", "unknown"):
                wrong[number] = {"high": ("amount", extra), "again": ("twice", -cents),
                                 "unknown": ("unknown", -cents)}[mark]  # fmt: skip
            number += 1
        plan = plan.with_edits(edits)
        if _by_statement(scene, plan, account["number"], since, until) != (
            sorted(cents for _, cents in wrong.values()),
            [(lost["number"], lost["total"])],
        ):
            return None
        total = sum(cents for _, cents in wrong.values()) + lost["total"]
        reasons = {key: bank_label(key, scene.language) for key in ("amount", "twice", "unknown")}
        topic = shop_label("refund", scene.language)
        instruction = scene.say(
            f"Compare my orders in the shop from {since} to {until} (by the day they were "
            "placed) with what "
            f'{shop_name(scene)} booked on my bank account "{account["name"]}" for them; the '
            "purpose of a "
            "booking names the order, and an order may be charged in parts. At the bank, dispute "
            "every booking "
            f'of the shop that is wrong: "{reasons["amount"]}" with the difference, '
            f'"{reasons["twice"]}" with '
            f'the whole amount of the later booking, or "{reasons["unknown"]}" with the whole '
            "amount if I have "
            "no such order. For every order that was cancelled but not refunded, write to the "
            "shop with the "
            f'topic "{topic}" and the missing amount. Do nothing else. Answer with the sum of '
            "all these amounts "
            "in euros, such as 123.40.",
            f"请把我在商店{since}至{until}（按下单日）的订单与{shop_name(scene)}在我银行账户“{account['name']}”"
            "上的相应交易核对；交易用途写有订单号，一个订单可能分几笔扣款。"
            "在银行对商店每笔有误的交易提出异议："
            f"“{reasons['amount']}”填差额，“{reasons['twice']}”填较晚那笔的全额；"
            "如果我没有这个订单，则选"
            f"“{reasons['unknown']}”填全额。已取消但未退款的订单，请在商店联系我们，"
            f"主题“{topic}”，填写所欠金额。"
            "不要做其他事。回答所有这些金额之和（欧元，如 123.40）。",
        ) + sign_in_words(scene, login)

        def solver(
            chosen: dict[int, tuple[str, int]], missing: tuple[int, int], told: int = total
        ) -> Solver:
            def solve(pilot: Pilot) -> Script:
                for page in (1, 2):
                    yield from pilot.goto("shop", f"/orders?page={page}")
                path = f"{account_path(account['number'])}?q={shop_name(scene)[:6]}&first={since}"
                yield from keep_signed_in(pilot, "bank", path.replace(" ", "+"), login)
                for key, (reason, cents) in chosen.items():
                    yield from keep_signed_in(pilot, "bank", f"/bookings/{key}", login)
                    yield from dispute_booking(pilot, key, reason, cents)
                if missing[0]:
                    yield from keep_signed_in(pilot, "shop", f"/orders/{missing[0]}", login)
                    yield from _write(pilot, *missing)
                yield from pilot.finish("MUTATE", [euros(told)])

            return solve

        owed = (lost["number"], lost["total"])
        first = next(iter(wrong))
        expected = {
            "bank": {"disputes": {"added": [{"txn": key, "reason": reason, "amount": cents}
                                            for key, (reason, cents) in wrong.items()]}},
            "shop": {"messages": {"added": [{"person": login, "number": owed[0], "topic": "refund",
                                             "amount": owed[1]}]}},
        }  # fmt: skip
        swapped = {**wrong, first: ("fee", wrong[first][1])}
        return WebDraft(
            plan,
            instruction,
            solver(wrong, owed),
            changes=expected,
            answer=ExpectedAnswer(data=(euros(total),)),
            evidence=(r"bank.*/accounts/", r"shop.*/orders"),
            alternatives={"backwards": solver(dict(reversed(wrong.items())), owed)},
            mutants={
                "wrong_reason": solver(swapped, owed),
                "no_message": solver(wrong, (0, 0)),
                "settled_too": solver(wrong, (settled["number"], settled["total"])),
                "one_missing": solver({key: wrong[key] for key in list(wrong)[1:]}, owed),
                "wrong_sum": solver(wrong, owed, total - 100),
            },
            turns=80,
        )


def _write(pilot: Pilot, number: int, cents: int) -> Script:
    yield from pilot.goto("shop", f"/contact?number={number}")
    yield from pilot.select(shop_words(pilot, "topic"), shop_label("refund", pilot.language))
    yield from pilot.fill(shop_words(pilot, "amount"), euros(cents))
    yield from pilot.click("button", shop_words(pilot, "send"))


def _by_statement(
    scene: WebScene, plan: Any, account: str, since: date, until: date
) -> tuple[list[int], list[tuple[int, int]]]:
    """Wrong amounts and missing refunds, from the two sites' rows order by order."""
    booked: dict[int, list[int]] = {}
    for row in scene.store(plan, "bank").rows(
        "SELECT purpose, amount FROM transactions WHERE account = ? AND counterparty = ? ORDER "
        "BY id",
        (account, shop_name(scene)),
    ):
        booked.setdefault(int(row["purpose"].split()[1]), []).append(row["amount"])
    wrong, missing = [], []
    login = scene.people(plan)[0].login
    for order in scene.store(plan, "shop").rows("SELECT * FROM orders WHERE person = ?", (login,)):
        amounts = booked.pop(order["number"], None)
        if amounts is None:
            continue
        paid = -sum(amounts)
        right = 0 if order["status"] == "cancelled" else order["total"]
        if paid > right and order["status"] == "cancelled":
            missing.append((order["number"], paid))
        elif paid > right:
            wrong.append(paid - right)
    wrong += [-sum(amounts) for amounts in booked.values()]
    return sorted(wrong), missing


class AnswerAlerts(WebTemplate):
    """Check the bank's alerts about card payments against the user's orders; act on the others."""

    name: ClassVar[str] = "shop_bank_alerts"
    levels: ClassVar[tuple[Level, ...]] = ("medium",)

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw alerts, some explained by orders: same amount, same card, not cancelled."""
        plan = replace(scene.plan("bank", "shop"), session_actions=16)
        login = scene.people(plan)[0].login
        bank, shop = scene.store(plan, "bank"), scene.store(plan, "shop")
        cards = bank.rows("SELECT * FROM cards WHERE state = 'active' ORDER BY rowid")
        today = date.fromisoformat(plan.start[:10])
        orders = [
            row
            for row in shop.rows(
                "SELECT * FROM orders WHERE person = ? AND status = 'delivered' ORDER BY number",
                (login,),
            )
            if row["placed"][:10] < (today - timedelta(days=6)).isoformat()
        ][-12:]
        if len(cards) < 4 or len(orders) < 8:
            return None
        cards, chosen = scene.sample(cards, 4), scene.sample(orders, 4)
        cases = ["explained", "other_card", "cancelled", scene.pick(("explained", "amount"))]
        cases = [cases[int(i)] for i in scene.rng.permutation(4)]
        edits: list[Edit] = []
        number, letter = next_id(bank, "transactions"), next_id(bank, "messages")
        blocked: dict[str, tuple[int, int]] = {}
        fine: list[str] = []
        for place, (card, row, case) in enumerate(zip(cards, chosen, cases, strict=True)):
            other = cards[(place + 1) % 4]["number"]
            digits = other if case == "other_card" else card["number"]
            label = scene.say(f"Card ending {digits}", f"银行卡 尾号 {digits}")
            day = date.fromisoformat(row["placed"][:10]) + timedelta(days=1)
            status = "cancelled" if case == "cancelled" else row["status"]
            edits.append(("shop", "UPDATE orders SET payment = ?, status = ? WHERE number = ?",
                          (label, status, row["number"])))  # fmt: skip
            cents = row["total"] + (1_000 if case == "amount" else 0)
            purpose = scene.say(f"Card {card['number']}", f"卡 {card['number']}")
            edits.append(
                booking_edit(
                    number,
                    card["account"],
                    day.isoformat(),
                    shop_name(scene),
                    purpose,
                    -cents,
                    "card",
                )
            )
            edits.append(
                (
                    "bank",
                    "INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?)",
                    (
                        letter,
                        login,
                        (today - timedelta(days=1 + place % 2)).isoformat(),
                        scene.say("Alder Bank, card safety", "桤木银行卡片安全部"),
                        scene.say(
                            f"Unusual payment with your card {card['number']}",
                            f"您尾号{card['number']}的卡有异常付款",
                        ),
                        scene.say(
                            f"Booking {number}, {day}: €{euros(cents)} to {shop_name(scene)}. "
                            "Was it you? If "
                            "not, block the card and dispute the booking.",
                            f"交易 {number}，{day}：向{shop_name(scene)}支付 €{euros(cents)}。"
                            "是您本人吗？"
                            "如果不是，请冻结卡片并对该笔提出异议。",
                        ),
                    ),
                )
            )
            if case == "explained":
                fine.append(card["number"])
            else:
                blocked[card["number"]] = (number, cents)
            number, letter = number + 1, letter + 1
        plan = plan.with_edits(edits)
        if _unexplained(scene, plan, number - 4) != blocked:
            return None
        instruction = scene.say(
            "The bank wrote to me about unusual card payments to the shop. An alert is explained "
            "if one of my "
            "orders in the shop was placed on the day before the booking, has exactly this "
            "total, was paid "
            "with this very card and was not cancelled. For every alert that no order explains, "
            "dispute "
            f'the booking ("{bank_label("unknown", "en")}", whole amount) and block the card '
            f'("{bank_label("stolen", "en")}"). Leave explained ones alone. Answer with the '
            "numbers of the "
            "blocked cards, the last four digits each, in any order.",
            "银行来信提醒我有几笔付给商店的异常刷卡。如果我在商店有一个订单："
            "下单日为该笔入账的前一天，总额完全相同，"
            "正是用这张卡支付，并且没有取消，这条提醒就得到了解释。凡没有订单能解释的，"
            "请对该笔提出异议"
            f"（“{bank_label('unknown', 'zh')}”，全额），"
            f"并冻结该卡（“{bank_label('stolen', 'zh')}”）。"
            "已得到解释的不要动。回答被冻结的卡号后四位，顺序不限。",
        ) + sign_in_words(scene, login)

        def solver(chosen: dict[str, tuple[int, int]], told: list[str] | None = None) -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from pilot.goto("bank", "/messages")
                for page in (1, 2, 3):
                    yield from pilot.goto("shop", f"/orders?page={page}")
                for key, (txn, cents) in chosen.items():
                    yield from keep_signed_in(pilot, "bank", f"/bookings/{txn}", login)
                    if txn:
                        yield from dispute_booking(pilot, txn, "unknown", cents)
                    yield from pilot.goto("bank", f"/cards/{key}")
                    yield from pilot.click("button", bank_words(pilot, "block"))
                    yield from pilot.select(bank_words(pilot, "reason"),
                                            bank_label("stolen", pilot.language))  # fmt: skip
                    yield from pilot.click("button", bank_words(pilot, "block"))
                yield from pilot.finish("MUTATE", list(chosen) if told is None else told)

            return solve

        expected = {
            "bank": {
                "disputes": {
                    "added": [
                        {"txn": txn, "reason": "unknown", "amount": cents}
                        for txn, cents in blocked.values()
                    ]
                },
                "cards": {
                    "changed": [[key, {"state": "blocked", "reason": "stolen"}] for key in blocked]
                },
            }
        }
        keys = list(blocked)
        more = {**blocked, fine[0]: (0, 0)}
        return WebDraft(
            plan,
            instruction,
            solver(blocked),
            changes=expected,
            answer=ExpectedAnswer(data=tuple(keys), ordered=False),
            evidence=(r"bank.*/messages", r"shop.*/orders"),
            alternatives={"backwards": solver(dict(reversed(blocked.items())))},
            mutants={
                "one_more": solver(more, keys),
                "one_less": solver({keys[0]: blocked[keys[0]]}),
                "wrong_answer": solver(blocked, [*keys[:-1], fine[0]]),
            },
            turns=70,
        )


def _unexplained(scene: WebScene, plan: Any, first: int) -> dict[str, tuple[int, int]]:
    """Alerts that no order explains, from the rows of both sites."""
    login = scene.people(plan)[0].login
    orders = scene.store(plan, "shop").rows(
        "SELECT * FROM orders WHERE person = ? AND status != 'cancelled'", (login,)
    )
    found = {}
    for row in scene.store(plan, "bank").rows("SELECT * FROM transactions WHERE id >= ?", (first,)):
        card = row["purpose"].split()[1]
        before = (date.fromisoformat(row["booked"]) - timedelta(days=1)).isoformat()
        if not any(each["placed"][:10] == before and each["total"] == -row["amount"]
                   and each["payment"].endswith(card) for each in orders):  # fmt: skip
            found[card] = (row["id"], -row["amount"])
    return found


TEMPLATES: tuple[WebTemplate, ...] = (Reconcile(), AnswerAlerts())
