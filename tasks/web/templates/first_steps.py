"""The smallest tasks, shown in the brief view: two to four actions on one site.

All deciding facts are on the screen: the request names what to look for, and the page at which the
task begins shows it. A policy with a million parameters can learn them.
"""

import re
from typing import ClassVar

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
    removed,
    together,
)
from hexathlon.tasks.web.templates.maps import unique_places
from hexathlon.tasks.web.templates.wiki import facts_of, other_value
from hexathlon.tasks.web.templates.wiki_steps import buildings, find_page, page_url, revision_row
from hexathlon.tasks.web.world.network import Edit, WorldPlan
from hexathlon.tasks.web.world.sites.bank.vocabulary import bank_label
from hexathlon.tasks.web.world.sites.maps.vocabulary import weekday_of
from hexathlon.tasks.web.world.store import StoreRow
from hexathlon.tasks.web.world.words import wordings_of

__all__ = ["TEMPLATES"]

_FRONT_PAGES = "SELECT id FROM pages WHERE kind = 'article' ORDER BY (id * 37) % 101, id LIMIT 8"
"""The pages that the front page of the wiki recommends."""

_HOURS_SQL = "INSERT INTO hours (place, weekday, opens, closes) VALUES (?, ?, ?, ?)"


def _quoted(screen: str, role: str, name: str) -> str:
    """Return an element as the screen shows it, with its number; empty if it does not."""
    match = re.search(rf'(?<!\w){role} "{re.escape(name)}" \[\d+\]', screen)
    return match[0] if match else ""


def _only(screen: str, role: str) -> str:
    """Return the first element of a role, as the screen shows it."""
    match = re.search(rf'(?<!\w){role}(?: "(?:[^"\\]|\\.)*")? \[\d+\]', screen)
    return match[0] if match else ""


class _FirstStep(WebTemplate):
    """A task of this module."""

    levels: ClassVar[tuple[Level, ...]] = ("tiny",)
    bilingual: ClassVar[bool] = False


class OpenAndRead(_FirstStep):
    """Open a page that the front page links to, and read a key fact."""

    name: ClassVar[str] = "wiki_open_read"

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw two buildings on the front page, and a fact."""
        plan = scene.plan("wiki")
        store = scene.store(plan, "wiki")
        shown = {row["id"] for row in store.rows(_FRONT_PAGES)}
        pages = [row for row in buildings(store) if row["id"] in shown]
        if len(pages) < 2:
            return None
        page, other = scene.sample(pages, 2)
        facts, others = facts_of(store, page["id"]), facts_of(store, other["id"])
        place, near = scene.sample(range(len(facts)), 2)
        fact, title = facts[place], page["title"]
        wrong = others[min(place, len(others) - 1)]
        if fact["value"] in (wrong["value"], facts[near]["value"]):
            return None
        instruction = f'What does the page "{title}" give as "{fact["name"]}"?'

        def solver(opened: str, answer: str) -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from pilot.look()
                yield from pilot.click("link", opened)
                yield from pilot.finish("RETRIEVE", [answer])

            return solve

        def by_search(pilot: Pilot) -> Script:
            yield from find_page(pilot, title)
            yield from pilot.finish("RETRIEVE", [fact["value"]])

        def unseen(pilot: Pilot) -> Script:
            yield from pilot.finish("RETRIEVE", [fact["value"]])

        def thought(screen: str) -> str:
            lines = [line.strip() for line in screen.splitlines()]
            read = next((line for line in lines if line.startswith(f"{fact['name']}: ")), "")
            return read or _quoted(screen, "link", title)

        return WebDraft(
            plan, instruction, solver(title, fact["value"]),
            answer=ExpectedAnswer(data=(fact["value"],)), evidence=(page_url(page["id"]),),
            alternatives={"by_search": by_search},
            mutants={"other_page": solver(other["title"], wrong["value"]),
                     "other_fact": solver(title, facts[near]["value"]), "unseen": unseen},
            turns=12, brief=True, thought=thought,
        )  # fmt: skip


class FillAndSave(_FirstStep):
    """Change one field of an open form and save it."""

    name: ClassVar[str] = "wiki_fill_save"

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw a building, a figure, and its new value."""
        plan = scene.plan("wiki")
        store = scene.store(plan, "wiki")
        page = scene.pick(buildings(store))
        plan = scene.plan("wiki", path=f"/pages/{page['id']}/infobox")
        facts = facts_of(store, page["id"])
        place = scene.pick((1, 3))
        fact = facts[place]
        near = scene.pick([row for row in facts if row is not fact])
        value = other_value(scene, fact)
        person = scene.people(plan)[0].login
        instruction = f'Set "{fact["name"]}" to "{value}" and save.'
        buttons = wordings_of("wiki", "save_page", scene.language)
        cancels = wordings_of("wiki", "cancel", scene.language)

        def solver(
            field: str = fact["name"], text: str = value, press: tuple[str, ...] = buttons
        ) -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from pilot.look()
                yield from pilot.fill(field, text)
                if press:
                    yield from pilot.click("button" if press is buttons else "link", press)
                yield from pilot.finish()

            return solve

        def by_page(pilot: Pilot) -> Script:
            yield from pilot.goto("wiki", f"/pages/{page['id']}")
            yield from pilot.click("link", pilot.words("wiki", "edit_infobox"))
            yield from solver()(pilot)

        def thought(screen: str) -> str:
            field = _quoted(screen, "textbox", fact["name"])
            done = f'{field} value "{value}"' in screen
            return _only(screen, "button") if field and done else field

        return WebDraft(
            plan, instruction, solver(),
            changes=together(
                changed("wiki", "facts", fact["id"], value=value),
                added("wiki", "revisions", revision_row(page["id"], 0, person, "")),
            ),
            alternatives={"by_page": by_page},
            mutants={"other_field": solver(near["name"]), "unsaved": solver(press=()),
                     "cancelled": solver(press=cancels)},
            turns=12, brief=True, thought=thought,
        )  # fmt: skip


