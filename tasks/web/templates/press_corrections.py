"""Hard tasks across the editorial system and the wiki: decide which is right, and correct the other."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, ClassVar

from hexathlon.tasks.source import Script
from hexathlon.tasks.task import Level
from hexathlon.tasks.web.pilot import Pilot
from hexathlon.tasks.web.templates.cms_steps import edit_article, issue_erratum
from hexathlon.tasks.web.templates.draft import (
    Solver,
    WebDraft,
    WebScene,
    WebTemplate,
    added,
    changed,
    together,
)
from hexathlon.tasks.web.templates.wiki import facts_of, other_value
from hexathlon.tasks.web.templates.wiki_steps import buildings
from hexathlon.tasks.web.world.gazetteer import SOURCES
from hexathlon.tasks.web.world.sites.cms.vocabulary import label_of
from hexathlon.tasks.web.world.store import StoreRow

__all__ = ["TEMPLATES", "at_a_glance"]


def at_a_glance(scene: WebScene, title: str, fact: StoreRow, value: str) -> str:
    """Return the sentence of an article that gives a figure."""
    name = fact["name"].lower()
    return scene.say(f" At a glance: {title}, {name} {value}.", f"速览：{title}，{name}{value}。")


class CorrectArticles(WebTemplate):
    """Correct published articles by the wiki and the policy on corrections."""

    name: ClassVar[str] = "press_corrections"
    levels: ClassVar[tuple[Level, ...]] = ("medium",)

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw five articles: outdated, wrong, opinion, corrected already, and right."""
        plan = scene.plan("cms", "wiki")
        cms, wiki = scene.store(plan, "cms"), scene.store(plan, "wiki")
        today = scene.today(plan)
        pages = scene.sample(buildings(wiki), 5)
        articles = scene.sample(
            cms.rows("SELECT * FROM articles WHERE status = 'published' ORDER BY id"), 5
        )
        kinds = scene.sample(["outdated", "wrong", "opinion", "corrected", "right"], 5)
        slot = cms.value("SELECT substr(publish_at, 12) FROM articles WHERE status = 'published'")
        edits: list[Any] = []
        cases: list[dict[str, Any]] = []
        for page, article, kind in zip(pages, articles, kinds, strict=True):
            fact = facts_of(wiki, page["id"])[scene.pick((1, 3))]
            old = other_value(scene, fact)
            year = today.year - 1
            change = f"{year}-0{scene.pick((4, 5, 6))}"
            month = int(change[-1])
            verb = scene.say(
                f" On 1 {('April', 'May', 'June')[month - 4]} {year} works ended that brought a "
                f"change ({fact['name'].lower()}: from {old} to {fact['value']}).",
                f"{year}年{month}月1日工程完工，{fact['name'].lower()}由{old}变为{fact['value']}。",
            )
            edits += [
                (
                    "wiki",
                    "UPDATE sections SET body = body || ? WHERE page = ? AND position = 2",
                    (verb, page["id"]),
                ),
                (
                    "wiki",
                    "UPDATE facts SET source = ? WHERE id = ?",
                    (f"{SOURCES['survey'][scene.language]}, {year}", fact["id"]),
                ),
            ]
            days = int(scene.pick((12, 25, 37)))
            first = today.replace(year=year, month=month, day=1)
            appeared = first + timedelta(days=-days if kind == "outdated" else days)
            shown = fact["value"] if kind == "right" else old
            body = article["body"] + at_a_glance(scene, page["title"], fact, shown)
            section = "opinion" if kind == "opinion" else scene.pick(("news", "culture"))
            edits.append(
                (
                    "cms",
                    "UPDATE articles SET body = ?, section = ?, publish_at = ? WHERE id = ?",
                    (body, section, f"{appeared} {slot}", article["id"]),
                )
            )
            text = scene.say(
                f"{page['title']}: {fact['value']}, not {old}.",
                f"{page['title']}：应为{fact['value']}，而非{old}。",
            )
            if kind == "corrected":
                edits.append(
                    (
                        "cms",
                        "INSERT INTO errata (article, kind, text, issued) VALUES (?, "
                        "'correction', ?, ?)",
                        (article["id"], text, f"{appeared + timedelta(days=5)} 10:00:00"),
                    )
                )
            cases.append(
                {
                    "kind": kind,
                    "article": article,
                    "text": text,
                    "wrong": body,
                    "body": body.replace(
                        at_a_glance(scene, page["title"], fact, old),
                        at_a_glance(scene, page["title"], fact, fact["value"]),
                    ),
                }
            )
        if len({row["title"] for row in articles}) < 5 or len({case["text"] for case in cases}) < 5:
            return None
        plan = plan.with_edits(edits)
        names = "; ".join(f'"{row["title"]}"' for row in articles)
        instruction = scene.say(
            "Compare what these published articles say at a glance with the wiki, which has "
            f"authority for the figures of buildings and tells when they changed: {names}. Do for "
            "each article what the policy on corrections asks for. In "
            'texts, replace only the figure. Word errata as "NAME: RIGHT, not WRONG.", for '
            'instance "Quay Bridge: 80 m, not '
            "75 m.\", with the wiki's figure as the right one and the figures as they are "
            "written there and in the article. Leave the wiki as it is.",
            "请将这些已发布文章中“速览”的内容与百科对照，建筑数据以百科为准，"
            f"百科也写明了数据何时变化：{names}。每篇按更正规定处理。正文只替换该数字。"
            "勘误写作“名称：应为正确数字，而非错误数字。”，例如“码头桥：应为80米，而非75米。”，"
            "正确数字以百科为准，写法照百科和文章。不要改动百科。",
        )

        def do(case: dict[str, Any], kind: str, *, fix: bool) -> Any:
            def solve(pilot: Pilot) -> Script:
                number = case["article"]["id"]
                if fix:
                    yield from edit_article(pilot, number, {"body": case["body"]})
                if kind:
                    yield from issue_erratum(
                        pilot, number, label_of(kind, scene.language), case["text"]
                    )

            return solve

        plans = {
            "outdated": ("clarification", False),
            "wrong": ("correction", True),
            "opinion": ("correction", False),
            "corrected": ("", False),
            "right": ("", False),
        }

        def whole(order: Sequence[dict[str, Any]], **other: tuple[str, bool]) -> Solver:
            def solve(pilot: Pilot) -> Script:
                for case in order:
                    kind, fix = {**plans, **other}[case["kind"]]
                    yield from do(case, kind, fix=fix)(pilot)
                yield from pilot.finish()

            return solve

        expected: list[Any] = []
        for case in cases:
            kind, fix = plans[case["kind"]]
            if kind:
                expected.append(
                    added(
                        "cms",
                        "errata",
                        {"article": case["article"]["id"], "kind": kind, "text": case["text"]},
                    )
                )
            if fix:
                expected.append(
                    changed("cms", "articles", case["article"]["id"], body=case["body"])
                )
        return WebDraft(
            plan,
            instruction,
            whole(cases),
            changes=together(*expected),
            alternatives={"backwards": whole(cases[::-1])},
            mutants={
                "all_corrected": whole(cases, outdated=("correction", True)),
                "opinion_text": whole(cases, opinion=("correction", True)),
                "twice": whole(cases, corrected=("correction", False)),
                "no_erratum": whole(cases, wrong=("", True)),
                "wrong_kind": whole(cases, outdated=("correction", False)),
            },
            turns=80,
        )


TEMPLATES: tuple[WebTemplate, ...] = (CorrectArticles(),)
