"""Upkeep of the wiki: conflicts, histories, renamed pages and suspicious edits."""

from collections.abc import Sequence
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
from hexathlon.tasks.web.templates.wiki import facts_of, other_value
from hexathlon.tasks.web.templates.wiki_steps import (
    buildings,
    edit_section,
    find_page,
    infobox_revision,
    revision_row,
)

__all__ = ["TEMPLATES"]


class MergeConflict(WebTemplate):
    """Add a sentence to a section while somebody else changes it."""

    name: ClassVar[str] = "wiki_conflict"
    levels: ClassVar[tuple[Level, ...]] = ("medium",)

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw a section, the other editor's sentence and the user's."""
        plan = scene.plan("wiki")
        store = scene.store(plan, "wiki")
        page, near = scene.sample(buildings(store), 2)
        part = int(scene.pick((1, 2)))
        section, other = (
            store.rows("SELECT * FROM sections WHERE page = ? ORDER BY position", (row["id"],))[
                part
            ]
            for row in (page, near)
        )
        people = scene.people(plan)
        doer = scene.pick(people[1:]).login
        gap = scene.say(" ", "")
        theirs = (
            section["body"]
            + gap
            + scene.say("The roof was repaired last winter.", "去年冬天修缮了屋顶。")
        )
        own = scene.say(
            f"A plaque by the entrance was unveiled in {2015 + int(scene.pick(range(9)))}.",
            f"入口处的纪念牌于{2015 + int(scene.pick(range(9)))}年揭幕。",
        )
        summary, note = scene.say("plaque", "纪念牌"), scene.say("roof", "屋顶")
        plan = plan.with_edits(
            [
                (
                    "wiki",
                    "INSERT INTO _pending VALUES (?, ?, ?, ?)",
                    (section["id"], doer, note, theirs),
                )
            ]
        )
        merged = theirs + gap + own
        instruction = scene.say(
            f'On the wiki page "{page["title"]}", add this sentence at the very end of the section '
            f'"{section["heading"]}": "{own}" The edit summary is "{summary}". Nobody else\'s work '
            "may get lost.",
            f"在百科页面“{page['title']}”的“{section['heading']}”一节最末尾添加这句话："
            f"“{own}”编辑摘要写“{summary}”。不得丢失他人的工作。",
        )

        def save(pilot: Pilot, body: str) -> Script:
            yield from pilot.fill(pilot.words("wiki", "text"), body)
            yield from pilot.fill(pilot.words("wiki", "summary"), summary)
            yield from pilot.click("button", pilot.words("wiki", "save_page"))

        def again(second: str) -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from edit_section(pilot, section["id"], section["body"] + gap + own, summary)
                if second:
                    yield from save(pilot, second)
                yield from pilot.finish()

            return solve

        def reopened(pilot: Pilot) -> Script:
            yield from pilot.goto("wiki", f"/sections/{section['id']}")
            yield from find_page(pilot, page["title"])
            yield from edit_section(pilot, section["id"], merged, summary)
            yield from pilot.finish()

        def elsewhere(pilot: Pilot) -> Script:
            yield from edit_section(pilot, other["id"], other["body"] + gap + own, summary)
            yield from pilot.finish()

        return WebDraft(
            plan,
            instruction,
            again(merged),
            changes=together(
                changed("wiki", "sections", section["id"], body=merged),
                added(
                    "wiki",
                    "revisions",
                    revision_row(page["id"], section["id"], doer, note),
                    revision_row(page["id"], section["id"], people[0].login, summary),
                ),
            ),
            alternatives={"reopened": reopened},
            mutants={
                "overwrites": again(section["body"] + gap + own),
                "gives_up": again(""),
                "own_first": again(
                    section["body"] + gap + own + gap + theirs[len(section["body"]) :].strip()
                ),
                "elsewhere": elsewhere,
            },
            turns=25,
        )


class FindOrigin(WebTemplate):
    """Find who first introduced a figure that has since been changed and restored."""

    name: ClassVar[str] = "wiki_origin"
    levels: ClassVar[tuple[Level, ...]] = ("medium",)

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw a building with five revisions of its key facts."""
        plan = scene.plan("wiki")
        store = scene.store(plan, "wiki")
        page = scene.pick(buildings(store))
        facts = facts_of(store, page["id"])
        fact, side = facts[1], facts[3]
        people = scene.sample(scene.people(plan)[1:], 4)
        values = [other_value(scene, fact) for _ in range(3)]
        now = fact["value"]
        if len({*values, now}) < 4:
            return None
        top = int(store.value("SELECT max(id) FROM revisions") or 0)
        steps = [
            (values[0], values[1], 0),
            (values[1], now, 1),
            ("", "", 3),
            (now, values[2], 2),
            (values[2], now, 3),
        ]
        edits: list[Any] = []
        for place, (before, after, who) in enumerate(steps, 1):
            rows = ({**fact, "value": each} for each in (before, after))
            old, new = rows if before else (side, {**side, "source": side["source"]})
            if not before:
                old = {**side, "value": other_value(scene, side)}
            stamp = f"{plan.start[:10]} 0{place}:1{place}:00"
            note = scene.pick(("", scene.say("figure", "数字"), scene.say("checked", "已核对")))
            edits.append(
                infobox_revision(
                    top + place, page["id"], people[who].login, stamp, note, [old], [new]
                )
            )
        plan = plan.with_edits(edits)
        right = [people[1].name, str(top + 2)]
        instruction = scene.say(
            f'Who first brought in the figure that the key facts of "{page["title"]}" now give as '
            f'"{fact["name"]}", and in which revision? Answer with two values: the editor\'s name '
            "as the wiki shows it, and the number of the revision.",
            f"“{page['title']}”基本信息中“{fact['name']}”现有的数字，"
            "最早由谁写入？在哪个修订中？请回答两个值：百科显示的编辑者姓名，以及修订编号。",
        )

        def answer(values: Sequence[str], revisions: Sequence[int]) -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from pilot.goto("wiki", f"/pages/{page['id']}/history")
                for number in revisions:
                    yield from pilot.goto("wiki", f"/revisions/{number}")
                yield from pilot.finish("RETRIEVE", values)

            return solve

        return WebDraft(
            plan,
            instruction,
            answer(right, (top + 5, top + 4, top + 2)),
            answer=ExpectedAnswer(data=tuple(right)),
            evidence=(rf"/revisions/{top + 2}$",),
            alternatives={"forwards": answer(right, (top + 1, top + 2, top + 3))},
            mutants={
                "latest": answer([people[3].name, str(top + 5)], (top + 5,)),
                "first": answer([people[0].name, str(top + 1)], (top + 1, top + 2)),
                "unseen": answer(right, (top + 1,)),
            },
            turns=25,
        )


TEMPLATES: tuple[WebTemplate, ...] = (
    MergeConflict(),
    FindOrigin(),
)
