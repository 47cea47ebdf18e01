"""A hard task on the wiki: weighing sources by a guideline with exceptions."""

import json
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

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
from hexathlon.tasks.web.templates.wiki_steps import (
    buildings,
    edit_facts,
    number_in,
    revision_row,
)
from hexathlon.tasks.web.world.gazetteer import SOURCES
from hexathlon.tasks.web.world.store import SiteStore, StoreRow

__all__ = ["TEMPLATES", "Claim", "choose_claim", "ranking_of"]


class Claim(NamedTuple):
    """A figure according to a source."""

    source: str
    year: int
    value: str


def ranking_of(store: SiteStore, key: str = "ranking") -> tuple[str, ...]:
    """Return the ranking of sources in the guideline in force."""
    return tuple(json.loads(store.value("SELECT data FROM _rules"))[key])


def choose_claim(
    claims: Sequence[Claim], ranking: Sequence[str], *, rebuilt: int, is_year: bool
) -> Claim:
    """Return the claim that the guideline on sources prefers.

    Args:
        claims: The sources' claims.
        ranking: Sources, the one with most authority first.
        rebuilt: Year in which a rebuilding was finished; 0 for none.
        is_year: Whether the figure is the year of opening.
    """
    register = [each for each in claims if each.source == "register"]
    if is_year and register:
        return max(register, key=lambda each: each.year)
    counting = [each for each in claims if is_year or each.year >= rebuilt]
    better = [each for each in counting if each.source != "board"] or counting
    return min(better, key=lambda each: (ranking.index(each.source), -each.year))


def _by_elimination(
    claims: Sequence[Claim], ranking: Sequence[str], rebuilt: int, is_year: bool
) -> Claim | None:
    """Choose a claim independently: go down the ranking, with the board last."""
    order = [each for each in ranking if each != "board"] + ["board"]
    if is_year:
        order = ["register"] + [each for each in order if each != "register"]
    for source in order:
        years = sorted((each.year for each in claims if each.source == source), reverse=True)
        for year in years:
            if is_year or year >= rebuilt:
                return next(each for each in claims if (each.source, each.year) == (source, year))
    return None


