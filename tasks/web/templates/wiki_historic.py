"""A hard task on the wiki: filing pages by a guideline with exceptions."""

import json
from collections.abc import Sequence
from typing import ClassVar

from hexathlon.tasks.source import Script
from hexathlon.tasks.task import Level
from hexathlon.tasks.web.pilot import Pilot
from hexathlon.tasks.web.templates.draft import (
    Solver,
    WebDraft,
    WebScene,
    WebTemplate,
    added,
    removed,
    together,
)
from hexathlon.tasks.web.templates.wiki_steps import (
    add_category,
    buildings,
    number_in,
)
from hexathlon.tasks.web.world.sites.wiki.guidelines import HISTORIC

__all__ = ["TEMPLATES"]


class FileHistoric(WebTemplate):
    """Audit a category of buildings of several kinds in one town."""

    name: ClassVar[str] = "wiki_historic"
    levels: ClassVar[tuple[Level, ...]] = ("medium",)

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw a town and kinds with eight to fourteen pages, some of them filed wrongly."""
        plan = scene.plan("wiki")
        store = scene.store(plan, "wiki")
        rules = json.loads(store.value("SELECT data FROM _rules"))
        name = HISTORIC[scene.language]
        towns = store.rows(
            "SELECT p.id, p.title FROM pages p JOIN categories c ON c.page = p.id WHERE NOT "
            "EXISTS (SELECT 1 FROM facts f WHERE f.page = p.id) AND p.kind = 'article' ORDER BY "
            "p.id"
        )
        museum, mill, station = (
            store.value("SELECT name FROM categories WHERE name IN (?, ?)", pair)
            for pair in (("Museums", "博物馆"), ("Mills", "磨坊"), ("Railway stations", "火车站"))
        )
        everywhere = buildings(store)
        for town in scene.sample(towns, len(towns)):
            sights = str(
                store.value(
                    "SELECT body FROM sections WHERE page = ? AND position = 2", (town["id"],)
                )
            )
            local = [row for row in everywhere if f"[[{row['title']}]]" in sights]
            more = sorted({row["category"] for row in local} - {museum, mill, station})
            kinds = [mill, museum, station, scene.pick(more)] if more else []
            pages = [row for row in local if row["category"] in kinds]
            if 8 <= len(pages) <= 15 and len({row["category"] for row in pages}) > 2:
                break
        else:
            return None
        due: set[int] = set()
        for row in pages:
            facts = store.rows("SELECT * FROM facts WHERE page = ? ORDER BY position", (row["id"],))
            year, limit = int(facts[0]["value"]), rules["historic_year"]
            if row["category"] == mill:
                limit = rules["historic_year_mills"]
            right = year < limit and row["category"] != station
            if row["category"] == museum and number_in(facts[3]["value"]) < rules["museum_rooms"]:
                right = False
            if right:
                due.add(row["id"])
        again = {
            row["page"]
            for row in store.rows(
                "SELECT f.page FROM facts f JOIN facts g ON g.page = f.page AND g.position = 4 "
                "JOIN categories c ON c.page = f.page WHERE f.position = 1 AND c.name <> ? AND "
                "CAST(f.value AS INTEGER) < CASE WHEN c.name = ? THEN ? ELSE ? END AND (c.name "
                "<> ? OR CAST(g.value AS INTEGER) >= ?)",
                (
                    station,
                    mill,
                    rules["historic_year_mills"],
                    rules["historic_year"],
                    museum,
                    rules["museum_rooms"],
                ),
            )
        }
        ids = [row["id"] for row in pages]
        simple = {
            row["id"]
            for row in pages
            if int(
                store.value("SELECT value FROM facts WHERE page = ? AND position = 1", (row["id"],))
            )
            < rules["historic_year"]
        }
        if due != again & set(ids) or not simple - due or len(due) < 2:
            return None
        wrong = set(scene.sample(sorted(set(ids) - due), 2))
        filed = set(scene.sample(sorted(due), len(due) // 2)) | wrong
        if len(due - filed) > 5 or not due - filed:
            return None
        entries = {number: 90_000 + place for place, number in enumerate(sorted(filed))}
        plan = plan.with_edits(
            [
                ("wiki", "INSERT INTO categories VALUES (?, ?, ?)", (entry, number, name))
                for number, entry in entries.items()
            ]
        )
        shown = scene.say(", ", "、").join(dict.fromkeys(kinds))
        instruction = scene.say(
            f'Check the category "{name}" for every building that the page "{town["title"]}" lists '
            f"under its sights and that is filed under one of these: {shown}. Afterwards exactly "
            "those of them that belong there by the wiki's guideline are to stand in it. Change "
            "no other page.",
            f"请就页面“{town['title']}”“名胜”一节所列、且归入下列分类之一的所有建筑，"
            f"检查“{name}”分类：{shown}。完成后，其中恰好应是按百科指南属于该分类的建筑。"
            "不要改动其他页面。",
        )
        add, out = sorted(due - filed), sorted(wrong)

        def do(adding: Sequence[int], removing: Sequence[int]) -> Solver:
            def solve(pilot: Pilot) -> Script:
                for number in adding:
                    yield from add_category(pilot, number, name)
                for number in removing:
                    yield from pilot.goto("wiki", f"/pages/{number}?stay=1")
                    labels = [
                        each.format(name=name) for each in pilot.words("wiki", "remove_category")
                    ]
                    yield from pilot.click("button", labels)
                yield from pilot.finish()

            return solve

        return WebDraft(
            plan,
            instruction,
            do(add, out),
            changes=together(
                added("wiki", "categories", *({"page": number, "name": name} for number in add)),
                removed("wiki", "categories", *(entries[number] for number in out)),
            ),
            alternatives={"backwards": do(add[::-1], out[::-1])},
            mutants={
                "year_only": do(sorted(simple - filed), [n for n in out if n not in simple]),
                "adds_only": do(add, ()),
                "one_more": do(
                    [*add, next(n for n in ids if n not in due and n not in filed)]
                    if set(ids) - due - filed
                    else [],
                    out,
                ),
                "one_less": do(add, out[:-1]),
            },
            turns=min(80, 2 * (len(pages) + 6) + 4 * len(add)),
        )


TEMPLATES: tuple[WebTemplate, ...] = (FileHistoric(),)
