"""Household accounts in the accounting program."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

from hexathlon.tasks.gui.desktop.documents import Books, Operation
from hexathlon.tasks.gui.desktop.draft import (
    DesktopDraft,
    DesktopScene,
    DesktopSolver,
    DesktopTemplate,
    Refusal,
)
from hexathlon.tasks.gui.desktop.pilot import DesktopPilot
from hexathlon.tasks.gui.desktop.templates.moves import (
    add_entry,
    change_entry,
    drop_entry,
    leave_account,
    open_account,
)
from hexathlon.tasks.gui.desktop.templates.parts import answering, done, finishing, refusing
from hexathlon.tasks.gui.desktop.words import GOODS, PEOPLE, PLACES, shared
from hexathlon.tasks.source import Script

__all__ = ["TEMPLATES", "books_of", "entry_fields"]

_PATH = "Documents/household.xhb"


def books_of(scene: DesktopScene, count: int) -> Books:
    """Draw books with two accounts and entries with distinct memos."""
    places = scene.sample(shared(PLACES, scene.split), 2)
    payees = scene.sample(shared(PEOPLE, scene.split), 5)
    memos = scene.sample(shared(GOODS, scene.split), count)
    accounts = [f"Bank {places[0]}", f"Cash {places[1]}"]
    categories = ["Food", "House", "Leisure", "Travel"]
    start = date(2026, 1, 5)
    operations = [
        Operation(start + timedelta(days=3 * at + scene.number(0, 2)),
                  -scene.number(100, 9900) / 100, scene.pick(accounts), scene.pick(payees),
                  scene.pick(categories), memo)
        for at, memo in enumerate(memos)
    ]  # fmt: skip
    return Books(accounts, payees, categories, operations)


def entry_fields(entry: Operation) -> dict[str, str]:
    """Return what to type into the expense dialog."""
    return {"day": f"{entry.day:%m/%d/%y}", "account": entry.account, "payee": entry.payee,
            "category": entry.category, "memo": entry.memo,
            "amount": f"{-entry.amount:.2f}"}  # fmt: skip


def _expected(books: Books, operations: Sequence[Operation]) -> dict[str, Any]:
    return {"kind": "accounts", "content": replace(books, operations=operations).content()}


def _add(scene: DesktopScene) -> DesktopDraft:
    books = books_of(scene, scene.number(5, 7))
    new = books.operations[-1]
    books = replace(books, operations=books.operations[:-1])
    other = next(name for name in books.accounts if name != new.account)
    payee = next(name for name in books.payees if name != new.payee)

    def adds(entry: Operation, save: bool = True) -> DesktopSolver:
        return done(lambda pilot: add_entry(pilot, _PATH, entry_fields(entry), save=save))

    def amount_first(pilot: DesktopPilot) -> Script:
        fields = entry_fields(new)
        yield from add_entry(pilot, _PATH, {"amount": fields.pop("amount"), **fields})

    return DesktopDraft(
        instruction=f"Enter an expense into {_PATH}: date {new.day:%d %B %Y}, "
        f"{-new.amount:.2f} euros, account {new.account}, payee {new.payee}, category "
        f"{new.category}, memo '{new.memo}'.",
        files={_PATH: {"text": books.text()}},
        changed={_PATH: _expected(books, [*books.operations, new])},
        solve=adds(new),
        alternatives={"amount first": done(amount_first)},
        mutants={"other account": adds(replace(new, account=other)),
                 "other payee": adds(replace(new, payee=payee)),
                 "a cent more": adds(replace(new, amount=new.amount - 0.01)),
                 "a day later": adds(replace(new, day=new.day + timedelta(days=1))),
                 "not saved": adds(new, save=False)},
        turns=50,
    )  # fmt: skip


def _in_account(account: str, moves: Any, *, save: bool = True) -> DesktopSolver:
    def make(pilot: DesktopPilot) -> Script:
        yield from open_account(pilot, _PATH, account)
        yield from moves(pilot)
        yield from leave_account(pilot, account, save=save)

    return done(make)


def _correct(scene: DesktopScene) -> DesktopDraft | None:
    books = books_of(scene, scene.number(6, 9))
    wrong, near = scene.sample(list(books.operations), 2)
    if near.account != wrong.account:
        return None
    amount = -scene.number(10_000, 19_999) / 100
    right = replace(wrong, amount=amount)
    after = [right if each is wrong else each for each in books.operations]

    def sets(entry: Operation, value: float, save: bool = True) -> DesktopSolver:
        fields = {"amount": f"{-value:.2f}"}
        return _in_account(
            entry.account, lambda pilot: change_entry(pilot, entry.memo, fields), save=save
        )

    def anew(pilot: DesktopPilot) -> Script:
        yield from open_account(pilot, _PATH, wrong.account)
        yield from drop_entry(pilot, wrong.memo)
        yield from leave_account(pilot, wrong.account)
        yield from add_entry(pilot, _PATH, entry_fields(right))

    return DesktopDraft(
        instruction=f"In {_PATH}, the expense with the memo '{wrong.memo}' should be "
        f"{-amount:.2f} euros. Correct it.",
        files={_PATH: {"text": books.text()}},
        changed={_PATH: _expected(books, after)},
        solve=sets(wrong, amount),
        alternatives={"entered anew": done(anew)},
        mutants={"other entry": sets(near, amount), "a cent less": sets(wrong, amount + 0.01),
                 "an income": _in_account(wrong.account, lambda pilot: _as_income(
                     pilot, wrong.memo, f"{-amount:.2f}")),
                 "not saved": sets(wrong, amount, save=False)},
        turns=60,
    )  # fmt: skip


def _as_income(pilot: DesktopPilot, memo: str, amount: str) -> Script:
    yield from pilot.click("table cell", memo)
    yield from pilot.click("push button", "Edit")
    yield from pilot.until("dialog", "Edit transaction")
    yield from pilot.click("spin button")
    yield from pilot.keys("ctrl+a")
    yield from pilot.type(f"{amount}\t")
    yield from pilot.click("radio button", "Income")
    yield from pilot.click("push button", "OK")
    yield from pilot.gone("dialog", "Edit transaction")


def _duplicate(scene: DesktopScene) -> DesktopDraft | None:
    books = books_of(scene, scene.number(7, 9))
    original, near, other = scene.sample(list(books.operations), 3)
    if original.account != near.account:
        return None
    receipt = scene.number(1000, 9999)
    late = original.day + timedelta(days=1)
    amount = original.amount if scene.feasible else original.amount - 0.5
    copied = replace(original, day=late, memo=f"receipt {receipt}", amount=amount)
    similar = replace(near, day=near.day + timedelta(days=1), memo=f"receipt {receipt + 1}",
                      amount=near.amount - 0.5 if scene.feasible else near.amount)  # fmt: skip
    operations = [*books.operations, copied, similar]
    books = replace(books, operations=operations)
    after = [each for each in operations if each is not copied]
    instruction = (
        f"In {_PATH}, the entry '{copied.memo}' may repeat the entry '{original.memo}'. Delete "
        f"'{copied.memo}' if both have the same payee, category and amount; else the record is "
        f"the amount of '{copied.memo}', such as 12.30."
    )

    def drops(entry: Operation, save: bool = True) -> DesktopSolver:
        return _in_account(entry.account, lambda pilot: drop_entry(pilot, entry.memo), save=save)

    right, refusal = drops(copied), refusing("different", f"{-copied.amount:.2f}")
    if not scene.feasible:
        return DesktopDraft(
            instruction=instruction,
            files={_PATH: {"text": books.text()}},
            refusal=Refusal("different", f"{-copied.amount:.2f}"),
            solve=refusal,
            alternatives={"with a full stop": refusing("different", f"{-copied.amount:.2f}.")},
            mutants={"deleted": right, "other amount": refusing(
                "different", f"{-original.amount:.2f}"), "complete": finishing()},
            turns=30,
        )  # fmt: skip
    return DesktopDraft(
        instruction=instruction,
        files={_PATH: {"text": books.text()}},
        changed={_PATH: _expected(books, after)},
        solve=right,
        alternatives={"the other dialog key": _in_account(
            copied.account, lambda pilot: _drop_by_key(pilot, copied.memo))},
        mutants={"the first one": drops(original), "the other repeat": drops(similar),
                 "refused": refusal, "not saved": drops(copied, save=False)},
        turns=30,
    )  # fmt: skip


def _drop_by_key(pilot: DesktopPilot, memo: str) -> Script:
    yield from pilot.click("table cell", memo)
    yield from pilot.click("push button", "Delete")
    yield from pilot.until("alert")
    yield from pilot.keys("alt+d")
    yield from pilot.gone("alert")


def _spent(scene: DesktopScene) -> DesktopDraft | None:
    books = books_of(scene, scene.number(9, 12))
    payee = scene.pick(books.payees)
    account = scene.pick(books.accounts)
    chosen = [each for each in books.operations
              if each.payee == payee and each.account == account]  # fmt: skip
    everywhere = [each for each in books.operations if each.payee == payee]
    if len(chosen) < 2 or len(chosen) == len(everywhere):
        return None
    cents = sum(round(-each.amount * 100) for each in chosen)
    total = f"{cents / 100:.2f}"
    if f"{-sum(each.amount for each in chosen):.2f}" != total:
        return None
    naive = f"{sum(round(-each.amount * 100) for each in everywhere) / 100:.2f}"
    return DesktopDraft(
        instruction=f"How much was paid to {payee} from the account {account} according to "
        f"{_PATH}? Answer with the amount, such as 12.30.",
        files={_PATH: {"text": books.text()}},
        answer=(total, f"{total} euros", f"{total} €", total.rstrip("0").rstrip(".")),
        solve=_looks(account, total),
        alternatives={"with the currency": _looks(account, f"{total} euros")},
        mutants={"both accounts": answering(naive),
                 "one entry": answering(f"{-chosen[0].amount:.2f}"),
                 "a cent more": answering(f"{(cents + 1) / 100:.2f}"),
                 "no answer": finishing()},
        turns=30,
    )  # fmt: skip


def _looks(account: str, answer: str) -> DesktopSolver:
    return done(lambda pilot: open_account(pilot, _PATH, account), answer)


def _move_categories(scene: DesktopScene) -> DesktopDraft | None:
    books = books_of(scene, scene.number(8, 10))
    payee = scene.pick(books.payees)
    account = scene.pick(books.accounts)
    new = scene.pick(books.categories)
    chosen = [each for each in books.operations if each.payee == payee
              and each.account == account and each.category != new]  # fmt: skip
    elsewhere = [each for each in books.operations if each.payee == payee
                 and each.account != account and each.category != new]  # fmt: skip
    if not 2 <= len(chosen) <= 3 or not elsewhere:
        return None
    after = [replace(each, category=new) if each in chosen else each for each in books.operations]

    def moves(
        entries: Sequence[Operation], category: str = new, save: bool = True
    ) -> DesktopSolver:
        def make(pilot: DesktopPilot) -> Script:
            for entry in entries:
                yield from change_entry(pilot, entry.memo, {"category": category})

        return _in_account(entries[0].account, make, save=save)

    other = next(name for name in books.categories if name != new)
    return DesktopDraft(
        instruction=f"In {_PATH}, put every expense paid to {payee} from the account {account} "
        f"into the category {new}.",
        files={_PATH: {"text": books.text()}},
        changed={_PATH: _expected(books, after)},
        solve=moves(chosen),
        alternatives={"in reverse": moves(chosen[::-1])},
        mutants={"one left": moves(chosen[1:]), "other account": moves(elsewhere),
                 "other category": moves(chosen, other), "not saved": moves(chosen, save=False)},
        turns=60,
    )  # fmt: skip


TEMPLATES = (
    DesktopTemplate("enter-expense", ("easy",), _add),
    DesktopTemplate("correct-amount", ("easy", "medium"), _correct),
    DesktopTemplate("repeated-entry", ("medium",), _duplicate, reason="different"),
    DesktopTemplate("paid-to", ("easy",), _spent),
    DesktopTemplate("change-category", ("hard",), _move_categories),
)
