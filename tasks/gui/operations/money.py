"""Operations of the bank, the expenses and the shop."""

from collections.abc import Sequence
from typing import Any

from hexathlon.tasks.gui.operations.expected import ExpectedPhone
from hexathlon.tasks.gui.operations.finding import tab
from hexathlon.tasks.gui.operations.operation import PhoneOperation
from hexathlon.tasks.gui.pilot import NoSuchElement, PhonePilot
from hexathlon.tasks.gui.world.phone.core import PhoneRow
from hexathlon.tasks.gui.world.phone.money import cents_text, plain_cents
from hexathlon.tasks.source import Script

__all__ = ["STANDARD_FEE", "add_expense", "add_standing_order", "buy", "change_expense",
           "change_standing_order", "delete_expense", "dispute", "note_entry", "return_line",
           "set_budget", "tap_amount", "transfer"]  # fmt: skip

STANDARD_FEE = 390
"""The shop's fee for standard delivery, in cents."""


# Bank ------------------------------------------------------------------------------------------


def transfer(
    payee: PhoneRow, cents: int, reference: str, account: PhoneRow | None = None
) -> PhoneOperation:
    """Send money to a payee, from the first account by default."""

    def run(pilot: PhonePilot) -> Script:
        yield from pilot.open("bank")
        yield from pilot.create("bank", "transfer")
        if account is not None:
            yield from pilot.reveal("picker", pilot.words("bank", "from"))
            yield from pilot.tap("picker", pilot.words("bank", "from"))
            yield from _tap_beginning(pilot, f"{account['name']} · ")
        yield from pilot.choose(pilot.words("bank", "payee"),
                                f"{payee['name']} · {payee['number'][-4:]}")  # fmt: skip
        yield from pilot.fill(pilot.words("bank", "amount"), plain_cents(cents))
        yield from pilot.fill(pilot.words("bank", "reference"), reference)
        yield from pilot.tap_entry(pilot.words("bank", "continue"), "button")
        yield from pilot.tap("button", pilot.words("bank", "send"))

    def effect(phone: ExpectedPhone) -> None:
        key = account["id"] if account is not None else phone.rows("bank.accounts")[0]["id"]
        balance = phone.table("bank.accounts")[key]["balance"]
        if cents > balance:
            raise KeyError("the account does not hold enough")
        phone.add("bank.entries", account=key, day=phone.plan.start[:10], title=payee["name"],
                  amount=-cents, kind="transfer", reference=reference, note="", disputed="",
                  card=0, category="")  # fmt: skip
        phone.change("bank.accounts", key, balance=balance - cents)

    return PhoneOperation(run, effect, actions=11)


def _tap_beginning(pilot: PhonePilot, beginning: str) -> Script:
    """Tap the option that begins with a text."""
    option = next((each for each in pilot.elements()
                   if each.role == "item" and each.name.startswith(beginning)), None)  # fmt: skip
    if option is None:
        raise NoSuchElement(f"no option begins with {beginning!r}:\n{pilot.screen}")
    yield from pilot.act("click", index=option.index)


def tap_amount(pilot: PhonePilot, row: PhoneRow) -> Script:
    """Tap the entry with a row's title and amount, in a list of the bank or the expenses."""
    amount = cents_text(row["amount"], pilot.language)
    for _ in range(30):
        for element in pilot.elements():
            if element.role == "item" and element.title == row["title"] and (
                f"| {amount}" in element.name or f" {amount}" in f"{element.name} {element.rest}"
            ):  # fmt: skip
                yield from pilot.act("click", index=element.index)
                return
        if "scroll down" not in pilot.screen:
            break
        yield from pilot.act("scroll", direction="down")
    raise NoSuchElement(f"no entry {row['title']!r} of {amount}:\n{pilot.screen}")


def _to_entry(app: str, row: PhoneRow, pilot: PhonePilot) -> Script:
    """Open an entry by searching for its amount."""
    yield from pilot.open(app)
    yield from pilot.press(app, "search")
    yield from pilot.fill(pilot.words(app, "search"), plain_cents(abs(row["amount"])))
    yield from tap_amount(pilot, row)


def note_entry(entry: PhoneRow, text: str) -> PhoneOperation:
    """Write the note of an entry of the bank."""

    def run(pilot: PhonePilot) -> Script:
        yield from _to_entry("bank", entry, pilot)
        yield from pilot.tap_entry(entry["note"] or pilot.words("bank", "note"))
        yield from pilot.fill(pilot.words("bank", "note"), text)
        yield from pilot.press("bank", "save")

    return PhoneOperation(run, lambda phone: phone.change("bank.entries", entry["id"], note=text))


