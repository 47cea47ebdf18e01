"""Payment tasks: transfers, returned transfers, standing orders."""

from datetime import date, timedelta
from typing import Any, ClassVar

from hexathlon.tasks.source import Script
from hexathlon.tasks.task import Level
from hexathlon.tasks.web.pilot import Pilot
from hexathlon.tasks.web.templates.bank_scripts import (
    account_path,
    bank_words,
    booked_row,
    next_id,
    send_transfer,
    user_accounts,
)
from hexathlon.tasks.web.templates.draft import (
    ExpectedAnswer,
    Solver,
    WebDraft,
    WebScene,
    WebTemplate,
)
from hexathlon.tasks.web.world.network import Edit
from hexathlon.tasks.web.world.sites.bank.vocabulary import bank_label

__all__ = ["TEMPLATES", "payee_edit"]


def payee_edit(number: int, person: str, name: str, account: str, note: str, blocked: str) -> Edit:
    """Return the edit that adds a payee."""
    return ("bank", "INSERT INTO payees VALUES (?, ?, ?, ?, ?, ?, '2024-05-02')",
            (number, person, name, account, note, blocked))  # fmt: skip


def _number(scene: WebScene) -> str:
    groups = [int(scene.rng.integers(0, 10_000)) for _ in range(3)]
    return f"AB{int(scene.rng.integers(10, 99))} " + " ".join(f"{group:04d}" for group in groups)


def _notice(
    scene: WebScene, number: int, person: str, day: str, payee: str, case: str, *, stopped: bool
) -> Edit:
    """Return the edit that adds the bank's message about a case."""
    text = (
        scene.say(f"Case {case}: we have stopped payments to payee {payee} after a warning.",
                  f"案件 {case}：收到风险提示后，我们已停止向收款人 {payee} 付款。")
        if stopped
        else scene.say(f"Case {case}: we have checked payee {payee}. Payments go on as before.",
                       f"案件 {case}：我们已核查收款人 {payee}，付款照常进行。")
    )  # fmt: skip
    return ("bank", "INSERT INTO messages (id, person, day, sender, subject, body) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            (number, person, day, scene.say("Alder Bank", "桤木银行"),
             scene.say("Check of a payee", "收款人核查"), text))  # fmt: skip


