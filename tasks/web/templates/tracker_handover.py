"""A hard task on the tracker: handing issues over."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import ClassVar

from hexathlon.tasks.source import Script
from hexathlon.tasks.task import Level
from hexathlon.tasks.web.pilot import Pilot
from hexathlon.tasks.web.templates.draft import (
    Solver,
    WebDraft,
    WebScene,
    WebTemplate,
    changed,
    together,
)
from hexathlon.tasks.web.templates.tracker_rules import assign, issue_edit, rule_edits
from hexathlon.tasks.web.world.network import Edit
from hexathlon.tasks.web.world.sites.tracker.vocabulary import COMPONENTS
from hexathlon.tasks.web.world.store import SiteStore, StoreRow

__all__ = ["TEMPLATES"]


class HandOver(WebTemplate):
    """Reassign an absent person's issues, by component, load, deputy and priority."""

    name: ClassVar[str] = "tracker_hand_over"
    levels: ClassVar[tuple[Level, ...]] = ("medium",)

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw a person and eight of their issues, one for every rule."""
        plan = scene.plan("tracker")
        store = scene.store(plan, "tracker")
        hard = scene.demanding()
        people = scene.people(plan)
        names = {person.login: person.name for person in people}
        project = scene.pick(store.rows("SELECT * FROM projects ORDER BY key"))
        leaver = scene.pick([each for each in people[1:] if each.login != project["lead"]])
        held = store.rows(
            "SELECT * FROM issues WHERE project = ? AND assignee = ? AND status NOT "
            "IN ('done', 'rejected')",
            (project["key"], leaver.login),
        )
        spare = store.rows(
            "SELECT * FROM issues WHERE project = ? AND status IN ('open', "
            "'progress') AND assignee = '' ORDER BY number",
            (project["key"],),
        )
        specs = [("open", "p3"), ("progress", "p2"), ("open", "p1"), ("review", "p2"),
                 ("open", "p4"), ("progress", "p3"), ("open", "p2"), ("testing", "p1")]  # fmt: skip
        specs = specs if hard else [*specs[:4], specs[5]]
        if len(spare) < len(specs):
            return None
        chosen = scene.sample(spare, len(specs))
        areas = scene.sample([each for each in COMPONENTS], 4)
        today = datetime.fromisoformat(plan.start).date()
        edits: list[Edit] = [issue_edit(row["number"], assignee="") for row in held]
        for i, (row, (status, priority)) in enumerate(zip(chosen, specs, strict=True)):
            edits.append(issue_edit(row["number"], assignee=leaver.login, status=status,
                                    priority=priority, component=areas[i % 4]))  # fmt: skip
        # The candidates of one area are away: the least busy one, and their deputy.
        staff = store.rows("SELECT * FROM staff")
        ranked = _ranked(store, staff, areas[1], leaver.login)
        if not ranked:
            return None
        first = ranked[0]
        others = [
            each.login
            for each in people
            if each.login not in (leaver.login, first, project["lead"], *ranked)
        ]
        second, third = scene.sample(others, 2)
        away = ("tracker", "UPDATE staff SET away_from = ?, away_until = ? WHERE login = ?")
        near, far, past = ((today + timedelta(days=days)).isoformat() for days in (-2, 6, -20))
        deputy = ("tracker", "UPDATE staff SET deputy = ? WHERE login = ?")
        edits += [
            (*away, (near, far, first)),
            (*deputy, (second, first)),
            (*deputy, (third, second)),
            (*away, (past, near, third)),
            (*away, (today.isoformat(), far, leaver.login)),
        ]
        if hard:
            edits.append((*away, (near, today.isoformat(), second)))
        head = people[1].login
        edits += rule_edits(80, _hand_over_rules(scene, head, project["key"], hard=hard))
        plan = plan.with_edits(edits)
        store = scene.store(plan, "tracker")
        right = _owners(store, leaver.login, project, today.isoformat(), hard=hard)
        if right is None:
            return None
        moved = {number: login for number, login in right.items() if login != leaver.login}
        wrong = {
            kind: _owners(store, leaver.login, project, today.isoformat(), hard=hard, without=kind)
            for kind in ("away", "review", "lead", *(("low", "chain") if hard else ()))
        }
        if any(value == right or value is None for value in wrong.values()):
            return None
        span = (today.isoformat(), far)
        instruction = scene.say(
            f"{leaver.name} is away from {span[0]} to {span[1]}. Hand over their unresolved issues "
            f"in the project {project['name']} today, as the tracker's rules say. Change nothing "
            "but the assignees.",
            f"{leaver.name}于{span[0]}至{span[1]}休假。请今天按系统中的规则，交接其在项目“{project['name']}”中"
            "所有未解决的问题。除负责人外不要更改任何内容。",
        )

        def solver(owners: Mapping[int, str], *, look: bool = True) -> Solver:
            def solve(pilot: Pilot) -> Script:
                if look:
                    yield from pilot.goto("tracker", "/rules")
                    yield from pilot.goto("tracker", "/people")
                    yield from pilot.goto(
                        "tracker", f"/issues?project={project['key']}&assignee={leaver.login}"
                    )
                for number, login in owners.items():
                    if login != leaver.login:
                        name = names.get(login, pilot.words("tracker", "none")[0])
                        if not login:
                            yield from pilot.goto("tracker", f"/issues/{number}")
                            yield from _nobody(pilot)
                        else:
                            yield from assign(pilot, number, name)
                yield from pilot.finish()

            return solve

        def backwards(pilot: Pilot) -> Script:
            yield from solver(dict(reversed(moved.items())), look=False)(pilot)

        return WebDraft(
            plan, instruction, solver(moved),
            changes=together(*(changed("tracker", "issues", number, assignee=login)
                               for number, login in moved.items())),
            alternatives={"backwards": backwards},
            mutants={**{f"without_{kind}": solver(value, look=False)
                        for kind, value in wrong.items() if value is not None},
                     "one_missing": solver(dict(list(moved.items())[:-1]), look=False)},
            turns=70 if hard else 45,
        )  # fmt: skip


def _nobody(pilot: Pilot) -> Script:
    """Choose nobody as assignee of the issue shown; the option's value is empty."""
    labels = pilot.words("tracker", "none")
    bid = pilot.find("combobox", pilot.words("tracker", "assignee"))
    line = next(each for each in pilot.screen.splitlines() if f"[{bid}] combobox" in each)
    label = next(each for each in labels if f"options: {each}," in line)
    yield from pilot.act("select_option", bid=bid, options=label)
    yield from pilot.click("button", pilot.words("tracker", "save"))


