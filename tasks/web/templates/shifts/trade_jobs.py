"""Jobs in the bank, the shop's stock, and on expense claims and phone numbers."""

from datetime import date, timedelta
from urllib.parse import urlencode

from hexathlon.tasks.bilingual import Language
from hexathlon.tasks.source import Script
from hexathlon.tasks.web.pilot import Pilot
from hexathlon.tasks.web.templates.sheet_pages import (
    ROWS_PER_PAGE,
    open_sheet,
    set_row,
    view_sheet,
)
from hexathlon.tasks.web.templates.shifts.office_jobs import in_contacts
from hexathlon.tasks.web.templates.shifts.records import (
    JobTarget,
    RecordJob,
    ShiftBench,
    Values,
    best_text,
    new_first,
    pages_of_list,
)
from hexathlon.tasks.web.world.sites.bank.vocabulary import bank_label
from hexathlon.tasks.web.world.sites.sheets.formulas import ref_of
from hexathlon.tasks.web.world.sites.sheets.vocabulary import STATUSES, said

__all__ = ["claim_states", "contact_phones", "standing_amounts", "variant_stock"]

_PURPOSES = (
    "Insurance|保险费", "Cleaning|保洁费", "Leasing|租赁费", "Waste disposal|垃圾清运", "Parking|停车费",
    "Alarm system|报警系统", "Window washing|擦窗费", "Telephone|电话费", "Road tax|路桥费",
    "Laundry|洗衣费", "Plant care|绿植养护", "Water|水费",
)  # fmt: skip
_PER_PAGE = 12


