"""Pages of payments: transfers, payees and standing orders."""

import re
from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from hexathlon.tasks.web.world.blocks import block_page, paged, parse_cents
from hexathlon.tasks.web.world.exchange import WebResponse
from hexathlon.tasks.web.world.site import Call, get, post
from hexathlon.tasks.web.world.sites.bank.account_pages import labelled
from hexathlon.tasks.web.world.sites.bank.vocabulary import RHYTHMS, SPEEDS, bank_label
from hexathlon.tasks.web.world.store import StoreRow
from hexathlon.tasks.web.world.ui import FormField

__all__ = ["PaymentPages", "settle"]

SETTLING = 2
"""Actions after which a payee's bank sends a transfer back."""


class PaymentPages:
    """Handlers of payments."""

    @get("/transfer")
    def transfer(self, call: Call) -> WebResponse:
        """Show the transfer form."""
        return _transfer_page(call, {}, {})

    @get("/transfer/payee")
    def payee_details(self, call: Call) -> WebResponse:
        """Return the details of the chosen payee."""
        row = _payee(call, call.number("payee"))
        pairs = [] if row is None else [(call.words("account_number"), row["account"]),
                                        (call.words("note"), row["note"] or "–")]  # fmt: skip
        return call.fragment("payee.html", payee=row, pairs=pairs)

    @post("/transfer")
    def check_transfer(self, call: Call) -> WebResponse:
        """Check a transfer and go on to the confirmation."""
        values = {
            name: call.arg(name)
            for name in ("account", "payee", "amount", "purpose", "reference", "due", "speed")
        }
        errors = _transfer_errors(call, values)
        if errors:
            return _transfer_page(call, values, errors)
        call.store.execute("DELETE FROM _drafts WHERE person = ?", (call.login,))
        call.store.insert(
            "_drafts", person=call.login, account=values["account"], payee=call.number("payee"),
            amount=parse_cents(values["amount"]), purpose=values["purpose"],
            reference=values["reference"], due=values["due"], speed=values["speed"],
        )  # fmt: skip
        return call.redirect("/transfer/confirm")

    @get("/transfer/confirm")
    def confirmation(self, call: Call) -> WebResponse:
        """Show the transfer that would be made."""
        words, ui = call.words, call.ui
        draft = call.store.row("SELECT * FROM _drafts WHERE person = ?", (call.login,))
        payee = _payee(call, draft["payee"]) if draft else None
        if draft is None or payee is None:
            return call.redirect("/transfer")
        facts = ui.facts(
            [
                (words("from_account"), draft["account"]),
                (words("payee"), payee["name"]),
                (words("account_number"), payee["account"]),
                (words("amount"), ui.money(draft["amount"])),
                (words("purpose"), draft["purpose"]),
                (words("reference"), draft["reference"] or "–"),
                (words("due"), ui.date(draft["due"]) if draft["due"] else words("at_once")),
                (words("speed"), bank_label(draft["speed"], call.language)),
            ]
        )
        go = ui.confirm(
            words("send_transfer"),
            words("send_question", amount=ui.money(draft["amount"]), payee=payee["name"]),
            "/transfer/confirm",
            words("send_transfer"),
            kind="primary",
        )
        return block_page(call, words("check_transfer"), facts, go,
                          ui.link(words("back_to_form"), "/transfer"))  # fmt: skip

    @post("/transfer/confirm")
    def send(self, call: Call) -> WebResponse:
        """Make the transfer; the payee's bank may send it back a moment later."""
        draft = call.store.row("SELECT * FROM _drafts WHERE person = ?", (call.login,))
        payee = _payee(call, draft["payee"]) if draft else None
        if draft is None or payee is None:
            return call.redirect("/transfer")
        later = draft["due"] > call.clock.today.isoformat()
        number = call.store.insert(
            "transactions", account=draft["account"],
            booked=draft["due"] if later else call.clock.today.isoformat(),
            counterparty=payee["name"], counter_account=payee["account"], purpose=draft["purpose"],
            reference=draft["reference"], amount=-draft["amount"], fee=0,
            kind="instant" if draft["speed"] == "instant" else "transfer",
            state="scheduled" if later else "booked",
        )  # fmt: skip
        call.store.execute("DELETE FROM _drafts WHERE person = ?", (call.login,))
        if not later:
            call.store.execute("UPDATE accounts SET balance = balance - ? WHERE number = ?",
                               (draft["amount"], draft["account"]))  # fmt: skip
            call.later(SETTLING, "settle", str(number))
        path = f"/accounts/{draft['account'].replace(' ', '')}"
        return call.redirect(path, call.words("transfer_sent"))

    @get("/payees")
    def payees(self, call: Call) -> WebResponse:
        """List payees."""
        words, ui = call.words, call.ui
        where, values, kept = "person = ?", [call.login], ""
        if call.arg("q"):
            where += " AND name LIKE ?"
            values.append(f"%{call.arg('q')}%")
            kept = f"q={call.arg('q')}&"
        rows, pager = paged(
            call,
            f"SELECT * FROM payees WHERE {where} ORDER BY name, id",
            values,
            12,
            f"/payees?{kept}",
        )
        body = [
            [ui.link(row["name"], f"/payees/{row['id']}"), f"E{row['id']}", row["account"],
             row["note"] or "–", words("payee_blocked") if row["blocked"] else "–"]
            for row in rows
        ]  # fmt: skip
        columns = [words("payee"), words("payee_number"), words("account_number"), words("note"),
                   words("warning")]  # fmt: skip
        search = ui.form("/payees", [FormField("q", words("search"), "text", call.arg("q"))],
                         words("search"), method="get")  # fmt: skip
        return block_page(call, words("payees"), ui.table(columns, body), ui.pager(pager),
                          ui.link(words("new_payee"), "/payees/new"), side=search)  # fmt: skip

    @get("/payees/new")
    def new_payee(self, call: Call) -> WebResponse:
        """Show the form for a new payee."""
        return _payee_page(call, "/payees/new", {}, {})

    @post("/payees/new")
    def create_payee(self, call: Call) -> WebResponse:
        """Save a new payee."""
        values, errors = _payee_values(call)
        if errors:
            return _payee_page(call, "/payees/new", values, errors)
        call.store.insert("payees", person=call.login, blocked="",
                          added=call.clock.today.isoformat(), **values)  # fmt: skip
        return call.redirect("/payees", call.words("saved"))

    @get("/payees/{number:int}")
    def edit_payee(self, call: Call, number: int) -> WebResponse:
        """Show the form for a payee."""
        row = _payee(call, number)
        return call.not_found() if row is None else _payee_page(call, f"/payees/{number}", row, {})

    @post("/payees/{number:int}")
    def save_payee(self, call: Call, number: int) -> WebResponse:
        """Save changes to a payee."""
        if _payee(call, number) is None:
            return call.not_found()
        values, errors = _payee_values(call)
        if errors:
            return _payee_page(call, f"/payees/{number}", values, errors)
        call.store.execute("UPDATE payees SET name = ?, account = ?, note = ? WHERE id = ?",
                           (values["name"], values["account"], values["note"], number))  # fmt: skip
        return call.redirect("/payees", call.words("saved"))

    @get("/standing")
    def standing_orders(self, call: Call) -> WebResponse:
        """List standing orders."""
        words, ui = call.words, call.ui
        sql = (
            "SELECT s.* FROM standing s JOIN accounts a ON a.number = s.account WHERE a.person = ? "
            "ORDER BY s.payee, s.id"
        )
        rows, pager = paged(call, sql, (call.login,), 12, "/standing?")
        body = [
            [
                ui.link(row["payee"], f"/standing/{row['id']}"),
                f"S{row['id']}",
                row["purpose"],
                ui.money(row["amount"]),
                bank_label(row["rhythm"], call.language),
                ui.date(row["next"]),
                bank_label(row["state"], call.language),
            ]
            for row in rows
        ]
        columns = [words("payee"), words("standing_number"), words("purpose"), words("amount"),
                   words("rhythm"), words("next_day"), words("status")]  # fmt: skip
        return block_page(call, words("standing"), ui.table(columns, body), ui.pager(pager))

    @get("/standing/{number:int}")
    def standing_order(self, call: Call, number: int) -> WebResponse:
        """Show a standing order with its form."""
        row = _standing(call, number)
        return call.not_found() if row is None else _standing_page(call, row, {})

    @post("/standing/{number:int}")
    def save_standing(self, call: Call, number: int) -> WebResponse:
        """Change the amount, frequency, next day or state of a standing order."""
        row = _standing(call, number)
        if row is None:
            return call.not_found()
        amount, errors = parse_cents(call.arg("amount")), {}
        if not amount:
            errors["amount"] = call.words("amount_form")
        if call.arg("rhythm") not in RHYTHMS:
            errors["rhythm"] = call.words("required")
        if not re.fullmatch(r"\d{4}-\d\d-\d\d", call.arg("next")):
            errors["next"] = call.words("required")
        if call.arg("state") not in ("active", "paused", "ended"):
            errors["state"] = call.words("required")
        if row["bound"] > call.clock.today.isoformat():
            errors["amount"] = call.words("bound", day=call.date(row["bound"]))
        if errors:
            return _standing_page(call, row, errors)
        call.store.execute(
            "UPDATE standing SET amount = ?, rhythm = ?, next = ?, state = ? WHERE id = ?",
            (amount, call.arg("rhythm"), call.arg("next"), call.arg("state"), number),
        )
        return call.redirect("/standing", call.words("saved"))


