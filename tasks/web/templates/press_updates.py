"""A hard task across the editorial system and the wiki: facts brought up to date."""

from collections.abc import Sequence
from typing import Any, ClassVar

from hexathlon.tasks.source import Script
from hexathlon.tasks.task import Level
from hexathlon.tasks.web.pilot import Pilot
from hexathlon.tasks.web.templates.draft import (
    Solver,
    WebDraft,
    WebScene,
    WebTemplate,
    added,
    changed,
    together,
)
from hexathlon.tasks.web.templates.press_corrections import at_a_glance
from hexathlon.tasks.web.templates.wiki import facts_of, other_value
from hexathlon.tasks.web.templates.wiki_evidence import Claim, choose_claim, ranking_of
from hexathlon.tasks.web.templates.wiki_steps import buildings, edit_facts, revision_row
from hexathlon.tasks.web.world.gazetteer import SOURCES
from hexathlon.tasks.web.world.store import StoreRow

__all__ = ["TEMPLATES"]


class UpdateFromArticles(WebTemplate):
    """Update the wiki from articles where its guideline prefers them."""

    name: ClassVar[str] = "press_to_wiki"
    levels: ClassVar[tuple[Level, ...]] = ("medium",)

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw four pages and ten articles: older, corrected, withdrawn, not yet published."""
        plan = scene.plan("wiki", "cms")
        wiki, cms = scene.store(plan, "wiki"), scene.store(plan, "cms")
        ranking, today = ranking_of(wiki), scene.today(plan)
        place = ranking.index("courier")
        below = [key for key in ranking[place + 1 :] if key != "board"] or ["board"]
        above = [key for key in ranking[:place] if key != "board"]
        if not above and ranking.index("register") < place:
            return None
        pages = scene.sample(buildings(wiki), 4)
        articles = scene.sample(
            cms.rows("SELECT * FROM articles WHERE status = 'published' ORDER BY id"), 12
        )
        kinds = scene.sample(["corrected", "withdrawn", "same", "outranked"], 4)
        edits: list[Any] = []
        rights: dict[int, tuple[StoreRow, Claim]] = {}
        naive: dict[int, tuple[StoreRow, Claim]] = {}
        left = list(articles)
        for page, kind in zip(pages, kinds, strict=True):
            facts = facts_of(wiki, page["id"])
            fact = facts[scene.pick((1, 3))]
            source = {"corrected": scene.pick(below), "withdrawn": "board", "same": "courier"}.get(
                kind
            )
            if kind == "outranked":
                if above and scene.rng.random() < 0.5:
                    source = scene.pick(above)
                else:
                    fact, source = facts[0], "register"
            assert source is not None
            values: list[str] = []
            while len(values) < 3:
                value = other_value(scene, fact)
                if value not in (*values, fact["value"]):
                    values.append(value)
            now = Claim(source, today.year - (9 if kind == "same" else 4), str(fact["value"]))
            edits.append(
                (
                    "wiki",
                    "UPDATE facts SET source = ? WHERE id = ?",
                    (f"{SOURCES[source][scene.language]}, {now.year}", fact["id"]),
                )
            )
            ages = [
                (3, "published"),
                (2, "published"),
                (1, "archived" if kind == "withdrawn" else "review"),
            ]
            claims = [now]
            for (back, status), value in zip(ages, values, strict=True):
                if kind == "outranked" and back == 3:
                    continue
                row = left.pop() if left else None
                if row is None:
                    return None
                moment = f"{today.year - back}-0{scene.pick(range(1, 9))}-1{scene.pick(range(9))}"
                told = value
                if back == 2 and kind in ("corrected", "same"):
                    told = other_value(scene, {**fact, "value": value})
                    text = scene.say(
                        f"{page['title']}: {value}, not {told}.",
                        f"{page['title']}：应为{value}，而非{told}。",
                    )
                    edits.append(
                        (
                            "cms",
                            "INSERT INTO errata (article, kind, text, issued) VALUES (?, "
                            "'correction', ?, ?)",
                            (row["id"], text, f"{moment} 19:00:00"),
                        )
                    )
                body = row["body"] + at_a_glance(scene, page["title"], fact, told)
                when = "" if status == "review" else f"{moment} 12:00"
                edits.append(
                    (
                        "cms",
                        "UPDATE articles SET body = ?, status = ?, publish_at = ? WHERE id = ?",
                        (body, status, when, row["id"]),
                    )
                )
                if status == "published":
                    claims.append(Claim("courier", today.year - back, value))
                naive[fact["id"]] = (
                    {**fact, "page": page["id"]},
                    Claim("courier", today.year - back, told),
                )
            right = choose_claim(claims, ranking, rebuilt=0, is_year=fact["position"] == 1)
            rows = sorted(
                claims,
                key=lambda each: (each.source == "board", ranking.index(each.source), -each.year),
            )
            if fact["position"] == 1:
                rows.sort(key=lambda each: each.source != "register")
            if rows[0] != right or (right == now) != (kind == "outranked"):
                return None
            if right != now:
                rights[fact["id"]] = ({**fact, "page": page["id"]}, right)
                naive.setdefault(fact["id"], rights[fact["id"]])
        plan = plan.with_edits(edits)
        named = {
            row["id"]: row
            for row in (facts_of(wiki, page["id"])[k] for page in pages for k in range(4))
        }
        asked = "; ".join(
            f'"{page["title"]}" ({named[key]["name"]})'
            for page in pages
            for key in naive
            if named[key]["page"] == page["id"]
        )
        summary = scene.say("from the Courier", "据信使报")
        instruction = scene.ask(
            plan,
            "Bring these key facts of the wiki up to date from the articles in the Courier's "
            f"editorial system: {asked}. Only published articles count, not archived ones nor "
            "those still in work, and each with its errata applied. The wiki's guideline on "
            "sources decides whether an article goes before the source that a page gives now; if "
            "not, the page stays as it is. The year of an article's source is the year in which "
            "it appeared. Change value and source, save "
            f'each page once, edit summary "{summary}".',
            f"请依据信使报编辑系统中的文章更新百科的下列基本信息：{asked}。只计已发布的文章，"
            "已归档和尚在处理中的不计，每篇均以其勘误为准。文章是否优先于页面现有来源，"
            "由百科的来源指南决定；不优先的，页面保持不变。文章来源的年份为其发布年份。"
            f"更改值和来源，每个页面保存一次，编辑摘要写“{summary}”。",
        )
        login = scene.people(plan)[0].login

        def cited(claim: Claim) -> str:
            return f"{SOURCES[claim.source][scene.language]}, {claim.year}"

        def put(choice: Sequence[tuple[StoreRow, Claim]], note: str = summary) -> Solver:
            def solve(pilot: Pilot) -> Script:
                for fact, claim in choice:
                    values = {fact["name"]: (claim.value, cited(claim))}
                    yield from edit_facts(pilot, fact["page"], values, note)
                yield from pilot.finish()

            return solve

        chosen = list(rights.values())
        outranked = [each for key, each in naive.items() if key not in rights]
        latest = [naive[key] for key in rights]
        return WebDraft(
            plan,
            instruction,
            put(chosen),
            changes=together(
                *(
                    together(
                        changed(
                            "wiki", "facts", fact["id"], value=claim.value, source=cited(claim)
                        ),
                        added("wiki", "revisions", revision_row(fact["page"], 0, login, summary)),
                    )
                    for fact, claim in chosen
                )
            ),
            alternatives={"backwards": put(chosen[::-1])},
            mutants={
                "latest_anywhere": put(latest),
                "all_four": put([*chosen, *outranked]),
                "two": put(chosen[:2]),
                "no_summary": put(chosen, ""),
            },
            turns=70,
        )


TEMPLATES: tuple[WebTemplate, ...] = (UpdateFromArticles(),)
