"""Pages of expense claims and their approval."""

import re
from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from hexathlon.tasks.web.world.blocks import block_page, paged, parse_cents, section
from hexathlon.tasks.web.world.exchange import WebResponse
from hexathlon.tasks.web.world.site import Call, get, post
from hexathlon.tasks.web.world.sites.bank.account_pages import labelled
from hexathlon.tasks.web.world.sites.bank.vocabulary import (
    CATEGORIES,
    DECISION_CODES,
    bank_label,
)
from hexathlon.tasks.web.world.store import StoreRow
from hexathlon.tasks.web.world.ui import FormField

__all__ = ["ClaimPages", "is_approver"]

_PER_PAGE = 12
_STATES = ("submitted", "approved", "refused")


class ClaimPages:
    """Handlers of claims, projects and approvals."""

    @get("/claims")
    def claims(self, call: Call) -> WebResponse:
        """List the person's claims."""
        return self._list(call, "/claims", "c.person = ?", [call.login], call.words("claims"))

    @get("/claims/new")
    def new_claim(self, call: Call) -> WebResponse:
        """Show the claim form."""
        return _claim_form(call, {}, {})

    @get("/claims/new/project")
    def project_field(self, call: Call) -> WebResponse:
        """Return the projects that a category may be charged to."""
        field = _project_field(call, call.arg("category"), "", "")
        return call.fragment("field.html", field=field)

    @post("/claims/new")
    def create_claim(self, call: Call) -> WebResponse:
        """Submit a claim."""
        values = {
            name: call.arg(name)
            for name in (
                "title",
                "category",
                "spent",
                "amount",
                "project",
                "guests",
                "city",
                "note",
            )
        }
        errors = {
            name: call.words("required")
            for name in ("title", "city", "project")
            if not values[name]
        }
        if values["category"] not in CATEGORIES:
            errors["category"] = call.words("required")
        if not re.fullmatch(r"\d{4}-\d\d-\d\d", values["spent"]):
            errors["spent"] = call.words("required")
        elif values["spent"] > call.clock.today.isoformat():
            errors["spent"] = call.words("future_day")
        amount = parse_cents(values["amount"])
        if not amount:
            errors["amount"] = call.words("amount_form")
        receipt = call.request.files.get("receipt")
        named = receipt is not None and bool(receipt.filename)
        limit = call.store.value("SELECT value FROM _settings WHERE name = 'receipt_over'")
        if not named and (amount or 0) >= limit:
            errors["receipt"] = call.words("receipt_needed")
        if (
            call.store.row(
                "SELECT 1 FROM projects WHERE code = ? AND state = 'open'", (values["project"],)
            )
            is None
        ):
            errors["project"] = call.words("required")
        if errors:
            return _claim_form(call, values, errors)
        content = receipt.content.decode("utf-8", "replace") if named and receipt else ""
        number = call.store.insert(
            "claims", person=call.login, title=values["title"], category=values["category"],
            spent=values["spent"], amount=amount, project=values["project"],
            guests=call.number("guests"), city=values["city"],
            receipt=receipt.filename if named and receipt else "", content=content,
            state="submitted", approved=0, code="", note=values["note"],
            created=call.clock.today.isoformat(),
        )  # fmt: skip
        return call.redirect(f"/claims/{number}", call.words("claim_sent"))

    @get("/claims/{number:int}")
    def claim(self, call: Call, number: int) -> WebResponse:
        """Show one of the person's own claims."""
        row = _claim(call, number)
        if row is None or row["person"] != call.login:
            return call.not_found()
        actions: list[Markup] = []
        if row["state"] == "submitted":
            actions.append(
                call.ui.confirm(
                    call.words("withdraw"),
                    call.words("withdraw_question"),
                    f"/claims/{number}/withdraw",
                    call.words("withdraw"),
                )
            )
        return block_page(
            call, row["title"], _claim_facts(call, row), _receipt(call, row), *actions
        )

    @post("/claims/{number:int}/withdraw")
    def withdraw(self, call: Call, number: int) -> WebResponse:
        """Withdraw a claim that is still undecided."""
        row = _claim(call, number)
        if row is None or row["person"] != call.login or row["state"] != "submitted":
            return call.not_found()
        call.store.execute("DELETE FROM claims WHERE id = ?", (number,))
        return call.redirect("/claims", call.words("withdrawn"))

    @get("/projects")
    def projects(self, call: Call) -> WebResponse:
        """List projects."""
        words, ui = call.words, call.ui
        rows = call.store.rows(
            "SELECT p.*, a.name AS boss FROM projects p JOIN _accounts a ON a.login = p.manager "
            "ORDER BY p.code"
        )
        body = [[row["code"], row["name"], row["boss"], bank_label(row["category"], call.language),
                 bank_label(row["state"], call.language)] for row in rows]  # fmt: skip
        columns = [words(name) for name in ("project", "subject", "manager", "category", "status")]
        return block_page(call, words("projects"), ui.grid(columns, body))

    @get("/approvals")
    def approvals(self, call: Call) -> WebResponse:
        """List everybody's claims."""
        if not is_approver(call):
            return call.forbidden()
        return self._list(call, "/approvals", "1", [], call.words("approvals"))

    @get("/approvals/{number:int}")
    def approval(self, call: Call, number: int) -> WebResponse:
        """Show a claim with the decision forms."""
        if not is_approver(call):
            return call.forbidden()
        row = _claim(call, number)
        return call.not_found() if row is None else _decision_page(call, row, {})

    @post("/approvals/{number:int}")
    def decide(self, call: Call, number: int) -> WebResponse:
        """Approve or refuse a claim."""
        if not is_approver(call):
            return call.forbidden()
        row = _claim(call, number)
        if row is None or row["state"] != "submitted":
            return call.not_found()
        if row["person"] == call.login:
            return call.redirect(f"/approvals/{number}", call.words("own_claim"), "error")
        if call.arg("decision") == "refused":
            if call.arg("code") not in DECISION_CODES:
                return _decision_page(call, row, {"code": call.words("required")})
            values = ("refused", 0, call.arg("code"), number)
        else:
            amount = parse_cents(call.arg("approved"))
            if not amount or amount > row["amount"]:
                return _decision_page(call, row, {"approved": call.words("amount_form")})
            values = ("approved", amount, "", number)
        call.store.execute(
            "UPDATE claims SET state = ?, approved = ?, code = ? WHERE id = ?", values
        )
        return call.redirect("/approvals?state=submitted", call.words("decided", number=number))

    def _list(
        self, call: Call, path: str, where: str, values: list[Any], title: str
    ) -> WebResponse:
        words, ui, kept = call.words, call.ui, ""
        if call.arg("state") in _STATES:
            where += " AND c.state = ?"
            values.append(call.arg("state"))
            kept = f"state={call.arg('state')}&"
        if call.arg("q"):
            where += " AND (c.title LIKE ? OR c.city LIKE ? OR a.name LIKE ?)"
            values += [f"%{call.arg('q')}%"] * 3
            kept += f"q={call.arg('q')}&"
        sql = (
            "SELECT c.*, a.name FROM claims c JOIN _accounts a ON a.login = c.person "
            f"WHERE {where} ORDER BY c.created DESC, c.id DESC"
        )
        rows, pager = paged(call, sql, values, _PER_PAGE, f"{path}?{kept}")
        body = [
            [
                ui.link(row["title"], f"{path}/{row['id']}"),
                f"K{row['id']}",
                row["name"],
                bank_label(row["category"], call.language),
                ui.date(row["spent"]),
                ui.money(row["amount"]),
                ui.badge(bank_label(row["state"], call.language)),
            ]
            for row in rows
        ]
        fields = [
            FormField("q", words("search"), "text", call.arg("q")),
            FormField(
                "state",
                words("status"),
                "select",
                call.arg("state"),
                [("", words("all")), *labelled(call, _STATES)],
            ),
        ]
        columns = [
            words(name)
            for name in (
                "subject",
                "claim_number",
                "person",
                "category",
                "spent",
                "amount",
                "status",
            )
        ]
        return block_page(
            call,
            title,
            ui.table(columns, body),
            ui.pager(pager),
            side=ui.form(path, fields, words("filter"), method="get"),
        )


