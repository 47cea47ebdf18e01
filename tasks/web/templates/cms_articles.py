"""Tasks on articles: times, archives and counts."""

from typing import Any, ClassVar

from hexathlon.tasks.source import Script
from hexathlon.tasks.task import Level
from hexathlon.tasks.web.pilot import Pilot
from hexathlon.tasks.web.templates.cms import then_finish
from hexathlon.tasks.web.templates.cms_steps import (
    click_step,
    edit_article,
    schedule,
    tick_and_apply,
)
from hexathlon.tasks.web.templates.draft import (
    ExpectedAnswer,
    Solver,
    WebDraft,
    WebScene,
    WebTemplate,
    changed,
    together,
)
from hexathlon.tasks.web.world.sites.cms.vocabulary import label_of

__all__ = ["TEMPLATES"]


class ScheduleAt(WebTemplate):
    """Schedule an article for a time; in the twin another article has the slot."""

    name: ClassVar[str] = "cms_schedule"
    levels: ClassVar[tuple[Level, ...]] = ("easy", "medium")
    twins: ClassVar[bool] = True

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw an article in review and a time; the day of another article decides."""
        plan = scene.plan("cms")
        store = scene.store(plan, "cms")
        rows = store.rows("SELECT * FROM articles WHERE status = 'review' ORDER BY id")
        editors = store.rows("SELECT login, name FROM authors WHERE role = 'editor' ORDER BY name")
        picture = store.value("SELECT id FROM media WHERE alt <> '' ORDER BY id DESC")
        if len(rows) < 3 or picture is None:
            return None
        row, holder, near = scene.sample(rows, 3)
        reviewer = scene.pick([each for each in editors if each["login"] != row["author"]])
        day = scene.today(plan)
        late, moment = (f"{day.replace(day=day.day + 1)} {time}" for time in ("15:40", "15:10"))
        away = f"{day.replace(day=day.day + 2)} 15:10"
        sql = "UPDATE articles SET status = 'scheduled', reviewer = ?, publish_at = ? WHERE id = ?"
        plan = plan.with_edits(
            [
                (
                    "cms",
                    "UPDATE articles SET image = ?, reviewer = '' WHERE id = ?",
                    (picture, row["id"]),
                ),
                ("cms", sql, (reviewer["login"], away if scene.feasible else moment, holder["id"])),
                ("cms", sql, (reviewer["login"], late, near["id"])),
            ]
        )
        instruction = scene.say(
            f'Make {reviewer["name"]} the reviewer of "{row["title"]}" and schedule the article '
            f"for {moment}. If another article already has exactly that time, change nothing at "
            "all and report that the action is not allowed, with the number of that article.",
            f"把“{row['title']}”的审稿人设为{reviewer['name']}，并将其排期到{moment}。"
            "如果另有文章恰好占用该时间，就什么都不要改，并以“不允许的操作”报告，"
            "附上那篇文章的编号。",
        )

        def name(pilot: Pilot) -> Script:
            return edit_article(pilot, row["id"], {"reviewer": reviewer["name"]})

        def put(when: str) -> Any:
            return lambda pilot: schedule(pilot, row["id"], when)

        def report(record: int) -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from pilot.goto("cms", "/plan")
                yield from pilot.refuse("ACTION_NOT_ALLOWED_ERROR", str(record))

            return solve

        def from_list(pilot: Pilot) -> Script:
            yield from pilot.goto("cms", "/articles?status=scheduled&sort=publish_at")
            yield from pilot.goto("cms", "/plan")
            yield from pilot.refuse("ACTION_NOT_ALLOWED_ERROR", f"#{holder['id']}")

        if not scene.feasible:
            return WebDraft(
                plan,
                instruction,
                report(holder["id"]),
                evidence=(r"cms\.hexathlon\.test/(plan|articles\?|articles/\d)",),
                answer=ExpectedAnswer("ACTION_NOT_ALLOWED_ERROR", record=str(holder["id"])),
                alternatives={"from_list": from_list},
                mutants={
                    "near": report(near["id"]),
                    "does_it": then_finish(name, put(moment)),
                    "own": report(row["id"]),
                },
                turns=25,
            )
        return WebDraft(
            plan,
            instruction,
            then_finish(name, put(moment)),
            changes=changed(
                "cms",
                "articles",
                row["id"],
                reviewer=reviewer["login"],
                status="scheduled",
                publish_at=moment,
            ),
            alternatives={
                "plan_first": then_finish(lambda p: p.goto("cms", "/plan"), name, put(moment))
            },
            mutants={
                "refuses": report(holder["id"]),
                "other_time": then_finish(name, put(late[:-2] + "41")),
                "only_reviewer": then_finish(name),
            },
            turns=25,
        )


class ArchiveOld(WebTemplate):
    """Archive the published articles of one author and section, apart from featured ones."""

    name: ClassVar[str] = "cms_archive"
    levels: ClassVar[tuple[Level, ...]] = ("medium",)

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw a section and a date that select a few articles."""
        plan = scene.plan("cms")
        store = scene.store(plan, "cms")
        rows = store.rows("SELECT * FROM articles WHERE status = 'published' ORDER BY publish_at")
        desk = scene.pick(sorted({row["section"] for row in rows}))
        own = [row for row in rows if row["section"] == desk]
        if len(own) < 12:
            return None
        day = own[int(scene.pick(range(4, 9)))]["publish_at"][:10]
        due = {row["id"] for row in own if row["publish_at"][:10] < day and not row["featured"]}
        again = {
            row["id"]
            for row in store.rows(
                "SELECT id FROM articles WHERE status = 'published' AND section = ? AND "
                "publish_at < ? AND featured = 0",
                (desk, day),
            )
        }
        kept = {row["id"] for row in own if row["publish_at"][:10] < day and row["featured"]}
        edge = {row["id"] for row in own if row["publish_at"][:10] == day}
        if due != again or not 2 <= len(due) <= 8 or not kept:
            return None
        label = label_of(desk, scene.language)
        instruction = scene.say(
            f'Archive every published article of the section "{label}" that appeared before {day} '
            "(not on that day), except featured ones. Leave everything else as it is.",
            f"把“{label}”栏目中在{day}之前（不含当天）发布的所有文章归档，推荐文章除外。"
            "其他内容保持不变。",
        )

        def bulk(numbers: set[int]) -> Any:
            def solve(pilot: Pilot) -> Script:
                left = set(numbers)
                page = 1
                while left:
                    yield from pilot.goto(
                        "cms", f"/articles?section={desk}&sort=publish_at&page={page}"
                    )
                    here = {each for each in left if pilot.shows(f'checkbox "#{each}"')}
                    yield from tick_and_apply(pilot, here, "archive")
                    left -= here
                    page += 1

            return solve

        def singly(pilot: Pilot) -> Script:
            for number in sorted(due):
                yield from click_step(pilot, number, "archive", confirm=True)

        return WebDraft(
            plan,
            instruction,
            then_finish(bulk(due)),
            changes=together(
                *(changed("cms", "articles", number, status="archived") for number in sorted(due))
            ),
            alternatives={"singly": then_finish(singly)},
            mutants={
                "featured_too": then_finish(bulk(due | kept)),
                "one_missed": then_finish(bulk(due - {min(due)})),
                "edge": then_finish(bulk(due | edge)),
            },
            turns=40,
        )


