"""AndroidWorld's `task_metadata.json`: the names, templates and grades of its 116 tasks.

The values of a template's parameters, the start state and the check are Python code of the
benchmark, so a template needs AndroidWorld itself and an emulator to become a task. Source:
github.com/google-research/android_world (Rawles et al. 2024).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field

from hexathlon.tasks.errors import InvalidRecord, MissingData
from hexathlon.tasks.record import StrictRecord

__all__ = ["ANDROID_WORLD_APPS", "AndroidWorldNeeds", "AndroidWorldTemplate", "parse_template"]

_PLACEHOLDER = re.compile(r"\{(\w+)\}")

ANDROID_WORLD_APPS: Mapping[str, tuple[str, ...]] = {
    "AudioRecorder": ("Audio Recorder",), "Browser": ("Chrome", "Files"), "Camera": ("Camera",),
    "Clock": ("Clock",), "Contacts": ("Contacts",),
    "ExpenseAddMultipleFromGallery": ("Pro Expense", "Simple Gallery Pro"),
    "ExpenseAddMultipleFromMarkor": ("Pro Expense", "Markor"),
    "Expense": ("Pro Expense",), "Files": ("Files",),
    "MarkorCreateNoteAndSms": ("Markor", "Simple SMS Messenger"),
    "MarkorTranscribeReceipt": ("Markor", "Simple Gallery Pro"),
    "MarkorTranscribeVideo": ("Markor", "VLC"), "Markor": ("Markor",),
    "Notes": ("Joplin",), "OpenApp": (), "OsmAnd": ("OsmAnd",),
    "RecipeAddMultipleRecipesFromImage": ("Broccoli", "Simple Gallery Pro"),
    "RecipeAddMultipleRecipesFromMarkor": ("Broccoli", "Markor"), "Recipe": ("Broccoli",),
    "Retro": ("Retro Music",), "SaveCopyOfReceipt": ("Simple Gallery Pro",),
    "SimpleCalendar": ("Simple Calendar Pro",), "SimpleDrawPro": ("Simple Draw Pro",),
    "SimpleSms": ("Simple SMS Messenger",), "SportsTracker": ("OpenTracks",),
    "System": ("Settings",), "Tasks": ("Tasks",), "TurnOnWifiAndOpenApp": ("Settings",),
    "TurnOffWifiAndTurnOnBluetooth": ("Settings",), "Vlc": ("VLC",),
}  # fmt: skip
"""Apps by the longest prefix of a task's name."""


@dataclass(frozen=True)
class AndroidWorldNeeds:
    """Requirements of a template."""

    apps: tuple[str, ...]
    """Apps that must be installed in the emulator."""

    parameters: tuple[str, ...]
    """Placeholders whose values AndroidWorld's code draws from a seed."""

    screen: bool
    """Whether the task requires pixels."""

    setup: bool
    """Whether the apps need AndroidWorld's one-time setup."""


class AndroidWorldTemplate(StrictRecord):
    """One entry of the file."""

    task_name: str
    task_template: str
    difficulty: Literal["easy", "medium", "hard"]
    tags: tuple[str, ...] = ()
    optimal_steps: str = Field(pattern=r"^\d+$")
    """Number of actions in the shortest known solution."""

    @property
    def steps(self) -> int:
        """Number of actions in the shortest known solution, as an integer."""
        return int(self.optimal_steps)

    @property
    def needs(self) -> AndroidWorldNeeds:
        """The template's requirements."""
        prefixes = [name for name in ANDROID_WORLD_APPS if self.task_name.startswith(name)]
        if not prefixes:
            raise MissingData(f"AndroidWorld task {self.task_name}: its app is unknown")
        return AndroidWorldNeeds(
            apps=ANDROID_WORLD_APPS[max(prefixes, key=len)],
            parameters=tuple(dict.fromkeys(_PLACEHOLDER.findall(self.task_template))),
            screen=bool({"screen_reading", "complex_ui_understanding"} & set(self.tags)),
            setup="requires_setup" in self.tags,
        )


def parse_template(entry: Mapping[str, Any]) -> AndroidWorldTemplate:
    """Read one entry.

    Raises:
        MissingData: If a field is missing, unknown or invalid.
    """
    try:
        return AndroidWorldTemplate(**entry)
    except InvalidRecord as error:
        raise MissingData(f"AndroidWorld task {entry.get('task_name', '?')}: {error}") from error
