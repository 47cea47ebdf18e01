"""Hard tasks in the editorial system: schedules and pictures under policies that interact."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, ClassVar

from hexathlon.tasks.source import Script
from hexathlon.tasks.task import Level
from hexathlon.tasks.web.pilot import Pilot
from hexathlon.tasks.web.templates.cms_steps import edit_article, rules_of, schedule
from hexathlon.tasks.web.templates.draft import (
    Solver,
    WebDraft,
    WebScene,
    WebTemplate,
    changed,
    together,
)
from hexathlon.tasks.web.world.sites.cms.rules import PressRules, allowed_slots
from hexathlon.tasks.web.world.store import SiteStore, StoreRow

__all__ = ["TEMPLATES", "reviewer_for", "slots_for"]
_FORMAT = "%Y-%m-%d %H:%M"


def slots_for(
    articles: Sequence[StoreRow], taken: Sequence[StoreRow], rules: PressRules, now: datetime
) -> list[str]:
    """Return the slot of every article; articles choose in the given order."""
    busy = {row["publish_at"] for row in taken}
    days = {(row["section"], row["publish_at"][:10]) for row in taken}
    chosen = []
    for row in articles:
        for moment in allowed_slots(rules, row["section"], now):
            text = moment.strftime(_FORMAT)
            free = text not in busy and (row["section"], text[:10]) not in days
            if free and text[:10] >= row["embargo"]:
                busy.add(text)
                days.add((row["section"], text[:10]))
                chosen.append(text)
                break
    return chosen


def _slots_by_minute(
    store: SiteStore, articles: Sequence[StoreRow], rules: PressRules, now: datetime
) -> list[str]:
    """Find the slots independently: go through every half hour and query the store."""
    chosen: list[tuple[str, str]] = []
    for row in articles:
        moment = now
        while True:
            moment += timedelta(minutes=30)
            text, clock = moment.strftime(_FORMAT), moment.strftime("%H:%M")
            weekend, desk = moment.isoweekday() > 5, row["section"]
            times = [rules.weekend_slot] if weekend else list(rules.slots)
            if desk == rules.late_desk:
                times = [] if weekend else times[-1:]
            if weekend and desk == rules.weekday_desk:
                times = []
            early = (moment - now).total_seconds() < rules.notice_hours * 3600
            if clock not in times or early or text[:10] < row["embargo"]:
                continue
            held = store.value(
                "SELECT count(*) FROM articles WHERE status = 'scheduled' AND (publish_at = ? OR "
                "(section = ? AND substr(publish_at, 1, 10) = ?))",
                (text, desk, text[:10]),
            )
            ours = any(
                when == text or (other, when[:10]) == (desk, text[:10]) for other, when in chosen
            )
            if not held and not ours:
                chosen.append((desk, text))
                break
    return [when for _, when in chosen]


def reviewer_for(row: StoreRow, day: str, team: Sequence[StoreRow]) -> str:
    """Return the login of the reviewer whom the policy names for a day."""
    people = {each["login"]: each for each in team}

    def away(login: str) -> bool:
        person = people[login]
        return bool(person["away_from"]) and person["away_from"] <= day <= person["away_until"]

    editors = [
        each["login"]
        for each in sorted(team, key=lambda each: each["name"])
        if each["role"] == "editor" and each["desk"] == row["section"]
    ]
    others = [login for login in editors if login != row["author"]]
    here = [login for login in others if not away(login)]
    if here:
        return str(here[0])
    deputy = people[others[0]]["deputy"]
    if deputy == row["author"] or away(deputy):
        return str(next(each["login"] for each in team if each["role"] == "chief"))
    return str(deputy)


def _reviewer_by_query(store: SiteStore, row: StoreRow, day: str) -> str:
    """Find the reviewer independently, by queries."""
    here = "NOT (away_from <> '' AND ? BETWEEN away_from AND away_until)"
    desk = "role = 'editor' AND desk = ? AND login <> ?"
    login = store.value(
        f"SELECT login FROM authors WHERE {desk} AND {here} ORDER BY name",
        (row["section"], row["author"], day),
    )
    if login is None:
        login = store.value(
            f"SELECT login FROM authors WHERE login <> ? AND {here} AND login = (SELECT deputy "
            f"FROM authors WHERE {desk} ORDER BY name LIMIT 1)",
            (row["author"], day, row["section"], row["author"]),
        )
    return str(login or store.value("SELECT login FROM authors WHERE role = 'chief'"))


class PlanArticles(WebTemplate):
    """Give articles reviewers and slots by two policies, with a scheduler that fails once."""

    name: ClassVar[str] = "cms_plan"
    levels: ClassVar[tuple[Level, ...]] = ("medium",)

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw four articles in review; sections, embargoes and absences interact."""
        plan = scene.plan("cms")
        store = scene.store(plan, "cms")
        rules = rules_of(store)
        now = datetime.fromisoformat(plan.start)
        drafts = store.rows("SELECT * FROM articles WHERE status = 'review' ORDER BY id")
        late = [row for row in drafts if row["section"] == rules.late_desk]
        rest = [row for row in drafts if row["section"] != rules.late_desk]
        if not late or len(rest) < 4:
            return None
        first, second, *_ = scene.sample(rest, 4)
        same = [
            row for row in rest if row["section"] == first["section"] and row["id"] != first["id"]
        ]
        if not same or second["section"] == first["section"]:
            return None
        chosen = scene.sample([first, scene.pick(same), second, scene.pick(late)], 4)
        if len({row["id"] for row in chosen}) < 4:
            return None
        pictures = store.rows(
            "SELECT id FROM media WHERE alt <> '' AND licence = 'own' ORDER BY id"
        )
        team = store.rows("SELECT * FROM authors ORDER BY name")
        embargoed = scene.pick(chosen[1:])
        day = (now + timedelta(days=int(scene.pick((4, 5, 6))))).strftime("%Y-%m-%d")
        edits: list[Any] = []
        for row in chosen:
            row["embargo"] = day if row is embargoed else ""
            editors = [
                each["login"]
                for each in team
                if each["role"] == "editor" and each["desk"] == row["section"]
            ]
            if scene.rng.random() < 0.5:
                row["author"] = scene.pick(editors)
            edits.append(
                (
                    "cms",
                    "UPDATE articles SET embargo = ?, author = ?, reviewer = '', image = ? WHERE "
                    "id = ?",
                    (row["embargo"], row["author"], scene.pick(pictures)["id"], row["id"]),
                )
            )
            # One editor of the desk is away for some days, so that the day of the slot matters.
            person = scene.pick(editors)
            start = now + timedelta(days=int(scene.pick((-2, 1, 2))))
            span = (start.strftime("%Y-%m-%d"), (start + timedelta(days=3)).strftime("%Y-%m-%d"))
            edits.append(
                (
                    "cms",
                    "UPDATE authors SET away_from = ?, away_until = ? WHERE login = ?",
                    (*span, person),
                )
            )
        faulty = scene.pick(chosen)
        edits.append(("cms", "INSERT INTO _faults VALUES (?)", (faulty["id"],)))
        plan = plan.with_edits(edits)
        store = scene.store(plan, "cms")
        team = store.rows("SELECT * FROM authors ORDER BY name")
        taken = store.rows("SELECT section, publish_at FROM articles WHERE status = 'scheduled'")
        slots = slots_for(chosen, taken, rules, now)
        if len(slots) < 4 or slots != _slots_by_minute(store, chosen, rules, now):
            return None
        reviewers = [
            reviewer_for(row, slot[:10], team) for row, slot in zip(chosen, slots, strict=True)
        ]
        today = [reviewer_for(row, plan.start[:10], team) for row in chosen]
        naive = slots_for(chosen, [], rules, now)
        single = [slots_for([row], taken, rules, now)[0] for row in chosen]
        queried = [
            _reviewer_by_query(store, row, slot[:10])
            for row, slot in zip(chosen, slots, strict=True)
        ]
        if queried != reviewers or today == reviewers or slots in (naive, single):
            return None
        names = {row["login"]: row["name"] for row in team}
        listed = "; ".join(f'"{row["title"]}"' for row in chosen)
        instruction = scene.ask(
            plan,
            f"Get these articles onto the schedule, in this order of precedence: {listed}. "
            "Before, give each the reviewer that the review policy names. Slots are those of the "
            "scheduling policy in force. Articles that are scheduled already keep their slots. "
            "At the end all four must really stand on the schedule.",
            f"按以下先后次序把这些文章列入排期：{listed}。在此之前，按审稿规定为每篇设定审稿人。"
            "时段依现行排期规定确定。已排期的文章保持不动。最后四篇都必须确实在排期之中。",
        )

        def put(times: Sequence[str], people: Sequence[str], *, check: bool = True) -> Solver:
            def solve(pilot: Pilot) -> Script:
                for row, when, who in zip(chosen, times, people, strict=True):
                    yield from edit_article(pilot, row["id"], {"reviewer": names[who]})
                    yield from schedule(pilot, row["id"], when)
                if check:
                    yield from pilot.goto("cms", "/plan")
                    if not pilot.shows(f"#{faulty['id']} "):
                        place = chosen.index(faulty)
                        yield from schedule(pilot, faulty["id"], times[place])
                yield from pilot.finish()

            return solve

        def reviewers_first(pilot: Pilot) -> Script:
            for row, who in zip(chosen, reviewers, strict=True):
                yield from edit_article(pilot, row["id"], {"reviewer": names[who]})
            for row, when in reversed(list(zip(chosen, slots, strict=True))):
                yield from schedule(pilot, row["id"], when)
            yield from schedule(pilot, faulty["id"], slots[chosen.index(faulty)])
            yield from pilot.finish()

        return WebDraft(
            plan,
            instruction,
            put(slots, reviewers),
            changes=together(
                *(
                    changed(
                        "cms",
                        "articles",
                        row["id"],
                        reviewer=who,
                        status="scheduled",
                        publish_at=when,
                    )
                    for row, when, who in zip(chosen, slots, reviewers, strict=True)
                )
            ),
            alternatives={"reviewers_first": reviewers_first},
            mutants={
                "unchecked": put(slots, reviewers, check=False),
                "reviewers_of_today": put(slots, today),
                "one_slot_off": put(
                    [*slots[:3], single[3] if single[3] != slots[3] else slots[3][:-2] + "15"],
                    reviewers,
                ),
            },
            turns=80,
        )


TEMPLATES: tuple[WebTemplate, ...] = (PlanArticles(),)
