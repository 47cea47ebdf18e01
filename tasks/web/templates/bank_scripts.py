"""Ways of using the bank, shared by the scripts of its tasks."""

from typing import Any

from hexathlon.tasks.source import Script
from hexathlon.tasks.web.pilot import Pilot
from hexathlon.tasks.web.world.network import Edit
from hexathlon.tasks.web.world.sites.bank.vocabulary import bank_label
from hexathlon.tasks.web.world.store import SiteStore, StoreRow

__all__ = [
    "account_path",
    "bank_words",
    "booked_row",
    "booking_edit",
    "dispute_booking",
    "next_id",
    "send_transfer",
    "user_accounts",
]


def bank_words(pilot: Pilot, key: str) -> tuple[str, ...]:
    """Return every wording of a label of the bank."""
    return pilot.words("bank", key)


def account_path(number: str) -> str:
    """Return the path of an account's page."""
    return f"/accounts/{number.replace(' ', '')}"


def user_accounts(store: SiteStore) -> list[StoreRow]:
    """Return the user's accounts in their order."""
    return store.rows("SELECT * FROM accounts ORDER BY rowid")


def next_id(store: SiteStore, table: str) -> int:
    """Return an id above the highest one of a table."""
    return 1 + int(store.value(f"SELECT coalesce(max(id), 0) FROM {table}"))


def booking_edit(
    number: int, account: str, booked: str, counterparty: str, purpose: str, amount: int, kind: str,
    other: str = "", state: str = "booked",
) -> Edit:  # fmt: skip
    """Return the edit that adds a booking."""
    sql = "INSERT INTO transactions VALUES (?, ?, ?, ?, ?, ?, '', ?, 0, ?, ?)"
    return (
        "bank",
        sql,
        (number, account, booked, counterparty, other, purpose, amount, kind, state),
    )


def send_transfer(
    pilot: Pilot, *, account: str, payee: int, amount: int, purpose: str, reference: str = "",
    speed: str = "standard",
) -> Script:  # fmt: skip
    """Fill in the transfer form and confirm it."""
    yield from pilot.goto("bank", "/transfer")
    yield from pilot.select(bank_words(pilot, "from_account"), account)
    yield from pilot.fill(bank_words(pilot, "amount"), f"{amount / 100:.2f}")
    yield from pilot.fill(bank_words(pilot, "purpose"), purpose)
    if reference:
        yield from pilot.fill(bank_words(pilot, "reference"), reference)
    if speed != "standard":
        yield from pilot.click("radio", bank_label(speed, pilot.language))
    yield from pilot.select(bank_words(pilot, "payee"), str(payee))
    yield from pilot.click("button", bank_words(pilot, "to_confirmation"))
    yield from pilot.click("button", bank_words(pilot, "send_transfer"))
    yield from pilot.click("button", bank_words(pilot, "send_transfer"))


def booked_row(
    account: str, day: str, payee: StoreRow, amount: int, purpose: str, *, reference: str = "",
    state: str = "booked", speed: str = "standard",
) -> dict[str, Any]:  # fmt: skip
    """Expect a transfer as a new booking."""
    kind = "instant" if speed == "instant" else "transfer"
    return {"account": account, "booked": day, "counterparty": payee["name"],
            "counter_account": payee["account"], "purpose": purpose, "reference": reference,
            "amount": -amount, "fee": 0, "kind": kind, "state": state}  # fmt: skip


def dispute_booking(pilot: Pilot, number: int, reason: str, amount: int) -> Script:
    """Dispute a booking."""
    yield from pilot.goto("bank", f"/bookings/{number}")
    yield from pilot.select(bank_words(pilot, "reason"), bank_label(reason, pilot.language))
    yield from pilot.fill(bank_words(pilot, "disputed_amount"), f"{amount / 100:.2f}")
    yield from pilot.click("button", bank_words(pilot, "dispute"))