def settle(call: Call, number: int) -> None:
    """Send a transfer back if the payee's account is closed."""
    row = call.store.row("SELECT * FROM transactions WHERE id = ?", (number,))
    if row is None or row["state"] != "booked":
        return
    if call.store.row("SELECT 1 FROM _closed WHERE account = ?", (row["counter_account"],)) is None:
        return
    call.store.execute("UPDATE transactions SET state = 'rejected' WHERE id = ?", (number,))
    call.store.execute("UPDATE accounts SET balance = balance - ? WHERE number = ?",
                       (row["amount"], row["account"]))  # fmt: skip
    person = call.store.value("SELECT person FROM accounts WHERE number = ?", (row["account"],))
    text = call.words("sent_back", payee=row["counterparty"], amount=call.ui.money(-row["amount"]))
    call.store.insert("_notices", person=person, kind="error", text=text)


def _payee(call: Call, number: int) -> StoreRow | None:
    return call.store.row("SELECT * FROM payees WHERE id = ? AND person = ?", (number, call.login))


def _standing(call: Call, number: int) -> StoreRow | None:
    return call.store.row(
        "SELECT s.*, a.name FROM standing s JOIN accounts a ON a.number = s.account WHERE s.id = ? "
        "AND a.person = ?",
        (number, call.login),
    )


