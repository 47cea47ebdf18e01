"""The smallest tasks, in the brief view: two to four actions in one app that is already open.

Everything needed is on the screen. A policy with a million parameters can learn them.
"""

import itertools
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import ClassVar

from hexathlon.tasks.drawn import own_share
from hexathlon.tasks.gui.pilot import PhonePilot
from hexathlon.tasks.gui.templates.draft import (
    GuiAnswer,
    GuiDraft,
    GuiScene,
    GuiTemplate,
    PhoneScript,
    row_added,
    row_changed,
    rows_together,
)
from hexathlon.tasks.gui.world.kit.words import wordings
from hexathlon.tasks.gui.world.system.plan import PhonePlan
from hexathlon.tasks.seeding import derive_seed
from hexathlon.tasks.source import Script
from hexathlon.tasks.task import Level

__all__ = ["SWITCHES", "TEMPLATES", "network_page", "seen_line", "tap_switches"]

SWITCHES = ("wifi", "bluetooth", "airplane", "mobile_data", "roaming", "hotspot")
"""The switches of the page "network"; no other page has as many."""


def seen_line(screen: str, role: str, names: tuple[str, ...]) -> str:
    """Return an element's line in the brief view; empty if it is not listed."""
    for name in names:
        match = re.search(rf'^{role} "{re.escape(name)}(?: \| [^"]*)?" \[\d+\].*$', screen, re.M)
        if match:
            return match[0]
    return ""


def network_page(scene: GuiScene, states: Mapping[str, bool]) -> PhonePlan:
    """Return a phone that shows the page "network" with its switches in these states."""
    return scene.plan(front=("settings", "section", {"name": "network"})).with_edits(
        [("settings.values", "put", {"id": name, "value": on}) for name, on in states.items()]
    )


def tap_switches(targets: Sequence[str], *, by_app: bool = False) -> PhoneScript:
    """Return a script that taps switches of the page; `by_app` opens the page anew first."""

    def solve(pilot: PhonePilot) -> Script:
        if by_app:
            yield from pilot.open("settings")
            yield from pilot.tap("item", pilot.words("settings", "network"))
        else:
            yield from pilot.act("wait")
        for target in targets:
            yield from pilot.tap("switch", pilot.words("settings", target))
        yield from pilot.done()

    return solve


class _FirstTap(GuiTemplate):
    """A task of this module."""

    levels: ClassVar[tuple[Level, ...]] = ("tiny",)
    bilingual: ClassVar[bool] = False


class FlipSwitch(_FirstTap):
    """Set four or five switches of the open page to given states; some are already right.

    Every set of some but not all of them is equally likely to be the wrong ones, so one that does
    not read the states is right in one of 14 tasks at most.
    """

    name: ClassVar[str] = "settings_flip"
    apps: ClassVar[tuple[str, ...]] = ("settings",)

    def draw(self, scene: GuiScene) -> GuiDraft | None:
        """Draw states for switches of the page, then the switches that are in the other state."""
        states = scene.pick(own_share(_switch_states(), scene.split))
        names = tuple(name for name, _ in states)
        flipped = scene.pick([each for count in range(1, len(names))
                              for each in itertools.combinations(names, count)])  # fmt: skip
        starts = {name: scene.pick((False, True)) for name in SWITCHES}
        starts |= {name: state != (name in flipped) for name, state in states}
        plan = network_page(scene, starts)
        wanted = [(wordings("settings", name, "en"), state) for name, state in states]

        def thought(screen: str) -> str:
            lines = [(seen_line(screen, "switch", words), state) for words, state in wanted]
            return next((line for line, on in lines if not line.endswith("on" if on else "off")),
                        "")  # fmt: skip

        wishes = [f'"{scene.word("settings", name)}" {"on" if state else "off"}'
                  for name, state in scene.sample(states, len(states))]  # fmt: skip
        return GuiDraft(
            plan, f"I want {', '.join(wishes[:-1])} and {wishes[-1]}.", tap_switches(flipped),
            changes=rows_together(*(row_changed("settings.values", name, value=state)
                                    for name, state in states if name in flipped)),
            alternatives={"by_app": tap_switches(flipped, by_app=True)},
            mutants={"unfinished": tap_switches(flipped[:-1]), "every_switch": tap_switches(names),
                     "right_ones": tap_switches([name for name in names if name not in flipped])},
            turns=10, brief=True, thought=thought,
        )  # fmt: skip


