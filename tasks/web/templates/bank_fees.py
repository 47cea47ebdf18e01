"""A task on fees: compare the bank's charges with its schedule, exceptions and letters."""

from collections import defaultdict
from datetime import date, timedelta
from typing import Any, ClassVar, NamedTuple

from hexathlon.tasks.source import Script
from hexathlon.tasks.task import Level
from hexathlon.tasks.web.pilot import Pilot
from hexathlon.tasks.web.templates.bank_scripts import (
    account_path,
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

__all__ = ["TEMPLATES"]


class _Service(NamedTuple):
    """A booking that may cost a fee."""

    day: date
    sort: str
    """`cash`, `own_cash`, `instant`, `shop`, `hotel`, `salary` or `month`."""

    amount: int


class CheckFees(WebTemplate):
    """Dispute fees that the schedule does not provide for, or that exceed it."""

    name: ClassVar[str] = "bank_fees"
    levels: ClassVar[tuple[Level, ...]] = ("medium",)

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw two months of services with right and wrong fees."""
        plan = scene.plan("bank")
        store = scene.store(plan, "bank")
        settings = {row["name"]: row["value"] for row in store.rows("SELECT * FROM _settings")}
        account = user_accounts(store)[0]
        this = date.fromisoformat(plan.start[:10]).replace(day=1)
        second = (this - timedelta(days=1)).replace(day=1)
        first = (second - timedelta(days=1)).replace(day=1)
        rich = int(scene.rng.integers(2))
        storm = second + timedelta(days=int(scene.rng.integers(8, 15)))
        calm = storm + timedelta(days=2)
        services: list[_Service] = []
        for place, month in enumerate((first, second)):
            services += _month(scene, month, settings, rich=place == rich)
        number = next_id(store, "transactions")
        numbered = {
            number + place: each
            for place, each in enumerate(sorted(services, key=lambda each: each.day))
        }
        right = _right_fees(numbered, settings, storm, calm)
        charged = _charged(scene, numbered, right, settings)
        wrong = {
            key: charged[key] - right.get(key, 0)
            for key in charged
            if charged[key] > right.get(key, 0)
        }
        if not 4 <= len(wrong) <= 7 or len(charged) - len(wrong) < 4:
            return None
        edits = [
            booking_edit(key, account["number"], each.day.isoformat(), *_texts(scene, each),
                         each.amount if each.sort == "salary" else -each.amount, _kind(each.sort))
            for key, each in numbered.items() if each.sort != "month"
        ]  # fmt: skip
        fees: dict[int, int] = {}
        at = number + len(numbered)
        for key, amount in sorted(charged.items()):
            each = numbered[key]
            day = each.day if each.sort == "month" else each.day + timedelta(days=1)
            purpose = scene.say(f"Fee for booking {key}", f"交易 {key} 的费用")
            if each.sort == "month":
                past = (each.day - timedelta(days=1)).strftime("%Y-%m")
                purpose = scene.say(f"Monthly fee for {past}", f"{past} 月费")
            fees[key] = at
            edits.append(
                booking_edit(
                    at,
                    account["number"],
                    day.isoformat(),
                    scene.say("Alder Bank", "桤木银行"),
                    purpose,
                    -amount,
                    "fee",
                )
            )
            at += 1
        person = scene.people(plan)[0].login
        body = scene.say(
            "Because of the breakdown of our network, withdrawals at any cash machine from "
            f"{storm} to "
            f"{calm} are free and do not count among the month's free ones.",
            f"因网络故障，{storm}至{calm}在任何取款机取现均免费，也不计入当月免费次数。",
        )
        edits.append(("bank", "INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?)",
                      (next_id(store, "messages"), person, (calm + timedelta(days=3)).isoformat(),
                       scene.say("Alder Bank", "桤木银行"),
                       scene.say("Breakdown of our network", "网络故障说明"), body)))  # fmt: skip
        plan = plan.with_edits(edits)
        if _by_rules(scene, plan, account["number"], settings, storm, calm) != {
            fees[key]: amount for key, amount in wrong.items()
        }:
            return None
        total = sum(wrong.values())
        days = (f"{first}", f"{this}")
        instruction = scene.say(
            f'Check every fee that the bank booked on my account "{account["name"]}" from '
            f"{days[0]} to "
            f"{days[1]} (for these two months) against its published fees and its letters to me. "
            "Dispute each "
            'booking of a fee that is too high, with the reason "Bank fee" and the part that is '
            "too much as "
            "the disputed amount; leave the right ones alone. Answer with the sum of the "
            "disputed amounts in "
            "euros, such as 12.30.",
            f"请核对银行从{days[0]}到{days[1]}（针对这两个月）在我“{account['name']}”账户上收取的每一笔费用，"
            "依据是公布的收费标准和银行给我的来信。对每笔多收的费用提出异议，原因为“银行收费”，"
            "异议金额为多收的部分；"
            "正确的不要动。回答异议金额之和（欧元，如 12.30）。",
        )

        def solver(amounts: dict[int, int], told: int = total, *, read: bool = True) -> Solver:
            def solve(pilot: Pilot) -> Script:
                if read:
                    yield from pilot.goto("bank", "/rules/fees")
                    yield from pilot.goto("bank", "/messages")
                    yield from pilot.goto(
                        "bank", f"{account_path(account['number'])}?kind=fee&first={days[0]}"
                    )
                    yield from pilot.goto(
                        "bank", f"{account_path(account['number'])}?kind=cash&first={days[0]}"
                    )
                for key, amount in amounts.items():
                    yield from dispute_booking(pilot, fees[key], "fee", amount)
                yield from pilot.finish("MUTATE", [f"{told / 100:.2f}"])

            return solve

        some = next(key for key in wrong)
        fine = next(key for key in charged if key not in wrong)
        partial = {key: charged[key] for key in wrong}
        stormy = {
            key: amount
            for key, amount in wrong.items()
            if not (numbered[key].sort == "cash" and storm <= numbered[key].day <= calm)
        }
        if partial == wrong or stormy == wrong:
            return None
        rows = [
            {"txn": fees[key], "reason": "fee", "amount": amount} for key, amount in wrong.items()
        ]
        return WebDraft(
            plan,
            instruction,
            solver(wrong),
            changes={"bank": {"disputes": {"added": rows}}},
            answer=ExpectedAnswer(data=(f"{total / 100:.2f}",)),
            evidence=("/rules/fees$", "/bookings/"),
            alternatives={"backwards": solver(dict(reversed(wrong.items())))},
            mutants={
                "whole_fees": solver(partial, sum(partial.values())),
                "no_letter": solver(stormy, sum(stormy.values())),
                "one_more": solver({**wrong, fine: charged[fine]}),
                "wrong_sum": solver(wrong, total + 10),
                "one_less": solver({k: v for k, v in wrong.items() if k != some}),
            },
            turns=60,
        )


def _month(scene: WebScene, month: date, n: dict[str, int], *, rich: bool) -> list[_Service]:
    """Services of one month; in some months two salaries together reach the waiver."""
    rng = scene.rng

    def days(count: int) -> list[date]:
        return [
            month + timedelta(days=int(d)) for d in sorted(rng.permutation(25)[:count].tolist())
        ]

    half = n["month_salary"] // 2
    parts = (half + int(rng.integers(100, 9_000)), half + int(rng.integers(100, 9_000)))
    if not rich:
        parts = (half + int(rng.integers(100, 9_000)), half - int(rng.integers(9_100, 20_000)))
    services = [_Service(day, "salary", amount) for day, amount in zip(days(2), parts, strict=True)]
    services += [
        _Service(day, "cash", int(rng.integers(2, 30)) * 1_000) for day in days(n["cash_free"] + 3)
    ]
    services += [_Service(day, "own_cash", int(rng.integers(2, 30)) * 1_000) for day in days(2)]
    services += [
        _Service(day, "instant", int(rng.integers(900, 40_000)))
        for day in days(n["instant_free"] + 1)
    ]
    services += [_Service(day, "shop", int(rng.integers(1_000, 30_000))) for day in days(2)]
    services += [_Service(day, "hotel", int(rng.integers(25_000, 70_000))) for day in days(1)]
    following = (month + timedelta(days=32)).replace(day=1)
    return [*services, _Service(following, "month", n["month_fee"])]


def _right_fees(
    services: dict[int, _Service], n: dict[str, int], storm: date, calm: date
) -> dict[int, int]:
    """The fees according to the schedule and the letter."""
    fees: dict[int, int] = {}
    used: dict[tuple[str, int], int] = defaultdict(int)
    salaries: dict[int, int] = defaultdict(int)
    for each in services.values():
        if each.sort == "salary":
            salaries[each.day.month] += each.amount
    for key, each in services.items():
        if each.sort in ("shop", "hotel"):
            rate = n["abroad_rate"] / (2 if each.sort == "hotel" else 1)
            fees[key] = max(n["abroad_least"], int(each.amount * rate / 10_000))
        elif each.sort == "month":
            if salaries[(each.day - timedelta(days=1)).month] < n["month_salary"]:
                fees[key] = n["month_fee"]
        elif each.sort in ("cash", "instant") and not (
            each.sort == "cash" and storm <= each.day <= calm
        ):
            used[each.sort, each.day.month] += 1
            if used[each.sort, each.day.month] > n[f"{each.sort}_free"]:
                fees[key] = n[f"{each.sort}_fee"]
    return fees


def _charged(
    scene: WebScene, services: dict[int, _Service], right: dict[int, int], n: dict[str, int]
) -> dict[int, int]:
    """The fees charged: right ones and a few wrong ones, none too low."""
    charged = dict(right)
    counted: dict[int, int] = defaultdict(int)
    months = sorted({each.day.month for each in services.values() if each.sort == "cash"})
    careless = scene.pick(months)
    for key, each in services.items():
        if each.sort == "hotel" and scene.rng.random() < 0.7:
            charged[key] = max(n["abroad_least"], each.amount * n["abroad_rate"] // 10_000)
        elif each.sort == "month":
            charged[key] = n["month_fee"]
        elif each.sort in ("cash", "own_cash") and each.day.month == careless:
            counted[careless] += 1
            if counted[careless] == n["cash_free"] + 1 or (
                each.sort == "cash" and counted[careless] > n["cash_free"]
            ):
                charged[key] = n["cash_fee"]
        elif each.sort == "cash" and key not in right and scene.rng.random() < 0.3:
            charged[key] = n["cash_fee"]
    return charged


def _by_rules(
    scene: WebScene, plan: Any, account: str, n: dict[str, int], storm: date, calm: date
) -> dict[int, int]:
    """Wrong fees by the number of their booking, from the bookings alone."""
    rows = scene.store(plan, "bank").rows(
        "SELECT * FROM transactions WHERE account = ? ORDER BY booked, id", (account,)
    )
    by_id = {row["id"]: row for row in rows}
    own = scene.say("Alder Bank", "桤木银行")
    wrong = {}
    for fee in (row for row in rows if row["kind"] == "fee"):
        words = fee["purpose"].split()
        key = next((int(word) for word in words if word.isdigit()), 0)
        if key == 0:
            month = next(word for word in words if word[:2] == "20")[:7]
            income = sum(
                row["amount"]
                for row in rows
                if row["kind"] == "salary" and row["booked"].startswith(month)
            )
            allowed = 0 if income >= n["month_salary"] else n["month_fee"]
        else:
            allowed = _allowed(by_id[key], rows, n, own, (storm.isoformat(), calm.isoformat()))
        if -fee["amount"] > allowed:
            wrong[fee["id"]] = -fee["amount"] - allowed
    return wrong


def _allowed(
    row: dict[str, Any],
    rows: list[dict[str, Any]],
    n: dict[str, int],
    own: str,
    free: tuple[str, str],
) -> int:
    month = row["booked"][:7]
    if row["kind"] == "cash":
        counting = [
            each["id"]
            for each in rows
            if each["kind"] == "cash"
            and each["booked"][:7] == month
            and own not in each["counterparty"]
            and not free[0] <= each["booked"] <= free[1]
        ]
        return n["cash_fee"] if row["id"] in counting[n["cash_free"] :] else 0
    if row["kind"] == "transfer":
        quick = [
            each["id"]
            for each in rows
            if each["kind"] == "transfer"
            and each["booked"][:7] == month
            and ("(instant)" in each["purpose"] or "（实时）" in each["purpose"])
        ]
        return n["instant_fee"] if row["id"] in quick[n["instant_free"] :] else 0
    hotel = row["counterparty"].startswith(("Hotel", "酒店"))
    exact = -row["amount"] * n["abroad_rate"] // (20_000 if hotel else 10_000)
    return int(max(n["abroad_least"], exact))


def _kind(sort: str) -> str:
    return {"own_cash": "cash", "instant": "transfer", "shop": "card", "hotel": "card"}.get(
        sort, sort
    )


def _texts(scene: WebScene, each: _Service) -> tuple[str, str]:
    """Counterparty and purpose of a booking."""
    number = int(scene.rng.integers(1_000, 9_999))
    texts = {
        "salary": (("Quillworks Ltd", "Salary {n}"), ("羽坊有限公司", "工资 {n}")),
        "cash": (("Cash machine City Centre", "Withdrawal {n}"), ("市中心取款机", "取现 {n}")),
        "own_cash": (
            ("Cash machine of Alder Bank", "Withdrawal {n}"),
            ("桤木银行取款机", "取现 {n}"),
        ),
        "instant": (("Meadow Catering", "Invoice {n} (instant)"), ("草场餐饮", "账单 {n}（实时）")),
        "shop": (("Libreria Sol", "Card abroad {n}"), ("太阳书店", "境外刷卡 {n}")),
        "hotel": (("Hotel Miramar", "Card abroad {n}"), ("酒店海景", "境外刷卡 {n}")),
    }[each.sort][scene.language == "zh"]
    # A purpose contains a number only where it names a booking.
    return texts[0], texts[1].format(n=f"N{number}")


TEMPLATES: tuple[WebTemplate, ...] = (CheckFees(),)
