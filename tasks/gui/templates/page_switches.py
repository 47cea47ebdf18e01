"""Switches of one page, for policies that see pictures; tasks of the source `gui-pixels` only.

Every switch starts in either state with equal probability, whatever the request: only the screen
shows which ones must be touched.
"""

import itertools
import re
from collections.abc import Sequence
from functools import cache
from typing import ClassVar

from hexathlon.tasks.drawn import own_share
from hexathlon.tasks.gui.templates.draft import (
    GuiDraft,
    GuiScene,
    GuiTemplate,
    row_changed,
    rows_together,
)
from hexathlon.tasks.gui.templates.first_taps import (
    SWITCHES,
    network_page,
    seen_line,
    tap_switches,
)
from hexathlon.tasks.gui.world.kit.words import wordings
from hexathlon.tasks.seeding import derive_seed
from hexathlon.tasks.task import Level

__all__ = ["TEMPLATES", "PageSwitches"]


class PageSwitches(GuiTemplate):
    """Bring three or four switches of the open page into one state, which one or two are not in.

    Of three switches one or two are wrong, of four exactly two. Either way, six sets of switches
    are equally likely to be the wrong ones, so a policy that does not look succeeds on a sixth of
    the tasks at most.
    """

    name: ClassVar[str] = "settings_page"
    levels: ClassVar[tuple[Level, ...]] = ()
    apps: ClassVar[tuple[str, ...]] = ("settings",)
    bilingual: ClassVar[bool] = False

    def draw(self, scene: GuiScene) -> GuiDraft:
        """Draw switches and a state for them, then the switches that are in the other state."""
        names, state = scene.pick(own_share(_combinations(), scene.split))
        counts = (1, 2) if len(names) == 3 else (2,)
        order = scene.sample(names, len(names))
        wrong = scene.pick([each for count in counts
                            for each in itertools.combinations(order, count)])  # fmt: skip
        starts = {name: state != (name in wrong) if name in names else scene.pick((False, True))
                  for name in SWITCHES}  # fmt: skip
        plan = network_page(scene, starts)

        def thought(screen: str) -> str:
            """Read the named switches up to the first wrong one."""
            read: list[str] = []
            for name in order:
                on = _is_on(screen, name)
                read.append(f"{scene.word('settings', name)} {'on' if on else 'off'}")
                if on != state:
                    break
            return ", ".join(read)

        wishes = [f'"{scene.word("settings", name)}"' for name in order]
        return GuiDraft(
            plan, f"I want {', '.join(wishes[:-1])} and {wishes[-1]} {'on' if state else 'off'}.",
            tap_switches(wrong),
            changes=rows_together(*(row_changed("settings.values", name, value=state)
                                    for name in wrong)),
            alternatives={"by_app": tap_switches(wrong, by_app=True)},
            mutants={"unfinished": tap_switches(wrong[:-1]), "every_switch": tap_switches(order),
                     "right_ones": tap_switches([name for name in order if name not in wrong])},
            turns=10, brief=True, thought=thought,
        )  # fmt: skip


def _is_on(screen: str, name: str) -> bool:
    """Return a switch's state on the screen."""
    line = seen_line(screen, "switch", wordings("settings", name, "en"))
    return re.search(r"\] on\b", line) is not None


@cache
def _combinations() -> Sequence[tuple[tuple[str, ...], bool]]:
    """Return switches with a state for them, in mixed order."""
    found = [
        (names, state)
        for count in (3, 4)
        for names in itertools.combinations(SWITCHES, count)
        for state in (False, True)
    ]
    return sorted(found, key=lambda each: derive_seed("page switches", *map(str, each)))


TEMPLATES: tuple[GuiTemplate, ...] = (PageSwitches(),)
"""The templates of this module."""
