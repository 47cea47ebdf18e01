"""Pages of accounts: overview, bookings, disputes, messages and rules."""

from typing import Any
from urllib.parse import urlencode

from markupsafe import Markup

from hexathlon.tasks.web.world.blocks import (
    block_page,
    paged,
    paragraphs,
    parse_cents,
    section,
)
from hexathlon.tasks.web.world.exchange import WebResponse
from hexathlon.tasks.web.world.site import Call, get, post
from hexathlon.tasks.web.world.sites.bank.vocabulary import DISPUTE_REASONS, KINDS, bank_label
from hexathlon.tasks.web.world.store import StoreRow
from hexathlon.tasks.web.world.ui import FormField

__all__ = ["BookingPages", "labelled"]

_PER_PAGE = 20


def labelled(call: Call, values: Any) -> list[tuple[str, str]]:
    """Return values with their labels, for a select element."""
    return [(value, bank_label(value, call.language)) for value in values]


class BookingPages:
    """Handlers of accounts and their bookings."""

    @get("/")
    def overview(self, call: Call) -> WebResponse:
        """Show accounts, with the last digits of their numbers, and the newest messages."""
        words, ui = call.words, call.ui
        rows = call.store.rows(
            "SELECT * FROM accounts WHERE person = ? ORDER BY rowid", (call.login,)
        )
        body = [
            [
                ui.link(row["name"], _path(row["number"])),
                bank_label(row["kind"], call.language),
                f"•••• {row['number'][-4:]}",
                ui.money(row["balance"]),
            ]
            for row in rows
        ]
        news = call.store.rows(
            "SELECT * FROM messages WHERE person = ? ORDER BY day DESC, id DESC LIMIT 3",
            (call.login,),
        )
        lines = [
            [ui.link(row["subject"], f"/messages/{row['id']}"), ui.date(row["day"])] for row in news
        ]
        columns = [words("account"), words("kind"), words("account_number"), words("balance")]
        return block_page(
            call,
            words("overview"),
            ui.table(columns, body),
            section(words("messages"), ui.table([words("subject"), words("day")], lines)),
        )

    @get("/accounts/{key}")
    def account(self, call: Call, key: str) -> WebResponse:
        """List the bookings of an account."""
        account = _account(call, key)
        if account is None:
            return call.not_found()
        words, ui = call.words, call.ui
        where, values, kept = _filters(call, account["number"])
        path = _path(account["number"])
        sql = f"SELECT * FROM transactions WHERE {where} ORDER BY booked DESC, id DESC"
        base = f"{path}?" + (urlencode(kept) + "&" if kept else "")
        rows, pager = paged(call, sql, values, _PER_PAGE, base)
        body = [
            [
                ui.link(f"{row['counterparty']}", f"/bookings/{row['id']}"),
                ui.date(row["booked"]),
                row["purpose"],
                bank_label(row["kind"], call.language),
                bank_label(row["state"], call.language),
                ui.money(row["amount"]),
            ]
            for row in rows
        ]
        fields = [
            FormField("q", words("search"), "text", call.arg("q")),
            FormField("first", words("from_day"), "date", call.arg("first")),
            FormField("last", words("to_day"), "date", call.arg("last")),
            FormField(
                "kind",
                words("kind"),
                "select",
                call.arg("kind"),
                [("", words("all")), *labelled(call, KINDS)],
            ),
        ]
        columns = [words("counterparty"), words("day"), words("purpose"), words("kind"),
                   words("status"), words("amount")]  # fmt: skip
        facts = ui.facts(
            [
                (words("account_number"), account["number"]),
                (words("balance"), ui.money(account["balance"])),
            ]
        )
        export = ui.link(words("export"), f"{path}/export?{urlencode(kept)}", download=True)
        return block_page(
            call,
            account["name"],
            ui.grid(columns, body),
            ui.pager(pager),
            export,
            side=Markup("").join((facts, ui.form(path, fields, words("filter"), method="get"))),
        )

    @get("/accounts/{key}/export")
    def export(self, call: Call, key: str) -> WebResponse:
        """Download the filtered bookings."""
        account = _account(call, key)
        if account is None:
            return call.not_found()
        where, values, _ = _filters(call, account["number"])
        rows = call.store.rows(
            f"SELECT * FROM transactions WHERE {where} ORDER BY booked, id", values
        )
        names = ("id", "booked", "counterparty", "purpose", "reference", "kind", "state")
        lines = [";".join((*names, "amount"))]
        lines += [
            ";".join([*(str(row[name]) for name in names), f"{row['amount'] / 100:.2f}"])
            for row in rows
        ]
        return call.download(f"bookings-{account['number'][-4:]}.csv", "\n".join(lines) + "\n")

    @get("/bookings/{number:int}")
    def booking(self, call: Call, number: int) -> WebResponse:
        """Show a booking and the form to dispute it."""
        row = _booking(call, number)
        return call.not_found() if row is None else _booking_page(call, row, {})

    @post("/bookings/{number:int}/dispute")
    def dispute(self, call: Call, number: int) -> WebResponse:
        """Dispute a booking."""
        row = _booking(call, number)
        if row is None:
            return call.not_found()
        errors = {}
        if call.arg("reason") not in DISPUTE_REASONS:
            errors["reason"] = call.words("required")
        amount = parse_cents(call.arg("amount"))
        if not amount or amount > abs(row["amount"]):
            errors["amount"] = call.words("amount_form")
        if call.store.row("SELECT id FROM disputes WHERE txn = ?", (number,)):
            errors["reason"] = call.words("disputed_before")
        if errors:
            return _booking_page(call, row, errors)
        call.store.insert("disputes", txn=number, reason=call.arg("reason"), amount=amount,
                          note=call.arg("note"), created=call.clock.stamp)  # fmt: skip
        return call.redirect(f"/bookings/{number}", call.words("dispute_sent"))

    @get("/messages")
    def messages(self, call: Call) -> WebResponse:
        """List messages, newest first."""
        words, ui = call.words, call.ui
        sql = "SELECT * FROM messages WHERE person = ? ORDER BY day DESC, id DESC"
        rows, pager = paged(call, sql, (call.login,), 10, "/messages?")
        body = [
            [ui.link(row["subject"], f"/messages/{row['id']}"), row["sender"], ui.date(row["day"])]
            for row in rows
        ]
        columns = [words("subject"), words("sender"), words("day")]
        return block_page(call, words("messages"), ui.table(columns, body), ui.pager(pager))

    @get("/messages/{number:int}")
    def message(self, call: Call, number: int) -> WebResponse:
        """Show a message."""
        row = call.store.row(
            "SELECT * FROM messages WHERE id = ? AND person = ?", (number, call.login)
        )
        if row is None:
            return call.not_found()
        facts = call.ui.facts(
            [(call.words("sender"), row["sender"]), (call.words("day"), call.date(row["day"]))]
        )
        return block_page(call, row["subject"], paragraphs(row["body"]), side=facts)

    @get("/rules")
    def rules(self, call: Call) -> WebResponse:
        """List the rule pages."""
        rows = call.store.rows("SELECT * FROM rules ORDER BY key")
        body = [
            [call.ui.link(row["title"], f"/rules/{row['key']}"), call.date(row["since"])]
            for row in rows
        ]
        columns = [call.words("subject"), call.words("since")]
        return block_page(call, call.words("rules"), call.ui.table(columns, body))

    @get("/rules/{key}")
    def rule(self, call: Call, key: str) -> WebResponse:
        """Show one rule page."""
        row = call.store.row("SELECT * FROM rules WHERE key = ?", (key,))
        if row is None:
            return call.not_found()
        since = Markup("<p>{}: {}</p>").format(call.words("since"), call.date(row["since"]))
        return block_page(call, row["title"], paragraphs(row["body"]), since)


