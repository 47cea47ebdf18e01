"""Tasks on the wiki that need one or two steps of reasoning."""

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
    removed,
    together,
)
from hexathlon.tasks.web.templates.wiki_steps import (
    add_category,
    buildings,
    edit_facts,
    find_page,
    number_in,
    page_url,
    revision_row,
)
from hexathlon.tasks.web.world.gazetteer import SOURCES
from hexathlon.tasks.web.world.store import SiteStore, StoreRow

__all__ = ["TEMPLATES", "facts_of", "other_value"]


def facts_of(store: SiteStore, page: int) -> list[StoreRow]:
    """Return the key facts of a page."""
    return store.rows("SELECT * FROM facts WHERE page = ? ORDER BY position", (page,))


def other_value(scene: WebScene, fact: StoreRow) -> str:
    """Draw another value of a figure, in the same notation."""
    number = number_in(fact["value"])
    new = number + int(scene.pick((-3, -2, 2, 3, 4, 5)))
    return str(fact["value"]).replace(f"{number:,}", f"{new:,}").replace(str(number), str(new))


def answering(pages: list[int], values: list[str]) -> Solver:
    """Open pages, then answer."""

    def solve(pilot: Pilot) -> Script:
        for page in pages:
            yield from pilot.goto("wiki", f"/pages/{page}")
        yield from pilot.finish("RETRIEVE", values)

    return solve


class ReadFact(WebTemplate):
    """Look up a key fact; at the easy level, the difference between two buildings."""

    name: ClassVar[str] = "wiki_read_fact"
    levels: ClassVar[tuple[Level, ...]] = ("tiny", "easy")

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw one or two buildings of one kind."""
        plan = scene.plan("wiki")
        store = scene.store(plan, "wiki")
        pages = buildings(store)
        first = scene.pick(pages)
        kin = [row for row in pages if row["category"] == first["category"] and row != first]
        if not kin:
            return None
        second = scene.pick(kin)
        place = scene.pick((1, 3))
        one, two = (facts_of(store, row["id"])[place] for row in (first, second))
        near = facts_of(store, first["id"])[4 - place]["value"]
        gap = abs(number_in(one["value"]) - number_in(two["value"]))
        if one["value"] in (two["value"], near) or gap < 2:
            return None

        def searched(pilot: Pilot) -> Script:
            yield from find_page(pilot, first["title"])
            if scene.level == "easy":
                yield from find_page(pilot, second["title"])
            yield from pilot.finish("RETRIEVE", [right])

        if scene.level == "tiny":
            right, read = one["value"], [first["id"]]
            wrong = {
                "other_page": answering(read, [two["value"]]),
                "other_fact": answering(read, [near]),
            }
            instruction = scene.say(
                f'What do the key facts of the page "{first["title"]}" give as "{one["name"]}"? '
                "Answer with one value, as the page writes it.",
                f"页面“{first['title']}”的基本信息中，“{one['name']}”是多少？请按页面写法回答一个"
                "值。",
            )
        else:
            right, read = str(gap), [first["id"], second["id"]]
            wrong = {
                "off_by_one": answering(read, [str(gap + 1)]),
                "first_value": answering(read, [str(number_in(one["value"]))]),
            }
            instruction = scene.say(
                f'Compare "{one["name"]}" in the key facts of "{first["title"]}" and '
                f'"{second["title"]}". '
                "By how much do they differ? Answer with one positive number, without unit or "
                "separators.",
                f"比较“{first['title']}”与“{second['title']}”基本信息中的“{one['name']}”，"
                "两者相差多少？请回答一个正数，不带单位和分隔符。",
            )
        return WebDraft(
            plan,
            instruction,
            answering(read, [right]),
            answer=ExpectedAnswer(data=(right,)),
            evidence=tuple(page_url(page) for page in read),
            alternatives={"searched": searched},
            mutants={**wrong, "unseen": answering([], [right])},
            turns=20,
        )


class SetFact(WebTemplate):
    """Change one key fact; at the easy level its source too, among pages of similar titles."""

    name: ClassVar[str] = "wiki_set_fact"
    levels: ClassVar[tuple[Level, ...]] = ("tiny", "easy")

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw a building and a figure."""
        plan = scene.plan("wiki")
        store = scene.store(plan, "wiki")
        page, other = scene.sample(buildings(store), 2)
        fact = facts_of(store, page["id"])[scene.pick((1, 3))]
        twin = facts_of(store, other["id"])[1]
        value = other_value(scene, fact)
        easy = scene.level == "easy"
        source = f"{scene.pick(list(SOURCES.values()))[scene.language]}, 2026" if easy else None
        summary = scene.say("new measurement", "新数据")
        extra = scene.say(f' and its source to "{source}"', f"，来源改为“{source}”") if easy else ""
        instruction = scene.say(
            f'On the wiki page "{page["title"]}", set the key fact "{fact["name"]}" to '
            f'"{value}"{extra}. '
            f'Save once, with the edit summary "{summary}".',
            f"在百科页面“{page['title']}”上，把基本信息“{fact['name']}”改为“{value}”{extra}。"
            f"保存一次，编辑摘要写“{summary}”。",
        )
        person = scene.people(plan)[0].login
        columns = {"value": value, **({"source": source} if source else {})}

        def do(target: int, name: str, text: str, note: str) -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from edit_facts(pilot, target, {name: (text, source)}, note)
                yield from pilot.finish()

            return solve

        def by_search(pilot: Pilot) -> Script:
            yield from find_page(pilot, page["title"])
            yield from pilot.click("link", pilot.words("wiki", "edit_infobox"))
            yield from edit_facts(pilot, page["id"], {fact["name"]: (value, source)}, summary)
            yield from pilot.finish()

        return WebDraft(
            plan,
            instruction,
            do(page["id"], fact["name"], value, summary),
            changes=together(
                changed("wiki", "facts", fact["id"], **columns),
                added("wiki", "revisions", revision_row(page["id"], 0, person, summary)),
            ),
            alternatives={"by_search": by_search},
            mutants={
                "other_page": do(other["id"], twin["name"], value, summary),
                "no_summary": do(page["id"], fact["name"], value, ""),
                "wrong_value": do(page["id"], fact["name"], value + "0", summary),
            },
            turns=25,
        )


