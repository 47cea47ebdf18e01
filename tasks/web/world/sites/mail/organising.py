"""Pages that organise mail: bulk actions, labels, folders, filters, contacts and absence."""

from collections.abc import Mapping
from typing import Any

from hexathlon.tasks.web.world.exchange import WebResponse
from hexathlon.tasks.web.world.site import Call, get, post
from hexathlon.tasks.web.world.sites.mail.reading import folder_names, visible_message
from hexathlon.tasks.web.world.sites.mail.vocabulary import ACTIONS, FIELDS, FOLDERS
from hexathlon.tasks.web.world.ui import FormField, Pager

__all__ = ["MailOrganising"]

_CONTACTS_PER_PAGE = 20
_CONTACT_FIELDS = ("name", "email", "company", "role", "phone", "note")


class MailOrganising:
    """Handlers of pages that sort mail and keep the address book."""

    @post("/apply")
    def apply(self, call: Call) -> WebResponse:
        """Apply an action to the selected messages of a list."""
        back = call.arg("back")
        back = back if back.startswith("/") and not back.startswith("//") else "/folder/inbox"
        numbers = [int(each) for each in call.args("id") if each.isdecimal()]
        action, target = call.arg("action"), call.arg("target")
        if not numbers:
            return call.redirect(back, call.words("nothing_ticked"), "error")
        problem = _apply(call, numbers, action, target)
        if problem:
            return call.redirect(back, problem, "error")
        return call.redirect(back, call.words("applied", count=len(numbers)))

    @get("/labels")
    def labels(self, call: Call) -> WebResponse:
        """List labels and folders."""
        labels = call.store.rows(
            "SELECT l.name, (SELECT count(*) FROM tagged g WHERE g.label = l.name) AS count "
            "FROM labels l ORDER BY l.name"
        )
        folders = call.store.rows("SELECT name FROM folders ORDER BY name")
        return call.page("labels.html", labels=labels, folders=folders)

    @post("/labels")
    def new_label(self, call: Call) -> WebResponse:
        """Add a label or a folder."""
        table = "folders" if call.arg("kind") == "folder" else "labels"
        name = call.arg("name")
        known = call.store.row(
            "SELECT name FROM labels WHERE name = ? UNION SELECT name FROM folders WHERE name = ?",
            (name, name),
        )
        if not name or known or name in FOLDERS:
            problem = call.words("name_taken") if name else call.words("required")
            return call.redirect("/labels", problem, "error")
        call.store.insert(table, name=name)
        return call.redirect("/labels", call.words("saved"))

    @get("/filters")
    def filters(self, call: Call) -> WebResponse:
        """List filters."""
        return call.page("filters.html", filters=call.store.rows("SELECT * FROM filters"))

    @get("/filters/new")
    def filter_form(self, call: Call) -> WebResponse:
        """Show the form for a new filter."""
        return call.page("filter.html", fields=_filter_fields(call, {}))

    @post("/filters/new")
    def new_filter(self, call: Call) -> WebResponse:
        """Add a filter; if requested, apply it to the inbox."""
        contains, action, target = call.arg("contains"), call.arg("action"), call.arg("target")
        field = call.arg("field")
        problems = {} if contains else {"contains": call.words("required")}
        if action in ("move", "label") and not _fits(call, action, target):
            problems["target"] = call.words("choose_target")
        if problems or field not in FIELDS or action not in ACTIONS:
            return call.page("filter.html", 422, fields=_filter_fields(call, problems))
        target = target if action in ("move", "label") else ""
        call.store.insert("filters", field=field, contains=contains, action=action, target=target)
        if call.arg("existing"):
            rows = call.store.rows(
                f"SELECT id FROM messages WHERE folder = 'inbox' AND sent <= ? AND {field} LIKE ?",
                (call.clock.stamp, f"%{contains}%"),
            )
            _apply(call, [row["id"] for row in rows], action, target)
        return call.redirect("/filters", call.words("saved"))

    @post("/filters/{number:int}/delete")
    def delete_filter(self, call: Call, number: int) -> WebResponse:
        """Delete a filter."""
        call.store.execute("DELETE FROM filters WHERE id = ?", (number,))
        return call.redirect("/filters", call.words("deleted"))

    @get("/contacts")
    def contacts(self, call: Call) -> WebResponse:
        """List the address book."""
        text = call.arg("q")
        where = "name LIKE ? OR email LIKE ? OR company LIKE ?"
        values = [f"%{text}%"] * 3
        total = call.store.value(f"SELECT count(*) FROM contacts WHERE {where}", values)
        pages = max(1, -(-total // _CONTACTS_PER_PAGE))
        page = min(max(1, call.number("page", 1)), pages)
        rows = call.store.rows(
            f"SELECT * FROM contacts WHERE {where} ORDER BY name, id LIMIT ? OFFSET ?",
            (*values, _CONTACTS_PER_PAGE, (page - 1) * _CONTACTS_PER_PAGE),
        )
        field = FormField("q", call.words("search"), "text", text)
        return call.page(
            "contacts.html",
            contacts=rows,
            field=field,
            pager=Pager(page, pages, total, f"/contacts?q={text}&"),
        )

    @get("/contacts/{number:int}")
    def contact(self, call: Call, number: int) -> WebResponse:
        """Show a contact."""
        row = call.store.row("SELECT * FROM contacts WHERE id = ?", (number,))
        if row is None:
            return call.not_found()
        return call.page("contact.html", contact=row, fields=_contact_fields(call, row, {}))

    @post("/contacts/{number:int}")
    def edit_contact(self, call: Call, number: int) -> WebResponse:
        """Change a contact."""
        row = call.store.row("SELECT * FROM contacts WHERE id = ?", (number,))
        if row is None:
            return call.not_found()
        sent = {name for name, _ in call.request.form}
        values = {name: call.arg(name) if name in sent else row[name] for name in _CONTACT_FIELDS}
        problems = {name: call.words("required") for name in ("name", "email") if not values[name]}
        if problems:
            fields = _contact_fields(call, values, problems)
            return call.page("contact.html", 422, contact=row, fields=fields)
        for name, value in values.items():
            call.store.execute(f"UPDATE contacts SET {name} = ? WHERE id = ?", (value, number))
        return call.redirect(f"/contacts/{number}", call.words("saved"))

    @get("/absence")
    def absence(self, call: Call) -> WebResponse:
        """Show the settings of the out-of-office reply."""
        row = call.store.row("SELECT * FROM absence") or {}
        return call.page("absence.html", fields=_absence_fields(call, row, {}))

    @post("/absence")
    def set_absence(self, call: Call) -> WebResponse:
        """Change the out-of-office reply."""
        values = {name: call.arg(name) for name in ("first_day", "last_day", "text")}
        ticks = {name: int(bool(call.arg(name))) for name in ("enabled", "contacts_only")}
        problems = {}
        if ticks["enabled"]:
            problems = {name: call.words("required") for name, value in values.items() if not value}
            if not problems and values["last_day"] < values["first_day"]:
                problems["last_day"] = call.words("ends_before")
        if problems:
            fields = _absence_fields(call, {**values, **ticks}, problems)
            return call.page("absence.html", 422, fields=fields)
        call.store.execute(
            "UPDATE absence SET enabled = ?, first_day = ?, last_day = ?, text = ?, "
            "contacts_only = ?",
            (ticks["enabled"], *values.values(), ticks["contacts_only"]),
        )
        return call.redirect("/absence", call.words("saved"))


def _fits(call: Call, action: str, target: str) -> bool:
    table = "labels" if "label" in action else "folders"
    return call.store.row(f"SELECT name FROM {table} WHERE name = ?", (target,)) is not None


def _apply(call: Call, numbers: list[int], action: str, target: str) -> str:
    """Apply an action to messages; return the problem, or an empty text."""
    if action not in ACTIONS:
        return call.words("choose_target")
    if action in ("move", "label", "unlabel") and not _fits(call, action, target):
        return call.words("choose_target")
    if action in FOLDERS or action == "move":
        column, value = "folder", target if action == "move" else action
    elif action in ("star", "unstar"):
        column, value = "starred", str(int(action == "star"))
    else:
        column, value = "", target
    for number in numbers:
        message = visible_message(call, number)
        if message is None or message["folder"] == "drafts":
            continue
        if column:
            call.store.execute(f"UPDATE messages SET {column} = ? WHERE id = ?", (value, number))
            continue
        known = call.store.value(
            "SELECT id FROM tagged WHERE message = ? AND label = ?", (number, value)
        )
        if action == "label" and known is None:
            call.store.insert("tagged", message=number, label=value)
        elif action == "unlabel" and known is not None:
            call.store.execute("DELETE FROM tagged WHERE id = ?", (known,))
    return ""


def _filter_fields(call: Call, problems: Mapping[str, str]) -> list[FormField]:
    words = call.words
    labels = [row["name"] for row in call.store.rows("SELECT name FROM labels ORDER BY name")]
    own = [name for name in folder_names(call) if name not in FOLDERS]
    none = ("", words("not_chosen"))
    return [
        FormField("field", words("filter_field"), "select", call.arg("field") or "sender",
              [(each, words(f"field_{each}")) for each in FIELDS]),
        FormField("contains", words("contains"), "text", call.arg("contains"),
              error=problems.get("contains", "")),
        FormField("action", words("filter_action"), "select", call.arg("action") or "label",
              [(each, words(f"do_{each}")) for each in ("label", "move", "archive", "star",
                                                        "trash")]),
        FormField("target", words("target"), "select", call.arg("target"),
              [none, *((name, name) for name in (*own, *labels))],
              error=problems.get("target", "")),
        FormField("existing", words("existing"), "checkbox", call.arg("existing")),
    ]  # fmt: skip


def _contact_fields(
    call: Call, values: Mapping[str, Any], problems: Mapping[str, str]
) -> list[FormField]:
    return [
        FormField(
            name,
            call.words(f"contact_{name}"),
            "textarea" if name == "note" else "text",
            values[name],
            error=problems.get(name, ""),
        )
        for name in _CONTACT_FIELDS
    ]


def _absence_fields(
    call: Call, values: Mapping[str, Any], problems: Mapping[str, str]
) -> list[FormField]:
    words = call.words
    return [
        FormField("enabled", words("absence_enabled"), "checkbox", values.get("enabled")),
        FormField("first_day", words("first_day"), "date", values.get("first_day", ""),
              error=problems.get("first_day", "")),
        FormField("last_day", words("last_day"), "date", values.get("last_day", ""),
              error=problems.get("last_day", "")),
        FormField("text", words("absence_text"), "textarea", values.get("text", ""),
              error=problems.get("text", "")),
        FormField("contacts_only", words("contacts_only"), "checkbox", values.get("contacts_only")),
    ]  # fmt: skip