class ConfirmBlock(_FirstStep):
    """Block the card that is open, for a reason that a dialog asks for."""

    name: ClassVar[str] = "bank_confirm_block"

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw a card and two reasons."""
        plan = scene.plan("bank")
        rows = scene.store(plan, "bank").rows("SELECT * FROM cards ORDER BY rowid")
        row = scene.pick(rows)
        plan = scene.plan("bank", path=f"/cards/{row['number']}")
        reason, wrong = scene.sample(("lost", "stolen", "damaged", "unused"), 2)
        label = bank_label(reason, scene.language)
        instruction = f'Block the card on this page, with the reason "{label}".'
        blocks = wordings_of("bank", "block", scene.language)
        done = wordings_of("bank", "blocked_note", scene.language)
        question = wordings_of("bank", "block_question", scene.language)

        def solver(why: str = reason, press: str = "block") -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from pilot.look()
                yield from pilot.click("button", blocks)
                yield from pilot.select(
                    pilot.words("bank", "reason"), bank_label(why, pilot.language)
                )
                if press:
                    yield from pilot.click("button", pilot.words("bank", press))
                yield from pilot.finish()

            return solve

        def by_list(pilot: Pilot) -> Script:
            yield from pilot.goto("bank", "/cards")
            yield from pilot.click("link", row["name"])
            yield from solver()(pilot)

        def thought(screen: str) -> str:
            if any(each in screen for each in done):
                return ""
            block = next(filter(None, (_quoted(screen, "button", each) for each in blocks)), "")
            field = _only(screen, "combobox")
            asked = any(each in screen for each in question)
            return field if asked and f'{field} value "{label}"' not in screen else block

        return WebDraft(
            plan, instruction, solver(),
            changes=changed("bank", "cards", row["number"], state="blocked", reason=reason),
            alternatives={"by_list": by_list},
            mutants={"other_reason": solver(wrong), "unconfirmed": solver(press=""),
                     "cancelled": solver(press="cancel")},
            turns=12, brief=True, thought=thought,
        )  # fmt: skip


class _OnList(_FirstStep):
    """A task that begins at one of the user's lists of places."""

    def listed(self, scene: WebScene) -> tuple[WorldPlan, list[StoreRow], int]:
        """Fill a list; return the plan, its places in order, and the number of the first entry."""
        plan = scene.plan("maps")
        store = scene.store(plan, "maps")
        begun = scene.pick(store.rows("SELECT * FROM lists ORDER BY id"))
        places = scene.sample(unique_places(store), int(scene.rng.integers(3, 5)))
        first = int(store.value("SELECT max(id) FROM saved")) + 1
        plan = scene.plan("maps", path=f"/lists/{begun['id']}").with_edits([
            ("maps", "DELETE FROM saved WHERE list = ?", (begun["id"],)),
            *(("maps", "INSERT INTO saved VALUES (?, ?, ?, '')",
               (first + at, begun["id"], row["id"])) for at, row in enumerate(places)),
        ])  # fmt: skip
        return plan, places, first