class CountPublished(WebTemplate):
    """Count articles under three conditions and find the earliest."""

    name: ClassVar[str] = "cms_count"
    levels: ClassVar[tuple[Level, ...]] = ("medium",)

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw a section and a month."""
        plan = scene.plan("cms")
        store = scene.store(plan, "cms")
        rows = store.rows(
            "SELECT * FROM articles WHERE status IN ('published', 'archived') ORDER BY "
            "publish_at, id"
        )
        row = scene.pick(rows)
        desk, month = row["section"], row["publish_at"][:7]
        own = [
            each
            for each in rows
            if each["section"] == desk and each["publish_at"].startswith(month)
        ]
        live = [each for each in own if each["status"] == "published"]
        count = store.value(
            "SELECT count(*) FROM articles WHERE status = 'published' AND section = ? AND "
            "substr(publish_at, 1, 7) = ?",
            (desk, month),
        )
        if (
            len(live) < 2
            or len(own) == len(live)
            or count != len(live)
            or live[0]["publish_at"] == live[1]["publish_at"]
        ):
            return None
        label = label_of(desk, scene.language)
        right = [str(count), str(live[0]["id"])]
        instruction = scene.say(
            f'How many articles of the section "{label}" that appeared in {month} are still '
            "published (not archived), and which of them appeared first? Answer with two values: "
            "the count, then that article's number.",
            f"“{label}”栏目在{month}发布的文章中，目前仍为已发布（未归档）的有多少篇？其中最早发布"
            "的是哪一篇？请回答两个值：篇数，然后是那篇文章的编号。",
        )

        def answer(values: list[str], *, look: bool = True) -> Solver:
            def solve(pilot: Pilot) -> Script:
                if look:
                    yield from pilot.goto(
                        "cms", f"/articles?section={desk}&status=published&sort=publish_at"
                    )
                yield from pilot.finish("RETRIEVE", values)

            return solve

        def by_form(pilot: Pilot) -> Script:
            yield from pilot.look()
            yield from pilot.select(pilot.words("cms", "section"), label)
            yield from pilot.click("button", pilot.words("cms", "filter"))
            yield from pilot.finish("RETRIEVE", [right[0], f"{right[1]}"])

        return WebDraft(
            plan,
            instruction,
            answer(right),
            answer=ExpectedAnswer(data=tuple(right)),
            evidence=(r"cms\.hexathlon\.test/articles(\?|/\d)",),
            alternatives={"by_form": by_form},
            mutants={
                "archived_too": answer([str(len(own)), right[1]]),
                "unseen": answer(right, look=False),
                "last": answer([right[0], str(live[-1]["id"])]),
            },
            turns=30,
        )


TEMPLATES: tuple[WebTemplate, ...] = (
    ScheduleAt(),
    ArchiveOld(),
    CountPublished(),
)
