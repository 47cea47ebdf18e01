"""A hard task on the spreadsheet: the items to order."""

from collections.abc import Sequence
from datetime import date, timedelta
from decimal import Decimal
from typing import ClassVar

from hexathlon.tasks.source import Script
from hexathlon.tasks.task import Level
from hexathlon.tasks.web.pilot import Pilot
from hexathlon.tasks.web.templates.draft import (
    Solver,
    WebDraft,
    WebScene,
    WebTemplate,
)
from hexathlon.tasks.web.templates.sheet_pages import (
    SheetContent,
    cell_edit,
    new_cells,
    open_sheet,
    row_edits,
    set_row,
    view_sheet,
)
from hexathlon.tasks.web.templates.sheets_rules import sheet_rows
from hexathlon.tasks.web.world.network import Edit
from hexathlon.tasks.web.world.sites.sheets.formulas import ref_of
from hexathlon.tasks.web.world.sites.sheets.vocabulary import said

__all__ = ["TEMPLATES"]


class OrderList(WebTemplate):
    """List the items to order for a warehouse."""

    name: ClassVar[str] = "sheets_order_list"
    levels: ClassVar[tuple[Level, ...]] = ("medium",)

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw a warehouse and items low in stock, one for each rule."""
        plan = scene.plan("sheets")
        store = scene.store(plan, "sheets")
        found = [
            open_sheet(store, "Stock=库存", name, scene.language)
            for name in ("Stock", "Suppliers", "Order list", "Rules")
        ]
        stock, suppliers, orders, rules = found
        if stock is None or suppliers is None or orders is None or rules is None:
            return None
        hard = scene.demanding()
        spare = said("spare=备用件", scene.language)
        warehouse = scene.pick(sorted({cells[2] for _, cells in stock.rows()}))
        here = [(row, c) for row, c in stock.rows() if c[2] == warehouse]
        plain = [each for each in here if not each[1][1].endswith(spare)]
        spares = [each for each in here if each[1][1].endswith(spare)]
        if len(plain) < 8 or not spares or len(suppliers.rows()) < 5:
            return None
        chosen = [*scene.sample(plain, 7), scene.pick(spares)]
        names = [cells[0] for _, cells in scene.sample(suppliers.rows(), 5)]
        factors = [int(i) for i in 2 + scene.rng.permutation(4)[:3]]
        plan = plan.with_edits(
            [
                *_low_stock(scene, stock, chosen, names),
                *_supplier_edits(scene, suppliers, names, hard=hard),
                *_order_rules(
                    scene, plan.start, rules, scene.people(plan), factors, spare, hard=hard
                ),
            ]
        )
        store = scene.store(plan, "sheets")
        lines, firms = (sheet_rows(store, each.id) for each in (stock, suppliers))

        def listed(*without: str) -> list[tuple[str, str, int]]:
            return _order_lines(lines, firms, warehouse, factors, spare, hard=hard, without=without)

        right = listed()
        kinds = ("reserved", "packs", "blocked") + (
            ("chain", "minimum", "zero", "spare", "later", "future") if hard else ()
        )
        wrong = {kind: listed(kind) for kind in kinds}
        if any(value == right for value in wrong.values()) or not 3 <= len(right) <= 8:
            return None
        instruction = scene.say(
            f'In the workbook "{stock.book}", write on the sheet "{orders.name}" what has to be '
            f"ordered today for the warehouse {warehouse}, by the rules of the workbook: from row 2 "
            "on one row per item without gaps, in ascending order of the SKU, with SKU, supplier "
            "to order from, and quantity in pieces. Change nothing else.",
            f"在工作簿“{stock.book}”的“{orders.name}”中，按工作簿的规定写出今天要为{warehouse}仓库订购的物品："
            "从第2行起每个品项一行，不留空行，按货号升序，填写货号、实际订购的供应商和数量（件）。不要改动其他内容。",
        )

        def solver(rows: Sequence[tuple[str, str, int]], shift: int = 0) -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from view_sheet(pilot, rules.id)
                yield from view_sheet(pilot, suppliers.id)
                yield from view_sheet(pilot, stock.id, f"col=3&op=%3D&value={warehouse}")
                for number, values in enumerate(rows, 2 + shift):
                    cells = dict(zip((f"{c}{number}" for c in "ABC"), values, strict=True))
                    yield from set_row(pilot, orders.id, number, cells)
                yield from pilot.finish()

            return solve

        def backwards(pilot: Pilot) -> Script:
            for number, values in reversed(list(enumerate(right, 2))):
                cells = dict(zip((f"{c}{number}" for c in "CBA"), values[::-1], strict=True))
                yield from set_row(pilot, orders.id, number, cells)
            yield from pilot.finish()

        values = {
            ref_of(row, column): value
            for row, line in enumerate(right, 2)
            for column, value in enumerate(line, 1)
        }
        return WebDraft(
            plan, instruction, solver(right), changes=new_cells(orders.id, values),
            alternatives={"backwards": backwards},
            mutants={**{f"without_{kind}": solver(value) for kind, value in wrong.items()},
                     "one_row_low": solver(right, 1), "last_missing": solver(right[:-1])},
            turns=80 if hard else 60,
        )  # fmt: skip


def _low_stock(
    scene: WebScene,
    stock: SheetContent,
    chosen: Sequence[tuple[int, list[str]]],
    names: Sequence[str],
) -> list[Edit]:
    """Make eight items low: available pieces as a share of the reorder level, and a supplier."""
    suppliers = (names[0], names[0], names[1], names[2], names[4], names[4], names[0], names[0])
    shares = (0.6, 0.4, 0.5, 0.7, 0.6, 0.0, 0.8, 0.3)
    edits = []
    for (row, cells), supplier, share in zip(chosen, suppliers, shares, strict=True):
        level = int(cells[5])
        free = int(level * share) if share else 0
        reserved = int(scene.rng.integers(3, 20))
        # The seventh has enough on the shelf, but most of it is reserved.
        reserved = reserved if share != 0.8 else level - free + reserved
        pack = int(scene.rng.choice([5, 6, 12]))
        for column, value in zip("DEGH", (free + reserved, reserved, pack, supplier), strict=True):
            edits.append(cell_edit(stock.id, f"{column}{row}", str(value)))
    return edits


def _supplier_edits(
    scene: WebScene, suppliers: SheetContent, names: Sequence[str], *, hard: bool
) -> list[Edit]:
    """Block two suppliers, the second replacing the first, and give one a high minimum order."""
    rows = {cells[0]: row for row, cells in suppliers.rows()}
    blocked = said("blocked=已停用", scene.language)
    edits = [cell_edit(suppliers.id, f"D{rows[name]}", "25") for name in names[:4]]
    replacement = names[2] if hard else names[3]
    edits += [
        cell_edit(suppliers.id, f"B{rows[names[1]]}", blocked),
        cell_edit(suppliers.id, f"C{rows[names[1]]}", replacement),
    ]
    if hard:
        edits += [
            cell_edit(suppliers.id, f"B{rows[names[2]]}", blocked),
            cell_edit(suppliers.id, f"C{rows[names[2]]}", names[3]),
            cell_edit(suppliers.id, f"D{rows[names[4]]}", "90000"),
        ]
    return edits


def _order_rules(
    scene: WebScene, start: str, rules: SheetContent, people: Sequence[object],
    factors: Sequence[int], spare: str, *, hard: bool,
) -> list[Edit]:  # fmt: skip
    """Write the sheet of rules."""
    today = date.fromisoformat(start[:10])
    old, newer, future = ((today + timedelta(days=days)).isoformat() for days in (-400, -45, 12))
    head = str(getattr(people[2], "name", ""))
    say = scene.say
    size = say(
        "Order up to {} times the reorder level: that many pieces should be available "
        "afterwards. Round the quantity up to full packs.",
        "订购后可用数量应达到补货线的{}倍；订购量向上取整到整包。",
    )
    lines = [
        (old, say("Available is what is on hand and not reserved. An item is ordered when less is "
                  "available than its reorder level.",
                  "可用数量指库存中未被预留的部分。可用数量低于补货线时才订购。")),
        (old, size.format(factors[0])),
        (old, say("Nothing is ordered from a blocked supplier; order from its replacement, and if "
                  "that one is blocked, from the replacement's replacement.",
                  "不向已停用的供应商订购，改向其替代供应商订购；若替代者也已停用，则向替代者的替代供应商订购。")),
    ]  # fmt: skip
    if hard:
        lines += [
            (newer, size.format(factors[1])),
            (future, size.format(factors[2])),
            (old, say("If all lines for a supplier together (quantity times unit cost) stay below "
                      "its minimum order, its lines are left out, except for items of which "
                      "nothing is available.",
                      "若某供应商的全部订购行（数量乘单价）合计低于其最低订购额，则省略这些行；"
                      "但可用数量为零的品项除外。")),
            (old, say(f'Items that end in "{spare}" are never ordered this way.',
                      f"以“{spare}”结尾的品项不按此方式订购。")),
            (old, say("A newer rule on the same matter replaces the older from its day on.",
                      "就同一事项，新规定自生效日起取代旧规定。")),
        ]  # fmt: skip
    return [
        edit
        for number, i in enumerate(scene.rng.permutation(len(lines)), 1)
        for edit in row_edits(
            rules.id, number + 1, (number, lines[int(i)][0], head, lines[int(i)][1])
        )
    ]


def _order_lines(
    stock: Sequence[Sequence[str]], suppliers: Sequence[Sequence[str]], warehouse: str,
    factors: Sequence[int], spare: str, *, hard: bool, without: Sequence[str],
) -> list[tuple[str, str, int]]:  # fmt: skip
    """Return SKU, supplier and quantity of every line, leaving some rules out."""
    firms = {line[0]: line for line in suppliers}
    factor = factors[1] if hard and "later" not in without else factors[0]
    factor = factors[2] if "future" in without else factor
    lines: list[tuple[str, str, int, Decimal, int]] = []
    for sku, item, place, hand, reserved, level, pack, supplier, cost, *_ in stock:
        free = int(hand) - (0 if "reserved" in without else int(reserved))
        if place != warehouse or free >= int(level):
            continue
        if hard and item.endswith(spare) and "spare" not in without:
            continue
        for _ in range(0 if "blocked" in without else 1 if "chain" in without else 2):
            supplier = firms[supplier][2] or supplier
        size = 1 if "packs" in without else int(pack)
        packs = -(-(factor * int(level) - free) // size)
        lines.append((sku, supplier, packs * size, packs * size * Decimal(cost), free))
    sums = {
        line[1]: sum((each[3] for each in lines if each[1] == line[1]), Decimal(0))
        for line in lines
    }
    kept = [
        line
        for line in lines
        if not hard
        or "minimum" in without
        or sums[line[1]] >= int(firms[line[1]][3])
        or (line[4] <= 0 and "zero" not in without)
    ]
    return sorted((line[0], line[1], line[2]) for line in kept)


TEMPLATES: tuple[WebTemplate, ...] = (OrderList(),)
