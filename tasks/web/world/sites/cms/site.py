"""Handlers of the editorial system: articles, their workflow and the schedule."""

import re
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any, ClassVar

from hexathlon.tasks.web.world.exchange import WebResponse
from hexathlon.tasks.web.world.site import Call, Site, SiteBrief, get, post
from hexathlon.tasks.web.world.sites.cms.content import populate
from hexathlon.tasks.web.world.sites.cms.library import Library
from hexathlon.tasks.web.world.sites.cms.reading import (
    SORTS,
    article_fields,
    article_of,
    choices,
    filter_fields,
    filters_of,
    names_of,
    reviewer_field,
    schedule_problem,
)
from hexathlon.tasks.web.world.sites.cms.vocabulary import DESKS, ERRATA, label_of
from hexathlon.tasks.web.world.store import SiteStore, StoreRow
from hexathlon.tasks.web.world.ui import FormField, Pager

__all__ = ["SITE", "Cms"]

_PER_PAGE = 20
_COLUMNS = (
    "title",
    "summary",
    "body",
    "section",
    "author",
    "reviewer",
    "image",
    "embargo",
    "featured",
)
_BULK = {
    "archive": ("status", "archived"),
    "draft": ("status", "draft"),
    "feature": ("featured", 1),
    "unfeature": ("featured", 0),
}


