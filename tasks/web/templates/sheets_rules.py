"""Hard tasks on the spreadsheet: sums and orders under rules that interact."""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import ClassVar, NamedTuple

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
from hexathlon.tasks.web.templates.sheet_pages import (
    SheetContent,
    cell_edit,
    open_sheet,
    row_edits,
    view_sheet,
)
from hexathlon.tasks.web.world.network import Edit
from hexathlon.tasks.web.world.sites.sheets.vocabulary import said
from hexathlon.tasks.web.world.store import SiteStore

__all__ = ["TEMPLATES", "sheet_rows"]

_CENT = Decimal("0.01")


class _Limits(NamedTuple):
    """Limits of the rules for claims, in EUR."""

    meals: int
    meals_later: int
    later: str
    meals_proposed: int
    proposed: str
    without_receipt: int


class Reimbursement(WebTemplate):
    """Total of a team's claims under rules with limits, exceptions, dates and authority."""

    name: ClassVar[str] = "sheets_reimbursement"
    levels: ClassVar[tuple[Level, ...]] = ("medium",)

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw a team and ten of its claims, each affected by one rule."""
        plan = scene.plan("sheets")
        store = scene.store(plan, "sheets")
        book = "Expense claims=报销"
        claims, rates, rules = (
            open_sheet(store, book, name, scene.language) for name in ("Claims", "Rates", "Rules")
        )
        if claims is None or rates is None or rules is None:
            return None
        hard = scene.demanding()
        today = date.fromisoformat(plan.start[:10])
        start, end = (today - timedelta(days=days) for days in (118, 21))
        later = today - timedelta(days=70)
        meals = int(scene.rng.integers(40, 60))
        limits = _Limits(
            meals,
            meals - int(scene.rng.integers(8, 18)),
            later.isoformat(),
            meals + int(scene.rng.integers(15, 30)),
            (today - timedelta(days=50)).isoformat(),
            int(scene.rng.integers(25, 39)),
        )
        team = scene.pick(sorted({cells[2] for _, cells in claims.rows()}))
        edits = _claim_edits(scene, claims, team, start, end, limits, hard=hard)
        people = scene.people(plan)
        edits += _rule_rows(scene, rules, people[1].name, people[5].name, limits, hard=hard)
        plan = plan.with_edits(edits)
        store = scene.store(plan, "sheets")
        rows = sheet_rows(store, claims.id)
        table = sheet_rows(store, rates.id)
        words = {key: said(text, scene.language) for key, text in _WORDS.items()}

        def total(*without: str) -> tuple[Decimal, int]:
            return _total(rows, table, team, start, end, limits, words, hard=hard, without=without)

        right = total()
        wrong = {kind: total(kind) for kind in (_KINDS if hard else _KINDS[:5])}
        if any(value[0] == right[0] for value in wrong.values()):
            return None
        if right != _by_sql(store, claims.id, rates.id, team, start, end, limits, words, hard=hard):
            return None
        instruction = scene.say(
            f"How much is {team} to be reimbursed, in EUR, for claims dated {start} to {end} (both "
            f'included)? The workbook "{claims.book}" holds the claims, the rates and the rules. '
            "Answer with the total with two decimals, then the number of claims for which anything "
            "is reimbursed.",
            f"{team}在{start}至{end}（含首尾）的报销单，按欧元共应报销多少？单据、汇率和规定都在工作簿"
            f"“{claims.book}”中。请依次回答总额（两位小数）和获得报销的单据数。",
        )
        place = r"sheets\.hexathlon\.test/sheets/"
        evidence = tuple(f"{place}{each.id}([?/].*)?$" for each in (claims, rates, rules))

        def solver(value: tuple[Decimal, int], *, rules_too: bool = True) -> Solver:
            def solve(pilot: Pilot) -> Script:
                if rules_too:
                    yield from view_sheet(pilot, rules.id)
                yield from view_sheet(pilot, rates.id)
                for page in (1, 2):
                    yield from view_sheet(
                        pilot, claims.id, f"col=3&op=%3D&value={team}&page={page}"
                    )
                yield from pilot.finish("RETRIEVE", [str(value[0]), value[1]])

            return solve

        def by_export(pilot: Pilot) -> Script:
            for each in (rules, rates, claims):
                yield from view_sheet(pilot, each.id)
            yield from pilot.goto("sheets", f"/sheets/{claims.id}/export?col=3&op=%3D&value={team}")
            yield from pilot.finish("RETRIEVE", [str(right[0]), right[1]])

        mutants = {f"without_{kind}": solver(value) for kind, value in wrong.items()}
        return WebDraft(
            plan, instruction, solver(right),
            answer=ExpectedAnswer(data=(str(right[0]), right[1])), evidence=evidence,
            alternatives={"by_export": by_export},
            mutants={**mutants, "unseen_rules": solver(right, rules_too=False),
                     "count_off": solver((right[0], right[1] + 1))},
            turns=40,
        )  # fmt: skip


_WORDS = {
    "approved": "approved=已批准",
    "paid": "paid=已支付",
    "meals": "Meals=餐饮",
    "travel": "Travel=差旅",
    "no": "no=无",
}
_KINDS = ("status", "conversion", "meals", "receipt", "period", "later", "authority", "travel",
          "twice")  # fmt: skip


def _claim_edits(
    scene: WebScene, claims: SheetContent, team: str, start: date, end: date, limits: _Limits,
    *, hard: bool,
) -> list[Edit]:  # fmt: skip
    """Make ten claims of the team, one for each rule, and enter one of them a second time."""
    inside = [(row, c) for row, c in claims.rows() if start.isoformat() <= c[1] <= end.isoformat()]
    before = [each for each in inside if each[1][1] < limits.later]
    after = [each for each in inside if each[1][1] >= limits.proposed]
    outside = [(row, c) for row, c in claims.rows() if c[1] > end.isoformat()]
    chosen = [*scene.sample(before, 6), *scene.sample(after, 5)]
    if len(chosen) < 11 or not outside:
        return []
    specs = (
        ("Meals=餐饮", 90, "EUR", "approved=已批准", "yes=有"),
        ("Software=软件", 210, "USD", "paid=已支付", "yes=有"),
        ("Equipment=设备", 85, "EUR", "approved=已批准", "no=无"),
        ("Travel=差旅", 130, "EUR", "paid=已支付", "no=无"),
        ("Lodging=住宿", 180, "EUR", "submitted=已提交", "yes=有"),
        ("Training=培训", 240, "GBP", "approved=已批准", "yes=有"),
        ("Meals=餐饮", 110, "CHF", "paid=已支付", "yes=有"),
        ("Meals=餐饮", 70, "EUR", "approved=已批准", "yes=有"),
        ("Lodging=住宿", 160, "EUR", "rejected=已驳回", "yes=有"),
        ("Software=软件", 60, "USD", "approved=已批准", "no=无"),
        ("Travel=差旅", 95, "CHF", "paid=已支付", "yes=有"),
    )
    edits: list[Edit] = []
    for (row, _), (category, amount, currency, status, receipt) in zip(chosen, specs, strict=True):
        value = amount + float(scene.rng.integers(100, 2_900)) / 100
        values = {
            "C": team,
            "E": said(category, scene.language),
            "F": f"{value:.2f}",
            "G": currency,
            "H": said(status, scene.language),
            "I": said(receipt, scene.language),
        }
        edits += [cell_edit(claims.id, f"{column}{row}", raw) for column, raw in values.items()]
    row = scene.pick(outside)[0]
    edits += [
        cell_edit(claims.id, f"C{row}", team),
        cell_edit(claims.id, f"H{row}", said("paid=已支付", scene.language)),
    ]
    if hard:
        first = chosen[5][0]
        twin = {
            edit[2][0].partition("!")[2][0]: edit[2][4] for edit in edits if edit[2][2] == first
        }
        cells = {
            **{column: claims.cells[(first, place)] for place, column in enumerate("ABCDEFGHI", 1)},
            **twin,
        }
        values_again = [f"E{9000 + int(scene.rng.integers(900))}", *list(cells.values())[1:]]
        edits += row_edits(claims.id, claims.last + 1, values_again)
    return edits


def _rule_rows(
    scene: WebScene, rules: SheetContent, head: str, other: str, limits: _Limits, *, hard: bool
) -> list[Edit]:
    """Write the sheet of rules."""
    old = f"{int(limits.later[:4]) - 1}-01-01"
    say = scene.say
    cap = say(
        "Meals: at most {} EUR per claim; the rest is not reimbursed.",
        "餐饮：每单最多报销{}欧元，超出部分不报销。",
    )
    lines: list[tuple[str, str, str]] = [
        (old, head, say("Only claims with the status approved or paid are reimbursed.",
                        "仅报销状态为已批准或已支付的单据。")),
        (old, head, say("Other currencies are converted with the rate of the sheet Rates that is "
                        "valid on the day of the claim, and rounded to cents per claim, before any "
                        "limit is applied.",
                        "其他币种按汇率表中单据当日有效的汇率折算，每单四舍五入到分，然后再适用各项上限。")),
        (old, head, cap.format(limits.meals)),
        (old, head, say(f"Claims without a receipt are reimbursed up to {limits.without_receipt} "
                        "EUR each.", f"无票据的单据每单最多报销{limits.without_receipt}欧元。")),
    ]  # fmt: skip
    if hard:
        lines += [
            (limits.later, head, cap.format(limits.meals_later)),
            (limits.proposed, other, cap.format(limits.meals_proposed)),
            (old, head, say("The limit for claims without a receipt does not apply to travel.",
                            "无票据上限不适用于差旅。")),
            (old, head, say("A claim that was entered twice (same date, person, category, amount "
                            "and currency) counts once.",
                            "重复录入的单据（日期、姓名、类别、金额、币种均相同）只计一次。")),
            (old, head, say(f"Entries of this sheet that were not decided by {head} are proposals "
                            "and not in force. A rule applies to claims dated from its day on, and "
                            "replaces earlier ones on the same matter.",
                            f"本表中非{head}决定的条目只是建议，并未生效。规定适用于生效日起的单据，"
                            "并取代此前就同一事项的规定。")),
        ]  # fmt: skip
    order = scene.rng.permutation(len(lines))
    return [
        edit
        for number, i in enumerate(order, 1)
        for edit in row_edits(rules.id, number + 1, (number, *lines[int(i)]))
    ]


def sheet_rows(store: SiteStore, sheet: int) -> list[list[str]]:
    """Return the cells of every row below the headings, in ten columns."""
    cells = store.rows("SELECT row, col, raw FROM cells WHERE sheet = ? AND row > 1", (sheet,))
    rows: dict[int, list[str]] = {}
    for cell in cells:
        rows.setdefault(cell["row"], [""] * 10)[cell["col"] - 1] = cell["raw"]
    return [rows[row] for row in sorted(rows)]


def _total(
    rows: Sequence[Sequence[str]], rates: Sequence[Sequence[str]], team: str, start: date,
    end: date, limits: _Limits, words: Mapping[str, str], *, hard: bool, without: Sequence[str],
) -> tuple[Decimal, int]:  # fmt: skip
    """Return total and number of reimbursed claims, leaving some rules out."""
    total, count, seen = Decimal(0), 0, set()
    for _, day, group, person, category, amount, currency, status, receipt, *_ in rows:
        if group != team or (day > end.isoformat() and "period" not in without):
            continue
        if day < start.isoformat():
            continue
        if status not in (words["approved"], words["paid"]) and "status" not in without:
            continue
        key = (day, person, category, amount, currency)
        if hard and key in seen and "twice" not in without:
            continue
        seen.add(key)
        rate = max((line[1], line[2]) for line in rates if line[0] == currency and line[1] <= day)
        value = Decimal(amount)
        if "conversion" not in without:
            value = (value * Decimal(rate[1])).quantize(_CENT, ROUND_HALF_UP)
        if category == words["meals"] and "meals" not in without:
            limit = limits.meals
            if hard and day >= limits.later and "later" not in without:
                limit = limits.meals_later
            if hard and "authority" in without and day >= limits.proposed:
                limit = limits.meals_proposed
            value = min(value, Decimal(limit))
        exempt = hard and category == words["travel"] and "travel" not in without
        if receipt == words["no"] and not exempt and "receipt" not in without:
            value = min(value, Decimal(limits.without_receipt))
        total += value
        count += 1
    return total.quantize(_CENT), count


def _by_sql(
    store: SiteStore, claims: int, rates: int, team: str, start: date, end: date, limits: _Limits,
    words: Mapping[str, str], *, hard: bool,
) -> tuple[Decimal, int]:  # fmt: skip
    """Return total and number by one query."""
    columns = ", ".join(f"max(CASE WHEN col = {i} THEN raw END) AS c{i}" for i in range(1, 10))
    group = "c2, c4, c5, c6, c7" if hard else "row"
    sql = f"""
    WITH claim AS (SELECT row, {columns} FROM cells WHERE sheet = :claims AND row > 1 GROUP BY row),
    price AS (SELECT row, {columns} FROM cells WHERE sheet = :rates AND row > 1 GROUP BY row),
    due AS (SELECT c.*, round(cast(c6 AS REAL) * (SELECT cast(p.c3 AS REAL) FROM price p WHERE
      p.c1 = c.c7 AND p.c2 <= c.c2 ORDER BY p.c2 DESC LIMIT 1) + 1e-9, 2) AS eur FROM claim c
      WHERE c3 = :team AND c2 BETWEEN :start AND :end AND c8 IN (:approved, :paid)
      GROUP BY {group}),
    capped AS (SELECT CASE WHEN c5 <> :meals THEN eur
      WHEN :hard AND c2 >= :later THEN min(eur, :late_cap) ELSE min(eur, :cap) END AS part, * FROM due)
    SELECT sum(CASE WHEN c9 = :no AND NOT (:hard AND c5 = :travel) THEN min(part, :bare)
      ELSE part END) AS total, count(*) AS number FROM capped"""
    row = store.row(sql, {
        "claims": claims, "rates": rates, "team": team, "start": start.isoformat(),
        "end": end.isoformat(), "hard": int(hard), "later": limits.later,
        "late_cap": limits.meals_later, "cap": limits.meals, "bare": limits.without_receipt,
        **words,
    })  # fmt: skip
    assert row is not None
    return Decimal(f"{row['total'] or 0:.2f}"), row["number"]


TEMPLATES: tuple[WebTemplate, ...] = (Reimbursement(),)
