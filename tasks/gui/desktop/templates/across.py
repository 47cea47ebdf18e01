"""Work across programs: values found in one document go into another."""

from dataclasses import replace
from typing import Any

from hexathlon.tasks.gui.desktop.documents import notebook, workbook
from hexathlon.tasks.gui.desktop.draft import (
    DesktopDraft,
    DesktopScene,
    DesktopSolver,
    DesktopTemplate,
)
from hexathlon.tasks.gui.desktop.pilot import DesktopPilot
from hexathlon.tasks.gui.desktop.templates.books import books_of, entry_fields
from hexathlon.tasks.gui.desktop.templates.moves import (
    add_entry,
    append_line,
    delete,
    look_into,
    open_page,
    rewrite,
    save_new,
    set_cells,
)
from hexathlon.tasks.gui.desktop.templates.parts import answering, cells, done, lines, text
from hexathlon.tasks.gui.desktop.words import GOODS, PEOPLE, PLACES, TOPICS, shared
from hexathlon.tasks.source import Script

__all__ = ["TEMPLATES"]

_STOCK = "Documents/stock.gnumeric"
_BOOKS = "Documents/household.xhb"


def _sum_of_receipts(scene: DesktopScene) -> DesktopDraft:
    goods = scene.sample(shared(GOODS, scene.split), scene.number(5, 8))
    cents = [scene.number(150, 9000) for _ in goods]
    kept = [scene.number(0, 3) > 0 for _ in goods]
    kept[0], kept[1] = True, False
    listing = lines(*(f"{each}: {cost / 100:.2f}{'' if keep else ' (returned)'}"
                      for each, cost, keep in zip(goods, cents, kept, strict=True)))  # fmt: skip
    total = sum(cost for cost, keep in zip(cents, kept, strict=True) if keep)
    again = sum(float(line.rpartition(": ")[2]) for line in listing.splitlines()
                if not line.endswith(")"))  # fmt: skip
    assert round(again * 100) == total, listing
    right = f"{total / 100:.2f}"

    def reckons(pilot: DesktopPilot) -> Script:
        yield from pilot.open("Text Editor", "receipts.txt")
        yield from pilot.until("text")
        yield from pilot.open("Calculator")
        yield from pilot.until("toggle button", "AC")
        yield from pilot.type("+".join(f"{cost / 100:.2f}" for cost, keep in
                                       zip(cents, kept, strict=True) if keep) + "\n")  # fmt: skip

    return DesktopDraft(
        instruction="What do the receipts in receipts.txt come to, without what was returned? "
        "Answer with the amount, such as 12.30.",
        files={"receipts.txt": {"text": listing}},
        answer=(right, right.rstrip("0").rstrip(".")),
        solve=done(reckons, right),
        alternatives={"without the calculator": answering(right)},
        mutants={"with the returned": answering(f"{sum(cents) / 100:.2f}"),
                 "a cent more": answering(f"{(total + 1) / 100:.2f}"),
                 "the first": answering(f"{cents[0] / 100:.2f}"),
                 "no answer": done(reckons)},
        turns=30,
    )  # fmt: skip


def _delivery_note(scene: DesktopScene) -> DesktopDraft:
    goods = scene.sample(shared(GOODS, scene.split), scene.number(6, 8))
    counts = [scene.number(5, 60) for _ in goods]
    came = {at: scene.number(2, 30) for at in scene.sample(range(len(goods)), 3)}
    note = lines("Delivery note", *(f"{goods[at]}: {number}" for at, number in came.items()))
    rows: list[list[Any]] = [["Item", "Count"], *(list(pair) for pair in
                                                 zip(goods, counts, strict=True))]  # fmt: skip

    def after(changes: dict[int, int]) -> list[list[Any]]:
        return [rows[0], *([name, changes.get(at, count)] for at, (name, count)
                           in enumerate(zip(goods, counts, strict=True)))]  # fmt: skip

    def types(changes: dict[int, int], save: bool = True) -> DesktopSolver:
        typed = {f"B{at + 2}": str(value) for at, value in changes.items()}
        return done(lambda pilot: set_cells(pilot, _STOCK, typed, save=save))

    right = {at: counts[at] + number for at, number in came.items()}
    first = next(iter(right))
    return DesktopDraft(
        instruction=f"The goods on the delivery note delivery.txt have arrived. Add them to the "
        f"counts in {_STOCK}.",
        files={_STOCK: {"text": workbook({"Stock": rows})}, "delivery.txt": {"text": note}},
        changed={_STOCK: cells({"Stock": after(right)})},
        solve=types(right),
        alternatives={"in reverse": types(dict(reversed(right.items())))},
        mutants={"replaced": types(dict(came)), "not saved": types(right, False),
                 "one forgotten": types({at: right[at] for at in right if at != first}),
                 "one off": types({**right, first: right[first] + 1})},
        turns=40,
    )  # fmt: skip