def _path(number: str) -> str:
    return f"/accounts/{number.replace(' ', '')}"


def _account(call: Call, key: str) -> StoreRow | None:
    return call.store.row(
        "SELECT * FROM accounts WHERE replace(number, ' ', '') = ? AND person = ?",
        (key, call.login),
    )


def _booking(call: Call, number: int) -> StoreRow | None:
    return call.store.row(
        "SELECT t.*, a.name FROM transactions t JOIN accounts a ON a.number = t.account "
        "WHERE t.id = ? AND a.person = ?",
        (number, call.login),
    )


def _filters(call: Call, number: str) -> tuple[str, list[Any], dict[str, str]]:
    where, values, kept = "account = ?", [number], {}
    if call.arg("q"):
        where += " AND (counterparty LIKE ? OR purpose LIKE ? OR reference LIKE ?)"
        values += [f"%{call.arg('q')}%"] * 3
        kept["q"] = call.arg("q")
    for name, condition in (
        ("first", "booked >= ?"),
        ("last", "booked <= ?"),
        ("kind", "kind = ?"),
    ):
        if call.arg(name):
            where += f" AND {condition}"
            values.append(call.arg(name))
            kept[name] = call.arg(name)
    return where, values, kept


def _booking_page(call: Call, row: StoreRow, errors: dict[str, str]) -> WebResponse:
    words, ui = call.words, call.ui
    facts = ui.facts(
        [
            (words("booking_number"), row["id"]),
            (words("account"), row["name"]),
            (words("counterparty"), row["counterparty"]),
            (words("account_number"), row["counter_account"]),
            (words("day"), ui.date(row["booked"])),
            (words("purpose"), row["purpose"]),
            (words("reference"), row["reference"] or "–"),
            (words("kind"), bank_label(row["kind"], call.language)),
            (words("status"), bank_label(row["state"], call.language)),
            (words("fee"), ui.money(row["fee"])),
            (words("amount"), ui.money(row["amount"])),
        ]
    )
    fields = [
        FormField("reason", words("reason"), "select", call.arg("reason"),
                  [("", "–"), *labelled(call, DISPUTE_REASONS)], errors.get("reason", "")),
        FormField("amount", words("disputed_amount"), "text", call.arg("amount"),
                  error=errors.get("amount", ""), help=words("amount_form")),
        FormField("note", words("note"), "text", call.arg("note")),
    ]  # fmt: skip
    form = ui.form(f"/bookings/{row['id']}/dispute", fields, words("dispute"))
    if call.store.row("SELECT id FROM disputes WHERE txn = ?", (row["id"],)) and not errors:
        form = Markup("<p>{}</p>").format(words("disputed_before"))
    return block_page(
        call,
        row["counterparty"],
        facts,
        section(words("dispute"), form),
        status=422 if errors else 200,
    )
