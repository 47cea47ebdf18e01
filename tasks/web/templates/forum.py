"""Tasks on the forum that need one or two insights."""

from typing import Any, ClassVar

from hexathlon.tasks.source import Script
from hexathlon.tasks.task import Level
from hexathlon.tasks.web.pilot import Pilot
from hexathlon.tasks.web.templates.draft import (
    WebDraft,
    WebScene,
    WebTemplate,
    added,
    changed,
    together,
)
from hexathlon.tasks.web.templates.forum_steps import run, toggle, vote
from hexathlon.tasks.web.world.store import SiteStore, StoreRow

__all__ = ["TEMPLATES"]


def single_posts(store: SiteStore) -> list[StoreRow]:
    """Return posts whose author has no other post in the thread."""
    return store.rows(
        "SELECT p.id, p.thread, p.author, m.handle, t.title FROM posts p JOIN members m ON m.id "
        "= p.author JOIN threads t ON t.id = p.thread WHERE p.hidden = 0 AND p.author > 1 AND "
        "(SELECT count(*) FROM posts q WHERE q.thread = p.thread AND q.author = p.author) = 1 "
        "ORDER BY p.id"
    )


class VoteForPost(WebTemplate):
    """Vote for a member's post in a thread."""

    name: ClassVar[str] = "forum_vote"
    levels: ClassVar[tuple[Level, ...]] = ("tiny", "easy")

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw one of several posts in a thread."""
        plan = scene.plan("forum")
        store = scene.store(plan, "forum")
        posts = single_posts(store)
        row = scene.pick(posts)
        others = [each for each in posts if each["thread"] == row["thread"] and each != row]
        if not others:
            return None
        other = scene.pick(others)
        easy = scene.level == "easy"
        if easy:
            instruction = scene.say(
                f'In the thread "{row["title"]}", vote for the post of {row["handle"]} and follow '
                f"the thread.",
                f"在主题“{row['title']}”中，给{row['handle']}的帖子点赞，并关注该主题。",
            )
        else:
            instruction = scene.say(
                f'Vote for the post of {row["handle"]} in the thread "{row["title"]}".',
                f"给{row['handle']}在主题“{row['title']}”中的帖子点赞。",
            )

        def up(post: int) -> Any:
            return lambda pilot: vote(pilot, post)

        def follow(pilot: Pilot) -> Script:
            return toggle(pilot, row["thread"], "subscribe")

        def by_search(pilot: Pilot) -> Script:
            yield from pilot.goto("forum", "/search")
            yield from pilot.fill(pilot.words("forum", "handle"), row["handle"])
            yield from pilot.click("button", pilot.words("forum", "search"))
            yield from up(row["id"])(pilot)

        more = [follow] if easy else []
        expected = added("forum", "votes", {"post": row["id"], "member": 1})
        if easy:
            expected = together(
                expected, added("forum", "subscriptions", {"thread": row["thread"], "member": 1})
            )
        score = int(store.value("SELECT score FROM posts WHERE id = ?", (row["id"],)))
        return WebDraft(
            plan,
            instruction,
            run(up(row["id"]), *more),
            changes=together(expected, changed("forum", "posts", row["id"], score=score + 1)),
            alternatives={"by_search": run(*more, by_search)},
            mutants={
                "other_post": run(up(other["id"]), *more),
                "both": run(up(row["id"]), up(other["id"]), *more),
                "follow_only": run(follow),
            },
            turns=20,
        )


class Follow(WebTemplate):
    """Follow a thread."""

    name: ClassVar[str] = "forum_follow"
    levels: ClassVar[tuple[Level, ...]] = ("tiny",)

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw a thread."""
        plan = scene.plan("forum")
        store = scene.store(plan, "forum")
        row, other = scene.sample(
            store.rows(
                "SELECT t.*, b.name FROM threads t JOIN boards b ON b.id = t.board ORDER BY t.id"
            ),
            2,
        )
        instruction = scene.say(
            f'Follow the thread "{row["title"]}" on the board {row["name"]}.',
            f"关注“{row['name']}”版块的主题“{row['title']}”。",
        )

        def go(thread: int) -> Any:
            return lambda pilot: toggle(pilot, thread, "subscribe")

        def by_board(pilot: Pilot) -> Script:
            yield from pilot.look()
            yield from pilot.goto("forum", f"/boards/{row['board']}")
            yield from pilot.click("link", row["title"])
            yield from pilot.click("button", pilot.words("forum", "subscribe"))

        def off_again(pilot: Pilot) -> Script:
            yield from go(row["id"])(pilot)
            yield from toggle(pilot, row["id"], "unsubscribe")

        return WebDraft(
            plan,
            instruction,
            run(go(row["id"])),
            changes=added("forum", "subscriptions", {"thread": row["id"], "member": 1}),
            alternatives={"by_board": run(by_board)},
            mutants={
                "other": run(go(other["id"])),
                "both": run(go(row["id"]), go(other["id"])),
                "off_again": run(off_again),
            },
            turns=15,
        )


