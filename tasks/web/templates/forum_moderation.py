"""Hard tasks on the forum: a queue of reports, decided by the handbook, and the count of a vote."""

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any, ClassVar, NamedTuple

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
    close_report,
    hide,
    ladder_of,
    run,
    sanction,
)
from hexathlon.tasks.web.world.sites.forum.handbook import Ladder
from hexathlon.tasks.web.world.sites.forum.vocabulary import BREACHES
from hexathlon.tasks.web.world.store import SiteStore, StoreRow

__all__ = ["TEMPLATES", "ReportRuling", "rule_on"]


class ReportRuling(NamedTuple):
    """The handbook's ruling on a report."""

    state: str
    """`upheld`, `dismissed`, or `open` if it is left alone."""

    kind: str = ""
    """Sanction; empty for none."""

    days: int = 0
    hides: bool = False


def rule_on(
    ladder: Ladder,
    *,
    rule: str,
    market: bool,
    member: StoreRow,
    posted: date,
    today: date,
    sanctions: Sequence[StoreRow],
    post: int,
) -> ReportRuling:
    """Apply the handbook to one reported post.

    Args:
        ladder: Its numbers.
        rule: The rule that the post breaks; empty for none.
        market: Whether the post is on the market's board.
        member: The author.
        posted: Day of the post.
        today: The current day.
        sanctions: All sanctions of the author so far.
        post: Number of the post.
    """
    if member["standing"] == "moderator":
        return ReportRuling("open")
    if not rule or (rule == "trade" and market):
        return ReportRuling("dismissed")
    standing = [each for each in sanctions if each["state"] == "active"]
    if rule == "topic" or any(each["post"] == post for each in standing):
        return ReportRuling("upheld", hides=True)
    joined = date.fromisoformat(member["joined"])
    if rule == "spam" and (posted - joined).days < ladder.new_days:
        return ReportRuling("upheld", "ban", 0, True)
    first = today - timedelta(days=ladder.window)
    step = sum(date.fromisoformat(each["issued"][:10]) >= first for each in standing)
    if rule == "private":
        step += 1
    elif member["standing"] == "regular" and (today - joined).days >= ladder.years * 366:
        step = max(0, step - 1)
    kind, days = (("warning", 0), ("mute", ladder.short), ("mute", ladder.long), ("ban", 0))[
        min(step, 3)
    ]
    return ReportRuling("upheld", kind, days, True)


def _rule_by_query(
    store: SiteStore, ladder: Ladder, rule: str, post: int, today: date, more: int
) -> ReportRuling:
    """Apply the handbook independently, by queries; `more` counts sanctions issued so far."""
    row = store.row(
        "SELECT m.*, b.kind, julianday(substr(p.created, 1, 10)) - julianday(m.joined) AS age, "
        "julianday(?) - julianday(m.joined) AS whole, (SELECT count(*) FROM sanctions s WHERE "
        "s.member = m.id AND s.state = 'active' AND julianday(?) - julianday(substr(s.issued, 1, "
        "10)) <= ?) AS earlier, (SELECT count(*) FROM sanctions s WHERE s.post = p.id AND "
        "s.state <> 'overturned') AS done FROM posts p JOIN members m ON m.id = p.author JOIN "
        "threads t ON t.id = p.thread JOIN boards b ON b.id = t.board WHERE p.id = ?",
        (today.isoformat(), today.isoformat(), ladder.window, post),
    )
    assert row is not None
    if row["standing"] == "moderator":
        return ReportRuling("open")
    if rule == "" or (row["kind"] == "market" and rule == "trade"):
        return ReportRuling("dismissed")
    if row["done"] or rule == "topic":
        return ReportRuling("upheld", hides=True)
    steps = ["warning 0", f"mute {ladder.short}", f"mute {ladder.long}", "ban 0"]
    place = row["earlier"] + more + (rule == "private")
    if row["standing"] == "regular" and rule != "private" and row["whole"] >= ladder.years * 366:
        place -= 1
    if rule == "spam" and row["age"] < ladder.new_days:
        place = 3
    kind, days = steps[max(0, min(place, 3))].split()
    return ReportRuling("upheld", kind, int(days), True)


_CASES = (
    "regular",
    "newcomer",
    "private",
    "quote",
    "moderator",
    "already",
    "overturned",
    "topic",
    "mislabelled",
)