class Cms(Library, Site):
    """The editorial system of a small publication."""

    name: ClassVar[str] = "cms"
    schema: ClassVar[str] = (
        resources.files("hexathlon.tasks.web.world.sites.cms")
        .joinpath("schema.sql")
        .read_text("utf-8")
    )
    volatile: ClassVar[Mapping[str, Sequence[str]]] = {
        "articles": ("id", "updated"),
        "article_tags": ("id",),
        "media": ("id", "bytes", "uploaded"),
        "notes": ("id", "created"),
        "errata": ("id", "issued"),
    }

    def populate(self, store: SiteStore, brief: SiteBrief) -> None:
        """Fill articles, media, team and policies."""
        populate(store, brief)

    def navigation(self, call: Call) -> Sequence[tuple[str, str]]:
        """Return the main navigation."""
        items = (
            ("articles", "/articles"),
            ("plan", "/plan"),
            ("media", "/media"),
            ("menus", "/menu"),
            ("team", "/team"),
            ("policies", "/policies"),
            ("errata", "/errata"),
            ("new_article", "/articles/new"),
        )
        return [(call.words(key), path) for key, path in items]

    def run_job(self, call: Call, kind: str, subject: str) -> None:
        """Report that the scheduler could not accept an article."""
        number, _, login = subject.partition(" ")
        call.store.insert(
            "_notices",
            person=login,
            kind="error",
            text=call.words("scheduler_failed", number=number),
        )

    @get("/")
    def start(self, call: Call) -> WebResponse:
        """Redirect to the list of articles."""
        return call.redirect("/articles")

    @get("/articles")
    def articles(self, call: Call) -> WebResponse:
        """List articles; every filter returns to the first page."""
        where, values, query = filters_of(call)
        total = call.store.value(f"SELECT count(*) FROM articles WHERE {where}", values)
        count = max(1, -(-total // _PER_PAGE))
        page = min(max(1, call.number("page", 1)), count)
        order = SORTS.get(call.arg("sort"), SORTS["updated"])
        rows = call.store.rows(
            f"SELECT * FROM articles WHERE {where} ORDER BY {order} LIMIT ? OFFSET ?",
            (*values, _PER_PAGE, (page - 1) * _PER_PAGE),
        )
        actions = [(key, call.words(f"bulk_{key}")) for key in _BULK]
        return call.page(
            "articles.html",
            articles=rows,
            fields=filter_fields(call),
            label=label_of,
            names=names_of(call.store),
            pager=Pager(page, count, total, f"/articles?{query}"),
            back=f"{query}page={page}",
            action=FormField(
                "action", call.words("bulk_action"), "select", "", [("", "–"), *actions]
            ),
        )

    @post("/articles/bulk")
    def bulk(self, call: Call) -> WebResponse:
        """Change the selected articles."""
        target = f"/articles?{''.join(call.arg('back').split())}"
        numbers = [int(text) for text in call.args("pick") if re.fullmatch("[0-9]{1,15}", text)]
        if not numbers or call.arg("action") not in _BULK:
            return call.redirect(target, call.words("bulk_none"), "warning")
        column, value = _BULK[call.arg("action")]
        for number in numbers:
            row = article_of(call, number)
            if row is not None and row[column] != value:
                self._change(call, number, {column: value})
        return call.redirect(target, call.words("bulk_done", count=len(numbers)))

    @get("/plan")
    def plan(self, call: Call) -> WebResponse:
        """List what is scheduled, in order of time."""
        rows = call.store.rows(
            "SELECT * FROM articles WHERE status = 'scheduled' ORDER BY publish_at, id"
        )
        return call.page("plan.html", articles=rows, label=label_of, names=names_of(call.store))

    @get("/articles/new")
    def new(self, call: Call) -> WebResponse:
        """Show the form for a new article."""
        return self._form(call, None, {}, {})

    @get("/articles/reviewers")
    def reviewers(self, call: Call) -> WebResponse:
        """Return the field that depends on the section."""
        return call.fragment("reviewer.html", field=reviewer_field(call, call.arg("section"), ""))

    @post("/articles/new")
    def create(self, call: Call) -> WebResponse:
        """Create a draft."""
        values = self._sent(call)
        errors = self._errors(call, values)
        if errors:
            return self._form(call, None, values, errors)
        number = call.store.insert(
            "articles",
            **{**dict.fromkeys(_COLUMNS, ""), "featured": 0, **values},
            status="draft",
            publish_at="",
            updated=call.clock.stamp,
        )
        return call.redirect(f"/articles/{number}", call.words("created_note", number=number))

    @get("/articles/{number:int}")
    def article(self, call: Call, number: int) -> WebResponse:
        """Show an article with workflow, preview and notes."""
        row = article_of(call, number)
        if row is None:
            return call.not_found()
        tags = call.store.rows(
            "SELECT x.id, t.name FROM article_tags x JOIN tags t ON t.id = x.tag WHERE x.article "
            "= ? ORDER BY t.name",
            (number,),
        )
        options = call.store.rows("SELECT id, name FROM tags ORDER BY name")
        kinds = choices(call, ERRATA)
        return call.page(
            "article.html",
            article=row,
            label=label_of,
            names=names_of(call.store),
            tags=tags,
            notes=call.store.rows("SELECT * FROM notes WHERE article = ? ORDER BY id", (number,)),
            errata=call.store.rows("SELECT * FROM errata WHERE article = ? ORDER BY id", (number,)),
            tag_field=FormField(
                "tag",
                call.words("tag"),
                "select",
                "",
                [(str(each["id"]), each["name"]) for each in options],
            ),
            note_field=FormField("body", call.words("note"), "textarea"),
            erratum_fields=[
                FormField("kind", call.words("erratum_kind"), "select", ERRATA[0], kinds),
                FormField("text", call.words("erratum_text"), "textarea"),
            ],
        )

    @get("/articles/{number:int}/preview")
    def preview(self, call: Call, number: int) -> WebResponse:
        """Show an article as readers see it; this page is shown in a frame."""
        row = article_of(call, number)
        if row is None:
            return call.not_found()
        picture = call.store.row("SELECT * FROM media WHERE id = ?", (row["image"],))
        errata = call.store.rows("SELECT * FROM errata WHERE article = ? ORDER BY id", (number,))
        return call.page(
            "preview.html",
            article=row,
            picture=picture,
            errata=errata,
            label=label_of,
            names=names_of(call.store),
        )

    @get("/articles/{number:int}/edit")
    def edit(self, call: Call, number: int) -> WebResponse:
        """Show the form for an article."""
        row = article_of(call, number)
        return call.not_found() if row is None else self._form(call, number, row, {})

    @post("/articles/{number:int}/edit")
    def save(self, call: Call, number: int) -> WebResponse:
        """Change an article; only the fields that were sent."""
        row = article_of(call, number)
        if row is None:
            return call.not_found()
        values = {**row, **self._sent(call)}
        errors = self._errors(call, values)
        if errors:
            return self._form(call, number, values, errors)
        self._change(
            call, number, {name: values[name] for name in _COLUMNS if values[name] != row[name]}
        )
        return call.redirect(f"/articles/{number}", call.words("saved_note"))

    @get("/articles/{number:int}/schedule")
    def schedule_form(self, call: Call, number: int) -> WebResponse:
        """Show the form for the time of publication."""
        row = article_of(call, number)
        return call.not_found() if row is None else self._schedule_page(call, row, "")

    @post("/articles/{number:int}/schedule")
    def schedule(self, call: Call, number: int) -> WebResponse:
        """Pass an article to the scheduler."""
        row = article_of(call, number)
        if row is None:
            return call.not_found()
        day, time = call.arg("day"), call.arg("time")
        right = re.fullmatch(r"\d{4}-\d\d-\d\d", day) and re.fullmatch(
            r"([01]\d|2[0-3]):[0-5]\d", time
        )
        problem = schedule_problem(call, row, f"{day} {time}") if right else call.words("required")
        if problem:
            return self._schedule_page(call, row, problem)
        if call.store.row("SELECT article FROM _faults WHERE article = ?", (number,)):
            # The page reports success; a failure is reported later.
            call.store.execute("DELETE FROM _faults WHERE article = ?", (number,))
            call.later(1, "failed", f"{number} {call.login}")
        else:
            self._change(call, number, {"status": "scheduled", "publish_at": f"{day} {time}"})
        return call.redirect(f"/articles/{number}", call.words("scheduled_note", number=number))

    @post("/articles/{number:int}/{step}")
    def take_step(self, call: Call, number: int, step: str) -> WebResponse:
        """Take a step of the workflow, or add a tag, note or erratum."""
        row, place = article_of(call, number), f"/articles/{number}"
        if row is None:
            return call.not_found()
        steps = {
            "submit": (("draft",), "review"),
            "publish": (("review", "scheduled"), "published"),
            "archive": (("published",), "archived"),
            "return": (("review", "scheduled"), "draft"),
        }
        if step in steps:
            before, after = steps[step]
            if row["status"] not in before:
                return call.redirect(place, call.words("wrong_status"), "error")
            stamp = call.clock.now.strftime("%Y-%m-%d %H:%M")
            when = stamp if after == "published" else "" if after == "draft" else row["publish_at"]
            self._change(call, number, {"status": after, "publish_at": when})
        elif step == "tags":
            here = "SELECT id FROM article_tags WHERE article = ? AND tag = ?"
            if call.store.row(here, (number, call.number("tag"))) is None:
                call.store.insert("article_tags", article=number, tag=call.number("tag"))
        elif step == "untag":
            call.store.execute(
                "DELETE FROM article_tags WHERE article = ? AND id = ?",
                (number, call.number("entry")),
            )
        elif step in ("notes", "errata"):
            text = call.arg("body" if step == "notes" else "text")
            if not text:
                return call.redirect(place, call.words("required"), "error")
            if step == "notes":
                call.store.insert(
                    "notes", article=number, author=call.login, created=call.clock.stamp, body=text
                )
            else:
                kind = call.arg("kind") if call.arg("kind") in ERRATA else ERRATA[0]
                call.store.insert(
                    "errata", article=number, kind=kind, text=text, issued=call.clock.stamp
                )
        else:
            return call.not_found()
        return call.redirect(place, call.words("saved_note"))

    def _schedule_page(self, call: Call, row: StoreRow, problem: str) -> WebResponse:
        moment = row["publish_at"] if row["status"] == "scheduled" else ""
        fields = [
            FormField(
                "day", call.words("day"), "date", call.arg("day") or moment[:10], error=problem
            ),
            FormField(
                "time", call.words("time"), "text", call.arg("time") or moment[11:], help="HH:MM"
            ),
        ]
        return call.page("schedule.html", 422 if problem else 200, article=row, fields=fields)

    def _form(
        self, call: Call, number: int | None, values: Mapping[str, Any], errors: Mapping[str, str]
    ) -> WebResponse:
        reviewer = reviewer_field(
            call, str(values.get("section", "")), str(values.get("reviewer", ""))
        )
        return call.page(
            "edit.html",
            422 if errors else 200,
            number=number,
            reviewer=reviewer,
            fields=article_fields(call, values, errors),
        )

    def _sent(self, call: Call) -> dict[str, Any]:
        sent = {name for name, _ in call.request.form}
        values: dict[str, Any] = {name: call.arg(name) for name in _COLUMNS if name in sent}
        values["image"] = call.number("image")
        values["featured"] = int(call.arg("featured") == "1")
        values["body"] = str(values.get("body", "")).replace("\r\n", "\n")
        return values

    def _errors(self, call: Call, values: Mapping[str, Any]) -> dict[str, str]:
        errors = {
            name: call.words("required") for name in ("title", "author") if not values.get(name)
        }
        people = names_of(call.store)
        strangers = [name for name in ("author", "reviewer") if values.get(name, "") not in people]
        errors |= dict.fromkeys(strangers, call.words("required"))
        if values.get("section") not in DESKS:
            errors["section"] = call.words("required")
        known = call.store.value("SELECT id FROM media WHERE id = ?", (values["image"],))
        if values["image"] and known is None:
            errors["image"] = call.words("no_image")
        return errors

    def _change(self, call: Call, number: int, changes: Mapping[str, Any]) -> None:
        if not changes:
            return
        names = ", ".join(f"{name} = ?" for name in changes)
        call.store.execute(
            f"UPDATE articles SET {names}, updated = ? WHERE id = ?",
            (*changes.values(), call.clock.stamp, number),
        )


SITE = Cms()
