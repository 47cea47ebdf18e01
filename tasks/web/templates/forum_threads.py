"""Tasks on threads: moving, votes that get lost, counting."""

from typing import Any, ClassVar

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
    together,
)
from hexathlon.tasks.web.templates.forum_steps import move, reply, run, toggle, vote
from hexathlon.tasks.web.world.store import StoreRow

__all__ = ["TEMPLATES"]


class MoveThread(WebTemplate):
    """Move a thread, lock it and leave a reply; in the twin an open report forbids the move."""

    name: ClassVar[str] = "forum_move"
    levels: ClassVar[tuple[Level, ...]] = ("easy", "medium")
    twins: ClassVar[bool] = True

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw a thread with a report; its state decides."""
        plan = scene.plan("forum")
        store = scene.store(plan, "forum")
        rows = store.rows(
            "SELECT t.*, (SELECT min(p.id) FROM posts p WHERE p.thread = t.id) AS first FROM "
            "threads t WHERE t.locked = 0 AND NOT EXISTS (SELECT 1 FROM reports r JOIN posts p "
            "ON p.id = r.post WHERE p.thread = t.id) ORDER BY t.id"
        )
        if len(rows) < 3:
            return None
        row, near, other = scene.sample(rows, 3)
        boards = [
            each
            for each in store.rows("SELECT * FROM boards ORDER BY id")
            if each["id"] != row["board"]
        ]
        board, wrong = scene.sample(boards, 2)
        number = int(scene.pick(range(820, 960)))
        stamp = f"{plan.start[:10]} 06:12:00"
        insert = "INSERT INTO reports VALUES (?, ?, 5, 'topic', ?, ?, '')"
        plan = plan.with_edits(
            [
                (
                    "forum",
                    insert,
                    (number, row["first"], stamp, "dismissed" if scene.feasible else "open"),
                ),
                ("forum", insert, (number + 3, near["first"], stamp, "open")),
            ]
        )
        medium = scene.level == "medium"
        text = scene.say(f"Moved to {board['name']}.", f"已移至“{board['name']}”。")
        extra = (
            scene.say(
                f' Before that, reply "{text}" in it and lock it.',
                f"在此之前，先在该主题回复“{text}”，并锁定该主题。",
            )
            if medium
            else ""
        )
        instruction = scene.say(
            f'Move the thread "{row["title"]}" to the board {board["name"]}.{extra} If it cannot '
            "be moved, do nothing at all and report that the action is not allowed, with the "
            "number of the report that stands in the way.",
            f"把主题“{row['title']}”移到“{board['name']}”版块。{extra}如果不能移动，"
            "就什么都不要做，并以“不允许的操作”报告，附上挡住它的举报编号。",
        )

        def to(thread: int, name: str) -> Any:
            return lambda pilot: move(pilot, thread, name)

        def say(pilot: Pilot) -> Script:
            return reply(pilot, row["id"], text)

        def shut(pilot: Pilot) -> Script:
            return toggle(pilot, row["id"], "lock")

        def report(record: int) -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from pilot.goto("forum", "/reports")
                yield from pilot.goto("forum", f"/threads/{row['id']}")
                yield from pilot.refuse("ACTION_NOT_ALLOWED_ERROR", str(record))

            return solve

        def try_first(pilot: Pilot) -> Script:
            yield from to(row["id"], board["name"])(pilot)
            yield from pilot.refuse("ACTION_NOT_ALLOWED_ERROR", f"#{number}")

        before = [say, shut] if medium else []
        whole = run(*before, to(row["id"], board["name"]))
        evidence = (rf"forum\.hexathlon\.test/(reports|threads/{row['id']}(\D|$))",)
        if not scene.feasible:
            return WebDraft(
                plan,
                instruction,
                report(number),
                evidence=evidence,
                answer=ExpectedAnswer("ACTION_NOT_ALLOWED_ERROR", record=str(number)),
                alternatives={"try_first": try_first},
                mutants={"near": report(number + 3), "own": report(row["id"]), "locks": run(shut)},
                turns=25,
            )
        expected = changed(
            "forum", "threads", row["id"], board=board["id"], **({"locked": 1} if medium else {})
        )
        if medium:
            expected = together(
                expected,
                added(
                    "forum", "posts", {"thread": row["id"], "author": 1, "body": text, "hidden": 0}
                ),
            )
        return WebDraft(
            plan,
            instruction,
            whole,
            changes=expected,
            evidence=evidence,
            alternatives={
                "looks_first": run(
                    lambda pilot: pilot.goto("forum", "/reports"),
                    *before,
                    to(row["id"], board["name"]),
                )
            },
            mutants={
                "refuses": report(number),
                "other_board": run(*before, to(row["id"], wrong["name"])),
                "other_thread": run(to(other["id"], board["name"])),
                "locks_only": run(shut),
            },
            turns=25,
        )


class VotesThatStick(WebTemplate):
    """Vote for several posts; some votes are lost, which the page does not show at once."""

    name: ClassVar[str] = "forum_votes_stick"
    levels: ClassVar[tuple[Level, ...]] = ("medium",)

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw a member's posts on one board; two votes fail the first time."""
        plan = scene.plan("forum")
        store = scene.store(plan, "forum")
        rows = store.rows(
            "SELECT p.id, p.score, p.author, p.hidden, m.handle, t.board, b.name FROM posts p "
            "JOIN members m ON m.id = p.author JOIN threads t ON t.id = p.thread JOIN boards b "
            "ON b.id = t.board WHERE p.author > 3 ORDER BY p.id"
        )
        pick = scene.pick(rows)
        own = [
            row for row in rows if (row["author"], row["board"]) == (pick["author"], pick["board"])
        ]
        due = [row for row in own if not row["hidden"]]
        elsewhere = [
            row for row in rows if row["author"] == pick["author"] and row["board"] != pick["board"]
        ]
        again = store.value(
            "SELECT count(*) FROM posts p JOIN threads t ON t.id = p.thread WHERE p.author = ? "
            "AND t.board = ? AND p.hidden = 0",
            (pick["author"], pick["board"]),
        )
        if not 3 <= len(due) <= 6 or not elsewhere or again != len(due):
            return None
        faulty = scene.sample(due, 2)
        plan = plan.with_edits(
            [("forum", "INSERT INTO _faults VALUES (?)", (row["id"],)) for row in faulty]
        )
        instruction = scene.say(
            f"Vote for every post of {pick['handle']} on the board {pick['name']}, apart from "
            "hidden ones; nothing on other boards. Make sure that the votes have really been "
            "counted.",
            f"给{pick['handle']}在“{pick['name']}”版块的每个帖子点赞，隐藏的除外，"
            "其他版块的不要动。请确认点赞确实已计入。",
        )

        def votes(posts: list[StoreRow]) -> Any:
            def solve(pilot: Pilot) -> Script:
                for row in posts:
                    yield from vote(pilot, row["id"])

            return solve

        def checked(posts: list[StoreRow]) -> Any:
            def solve(pilot: Pilot) -> Script:
                for row in posts:
                    yield from pilot.goto("forum", f"/posts/{row['id']}")
                    names = [f"{each} #{row['id']}" for each in pilot.words("forum", "vote")]
                    if any(pilot.shows(f'button "{each}"') for each in names):
                        yield from pilot.click("button", names)

            return solve

        def each_twice(pilot: Pilot) -> Script:
            for row in due:
                yield from checked([row, row])(pilot)

        return WebDraft(
            plan,
            instruction,
            run(votes(due), checked(due)),
            changes=together(
                *(
                    together(
                        added("forum", "votes", {"post": row["id"], "member": 1}),
                        changed("forum", "posts", row["id"], score=row["score"] + 1),
                    )
                    for row in due
                )
            ),
            alternatives={"each_twice": run(each_twice)},
            mutants={
                "unchecked": run(votes(due)),
                "one_missed": run(checked(due[1:]), checked(due[1:])),
                "elsewhere": run(votes(due), checked(due), votes(elsewhere[:1])),
            },
            turns=45,
        )


