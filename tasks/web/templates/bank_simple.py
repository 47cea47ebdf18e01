"""Short tasks on the bank: block a card, set limits, read bookings and add them up."""

from datetime import date, timedelta
from typing import ClassVar
from urllib.parse import urlencode

from hexathlon.tasks.source import Script
from hexathlon.tasks.task import Level
from hexathlon.tasks.web.pilot import Pilot
from hexathlon.tasks.web.templates.bank_scripts import (
    account_path,
    bank_words,
    booking_edit,
    next_id,
    user_accounts,
)
from hexathlon.tasks.web.templates.draft import (
    ExpectedAnswer,
    Solver,
    WebDraft,
    WebScene,
    WebTemplate,
    changed,
)
from hexathlon.tasks.web.world.sites.bank.vocabulary import bank_label

__all__ = ["TEMPLATES"]


class BlockCard(WebTemplate):
    """Block a card for a reason."""

    name: ClassVar[str] = "bank_block"
    levels: ClassVar[tuple[Level, ...]] = ("tiny", "easy")

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw a card and a reason."""
        plan = scene.plan("bank")
        rows = scene.store(plan, "bank").rows("SELECT * FROM cards ORDER BY rowid")
        row, other = scene.sample(rows, 2)
        reason, wrong = scene.sample(("lost", "stolen", "damaged", "unused"), 2)
        label = bank_label(reason, scene.language)
        card = scene.say(f"the card ending {row['number']}", f"尾号{row['number']}的卡")
        if scene.level == "easy":
            card = scene.say(f'the card named "{row["name"]}"', f"名为“{row['name']}”的卡")
        instruction = scene.say(
            f'Block {card} for good; give "{label}" as the reason.',
            f"请永久冻结{card}，原因填“{label}”。",
        )

        def solver(number: str, why: str, *, listed: bool = False) -> Solver:
            def solve(pilot: Pilot) -> Script:
                if listed:
                    yield from pilot.goto("bank", "/cards")
                    yield from pilot.click("link", row["name"])
                else:
                    yield from pilot.goto("bank", f"/cards/{number}")
                yield from pilot.click("button", bank_words(pilot, "block"))
                yield from pilot.select(
                    bank_words(pilot, "reason"), bank_label(why, pilot.language)
                )
                yield from pilot.click("button", bank_words(pilot, "block"))
                yield from pilot.finish()

            return solve

        return WebDraft(
            plan,
            instruction,
            solver(row["number"], reason),
            changes=changed("bank", "cards", row["number"], state="blocked", reason=reason),
            alternatives={"by_list": solver(row["number"], reason, listed=True)},
            mutants={
                "other_card": solver(other["number"], reason),
                "wrong_reason": solver(row["number"], wrong),
                "both": _both(row["number"], other["number"], reason),
            },
            turns=20,
        )


def _both(first: str, second: str, reason: str) -> Solver:
    def solve(pilot: Pilot) -> Script:
        for number in (second, first):
            yield from pilot.goto("bank", f"/cards/{number}")
            yield from pilot.click("button", bank_words(pilot, "block"))
            yield from pilot.select(bank_words(pilot, "reason"), bank_label(reason, pilot.language))
            yield from pilot.click("button", bank_words(pilot, "block"))
        yield from pilot.finish()

    return solve


class CardLimits(WebTemplate):
    """Set a card's limits and where it may be used."""

    name: ClassVar[str] = "bank_limits"
    levels: ClassVar[tuple[Level, ...]] = ("easy",)

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw a card and limits that differ from the current ones."""
        plan = scene.plan("bank")
        rows = scene.store(plan, "bank").rows("SELECT * FROM cards ORDER BY rowid")
        row, other = scene.sample(rows, 2)
        day = int(scene.rng.integers(2, 9)) * 10_000 + 5_000
        month = day * int(scene.rng.integers(3, 6))
        use = scene.say("Allow", "允许") if not row["abroad"] else scene.say("Forbid", "禁止")
        instruction = scene.say(
            f'Set the limits of the card "{row["name"]}" to {day / 100:.2f} euros per day and '
            f"{month / 100:.2f} per month. {use} its use abroad; leave use online as it is.",
            f"把“{row['name']}”的限额设为每日{day / 100:.2f}欧元、每月{month / 100:.2f}欧元，"
            f"并{use}境外使用；网上使用保持不变。",
        )

        def solver(number: str, first: int, second: int, *, flip: bool = True) -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from pilot.goto("bank", f"/cards/{number}")
                yield from pilot.fill(bank_words(pilot, "month_limit"), f"{second / 100:.2f}")
                yield from pilot.fill(bank_words(pilot, "day_limit"), f"{first / 100:.2f}")
                if flip:
                    yield from pilot.click("checkbox", bank_words(pilot, "abroad"))
                yield from pilot.click("button", bank_words(pilot, "save"))
                yield from pilot.finish()

            return solve

        def by_list(pilot: Pilot) -> Script:
            yield from pilot.goto("bank", "/cards")
            yield from pilot.click("link", row["name"])
            yield from solver(row["number"], day, month)(pilot)

        return WebDraft(
            plan, instruction, solver(row["number"], day, month),
            changes=changed("bank", "cards", row["number"], day_limit=day, month_limit=month,
                            abroad=1 - row["abroad"]),
            alternatives={"by_list": by_list},
            mutants={"limits_only": solver(row["number"], day, month, flip=False),
                     "other_card": solver(other["number"], day, month),
                     "day_off": solver(row["number"], day - 5_000, month)},
            turns=20,
        )  # fmt: skip


class ReadBooking(WebTemplate):
    """Read a payment's amount and, at the easy level, the reference number in its purpose."""

    name: ClassVar[str] = "bank_booking"
    levels: ClassVar[tuple[Level, ...]] = ("tiny", "easy")

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw a booking identified by its day and the counterparty's name."""
        plan = scene.plan("bank")
        store = scene.store(plan, "bank")
        account = user_accounts(store)[0]
        rows = store.rows(
            "SELECT * FROM transactions WHERE account = ? AND amount < 0 GROUP BY counterparty, "
            "booked "
            "HAVING count(*) = 1 ORDER BY id",
            (account["number"],),
        )
        if len(rows) < 3:
            return None
        row, other = scene.sample(rows, 2)
        if other["amount"] == row["amount"]:
            return None
        told = f"{-row['amount'] / 100:.2f}"
        two = scene.level == "easy"
        instruction = scene.say(
            f"How much did I pay to {row['counterparty']} on {row['booked']} from the account "
            f'"{account["name"]}"? Answer in euros, such as 12.50'
            + (", and add the booking's number as a second value." if two else "."),
            f"{row['booked']}我从“{account['name']}”账户付给{row['counterparty']}多少钱？"
            "回答欧元金额，如 12.50" + ("；第二个值给出该笔的交易编号。" if two else "。"),
        )
        data = (told, str(row["id"])) if two else (told,)
        page = "/bookings/" if two else account_path(account["number"])
        other_told = f"{-other['amount'] / 100:.2f}"

        def solver(answer: tuple[str, ...], *, look: bool = True, search: bool = False) -> Solver:
            def solve(pilot: Pilot) -> Script:
                if search:
                    query = urlencode({"q": row["counterparty"], "first": row["booked"]})
                    yield from pilot.goto("bank", f"{account_path(account['number'])}?{query}")
                if look:
                    yield from pilot.goto("bank", account_path(account["number"]))
                    yield from pilot.goto("bank", f"/bookings/{row['id']}")
                yield from pilot.finish("RETRIEVE", answer)

            return solve

        return WebDraft(
            plan, instruction, solver(data), answer=ExpectedAnswer(data=data), evidence=(page,),
            alternatives={"by_search": solver(data, search=True)},
            mutants={"unseen": solver(data, look=False),
                     "other": solver((other_told, *data[1:])), "too_much": solver((*data, "x"))},
            turns=20,
        )  # fmt: skip


