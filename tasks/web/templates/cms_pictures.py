"""A hard task in the editorial system: which pictures may be used."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, ClassVar

from hexathlon.tasks.source import Script
from hexathlon.tasks.task import Level
from hexathlon.tasks.web.pilot import Pilot
from hexathlon.tasks.web.templates.cms_steps import click_step, edit_article, rules_of
from hexathlon.tasks.web.templates.draft import (
    Solver,
    WebDraft,
    WebScene,
    WebTemplate,
    changed,
    together,
)
from hexathlon.tasks.web.world.sites.cms.vocabulary import label_of
from hexathlon.tasks.web.world.store import StoreRow

__all__ = ["TEMPLATES"]


class CheckPictures(WebTemplate):
    """Check the pictures of all articles of a section in review; replace or remove some."""

    name: ClassVar[str] = "cms_pictures"
    levels: ClassVar[tuple[Level, ...]] = ("medium",)

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw a section with seven to nine articles in review."""
        plan = scene.plan("cms")
        store = scene.store(plan, "cms")
        rules, today = rules_of(store), scene.today(plan)
        rows = store.rows("SELECT * FROM articles WHERE status = 'review' ORDER BY id")
        desk = scene.pick(sorted({row["section"] for row in rows}))
        own = [row for row in rows if row["section"] == desk]
        if len(own) < 7:
            return None
        own = sorted(
            scene.sample(own, min(len(own), int(scene.pick((7, 8, 9))))), key=lambda row: row["id"]
        )
        kept = {row["id"] for row in own}
        edits: list[Any] = [
            ("cms", "UPDATE articles SET status = 'draft' WHERE id = ?", (row["id"],))
            for row in rows
            if row["section"] == desk and row["id"] not in kept
        ]
        edge = (today - timedelta(days=rules.agency_days - int(scene.pick((0, -1))))).isoformat()
        near = scene.pick(own)
        edits.append(
            (
                "cms",
                "UPDATE media SET licence = 'agency', uploaded = ?, alt = subject WHERE id = ?",
                (edge, near["image"]),
            )
        )
        plan = plan.with_edits(edits)
        store = scene.store(plan, "cms")
        media = {row["id"]: row for row in store.rows("SELECT * FROM media")}
        oldest = (today - timedelta(days=rules.agency_days)).isoformat()

        def fit(row: StoreRow) -> bool:
            right = bool(row["alt"])
            if row["licence"] == "agency":
                right = right and row["uploaded"] >= oldest
            if row["licence"] == "cc-by-nc":
                right = right and desk == rules.free_desk
            if row["licence"] == "cc-by":
                right = right and bool(row["credit"])
            return right

        again = {
            row["id"]
            for row in store.rows(
                "SELECT id FROM media WHERE alt <> '' AND (licence = 'own' OR (licence = 'cc-by' "
                "AND credit <> '') OR (licence = 'cc-by-nc' AND ? = ?) OR (licence = 'agency' "
                "AND julianday(?) - julianday(uploaded) <= ?))",
                (desk, rules.free_desk, today.isoformat(), rules.agency_days),
            )
        }
        if again != {number for number, row in media.items() if fit(row)}:
            return None
        new: dict[int, int] = {}
        for row in own:
            if row["image"] in again:
                continue
            subject = media[row["image"]]["subject"]
            others = [
                each
                for each in media.values()
                if each["subject"] == subject and each["id"] in again
            ]
            best = max((each["uploaded"] for each in others), default="")
            newest = [each["id"] for each in others if each["uploaded"] == best]
            if len(newest) > 1:
                return None
            new[row["id"]] = newest[0] if newest else 0
        swaps = [number for number, picture in new.items() if picture]
        gone = [number for number, picture in new.items() if not picture]
        if not swaps or not gone or not 3 <= len(new) <= 7:
            return None
        label = label_of(desk, scene.language)
        instruction = scene.ask(
            plan,
            f'Check the picture of every article of the section "{label}" that is in review '
            "against the policy on pictures, as of today. Where the picture may not be used, "
            "take the most recently uploaded picture "
            'from the library that shows the same subject ("Shows" reads exactly the same) and may '
            "be used. If there is none, leave the article without a picture (empty the field) "
            "and send it back to draft. Touch nothing else, in particular not the library.",
            f"请按图片规定，以今天为准，检查“{label}”栏目所有审稿中文章的配图。不可使用的，"
            "换成媒体库中画面内容完全相同、可以使用且上传日期最近的图片。若没有，"
            "则不配图（清空该栏），并把文章退回草稿。其他一律不动，尤其不要改动媒体库。",
        )

        def put(pictures: Mapping[int, int], back: Sequence[int]) -> Solver:
            def solve(pilot: Pilot) -> Script:
                for number, picture in pictures.items():
                    yield from edit_article(
                        pilot, number, {"image": str(picture) if picture else ""}
                    )
                for number in back:
                    yield from click_step(pilot, number, "return_draft")
                yield from pilot.finish()

            return solve

        any_other = {
            **new,
            swaps[0]: next(
                (
                    each["id"]
                    for each in media.values()
                    if each["subject"]
                    == media[next(row["image"] for row in own if row["id"] == swaps[0])]["subject"]
                    and each["id"] != new[swaps[0]]
                ),
                0,
            ),
        }
        return WebDraft(
            plan,
            instruction,
            put(new, gone),
            changes=together(
                *(
                    changed(
                        "cms",
                        "articles",
                        number,
                        image=picture,
                        **({} if picture else {"status": "draft"}),
                    )
                    for number, picture in new.items()
                )
            ),
            alternatives={"backwards": put(dict(reversed(new.items())), gone[::-1])},
            mutants={
                "other_picture": put(any_other, gone),
                "not_sent_back": put(new, ()),
                "one_missed": put({number: new[number] for number in [*swaps[1:], *gone]}, gone),
                "all_back": put(new, [*gone, swaps[0]]),
            },
            turns=80,
        )


TEMPLATES: tuple[WebTemplate, ...] = (CheckPictures(),)
