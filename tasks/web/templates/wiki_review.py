"""A hard task on the wiki: the edits of a suspicious account."""

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
from hexathlon.tasks.web.templates.wiki import facts_of, other_value
from hexathlon.tasks.web.templates.wiki_steps import (
    buildings,
    edit_facts,
    infobox_revision,
    revert,
    revision_row,
)
from hexathlon.tasks.web.world.gazetteer import SOURCES

__all__ = ["TEMPLATES"]


_NEW_REVISION = "INSERT INTO revisions VALUES (?, ?, ?, ?, ?, ?, ?, ?)"


class ReviewAccount(WebTemplate):
    """Review the edits of a suspicious account by a guideline with exceptions."""

    name: ClassVar[str] = "wiki_doubtful"
    levels: ClassVar[tuple[Level, ...]] = ("medium",)

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw 13 edits: to revert, to keep, already corrected, wording-only, and blocked."""
        plan = scene.plan("wiki")
        store = scene.store(plan, "wiki")
        pages = scene.sample(buildings(store), 13)
        people = scene.people(plan)
        suspect, helper = scene.sample(people[1:], 2)
        number = int(store.value("SELECT max(id) FROM revisions") or 0)
        mixture = {"bad": 4, "cited": 3, "fixed": 2, "wording": 2, "blocked": 2}
        kinds = scene.sample([kind for kind, count in mixture.items() for _ in range(count)], 13)
        edits: list[Any] = []
        reverts: list[tuple[int, Any, Any]] = []
        kept: list[int] = []
        blocked: list[tuple[Any, Any]] = []
        for place, (page, kind) in enumerate(zip(pages, kinds, strict=True)):
            facts = facts_of(store, page["id"])
            fact, side = (facts[1], facts[3]) if place % 2 else (facts[3], facts[1])
            stamp = f"{plan.start[:10]} 0{place // 2}:{10 + 30 * (place % 2)}:00"
            number += 1
            if kind == "wording":
                section = store.rows(
                    "SELECT * FROM sections WHERE page = ? ORDER BY position", (page["id"],)
                )[2]
                before, body = (
                    section["body"] + scene.say(*each)
                    for each in (
                        (" One should see it.", "不妨一看。"),
                        (" Worth a visit.", "值得一游。"),
                    )
                )
                edits.append(
                    ("wiki", "UPDATE sections SET body = ? WHERE id = ?", (body, section["id"]))
                )
                edits.append(
                    (
                        "wiki",
                        _NEW_REVISION,
                        (
                            number,
                            page["id"],
                            section["id"],
                            suspect.login,
                            stamp,
                            "",
                            before,
                            body,
                        ),
                    )
                )
                kept.append(number)
                continue
            bad = {
                **fact,
                "value": other_value(scene, fact),
                "source": f"{SOURCES['book'][scene.language]}, {2014 + place}",
            }
            note = scene.say(
                f"per {SOURCES['survey']['en']}, 2024", f"据{SOURCES['survey']['zh']}2024年数据"
            )
            edits.append(
                infobox_revision(
                    number,
                    page["id"],
                    suspect.login,
                    stamp,
                    note if kind == "cited" else "",
                    [fact],
                    [bad],
                )
            )
            update = (
                "wiki",
                "UPDATE facts SET value = ?, source = ? WHERE id = ?",
                (bad["value"], bad["source"], fact["id"]),
            )
            if kind == "fixed":
                number += 1
                edits.append(
                    infobox_revision(
                        number,
                        page["id"],
                        helper.login,
                        stamp[:-2] + "40",
                        scene.say("back to the source", "按来源改回"),
                        [bad],
                        [fact],
                    )
                )
                kept.append(number - 1)
                continue
            edits.append(update)
            if kind == "bad":
                reverts.append((number, page, fact))
            elif kind == "cited":
                kept.append(number)
            else:
                blocked.append((page, fact))
                number += 1
                better = {**side, "source": f"{SOURCES['register'][scene.language]}, 2025"}
                edits.append(
                    (
                        "wiki",
                        "UPDATE facts SET source = ? WHERE id = ?",
                        (better["source"], side["id"]),
                    )
                )
                edits.append(
                    infobox_revision(
                        number,
                        page["id"],
                        helper.login,
                        stamp[:-2] + "50",
                        scene.say("newer source", "较新的来源"),
                        [side],
                        [better],
                    )
                )
        plan = plan.with_edits(edits)
        restored = scene.say("restored", "恢复")
        instruction = scene.ask(
            plan,
            f"The wiki's account of {suspect.name} has become doubtful. Go through all its edits "
            "of today and do with each what the guideline on reverting says; leave all other "
            "accounts' edits and everything else as they are.",
            f"百科账号{suspect.name}变得可疑。请检查该账号今天的所有编辑，逐一按撤销指南处理；"
            "其他账号的编辑及其余内容保持不变。",
        )
        login = people[0].login

        def by_hand(pilot: Pilot) -> Script:
            for page, fact in blocked:
                values = {fact["name"]: (fact["value"], fact["source"])}
                yield from edit_facts(pilot, page["id"], values, restored)

        def value_only(pilot: Pilot) -> Script:
            for page, fact in blocked:
                yield from edit_facts(
                    pilot, page["id"], {fact["name"]: (fact["value"], None)}, restored
                )

        def undo(numbers: Sequence[int]) -> Any:
            def solve(pilot: Pilot) -> Script:
                for each in numbers:
                    yield from revert(pilot, each)

            return solve

        def whole(*parts: Any) -> Solver:
            def solve(pilot: Pilot) -> Script:
                for part in parts:
                    yield from part(pilot)
                yield from pilot.finish()

            return solve

        due = [each[0] for each in reverts]
        rows = [
            revision_row(
                target["id"], 0, login, scene.say(f"Reverted revision {each}", f"撤销修订{each}")
            )
            for each, target, _ in reverts
        ]
        return WebDraft(
            plan,
            instruction,
            whole(undo(due), by_hand),
            changes=together(
                *(
                    changed("wiki", "facts", old["id"], value=old["value"], source=old["source"])
                    for old in [*(each[2] for each in reverts), *(each[1] for each in blocked)]
                ),
                added(
                    "wiki",
                    "revisions",
                    *rows,
                    *(revision_row(page["id"], 0, login, restored) for page, _ in blocked),
                ),
            ),
            alternatives={"hand_first": whole(by_hand, undo(due[::-1]))},
            mutants={
                "everything": whole(undo([*due, *kept]), by_hand),
                "no_hand": whole(undo(due)),
                "value_only": whole(undo(due), value_only),
                "one_left": whole(undo(due[1:]), by_hand),
            },
            turns=80,
        )


TEMPLATES: tuple[WebTemplate, ...] = (ReviewAccount(),)