def dispute(entry: PhoneRow, reason: str) -> PhoneOperation:
    """Dispute a card payment: `unknown`, `amount`, `twice` or `returned`."""

    def run(pilot: PhonePilot) -> Script:
        yield from _to_entry("bank", entry, pilot)
        yield from pilot.tap_entry(pilot.words("bank", "dispute"), "button")
        yield from pilot.choose(pilot.words("bank", "reason"),
                                pilot.words("bank", f"reason_{reason}"))  # fmt: skip
        yield from pilot.tap_entry(pilot.words("bank", "send_dispute"), "button")

    return PhoneOperation(
        run, lambda phone: phone.change("bank.entries", entry["id"], disputed=reason)
    )


def add_standing_order(payee: PhoneRow, cents: int, reference: str, day: int) -> PhoneOperation:
    """Create a standing order from the first account."""

    def run(pilot: PhonePilot) -> Script:
        yield from tab("bank", "payments")(pilot)
        yield from pilot.tap_entry(pilot.words("bank", "new_order"), "button")
        yield from pilot.choose(pilot.words("bank", "payee"),
                                f"{payee['name']} · {payee['number'][-4:]}")  # fmt: skip
        yield from pilot.fill(pilot.words("bank", "amount"), plain_cents(cents))
        yield from pilot.fill(pilot.words("bank", "reference"), reference)
        yield from pilot.choose(pilot.words("bank", "month_day"), str(day))
        yield from pilot.press("bank", "save")

    def effect(phone: ExpectedPhone) -> None:
        phone.add("bank.standing", payee=payee["id"], amount=cents, reference=reference, day=day,
                  account=1, active=True)  # fmt: skip

    return PhoneOperation(run, effect)


def change_standing_order(order: PhoneRow, payee: PhoneRow, cents: int) -> PhoneOperation:
    """Change the amount of a payee's only standing order."""

    def run(pilot: PhonePilot) -> Script:
        yield from tab("bank", "payments")(pilot)
        yield from pilot.tap_entry(payee["name"])
        yield from pilot.press("bank", "edit")
        yield from pilot.fill(pilot.words("bank", "amount"), plain_cents(cents))
        yield from pilot.press("bank", "save")

    return PhoneOperation(
        run, lambda phone: phone.change("bank.standing", order["id"], amount=cents)
    )


# Expenses --------------------------------------------------------------------------------------


def add_expense(
    title: str, cents: int, category: str, *, day: str = "", method: str = "card", note: str = ""
) -> PhoneOperation:
    """Record an expense, of today by default."""

    def run(pilot: PhonePilot) -> Script:
        yield from pilot.open("expenses")
        yield from pilot.create("expenses", "new_entry")
        yield from pilot.fill(pilot.words("expenses", "title"), title)
        yield from pilot.fill(pilot.words("expenses", "amount"), plain_cents(cents))
        yield from pilot.choose(pilot.words("expenses", "category"),
                                pilot.words("expenses", category))  # fmt: skip
        if day:
            yield from pilot.pick_day(pilot.words("expenses", "day"), day)
        yield from pilot.choose(pilot.words("expenses", "method"),
                                pilot.words("expenses", method))  # fmt: skip
        if note:
            yield from pilot.fill(pilot.words("expenses", "note"), note)
        yield from pilot.press("expenses", "save")

    def effect(phone: ExpectedPhone) -> None:
        phone.add("expenses.entries", title=title, amount=cents, category=category,
                  day=day or phone.plan.start[:10], method=method, note=note,
                  receipt="")  # fmt: skip

    return PhoneOperation(run, effect)


def change_expense(entry: PhoneRow, **facts: Any) -> PhoneOperation:
    """Change an expense: `amount` in cents, `category`, `note` or `title`."""

    def run(pilot: PhonePilot) -> Script:
        yield from _to_entry("expenses", entry, pilot)
        yield from pilot.press("expenses", "edit")
        for field, value in facts.items():
            words = pilot.words("expenses", field)
            if field in ("category", "method"):
                yield from pilot.choose(words, pilot.words("expenses", value))
            else:
                yield from pilot.fill(words, plain_cents(value) if field == "amount" else value)
        yield from pilot.press("expenses", "save")

    return PhoneOperation(run, lambda phone: phone.change("expenses.entries", entry["id"], **facts))


def delete_expense(entry: PhoneRow) -> PhoneOperation:
    """Delete an expense."""

    def run(pilot: PhonePilot) -> Script:
        yield from _to_entry("expenses", entry, pilot)
        yield from pilot.press("expenses", "delete")
        yield from pilot.tap("button", pilot.words("expenses", "delete"))

    return PhoneOperation(run, lambda phone: phone.remove("expenses.entries", entry["id"]))