def is_approver(call: Call) -> bool:
    """Return whether the signed-in person decides on claims."""
    account = call.account()
    return account is not None and account["role"] == "approver"


def _claim(call: Call, number: int) -> StoreRow | None:
    return call.store.row(
        "SELECT c.*, a.name FROM claims c JOIN _accounts a ON a.login = c.person WHERE c.id = ?",
        (number,),
    )


def _claim_facts(call: Call, row: StoreRow) -> Markup:
    words, ui = call.words, call.ui
    return ui.facts(
        [
            (words("claim_number"), f"K{row['id']}"),
            (words("person"), row["name"]),
            (words("category"), bank_label(row["category"], call.language)),
            (words("spent"), ui.date(row["spent"])),
            (words("handed_in"), ui.date(row["created"])),
            (words("amount"), ui.money(row["amount"])),
            (words("project"), row["project"]),
            (words("guests"), row["guests"]),
            (words("city"), row["city"]),
            (words("note"), row["note"] or "–"),
            (words("status"), bank_label(row["state"], call.language)),
            (words("approved_amount"), ui.money(row["approved"])),
            (words("reason"), bank_label(row["code"], call.language) if row["code"] else "–"),
        ]
    )


def _receipt(call: Call, row: StoreRow) -> Markup:
    lines = Markup("").join(
        Markup("<li>{}</li>").format(line) for line in row["content"].splitlines()
    )
    body = Markup("<p>{}</p><ul>{}</ul>").format(row["receipt"] or call.words("no_receipt"), lines)
    return section(call.words("receipt"), body)