@cache
def _switch_states() -> Sequence[tuple[tuple[str, bool], ...]]:
    """Return states of four or five switches, in mixed order."""
    found = [
        tuple(zip(names, states, strict=True))
        for count in (4, 5)
        for names in itertools.combinations(SWITCHES, count)
        for states in itertools.product((False, True), repeat=count)
    ]
    return sorted(found, key=lambda each: derive_seed("switch states", *map(str, each)))


class ReadNumber(_FirstTap):
    """Open a contact in the list and read one of its fields."""

    name: ClassVar[str] = "contacts_read"
    apps: ClassVar[tuple[str, ...]] = ("contacts",)

    def draw(self, scene: GuiScene) -> GuiDraft | None:
        """Draw two of the first contacts, both with an address or an email."""
        plan = scene.plan(front=("contacts", "home", {}))
        rows = sorted(scene.rows(plan, "contacts.contacts"), key=lambda row: row["name"])[:9]
        column = scene.pick(("email", "company", "address"))
        rows = [row for row in rows if row[column]]
        if len(rows) < 2:
            return None
        row, near = scene.sample(rows, 2)
        if row[column] == near[column]:
            return None

        def solver(target: str, value: str) -> PhoneScript:
            def solve(pilot: PhonePilot) -> Script:
                yield from pilot.act("wait")
                yield from pilot.tap_entry(target)
                if value:
                    yield from pilot.answer(value)
                else:
                    yield from pilot.done()

            return solve

        def by_search(pilot: PhonePilot) -> Script:
            yield from pilot.act("wait")
            yield from pilot.press("contacts", "search")
            yield from pilot.fill(pilot.words("contacts", "search"), row["name"])
            yield from pilot.tap_entry(row["name"])
            yield from pilot.answer(row[column])

        def thought(screen: str) -> str:
            return next((line for line in screen.splitlines() if row[column] in line), "") or (
                seen_line(screen, "item", (row["name"],)))  # fmt: skip

        return GuiDraft(
            plan, f"What is the {column} of {row['name']}?", solver(row["name"], row[column]),
            answer=GuiAnswer(data=(row[column],)), alternatives={"by_search": by_search},
            mutants={"other": solver(near["name"], near[column]),
                     "name": solver(row["name"], row["name"]),
                     "silent": solver(row["name"], "")},
            turns=12, brief=True, thought=thought,
        )  # fmt: skip


class TitleNote(_FirstTap):
    """Write the title of a new note, its first field, and save it."""

    name: ClassVar[str] = "notes_title"
    apps: ClassVar[tuple[str, ...]] = ("notes",)

    def draw(self, scene: GuiScene) -> GuiDraft | None:
        """Draw a title that starts with an existing note's title."""
        plan = scene.plan(front=("notes", "edit", {}))
        begun = scene.pick(scene.rows(plan, "notes.notes"))["title"]
        title = f"{begun} {scene.number(41, 99)}"
        words = wordings("notes", "title", "en")
        saves = wordings("notes", "save", "en")

        def solver(text: str = title, *, save: bool = True, into: str = "title") -> PhoneScript:
            def solve(pilot: PhonePilot) -> Script:
                yield from pilot.act("wait")
                yield from pilot.fill(pilot.words("notes", into), text)
                if save:
                    yield from pilot.press("notes", "save")
                yield from pilot.done()

            return solve

        def by_app(pilot: PhonePilot) -> Script:
            yield from pilot.open("notes")
            yield from pilot.create("notes", "new_note")
            yield from solver()(pilot)

        def thought(screen: str) -> str:
            line = seen_line(screen, "textbox", words)
            return seen_line(screen, "button", saves) if f'"{title}"' in line else line

        return GuiDraft(
            plan, f'Write a note called "{title}".', solver(),
            changes=row_added("notes.notes", {"title": title, "text": "", "label": "",
                                              "pinned": False, "archived": False}),
            alternatives={"by_app": by_app},
            mutants={"unsaved": solver(save=False), "shortened": solver(begun),
                     "other_field": solver(into="text")},
            turns=10, brief=True, thought=thought,
        )  # fmt: skip


TEMPLATES: tuple[GuiTemplate, ...] = (FlipSwitch(), ReadNumber(), TitleNote())
