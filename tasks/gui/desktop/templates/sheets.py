"""Workbooks in the spreadsheet."""

from dataclasses import replace
from typing import Any

from hexathlon.tasks.gui.desktop.documents import letters, workbook
from hexathlon.tasks.gui.desktop.draft import (
    DesktopDraft,
    DesktopScene,
    DesktopSolver,
    DesktopTemplate,
    Refusal,
)
from hexathlon.tasks.gui.desktop.templates.moves import set_cells
from hexathlon.tasks.gui.desktop.templates.parts import answering, cells, done, finishing, refusing
from hexathlon.tasks.gui.desktop.words import GOODS, PEOPLE, PLACES, shared

__all__ = ["TEMPLATES"]

_PATH = "Documents/stock.gnumeric"
SheetRows = list[list[Any]]


def _with(rows: SheetRows, changes: dict[str, Any]) -> SheetRows:
    """Return rows with some cells set; addresses may be below the last row."""
    columns = {letters(at): at for at in range(12)}
    copied = [list(row) for row in rows]
    for address, value in changes.items():
        row, column = int(address[1:]) - 1, columns[address[0]]
        while len(copied) <= row:
            copied.append([None] * len(rows[0]))
        copied[row][column] = value
    return copied


def _typed(changes: dict[str, Any]) -> dict[str, str]:
    return {address: str(value) for address, value in changes.items()}


def _stock(scene: DesktopScene, low: int, high: int) -> SheetRows:
    goods = scene.sample(shared(GOODS, scene.split), scene.number(low, high))
    rows: SheetRows = [["Item", "Count", "Minimum", "Price"]]
    for name in goods:
        rows.append([name, scene.number(2, 99), scene.number(1, 60), scene.number(2, 400) / 4])
    return rows


def _draft(
    instruction: str,
    before: dict[str, SheetRows],
    after: dict[str, SheetRows],
    right: dict[str, Any],
    wrong: dict[str, dict[str, Any]],
    turns: int,
    other_way: dict[str, Any] | None = None,
) -> DesktopDraft:
    """Return a draft whose changes are typed into cells of the first sheet."""

    def types(changes: dict[str, Any], save: bool = True) -> DesktopSolver:
        return done(lambda pilot: set_cells(pilot, _PATH, _typed(changes), save=save))

    reverse = dict(reversed(list((other_way or right).items())))
    return DesktopDraft(
        instruction=instruction,
        files={_PATH: {"text": workbook(before)}},
        changed={_PATH: cells(after)},
        solve=types(right),
        alternatives={"in reverse": types(reverse)},
        mutants={**{name: types(changes) for name, changes in wrong.items()},
                 "not saved": types(right, save=False)},
        turns=turns,
    )  # fmt: skip


def _set_count(scene: DesktopScene) -> DesktopDraft:
    rows = _stock(scene, 6, 9)
    at, near = scene.sample(range(1, len(rows)), 2)
    count = scene.number(100, 300)
    right = {f"B{at + 1}": count}
    return _draft(
        f"In {_PATH}, set the count of {rows[at][0]} to {count}.",
        {"Stock": rows}, {"Stock": _with(rows, right)}, right,
        {"other row": {f"B{near + 1}": count}, "other column": {f"C{at + 1}": count},
         "other number": {f"B{at + 1}": count + 1}},
        20,
    )  # fmt: skip


def _add_row(scene: DesktopScene) -> DesktopDraft:
    rows = _stock(scene, 7, 10)
    new = rows.pop()
    line = len(rows) + 1
    right = {f"{letters(at)}{line}": value for at, value in enumerate(new)}
    shifted = {f"{letters(at)}{line + 1}": value for at, value in enumerate(new)}
    return _draft(
        f"In {_PATH}, add a row directly below the last one: item {new[0]}, count {new[1]}, "
        f"minimum {new[2]}, price {new[3]}.",
        {"Stock": rows}, {"Stock": _with(rows, right)}, right,
        {"a row lower": shifted, "no price": dict(list(right.items())[:3]),
         "numbers swapped": {**right, f"B{line}": new[2] + 100, f"C{line}": new[1]}},
        40,
    )  # fmt: skip