def _project_field(call: Call, category: str, value: str, error: str) -> FormField:
    rows = call.store.rows("SELECT * FROM projects WHERE state = 'open' ORDER BY code")
    if category == "supplies":
        rows.sort(key=lambda row: row["category"] != "supplies")
    options = [("", "–"), *((row["code"], f"{row['code']} {row['name']}") for row in rows)]
    return FormField("project", call.words("project"), "select", value, options, error)


def _claim_form(call: Call, values: Mapping[str, str], errors: Mapping[str, str]) -> WebResponse:
    words = call.words

    def field(name: str, kind: str, **more: Any) -> FormField:
        return FormField(name, words(name), kind, values.get(name, more.pop("value", "")),
                         error=errors.get(name, ""), **more)  # fmt: skip

    fields = [
        FormField("title", words("subject"), "text", values.get("title", ""),
                  error=errors.get("title", "")),
        field("spent", "date"), field("amount", "text", help=words("amount_form")),
        field("city", "text"), field("guests", "number", value="0", help=words("guests_help")),
        field("note", "text"), field("receipt", "file"),
        field("category", "select", options=[("", "–"), *labelled(call, CATEGORIES)],
              depends=("/claims/new/project", "project-place")),
    ]  # fmt: skip
    project = _project_field(
        call, values.get("category", ""), values.get("project", ""), errors.get("project", "")
    )
    place = Markup('<div id="project-place">{}</div>').format(call.ui.field(project))
    form = call.ui.form("/claims/new", fields, words("hand_in"), cancel="/claims", extra=place)
    return block_page(
        call,
        words("new_claim"),
        form,
        side=call.ui.link(words("rules"), "/rules/expenses"),
        status=422 if errors else 200,
    )


def _decision_page(call: Call, row: StoreRow, errors: Mapping[str, str]) -> WebResponse:
    words, ui = call.words, call.ui
    parts = [_claim_facts(call, row), _receipt(call, row)]
    if row["state"] == "submitted":
        action = f"/approvals/{row['id']}"
        approve = [
            FormField(
                "approved", words("approved_amount"), "text", "", error=errors.get("approved", "")
            )
        ]
        refuse = [
            FormField(
                "code",
                words("reason"),
                "select",
                "",
                [("", "–"), *labelled(call, DECISION_CODES)],
                errors.get("code", ""),
            )
        ]
        parts.append(ui.form(action, approve, words("approve"), hidden={"decision": "approved"}))
        parts.append(ui.form(action, refuse, words("refuse"), hidden={"decision": "refused"}))
    return block_page(call, row["title"], *parts, status=422 if errors else 200)
