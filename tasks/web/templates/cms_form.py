"""A task in the editorial system: a long form, while sessions expire."""

from typing import Any, ClassVar

from hexathlon.tasks.source import Script
from hexathlon.tasks.task import Level
from hexathlon.tasks.web.pilot import Pilot
from hexathlon.tasks.web.templates.cms import then_finish
from hexathlon.tasks.web.templates.cms_steps import (
    add_tag,
    click_step,
    edit_article,
    sign_in_again,
)
from hexathlon.tasks.web.templates.draft import (
    WebDraft,
    WebScene,
    WebTemplate,
    added,
    together,
)
from hexathlon.tasks.web.world.site import password_of
from hexathlon.tasks.web.world.sites.cms.vocabulary import label_of

__all__ = ["TEMPLATES"]


class NewArticle(WebTemplate):
    """Fill in a long form even though the session expires between requests."""

    name: ClassVar[str] = "cms_new"
    levels: ClassVar[tuple[Level, ...]] = ("medium",)

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw an article with many fields; sessions end after six actions without a request."""
        plan = scene.plan("cms", session_actions=6)
        store = scene.store(plan, "cms")
        login = scene.people(plan)[0].login
        writers = store.rows("SELECT * FROM authors WHERE role = 'writer' ORDER BY name")
        author, other = scene.sample(writers, 2)
        editors = store.rows(
            "SELECT * FROM authors WHERE role = 'editor' AND desk = ? ORDER BY name",
            (author["desk"],),
        )
        reviewer = scene.pick(editors)
        picture = scene.pick(store.rows("SELECT * FROM media ORDER BY id"))
        title = scene.say(
            f"Summer hours at {picture['subject']}", f"{picture['subject']}夏季开放时间"
        )
        summary = scene.say("Open until eight from June.", "六月起开放至晚八点。")
        body = scene.say(
            "From 1 June the doors stay open until eight in the evening. Mondays remain closed.",
            "自6月1日起，每天开放至晚八点，周一照常闭馆。",
        )
        label = label_of(author["desk"], scene.language)
        tag, wrong = scene.sample(store.rows("SELECT * FROM tags ORDER BY id"), 2)
        fresh = int(store.value("SELECT max(id) FROM articles")) + 1
        instruction = scene.say(
            f'Create an article: title "{title}", summary "{summary}", text "{body}", section '
            f"{label}, author {author['name']}, reviewer {reviewer['name']}, picture no. "
            f"{picture['id']}, not featured, no embargo. "
            f'Give it the tag "{tag["name"]}" and send it to review. Your login is {login}, your '
            f"password {password_of(login)}; the system signs you out quickly when you do not "
            "load a page.",
            f"新建一篇文章：标题“{title}”，摘要“{summary}”，正文“{body}”，栏目“{label}”，"
            f"作者{author['name']}，审稿人{reviewer['name']}，图片编号{picture['id']}，不推荐，"
            f"无禁发。给它加上标签“{tag['name']}”并提交审稿。您的账号是{login}，"
            f"密码是{password_of(login)}；一段时间不加载页面，系统会很快让您退出登录。",
        )

        def create(writer: str) -> Any:
            def solve(pilot: Pilot) -> Script:
                yield from pilot.goto("cms", "/articles/new")
                yield from pilot.fill(pilot.words("cms", "title"), title)
                yield from pilot.select(pilot.words("cms", "section"), label)
                yield from pilot.select(pilot.words("cms", "author"), writer)
                yield from pilot.click("button", pilot.words("cms", "save"))
                yield from edit_article(pilot, fresh, {"summary": summary, "body": body})
                yield from edit_article(
                    pilot, fresh, {"image": str(picture["id"]), "reviewer": reviewer["name"]}
                )

            return solve

        def at_once(pilot: Pilot) -> Script:
            yield from pilot.goto("cms", "/articles/new")
            for key, value in (("title", title), ("summary", summary), ("body", body)):
                yield from pilot.fill(pilot.words("cms", key), value)
            yield from pilot.select(pilot.words("cms", "section"), label)
            yield from pilot.select(pilot.words("cms", "author"), author["name"])
            yield from pilot.fill(
                pilot.words("cms", "image"), str(picture["id"]), role="spinbutton"
            )
            yield from pilot.select(pilot.words("cms", "reviewer"), reviewer["name"])
            yield from pilot.act("noop")
            yield from pilot.act("noop")
            yield from pilot.act("noop")
            yield from pilot.act("noop")
            yield from pilot.click("button", pilot.words("cms", "save"))
            yield from sign_in_again(pilot, "cms", login, password_of(login))

        def label_it(name: str) -> Any:
            return lambda pilot: add_tag(pilot, fresh, name)

        def submit(pilot: Pilot) -> Script:
            return click_step(pilot, fresh, "submit")

        row = {
            "title": title,
            "summary": summary,
            "body": body,
            "section": author["desk"],
            "author": author["login"],
            "reviewer": reviewer["login"],
            "status": "review",
            "publish_at": "",
            "embargo": "",
            "image": picture["id"],
            "featured": 0,
        }
        return WebDraft(
            plan,
            instruction,
            then_finish(create(author["name"]), label_it(tag["name"]), submit),
            changes=together(
                added("cms", "articles", row),
                added("cms", "article_tags", {"article": fresh, "tag": tag["id"]}),
            ),
            alternatives={
                "expired_first": then_finish(
                    at_once, create(author["name"]), submit, label_it(tag["name"])
                )
            },
            mutants={
                "expired": then_finish(at_once),
                "no_review": then_finish(create(author["name"]), label_it(tag["name"])),
                "other_author": then_finish(create(other["name"]), label_it(tag["name"]), submit),
                "other_tag": then_finish(create(author["name"]), label_it(wrong["name"]), submit),
            },
            turns=50,
        )


TEMPLATES: tuple[WebTemplate, ...] = (NewArticle(),)