def _order_list(scene: DesktopScene) -> DesktopDraft | None:
    goods = scene.sample(shared(GOODS, scene.split), scene.number(7, 9))
    rows: list[list[Any]] = [["Item", "Count", "Minimum", "Pack"]]
    rows += [[name, scene.number(1, 50), scene.number(10, 40), scene.pick([5, 10, 12])]
             for name in goods]  # fmt: skip
    low = [row for row in rows[1:] if row[1] < row[2]]
    if not 2 <= len(low) <= 4:
        return None

    def listed(packs: dict[str, int]) -> str:
        return lines(*(f"{packs[name]} packs {name}" for name in sorted(packs)))

    packs = {name: -((count - minimum) // size) for name, count, minimum, size in low}
    check = {}
    for name, count, minimum, size in low:
        number = 0
        while count + number * size < minimum:
            number += 1
        check[name] = number
    naive = {name: max((minimum - count) // size, 1) for name, count, minimum, size in low}
    if check != packs or naive == packs:
        return None

    def writes(content: str, path: str = "Documents/order.txt") -> DesktopSolver:
        return done(lambda pilot: save_new(pilot, path, content))

    right = listed(packs)
    return DesktopDraft(
        instruction=f"Write Documents/order.txt: for each item in {_STOCK} whose count is below "
        "its minimum, a line such as '3 packs rope', with the fewest packs (their size is in the "
        "column Pack) that bring the count to the minimum or above; in alphabetical order.",
        files={_STOCK: {"text": workbook({"Stock": rows})}},
        changed={"Documents/order.txt": text(right)},
        solve=writes(right),
        alternatives={"without the last line break": writes(right.removesuffix("\n"))},
        mutants={"rounded down": writes(listed(naive)),
                 "one short": writes(right.partition("\n")[2]),
                 "other folder": writes(right, "order.txt"),
                 "unsorted": writes(lines(*right.splitlines()[::-1]))},
        turns=40,
    )  # fmt: skip


def _book_receipts(scene: DesktopScene) -> DesktopDraft | None:
    books = books_of(scene, scene.number(7, 8))
    kept, listed = books.operations[:-3], list(books.operations[-3:])
    missing, present = listed[:2], kept[-1]
    if missing[0].account == present.account == missing[1].account:
        return None
    papers = scene.sample([*missing, present], 3)
    note = lines(*(
        f"{each.day:%d %B %Y}: {-each.amount:.2f} euros to {each.payee}, {each.memo}, "
        f"{each.category}, paid from {each.account}" for each in papers
    ))  # fmt: skip
    before = replace(books, operations=kept)

    def enters(*entries: Any) -> DesktopSolver:
        def make(pilot: DesktopPilot) -> Script:
            for entry in entries:
                yield from add_entry(pilot, _BOOKS, entry_fields(entry))

        return done(make)

    after = replace(books, operations=[*kept, *missing])
    off = replace(missing[0], amount=missing[0].amount - 1)
    return DesktopDraft(
        instruction=f"Enter the expenses in receipts.txt into {_BOOKS}, except those that are "
        "there already. The goods are the memo.",
        files={_BOOKS: {"text": before.text()}, "receipts.txt": {"text": note}},
        changed={_BOOKS: {"kind": "accounts", "content": after.content()}},
        solve=enters(*missing),
        alternatives={"in reverse": enters(*missing[::-1])},
        mutants={"all of them": enters(*missing, present), "one only": enters(missing[0]),
                 "one off": enters(off, missing[1])},
        turns=90,
    )  # fmt: skip


def _minutes(scene: DesktopScene) -> DesktopDraft:
    topics = [each.capitalize() for each in scene.sample(shared(TOPICS, scene.split), 3)]
    people = scene.sample(shared(PEOPLE, scene.split), 4)
    places = scene.sample(shared(PLACES, scene.split), 2)
    page = f"====== {topics[0]} ======\n" + lines(
        f"Moved to {places[0]}", f"Chair: {people[0]}", f"Later: moved on to {places[1]}",
        f"{people[0]} is ill, {people[1]} takes the chair",
    )  # fmt: skip
    texts = {"Home": "====== Home ======\nEverything is on pages of its own.\n", topics[0]: page,
             topics[1]: f"====== {topics[1]} ======\nChair: {people[2]}\n"}  # fmt: skip
    before = lines("Invitations", f"{topics[1]}: {people[2]}, {places[0]}")

    def adds(person: str, place: str) -> DesktopSolver:
        line = f"{topics[0]}: {person}, {place}"

        def make(pilot: DesktopPilot) -> Script:
            yield from open_page(pilot, "Notes", topics[0])
            yield from append_line(pilot, "invitations.txt", line)

        return done(make)

    right = f"{topics[0]}: {people[1]}, {places[1]}"
    return DesktopDraft(
        instruction=f"Add a line for the {topics[0]} at the end of invitations.txt, like the line "
        f"above it: who chairs it and where, as it stands now according to the page {topics[0]} "
        "of the notebook Notes.",
        files={**notebook("Notes", texts), "invitations.txt": {"text": before}},
        changed={"invitations.txt": text(before + right)},
        solve=adds(people[1], places[1]),
        alternatives={"rewritten": done(
            lambda pilot: rewrite(pilot, "invitations.txt", f"{before}{right}\n"))},
        mutants={"first chair": adds(people[0], places[1]), "first place": adds(
            people[1], places[0]), "other page": adds(people[2], places[1])},
        turns=30,
    )  # fmt: skip


def _inventory(scene: DesktopScene) -> DesktopDraft:
    topics = scene.sample(shared(TOPICS, scene.split), 6)
    present = topics[:4]
    rows: list[list[Any]] = [["File", "Present"], *([f"{topic}.txt", None]
                                                   for topic in sorted(topics))]  # fmt: skip
    path = "Documents/register.gnumeric"

    def answers(there: list[str]) -> dict[int, str]:
        return {at + 2: "yes" if topic in there else "no"
                for at, topic in enumerate(sorted(topics))}  # fmt: skip

    def types(there: list[str], save: bool = True) -> DesktopSolver:
        typed = {f"B{row}": word for row, word in answers(there).items()}

        def make(pilot: DesktopPilot) -> Script:
            yield from look_into(pilot, "Papers")
            yield from set_cells(pilot, path, typed, save=save)

        return done(make)

    after = [rows[0], *([row[0], answers(present)[at]] for at, row in enumerate(rows[1:], 2))]
    return DesktopDraft(
        instruction=f"In {path}, write yes or no into the column Present: whether the file is in "
        "the folder Papers.",
        files={**{f"Papers/{topic}.txt": {"text": f"On the {topic}\n"} for topic in present},
               f"Papers/{topics[5]}.csv": {"text": "1,2\n"},
               path: {"text": workbook({"Register": rows})}},
        changed={path: cells({"Register": after})},
        solve=types(present),
        alternatives={"checked twice": _twice(types(present))},
        mutants={"other ending counted": types([*present, topics[5]]),
                 "one wrong": types(present[1:]), "not saved": types(present, save=False)},
        turns=50,
    )  # fmt: skip


def _twice(solver: Any) -> DesktopSolver:
    def solve(pilot: DesktopPilot) -> Script:
        yield from look_into(pilot, "Papers")
        yield from solver(pilot)

    return solve


def _day(scene: DesktopScene) -> DesktopDraft | None:
    """Draw a list of requests in which later ones change or withdraw earlier ones."""
    goods = scene.sample(shared(GOODS, scene.split), 7)
    topics = scene.sample(shared(TOPICS, scene.split), 4)
    people = scene.sample(shared(PEOPLE, scene.split), 2)
    rows: list[list[Any]] = [["Item", "Count"], *([name, scene.number(10, 60)] for name in goods)]
    first, second, third = scene.sample(range(1, len(rows)), 3)
    counts = scene.sample(range(70, 99), 4)
    guests = lines(*people)
    guest = scene.pick([name for name in shared(PEOPLE, scene.split) if name not in people])
    requests = lines(
        f"1. Set the count of {rows[first][0]} in {_STOCK} to {counts[0]}.",
        f"2. Delete Documents/{topics[0]}.txt and Documents/{topics[1]}.txt.",
        f"3. Set the count of {rows[second][0]} in {_STOCK} to {counts[1]}.",
        f"4. Add {guest} as a last line to guests.txt.",
        f"5. On 1: we counted again, it is {counts[2]}.",
        f"6. On 2: keep {topics[1]}.txt, but {topics[2]}.txt can go.",
        f"7. Set the count of {rows[third][0]} in {_STOCK} to that of {rows[second][0]}.",
        "8. Forget 4, that guest is not coming.",
        f"9. On 3: make it {counts[3]}; 7 is to follow.",
    )
    right = {first: counts[2], second: counts[3], third: counts[3]}
    gone = [topics[0], topics[2]]

    def after(changes: dict[int, int]) -> list[list[Any]]:
        return [[name, changes.get(at, count)] for at, (name, count) in enumerate(rows)]

    def works(changes: dict[int, int], files: list[str], added: str = "") -> DesktopSolver:
        typed = {f"B{at + 1}": str(value) for at, value in changes.items()}

        def make(pilot: DesktopPilot) -> Script:
            yield from set_cells(pilot, _STOCK, typed)
            yield from look_into(pilot, "Documents")
            for topic in files:
                yield from delete(pilot, f"{topic}.txt")
            if added:
                yield from append_line(pilot, "guests.txt", added)

        return done(make)

    files = {f"Documents/{topic}.txt": {"text": f"On the {topic}\n"} for topic in topics}
    return DesktopDraft(
        instruction="Work through today.txt. Later points change earlier ones; only the "
        "final version of each counts.",
        files={**files, "today.txt": {"text": requests}, "guests.txt": {"text": guests},
               _STOCK: {"text": workbook({"Stock": rows})}},
        changed={_STOCK: cells({"Stock": after(right)})},
        deleted=[f"Documents/{topic}.txt" for topic in gone],
        solve=works(right, gone),
        alternatives={"in reverse": works(dict(reversed(right.items())), gone[::-1])},
        mutants={"first count": works({**right, first: counts[0]}, gone),
                 "7 before 9": works({**right, third: counts[1]}, gone),
                 "both files": works(right, [topics[0], topics[1]]),
                 "the guest, too": works(right, gone, guest),
                 "one more file": works(right, [*gone, topics[1]])},
        turns=70,
    )  # fmt: skip


TEMPLATES = (
    DesktopTemplate("sum-of-receipts", ("easy",), _sum_of_receipts),
    DesktopTemplate("delivery-note", ("medium",), _delivery_note),
    DesktopTemplate("order-list", ("hard",), _order_list),
    DesktopTemplate("book-receipts", ("hard",), _book_receipts),
    DesktopTemplate("invitation", ("medium",), _minutes),
    DesktopTemplate("inventory", ("medium",), _inventory),
    DesktopTemplate("working-list", ("hard",), _day),
)