def _transfer_errors(call: Call, values: Mapping[str, str]) -> dict[str, str]:
    words, errors = call.words, {}
    account = call.store.row("SELECT * FROM accounts WHERE number = ? AND person = ?",
                             (values["account"], call.login))  # fmt: skip
    payee = _payee(call, call.number("payee"))
    amount = parse_cents(values["amount"])
    if account is None:
        errors["account"] = words("required")
    if payee is None:
        errors["payee"] = words("required")
    elif payee["blocked"]:
        errors["payee"] = words("payee_refused", number=payee["id"])
    if not values["purpose"]:
        errors["purpose"] = words("required")
    if values["speed"] not in SPEEDS:
        errors["speed"] = words("required")
    if not amount:
        errors["amount"] = words("amount_form")
    elif account is not None and amount > account["balance"]:
        errors["amount"] = words("too_little", amount=call.ui.money(account["balance"]))
    elif account is not None and account["kind"] == "savings":
        left = _savings_left(call, account["number"])
        if amount > left:
            errors["amount"] = words("savings_limit", amount=call.ui.money(max(0, left)))
    if values["due"] and values["due"] < call.clock.today.isoformat():
        errors["due"] = words("past_day")
    return errors


def _savings_left(call: Call, number: str) -> int:
    month = call.clock.today.isoformat()[:7]
    spent = call.store.value(
        "SELECT coalesce(sum(-amount), 0) FROM transactions WHERE account = ? AND amount < 0 AND "
        "state != 'rejected' AND substr(booked, 1, 7) = ?",
        (number, month),
    )
    limit = call.store.value("SELECT value FROM _settings WHERE name = 'savings_month'")
    return int(limit - spent)


