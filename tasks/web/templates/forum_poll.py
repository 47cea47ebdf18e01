"""A hard task on the forum: the count of a vote by its own rules."""

from collections.abc import Sequence
from datetime import datetime, timedelta
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
from hexathlon.tasks.web.templates.forum_steps import (
    reply,
    run,
    toggle,
)
from hexathlon.tasks.web.world.store import StoreRow

__all__ = ["TEMPLATES"]


def _cast(
    scene: WebScene,
    voters: Sequence[StoreRow],
    options: Sequence[str],
    opened: datetime,
    close: datetime,
) -> list[tuple[datetime, int, str, int]]:
    """Draw ballots: time, member, option, and whether the post is hidden."""
    ballots: list[tuple[datetime, int, str, int]] = []
    for place, voter in enumerate(voters):
        hour = 4 + 9 * place + int(scene.pick(range(6)))
        ballots.append((opened + timedelta(hours=hour), voter["id"], scene.pick(options), 0))
        if place in (1, 4, 8):
            again = scene.pick([each for each in options if each != ballots[-1][2]])
            ballots.append(
                (opened + timedelta(hours=hour + 13), voter["id"], again, int(place == 4))
            )
        if place in (3, 9):
            again = scene.pick([each for each in options if each != ballots[-1][2]])
            ballots.append((close + timedelta(minutes=5 + 40 * place), voter["id"], again, 0))
    return ballots