def set_budget(category: str, cents: int) -> PhoneOperation:
    """Set the monthly budget of a category."""

    def run(pilot: PhonePilot) -> Script:
        yield from tab("expenses", "tab_budgets")(pilot)
        yield from pilot.tap_entry(pilot.words("expenses", category))
        yield from pilot.fill(pilot.words("expenses", "limit"), plain_cents(cents))
        yield from pilot.tap("button", pilot.words("expenses", "save"))

    return PhoneOperation(
        run, lambda phone: phone.change("expenses.budgets", category, limit=cents)
    )


# Shop ------------------------------------------------------------------------------------------


def buy(
    items: Sequence[tuple[PhoneRow, int]], address: PhoneRow, *, express: bool = False,
    voucher: PhoneRow | None = None,
) -> PhoneOperation:  # fmt: skip
    """Order items with their quantities; the cart must be empty."""

    def run(pilot: PhonePilot) -> Script:
        for product, count in items:
            yield from pilot.open("shop")
            yield from pilot.press("shop", "search")
            yield from pilot.fill(pilot.words("shop", "search"),
                                  f"{product['title']} {product['variant']}")  # fmt: skip
            yield from pilot.tap_entry(f"{product['title']}, {product['variant']}")
            for _ in range(count):
                yield from pilot.tap_entry(pilot.words("shop", "to_cart"), "button")
        yield from _open_cart(pilot)
        yield from pilot.tap_entry(pilot.words("shop", "checkout"), "button")
        yield from pilot.tap_entry(f"{address['label']}: {address['text']}", "radio")
        if express:
            yield from _tap_delivery(pilot)
        if voucher is not None:
            yield from pilot.fill(pilot.words("shop", "code"), voucher["code"])
            yield from pilot.tap_entry(pilot.words("shop", "redeem"), "button")
        yield from pilot.tap_entry(pilot.words("shop", "buy"), "button")
        yield from pilot.tap("button", pilot.words("shop", "buy_now"))

    units = sum(count for _, count in items)
    return PhoneOperation(
        run, lambda phone: _bought(phone, items, address, express, voucher),
        actions=7 + 5 * len(items) + units,
    )  # fmt: skip


def _open_cart(pilot: PhonePilot) -> Script:
    """Open the cart, whose button shows the number of its items."""
    words = pilot.words("shop", "cart")
    shown = next(
        (
            each
            for each in pilot.elements()
            if each.role == "button"
            and any(each.name == word or each.name.startswith(f"{word} (") for word in words)
        ),
        None,
    )
    if shown is not None:
        yield from pilot.act("click", index=shown.index)
    else:
        yield from pilot.press("shop", "cart")


def _tap_delivery(pilot: PhonePilot) -> Script:
    words = pilot.words("shop", "express")
    for _ in range(6):
        for each in pilot.elements():
            if each.role == "radio" and any(each.name.startswith(word) for word in words):
                yield from pilot.act("click", index=each.index)
                return
        yield from pilot.act("scroll", direction="down")


def _bought(
    phone: ExpectedPhone, items: Sequence[tuple[PhoneRow, int]], address: PhoneRow, express: bool,
    voucher: PhoneRow | None,
) -> None:  # fmt: skip
    goods = sum(product["price"] * count for product, count in items)
    fee = 990 if express else STANDARD_FEE
    less = voucher["cents"] if voucher is not None else 0
    if voucher is not None and (goods < voucher["minimum"] or voucher["used"]):
        raise KeyError("the voucher does not apply")
    number = f"M-{70000 + 37 * len(phone.rows('shop.orders'))}"
    key = phone.add("shop.orders", number=number, day=phone.plan.start[:10], status="placed",
                    total=goods + fee - less, delivery="express" if express else "standard",
                    address=address["text"],
                    voucher=voucher["code"] if voucher is not None else "")  # fmt: skip
    for product, count in items:
        phone.add("shop.lines", order=key, product=product["id"], count=count,
                  price=product["price"], returned="")  # fmt: skip
    if voucher is not None:
        phone.change("shop.vouchers", voucher["id"], used=True)


def return_line(order: PhoneRow, line: PhoneRow, product: PhoneRow, reason: str) -> PhoneOperation:
    """Return an item of a delivered order: `broken`, `wrong` or `unwanted`."""

    def run(pilot: PhonePilot) -> Script:
        yield from tab("shop", "orders")(pilot)
        yield from pilot.tap_entry(order["number"])
        yield from pilot.tap_entry(f"{product['title']}, {product['variant']}")
        yield from pilot.choose(pilot.words("shop", "why"), pilot.words("shop", f"why_{reason}"))
        yield from pilot.tap_entry(pilot.words("shop", "send_back"), "button")

    return PhoneOperation(
        run, lambda phone: phone.change("shop.lines", line["id"], returned=reason)
    )