class Refile(WebTemplate):
    """Move a building from a category of another kind to that of its own kind."""

    name: ClassVar[str] = "wiki_refile"
    levels: ClassVar[tuple[Level, ...]] = ("easy",)

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw a building in the wrong category."""
        plan = scene.plan("wiki")
        store = scene.store(plan, "wiki")
        rows = buildings(store)
        page, other = scene.sample(rows, 2)
        names = sorted({row["category"] for row in rows} - {page["category"]})
        if not names:
            return None
        wrong = scene.pick(names)
        entry = store.value("SELECT id FROM categories WHERE page = ?", (page["id"],))
        plan = plan.with_edits(
            [("wiki", "UPDATE categories SET name = ? WHERE id = ?", (wrong, entry))]
        )
        instruction = scene.say(
            f'The page "{page["title"]}" is filed under "{wrong}". Take it out of that category '
            "and file it under the existing category of its kind.",
            f"页面“{page['title']}”被归入“{wrong}”。请把它移出该分类，"
            "并归入与其种类相符的现有分类。",
        )

        def do(add: str, target: int, *, take_out: bool = True) -> Solver:
            def solve(pilot: Pilot) -> Script:
                if take_out:
                    yield from pilot.goto("wiki", f"/pages/{page['id']}?stay=1")
                    labels = [
                        text.format(name=wrong) for text in pilot.words("wiki", "remove_category")
                    ]
                    yield from pilot.click("button", labels)
                yield from add_category(pilot, target, add)
                yield from pilot.finish()

            return solve

        def add_first(pilot: Pilot) -> Script:
            yield from add_category(pilot, page["id"], page["category"])
            labels = [text.format(name=wrong) for text in pilot.words("wiki", "remove_category")]
            yield from pilot.click("button", labels)
            yield from pilot.finish()

        return WebDraft(
            plan,
            instruction,
            do(page["category"], page["id"]),
            changes=together(
                removed("wiki", "categories", entry),
                added("wiki", "categories", {"page": page["id"], "name": page["category"]}),
            ),
            alternatives={"add_first": add_first},
            mutants={
                "keeps_old": do(page["category"], page["id"], take_out=False),
                "other_page": do(page["category"] + "!", other["id"]),
                "new_name": do(page["category"] + "s", page["id"]),
            },
            turns=25,
        )


TEMPLATES: tuple[WebTemplate, ...] = (
    ReadFact(),
    SetFact(),
    Refile(),
)
