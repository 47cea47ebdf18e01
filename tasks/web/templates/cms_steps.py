"""Steps in the editorial system that several templates share."""

import json
from collections.abc import Mapping

from hexathlon.tasks.source import Script
from hexathlon.tasks.web.pilot import Pilot
from hexathlon.tasks.web.world.sites.cms.rules import PressRules
from hexathlon.tasks.web.world.store import SiteStore

__all__ = [
    "add_tag",
    "article_url",
    "click_step",
    "edit_article",
    "issue_erratum",
    "rules_of",
    "schedule",
    "sign_in_again",
    "tick_and_apply",
]


def article_url(number: int) -> str:
    """Return the pattern of the URL of an article or of one of its parts."""
    return rf"cms\.hexathlon\.test/articles/{number}(\D|$)"


def rules_of(store: SiteStore) -> PressRules:
    """Return the policies in force."""
    data = json.loads(store.value("SELECT data FROM _rules"))
    return PressRules(
        **{**data, "slots": tuple(data["slots"]), "old_slots": tuple(data["old_slots"])}
    )


def edit_article(pilot: Pilot, number: int, fields: Mapping[str, str]) -> Script:
    """Change fields of an article, by the names of their labels."""
    yield from pilot.goto("cms", f"/articles/{number}/edit")
    for key, value in fields.items():
        names = pilot.words("cms", key)
        if key in ("section", "author", "reviewer"):
            yield from pilot.select(names, value)
        else:
            yield from pilot.fill(names, value, role="spinbutton" if key == "image" else "textbox")
    yield from pilot.click("button", pilot.words("cms", "save"))


def schedule(pilot: Pilot, number: int, moment: str) -> Script:
    """Pass an article to the scheduler."""
    yield from pilot.goto("cms", f"/articles/{number}/schedule")
    yield from pilot.fill(pilot.words("cms", "day"), moment[:10], role="date")
    yield from pilot.fill(pilot.words("cms", "time"), moment[11:])
    yield from pilot.click("button", pilot.words("cms", "schedule"))


def click_step(pilot: Pilot, number: int, step: str, *, confirm: bool = False) -> Script:
    """Take a step of the workflow."""
    yield from pilot.goto("cms", f"/articles/{number}")
    yield from pilot.click("button", pilot.words("cms", step))
    if confirm:
        yield from pilot.click("button", pilot.words("cms", step))


def add_tag(pilot: Pilot, number: int, name: str) -> Script:
    """Add a tag."""
    yield from pilot.goto("cms", f"/articles/{number}")
    yield from pilot.select(pilot.words("cms", "tag"), name)
    yield from pilot.click("button", pilot.words("cms", "add_tag"))


def issue_erratum(pilot: Pilot, number: int, kind: str, text: str) -> Script:
    """Issue an erratum; `kind` is its label."""
    yield from pilot.goto("cms", f"/articles/{number}")
    yield from pilot.click("disclosure", pilot.words("cms", "issue_erratum"))
    yield from pilot.select(pilot.words("cms", "erratum_kind"), kind)
    yield from pilot.fill(pilot.words("cms", "erratum_text"), text)
    yield from pilot.click("button", pilot.words("cms", "issue_erratum"))


def tick_and_apply(pilot: Pilot, numbers: set[int], action: str) -> Script:
    """Select the given articles that the page shows, and apply a bulk action."""
    shown = [number for number in sorted(numbers) if pilot.shows(f'checkbox "#{number}"')]
    for number in shown:
        yield from pilot.click("checkbox", f"#{number}")
    if shown:
        options = pilot.screen.partition("options: –, ")[2].partition("\n")[0].split(", ")
        label = next(each for each in pilot.words("cms", f"bulk_{action}") if each in options)
        yield from pilot.select(pilot.words("cms", "bulk_action"), label)
        yield from pilot.click("button", pilot.words("cms", "bulk_apply"))


def sign_in_again(pilot: Pilot, site: str, login: str, password: str) -> Script:
    """Fill in the sign-in form, if it is shown."""
    if any(pilot.shows(f'textbox "{each}"') for each in pilot.words(site, "password")):
        yield from pilot.fill(pilot.words(site, "login"), login)
        yield from pilot.fill(pilot.words(site, "password"), password)
        yield from pilot.click("button", pilot.words(site, "sign_in"))