def _transfer_page(call: Call, values: Mapping[str, Any], errors: Mapping[str, str]) -> WebResponse:
    words = call.words
    accounts = call.store.rows(
        "SELECT * FROM accounts WHERE person = ? ORDER BY rowid", (call.login,)
    )
    payees = call.store.rows(
        "SELECT * FROM payees WHERE person = ? ORDER BY name, id", (call.login,)
    )
    fields = [
        FormField(
            "account",
            words("from_account"),
            "select",
            values.get("account", ""),
            [(row["number"], f"{row['name']} ({row['number'][-4:]})") for row in accounts],
            errors.get("account", ""),
        ),
        FormField(
            "amount",
            words("amount"),
            "text",
            values.get("amount", ""),
            error=errors.get("amount", ""),
            help=words("amount_form"),
        ),
        FormField(
            "purpose",
            words("purpose"),
            "text",
            values.get("purpose", ""),
            error=errors.get("purpose", ""),
        ),
        FormField("reference", words("reference"), "text", values.get("reference", "")),
        FormField(
            "due", words("due"), "picker", values.get("due", ""), error=errors.get("due", "")
        ),
        FormField(
            "speed",
            words("speed"),
            "radio",
            values.get("speed", "standard"),
            labelled(call, SPEEDS),
            errors.get("speed", ""),
        ),
        FormField(
            "payee",
            words("payee"),
            "select",
            values.get("payee", ""),
            [
                ("", "–"),
                *((str(row["id"]), f"{row['name']} ({row['account'][-4:]})") for row in payees),
            ],
            errors.get("payee", ""),
            depends=("/transfer/payee", "payee-place"),
        ),
    ]
    place = Markup('<div id="payee-place"></div>')
    form = call.ui.form("/transfer", fields, words("to_confirmation"), cancel="/", extra=place)
    return block_page(call, words("transfer"), form, status=422 if errors else 200)


def _payee_values(call: Call) -> tuple[dict[str, str], dict[str, str]]:
    values = {name: call.arg(name) for name in ("name", "account", "note")}
    errors = {name: call.words("required") for name in ("name",) if not values[name]}
    if not re.fullmatch(r"[A-Z]{2}\d\d( \d{4}){3}", values["account"]):
        errors["account"] = call.words("account_form")
    return values, errors


def _payee_page(
    call: Call, action: str, values: Mapping[str, Any], errors: Mapping[str, str]
) -> WebResponse:
    words = call.words
    fields = [
        FormField(
            "name", words("payee"), "text", values.get("name", ""), error=errors.get("name", "")
        ),
        FormField(
            "account",
            words("account_number"),
            "text",
            values.get("account", ""),
            error=errors.get("account", ""),
        ),
        FormField("note", words("note"), "text", values.get("note", "")),
    ]
    form = call.ui.form(action, fields, words("save"), cancel="/payees")
    return block_page(call, values.get("name") or words("new_payee"), form,
                      status=422 if errors else 200)  # fmt: skip


def _standing_page(call: Call, row: StoreRow, errors: Mapping[str, str]) -> WebResponse:
    words, ui = call.words, call.ui
    facts = ui.facts([
        (words("standing_number"), f"S{row['id']}"), (words("account"), row["name"]),
        (words("account_number"), row["payee_account"]), (words("purpose"), row["purpose"]),
        (words("under_contract"), ui.date(row["bound"]) if row["bound"] else "–"),
    ])  # fmt: skip
    fields = [
        FormField(
            "amount",
            words("amount"),
            "text",
            call.arg("amount") or f"{row['amount'] / 100:.2f}",
            error=errors.get("amount", ""),
        ),
        FormField(
            "rhythm",
            words("rhythm"),
            "select",
            call.arg("rhythm") or row["rhythm"],
            labelled(call, RHYTHMS),
            errors.get("rhythm", ""),
        ),
        FormField(
            "next",
            words("next_day"),
            "picker",
            call.arg("next") or row["next"],
            error=errors.get("next", ""),
        ),
        FormField(
            "state",
            words("status"),
            "select",
            call.arg("state") or row["state"],
            labelled(call, ("active", "paused", "ended")),
            errors.get("state", ""),
        ),
    ]
    form = ui.form(f"/standing/{row['id']}", fields, words("save"), cancel="/standing")
    return block_page(call, row["payee"], form, side=facts, status=422 if errors else 200)