class SumPayments(WebTemplate):
    """Add up payments to somebody in a period, net of refunds and returned transfers."""

    name: ClassVar[str] = "bank_sum"
    levels: ClassVar[tuple[Level, ...]] = ("easy", "medium")

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw a counterparty whose name is a prefix of another's, and bookings at both ends."""
        plan = scene.plan("bank")
        store = scene.store(plan, "bank")
        accounts = user_accounts(store)
        names = [
            row["counterparty"]
            for row in store.rows("SELECT DISTINCT counterparty FROM transactions ORDER BY 1")
        ]
        name = scene.pick(names)
        twin = scene.say(f"{name} Plus", f"{name}增值")
        today = date.fromisoformat(plan.start[:10])
        first = today - timedelta(days=int(scene.rng.integers(60, 120)))
        last = first + timedelta(days=int(scene.rng.integers(25, 50)))
        both = scene.level == "medium"
        number = next_id(store, "transactions")
        used = accounts[:2] if both else accounts[:1]
        edits = []
        for place in range(5 if both else 3):
            day = (
                first,
                last,
                first - timedelta(days=1),
                first + timedelta(days=9),
                last - timedelta(days=4),
            )[place]
            amount = int(scene.rng.integers(900, 19_000))
            state = "rejected" if place == 4 else "booked"
            kind = "refund" if place == 3 else ("transfer" if place == 4 else "card")
            edits.append(
                booking_edit(
                    number + place,
                    used[place % len(used)]["number"],
                    day.isoformat(),
                    name,
                    scene.say("Invoice", "账单") + f" {70_000 + place}",
                    amount if kind == "refund" else -amount,
                    kind,
                    state=state,
                )
            )
        edits.append(
            booking_edit(
                number + 9,
                used[0]["number"],
                (first + timedelta(days=2)).isoformat(),
                twin,
                scene.say("Invoice", "账单") + " 70009",
                -int(scene.rng.integers(900, 9_000)),
                "card",
            )
        )
        plan = plan.with_edits(edits)
        rows = scene.store(plan, "bank").rows("SELECT * FROM transactions ORDER BY id")
        keys = {account["number"] for account in used}
        inside = [
            row
            for row in rows
            if row["account"] in keys
            and row["counterparty"] == name
            and first.isoformat() <= row["booked"] <= last.isoformat()
        ]
        net = -sum(row["amount"] for row in inside if row["state"] == "booked")
        by_query = scene.store(plan, "bank").value(
            "SELECT -sum(amount) FROM transactions WHERE counterparty = ? AND state = 'booked' AND "
            f"booked BETWEEN ? AND ? AND account IN ({', '.join('?' * len(keys))})",
            (name, first.isoformat(), last.isoformat(), *sorted(keys)),
        )
        gross = -sum(row["amount"] for row in inside if row["amount"] < 0)
        alike = -sum(
            row["amount"]
            for row in rows
            if row["account"] in keys
            and row["counterparty"].startswith(name)
            and row["state"] == "booked"
            and first.isoformat() <= row["booked"] <= last.isoformat()
        )
        if net != by_query or net <= 0 or net == alike or (both and net == gross):
            return None
        where = scene.say(" and ", "和").join(
            scene.say(f'"{account["name"]}"', f"“{account['name']}”") for account in used
        )
        instruction = scene.say(
            f"How much did I pay to {name} (exactly this name) from {where} from {first} to "
            f"{last}, both "
            "days included? Refunds count against it, payments that were sent back do not count "
            "at all. "
            "Answer with the amount in euros, such as 123.40.",
            f"从{first}到{last}（含首尾两天），"
            f"我从{where}账户一共付给“{name}”（名称须完全一致）多少钱？"
            "退款要抵减，被退回的付款完全不算。回答欧元金额，如 123.40。",
        )

        def solver(cents: int, *, look: bool = True, export: bool = False) -> Solver:
            def solve(pilot: Pilot) -> Script:
                for account in used if look else ():
                    query = urlencode({"q": name, "first": first, "last": last})
                    path = account_path(account["number"])
                    yield from pilot.goto("bank", f"{path}?{query}")
                    if export:
                        yield from pilot.click("link", bank_words(pilot, "export"))
                        yield from pilot.act(
                            "read_file", file=f"bookings-{account['number'][-4:]}.csv"
                        )
                yield from pilot.finish("RETRIEVE", [f"{cents / 100:.2f}"])

            return solve

        mutants = {
            "unseen": solver(net, look=False),
            "with_plus": solver(alike),
            "one_cent": solver(net + 1),
        }
        if both:
            mutants["gross"] = solver(gross)
        return WebDraft(
            plan,
            instruction,
            solver(net),
            answer=ExpectedAnswer(data=(f"{net / 100:.2f}",)),
            evidence=tuple(account_path(account["number"]) for account in used),
            alternatives={"by_file": solver(net, export=True)},
            mutants=mutants,
        )


TEMPLATES: tuple[WebTemplate, ...] = (BlockCard(), CardLimits(), ReadBooking(), SumPayments())