class WriteTo(WebTemplate):
    """Send a private message to one of several members with nearly the same name."""

    name: ClassVar[str] = "forum_message"
    levels: ClassVar[tuple[Level, ...]] = ("easy",)

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw a member with a near-duplicate handle, and describe who is meant."""
        plan = scene.plan("forum")
        store = scene.store(plan, "forum")
        members = store.rows("SELECT * FROM members WHERE id > 3 ORDER BY id")
        thread = scene.pick(
            store.rows(
                "SELECT t.*, m.handle FROM threads t JOIN members m ON m.id = t.author WHERE "
                "t.author > 3 ORDER BY t.id"
            )
        )
        plain = "".join(each for each in thread["handle"] if each.isalpha())
        near = [
            row
            for row in members
            if row["handle"] != thread["handle"]
            and "".join(each for each in row["handle"] if each.isalpha()) == plain
        ]
        if not near:
            return None
        other = scene.pick(near)
        subject = scene.say("Your thread", "你的主题")
        body = scene.say("The working day starts at nine, not at ten.", "活动九点开始，不是十点。")
        instruction = scene.say(
            f'Send the member who started the thread "{thread["title"]}" a private message with '
            f"the subject "
            f'"{subject}" and the text "{body}"',
            f"给发起主题“{thread['title']}”的成员发一条私信，标题为“{subject}”，内容为“{body}”",
        )

        def write(handle: str, text: str) -> Any:
            def solve(pilot: Pilot) -> Script:
                yield from pilot.goto("forum", "/messages/new")
                for key, value in (("recipient", handle), ("subject", subject), ("message", text)):
                    yield from pilot.fill(pilot.words("forum", key), value)
                yield from pilot.click("button", pilot.words("forum", "send"))

            return solve

        def from_profile(pilot: Pilot) -> Script:
            yield from pilot.goto("forum", f"/members/{thread['author']}")
            yield from pilot.click("link", pilot.words("forum", "new_message"))
            yield from pilot.fill(pilot.words("forum", "subject"), subject)
            yield from pilot.fill(pilot.words("forum", "message"), body)
            yield from pilot.click("button", pilot.words("forum", "send"))

        right = write(thread["handle"], body)
        return WebDraft(
            plan,
            instruction,
            run(right),
            changes=added(
                "forum",
                "messages",
                {"sender": 1, "recipient": thread["author"], "subject": subject, "body": body},
            ),
            alternatives={"from_profile": run(from_profile)},
            mutants={
                "near": run(write(other["handle"], body)),
                "other_text": run(write(thread["handle"], body + "?")),
                "twice": run(right, right),
            },
            turns=25,
        )


TEMPLATES: tuple[WebTemplate, ...] = (
    VoteForPost(),
    Follow(),
    WriteTo(),
)
