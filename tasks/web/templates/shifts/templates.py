"""Shifts by workplace: sites, kinds of jobs, and whom the agent works for."""

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


TEMPLATES: tuple[WebTemplate, ...] = (
    ShiftTemplate(
        "shift_office", ("calendar",), (event_notes, contact_notes),
        ("You are the assistant of an office for one working day.", "您在一间办公室担任一天助理。"),
    ),
    ShiftTemplate(
        "shift_project", ("tracker", "calendar"), (issue_priorities, event_notes, issue_people),
        ("You assist the lead of a project for one working day.", "您为一位项目负责人工作一天。"),
    ),
    ShiftTemplate(
        "shift_shop_floor", ("sheets", "tracker"), (reorder_levels, issue_people, contact_notes),
        ("You work in the office of a warehouse for one day.", "您在一家仓库的办公室工作一天。"),
    ),
    ShiftTemplate(
        "shift_incident", ("tracker",), (issue_priorities, contact_notes, issue_people),
        ("You keep the records on the day after an incident.", "事故次日，您负责维护各项记录。"),
    ),
)  # fmt: skip