def _hand_over_rules(
    scene: WebScene, head: str, project: str, *, hard: bool
) -> list[tuple[str, str, str, str]]:
    say = scene.say
    lines = [
        ("", "2025-02-01", head, say(
            "When somebody goes away, each unresolved issue goes to the person whose component it "
            "is (page People) and who has the fewest open issues there; the counts are those "
            "before the handover. The person who goes away is left out.",
            "有人休假时，其每个未解决问题交给负责该组件（见人员页）且未解决数最少的人；以交接前的数目为准，休假者本人不计。")),
        ("", "2025-04-01", head, say(
            "Issues in review or testing stay with the person who goes away.",
            "评审中或测试中的问题仍由休假者负责。")),
        (project, "2025-06-01", head, say(
            "When issues are handed over in this project, critical ones go to the project lead, "
            "unless they stay.", "本项目交接时，紧急问题交给项目负责人，但按规定不交接的除外。")),
        ("", "2025-06-01", head, say(
            "Nobody who is away on the day of the handover gets an issue; it goes to that "
            "person's deputy" + (", and if the deputy is away, to the deputy's deputy." if hard
                                 else "."),
            "交接当日休假的人不接收问题，改交其代理人" + ("；代理人也休假的，交代理人的代理人。" if hard else "。"))),
    ]  # fmt: skip
    if hard:
        lines.append((project, "2025-09-01", head, say(
            "Low priority issues of this project are not handed over to anybody: they are left "
            "without an assignee.", "本项目的低优先级问题不交给任何人：负责人留空。")))  # fmt: skip
    return lines


def _ranked(store: SiteStore, staff: Sequence[StoreRow], area: str, leaver: str) -> list[str]:
    """Return the people of an area, the least busy first; empty if two are equally busy."""
    loads = sorted(
        (int(store.value("SELECT count(*) FROM issues WHERE assignee = ? AND status NOT IN "
                         "('done', 'rejected')", (row["login"],))), row["login"])
        for row in staff if row["area"] == area and row["login"] != leaver
    )  # fmt: skip
    if len(loads) > 1 and loads[0][0] == loads[1][0]:
        return []
    return [login for _, login in loads]


def _owners(
    store: SiteStore, leaver: str, project: StoreRow, today: str, *, hard: bool, without: str = ""
) -> dict[int, str] | None:
    """Return the new assignee of each issue, leaving out one rule; None if a tie decides."""
    staff = {row["login"]: row for row in store.rows("SELECT * FROM staff")}

    def away(login: str) -> bool:
        row = staff[login]
        return bool(row["away_from"]) and row["away_from"] <= today <= row["away_until"]

    owners = {}
    for row in store.rows(
        "SELECT * FROM issues WHERE project = ? AND assignee = ? AND status NOT "
        "IN ('done', 'rejected') ORDER BY number",
        (project["key"], leaver),
    ):
        if row["status"] in ("review", "testing") and without != "review":
            owners[row["number"]] = leaver
            continue
        if hard and row["priority"] == "p4" and without != "low":
            owners[row["number"]] = ""
            continue
        ranked = _ranked(store, list(staff.values()), row["component"], leaver)
        if not ranked:
            return None
        login = ranked[0]
        if row["priority"] == "p1" and without != "lead":
            login = project["lead"]
        for _ in range(0 if without == "away" else 2 if hard and without != "chain" else 1):
            login = staff[login]["deputy"] if away(login) else login
        if without == "" and (away(login) or login == leaver):
            return None
        owners[row["number"]] = login
    return owners


TEMPLATES: tuple[WebTemplate, ...] = (HandOver(),)
