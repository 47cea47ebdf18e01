"""Steps on the forum that several templates share."""

import json
from typing import Any

from hexathlon.tasks.source import Script
from hexathlon.tasks.web.pilot import Pilot
from hexathlon.tasks.web.templates.draft import Solver
from hexathlon.tasks.web.world.sites.forum.handbook import Ladder
from hexathlon.tasks.web.world.sites.forum.vocabulary import label_of
from hexathlon.tasks.web.world.store import SiteStore

__all__ = [
    "close_report",
    "hide",
    "ladder_of",
    "move",
    "reply",
    "run",
    "sanction",
    "toggle",
    "vote",
]


def ladder_of(store: SiteStore) -> Ladder:
    """Return the handbook's numbers."""
    return Ladder(**json.loads(store.value("SELECT data FROM _rules")))


def run(*parts: Any) -> Solver:
    """Carry out steps, each a function of the pilot, then finish."""

    def solve(pilot: Pilot) -> Script:
        for part in parts:
            yield from part(pilot)
        yield from pilot.finish()

    return solve


def vote(pilot: Pilot, post: int) -> Script:
    """Vote for a post."""
    yield from pilot.goto("forum", f"/posts/{post}")
    yield from pilot.click("button", [f"{each} #{post}" for each in pilot.words("forum", "vote")])


def toggle(pilot: Pilot, thread: int, key: str) -> Script:
    """Subscribe to a thread (`subscribe`) or lock it (`lock`)."""
    yield from pilot.goto("forum", f"/threads/{thread}")
    if key in ("lock", "unlock"):
        yield from pilot.click("disclosure", pilot.words("forum", "tools"))
    yield from pilot.click("button", pilot.words("forum", key))


def move(pilot: Pilot, thread: int, board: str) -> Script:
    """Move a thread to a board, by the board's name."""
    yield from pilot.goto("forum", f"/threads/{thread}")
    yield from pilot.click("disclosure", pilot.words("forum", "tools"))
    yield from pilot.select(pilot.words("forum", "target_board"), board)
    yield from pilot.click("button", pilot.words("forum", "move_thread"))


def reply(pilot: Pilot, thread: int, text: str) -> Script:
    """Reply to a thread."""
    yield from pilot.goto("forum", f"/threads/{thread}")
    yield from pilot.fill(pilot.words("forum", "reply"), text)
    yield from pilot.click("button", pilot.words("forum", "post_reply"))


def sanction(pilot: Pilot, member: int, kind: str, days: int, rule: str, post: int) -> Script:
    """Issue a sanction."""
    language = pilot.language
    yield from pilot.goto("forum", f"/members/{member}/sanction?post={post}")
    yield from pilot.select(pilot.words("forum", "kind"), label_of(kind, language))
    if days:
        yield from pilot.fill(pilot.words("forum", "days"), str(days), role="spinbutton")
    yield from pilot.select(pilot.words("forum", "rule"), label_of(rule, language))
    yield from pilot.click("button", pilot.words("forum", "sanction"))


def hide(pilot: Pilot, report: int) -> Script:
    """Hide the post that a report is about."""
    yield from pilot.goto("forum", f"/reports/{report}")
    yield from pilot.click("button", pilot.words("forum", "hide"))
    yield from pilot.click("button", pilot.words("forum", "hide"))


def close_report(pilot: Pilot, report: int, state: str) -> Script:
    """Close a report as `upheld` or `dismissed`."""
    yield from pilot.goto("forum", f"/reports/{report}")
    yield from pilot.click("radio", label_of(state, pilot.language))
    yield from pilot.click("button", pilot.words("forum", "close_report"))
