"""A hard task on the wiki: renaming a page and its consequences."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, ClassVar

from hexathlon.tasks.source import Script
from hexathlon.tasks.task import Level
from hexathlon.tasks.web.pilot import Pilot
from hexathlon.tasks.web.templates.draft import (
    ExpectedAnswer,
    Solver,
    WebDraft,
    WebScene,
    WebTemplate,
    added,
    changed,
    together,
)
from hexathlon.tasks.web.templates.wiki_steps import (
    buildings,
    edit_section,
    revision_row,
)

__all__ = ["TEMPLATES"]


class RenamePage(WebTemplate):
    """Rename a page and repair references to it; in the twin a page involved is protected."""

    name: ClassVar[str] = "wiki_rename"
    levels: ClassVar[tuple[Level, ...]] = ("medium",)
    twins: ClassVar[bool] = True

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw a page with redirects and links; the end of a protection decides."""
        plan = scene.plan("wiki")
        store = scene.store(plan, "wiki")
        page, *linkers = scene.sample(buildings(store), 4)
        old = page["title"]
        new = old + scene.say(
            f" ({2 + int(scene.pick(range(60)))} Quay Road)",
            f"（码头路{2 + int(scene.pick(range(60)))}号）",
        )
        more = scene.say(f" Compare [[{old}]].", f"可与[[{old}]]比较。")
        top = int(store.value("SELECT max(id) FROM pages"))
        names = [old + scene.say(" (disused)", "（停用）"), scene.say("Former ", "原") + old]
        today = scene.today(plan)
        ended, coming, since = (
            (today + timedelta(days=days)).isoformat() for days in (-3, 21, -60)
        )
        number = int(scene.pick(range(300, 700)))
        reason = scene.say("disputes", "争议")
        steward = scene.people(plan)[3].login
        guard = "INSERT INTO protections VALUES (?, ?, ?, ?, ?, ?)"
        edits: list[Any] = [
            (
                "wiki",
                "INSERT INTO pages VALUES (?, ?, ?, 'redirect', ?)",
                (top + place, name, old, since),
            )
            for place, name in enumerate(names, 1)
        ]
        edits += [
            (
                "wiki",
                "UPDATE sections SET body = body || ? WHERE page = ? AND position = 3",
                (more, row["id"]),
            )
            for row in linkers
        ]
        edits += [
            (
                "wiki",
                "UPDATE sections SET body = body || ? WHERE page = 5 AND position = 1",
                (more,),
            ),
            (
                "wiki",
                guard,
                (
                    number,
                    linkers[1]["id"],
                    reason,
                    steward,
                    since,
                    ended if scene.feasible else coming,
                ),
            ),
            ("wiki", guard, (number + 2, 5, reason, steward, since, coming)),
            ("wiki", guard, (number - 5, page["id"], reason, steward, since, ended)),
        ]
        plan = plan.with_edits(edits)
        store = scene.store(plan, "wiki")
        sections = store.rows(
            "SELECT s.* FROM sections s JOIN pages p ON p.id = s.page WHERE p.kind = 'article' "
            "AND instr(s.body, ?) > 0 ORDER BY s.id",
            (f"[[{old}]]",),
        )
        redirects = store.rows("SELECT * FROM pages WHERE redirect = ? ORDER BY id", (old,))
        again = [
            row["id"]
            for row in store.rows("SELECT * FROM sections ORDER BY id")
            if f"[[{old}]]" in row["body"] and row["page"] not in (1, 2, 3, 4, 5, 6)
        ]
        if [row["id"] for row in sections] != again or not 4 <= len(sections) <= 6:
            return None
        note = scene.say("relink", "改链")
        instruction = scene.ask(
            plan,
            f'Rename the wiki page "{old}" to "{new}" and carry out everything that the guideline '
            "on moves asks for then; each section is saved once. If a page that has to be "
            "changed for this is protected, leave the whole wiki as it is and report that the "
            "action is not allowed (ACTION_NOT_ALLOWED_ERROR), with the number of that protection.",
            f"把百科页面“{old}”重命名为“{new}”，并完成移动指南随后要求的一切；每个章节保存一次。"
            "如果为此必须更改的某个页面受保护，就让整个百科保持原样，并报告操作不被允许（ACTION_NOT_ALLOWED_ERROR），"
            "附上该保护的编号。",
        )

        def rename(pilot: Pilot) -> Script:
            yield from pilot.goto("wiki", f"/pages/{page['id']}/move")
            yield from pilot.fill(pilot.words("wiki", "new_title"), new)
            yield from pilot.click("button", pilot.words("wiki", "save_page"))

        def retarget(pilot: Pilot) -> Script:
            for row in redirects:
                yield from pilot.goto("wiki", f"/pages/{row['id']}?stay=1")
                yield from pilot.fill(pilot.words("wiki", "redirect_to"), new)
                yield from pilot.click("button", pilot.words("wiki", "edit_redirect"))

        def relink(rows: Sequence[Any], summary: str = note) -> Any:
            def solve(pilot: Pilot) -> Script:
                for row in rows:
                    body = row["body"].replace(f"[[{old}]]", f"[[{new}]]")
                    yield from edit_section(pilot, row["id"], body, summary)

            return solve

        def whole(*parts: Any) -> Solver:
            def solve(pilot: Pilot) -> Script:
                for part in parts:
                    yield from part(pilot)
                yield from pilot.finish()

            return solve

        def report(record: int, *, look: bool = True) -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from pilot.goto("wiki", f"/pages/{page['id']}/links")
                if look:
                    yield from pilot.goto("wiki", f"/pages/{linkers[1]['id']}?stay=1")
                yield from pilot.refuse("ACTION_NOT_ALLOWED_ERROR", str(record))

            return solve

        def from_list(pilot: Pilot) -> Script:
            yield from pilot.goto("wiki", "/protections")
            yield from report(number, look=False)(pilot)

        if not scene.feasible:
            return WebDraft(
                plan,
                instruction,
                report(number),
                answer=ExpectedAnswer("ACTION_NOT_ALLOWED_ERROR", record=str(number)),
                evidence=(rf"wiki\.hexathlon\.test/(protections|pages/{linkers[1]['id']}(\D|$))",),
                alternatives={"from_list": from_list},
                mutants={
                    "guideline": report(number + 2),
                    "ended": report(number - 5),
                    "unseen": report(number, look=False),
                    "half": whole(rename, retarget),
                },
                turns=110,
            )
        login = scene.people(plan)[0].login
        guideline = store.rows("SELECT * FROM sections WHERE page = 4 AND position = 1")
        return WebDraft(
            plan,
            instruction,
            whole(rename, retarget, relink(sections)),
            changes=together(
                changed("wiki", "pages", page["id"], title=new),
                added("wiki", "pages", {"title": old, "redirect": new, "kind": "redirect"}),
                *(changed("wiki", "pages", row["id"], redirect=new) for row in redirects),
                *(
                    together(
                        changed(
                            "wiki",
                            "sections",
                            row["id"],
                            body=row["body"].replace(f"[[{old}]]", f"[[{new}]]"),
                        ),
                        added(
                            "wiki", "revisions", revision_row(row["page"], row["id"], login, note)
                        ),
                    )
                    for row in sections
                ),
            ),
            alternatives={"links_first": whole(rename, relink(sections[::-1]), retarget)},
            mutants={
                "double_redirects": whole(rename, relink(sections)),
                "one_link_left": whole(rename, retarget, relink(sections[1:])),
                "no_summary": whole(rename, retarget, relink(sections, "")),
                "more": whole(
                    rename,
                    retarget,
                    relink([*sections, {**guideline[0], "body": guideline[0]["body"] + "."}]),
                ),
                "refuses": report(number),
            },
            turns=110,
        )


TEMPLATES: tuple[WebTemplate, ...] = (RenamePage(),)
