"""Jobs in the editorial system and on the forum."""

import re
from urllib.parse import urlencode

from hexathlon.tasks.source import Script
from hexathlon.tasks.web.pilot import Pilot
from hexathlon.tasks.web.templates.cms_steps import edit_article
from hexathlon.tasks.web.templates.forum_steps import move
from hexathlon.tasks.web.templates.shifts.records import (
    JobTarget,
    RecordJob,
    ShiftBench,
    Values,
    new_first,
)
from hexathlon.tasks.web.world.sites.cms.vocabulary import label_of
from hexathlon.tasks.web.world.store import StoreRow

__all__ = ["article_summaries", "thread_boards"]

_SUMMARIES = (
    "With pictures by our readers|附读者照片",
    "Part of our series on the coast|海岸系列之一",
    "Updated after the council met|议会会议后更新",
    "Shortened for the app|为手机应用缩编",
    "Figures checked with the county|数据经郡政府核实",
    "With a map of the area|附区域地图",
)


def article_summaries(bench: ShiftBench, sizes: range) -> RecordJob | None:
    """Set the summary of articles of one author in one section."""
    scene = bench.scene
    names = {row["login"]: row["name"] for row in bench.rows("cms", "SELECT * FROM authors")}
    rows = bench.rows("cms", "SELECT * FROM articles WHERE author <> '' ORDER BY id")
    for found in bench.clusters(rows, ("author", "section", "status"), sizes):
        first, keys = found[0], [row["id"] for row in found]
        name = names.get(first["author"], "")
        section, status = (label_of(first[key], scene.language) for key in ("section", "status"))
        group = bench.say(f"articles by {name}", f"{name}的文章")
        again = bench.rows(
            "cms",
            "SELECT id FROM articles WHERE author = ? AND section = ? AND status = ?",
            (first["author"], first["section"], first["status"]),
        )
        if (
            not name
            or list(names.values()).count(name) > 1
            or ("cms", group) in bench.groups
            or not bench.free("cms", "articles", keys)
            or {row["id"] for row in again} != set(keys)
        ):
            continue
        texts = [bench.say(*each.split("|")) for each in scene.sample(_SUMMARIES, 4)]
        if any(row["summary"] in texts for row in found):
            continue

        def find(pilot: Pilot, row: StoreRow = first) -> Script:
            query = urlencode({key: row[key] for key in ("section", "author", "status")})
            yield from pilot.goto("cms", f"/articles?{query}")

        def write(pilot: Pilot, target: JobTarget, values: Values) -> Script:
            yield from edit_article(pilot, target.key, values)

        return RecordJob(
            "cms", "articles", bench.say("article", "文章"), group,
            tuple(
                bench.say(
                    f'Set the summary of the articles by {name} in the section "{section}" with the '
                    f'status "{status}" to "{text}"; a summary that is there is replaced.',
                    f"请把{name}在“{section}”栏目、状态为“{status}”的文章的摘要设为“{text}”，已有摘要一律替换。",
                )
                for text in texts[:-1]
            ),
            tuple(bench.say(f'the summary should be "{text}"', f"摘要应为“{text}”")
                  for text in texts[:-1]),
            tuple(JobTarget(row["id"], f"#{row['id']}", {"summary": row["summary"]},
                            tuple({"summary": each} for each in texts), _featured(bench, row))
                  for row in found),
            find, write,
        )  # fmt: skip
    return None


def _featured(bench: ShiftBench, row: StoreRow) -> str:
    if row["featured"]:
        return bench.say("those that are featured", "设为推荐的那些")
    return bench.say("those that are not featured", "未设为推荐的那些")


