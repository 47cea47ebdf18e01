"""Handlers around issues: watching, merging, bulk changes, saved filters, rules and people."""

from urllib.parse import parse_qsl, urlencode

from hexathlon.tasks.web.world.exchange import WebResponse
from hexathlon.tasks.web.world.site import Call, get, post
from hexathlon.tasks.web.world.sites.tracker.vocabulary import (
    COMPONENTS,
    PRIORITIES,
    STATUSES,
    label_of,
)
from hexathlon.tasks.web.world.store import SiteStore, StoreRow
from hexathlon.tasks.web.world.ui import FormField

__all__ = ["Desk", "bulk_fields", "names_of"]

FILTERS = ("project", "status", "priority", "component", "assignee", "q", "sort")
"""Parameters of the list of issues that a saved filter keeps."""


class Desk:
    """Handlers of pages other than single issues."""

    @post("/issues/bulk")
    def bulk(self, call: Call) -> WebResponse:
        """Change fields of all selected issues, except fields left at "no change"."""
        back = f"/issues?{_kept(call)}"
        changes = {
            name: call.arg(f"set_{name}")
            for name in ("status", "priority", "assignee")
            if call.arg(f"set_{name}") not in ("", "keep")
        }
        if changes.get("assignee") == "nobody":
            changes["assignee"] = ""
        changes = {name: value for name, value in changes.items() if allowed(call, name, value)}
        numbers = [int(value) for value in call.args("issue") if value.isdecimal()]
        if not changes or not numbers:
            return call.redirect(back, call.words("bulk_nothing"), "error")
        names = ", ".join(f"{name} = ?" for name in changes)
        count = 0
        for number in numbers:
            row = call.store.row("SELECT * FROM issues WHERE number = ?", (number,))
            if row is None or all(row[name] == value for name, value in changes.items()):
                continue
            call.store.execute(
                f"UPDATE issues SET {names}, updated = ? WHERE number = ?",
                (*changes.values(), call.clock.stamp, number),
            )
            count += 1
        return call.redirect(back, call.words("bulk_done", count=count))

    @post("/issues/{number:int}/watch")
    def watch(self, call: Call, number: int) -> WebResponse:
        """Watch an issue, or stop watching it."""
        held = call.store.value(
            "SELECT id FROM watchers WHERE issue = ? AND login = ?", (number, call.login)
        )
        if held is None:
            call.store.insert("watchers", issue=number, login=call.login)
        else:
            call.store.execute("DELETE FROM watchers WHERE id = ?", (held,))
        return call.redirect(f"/issues/{number}", call.words("saved"))

    @post("/issues/{number:int}/merge")
    def merge(self, call: Call, number: int) -> WebResponse:
        """Close an issue as a duplicate of another one, which its watchers then watch."""
        target = call.arg("target").lstrip("#")
        other = call.store.row(
            "SELECT * FROM issues WHERE number = ?",
            (int(target) if target.isdecimal() and len(target) < 9 else 0,),
        )
        row = call.store.row("SELECT * FROM issues WHERE number = ?", (number,))
        if row is None:
            return call.not_found()
        if other is None or other["number"] == number:
            return call.redirect(f"/issues/{number}", call.words("merge_unknown"), "error")
        if other["project"] != row["project"]:
            return call.redirect(f"/issues/{number}", call.words("merge_project"), "error")
        if other["status"] in ("done", "rejected"):
            text = call.words("merge_closed", number=other["number"])
            return call.redirect(f"/issues/{number}", text, "error")
        call.store.execute(
            "UPDATE issues SET status = 'rejected', updated = ? WHERE number = ?",
            (call.clock.stamp, number),
        )
        call.store.insert("links", issue=number, kind="duplicates", other=other["number"])
        known = _watchers(call.store, other["number"])
        for login in _watchers(call.store, number):
            if login not in known:
                call.store.insert("watchers", issue=other["number"], login=login)
        return call.redirect(f"/issues/{other['number']}", call.words("merged", number=number))

    @get("/filters")
    def filters(self, call: Call) -> WebResponse:
        """List the person's saved filters."""
        rows = call.store.rows("SELECT * FROM filters WHERE owner = ? ORDER BY id", (call.login,))
        return call.page("filters.html", filters=rows)

    @post("/filters")
    def save_filter(self, call: Call) -> WebResponse:
        """Save the filter of the list of issues under a name."""
        name, query = call.arg("name"), _kept(call)
        if not name:
            return call.redirect(f"/issues?{query}", call.words("required"), "error")
        call.store.insert("filters", owner=call.login, name=name, query=query)
        return call.redirect("/filters", call.words("saved"))

    @post("/filters/{number:int}/delete")
    def delete_filter(self, call: Call, number: int) -> WebResponse:
        """Delete a saved filter."""
        call.store.execute("DELETE FROM filters WHERE id = ? AND owner = ?", (number, call.login))
        return call.redirect("/filters", call.words("saved"))

    @get("/rules")
    def rules(self, call: Call) -> WebResponse:
        """List the working rules of all projects."""
        rows = call.store.rows("SELECT * FROM rules ORDER BY project, id")
        return call.page("rules.html", rules=rows, names=names_of(call.store))

    @get("/people")
    def people(self, call: Call) -> WebResponse:
        """List people with their areas, deputies and absences."""
        rows = call.store.rows(
            "SELECT a.name, s.*, (SELECT count(*) FROM issues i WHERE i.assignee = a.login AND "
            "i.status NOT IN ('done', 'rejected')) AS load FROM _accounts a JOIN staff s "
            "ON s.login = a.login ORDER BY a.name"
        )
        return call.page("people.html", people=rows, label=label_of, names=names_of(call.store))

    @get("/milestones/{number:int}")
    def milestone(self, call: Call, number: int) -> WebResponse:
        """Show a milestone with its issues."""
        row = call.store.row("SELECT * FROM milestones WHERE id = ?", (number,))
        if row is None:
            return call.not_found()
        issues = call.store.rows(
            "SELECT * FROM issues WHERE milestone = ? ORDER BY number", (number,)
        )
        return call.page(
            "release.html", milestone=row, issues=issues, label=label_of, names=names_of(call.store)
        )

    @post("/milestones/{number:int}/close")
    def close_milestone(self, call: Call, number: int) -> WebResponse:
        """Close a milestone, unless one of its critical issues is unresolved."""
        row = call.store.row("SELECT * FROM milestones WHERE id = ?", (number,))
        if row is None:
            return call.not_found()
        critical = call.store.value(
            "SELECT number FROM issues WHERE milestone = ? AND priority = 'p1' AND status NOT IN "
            "('done', 'rejected') ORDER BY number",
            (number,),
        )
        if critical is not None:
            text = call.words("milestone_blocked", number=critical)
            return call.redirect(f"/milestones/{number}", text, "error")
        call.store.execute("UPDATE milestones SET state = 'closed' WHERE id = ?", (number,))
        return call.redirect(f"/milestones/{number}", call.words("saved"))


