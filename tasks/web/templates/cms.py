"""Tasks in the editorial system that need one or two insights."""

from typing import Any, ClassVar

from hexathlon.tasks.source import Script
from hexathlon.tasks.task import Level
from hexathlon.tasks.web.pilot import Pilot
from hexathlon.tasks.web.templates.cms_steps import (
    add_tag,
    click_step,
    edit_article,
)
from hexathlon.tasks.web.templates.draft import (
    Solver,
    WebDraft,
    WebScene,
    WebTemplate,
    added,
    changed,
    together,
)
from hexathlon.tasks.web.world.sites.cms.vocabulary import label_of

__all__ = ["TEMPLATES", "then_finish"]


def then_finish(*parts: Any) -> Solver:
    """Carry out steps, each a function of the pilot, then finish."""

    def solve(pilot: Pilot) -> Script:
        for part in parts:
            yield from part(pilot)
        yield from pilot.finish()

    return solve


class Submit(WebTemplate):
    """Leave a note on a draft and send it to review."""

    name: ClassVar[str] = "cms_submit"
    levels: ClassVar[tuple[Level, ...]] = ("tiny",)

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw a draft."""
        plan = scene.plan("cms")
        store = scene.store(plan, "cms")
        drafts = store.rows("SELECT id, title FROM articles WHERE status = 'draft' ORDER BY id")
        if len(drafts) < 2:
            # A tiny newsroom may have none: two articles in progress become drafts.
            drafts = store.rows("SELECT id, title FROM articles WHERE status <> 'archived' LIMIT 2")
            back = "UPDATE articles SET status = 'draft', publish_at = '' WHERE id = ?"
            plan = plan.with_edits([("cms", back, (each["id"],)) for each in drafts])
        row, other = scene.sample(drafts, 2)
        remark = scene.say(
            *scene.pick((("Ready.", "可以审了。"), ("Figures checked.", "数字已核对。")))
        )
        instruction = scene.say(
            f'Leave the editorial note "{remark}" on the draft "{row["title"]}" and send it to review.',
            f"给草稿“{row['title']}”添加编辑备注“{remark}”，并提交审稿。",
        )

        def note(pilot: Pilot) -> Script:
            yield from pilot.goto("cms", f"/articles/{row['id']}")
            yield from pilot.fill(pilot.words("cms", "note"), remark)
            yield from pilot.click("button", pilot.words("cms", "add_note"))

        def by_list(pilot: Pilot) -> Script:
            yield from pilot.look()
            yield from pilot.fill(pilot.words("cms", "search"), row["title"])
            yield from pilot.click("button", pilot.words("cms", "filter"))
            yield from pilot.click("link", f"#{row['id']} {row['title']}")
            yield from pilot.click("button", pilot.words("cms", "submit"))
            yield from note(pilot)
            yield from pilot.finish()

        def go(number: int) -> Any:
            return lambda pilot: click_step(pilot, number, "submit")

        login = scene.people(plan)[0].login
        return WebDraft(
            plan,
            instruction,
            then_finish(note, go(row["id"])),
            changes=together(
                changed("cms", "articles", row["id"], status="review"),
                added("cms", "notes", {"article": row["id"], "author": login, "body": remark}),
            ),
            alternatives={"by_list": by_list},
            mutants={
                "other": then_finish(note, go(other["id"])),
                "both": then_finish(note, go(row["id"]), go(other["id"])),
                "no_note": then_finish(go(row["id"])),
                "note_only": then_finish(note),
            },
            turns=15,
        )


class AddTag(WebTemplate):
    """Add a tag to an article with a near-duplicate title."""

    name: ClassVar[str] = "cms_tag"
    levels: ClassVar[tuple[Level, ...]] = ("tiny", "easy")

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw an article and a tag that it lacks; at the easy level two articles."""
        plan = scene.plan("cms")
        store = scene.store(plan, "cms")
        rows = store.rows("SELECT id, title FROM articles ORDER BY id")
        first, second, other = scene.sample(rows, 3)
        tags = store.rows(
            "SELECT * FROM tags WHERE id NOT IN (SELECT tag FROM article_tags WHERE article IN "
            "(?, ?, ?)) ORDER BY id",
            (first["id"], second["id"], other["id"]),
        )
        if len(tags) < 2:
            return None
        tag, wrong = scene.sample(tags, 2)
        targets = [first, second] if scene.level == "easy" else [first]
        names = scene.say(" and ", "和").join(f'"{row["title"]}"' for row in targets)
        instruction = scene.say(
            f'Give {names} the tag "{tag["name"]}".', f"给{names}加上标签“{tag['name']}”。"
        )

        def put(number: int, name: str) -> Any:
            return lambda pilot: add_tag(pilot, number, name)

        right = [put(row["id"], tag["name"]) for row in targets]
        return WebDraft(
            plan,
            instruction,
            then_finish(*right),
            changes=added(
                "cms",
                "article_tags",
                *({"article": row["id"], "tag": tag["id"]} for row in targets),
            ),
            alternatives={"reversed": then_finish(*reversed([*right, lambda pilot: pilot.look()]))},
            mutants={
                "other_tag": then_finish(*(put(row["id"], wrong["name"]) for row in targets)),
                "other_article": then_finish(put(other["id"], tag["name"])),
                "one_more": then_finish(*right, put(other["id"], tag["name"])),
            },
            turns=20,
        )