class WeighSources(WebTemplate):
    """Bring key facts of six pages in line with a guideline on sources and its exceptions."""

    name: ClassVar[str] = "wiki_sources"
    levels: ClassVar[tuple[Level, ...]] = ("medium",)

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw six buildings with sources that disagree, here and on the pages of their towns."""
        plan = scene.plan("wiki")
        store = scene.store(plan, "wiki")
        ranking = ranking_of(store)
        others = [ranking_of(store, key) for key in ("ranking_before", "ranking_proposed")]
        pages = scene.sample(buildings(store), 6)
        roles = scene.sample(["year", "year", "rebuilt", "rebuilt", "rebuilt", "plain"], 6)
        top = int(store.value("SELECT max(id) FROM sections"))
        edits: list[Any] = []
        rights: dict[int, tuple[StoreRow, Claim]] = {}
        naive: dict[int, Claim] = {}
        outdated = 0
        for place, page in enumerate(pages):
            facts = store.rows(
                "SELECT * FROM facts WHERE page = ? ORDER BY position", (page["id"],)
            )
            is_year = roles[place] == "year"
            fact = facts[0] if is_year else facts[scene.pick((1, 3))]
            rebuilt = int(scene.pick(range(2004, 2013))) if roles[place] == "rebuilt" else 0
            for _ in range(30):
                claims = self._claims(scene, fact)
                if all(each.year < rebuilt for each in claims):
                    continue
                if roles[place] == "plain":
                    claims = [each for each in claims if each.source != ranking[0]]
                right = choose_claim(claims, ranking, rebuilt=rebuilt, is_year=is_year)
                plain = min(claims, key=lambda each: (ranking.index(each.source), -each.year))
                if plain != right or roles[place] == "plain" or ranking[0] == "register":
                    break
            else:
                return None
            if right != _by_elimination(claims, ranking, rebuilt, is_year):
                return None
            naive[page["id"]] = plain if plain != right else max(claims, key=lambda each: each.year)
            outdated += any(
                choose_claim(claims, order, rebuilt=rebuilt, is_year=is_year) != right
                for order in others
            )
            rights[page["id"]] = (fact, right)
            edits += self._placed(scene, store, page, fact, claims, rebuilt, top + 3 * place, place)
        differs = [page["id"] for page in pages if naive[page["id"]] != rights[page["id"]][1]]
        if outdated < 2 or len(differs) < 4:
            return None
        plan = plan.with_edits(edits)
        after = scene.store(plan, "wiki")
        for fact, right in rights.values():
            now = after.row("SELECT value, source FROM facts WHERE id = ?", (fact["id"],))
            assert now is not None
            if (now["value"], now["source"]) == (right.value, _cited(right, scene)):
                return None
        summary = scene.say("per the guideline on sources", "依来源指南")
        names = "; ".join(f'"{page["title"]}" ({rights[page["id"]][0]["name"]})' for page in pages)
        instruction = scene.ask(
            plan,
            "Bring the following key facts in line with the wiki's guideline on sources that is "
            f"in force, value and source: {names}. Weigh what the pages themselves say about "
            "sources and what the page of their town says. Take the figures as they are written "
            "there. Save "
            f'each page once, with the edit summary "{summary}".',
            f"请按现行的来源指南，更正下列基本信息的值与来源：{names}。"
            "须权衡这些页面自身以及所在城镇页面关于来源的记载。数字照其写法。每个页面保存一次，"
            f"编辑摘要写“{summary}”。",
        )
        person = scene.people(plan)[0].login

        def put(choice: dict[int, Claim], note: str = summary) -> Solver:
            def solve(pilot: Pilot) -> Script:
                for number, claim in choice.items():
                    fact = rights[number][0]
                    values = {fact["name"]: (claim.value, _cited(claim, scene))}
                    yield from edit_facts(pilot, number, values, note)
                yield from pilot.finish()

            return solve

        chosen = {number: right for number, (_, right) in rights.items()}
        years = [page["id"] for page, role in zip(pages, roles, strict=True) if role == "year"]
        return WebDraft(
            plan,
            instruction,
            put(chosen),
            changes=together(
                *(
                    together(
                        changed(
                            "wiki",
                            "facts",
                            fact["id"],
                            value=right.value,
                            source=_cited(right, scene),
                        ),
                        added("wiki", "revisions", revision_row(number, 0, person, summary)),
                    )
                    for number, (fact, right) in rights.items()
                )
            ),
            alternatives={"reversed": put(dict(reversed(chosen.items())))},
            mutants={
                "plain_order": put({**chosen, **{number: naive[number] for number in differs}}),
                "one_plain": put({**chosen, differs[0]: naive[differs[0]]}),
                "years_left": put({n: chosen[n] for n in chosen if n not in years}),
                "no_summary": put(chosen, ""),
                "one_left": put({page["id"]: chosen[page["id"]] for page in pages[1:]}),
            },
            turns=80,
        )

    def _claims(self, scene: WebScene, fact: StoreRow) -> list[Claim]:
        """Draw what six sources say; two of them are the same source in different years."""
        number = number_in(fact["value"])
        figure = str(number) if fact["position"] == 1 else f"{number:,}"
        keys = [*scene.sample(list(SOURCES), 5), scene.pick(("survey", "register", "courier"))]
        gaps = scene.sample([-9, -7, -6, -4, -3, 3, 4, 6, 7, 8, 9, 11], 6)
        years = scene.sample(range(1996, 2026), 6)
        claims = []
        for key, gap, year in zip(keys, gaps, years, strict=True):
            new = str(number + gap) if fact["position"] == 1 else f"{number + gap:,}"
            claims.append(Claim(key, year, str(fact["value"]).replace(figure, new)))
        return claims

    def _placed(
        self,
        scene: WebScene,
        store: SiteStore,
        page: StoreRow,
        fact: StoreRow,
        claims: list[Claim],
        rebuilt: int,
        top: int,
        place: int,
    ) -> list[Any]:
        """Write the claims into the page and the page of the town, and the rebuilding."""
        heading = scene.say("Figures", "数据")
        split = 4 if place % 2 else 3
        lines = [
            scene.say(
                f"{fact['name']}: {each.value} ({SOURCES[each.source]['en']}, {each.year})",
                f"{fact['name']}：{each.value}（{SOURCES[each.source]['zh']}，{each.year}）",
            )
            for each in claims
        ]
        sections = store.rows(
            "SELECT * FROM sections WHERE page = ? ORDER BY position", (page["id"],)
        )
        town = store.row(
            "SELECT s.* FROM sections s JOIN pages p ON p.id = s.page WHERE s.position = 2 AND "
            "s.body LIKE ?",
            (f"%[[{page['title']}]]%",),
        )
        assert town is not None
        insert = "INSERT INTO sections VALUES (?, ?, ?, ?, ?)"
        more = "\n".join(f"{page['title']} – {line}" for line in lines[split:])
        edits: list[Any] = [
            ("wiki", insert, (top + 1, page["id"], 9, heading, "\n".join(lines[:split]))),
            ("wiki", insert, (top + 2, town["page"], 9, heading, more)),
        ]
        if rebuilt:
            text = scene.say(
                f" From {rebuilt - 2} to {rebuilt} it was rebuilt and enlarged.",
                f"{rebuilt - 2}年至{rebuilt}年改建并扩大。",
            )
            edits.append(
                (
                    "wiki",
                    "UPDATE sections SET body = body || ? WHERE id = ?",
                    (text, sections[1]["id"]),
                )
            )
        return edits


def _cited(claim: Claim, scene: WebScene) -> str:
    return f"{SOURCES[claim.source][scene.language]}, {claim.year}"


TEMPLATES: tuple[WebTemplate, ...] = (WeighSources(),)
