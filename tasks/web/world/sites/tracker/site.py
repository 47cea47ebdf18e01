"""Handlers of the tracker."""

from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any, ClassVar
from urllib.parse import urlencode

from hexathlon.tasks.web.world.exchange import WebResponse
from hexathlon.tasks.web.world.site import Call, Site, SiteBrief, get, post
from hexathlon.tasks.web.world.sites.tracker.content import populate
from hexathlon.tasks.web.world.sites.tracker.desk import (
    Desk,
    allowed,
    bulk_fields,
    component_field,
    filter_query,
    names_of,
    rules_of,
    watching,
)
from hexathlon.tasks.web.world.sites.tracker.vocabulary import (
    COMPONENTS,
    PRIORITIES,
    RESOLUTIONS,
    STATUSES,
    label_of,
)
from hexathlon.tasks.web.world.store import SiteStore, StoreRow
from hexathlon.tasks.web.world.ui import FormField, Pager

__all__ = ["SITE", "Tracker"]

_PER_PAGE = 20
_NEW_FIELDS = ("project", "title", "body", "priority", "component", "assignee", "milestone")
_SORTS = {
    "number": "number DESC",
    "updated": "updated DESC, number",
    "priority": "priority, number",
}


class Tracker(Desk, Site):
    """An issue tracker with boards."""

    name: ClassVar[str] = "tracker"
    schema: ClassVar[str] = (
        resources.files("hexathlon.tasks.web.world.sites.tracker")
        .joinpath("schema.sql")
        .read_text("utf-8")
    )
    volatile: ClassVar[Mapping[str, Sequence[str]]] = {
        "issues": ("number", "created", "updated"),
        "comments": ("id", "created"),
        "links": ("id",),
        "watchers": ("id",),
        "filters": ("id",),
    }

    def populate(self, store: SiteStore, brief: SiteBrief) -> None:
        """Fill projects, issues and comments."""
        populate(store, brief)

    def navigation(self, call: Call) -> Sequence[tuple[str, str]]:
        """Return the main navigation."""
        words = call.words
        return [
            (words("issues"), "/issues"),
            (words("board"), "/board"),
            (words("projects"), "/projects"),
            (words("filters"), "/filters"),
            (words("people"), "/people"),
            (words("rules"), "/rules"),
            (words("new_issue"), "/issues/new"),
        ]

    @get("/")
    def start(self, call: Call) -> WebResponse:
        """Redirect to the list of issues."""
        return call.redirect("/issues")

    @get("/issues")
    def issues(self, call: Call) -> WebResponse:
        """List issues; every filter returns to the first page."""
        where, values, query = _filters(call)
        total = call.store.value(f"SELECT count(*) FROM issues WHERE {where}", values)
        pages = max(1, -(-total // _PER_PAGE))
        page = min(max(1, call.number("page", 1)), pages)
        order = _SORTS.get(call.arg("sort"), _SORTS["number"])
        rows = call.store.rows(
            f"SELECT * FROM issues WHERE {where} ORDER BY {order} LIMIT ? OFFSET ?",
            (*values, _PER_PAGE, (page - 1) * _PER_PAGE),
        )
        pager = Pager(page, pages, total, f"/issues?{query}")
        return call.page("issues.html", issues=rows, pager=pager, fields=_filter_fields(call),
                         label=label_of, names=names_of(call.store), query=query,
                         bulk=bulk_fields(call), saved_query=filter_query(call),
                         filter_name=FormField("name", call.words("filter_name"), "text", ""))  # fmt: skip

    @get("/issues/export")
    def export(self, call: Call) -> WebResponse:
        """Download the filtered list."""
        where, values, _ = _filters(call)
        rows = call.store.rows(f"SELECT * FROM issues WHERE {where} ORDER BY number", values)
        lines = ["number,project,status,priority,assignee,title"]
        lines += [
            ",".join(
                str(row[name]).replace(",", ";")
                for name in ("number", "project", "status", "priority", "assignee", "title")
            )
            for row in rows
        ]
        return call.download("issues.csv", "\n".join(lines) + "\n")

    @get("/issues/new")
    def new(self, call: Call) -> WebResponse:
        """Show the form for a new issue."""
        return self._form(call, {}, {})

    @get("/issues/new/milestones")
    def milestone_field(self, call: Call) -> WebResponse:
        """Return the field that depends on the project."""
        return call.fragment(
            "milestone.html", field=_milestone_field(call, call.arg("project"), "")
        )

    @post("/issues/new")
    def create(self, call: Call) -> WebResponse:
        """Create an issue."""
        values = {name: call.arg(name) for name in _NEW_FIELDS}
        values["milestone"] = str(call.number("milestone"))
        errors = {
            name: call.words("required")
            for name in ("project", "title", "component")
            if not values[name]
        }
        wrong = [name for name, value in values.items() if value and not allowed(call, name, value)]
        errors |= dict.fromkeys(wrong, call.words("required"))
        if errors:
            return self._form(call, values, errors)
        number = call.store.insert(
            "issues", project=values["project"], title=values["title"], body=values["body"],
            status="open", priority=values["priority"], assignee=values["assignee"],
            reporter=call.login, milestone=int(values["milestone"]),
            component=values["component"], created=call.clock.stamp, updated=call.clock.stamp,
        )  # fmt: skip
        return call.redirect(f"/issues/{number}", call.words("created_note", number=number))

    @get("/issues/{number:int}")
    def issue(self, call: Call, number: int) -> WebResponse:
        """Show an issue."""
        row = call.store.row("SELECT * FROM issues WHERE number = ?", (number,))
        if row is None:
            return call.not_found()
        comments = call.store.rows("SELECT * FROM comments WHERE issue = ? ORDER BY id", (number,))
        links = call.store.rows(
            "SELECT l.kind, i.number, i.title, i.status FROM links l JOIN issues i "
            "ON i.number = l.other WHERE l.issue = ? ORDER BY l.id",
            (number,),
        )
        milestone = call.store.value(
            "SELECT name FROM milestones WHERE id = ?", (row["milestone"],)
        )
        return call.page("issue.html", issue=row, comments=comments, links=links,
                         milestone=milestone or call.words("none"), label=label_of,
                         names=names_of(call.store), fields=_edit_fields(call, row),
                         resolution=_resolution_field(call), watching=watching(call, number),
                         target=FormField("target", call.words("merge_target"), "text", ""))  # fmt: skip

    @post("/issues/{number:int}/edit")
    def edit(self, call: Call, number: int) -> WebResponse:
        """Change fields of an issue; only those that were sent."""
        row = call.store.row("SELECT * FROM issues WHERE number = ?", (number,))
        if row is None:
            return call.not_found()
        sent = {name for name, _ in call.request.form}
        changes: dict[str, Any] = {
            name: call.arg(name)
            for name in ("status", "priority", "assignee", "component", "title", "body")
            if name in sent and allowed(call, name, call.arg(name))
        }
        if "milestone" in sent:
            changes["milestone"] = call.number("milestone")
        changes = {name: value for name, value in changes.items() if row[name] != value}
        if changes:
            self._update(call, number, changes)
        return call.redirect(f"/issues/{number}", call.words("saved"))

    @post("/issues/{number:int}/close")
    def close(self, call: Call, number: int) -> WebResponse:
        """Close an issue, unless an open one blocks it."""
        blocker = call.store.value(
            "SELECT i.number FROM links l JOIN issues i ON i.number = l.other WHERE l.issue = ? "
            "AND l.kind = 'blocked_by' AND i.status NOT IN ('done', 'rejected') ORDER BY i.number",
            (number,),
        )
        if blocker is not None:
            text = call.words("blocked_close", number=blocker)
            return call.redirect(f"/issues/{number}", text, "error")
        resolution = call.arg("resolution")
        status = resolution if resolution in RESOLUTIONS else "done"
        self._update(call, number, {"status": status})
        return call.redirect(f"/issues/{number}", call.words("closed_note"))

    @post("/issues/{number:int}/comments")
    def comment(self, call: Call, number: int) -> WebResponse:
        """Add a comment."""
        text = call.arg("comment")
        if not text:
            return call.redirect(f"/issues/{number}", call.words("required"), "error")
        call.store.insert(
            "comments", issue=number, author=call.login, body=text, created=call.clock.stamp
        )
        return call.redirect(f"/issues/{number}", call.words("commented"))

    @get("/board")
    def board(self, call: Call) -> WebResponse:
        """Show the open issues of a project by status."""
        projects = call.store.rows("SELECT key, name FROM projects ORDER BY key")
        project = call.arg("project") or projects[0]["key"]
        columns = [
            (
                status,
                call.store.rows(
                    "SELECT * FROM issues WHERE project = ? AND status = ? "
                    "ORDER BY number DESC LIMIT 30",
                    (project, status),
                ),
            )
            for status in STATUSES[:4]
        ]
        chooser = FormField(
            "project",
            call.words("project"),
            "select",
            project,
            [(row["key"], row["name"]) for row in projects],
        )
        return call.page("board.html", columns=columns, project=project, chooser=chooser,
                         label=label_of, names=names_of(call.store))  # fmt: skip

    @post("/board/{status}")
    def move(self, call: Call, status: str) -> WebResponse:
        """Move an issue to another column."""
        number = call.number("item")
        row = call.store.row("SELECT * FROM issues WHERE number = ?", (number,))
        if row is None or status not in STATUSES[:4]:
            return call.not_found()
        if row["status"] != status:
            self._update(call, number, {"status": status})
        target = f"/board?project={row['project']}"
        return call.redirect(target, call.words("moved", number=number))

    @get("/projects")
    def projects(self, call: Call) -> WebResponse:
        """List projects."""
        rows = call.store.rows("SELECT * FROM projects ORDER BY key")
        return call.page("projects.html", projects=rows, names=names_of(call.store))

    @get("/projects/{key}")
    def project(self, call: Call, key: str) -> WebResponse:
        """Show a project with its rules and milestones."""
        row = call.store.row("SELECT * FROM projects WHERE key = ?", (key,))
        if row is None:
            return call.not_found()
        milestones = call.store.rows(
            "SELECT m.*, (SELECT count(*) FROM issues i WHERE i.milestone = m.id) AS count "
            "FROM milestones m WHERE project = ? ORDER BY due",
            (key,),
        )
        return call.page("project.html", project=row, milestones=milestones,
                         rules=rules_of(call.store, key), names=names_of(call.store))  # fmt: skip

    def _form(
        self, call: Call, values: Mapping[str, str], errors: Mapping[str, str]
    ) -> WebResponse:
        return call.page(
            "new.html",
            422 if errors else 200,
            fields=_new_fields(call, values, errors),
            milestone=_milestone_field(
                call, values.get("project", ""), values.get("milestone", "")
            ),
        )

    def _update(self, call: Call, number: int, changes: Mapping[str, Any]) -> None:
        names = ", ".join(f"{name} = ?" for name in changes)
        call.store.execute(
            f"UPDATE issues SET {names}, updated = ? WHERE number = ?",
            (*changes.values(), call.clock.stamp, number),
        )


def _filters(call: Call) -> tuple[str, list[Any], str]:
    """Return the condition, its values, and the query string of the current filters."""
    conditions, values, query = ["1"], list[Any](), ""
    for name in ("project", "status", "priority", "component", "assignee"):
        wanted = call.arg(name)
        if wanted:
            conditions.append(f"{name} = ?")
            values.append(wanted)
            query += f"{urlencode({name: wanted})}&"
    text = call.arg("q")
    if text:
        conditions.append("(title LIKE ? OR body LIKE ?)")
        values += [f"%{text}%"] * 2
        query += f"{urlencode({'q': text})}&"
    if call.arg("sort") in _SORTS:
        query += f"sort={call.arg('sort')}&"
    return " AND ".join(conditions), values, query


def _people(call: Call) -> list[tuple[str, str]]:
    rows = call.store.rows("SELECT login, name FROM _accounts ORDER BY name")
    return [("", call.words("none")), *((row["login"], row["name"]) for row in rows)]


def _choices(call: Call, values: Sequence[str]) -> list[tuple[str, str]]:
    return [(value, label_of(value, call.language)) for value in values]


def _projects(call: Call) -> list[tuple[str, str]]:
    rows = call.store.rows("SELECT key, name FROM projects ORDER BY key")
    return [(row["key"], row["name"]) for row in rows]


def _filter_fields(call: Call) -> list[FormField]:
    words, everything = call.words, ("", call.words("all"))
    return [
        FormField("q", words("search"), "text", call.arg("q")),
        FormField("project", words("project"), "select", call.arg("project"),
              [everything, *_projects(call)]),
        FormField("status", words("status"), "select", call.arg("status"),
              [everything, *_choices(call, STATUSES)]),
        FormField("priority", words("priority"), "select", call.arg("priority"),
              [everything, *_choices(call, PRIORITIES)]),
        component_field(call),
        FormField("assignee", words("assignee"), "select", call.arg("assignee"),
              [everything, *_people(call)[1:]]),
        FormField("sort", words("sort"), "select", call.arg("sort") or "number",
              [("number", "#"), ("updated", words("updated")), ("priority", words("priority"))]),
    ]  # fmt: skip


def _edit_fields(call: Call, row: StoreRow) -> list[FormField]:
    words = call.words
    return [
        FormField("status", words("status"), "select", row["status"], _choices(call, STATUSES)),
        FormField(
            "priority", words("priority"), "select", row["priority"], _choices(call, PRIORITIES)
        ),
        FormField("assignee", words("assignee"), "select", row["assignee"], _people(call)),
        FormField(
            "component", words("component"), "select", row["component"], _choices(call, COMPONENTS)
        ),
        _milestone_field(call, row["project"], row["milestone"]),
    ]


def _resolution_field(call: Call) -> FormField:
    return FormField(
        "resolution", call.words("resolution"), "radio", "done", _choices(call, RESOLUTIONS)
    )


def _new_fields(
    call: Call, values: Mapping[str, str], errors: Mapping[str, str]
) -> list[FormField]:
    words = call.words
    kept = {
        name: values.get(name, "")
        for name in ("project", "title", "body", "priority", "component", "assignee")
    }
    empty = ("", words("none"))
    return [
        FormField("project", words("project"), "select", kept["project"], [empty, *_projects(call)],
              errors.get("project", ""), depends=("/issues/new/milestones", "milestone-place")),
        FormField("title", words("title"), "text", kept["title"], error=errors.get("title", "")),
        FormField("body", words("body"), "textarea", kept["body"]),
        FormField("priority", words("priority"), "select", kept["priority"] or "p3",
              _choices(call, PRIORITIES)),
        FormField("component", words("component"), "select", kept["component"],
              [empty, *_choices(call, COMPONENTS)], errors.get("component", "")),
        FormField("assignee", words("assignee"), "select", kept["assignee"], _people(call)),
    ]  # fmt: skip


def _milestone_field(call: Call, project: str, value: Any) -> FormField:
    rows = call.store.rows(
        "SELECT id, name FROM milestones WHERE project = ? AND (state = 'open' OR id = ?) "
        "ORDER BY due",
        (project, int(value or 0)),
    )
    options = [("0", call.words("none")), *((str(row["id"]), row["name"]) for row in rows)]
    return FormField("milestone", call.words("milestone"), "select", str(value or 0), options)


SITE = Tracker()