class OrderMenu(WebTemplate):
    """Drag entries of the site menu."""

    name: ClassVar[str] = "cms_menu"
    levels: ClassVar[tuple[Level, ...]] = ("easy",)

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw one entry to move before another, and one to move to the end."""
        plan = scene.plan("cms")
        store = scene.store(plan, "cms")
        menu = store.rows("SELECT * FROM menu ORDER BY position")
        moved, anchor, last = scene.sample(menu[1:], 3)
        before = [row["id"] for row in menu]

        def order(item: int, target: int, last_too: bool) -> list[int]:
            result = [each for each in before if each != item]
            result.insert(result.index(target), item)
            if last_too:
                result = [each for each in result if each != last["id"]] + [last["id"]]
            return result

        right = order(moved["id"], anchor["id"], True)
        if right == before or order(moved["id"], anchor["id"], False) in (before, right):
            return None
        if right == [each for each in before if each != last["id"]] + [last["id"]]:
            return None
        places = {entry: place for place, entry in enumerate(right, 1)}
        instruction = scene.say(
            f'In the menu of the public site, put "{moved["label"]}" directly before '
            f'"{anchor["label"]}", and '
            f'"{last["label"]}" at the very end.',
            f"在网站菜单中，把“{moved['label']}”紧排在“{anchor['label']}”之前，"
            f"并把“{last['label']}”排到最后。",
        )

        def drag(item: str, target: str) -> Any:
            def solve(pilot: Pilot) -> Script:
                yield from pilot.goto("cms", "/menu")
                goal = (
                    pilot.find("drop zone", pilot.words("cms", "menu_end"))
                    if not target
                    else pilot.find("draggable", target)
                )
                yield from pilot.act(
                    "drag_and_drop", from_bid=pilot.find("draggable", item), to_bid=goal
                )

            return solve

        one, two = drag(moved["label"], anchor["label"]), drag(last["label"], "")
        return WebDraft(
            plan,
            instruction,
            then_finish(one, two),
            changes=together(
                *(
                    changed("cms", "menu", row["id"], position=places[row["id"]])
                    for row in menu
                    if places[row["id"]] != row["position"]
                )
            ),
            alternatives={"reversed": then_finish(two, one)},
            mutants={
                "one": then_finish(one),
                "other": then_finish(two),
                "wrong_way": then_finish(drag(anchor["label"], moved["label"]), two),
            },
            turns=20,
        )


class UploadPicture(WebTemplate):
    """Upload a picture with its data and use it in an article."""

    name: ClassVar[str] = "cms_upload"
    levels: ClassVar[tuple[Level, ...]] = ("easy", "medium")

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw an article in review and two files of similar names."""
        number = int(scene.pick(range(210, 980)))
        files = {f"IMG_{number}{suffix}.jpg": f"picture {number}{suffix}" for suffix in ("", "b")}
        plan = scene.plan("cms", files=files)
        store = scene.store(plan, "cms")
        rows = store.rows(
            "SELECT a.*, m.subject FROM articles a JOIN media m ON m.id = a.image WHERE a.status "
            "IN ('review', 'draft') ORDER BY a.id"
        )
        if len(rows) < 2:
            return None
        row, other = scene.sample(rows, 2)
        fresh = int(store.value("SELECT max(id) FROM media")) + 1
        name, wrong_name = scene.sample(list(files), 2)
        credit = scene.pick(scene.people(plan)[1:]).name
        alt = scene.say(f"{row['subject']} in the evening light", f"暮色中的{row['subject']}")
        licence = scene.pick(("own", "cc-by"))
        label = label_of(licence, scene.language)
        use = scene.level == "medium"
        tail = (
            scene.say(
                f' Then make it the picture of the article "{row["title"]}".',
                f"然后把它设为文章“{row['title']}”的配图。",
            )
            if use
            else ""
        )
        instruction = scene.say(
            f'Upload your file {name} to the media library. It shows "{row["subject"]}", the alt '
            f'text is "{alt}", '
            f'the credit "{credit}", the licence "{label}".{tail}',
            f"把您的文件{name}上传到媒体库。画面为“{row['subject']}”，替代文本为“{alt}”，"
            f"署名为“{credit}”，许可为“{label}”。{tail}",
        )

        def upload(file: str, text: str) -> Any:
            def solve(pilot: Pilot) -> Script:
                yield from pilot.goto("cms", "/media/new")
                field = pilot.find("file", pilot.words("cms", "filename"))
                yield from pilot.act("upload_file", bid=field, file=file)
                for key, value in (("subject", row["subject"]), ("alt", text), ("credit", credit)):
                    yield from pilot.fill(pilot.words("cms", key), value)
                yield from pilot.select(pilot.words("cms", "licence"), label)
                yield from pilot.click("button", pilot.words("cms", "upload"))

            return solve

        def set_image(target: int) -> Any:
            return lambda pilot: edit_article(pilot, target, {"image": str(fresh)})

        def list_first(pilot: Pilot) -> Script:
            yield from pilot.goto("cms", "/media")
            yield from pilot.click("link", pilot.words("cms", "upload"))

        expected = added(
            "cms",
            "media",
            {
                "filename": name,
                "subject": row["subject"],
                "alt": alt,
                "credit": credit,
                "licence": licence,
            },
        )
        then = [set_image(row["id"])] if use else []
        if use:
            expected = together(expected, changed("cms", "articles", row["id"], image=fresh))
        return WebDraft(
            plan,
            instruction,
            then_finish(upload(name, alt), *then),
            changes=expected,
            alternatives={"list_first": then_finish(list_first, upload(name, alt), *then)},
            mutants={
                "other_file": then_finish(upload(wrong_name, alt), *then),
                "no_alt": then_finish(upload(name, ""), *then),
                "other_article": then_finish(upload(name, alt), set_image(other["id"])),
            },
            turns=30,
        )


TEMPLATES: tuple[WebTemplate, ...] = (
    Submit(),
    AddTag(),
    OrderMenu(),
    UploadPicture(),
)
