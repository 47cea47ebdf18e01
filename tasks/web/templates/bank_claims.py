"""Tasks on expense claims: submit claims for receipts, and decide on the claims of others."""

from dataclasses import replace
from datetime import date, timedelta
from typing import Any, ClassVar

from hexathlon.tasks.source import Script
from hexathlon.tasks.task import Level
from hexathlon.tasks.web.pilot import Pilot
from hexathlon.tasks.web.templates.bank_receipts import (
    SORTS,
    Receipt,
    allowed_by_text,
    draw_receipt,
)
from hexathlon.tasks.web.templates.bank_scripts import bank_words, next_id
from hexathlon.tasks.web.templates.draft import (
    Solver,
    WebDraft,
    WebScene,
    WebTemplate,
)
from hexathlon.tasks.web.world.network import Edit, WorldPlan
from hexathlon.tasks.web.world.sites.bank.vocabulary import bank_label
from hexathlon.tasks.web.world.store import SiteStore, StoreRow

__all__ = ["TEMPLATES", "claim_row", "hand_in", "insert_claim"]


def insert_claim(number: int, person: str, paper: Receipt, **columns: Any) -> Edit:
    """Return the edit that adds a claim for a receipt."""
    row = {
        "id": number, "person": person, "title": paper.seller, "category": paper.category,
        "spent": paper.day.isoformat(), "amount": paper.total, "project": "",
        "guests": paper.persons - 1, "city": paper.city, "receipt": "scan.txt",
        "content": paper.text, "state": "submitted", "approved": 0, "code": "", "note": "",
        "created": "", **columns,
    }  # fmt: skip
    marks = ", ".join("?" * len(row))
    return ("bank", f"INSERT INTO claims ({', '.join(row)}) VALUES ({marks})", tuple(row.values()))


def claim_row(
    person: str, receipt: Receipt, file: str, project: str, **columns: Any
) -> dict[str, Any]:
    """Expect a submitted claim."""
    return {
        "person": person, "title": receipt.seller, "category": receipt.category,
        "spent": receipt.day.isoformat(), "amount": receipt.allowed, "project": project,
        "guests": receipt.persons - 1, "city": receipt.city, "receipt": file,
        "content": receipt.text, "state": "submitted", "approved": 0, "code": "", **columns,
    }  # fmt: skip


def hand_in(pilot: Pilot, row: dict[str, Any]) -> Script:
    """Fill in the claim form and submit it."""
    yield from pilot.goto("bank", "/claims/new")
    yield from pilot.fill(bank_words(pilot, "subject"), row["title"])
    yield from pilot.fill(bank_words(pilot, "spent"), row["spent"], role="date")
    yield from pilot.fill(bank_words(pilot, "amount"), f"{row['amount'] / 100:.2f}")
    yield from pilot.fill(bank_words(pilot, "city"), row["city"])
    if row["guests"]:
        yield from pilot.fill(bank_words(pilot, "guests"), str(row["guests"]), role="spinbutton")
    if row["receipt"]:
        bid = pilot.find("file", bank_words(pilot, "receipt"))
        yield from pilot.act("upload_file", bid=bid, file=row["receipt"])
    category = bank_label(row["category"], pilot.language)
    yield from pilot.select(bank_words(pilot, "category"), category)
    yield from pilot.select(bank_words(pilot, "project"), row["project"])
    yield from pilot.click("button", bank_words(pilot, "hand_in"))


def _settings(store: SiteStore) -> dict[str, int]:
    return {row["name"]: row["value"] for row in store.rows("SELECT * FROM _settings")}


def _dear_city(scene: WebScene, store: SiteStore) -> str:
    """The city with the higher limit, from the text of the rules."""
    body = str(store.value("SELECT body FROM rules WHERE key = 'expenses'"))
    if scene.language == "zh":
        return body.partition("4. ")[2].partition("，")[2].partition("为")[0]
    return body.partition("per night, in ")[2].partition(" €")[0]


def _cities(store: SiteStore) -> list[str]:
    return [row["city"] for row in store.rows("SELECT DISTINCT city FROM claims ORDER BY city")]


