"""A task across shop and bank: claim office purchases with the shop's invoices."""

from dataclasses import replace
from datetime import date, timedelta
from typing import Any, ClassVar

from hexathlon.tasks.source import Script
from hexathlon.tasks.task import Level
from hexathlon.tasks.web.pilot import Pilot
from hexathlon.tasks.web.templates.bank_claims import hand_in
from hexathlon.tasks.web.templates.draft import (
    ExpectedAnswer,
    Solver,
    WebDraft,
    WebScene,
    WebTemplate,
)
from hexathlon.tasks.web.templates.shop_bank import keep_signed_in, sign_in_words
from hexathlon.tasks.web.templates.shop_returning import past_order
from hexathlon.tasks.web.templates.shop_scripts import euros, goods_of, shop_words
from hexathlon.tasks.web.world.network import Edit

__all__ = ["TEMPLATES"]


class ClaimPurchases(WebTemplate):
    """Claim office purchases, less returns, unless already claimed or too old."""

    name: ClassVar[str] = "shop_bank_claims"
    levels: ClassVar[tuple[Level, ...]] = ("medium",)

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw six orders with notes, a return, an earlier claim and a deadline."""
        plan = replace(scene.plan("shop", "bank"), session_actions=24)
        shop, bank = scene.store(plan, "shop"), scene.store(plan, "bank")
        login = scene.people(plan)[0].login
        settings = {row["name"]: row["value"] for row in bank.rows("SELECT * FROM _settings")}
        projects = bank.rows("SELECT * FROM projects WHERE state = 'open' ORDER BY code")
        stores = [row for row in projects if row["category"] == "supplies"]
        usual = [row for row in projects if row["category"] != "supplies"]
        cheap = [
            row
            for row in goods_of(scene.plan("shop"))
            if row["price"] * 2 < settings["supplies_over"] and row["return_days"]
        ]
        dear = [
            row
            for row in goods_of(scene.plan("shop"))
            if settings["supplies_over"] < row["price"] < 90_000 and row["return_days"]
        ]
        if not stores or not usual or len(cheap) < 6 or len(dear) < 2:
            return None
        today = date.fromisoformat(plan.start[:10])
        project = scene.pick(usual)
        office, private = (
            scene.say("for the office", "公司用"),
            scene.say("birthday present", "生日礼物"),
        )
        goods = [*scene.sample(cheap, 5), scene.pick(dear)]
        limit = settings["claim_days"]
        cases = ["returned", "plain", "claimed", "late", "private", "dear"]
        first = 40 + shop.value("SELECT max(number) FROM orders")
        item = 1 + shop.value("SELECT max(id) FROM items")
        edits: list[Edit] = [
            ("bank", "UPDATE projects SET state = 'closed' WHERE code = ?", (row["code"],))
            for row in stores[1:]
        ]
        rows: dict[int, dict[str, Any]] = {}
        wrong: dict[str, dict[str, Any]] = {}
        for place, at in enumerate(scene.rng.permutation(6).tolist()):
            case, row, number = cases[at], goods[at], first + place
            age = int(scene.rng.integers(12, min(limit, 60)))
            if case == "late":
                age = limit + int(scene.rng.integers(1, 3))
            if case == "plain":
                age = limit
            placed = today - timedelta(days=age)
            quantity = 2 if case == "returned" else 1
            shipping = int(scene.rng.choice((0, 490)))
            edits += past_order(
                number,
                login,
                row,
                placed=placed,
                item=item + place,
                quantity=quantity,
                delivered=(placed + timedelta(days=3)).isoformat(),
                shipping=shipping,
                note=private if case == "private" else office,
            )
            total = row["price"] * quantity + shipping
            amount = total
            if case == "returned":
                edits += _returns(
                    shop.value("SELECT coalesce(max(id), 0) FROM returns"),
                    item + place,
                    row["price"],
                )
                amount = total - row["price"]
            code = stores[0]["code"] if case == "dear" else project["code"]
            claim = {
                "person": login, "title": scene.say(f"Order {number}", f"订单 {number}"),
                "category": "supplies", "spent": placed.isoformat(), "amount": amount,
                "project": code, "guests": 0, "city": scene.say("online", "网上"),
                "receipt": f"invoice-{number}.txt", "state": "submitted", "approved": 0, "code": "",
                "content": {"words": [f"INVOICE {number}", f"Total EUR: {euros(total)}"]},
            }  # fmt: skip
            if case == "claimed":
                edits.append(_claimed(login, claim, total, number))
            if case in ("returned", "plain", "dear"):
                rows[number] = claim
                if case == "returned":
                    wrong["whole_amount"] = {**claim, "amount": total}
                if case == "dear":
                    wrong["usual_project"] = {**claim, "project": project["code"]}
            else:
                wrong[case] = claim
        plan = plan.with_edits(edits)
        if _payable(scene, plan, login, office, limit, today) != {
            key: row["amount"] for key, row in rows.items()
        }:
            return None
        total = sum(row["amount"] for row in rows.values())
        since = today - timedelta(days=limit + 20)
        instruction = scene.say(
            f'Since {since} I have bought things in the shop with the note "{office}" on the '
            "order. Hand in an "
            "expense claim at the bank for each such order that the company's rules still pay "
            "and that I have "
            "not claimed yet. The day is the day on the invoice, the category supplies, the city "
            '"online", '
            "no guests, the subject \"Order\" and the order's number, the receipt the shop's "
            "invoice for the "
            "order. The amount is the order's total less what the shop approved as a refund for "
            "returned "
            f"items. The project is {project['name']}, unless the rules want another one; by "
            "these rules, the "
            "size of a receipt is its total. Answer with the sum of the claims in euros, such as "
            "123.40.",
            f"{since}以来，我在商店买过东西，订单备注为“{office}”。"
            "请在银行为每个这样的订单提交报销申请，"
            "前提是公司规定仍予报销且我还没有报过。日期为发票日期，类别用品，城市“网上”，无客人，"
            "主题为“订单”加空格加订单号，票据为商店该订单的发票。"
            "金额为订单总额减去商店已同意的退货退款。"
            f"项目为{project['name']}，规定另有要求的除外；规定中票据的大小指其总额。"
            "回答各申请金额之和（欧元，如 123.40）。",
        ) + sign_in_words(scene, login)

        def solver(chosen: list[dict[str, Any]], told: int = total) -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from pilot.goto("bank", "/rules/expenses")
                yield from pilot.goto("bank", "/claims")
                for row in chosen:
                    number = row["receipt"].removeprefix("invoice-").removesuffix(".txt")
                    yield from keep_signed_in(pilot, "shop", f"/orders/{number}", login)
                    yield from pilot.click("link", shop_words(pilot, "invoice"))
                yield from pilot.goto("shop", "/returns")
                for row in chosen:
                    yield from keep_signed_in(pilot, "bank", "/claims/new", login)
                    yield from hand_in(pilot, row)
                yield from pilot.finish("MUTATE", [euros(told)])

            return solve

        claims = list(rows.values())

        def with_wrong(key: str) -> list[dict[str, Any]]:
            given = wrong[key]
            return (
                [given if row["title"] == given["title"] else row for row in claims]
                if key in ("whole_amount", "usual_project")
                else [*claims, given]
            )

        return WebDraft(
            plan, instruction, solver(claims), changes={"bank": {"claims": {"added": claims}}},
            answer=ExpectedAnswer(data=(euros(total),)),
            evidence=(r"bank.*/rules/expenses$", r"shop.*/invoice$"),
            alternatives={"backwards": solver(claims[::-1])},
            mutants={**{key: solver(with_wrong(key)) for key in wrong},
                     "one_missing": solver(claims[1:]), "wrong_sum": solver(claims, total + 1)},
            turns=80,
        )  # fmt: skip


def _returns(last: int, item: int, refund: int) -> list[Edit]:
    """An approved return of one piece, and no other."""
    sql = (
        "INSERT INTO returns VALUES (?, ?, 1, 'changed', 'unopened', 'dropoff', 'approved', ?, '', "
        "'', '2026-01-02 10:00:00')"
    )
    return [("shop", sql, (last + 1, item, refund))]


def _claimed(login: str, claim: dict[str, Any], total: int, number: int) -> Edit:
    sql = (
        "INSERT INTO claims (person, title, category, spent, amount, project, guests, city, "
        "receipt, "
        "content, state, approved, code, note, created) VALUES (?, ?, 'supplies', ?, ?, ?, 0, ?, "
        "?, ?, "
        "'approved', ?, '', '', ?)"
    )
    content = f"INVOICE {number}\nDate: {claim['spent']}\nTotal EUR: {euros(total)}\n"
    later = (date.fromisoformat(claim["spent"]) + timedelta(days=5)).isoformat()
    return ("bank", sql, (login, claim["title"], claim["spent"], total, claim["project"],
                          claim["city"], claim["receipt"], content, total, later))  # fmt: skip


def _payable(
    scene: WebScene, plan: Any, login: str, note: str, limit: int, today: date
) -> dict[int, int]:
    """Amounts to claim by order, from the rows of both sites."""
    claimed = {
        row["content"].split()[1]
        for row in scene.store(plan, "bank").rows(
            "SELECT content FROM claims WHERE person = ? AND content LIKE 'INVOICE%'", (login,)
        )
    }
    oldest = (today - timedelta(days=limit)).isoformat()
    rows = scene.store(plan, "shop").rows(
        "SELECT o.number, o.total, coalesce((SELECT sum(r.refund) FROM returns r JOIN items i ON "
        "i.id = r.item WHERE i.number = o.number AND r.state = 'approved'), 0) AS back FROM "
        "orders o "
        "WHERE o.person = ? AND o.note = ? AND substr(o.placed, 1, 10) >= ?",
        (login, note, oldest),
    )
    return {
        row["number"]: row["total"] - row["back"]
        for row in rows
        if str(row["number"]) not in claimed
    }


TEMPLATES: tuple[WebTemplate, ...] = (ClaimPurchases(),)