def standing_amounts(bench: ShiftBench, sizes: range) -> RecordJob | None:
    """Raise the amounts of standing orders for one purpose; the list has no search."""
    scene = bench.scene
    rows = bench.rows("bank", "SELECT * FROM standing ORDER BY payee, id")
    if not any(row["id"] >= 300 for row in rows):
        _add_standing(bench)
        rows = bench.rows("bank", "SELECT * FROM standing ORDER BY payee, id")
    rows = [
        {**row, "kind": row["purpose"].rpartition(" ")[0], "place": place}
        for place, row in enumerate(rows)
    ]
    raises = scene.sample((250, 400, 600, 750, 1_200), 4)
    own = [row for row in rows if row["id"] >= 300 and row["state"] == "active"]
    for found in bench.clusters(own, ("kind",), sizes):
        kind, keys = found[0]["kind"], [row["id"] for row in found]
        group = bench.say(
            f'standing orders with the purpose "{kind} …"', f"用途为“{kind} …”的定期转账"
        )
        again = bench.rows(
            "bank",
            "SELECT id FROM standing WHERE purpose LIKE ? AND state = 'active'",
            (f"{kind} %",),
        )
        if (
            ("bank", group) in bench.groups
            or not bench.free("bank", "standing", keys)
            or {row["id"] for row in again} != set(keys)
        ):
            continue
        pages = -(-len(rows) // _PER_PAGE)

        def find(pilot: Pilot, pages: int = pages) -> Script:
            for page in range(1, pages + 1):
                yield from pilot.goto("bank", f"/standing?page={page}")

        def write(pilot: Pilot, target: JobTarget, values: Values) -> Script:
            yield from pilot.goto("bank", f"/standing/{target.key}")
            yield from pilot.fill(pilot.words("bank", "amount"), f"{values['amount'] / 100:.2f}")
            yield from pilot.click("button", pilot.words("bank", "save"))

        return RecordJob(
            "bank", "standing", bench.say("standing order", "定期转账"), group,
            tuple(
                bench.say(
                    f"Set the amount of each active standing order whose purpose begins with "
                    f'"{kind}" to €{each / 100:.2f} above its amount of this morning.',
                    f"请把用途以“{kind}”开头、状态为“{bank_label('active', 'zh')}”的每个定期转账的金额设为"
                    f"比今早的金额高{each / 100:.2f}欧元。",
                )
                for each in raises[:-1]
            ),
            tuple(
                bench.say(f"the amounts should be €{each / 100:.2f} above this morning's",
                          f"金额应比今早的金额高{each / 100:.2f}欧元")
                for each in raises[:-1]
            ),
            tuple(JobTarget(row["id"], f"S{row['id']}", {"amount": row["amount"]},
                            tuple({"amount": row["amount"] + each} for each in raises),
                            _rhythm(bench, row["rhythm"]), row["amount"]) for row in found),
            find, write, looks=pages, shown_in="standing", limit=lambda bound: best_text(
                bench, ("amounts of this morning", "今早的金额"),
                (_money(bound, "en"), _money(bound, "zh"))),
        )  # fmt: skip
    return None


def _rhythm(bench: ShiftBench, rhythm: str) -> str:
    label = bank_label(rhythm, bench.scene.language)
    return bench.say(f'those with the rhythm "{label}"', f"周期为“{label}”的那些")


def _add_standing(bench: ShiftBench) -> None:
    """Add standing orders for several purposes to the initial content."""
    scene = bench.scene
    account = bench.rows("bank", "SELECT account FROM standing LIMIT 1")
    payees = bench.rows(
        "bank",
        "SELECT DISTINCT counterparty, counter_account FROM transactions "
        "WHERE counter_account <> '' ORDER BY counterparty",
    )
    if not account or not payees:
        return
    number = 300
    for purpose in _PURPOSES:
        name = bench.say(*purpose.split("|"))
        for row in scene.sample(payees, int(scene.rng.integers(2, 7))):
            number += int(scene.rng.integers(1, 5))
            day = date.fromisoformat(bench.today) + timedelta(days=int(scene.rng.integers(2, 80)))
            state = "paused" if scene.rng.random() < 0.15 else "active"
            bench.edit(
                "bank", "INSERT INTO standing VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, '')", number,
                account[0]["account"], row["counterparty"], row["counter_account"],
                f"{name} {scene.rng.integers(10_000, 99_999)}",
                int(scene.rng.integers(8, 160)) * 100 + 90,
                scene.pick(("monthly", "monthly", "quarterly", "yearly")), day.isoformat(), state,
            )  # fmt: skip


def claim_states(bench: ShiftBench, sizes: range) -> RecordJob | None:
    """Set the status of expense claims of one person and category; it differs between them."""
    scene = bench.scene
    year = bench.today[:4]
    sheet = open_sheet(
        scene.store(bench.plan, "sheets"),
        f"Expense claims {year}={year}报销",
        "Claims",
        scene.language,
    )
    if sheet is None:
        return None
    rows = [
        {"row": number, "claim": cells[0], "person": cells[3], "category": cells[4],
         "amount": cells[5], "currency": cells[6], "status": cells[7]}
        for number, cells in sheet.rows() if cells[0]
    ]  # fmt: skip
    labels = [said(each, scene.language) for each in STATUSES]
    for found in bench.clusters(rows, ("person", "category"), sizes):
        person, category = found[0]["person"], found[0]["category"]
        group = bench.say(f"expense claims of {person}", f"{person}的报销单")
        keys = [sheet.key(row["row"], 8) for row in found]
        states = {row["status"] for row in found}
        again = bench.rows(
            "sheets",
            "SELECT a.row FROM cells a JOIN cells b ON b.sheet = a.sheet AND b.row = a.row AND "
            "b.col = 5 WHERE a.sheet = ? AND a.col = 4 AND a.raw = ? AND b.raw = ?",
            (sheet.id, person, category),
        )
        if (
            ("sheets", group) in bench.groups
            or not bench.free("sheets", "cells", keys)
            or len(states) > 2
            or {row["row"] for row in again} != {row["row"] for row in found}
        ):
            continue
        values = new_first(scene.sample(labels, len(labels)), states)

        pages = pages_of_list(sum(row["person"] == person for row in rows), ROWS_PER_PAGE)

        def find(pilot: Pilot, who: str = person, pages: range = pages) -> Script:
            for page in pages:
                query = {"col": 4, "op": "=", "value": who, "page": page}
                yield from view_sheet(pilot, sheet.id, urlencode(query))

        def write(pilot: Pilot, target: JobTarget, values: Values) -> Script:
            row = int(target.key.partition("!")[2][1:])
            yield from set_row(pilot, sheet.id, row, {ref_of(row, 8): values["raw"]})

        return RecordJob(
            "sheets", "cells", bench.say("claim", "报销单"), group,
            tuple(
                bench.say(
                    f"In the workbook {sheet.book}, set the status of the claims of {person} in the "
                    f'category "{category}" to "{each}".',
                    f"在工作簿“{sheet.book}”中，把{person}类别为“{category}”的报销单的状态设为“{each}”。",
                )
                for each in values[:-1]
            ),
            tuple(bench.say(f'the status should be "{each}"', f"状态应为“{each}”")
                  for each in values[:-1]),
            tuple(JobTarget(key, row["claim"], {"raw": row["status"]},
                            tuple({"raw": each} for each in values),
                            bench.say(f"those in {row['currency']}", f"币种为{row['currency']}的那些"),
                            round(100 * float(row["amount"])))
                  for key, row in zip(keys, found, strict=True)),
            find, write, looks=len(pages), shown_in=f"claims {person}", limit=lambda bound: best_text(
                bench, ("amounts, as bare numbers whatever the currency,", "金额（不论币种，只看数字）"),
                (f"{bound / 100:.2f}", f"{bound / 100:.2f}")),
        )  # fmt: skip
    return None


def contact_phones(bench: ShiftBench, sizes: range) -> RecordJob | None:
    """Change the area code in phone numbers of contacts; the rest of each number stays."""
    scene = bench.scene
    rows = bench.rows(
        "mail",
        "SELECT * FROM contacts WHERE name IN (SELECT name FROM contacts GROUP BY name "
        "HAVING count(*) = 1) AND phone LIKE '+44 20 7%' AND company NOT IN ('In-house', '本公司') "
        "ORDER BY id",
    )
    codes = scene.sample(("+44 131 ", "+44 161 ", "+44 113 ", "+44 117 "), 4)
    for found in bench.clusters(rows, ("company", "role"), sizes):
        company, role = found[0]["company"], found[0]["role"]
        keys = [row["id"] for row in found]
        group = bench.say(f"contacts of the company {company}", f"公司为“{company}”的联系人")
        again = bench.rows(
            "mail", "SELECT id FROM contacts WHERE company = ? AND role = ?", (company, role)
        )
        if (
            ("mail", group) in bench.groups
            or not bench.free("mail", "contacts", keys)
            or {row["id"] for row in again} != set(keys)
        ):
            continue

        find, opening, looks = in_contacts(bench, company)

        def write(pilot: Pilot, target: JobTarget, values: Values) -> Script:
            yield from pilot.goto("mail", f"/contacts/{target.key}")
            yield from pilot.fill(pilot.words("mail", "contact_phone"), values["phone"])
            yield from pilot.click("button", pilot.words("mail", "save"))

        return RecordJob(
            "mail", "contacts", bench.say("contact", "联系人"), group,
            tuple(
                bench.say(
                    f'The contacts of the company {company} with the role "{role}" have moved: in '
                    'their phone numbers of this morning, replace "+44 20 " at the beginning by '
                    f'"{code}"; the other digits stay.',
                    f"{company}公司职务为“{role}”的联系人搬迁了：请把他们今早的电话号码开头的“+44 20 ”换成“{code}”，"
                    "其余数字不变。",
                )
                for code in codes[:-1]
            ),
            tuple(bench.say(f'the numbers should begin with "{code}"', f"号码开头应为“{code}”")
                  for code in codes[:-1]),
            tuple(JobTarget(row["id"], f"#{row['id']}", {"phone": row["phone"]},
                            tuple({"phone": row["phone"].replace("+44 20 ", code)}
                                  for code in codes)) for row in found),
            find, write, looks=looks, opening=opening,
        )  # fmt: skip
    return None


def variant_stock(bench: ShiftBench, sizes: range) -> RecordJob | None:
    """Book goods received for all variants of a product."""
    scene, me = bench.scene, bench.scene.people(bench.plan)[0].login
    rows = bench.rows(
        "shop",
        "SELECT v.*, p.title FROM variants v JOIN products p ON p.id = v.product WHERE "
        "p.title IN (SELECT title FROM products GROUP BY title HAVING count(*) = 1) ORDER BY v.id",
    )
    counts = scene.sample((6, 10, 15, 24, 40), 4)
    for found in bench.clusters(rows, ("product",), sizes):
        title, keys = found[0]["title"], [row["id"] for row in found]
        group = bench.say(f"variants of the product {title}", f"商品“{title}”的款式")
        again = bench.rows(
            "shop", "SELECT id FROM variants WHERE product = ?", (found[0]["product"],)
        )
        like = bench.rows("shop", "SELECT id FROM products WHERE title LIKE ?", (f"%{title}%",))
        if (
            ("shop", group) in bench.groups
            or not bench.free("shop", "variants", keys)
            or len(like) > 1
            or {row["id"] for row in again} != set(keys)
        ):
            continue
        if not any("_accounts" in sql for _, sql, _ in bench.edits):
            bench.edit("shop", "UPDATE _accounts SET role = 'admin' WHERE login = ?", me)

        def find(pilot: Pilot, name: str = title) -> Script:
            yield from pilot.goto("shop", f"/admin/goods?{urlencode({'q': name})}")

        def write(pilot: Pilot, target: JobTarget, values: Values) -> Script:
            yield from pilot.goto("shop", f"/admin/goods/{target.key}")
            yield from pilot.fill(
                pilot.words("shop", "stock"), str(values["stock"]), role="spinbutton"
            )
            yield from pilot.click("button", pilot.words("shop", "save"))

        return RecordJob(
            "shop", "variants", bench.say("variant", "款式"), group,
            tuple(
                bench.say(
                    f"{count} pieces of each variant of {title} have come in: set the stock of each "
                    f"to {count} above that of this morning in the shop's administration.",
                    f"“{title}”的每个款式到货{count}件：请在商店管理页面把各款式的库存设为比今早多{count}。",
                )
                for count in counts[:-1]
            ),
            tuple(
                bench.say(f"the stock should be {count} above that of this morning",
                          f"库存应比今早多{count}")
                for count in counts[:-1]
            ),
            tuple(JobTarget(row["id"], row["id"], {"stock": row["stock"]},
                            tuple({"stock": row["stock"] + count} for count in counts),
                            bench.say(f"those with {_money(row['price'], 'en')} as price",
                                      f"售价{_money(row['price'], 'zh')}的那些"),
                            row["stock"]) for row in found),
            find, write, shown_in=title, limit=lambda bound: best_text(
                bench, ("stocks of this morning", "今早的库存"), (f"{bound} pieces", f"{bound}件")),
        )  # fmt: skip
    return None


def _money(cents: int, language: Language) -> str:
    return f"€{cents / 100:.2f}" if language == "en" else f"{cents / 100:.2f}欧元"
