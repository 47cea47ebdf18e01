"""Pages of cards: limits, use abroad and online, blocking."""

from hexathlon.tasks.web.world.blocks import block_page, parse_cents, section
from hexathlon.tasks.web.world.exchange import WebResponse
from hexathlon.tasks.web.world.site import Call, get, post
from hexathlon.tasks.web.world.sites.bank.account_pages import labelled
from hexathlon.tasks.web.world.sites.bank.vocabulary import BLOCK_REASONS, bank_label
from hexathlon.tasks.web.world.store import StoreRow
from hexathlon.tasks.web.world.ui import FormField

__all__ = ["CardPages"]

_MOST = 1_000_000


class CardPages:
    """Handlers of cards."""

    @get("/cards")
    def cards(self, call: Call) -> WebResponse:
        """List cards."""
        words, ui = call.words, call.ui
        rows = call.store.rows(
            "SELECT c.*, a.name AS account_name FROM cards c JOIN accounts a ON a.number = "
            "c.account "
            "WHERE a.person = ? ORDER BY c.rowid",
            (call.login,),
        )
        body = [
            [
                ui.link(row["name"], f"/cards/{row['number']}"),
                f"•••• {row['number']}",
                bank_label(row["kind"], call.language),
                row["account_name"],
                ui.badge(bank_label(row["state"], call.language)),
                ui.money(row["day_limit"]),
                ui.money(row["month_limit"]),
            ]
            for row in rows
        ]
        columns = [words(name) for name in ("card", "card_number", "kind", "account", "status",
                                            "day_limit", "month_limit")]  # fmt: skip
        return block_page(call, words("cards"), ui.table(columns, body))

    @get("/cards/{key}")
    def card(self, call: Call, key: str) -> WebResponse:
        """Show a card with its limits."""
        row = _card(call, key)
        return call.not_found() if row is None else _card_page(call, row, {})

    @post("/cards/{key}")
    def save_card(self, call: Call, key: str) -> WebResponse:
        """Save limits and permissions of a card."""
        row = _card(call, key)
        if row is None:
            return call.not_found()
        day, month = parse_cents(call.arg("day_limit")), parse_cents(call.arg("month_limit"))
        errors = {}
        for name, value in (("day_limit", day), ("month_limit", month)):
            if value is None or value > _MOST:
                errors[name] = call.words("amount_form")
        if day is not None and month is not None and day > month:
            errors["day_limit"] = call.words("day_above_month")
        if row["state"] != "active":
            errors["day_limit"] = call.words("card_blocked")
        if errors:
            return _card_page(call, row, errors)
        call.store.execute(
            "UPDATE cards SET day_limit = ?, month_limit = ?, abroad = ?, online = ? WHERE "
            "number = ?",
            (day, month, int(call.arg("abroad") == "1"), int(call.arg("online") == "1"), key),
        )
        return call.redirect(f"/cards/{key}", call.words("saved"))

    @post("/cards/{key}/block")
    def block(self, call: Call, key: str) -> WebResponse:
        """Block a card permanently."""
        row = _card(call, key)
        if row is None:
            return call.not_found()
        if call.arg("reason") not in BLOCK_REASONS:
            return call.redirect(f"/cards/{key}", call.words("required"), "error")
        call.store.execute(
            "UPDATE cards SET state = 'blocked', reason = ? WHERE number = ?",
            (call.arg("reason"), key),
        )
        return call.redirect(f"/cards/{key}", call.words("blocked_note"))


def _card(call: Call, key: str) -> StoreRow | None:
    return call.store.row(
        "SELECT c.*, a.name AS account_name FROM cards c JOIN accounts a ON a.number = c.account "
        "WHERE c.number = ? AND a.person = ?",
        (key, call.login),
    )


def _card_page(call: Call, row: StoreRow, errors: dict[str, str]) -> WebResponse:
    words, ui = call.words, call.ui
    facts = ui.facts(
        [
            (words("card_number"), f"•••• {row['number']}"),
            (words("kind"), bank_label(row["kind"], call.language)),
            (words("account"), row["account_name"]),
            (words("status"), bank_label(row["state"], call.language)),
        ]
    )
    sent = bool(errors)
    fields = [
        FormField("day_limit", words("day_limit"), "text",
                  call.arg("day_limit") if sent else f"{row['day_limit'] / 100:.2f}",
                  error=errors.get("day_limit", "")),
        FormField("month_limit", words("month_limit"), "text",
                  call.arg("month_limit") if sent else f"{row['month_limit'] / 100:.2f}",
                  error=errors.get("month_limit", "")),
        FormField("abroad", words("abroad"), "checkbox", row["abroad"]),
        FormField("online", words("online"), "checkbox", row["online"]),
    ]  # fmt: skip
    parts = [ui.form(f"/cards/{row['number']}", fields, words("save"), cancel="/cards")]
    if row["state"] == "active":
        reason = FormField(
            "reason", words("reason"), "select", "", [("", "–"), *labelled(call, BLOCK_REASONS)]
        )
        parts.append(
            section(
                words("block"),
                ui.confirm(
                    words("block"),
                    words("block_question"),
                    f"/cards/{row['number']}/block",
                    words("block"),
                    fields=[reason],
                ),
            )
        )
    return block_page(call, row["name"], *parts, side=facts, status=422 if errors else 200)