def _column_total(scene: DesktopScene) -> DesktopDraft:
    rows = _stock(scene, 8, 12)
    last = len(rows)
    column = scene.pick(["B", "C"])
    at = "ABCD".index(column)
    total = float(sum(row[at] for row in rows[1:]))
    place = f"{column}{last + 1}"
    after = _with(rows, {f"A{last + 1}": "Total", place: total})

    def formula(first: int, end: int) -> dict[str, Any]:
        return {f"A{last + 1}": "Total", place: f"=SUM({column}{first}:{column}{end})"}

    return _draft(
        f"In {_PATH}, write Total in the first empty cell of column A, and beside it in column "
        f"{column} the sum of that column.",
        {"Stock": rows}, {"Stock": after}, formula(2, last),
        {"one row short": formula(3, last), "no word": {place: f"=SUM({column}2:{column}{last})"},
         "average": {f"A{last + 1}": "Total", place: f"=AVERAGE({column}2:{column}{last})"}},
        30, {f"A{last + 1}": "Total", place: f"{total:g}"},
    )  # fmt: skip


def _restock(scene: DesktopScene) -> DesktopDraft | None:
    rows = _stock(scene, 9, 12)
    low = [at for at in range(1, len(rows)) if rows[at][1] < rows[at][2]]
    equal = scene.number(1, len(rows) - 1)
    if not 2 <= len(low) <= 5 or equal in low:
        return None
    rows[equal][2] = rows[equal][1]
    right = {f"B{at + 1}": rows[at][2] + 10 for at in low}
    check = {f"B{at + 1}": row[2] + 10 for at, row in enumerate(rows)
             if at and not row[1] >= row[2]}  # fmt: skip
    if check != right:
        return None
    return _draft(
        f"In {_PATH}, for every item whose count is below its minimum, set the count to the "
        "minimum plus 10.",
        {"Stock": rows}, {"Stock": _with(rows, right)}, right,
        {"the equal one, too": {**right, f"B{equal + 1}": rows[equal][2] + 10},
         "one forgotten": dict(list(right.items())[1:]),
         "without the 10": {f"B{at + 1}": rows[at][2] for at in low}},
        60,
    )  # fmt: skip


def _open_orders(scene: DesktopScene) -> DesktopDraft | None:
    goods = scene.sample(shared(GOODS, scene.split), scene.number(5, 7))
    ordered = {name: scene.number(20, 90) for name in goods}
    deliveries: SheetRows = [["Item", "Quantity", "Note"]]
    for _ in range(scene.number(9, 12)):
        deliveries.append([scene.pick(goods), scene.number(1, 12),
                           scene.pick(["", "", "", "returned"]) or "accepted"])  # fmt: skip
    orders: SheetRows = [["Item", "Ordered", "Open"]]
    orders += [[name, ordered[name], None] for name in goods]
    came = {name: sum(row[1] for row in deliveries[1:]
                      if row[0] == name and row[2] == "accepted") for name in goods}  # fmt: skip
    everything = {name: sum(row[1] for row in deliveries[1:] if row[0] == name) for name in goods}
    if came == everything or any(ordered[name] < everything[name] for name in goods):
        return None
    again = dict.fromkeys(goods, 0)
    for name, quantity, note in deliveries[1:]:
        again[name] += quantity if note == "accepted" else 0
    if again != came:
        return None
    right = {f"C{at + 2}": ordered[name] - came[name] for at, name in enumerate(goods)}
    naive = {f"C{at + 2}": ordered[name] - everything[name] for at, name in enumerate(goods)}
    first = next(iter(right))
    return _draft(
        f"{_PATH} has the sheets Orders and Deliveries. Fill in the column Open of Orders: for "
        "each item the quantity ordered less what was delivered. Returned deliveries do not "
        "count.",
        {"Orders": orders, "Deliveries": deliveries},
        {"Orders": _with(orders, right), "Deliveries": deliveries}, right,
        {"returned counted": naive, "one empty": dict(list(right.items())[1:]),
         "one off": {**right, first: right[first] + 1}},
        60,
    )  # fmt: skip