def names_of(store: SiteStore) -> dict[str, str]:
    """Return the name of everybody, by login."""
    rows = store.rows("SELECT login, name FROM _accounts")
    return {"": "–", **{row["login"]: row["name"] for row in rows}}


def watching(call: Call, number: int) -> tuple[list[str], bool]:
    """Return the names of an issue's watchers and whether the person is one."""
    logins = _watchers(call.store, number)
    names = names_of(call.store)
    return [names[login] for login in logins], call.login in logins


def bulk_fields(call: Call) -> list[FormField]:
    """Return the fields of the bulk change."""
    words, keep = call.words, ("keep", call.words("no_change"))
    people = call.store.rows("SELECT login, name FROM _accounts ORDER BY name")
    return [
        FormField("set_status", words("set_status"), "select", "keep",
                  [keep, *((each, label_of(each, call.language)) for each in STATUSES)]),
        FormField("set_priority", words("set_priority"), "select", "keep",
                  [keep, *((each, label_of(each, call.language)) for each in PRIORITIES)]),
        FormField("set_assignee", words("set_assignee"), "select", "keep",
                  [keep, ("nobody", words("none")),
                   *((row["login"], row["name"]) for row in people)]),
    ]  # fmt: skip


def allowed(call: Call, name: str, value: str) -> bool:
    """Whether a field of an issue can hold a value; texts can hold any."""
    choices = {"status": STATUSES, "priority": PRIORITIES, "component": COMPONENTS}
    if name == "assignee":
        return value in names_of(call.store)
    return name not in choices or value in choices[name]


def _kept(call: Call) -> str:
    """Return the parameters of a sent query string that a filter has."""
    pairs = parse_qsl(call.arg("query"))
    return urlencode([(name, value) for name, value in pairs if name in FILTERS])


def filter_query(call: Call) -> str:
    """Return the current filter as a query string."""
    return urlencode(
        [
            (name, call.arg(name))
            for name in FILTERS
            if call.arg(name) and (name, call.arg(name)) != ("sort", "number")
        ]
    )


def rules_of(store: SiteStore, project: str) -> list[StoreRow]:
    """Return the rules of a project."""
    return store.rows("SELECT * FROM rules WHERE project = ? ORDER BY id", (project,))


def component_field(call: Call) -> FormField:
    """Return the filter by component."""
    return FormField(
        "component",
        call.words("component"),
        "select",
        call.arg("component"),
        [("", call.words("all")), *((each, label_of(each, call.language)) for each in COMPONENTS)],
    )


def _watchers(store: SiteStore, number: int) -> list[str]:
    rows = store.rows("SELECT login FROM watchers WHERE issue = ? ORDER BY id", (number,))
    return [row["login"] for row in rows]