class HandInClaims(WebTemplate):
    """Submit claims for reimbursable receipts, with the amounts that the rules allow."""

    name: ClassVar[str] = "bank_claims"
    levels: ClassVar[tuple[Level, ...]] = ("medium",)

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw receipts: one too old, one claimed before, others reimbursable in part."""
        plan = scene.plan("bank")
        store = scene.store(plan, "bank")
        settings, person = _settings(store), scene.people(plan)[0].login
        dear = _dear_city(scene, store)
        cities = _cities(store)
        projects = store.rows("SELECT * FROM projects WHERE state = 'open' ORDER BY code")
        usual = [row for row in projects if row["category"] != "supplies"]
        stores = [row for row in projects if row["category"] == "supplies"]
        if dear not in cities or len(usual) < 2 or not stores:
            return None
        hard = scene.demanding()
        today = date.fromisoformat(plan.start[:10])
        city = scene.pick([each for each in cities if each != dear])
        sorts = (
            ["hotel_bar", "meal_wine", "train_first", "supplies", "meal", "hotel"]
            if hard
            else ["hotel_bar", "meal", "taxi"]
        )
        receipts: dict[str, Receipt] = {}
        late = int(scene.rng.integers(4, 6)) if hard else 2
        for place, at in enumerate(scene.rng.permutation(len(sorts)).tolist()):
            age = (
                settings["claim_days"] + 1
                if at == late
                else int(scene.rng.integers(3, settings["claim_days"]))
            )
            if at == 0:
                age = settings["claim_days"]
            where = dear if at in (0, 4) else city
            receipts[f"receipt-{place + 1}.txt"] = draw_receipt(
                scene, sorts[at], settings, today - timedelta(days=age), where, dear=where == dear
            )
        project = scene.pick(usual)
        known = 9 - late if hard else -1
        repeated = next(
            (each for each in receipts.values() if known >= 0 and each.sort == sorts[known]), None
        )
        if len({each.seller for each in receipts.values()}) < len(receipts):
            return None
        if any(
            each.allowed != allowed_by_text(each.text, settings, dear) for each in receipts.values()
        ):
            return None
        edits: list[Edit] = [
            ("bank", "UPDATE projects SET state = 'closed' WHERE code = ?", (row["code"],))
            for row in stores[1:]
        ]
        if repeated is not None:
            edits.append(
                insert_claim(
                    next_id(store, "claims"),
                    person,
                    repeated,
                    amount=repeated.allowed,
                    project=project["code"],
                    state="approved",
                    title=scene.say("Trip", "出差"),
                    approved=repeated.allowed,
                    receipt="photo-07.txt",
                    created=(repeated.day + timedelta(days=2)).isoformat(),
                )
            )
        plan = replace(plan, files={name: each.text for name, each in receipts.items()}).with_edits(
            edits
        )
        rows = {}
        for name, each in receipts.items():
            in_time = (today - each.day).days <= settings["claim_days"]
            if in_time and each is not repeated:
                code = stores[0]["code"] if each.category == "supplies" else project["code"]
                rows[name] = claim_row(person, each, name, code)
        if sum(row["amount"] != receipts[name].total for name, row in rows.items()) < 2 - (
            not hard
        ):
            return None
        instruction = scene.say(
            f"My files hold {len(receipts)} receipts of business expenses. Hand in a claim for "
            "each receipt "
            "that the company's rules still pay: the subject is the seller's name as printed, "
            "the amount "
            "exactly what the rules allow, the city, the day and the guests as on the receipt "
            "(guests are the "
            "persons besides me), the receipt attached. Charge everything to the project "
            f"{project['name']}, "
            "except what the rules want elsewhere. Hand in nothing that is too late or was "
            "claimed before.",
            f"我的文件里有{len(receipts)}张公务票据。凡公司规定仍可报销的，每张提交一个申请："
            "主题为票据上的商家名称，"
            "金额恰为规定允许的数额，城市、日期和客人数按票据填写（客人指除我之外的人），"
            "并附上该票据。"
            f"一律计入项目{project['name']}，规定另有要求的除外。过期的和已报过的不要提交。",
        )

        def solver(chosen: dict[str, dict[str, Any]]) -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from pilot.goto("bank", "/rules/expenses")
                for name in receipts:
                    yield from pilot.act("read_file", file=name)
                yield from pilot.goto("bank", "/claims")
                yield from pilot.goto("bank", "/projects")
                for row in chosen.values():
                    yield from hand_in(pilot, row)
                yield from pilot.finish()

            return solve

        some = next(name for name, row in rows.items() if row["amount"] != receipts[name].total)
        old = next(name for name, each in receipts.items() if name not in rows)
        extra = claim_row(person, receipts[old], old, project["code"])
        whole = {**rows[some], "amount": receipts[some].total}
        other = next(row for row in usual if row["code"] != project["code"])
        moved = {**next(iter(rows.values())), "project": other["code"]}
        return WebDraft(
            plan,
            instruction,
            solver(rows),
            changes={"bank": {"claims": {"added": list(rows.values())}}},
            evidence=("/rules/expenses$",),
            alternatives={"backwards": solver(dict(reversed(rows.items())))},
            mutants={
                "whole_amount": solver({**rows, some: whole}),
                "not_paid": solver({**rows, old: extra}),
                "wrong_project": solver({**rows, next(iter(rows)): moved}),
                "one_missing": solver(dict(list(rows.items())[1:])),
            },
            turns=80 if hard else 50,
        )


class DecideClaims(WebTemplate):
    """Decide on submitted claims by the rules, except the user's own."""

    name: ClassVar[str] = "bank_approvals"
    levels: ClassVar[tuple[Level, ...]] = ("medium",)

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw claims, each with at most one complication."""
        plan = scene.plan("bank")
        store = scene.store(plan, "bank")
        settings = _settings(store)
        dear, cities = _dear_city(scene, store), _cities(store)
        people = [person.login for person in scene.people(plan)]
        open_, closed = (
            store.rows("SELECT * FROM projects WHERE state = ? ORDER BY code", (state,))
            for state in ("open", "closed")
        )
        hard = scene.demanding()
        if dear not in cities or not open_ or not closed:
            return None
        today = date.fromisoformat(plan.start[:10])
        twists = [
            "late",
            "mismatch",
            "limit",
            "private",
            "own",
            "repeated",
            "project",
            "two",
            "plain",
            "edge",
        ][: 10 if hard else 5]
        first = next_id(store, "claims")
        edits: list[Edit] = [
            ("bank", "UPDATE _accounts SET role = 'approver' WHERE login = ?", (people[0],))
        ]
        decisions: dict[int, tuple[str, int, str]] = {}
        naive: dict[int, int] = {}
        own = 0
        for place, at in enumerate(scene.rng.permutation(len(twists)).tolist()):
            twist, number = twists[at], first + place
            claim = _claim(scene, twist, settings, today, cities, dear, open_, closed)
            person = people[0] if twist == "own" else scene.pick(people[1:])
            edits.append(insert_claim(number, person, claim.receipt, **claim.columns))
            if twist == "repeated":
                edits.append(
                    insert_claim(
                        first + 50,
                        scene.pick([each for each in people[1:] if each != person]),
                        claim.receipt,
                        project=open_[0]["code"],
                        state="approved",
                        approved=claim.receipt.allowed,
                        created=(claim.receipt.day + timedelta(days=1)).isoformat(),
                        receipt="img-3.txt",
                    )
                )
            if twist == "own":
                own = number
            else:
                decisions[number] = claim.decision
                naive[number] = claim.columns["amount"]
            if not claim.code and claim.receipt.allowed != allowed_by_text(
                claim.receipt.text, settings, dear
            ):
                return None
        plan = plan.with_edits(edits)
        if not _agree(scene, plan, decisions, settings, today):
            return None
        if sum(state == "approved" and cents != naive[key] for key, (state, cents, _) in
               decisions.items()) < 1 + hard:  # fmt: skip
            return None
        instruction = scene.say(
            "Today you decide on expense claims. Decide on every submitted claim that you may "
            "decide on, by "
            "the bank's pages on expense claims and approvals: approve it with the exact amount, "
            "or refuse it "
            "with the right reason.",
            "今天由您审批报销。请按银行网站上的报销规定和审批规定，"
            "对您有权处理的每个已提交申请作出决定："
            "按准确金额批准，或以正确的理由拒绝。",
        )

        def solver(chosen: dict[int, tuple[str, int, str]]) -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from pilot.goto("bank", "/rules/expenses")
                yield from pilot.goto("bank", "/rules/approvals")
                yield from pilot.goto("bank", "/approvals?state=submitted")
                for number, (state, cents, code) in chosen.items():
                    yield from pilot.goto("bank", f"/approvals/{number}")
                    if state == "approved":
                        yield from pilot.fill(
                            bank_words(pilot, "approved_amount"), f"{cents / 100:.2f}"
                        )
                        yield from pilot.click("button", bank_words(pilot, "approve"))
                    else:
                        yield from pilot.select(bank_words(pilot, "reason"),
                                                bank_label(code, pilot.language))  # fmt: skip
                        yield from pilot.click("button", bank_words(pilot, "refuse"))
                yield from pilot.finish()

            return solve

        cut = next(key for key, (state, cents, _) in decisions.items()
                   if state == "approved" and cents != naive[key])  # fmt: skip
        refused = next(key for key, (state, _, _) in decisions.items() if state == "refused")
        wrong = "private" if decisions[refused][2] != "private" else "late"
        return (
            WebDraft(
                plan,
                instruction,
                solver(decisions),
                evidence=("/rules/expenses$", "/rules/approvals$"),
                changes={
                    "bank": {
                        "claims": {
                            "changed": [
                                [key, {"state": state, "approved": cents, "code": code}]
                                for key, (state, cents, code) in decisions.items()
                            ]
                        }
                    }
                },
                alternatives={"backwards": solver(dict(reversed(decisions.items())))},
                mutants={
                    "as_claimed": solver({**decisions, cut: ("approved", naive[cut], "")}),
                    "wrong_reason": solver({**decisions, refused: ("refused", 0, wrong)}),
                    "approves_all": solver(
                        {**decisions, refused: ("approved", naive[refused], "")}
                    ),
                    "one_missing": solver(dict(list(decisions.items())[1:])),
                },
                turns=80 if hard else 50,
            )
            if own or not hard
            else None
        )


class _Claim:
    """A claim with the decision that follows from the rules."""

    def __init__(self, receipt: Receipt, code: str, columns: dict[str, Any]) -> None:
        self.receipt, self.code, self.columns = receipt, code, columns

    @property
    def decision(self) -> tuple[str, int, str]:
        """State, approved amount and reason."""
        if self.code:
            return "refused", 0, self.code
        return "approved", min(self.receipt.allowed, self.columns["amount"]), ""


def _claim(
    scene: WebScene,
    twist: str,
    settings: dict[str, int],
    today: date,
    cities: list[str],
    dear: str,
    open_: list[StoreRow],
    closed: list[StoreRow],
) -> _Claim:
    city = (
        dear if scene.rng.random() < 0.4 else scene.pick([each for each in cities if each != dear])
    )
    sort = {
        "private": "meal_wine",
        "limit": scene.pick(("hotel_bar", "train_first")),
        "plain": "taxi",
        "edge": "hotel",
    }.get(twist, scene.pick([each for each in SORTS if each != "supplies"]))
    age = int(scene.rng.integers(3, settings["claim_days"] - 12))
    receipt = draw_receipt(
        scene, sort, settings, today - timedelta(days=age + 4), city, dear=city == dear
    )
    created = receipt.day + timedelta(days=int(scene.rng.integers(1, 5)))
    code, amount, project = "", receipt.total, scene.pick(open_)["code"]
    if twist in ("late", "two", "edge"):
        created = today - timedelta(days=int(scene.rng.integers(1, 5)))
        days = settings["claim_days"] + (0 if twist == "edge" else int(scene.rng.integers(1, 3)))
        receipt = draw_receipt(
            scene, sort, settings, created - timedelta(days=days), city, dear=city == dear
        )
        amount = receipt.total
        code = "" if twist == "edge" else "late"
    if twist == "mismatch":
        amount, code = receipt.total + 1_000, "receipt"
    elif twist == "repeated":
        code = "repeated"
    elif twist in ("project", "two"):
        project = scene.pick(closed)["code"]
        code = code or "project"
    return _Claim(
        receipt, code, {"amount": amount, "project": project, "created": created.isoformat()}
    )


def _agree(
    scene: WebScene, plan: WorldPlan, decisions: dict[int, tuple[str, int, str]],
    settings: dict[str, int], today: date,
) -> bool:  # fmt: skip
    """Whether the rules, applied to the claims as stored, give the same decisions."""
    store = scene.store(plan, "bank")
    dear = _dear_city(scene, store)
    for row in store.rows("SELECT * FROM claims WHERE state = 'submitted'"):
        if row["id"] not in decisions:
            if row["person"] != scene.people(plan)[0].login:
                return False
            continue
        head, second, *_ = row["content"].splitlines()
        total = row["content"].splitlines()[-1].partition(": ")[2]
        late = (date.fromisoformat(row["created"]) - date.fromisoformat(row["spent"])).days
        twins = store.value(
            "SELECT count(*) FROM claims WHERE id != ? AND state = 'approved' AND spent = ? AND "
            "content LIKE ? AND amount = ?",
            (row["id"], row["spent"], head + "%", row["amount"]),
        )
        state = store.value("SELECT state FROM projects WHERE code = ?", (row["project"],))
        code = ""
        if late > settings["claim_days"]:
            code = "late"
        elif row["spent"] not in second or f"{row['amount'] / 100:.2f}" != total:
            code = "receipt"
        elif twins:
            code = "repeated"
        elif state == "closed":
            code = "project"
        allowed = allowed_by_text(row["content"], settings, dear)
        right = ("refused", 0, code) if code else ("approved", allowed, "")
        if decisions[row["id"]] != right:
            return False
    return True


TEMPLATES: tuple[WebTemplate, ...] = (HandInClaims(), DecideClaims())