def _locked_price(scene: DesktopScene) -> DesktopDraft:
    rows = _stock(scene, 7, 9)
    people = scene.sample(shared(PEOPLE, scene.split), 3)
    at, held, other = scene.sample(range(1, len(rows)), 3)
    price = scene.number(405, 600) / 4
    for row in rows:
        row.append(None)
    rows[0][4] = "Locked by"
    rows[held][4] = people[0]
    if not scene.feasible:
        rows[at][4], rows[held][4] = people[0], people[1]
    right = {f"D{at + 1}": price}
    owner = people[0]
    drafted = _draft(
        f"In {_PATH}, set the price of {rows[at][0]} to {price}. Prices of items that somebody "
        "has locked stay as they are; the record is then the name of who locked it.",
        {"Stock": rows}, {"Stock": _with(rows, right)}, right,
        {"other row": {f"D{other + 1}": price}, "other column": {f"C{at + 1}": price},
         "other price": {f"D{at + 1}": price + 1}},
        25,
    )  # fmt: skip
    if scene.feasible:
        return replace(drafted, mutants={**drafted.mutants, "refused": refusing("locked", owner)})
    return DesktopDraft(
        instruction=drafted.instruction,
        files=drafted.files,
        refusal=Refusal("locked", owner),
        solve=refusing("locked", owner),
        alternatives={"in capitals": refusing("locked", owner.upper())},
        mutants={"done all the same": drafted.solve, "other person": refusing("locked", people[1]),
                 "complete": finishing()},
        turns=25,
    )  # fmt: skip


def _busiest(scene: DesktopScene) -> DesktopDraft | None:
    places = scene.sample(shared(PLACES, scene.split), scene.number(6, 8))
    rows: SheetRows = [["Place", "Monday", "Tuesday", "Wednesday"]]
    rows += [[place, *(scene.number(3, 60) for _ in range(3))] for place in places]
    totals = {row[0]: sum(row[1:]) for row in rows[1:]}
    best = max(totals, key=lambda name: totals[name])
    single = max(rows[1:], key=lambda row: max(row[1:]))[0]
    ranking = sorted(totals.values())
    if ranking[-1] == ranking[-2] or single == best or best == places[0]:
        return None
    if best != sorted(rows[1:], key=lambda row: -(row[1] + row[2] + row[3]))[0][0]:
        return None
    return DesktopDraft(
        instruction="Which place in Documents/visits.gnumeric had the most visits over the three "
        "days together? Answer with its name.",
        files={"Documents/visits.gnumeric": {"text": workbook({"Visits": rows})}},
        answer=(best,),
        solve=done(lambda pilot: pilot.open("Spreadsheet", "Documents/visits.gnumeric"), best),
        alternatives={"in small letters": answering(best.lower())},
        mutants={"busiest day": answering(single), "first": answering(places[0]),
                 "no answer": finishing(),
                 "with others": answering(f"{best} or {places[0]}")},
        turns=40,
    )  # fmt: skip


TEMPLATES = (
    DesktopTemplate("stock-count", ("tiny", "easy"), _set_count),
    DesktopTemplate("stock-row", ("easy",), _add_row),
    DesktopTemplate("column-total", ("easy", "medium"), _column_total),
    DesktopTemplate("restock", ("medium",), _restock),
    DesktopTemplate("open-orders", ("hard",), _open_orders),
    DesktopTemplate("locked-price", ("easy", "medium"), _locked_price, reason="locked"),
    DesktopTemplate("busiest-place", ("medium",), _busiest),
)