def thread_boards(bench: ShiftBench, sizes: range) -> RecordJob | None:
    """Move threads about one subject, which are on several boards, to another board."""
    scene = bench.scene
    boards = {row["id"]: row["name"] for row in bench.rows("forum", "SELECT * FROM boards")}
    reported = {
        row["thread"]
        for row in bench.rows(
            "forum",
            "SELECT p.thread FROM reports r JOIN posts p ON p.id = r.post WHERE r.state = 'open'",
        )
    }
    rows = bench.rows("forum", "SELECT * FROM threads ORDER BY id")
    rows = [
        {**row, "subject": _subject(row["title"], zh=scene.language == "zh")}
        for row in rows
        if row["id"] not in reported
    ]
    for found in bench.clusters([row for row in rows if row["subject"]], ("subject",), sizes):
        subject, keys = found[0]["subject"], [row["id"] for row in found]
        group = bench.say(f'threads with "{subject}" in the title', f"标题含“{subject}”的主题")
        again = bench.rows("forum", "SELECT id FROM threads WHERE instr(title, ?)", (subject,))
        values = new_first(scene.sample(list(boards), len(boards)), {row["board"] for row in found})
        if (
            ("forum", group) in bench.groups
            or not bench.free("forum", "threads", keys)
            or len({row["board"] for row in found}) > len(boards) - 2
            or {row["id"] for row in again} != set(keys)
        ):
            continue

        def find(pilot: Pilot, text: str = subject) -> Script:
            for number in boards:
                yield from pilot.goto("forum", f"/boards/{number}?{urlencode({'q': text})}")

        titles = {row["id"]: row["title"] for row in found}

        def opening(
            pilot: Pilot, target: JobTarget, text: str = subject, titles: Values = titles
        ) -> Script:
            board = target.before["board"]
            yield from pilot.goto("forum", f"/boards/{board}?{urlencode({'q': text})}")
            yield from pilot.click("link", titles[target.key])

        def write(pilot: Pilot, target: JobTarget, values: Values) -> Script:
            yield from move(pilot, target.key, boards[values["board"]])

        return RecordJob(
            "forum", "threads", bench.say("thread", "主题"), group,
            tuple(
                bench.say(
                    f'Move the threads with "{subject}" in the title, on whatever board they are, to '
                    f'the board "{boards[each]}". The number of a thread is the one in the address '
                    "of its page.",
                    f"请把标题含“{subject}”的主题（无论在哪个版块）移到“{boards[each]}”版块。主题编号即其页面地址中的"
                    "数字。",
                )
                for each in values[:3]
            ),
            tuple(
                bench.say(f'they belong on the board "{boards[each]}"', f"它们应归入“{boards[each]}”版块")
                for each in values[:3]
            ),
            tuple(JobTarget(row["id"], f"#{row['id']}", {"board": row["board"]},
                            tuple({"board": each} for each in values[:4]),
                            _board(bench, boards[row["board"]])) for row in found),
            find, write, cost=4, looks=len(boards), opening=opening,
        )  # fmt: skip
    return None


def _board(bench: ShiftBench, name: str) -> str:
    return bench.say(
        f'those that were on the board "{name}" this morning', f"今早在“{name}”版块的那些"
    )


def _subject(title: str, *, zh: bool) -> str:
    """Return the name of the building that a title is about, or an empty text."""
    patterns = (
        (r"谁知道(.+)的开放时间", r"风暴前的(.+)照片", r"周六在(.+)的义务", r"^(.+)附近停车", r"^(.+)怎么了",
         r"时候去(.+)最好", r"^(.+)的老明信片", r"^去(.+)的小路", r"关于(.+)的两个", r"谢谢(.+)的朋友")
        if zh else
        (r"hours of (.+)\?", r"^Pictures of (.+) before", r"day at (.+) on Sat", r"Parking near (.+)",
         r"^(.+): what is", r"of day for (.+)", r"postcard of (.+)", r"path to (.+) open",
         r"questions about (.+)", r"friends of (.+)")
    )  # fmt: skip
    for pattern in patterns:
        match = re.search(pattern, title)
        if match:
            return match[1]
    return ""