class Transfer(WebTemplate):
    """Send money to one of two payees with the same name; in the twin the payee is blocked."""

    name: ClassVar[str] = "bank_transfer"
    levels: ClassVar[tuple[Level, ...]] = ("easy", "medium")
    twins: ClassVar[bool] = True

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw two payees that differ only in their notes."""
        plan = scene.plan("bank")
        store = scene.store(plan, "bank")
        person = scene.people(plan)[0].login
        account = user_accounts(store)[0]
        known = {row["name"] for row in store.rows("SELECT name FROM payees")}
        name = scene.say("Linden Court Repairs", "椴树庭维修")
        if name in known:
            return None
        first = next_id(store, "payees") + int(scene.rng.integers(3, 300))
        notes = scene.sample(
            scene.say("workshop,office,warehouse", "车间,办公室,仓库").split(","), 2
        )
        numbers = (_number(scene), _number(scene))
        order = int(scene.rng.integers(2))
        # The other payee is blocked in both twins, so that a case number alone decides nothing.
        warned = {order: not scene.feasible, 1 - order: True}
        edits = [
            payee_edit(first + place, person, name, numbers[place], notes[place],
                       "2026-01-04" if warned[place] else "")
            for place in range(2)
        ]  # fmt: skip
        cases = [f"W-{int(number)}" for number in scene.sample(range(10_000, 99_999), 2)]
        letter = next_id(store, "messages") + 1
        edits += [
            _notice(scene, letter + place, person, plan.start[:10], f"E{first + place}",
                    cases[place], stopped=warned[place])
            for place in range(2)
        ]  # fmt: skip
        plan = plan.with_edits(edits)
        payee: dict[str, Any] = {"id": first + order, "name": name, "account": numbers[order]}
        another = store.value("SELECT min(id) FROM payees WHERE person = ?", (person,))
        amount = int(scene.rng.integers(2_000, min(90_000, account["balance"])))
        purpose = scene.say(f"Invoice {int(scene.rng.integers(10_000, 99_999))}",
                            f"账单 {int(scene.rng.integers(10_000, 99_999))}")  # fmt: skip
        medium = scene.level == "medium"
        reference = f"REF-{int(scene.rng.integers(100, 999))}" if medium else ""
        speed = "instant" if medium else "standard"
        extra = scene.say(f' Use the reference "{reference}" and send it as an instant transfer.',
                          f"参考号填“{reference}”，用实时转账。") if medium else ""  # fmt: skip
        instruction = scene.say(
            f'Transfer {amount / 100:.2f} euros from "{account["name"]}" to the payee {name} '
            "with the note "
            f'"{notes[order]}", purpose "{purpose}".{extra} If the bank does not let you pay '
            "this payee, pay nobody and report the number of the case in which it was stopped as "
            "ACTION_NOT_ALLOWED_ERROR.",
            f"请从“{account['name']}”向备注为“{notes[order]}”的收款人{name}"
            f"转账{amount / 100:.2f}欧元，"
            f"用途“{purpose}”。{extra}如果银行不允许向该收款人付款，就不要付给任何人，"
            "以 ACTION_NOT_ALLOWED_ERROR 报告停止向其付款的案件编号。",
        )

        def pay(number: int, cents: int, mode: str = speed, *, look: bool = False) -> Solver:
            def solve(pilot: Pilot) -> Script:
                if look:
                    yield from pilot.goto("bank", "/payees?q=Linden")
                yield from send_transfer(
                    pilot,
                    account=account["number"],
                    payee=number,
                    amount=cents,
                    purpose=purpose,
                    reference=reference,
                    speed=mode,
                )
                yield from pilot.finish()

            return solve

        def report(record: str, *, look: bool = True) -> Solver:
            def solve(pilot: Pilot) -> Script:
                if look:
                    yield from pilot.goto("bank", "/payees")
                    yield from pilot.goto("bank", f"/messages/{letter + order}")
                yield from pilot.refuse("ACTION_NOT_ALLOWED_ERROR", record)

            return solve

        def tries(pilot: Pilot) -> Script:
            yield from pilot.goto("bank", "/transfer")
            yield from pilot.fill(bank_words(pilot, "amount"), f"{amount / 100:.2f}")
            yield from pilot.fill(bank_words(pilot, "purpose"), purpose)
            yield from pilot.select(bank_words(pilot, "payee"), str(payee["id"]))
            yield from pilot.click("button", bank_words(pilot, "to_confirmation"))
            yield from pilot.goto("bank", "/messages")
            yield from pilot.goto("bank", f"/messages/{letter + order}")
            yield from pilot.refuse("ACTION_NOT_ALLOWED_ERROR", cases[order].lower())

        if not scene.feasible:
            return WebDraft(
                plan,
                instruction,
                report(cases[order]),
                evidence=(rf"/messages/{letter + order}$",),
                answer=ExpectedAnswer("ACTION_NOT_ALLOWED_ERROR", record=cases[order]),
                alternatives={"tries": tries},
                mutants={
                    "pays_another": pay(another, amount),
                    "other_case": report(cases[1 - order]),
                    "payee": report(f"E{payee['id']}"),
                    "unseen": report(cases[order], look=False),
                },
            )
        day = plan.start[:10]
        expected = {
            "bank": {
                "transactions": {
                    "added": [
                        booked_row(
                            account["number"],
                            day,
                            payee,
                            amount,
                            purpose,
                            reference=reference,
                            speed=speed,
                        )
                    ]
                },
                "accounts": {
                    "changed": [[account["number"], {"balance": account["balance"] - amount}]]
                },
            }
        }
        slow = {"not_instant": pay(payee["id"], amount, "standard")} if medium else {}
        return WebDraft(
            plan, instruction, pay(payee["id"], amount), changes=expected,
            alternatives={"looks_first": pay(payee["id"], amount, look=True)},
            mutants={"other_payee": pay(another, amount), "one_cent": pay(payee["id"], amount + 1),
                     "refuses": report(cases[order]), "other_case": report(cases[1 - order]),
                     **slow},
        )  # fmt: skip


class StandingOrder(WebTemplate):
    """Change a standing order's amount and pause another; in the twin a contract binds it."""

    name: ClassVar[str] = "bank_standing"
    levels: ClassVar[tuple[Level, ...]] = ("medium",)
    twins: ClassVar[bool] = True

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw two active standing orders."""
        plan = scene.plan("bank")
        store = scene.store(plan, "bank")
        rows = store.rows("SELECT * FROM standing WHERE state = 'active' ORDER BY id")
        if len(rows) < 3:
            return None
        row, other, third = scene.sample(rows, 3)
        today = date.fromisoformat(plan.start[:10])
        day = today + timedelta(days=int(scene.rng.integers(40, 400)))
        past = today - timedelta(days=int(scene.rng.integers(5, 90)))
        bound = (past if scene.feasible else day).isoformat()
        plan = plan.with_edits([
            ("bank", "UPDATE standing SET bound = ? WHERE id = ?", (bound, row["id"])),
            ("bank", "UPDATE standing SET bound = ? WHERE id = ?", (past.isoformat(), third["id"])),
        ])  # fmt: skip
        amount = row["amount"] + int(scene.rng.integers(3, 30)) * 100
        label = bank_label("paused", scene.language)
        instruction = scene.say(
            f"Raise my standing order to {row['payee']} ({row['purpose']}) to {amount / 100:.2f} "
            "euros and "
            f'set the one to {other["payee"]} ({other["purpose"]}) to "{label}". If the bank '
            "refuses the "
            "first change, change neither and report the number of that standing order as "
            "ACTION_NOT_ALLOWED_ERROR.",
            f"请把给{row['payee']}（{row['purpose']}）的定期转账提高到{amount / 100:.2f}欧元，"
            "并把给"
            f"{other['payee']}（{other['purpose']}）的设为“{label}”。如果银行不允许第一项更改，"
            "就两项都不要改，"
            "以 ACTION_NOT_ALLOWED_ERROR 报告该定期转账的编号。",
        )

        def change(number: int, *, cents: int = 0, pause: bool = False) -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from pilot.goto("bank", f"/standing/{number}")
                if cents:
                    yield from pilot.fill(bank_words(pilot, "amount"), f"{cents / 100:.2f}")
                if pause:
                    yield from pilot.select(bank_words(pilot, "status"), label)
                yield from pilot.click("button", bank_words(pilot, "save"))

            return solve

        def all_of(*steps: Solver, record: str = "") -> Solver:
            def solve(pilot: Pilot) -> Script:
                for step in steps:
                    yield from step(pilot)
                if record:
                    yield from pilot.refuse("ACTION_NOT_ALLOWED_ERROR", record)
                else:
                    yield from pilot.finish()

            return solve

        def looks(pilot: Pilot) -> Script:
            yield from pilot.goto("bank", f"/standing/{row['id']}")

        raised, paused = change(row["id"], cents=amount), change(other["id"], pause=True)
        if not scene.feasible:
            record = f"S{row['id']}"
            return WebDraft(
                plan,
                instruction,
                all_of(raised, record=record),
                evidence=(rf"/standing/{row['id']}$",),
                answer=ExpectedAnswer("ACTION_NOT_ALLOWED_ERROR", record=record),
                alternatives={"reads": all_of(looks, record=record)},
                mutants={
                    "pauses_anyway": all_of(raised, paused, record=record),
                    "wrong_record": all_of(raised, record=f"S{other['id']}"),
                    "unseen": all_of(record=record),
                },
            )
        changes = {
            "bank": {
                "standing": {
                    "changed": [[row["id"], {"amount": amount}], [other["id"], {"state": "paused"}]]
                }
            }
        }
        return WebDraft(
            plan,
            instruction,
            all_of(raised, paused),
            changes=changes,
            alternatives={"backwards": all_of(paused, raised)},
            mutants={
                "raise_only": all_of(raised),
                "third": all_of(raised, change(third["id"], pause=True)),
                "refuses": all_of(looks, record=f"S{row['id']}"),
            },
        )


class SentBack(WebTemplate):
    """Pay several firms; some transfers are returned, and letters state the new accounts."""

    name: ClassVar[str] = "bank_sent_back"
    levels: ClassVar[tuple[Level, ...]] = ("medium",)

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw firms, closed accounts, and letters, some of them false or outdated."""
        plan = scene.plan("bank")
        store = scene.store(plan, "bank")
        person = scene.people(plan)[0].login
        account = user_accounts(store)[0]
        payees = store.rows("SELECT * FROM payees GROUP BY name HAVING count(*) = 1 ORDER BY id")
        hard = scene.demanding()
        count = 4 if hard else 2
        if len(payees) < count + 1:
            return None
        chosen = scene.sample(payees, count)
        back = {0, 2} if hard else {int(scene.rng.integers(2))}
        amounts = [int(scene.rng.integers(1_500, 40_000)) for _ in chosen]
        purposes = [scene.say("Invoice", "账单") + f" {int(scene.rng.integers(10_000, 99_999))}"
                    for _ in chosen]  # fmt: skip
        today = date.fromisoformat(plan.start[:10])
        fresh = {place: _number(scene) for place in sorted(back)}
        false: dict[int, str] = {}
        edits: list[Edit] = []
        number = next_id(store, "messages")
        for place in sorted(back):
            payee = chosen[place]
            edits.append(("bank", "INSERT INTO _closed VALUES (?)", (payee["account"],)))
            own = f"billing@{_domain(scene, payee['name'])}"
            edits.append(
                ("bank", "UPDATE payees SET note = ? WHERE id = ?", (f"{own}.test", payee["id"]))
            )
            false[place] = _number(scene)
            letters = [(f"{own}.test", _moved(scene, payee["name"], fresh[place]), 9)]
            letters.append((f"{own}-payments.test", _moved(scene, payee["name"], false[place]), 4))
            if hard:
                letters.append((f"{own}.test", _moved(scene, payee["name"], _number(scene)), 40))
            for sender, (subject, body), age in letters:
                day = (today - timedelta(days=age + place)).isoformat()
                edits.append(("bank", "INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?)",
                              (number, person, day, sender, subject, body)))  # fmt: skip
                number += 1
        plan = plan.with_edits(edits)
        lines = "; ".join(
            f"{payee['name']} {amount / 100:.2f} ({purpose})"
            for payee, amount, purpose in zip(chosen, amounts, purposes, strict=True)
        )
        instruction = scene.say(
            f'Pay these bills in euros from "{account["name"]}", as standard transfers dated '
            "today, with the "
            f"purpose in brackets: {lines}. First pay all of them to the accounts as saved. Then "
            "see to it that "
            "every payment stays with the firm: a payee's bank may send a transfer back a few "
            "moments "
            "later. Where it does, correct the account number of the saved payee (do not add a "
            "new one) by "
            "the latest letter in my mailbox that the firm sent from the address noted with the "
            "payee, and "
            "pay again. Leave the other payees as they are.",
            f"请从“{account['name']}”以普通转账、今天的日期支付以下账单（欧元，括号内为用途）："
            f"{lines}。"
            "先全部付到已保存的账号，再确认每笔款项真正到账：收款行可能稍后退回。如被退回，"
            "请按该公司用收款人备注中的地址最近一次写到我信箱的来信，"
            "更正已保存收款人的账号（不要新建），"
            "然后重新付款。其他收款人不要动。",
        )

        def solver(
            accounts: dict[int, str], *, notice: bool = True, skip: int = -1, twice: bool = False,
            early: bool = False,
        ) -> Solver:  # fmt: skip
            def correct(pilot: Pilot, place: int) -> Script:
                yield from pilot.goto("bank", f"/payees/{chosen[place]['id']}")
                yield from pilot.fill(bank_words(pilot, "account_number"), accounts[place])
                yield from pilot.click("button", bank_words(pilot, "save"))

            def send(pilot: Pilot, place: int) -> Script:
                yield from send_transfer(
                    pilot,
                    account=account["number"],
                    payee=chosen[place]["id"],
                    amount=amounts[place],
                    purpose=purposes[place],
                )

            def solve(pilot: Pilot) -> Script:
                for place in range(count):
                    if place != skip:
                        yield from send(pilot, place)
                        if early and place in accounts:
                            yield from pilot.look()
                            yield from pilot.look()
                            yield from correct(pilot, place)
                            yield from send(pilot, place)
                if notice and not early:
                    yield from pilot.look()
                    yield from pilot.goto("bank", account_path(account["number"]))
                    yield from pilot.goto("bank", "/messages")
                    for place in accounts:
                        yield from correct(pilot, place)
                        yield from send(pilot, place)
                if twice:
                    yield from send(pilot, 1 if 0 in accounts else 0)
                yield from pilot.goto("bank", account_path(account["number"]))
                yield from pilot.finish()

            return solve

        day = plan.start[:10]
        rows: list[dict[str, Any]] = []
        for place, payee in enumerate(chosen):
            if place in back:
                rows.append(
                    booked_row(
                        account["number"],
                        day,
                        payee,
                        amounts[place],
                        purposes[place],
                        state="rejected",
                    )
                )
                payee = {**payee, "account": fresh[place]}
            rows.append(booked_row(account["number"], day, payee, amounts[place], purposes[place]))
        if account["balance"] < 2 * sum(amounts):
            return None
        expected = {
            "bank": {
                "transactions": {"added": rows},
                "accounts": {
                    "changed": [[account["number"], {"balance": account["balance"] - sum(amounts)}]]
                },
                "payees": {
                    "changed": [
                        [chosen[place]["id"], {"account": fresh[place]}] for place in sorted(back)
                    ]
                },
            }
        }
        return WebDraft(
            plan, instruction, solver(fresh), changes=expected, evidence=("/messages",),
            alternatives={"one_by_one": _reading(solver(fresh, early=True))},
            mutants={"trusting": solver(fresh, notice=False), "wrong_account": solver(false),
                     "one_missing": solver(fresh, skip=1 if 0 in back else 0),
                     "paid_twice": solver(fresh, twice=True)},
            turns=60 if not hard else 80,
        )  # fmt: skip


def _reading(solver: Solver) -> Solver:
    def solve(pilot: Pilot) -> Script:
        yield from pilot.goto("bank", "/messages")
        yield from solver(pilot)

    return solve


def _domain(scene: WebScene, name: str) -> str:
    """The domain of a firm's own letters, which the note of the saved payee shows."""
    return (
        "".join(name.lower().split())
        if scene.language == "en"
        else f"firma{sum(map(ord, name)) % 9000}"
    )


def _moved(scene: WebScene, name: str, account: str) -> tuple[str, str]:
    subject = scene.say(f"{name}: new bank account", f"{name}：新的银行账号")
    body = scene.say(
        f"Our account has moved. Please pay to {account} from now on.\n{name}, accounts department",
        f"我们的账户已更换，今后请付至 {account}。\n{name}财务部",
    )
    return subject, body


TEMPLATES: tuple[WebTemplate, ...] = (Transfer(), StandingOrder(), SentBack())