class TakeOut(_OnList):
    """Remove a place from the list that is open, and confirm."""

    name: ClassVar[str] = "maps_take_out"

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw two places on the list."""
        plan, places, first = self.listed(scene)
        at, near = scene.sample(range(len(places)), 2)
        title = places[at]["name"]
        buttons = wordings_of("maps", "remove", scene.language)
        done = wordings_of("maps", "removed", scene.language)
        questions = wordings_of("maps", "remove_question", scene.language)

        def solver(row: int = at, press: str = "remove") -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from pilot.look()
                yield from pilot.click("button", buttons, nth=row)
                if press:
                    yield from pilot.click("button", pilot.words("maps", press))
                yield from pilot.finish()

            return solve

        def by_lists(pilot: Pilot) -> Script:
            yield from pilot.goto("maps", plan.path)
            yield from solver()(pilot)

        def thought(screen: str) -> str:
            if any(each in screen for each in done):
                return ""
            if any(each.format(name="") in screen.replace(title, "") for each in questions):
                return next(filter(None, (_quoted(screen, "button", each) for each in buttons)), "")
            entry = re.search(
                rf'link "{re.escape(title)}" \[.*?button "[^"]*" \[\d+\]', screen, re.S
            )
            return entry[0] if entry else ""

        return WebDraft(
            plan, f'Take "{title}" off this list.', solver(),
            changes=removed("maps", "saved", first + at),
            alternatives={"by_lists": by_lists},
            mutants={"other_place": solver(near), "unconfirmed": solver(press=""),
                     "cancelled": solver(press="cancel")},
            turns=12, brief=True, thought=thought,
        )  # fmt: skip


class ReadHours(_OnList):
    """Open a place on the list and read its hours on a weekday."""

    name: ClassVar[str] = "maps_read_hours"

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw two places and two weekdays, all with different hours."""
        plan, places, _ = self.listed(scene)
        place, other = scene.sample(places, 2)
        days = scene.sample(range(7), 7)
        times = []
        edits: list[Edit] = []
        for row in (place, other):
            edits.append(("maps", "DELETE FROM hours WHERE place = ?", (row["id"],)))
            for day in days:
                opens, closes = (
                    f"{int(hour):02d}:{15 * int(scene.rng.integers(4)):02d}"
                    for hour in (scene.rng.integers(7, 12), scene.rng.integers(15, 22))
                )
                times.append(f"{opens}–{closes}")
                edits.append(("maps", _HOURS_SQL, (row["id"], day, opens, closes)))
        if len(set(times)) < len(times):
            return None
        name, day = place["name"], weekday_of(days[0], scene.language)
        path = rf"maps\.hexathlon\.test/places/{place['id']}(\?|$)"

        def solver(target: str, answer: str) -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from pilot.look()
                yield from pilot.click("link", target)
                yield from pilot.finish("RETRIEVE", [answer])

            return solve

        def by_url(pilot: Pilot) -> Script:
            yield from pilot.goto("maps", f"/places/{place['id']}")
            yield from pilot.finish("RETRIEVE", [times[0]])

        def thought(screen: str) -> str:
            lines = [line.strip() for line in screen.splitlines()]
            read = next((line for line in lines if line.startswith(f"{day}: ")), "")
            return read or _quoted(screen, "link", name)

        return WebDraft(
            plan.with_edits(edits), f'When is "{name}" open on {day}?', solver(name, times[0]),
            answer=ExpectedAnswer(data=(times[0],)), evidence=(path,),
            alternatives={"by_url": by_url},
            mutants={"other_place": solver(other["name"], times[7]),
                     "other_day": solver(name, times[1]),
                     "closing_time": solver(name, times[0].partition("–")[2])},
            turns=12, brief=True, thought=thought,
        )  # fmt: skip


class NameList(_FirstStep):
    """Create a list with a given name."""

    name: ClassVar[str] = "maps_name_list"

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw a name that begins with that of a place."""
        plan = scene.plan("maps", path="/lists")
        store = scene.store(plan, "maps")
        login = scene.people(plan)[0].login
        begun = scene.pick(unique_places(store))["name"]
        held = scene.pick(store.rows("SELECT * FROM lists ORDER BY id"))["name"]
        wanted = f"{begun} {scene.pick(('and around', 'tour', 'by bike', 'with friends'))}"

        def solver(name: str = wanted, *, press: bool = True) -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from pilot.look()
                yield from pilot.fill(pilot.words("maps", "name"), name)
                if press:
                    yield from pilot.click("button", pilot.words("maps", "create"))
                yield from pilot.finish()

            return solve

        def by_url(pilot: Pilot) -> Script:
            yield from pilot.goto("maps", "/lists")
            yield from solver()(pilot)

        def thought(screen: str) -> str:
            field = _only(screen, "textbox")
            done = f'{field} value "{wanted}"' in screen
            return _only(screen, "button") if field and done else field

        return WebDraft(
            plan, f'Make a list named "{wanted}".', solver(),
            changes=added("maps", "lists", {"owner": login, "name": wanted}),
            alternatives={"by_url": by_url},
            mutants={"shortened": solver(begun), "unsaved": solver(press=False),
                     "held": solver(held)},
            turns=12, brief=True, thought=thought,
        )  # fmt: skip


TEMPLATES: tuple[WebTemplate, ...] = (
    OpenAndRead(),
    FillAndSave(),
    ConfirmBlock(),
    TakeOut(),
    ReadHours(),
    NameList(),
)