class ClearQueue(WebTemplate):
    """Work through the reports of one board by the moderators' handbook."""

    name: ClassVar[str] = "forum_queue"
    levels: ClassVar[tuple[Level, ...]] = ("medium",)

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw four reports, two of them about one member, and three kinds of exceptions."""
        plan = scene.plan("forum")
        store = scene.store(plan, "forum")
        ladder, today = ladder_of(store), scene.today(plan)
        board = scene.pick(store.rows("SELECT * FROM boards ORDER BY id"))
        posts = store.rows(
            "SELECT p.*, t.board FROM posts p JOIN threads t ON t.id = p.thread WHERE p.hidden = "
            "0 AND p.author > 3 AND p.created > ? AND NOT EXISTS (SELECT 1 FROM reports r WHERE "
            "r.post = p.id) ORDER BY p.id",
            ((today - timedelta(days=60)).isoformat(),),
        )
        own = [row for row in posts if row["board"] == board["id"]]
        if len(own) < 5 or len(posts) < len(own) + 1:
            return None
        one, two, three, four = scene.sample(own, 4)
        away = scene.pick([row for row in posts if row["board"] != board["id"]])
        if len({row["author"] for row in (one, three, four, away)}) < 4:
            return None
        cases = scene.sample(list(_CASES), 2)
        market = board["kind"] == "market"
        edits: list[Any] = [
            ("forum", "UPDATE posts SET author = ? WHERE id = ?", (one["author"], two["id"]))
        ]
        two["author"] = one["author"]
        rules: dict[int, str] = {}
        labels: dict[int, str] = {}
        prior = 90_000

        def breach(row: StoreRow, rule: str) -> None:
            text = scene.pick(BREACHES[rule])[scene.language]
            edits.append(("forum", "UPDATE posts SET body = ? WHERE id = ?", (text, row["id"])))
            rules[row["id"]] = labels[row["id"]] = rule

        def record(member: int, ago: int, state: str, post: int = 0, rule: str = "insult") -> None:
            nonlocal prior
            prior += 1
            post = post or earlier[member]
            stamp = f"{today - timedelta(days=ago)} 11:20:00"
            edits.append(
                (
                    "forum",
                    "INSERT INTO sanctions VALUES (?, ?, 'warning', 0, ?, ?, ?, ?)",
                    (prior, member, rule, post, stamp, state),
                )
            )

        def become(member: int, standing: str, days: int) -> None:
            edits.append(
                (
                    "forum",
                    "UPDATE members SET standing = ?, joined = ? WHERE id = ?",
                    (standing, (today - timedelta(days=days)).isoformat(), member),
                )
            )

        for row in (one, three, four):
            edits.append(("forum", "DELETE FROM sanctions WHERE member = ?", (row["author"],)))
            become(row["author"], "member", 700 + int(scene.pick(range(300))))
        reported = [row["id"] for row in (one, two, three, four)]
        earlier = {
            row["author"]: int(
                store.value(
                    "SELECT max(id) FROM posts WHERE author = ? AND id NOT IN (?, ?, ?, ?)",
                    (row["author"], *reported),
                )
                or 0
            )
            for row in (one, three, four)
        }
        if not all(earlier.values()):
            return None
        serious = ("insult", "spam")
        breach(one, scene.pick(serious))
        breach(two, scene.pick(serious))
        # Sanctions inside the window, just outside it, and overturned.
        for _ in range(int(scene.pick((0, 1)))):
            record(one["author"], int(scene.pick(range(20, ladder.window - 5))), "active")
        record(one["author"], ladder.window + int(scene.pick((1, 3, 8))), "active")
        record(one["author"], int(scene.pick(range(5, 40))), "overturned")
        for row, case in ((three, cases[0]), (four, cases[1])):
            breach(
                row,
                "spam"
                if case == "newcomer"
                else "private"
                if case == "private"
                else "topic"
                if case == "topic"
                else scene.pick(("insult", "trade", "spam")),
            )
            if case == "regular":
                become(row["author"], "regular", ladder.years * 366 + 40)
                record(row["author"], 30, "active")
                record(row["author"], 12, "active")
            elif case == "newcomer":
                posted = date.fromisoformat(row["created"][:10])
                become(row["author"], "member", (today - posted).days + ladder.new_days - 2)
            elif case == "private":
                become(row["author"], "regular", ladder.years * 366 + 90)
                record(row["author"], 25, "active")
            elif case == "quote":
                quoted = scene.pick(BREACHES["insult"])[scene.language]
                text = scene.say(
                    f'Somebody wrote here: "{quoted}" Please do not talk to each other like that.',
                    f"有人在这里写道：“{quoted}”请不要这样说话。",
                )
                edits.append(("forum", "UPDATE posts SET body = ? WHERE id = ?", (text, row["id"])))
                rules[row["id"]], labels[row["id"]] = "", "insult"
            elif case == "moderator":
                become(row["author"], "moderator", 1800)
            elif case in ("already", "overturned"):
                record(
                    row["author"],
                    2,
                    "active" if case == "already" else "overturned",
                    row["id"],
                    rules[row["id"]],
                )
            elif case == "mislabelled":
                record(row["author"], 18, "active")
                labels[row["id"]] = scene.pick(
                    [each for each in ("topic", "private") if each != rules[row["id"]]]
                )
        order = scene.sample([one, two, three, four], 4)
        start = int(scene.pick(range(820, 930)))
        insert = "INSERT INTO reports VALUES (?, ?, 6, ?, ?, 'open', '')"
        numbers = {row["id"]: start + 2 * place for place, row in enumerate(order)}
        edits += [
            (
                "forum",
                insert,
                (numbers[row["id"]], row["id"], labels[row["id"]], f"{today} 07:1{place}:00"),
            )
            for place, row in enumerate(order)
        ]
        edits.append(("forum", insert, (start + 3, away["id"], "topic", f"{today} 07:20:00")))
        plan = plan.with_edits(edits)
        store = scene.store(plan, "forum")
        rulings: dict[int, ReportRuling] = {}
        issued: dict[int, int] = {}
        flat: dict[int, ReportRuling] = {}
        for row in order:
            member = store.row("SELECT * FROM members WHERE id = ?", (row["author"],))
            assert member is not None
            sanctions = store.rows("SELECT * FROM sanctions WHERE member = ?", (row["author"],))
            meanwhile = issued.get(row["author"], 0)
            new = [{"state": "active", "post": 0, "issued": today.isoformat()}] * meanwhile
            facts = {
                "rule": rules[row["id"]],
                "market": market,
                "member": member,
                "today": today,
                "posted": date.fromisoformat(row["created"][:10]),
                "post": row["id"],
            }
            ruling = rule_on(ladder, sanctions=[*sanctions, *new], **facts)
            if ruling != _rule_by_query(
                store, ladder, rules[row["id"]], row["id"], today, meanwhile
            ):
                return None
            flat[row["id"]] = rule_on(
                ladder, sanctions=[], **{**facts, "member": {**member, "standing": "member"}}
            )
            rulings[row["id"]] = ruling
            issued[row["author"]] = meanwhile + bool(ruling.kind)
        if sum(rulings[number] != flat[number] for number in rulings) < 2:
            return None
        instruction = scene.ask(
            plan,
            f"Work through the open reports about posts on the board {board['name']}, from the "
            "lowest number to the highest, exactly as the moderators' handbook in use has it: "
            "sanctions with rule and post, hidden posts, closed reports. Reports on other boards "
            "are not yours. Remarks are not needed.",
            f"请严格按现行版主手册，从编号最小到最大，处理“{board['name']}”版块帖子的所有待处理举"
            "报：作出处分（注明规则和帖子）、隐藏帖子、结案。其他版块的举报不归您处理。"
            "无需填写备注。",
        )

        def settle(row: StoreRow, ruling: ReportRuling, rule: str) -> Any:
            def solve(pilot: Pilot) -> Script:
                if ruling.kind:
                    yield from sanction(
                        pilot, row["author"], ruling.kind, ruling.days, rule, row["id"]
                    )
                if ruling.hides:
                    yield from hide(pilot, numbers[row["id"]])
                if ruling.state != "open":
                    yield from close_report(pilot, numbers[row["id"]], ruling.state)

            return solve

        def settled(each: StoreRow) -> Any:
            return settle(each, rulings[each["id"]], rules[each["id"]])

        def sanctions_last(row: StoreRow) -> Any:
            ruling = rulings[row["id"]]

            def solve(pilot: Pilot) -> Script:
                yield from settle(row, ruling._replace(kind=""), "")(pilot)
                if ruling.kind:
                    yield from sanction(
                        pilot, row["author"], ruling.kind, ruling.days, rules[row["id"]], row["id"]
                    )

            return solve

        expected: list[Any] = []
        for row in order:
            ruling = rulings[row["id"]]
            if ruling.kind:
                expected.append(
                    added(
                        "forum",
                        "sanctions",
                        {
                            "member": row["author"],
                            "kind": ruling.kind,
                            "days": ruling.days,
                            "rule": rules[row["id"]],
                            "post": row["id"],
                            "state": "active",
                        },
                    )
                )
            if ruling.hides:
                expected.append(changed("forum", "posts", row["id"], hidden=1))
            if ruling.state != "open":
                expected.append(changed("forum", "reports", numbers[row["id"]], state=ruling.state))
        skipped = next(row for row in order if rulings[row["id"]].state != "open")
        unlike = next(row for row in order if rulings[row["id"]] != flat[row["id"]])
        return WebDraft(
            plan,
            instruction,
            run(*map(settled, order)),
            changes=together(*expected),
            alternatives={"sanctions_last": run(*map(sanctions_last, order))},
            mutants={
                "no_exceptions": run(
                    *(settle(row, flat[row["id"]], rules[row["id"]] or "insult") for row in order)
                ),
                "one_left": run(*(settled(row) for row in order if row is not skipped)),
                "one_flat": run(
                    *(
                        settle(
                            row,
                            flat[row["id"]] if row is unlike else rulings[row["id"]],
                            rules[row["id"]] or "insult",
                        )
                        for row in order
                    )
                ),
                "other_board": run(
                    *map(settled, order), lambda pilot: close_report(pilot, start + 3, "dismissed")
                ),
            },
            turns=80,
        )


TEMPLATES: tuple[WebTemplate, ...] = (ClearQueue(),)
