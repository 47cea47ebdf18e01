"""Shifts by workplace: sites, kinds of jobs, and the agent's employer."""

from collections.abc import Sequence
from typing import ClassVar

from hexathlon.tasks.task import Level
from hexathlon.tasks.web.templates.draft import WebDraft, WebScene, WebTemplate
from hexathlon.tasks.web.templates.shifts.day import JobMaker, compose_shift
from hexathlon.tasks.web.templates.shifts.office_jobs import (
    contact_notes,
    event_notes,
    issue_people,
    issue_priorities,
    reorder_levels,
)
from hexathlon.tasks.web.templates.shifts.press_jobs import article_summaries, thread_boards
from hexathlon.tasks.web.templates.shifts.trade_jobs import (
    claim_states,
    contact_phones,
    standing_amounts,
    variant_stock,
)

__all__ = ["TEMPLATES", "ShiftTemplate"]


class ShiftTemplate(WebTemplate):
    """A shift at one kind of workplace."""

    levels: ClassVar[tuple[Level, ...]] = ("hard",)

    def __init__(
        self, name: str, sites: Sequence[str], makers: Sequence[JobMaker], story: tuple[str, str]
    ) -> None:
        self.name = name  # type: ignore[misc]
        self.sites, self.makers, self.story = tuple(sites), tuple(makers), story

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw jobs, rules and the order of requests."""
        return compose_shift(scene, self.sites, self.makers, self.story)


def _shift(
    name: str, sites: str, makers: Sequence[JobMaker], english: str, chinese: str
) -> ShiftTemplate:
    return ShiftTemplate(f"shift_{name}", sites.split(), makers, (english, chinese))


TEMPLATES: tuple[WebTemplate, ...] = (
    _shift("office", "calendar", (event_notes, contact_notes, contact_phones),
           "You are the assistant of an office for one working day.", "您在一间办公室担任一天助理。"),
    _shift("project", "tracker calendar", (issue_priorities, event_notes, issue_people),
           "You assist the lead of a project for one working day.", "您为一位项目负责人工作一天。"),
    _shift("shop_floor", "sheets tracker", (reorder_levels, issue_people, contact_notes),
           "You work in the office of a warehouse for one day.", "您在一家仓库的办公室工作一天。"),
    _shift("incident", "tracker forum", (issue_priorities, thread_boards, contact_phones),
           "You keep the records on the day after an incident.", "事故次日，您负责维护各项记录。"),
    _shift("finance", "bank sheets", (standing_amounts, claim_states, contact_notes),
           "You stand in for a colleague in the finance department for one day.",
           "您在财务部替同事值一天班。"),
    _shift("month_end", "sheets bank tracker", (claim_states, standing_amounts, issue_people),
           "It is the day of the month-end close, and you work for the head of accounts.",
           "今天月末结账，您为会计主管工作。"),
    _shift("community", "forum calendar", (thread_boards, event_notes, contact_notes),
           "You look after a community for one day: its forum, its dates, its partners.",
           "您负责一个社群一天的事务：论坛、日程和合作伙伴。"),
    _shift("publishing", "cms forum", (article_summaries, thread_boards, contact_notes),
           "You are on duty at a small publication for one day.", "您在一家小型刊物值一天班。"),
    _shift("onboarding", "tracker calendar", (issue_people, event_notes, contact_phones),
           "New colleagues start today; you keep the records for their lead.",
           "今天有新同事入职，您为其主管维护各项记录。"),
    _shift("moving", "bank calendar", (standing_amounts, contact_phones, event_notes),
           "An office moves house, and you do its paperwork for one day.",
           "一间办公室正在搬迁，您负责一天的文书工作。"),
    _shift("retail", "shop sheets", (variant_stock, reorder_levels, contact_phones),
           "You are in charge of a shop's records for one day.", "您负责一家商店一天的各项记录。"),
    _shift("event_planning", "calendar cms", (event_notes, article_summaries, contact_phones),
           "You help to prepare an event for one day.", "您协助筹备一场活动，为期一天。"),
    _shift("travel_desk", "sheets calendar", (claim_states, event_notes, contact_phones),
           "You stand in at a travel desk for one day.", "您在差旅组代班一天。"),
)  # fmt: skip
