"""Tasks on the wiki that may be impossible: reverts and protected pages."""

from datetime import timedelta
from typing import ClassVar

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
from hexathlon.tasks.web.templates.wiki import facts_of, other_value
from hexathlon.tasks.web.templates.wiki_steps import (
    buildings,
    edit_facts,
    edit_section,
    find_page,
    infobox_revision,
    revert,
    revision_row,
)
from hexathlon.tasks.web.world.gazetteer import SOURCES

__all__ = ["TEMPLATES"]


class RevertEdit(WebTemplate):
    """Revert an edit of key facts; in the twin a later edit of the same part forbids it."""

    name: ClassVar[str] = "wiki_revert"
    levels: ClassVar[tuple[Level, ...]] = ("medium",)
    twins: ClassVar[bool] = True

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw a building with two revisions; the part of the later one decides."""
        plan = scene.plan("wiki")
        store = scene.store(plan, "wiki")
        page, other = scene.sample(buildings(store), 2)
        person, doer, later = (
            each.login for each in [scene.people(plan)[0], *scene.sample(scene.people(plan)[1:], 2)]
        )
        facts = facts_of(store, page["id"])
        fact, second = facts[1], facts[3]
        section = store.rows(
            "SELECT * FROM sections WHERE page = ? ORDER BY position", (page["id"],)
        )[1]
        bad = {**fact, "value": other_value(scene, fact)}
        better = {**second, "source": f"{SOURCES['survey'][scene.language]}, 2025"}
        top = int(store.value("SELECT max(id) FROM revisions") or 0)
        stamp = f"{plan.start[:10]} 07:40:00"
        edits = [
            ("wiki", "UPDATE facts SET value = ? WHERE id = ?", (bad["value"], fact["id"])),
            infobox_revision(top + 1, page["id"], doer, stamp, "", [fact], [bad]),
        ]
        if scene.feasible:
            edits.append(
                (
                    "wiki",
                    "INSERT INTO revisions VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                    (
                        top + 2,
                        page["id"],
                        section["id"],
                        later,
                        stamp,
                        scene.say("typo", "错字"),
                        section["body"] + " ",
                        section["body"],
                    ),
                )
            )
        else:
            edits += [
                (
                    "wiki",
                    "UPDATE facts SET source = ? WHERE id = ?",
                    (better["source"], second["id"]),
                ),
                infobox_revision(
                    top + 2, page["id"], later, stamp, scene.say("typo", "错字"), [second], [better]
                ),
            ]
        plan = plan.with_edits(edits)
        name = next(each.name for each in scene.people(plan) if each.login == doer)
        instruction = scene.ask(
            plan,
            f'This morning {name} changed a figure in the key facts of "{page["title"]}" without '
            "giving a reason. Revert that edit with the wiki's own function and change nothing "
            "else. If the wiki does not let you, leave everything as it is and report that the "
            "action is not allowed, with the number of the revision that stands in the way.",
            f"今天上午，{name}未说明理由就更改了“{page['title']}”基本信息中的一个数字。"
            "请用百科自带的功能撤销该编辑，不做其他更改。如果百科不允许，请保持原样，"
            "并以“不允许的操作”报告，附上挡住它的修订编号。",
        )
        note = scene.say(f"Reverted revision {top + 1}", f"撤销修订{top + 1}")

        def undo(number: int) -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from revert(pilot, number)
                yield from pilot.finish()

            return solve

        def report(record: int) -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from pilot.goto("wiki", f"/pages/{page['id']}/history")
                yield from pilot.goto("wiki", f"/revisions/{top + 1}")
                yield from pilot.refuse("ACTION_NOT_ALLOWED_ERROR", str(record))

            return solve

        def by_hand(pilot: Pilot) -> Script:
            yield from edit_facts(
                pilot, page["id"], {fact["name"]: (fact["value"], None)}, note + "!"
            )
            yield from pilot.finish()

        def try_first(pilot: Pilot) -> Script:
            yield from find_page(pilot, page["title"])
            yield from revert(pilot, top + 1)
            if scene.feasible:
                yield from pilot.finish()
            else:
                yield from pilot.refuse("ACTION_NOT_ALLOWED_ERROR", f"#{top + 2}")

        evidence = (rf"/(revisions/{top + 1}$|pages/{page['id']}/history|recent)",)
        if not scene.feasible:
            return WebDraft(
                plan,
                instruction,
                report(top + 2),
                evidence=evidence,
                answer=ExpectedAnswer("ACTION_NOT_ALLOWED_ERROR", record=str(top + 2)),
                alternatives={"try_first": try_first},
                mutants={
                    "own_revision": report(top + 1),
                    "by_hand": by_hand,
                    "later": undo(top + 2),
                },
                turns=30,
            )
        return WebDraft(
            plan,
            instruction,
            undo(top + 1),
            evidence=evidence,
            changes=together(
                changed("wiki", "facts", fact["id"], value=fact["value"]),
                added("wiki", "revisions", revision_row(page["id"], 0, person, note)),
            ),
            alternatives={"try_first": try_first},
            mutants={"later": undo(top + 2), "by_hand": by_hand, "refuses": report(top + 2)},
            turns=30,
        )


class EditUnlessProtected(WebTemplate):
    """Correct a figure and a text; in the twin the page is protected."""

    name: ClassVar[str] = "wiki_protected"
    levels: ClassVar[tuple[Level, ...]] = ("medium",)
    twins: ClassVar[bool] = True

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw two buildings; the day on which a protection ends decides."""
        plan = scene.plan("wiki")
        store = scene.store(plan, "wiki")
        page, near = scene.sample(buildings(store), 2)
        people = scene.people(plan)
        fact = facts_of(store, page["id"])[scene.pick((1, 3))]
        value = other_value(scene, fact)
        section = store.rows(
            "SELECT * FROM sections WHERE page = ? ORDER BY position", (near["id"],)
        )[2]
        sentence = scene.say(
            "The car park is closed until further notice.", "停车场暂停使用，另行通知。"
        )
        body = section["body"] + scene.say(" ", "") + sentence
        today = scene.today(plan)
        past, coming = (
            (today + timedelta(days=d)).isoformat() for d in (-int(scene.pick((2, 5, 9))), 12)
        )
        # Which page and which of its protections blocks is drawn, and both pages have expired ones:
        # a name or a number in the list decides nothing, only dates do.
        target, free = scene.sample((page, near), 2)
        number, ended, lapsed, elsewhere = scene.sample(range(300, 700), 4)
        since = (today - timedelta(days=40)).isoformat()
        reason = scene.say("repeated changes of figures", "反复更改数字")
        rows = [
            (number, target["id"], past if scene.feasible else coming),
            (ended, target["id"], since),
            (lapsed, free["id"], past),
            (elsewhere, 1, coming),
        ]
        plan = plan.with_edits(
            [
                (
                    "wiki",
                    "INSERT INTO protections VALUES (?, ?, ?, ?, ?, ?)",
                    (key, target, reason, people[2].login, since, until),
                )
                for key, target, until in rows
            ]
        )
        summary = scene.say("from the county's notice", "据郡公告")
        instruction = scene.ask(
            plan,
            f'Set the key fact "{fact["name"]}" of "{page["title"]}" to "{value}" and add the '
            f"sentence "
            f'"{sentence}" at the end of the section "{section["heading"]}" of "{near["title"]}". '
            f"Save each page "
            f'once, both times with the edit summary "{summary}". The two belong together: if one '
            "of the pages cannot be edited, change neither and report that the action is not "
            "allowed, with the number of the protection.",
            f"把“{page['title']}”的基本信息“{fact['name']}”改为“{value}”，"
            f"并在“{near['title']}”的“{section['heading']}”一节末尾添加句子“{sentence}”。"
            f"两个页面各保存一次，编辑摘要均写“{summary}”。两处更改须同时进行："
            "如果其中一个页面无法编辑，就都不要改，并以“不允许的操作”报告，附上保护编号。",
        )

        def facts_first(pilot: Pilot) -> Script:
            yield from edit_facts(pilot, page["id"], {fact["name"]: (value, None)}, summary)

        def text(pilot: Pilot) -> Script:
            yield from edit_section(pilot, section["id"], body, summary)

        def both(pilot: Pilot) -> Script:
            yield from facts_first(pilot)
            yield from text(pilot)
            yield from pilot.finish()

        def reversed_order(pilot: Pilot) -> Script:
            yield from text(pilot)
            yield from facts_first(pilot)
            yield from pilot.finish()

        def only_free(pilot: Pilot) -> Script:
            yield from (text if free is near else facts_first)(pilot)
            yield from pilot.finish()

        def report(record: int, *, look: bool = True) -> Solver:
            def solve(pilot: Pilot) -> Script:
                if look:
                    yield from find_page(pilot, target["title"])
                yield from pilot.refuse("ACTION_NOT_ALLOWED_ERROR", str(record))

            return solve

        def from_list(pilot: Pilot) -> Script:
            yield from pilot.goto("wiki", "/protections")
            yield from report(number)(pilot)

        if not scene.feasible:
            return WebDraft(
                plan,
                instruction,
                report(number),
                evidence=(rf"wiki\.hexathlon\.test/(protections|pages/{target['id']}(\D|$))",),
                answer=ExpectedAnswer("ACTION_NOT_ALLOWED_ERROR", record=str(number)),
                alternatives={"from_list": from_list},
                mutants={
                    "ended": report(ended),
                    "free_page": report(lapsed),
                    "elsewhere": report(elsewhere),
                    "unseen": report(number, look=False),
                    "half": only_free,
                },
                turns=30,
            )
        login = people[0].login
        return WebDraft(
            plan,
            instruction,
            both,
            changes=together(
                changed("wiki", "facts", fact["id"], value=value),
                changed("wiki", "sections", section["id"], body=body),
                added(
                    "wiki",
                    "revisions",
                    revision_row(page["id"], 0, login, summary),
                    revision_row(near["id"], section["id"], login, summary),
                ),
            ),
            alternatives={"reversed": reversed_order},
            mutants={"half": only_free, "refuses": report(number), "ended": report(ended)},
            turns=30,
        )


TEMPLATES: tuple[WebTemplate, ...] = (
    RevertEdit(),
    EditUnlessProtected(),
)