class CountVotes(WebTemplate):
    """Count a vote in a long thread by its own rules, post the result and lock the thread."""

    name: ClassVar[str] = "forum_poll"
    levels: ClassVar[tuple[Level, ...]] = ("medium",)

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw a thread with votes that were changed, hidden, late, or cast by new members."""
        plan = scene.plan("forum")
        store = scene.store(plan, "forum")
        today = scene.today(plan)
        voters = scene.sample(store.rows("SELECT * FROM members WHERE id > 3 ORDER BY id"), 12)
        options = scene.sample(
            [
                scene.say(*each)
                for each in (
                    ("Larch Hall", "落叶松厅"),
                    ("the boat house", "船屋"),
                    ("Quay Street", "码头街"),
                    ("the old school", "旧校舍"),
                    ("the mill yard", "磨坊院"),
                )
            ],
            3,
        )
        opened = datetime.fromisoformat(plan.start) - timedelta(days=9)
        close = (opened + timedelta(days=6)).replace(hour=18, minute=0)
        limit = today - timedelta(days=int(scene.pick((60, 90, 120))))
        board = scene.pick(store.rows("SELECT * FROM boards ORDER BY id"))
        top = int(store.value("SELECT max(id) FROM threads")) + 1
        post = int(store.value("SELECT max(id) FROM posts")) + 1
        title = scene.say("Vote: where do we meet in the autumn?", "投票：秋天在哪里聚会？")
        rules = scene.say(
            f'We choose between {options[0]}, {options[1]} and {options[2]}. Write "My vote: …". '
            f"Voting ends on {close:%Y-%m-%d} at 18:00; what is posted later does not count. "
            "Everybody has one vote; who votes again replaces the earlier vote, as long as "
            f"voting is open. Only members who joined before {limit} may vote, and hidden posts "
            "do not count. The author of this thread does not vote.",
            f"候选地点为{options[0]}、{options[1]}和{options[2]}。请写“我投：……”。"
            f"投票于{close:%Y-%m-%d} 18:00截止，之后发的不计。每人一票；截止前再次投票的，"
            f"以后一次为准。只有在{limit}之前加入的成员可以投票，隐藏的帖子不计。"
            "本主题的发起人不参与投票。",
        )
        edits: list[Any] = []
        for place, voter in enumerate(voters):
            days = (today - limit).days
            joined = today - timedelta(
                days=days - 20 - place if place in (2, 5) else days + (1 if place == 7 else 200)
            )
            edits.append(
                (
                    "forum",
                    "UPDATE members SET joined = ? WHERE id = ?",
                    (joined.isoformat(), voter["id"]),
                )
            )
        starter = scene.pick(
            [
                row
                for row in store.rows("SELECT id FROM members WHERE id > 3 ORDER BY id")
                if row["id"] not in {each["id"] for each in voters}
            ]
        )["id"]
        newcomers = {voters[2]["id"], voters[5]["id"], starter}
        for _ in range(40):
            ballots = _cast(scene, voters, options, opened, close)
            ballots.append((opened + timedelta(hours=50), starter, scene.pick(options), 0))
            valid = {
                who: what
                for when, who, what, hidden in sorted(ballots)
                if not hidden and when < close and who not in newcomers
            }
            counts = [list(valid.values()).count(option) for option in options]
            all_counts = [sum(each[2] == option for each in ballots) for option in options]
            leads = all_counts.index(max(all_counts)) == counts.index(max(counts))
            if len(set(counts)) == 3 and not leads:
                break
        chat = scene.say("Could somebody bring the projector?", "谁能带投影仪？")
        lines = [
            (opened, starter, rules, 0),
            *(
                (when, who, scene.say(f"My vote: {what}", f"我投：{what}"), hidden)
                for when, who, what, hidden in ballots
            ),
            *((opened + timedelta(hours=7 + 11 * k), voters[k]["id"], chat, 0) for k in range(6)),
        ]
        lines.sort(key=lambda line: line[0])
        last = max(line[0] for line in lines).isoformat(" ")
        edits.append(
            (
                "forum",
                "INSERT INTO threads VALUES (?, ?, ?, ?, ?, ?, 0, 0)",
                (top, board["id"], title, starter, opened.isoformat(" "), last),
            )
        )
        edits += [
            (
                "forum",
                "INSERT INTO posts VALUES (?, ?, ?, ?, ?, 0, ?)",
                (post + place, top, who, when.isoformat(" "), text, hidden),
            )
            for place, (when, who, text, hidden) in enumerate(lines)
        ]
        plan = plan.with_edits(edits)
        store = scene.store(plan, "forum")
        counting: dict[int, str] = {}
        for when, who, what, hidden in sorted(ballots):
            if not hidden and when < close and who != starter:
                if next(
                    v["joined"]
                    for v in store.rows("SELECT joined FROM members WHERE id = ?", (who,))
                ) < str(limit):
                    counting[who] = what
        tally = {option: list(counting.values()).count(option) for option in options}
        mark = scene.say("My vote: ", "我投：")
        queried = {
            row["body"].removeprefix(mark): row["n"]
            for row in store.rows(
                "SELECT body, count(*) AS n FROM (SELECT p.author, p.body, max(p.created) FROM "
                "posts p JOIN members m ON m.id = p.author WHERE p.thread = ? AND p.body LIKE ? "
                "AND p.hidden = 0 AND p.created < ? AND m.joined < ? AND p.author <> ? GROUP BY "
                "p.author) GROUP BY body",
                (top, f"{mark}%", close.isoformat(" "), str(limit), starter),
            )
        }
        crude = {option: sum(each[2] == option for each in ballots) for option in options}
        if {k: v for k, v in tally.items() if v} != queried or crude == tally:
            return None
        if len(set(tally.values())) < 3 or max(crude, key=crude.__getitem__) == max(
            tally, key=tally.__getitem__
        ):
            return None

        def result(counts: dict[str, int]) -> str:
            ranked = sorted(counts, key=lambda option: -counts[option])
            return scene.say("Result: ", "结果：") + scene.say(", ", "，").join(
                f"{each} {counts[each]}" for each in ranked
            )

        instruction = scene.ask(
            plan,
            f'Count the vote in the forum\'s thread "{title}" on the board {board["name"]} by the '
            f"rules of its first post. Reply "
            'in it with one line "Result: " followed by every option with its votes, the most '
            "votes first, written like "
            '"Result: the pier 7, Hill Road 4, the inn 2", with the options as the first post '
            "writes them. Then lock the thread.",
            f"请按首帖的规则，统计论坛“{board['name']}”版块主题“{title}”的投票。"
            "在该主题回复一行“结果：”，后接各地点及票数，票数多的在前，写法如“结果：码头 7，山路 "
            "4，客栈 2”，地点名称照首帖写法。然后锁定该主题。",
        )

        def say(counts: dict[str, int]) -> Any:
            return lambda pilot: reply(pilot, top, result(counts))

        def lock(pilot: Pilot) -> Script:
            return toggle(pilot, top, "lock")

        def last_page(pilot: Pilot) -> Script:
            yield from pilot.goto("forum", f"/threads/{top}?page=3")
            yield from pilot.fill(pilot.words("forum", "reply"), result(tally) + " ")
            yield from pilot.click("button", pilot.words("forum", "post_reply"))

        off = {**tally, options[0]: tally[options[0]] + 1}
        return WebDraft(
            plan,
            instruction,
            run(say(tally), lock),
            changes=together(
                changed("forum", "threads", top, locked=1),
                added(
                    "forum",
                    "posts",
                    {"thread": top, "author": 1, "body": result(tally), "hidden": 0},
                ),
            ),
            alternatives={"last_page": run(last_page, lock)},
            mutants={
                "all_votes": run(say(crude), lock),
                "not_locked": run(say(tally)),
                "off_by_one": run(say(off), lock),
            },
            turns=50,
        )


TEMPLATES: tuple[WebTemplate, ...] = (CountVotes(),)