class CountPosts(WebTemplate):
    """Find who wrote most in a thread of several pages."""

    name: ClassVar[str] = "forum_most_posts"
    levels: ClassVar[tuple[Level, ...]] = ("medium",)

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw a long thread with one leading writer, apart from its starter and hidden posts."""
        plan = scene.plan("forum")
        store = scene.store(plan, "forum")
        threads = store.rows(
            "SELECT t.id, t.title, t.author FROM threads t WHERE (SELECT count(*) FROM posts p "
            "WHERE p.thread = t.id) >= 19 ORDER BY t.id"
        )
        if not threads:
            return None
        thread = scene.pick(threads)
        posts = store.rows(
            "SELECT p.*, m.handle FROM posts p JOIN members m ON m.id = p.author WHERE p.thread "
            "= ? ORDER BY p.id",
            (thread["id"],),
        )
        writers = [row for row in posts if row["author"] != thread["author"]]
        star, rival = (row["handle"] for row in scene.sample(writers, 2))
        ids = {row["handle"]: row["author"] for row in writers}
        if star == rival:
            return None
        chosen = scene.sample(writers, 10)
        edits: list[tuple[str, str, tuple[Any, ...]]] = []
        for place, row in enumerate(chosen):
            who = star if place < 4 else rival if place < 9 else None
            if who:
                edits.append(
                    (
                        "forum",
                        "UPDATE posts SET author = ?, hidden = ? WHERE id = ?",
                        (ids[who], int(4 <= place < 7), row["id"]),
                    )
                )
        plan = plan.with_edits(edits)
        store = scene.store(plan, "forum")
        ranking = store.rows(
            "SELECT m.handle, count(*) AS n FROM posts p JOIN members m ON m.id = p.author WHERE "
            "p.thread = ? AND p.hidden = 0 AND p.author <> ? GROUP BY m.id ORDER BY n DESC, m.id",
            (thread["id"], thread["author"]),
        )
        tally: dict[str, int] = {}
        for row in store.rows(
            "SELECT p.*, m.handle FROM posts p JOIN members m ON m.id = p.author WHERE p.thread "
            "= ?",
            (thread["id"],),
        ):
            if not row["hidden"] and row["author"] != thread["author"]:
                tally[row["handle"]] = tally.get(row["handle"], 0) + 1
        best = max(tally, key=lambda name: tally[name])
        if len(ranking) < 2 or ranking[0]["n"] == ranking[1]["n"] or ranking[0]["handle"] != best:
            return None
        right = [best, str(tally[best])]
        instruction = scene.say(
            f'In the thread "{thread["title"]}", which member other than the one who started it '
            "has the most posts that are not hidden? Answer with two values: the "
            "member's name and the number of those posts.",
            f"在主题“{thread['title']}”中，除发起人外，哪位成员未被隐藏的帖子最多？请回答两个值："
            "成员名称，以及这些帖子的数量。",
        )

        def answer(values: list[str], pages: tuple[int, ...] = (1, 2)) -> Solver:
            def solve(pilot: Pilot) -> Script:
                for page in pages:
                    yield from pilot.goto("forum", f"/threads/{thread['id']}?page={page}")
                yield from pilot.finish("RETRIEVE", values)

            return solve

        def by_next(pilot: Pilot) -> Script:
            yield from pilot.goto("forum", f"/threads/{thread['id']}")
            yield from pilot.click("link", pilot.words("forum", "next"))
            yield from pilot.finish("RETRIEVE", right)

        return WebDraft(
            plan,
            instruction,
            answer(right),
            answer=ExpectedAnswer(data=tuple(right)),
            evidence=(rf"/threads/{thread['id']}\?page=2",),
            alternatives={"by_next": by_next},
            mutants={
                "second": answer([ranking[1]["handle"], str(ranking[1]["n"])]),
                "one_page": answer(right, (1,)),
                "off_by_one": answer([best, str(tally[best] + 1)]),
            },
            turns=20,
        )


TEMPLATES: tuple[WebTemplate, ...] = (
    MoveThread(),
    VotesThatStick(),
    CountPosts(),
)
