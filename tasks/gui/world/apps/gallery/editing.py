"""The editor of photos: its screen, and its edits as data.

Edits are pairs of a name and a value in a fixed order, and those that change nothing are left out,
so that the same picture always has the same edits.
"""

from typing import Any

from hexathlon.tasks.gui.world.kit.events import BACK, do, put
from hexathlon.tasks.gui.world.kit.widgets import (
    AppPage,
    BarAction,
    Columns,
    IconButton,
    Picture,
    Select,
    Slider,
    Toggle,
)
from hexathlon.tasks.gui.world.phone.context import AppView
from hexathlon.tasks.gui.world.phone.core import PhoneRow

__all__ = ["CROPS", "EDIT_DEFAULTS", "edit_list", "edited_scene", "editor_screen"]

CROPS = ("", "1:1", "4:3", "3:4", "16:9")
EDIT_DEFAULTS: dict[str, Any] = {"rotate": 0, "flip": False, "crop": "", "brightness": 0,
                                 "contrast": 0, "grey": False}  # fmt: skip
"""Names of edits in their order, with the values that change nothing."""


def edited_scene(row: PhoneRow) -> tuple[Any, ...]:
    """Return the scene of a photo with its edits."""
    return _scene(row, row["edits"])


def _scene(row: PhoneRow, edits: list[list[Any]]) -> tuple[Any, ...]:
    scene = (row["kind"], row["art"], *row["lines"])
    return ("edited", scene, tuple(map(tuple, edits))) if edits else scene


def edit_list(view: AppView, row: PhoneRow) -> list[list[Any]]:
    """Return the edits of the form."""
    stored = {**EDIT_DEFAULTS, **dict(row["edits"])}
    values = {name: view.value(name, value) for name, value in stored.items()}
    return [[name, values[name]] for name, none in EDIT_DEFAULTS.items() if values[name] != none]


def editor_screen(view: AppView, row: PhoneRow) -> AppPage:
    """Return the editor; its values are stored by the handler `store`."""
    stored = {**EDIT_DEFAULTS, **dict(row["edits"])}
    now = dict(edit_list(view, row))
    turn = now.get("rotate", 0)
    crops = [(name, name or view("full")) for name in CROPS]
    return AppPage(view("edit_photo"), [
        Picture(_scene(row, edit_list(view, row)), 250, row["name"]),
        Columns((
            IconButton("undo", view("turn_left"), put("rotate", (turn - 90) % 360)),
            IconButton("rotate", view("turn_right"), put("rotate", (turn + 90) % 360)),
            IconButton("repeat", view("flip"), put("flip", not now.get("flip", False)),
                       now.get("flip", False)),
        )),
        Select("crop", view("crop"), crops, stored["crop"]),
        Slider("brightness", view("brightness"), stored["brightness"], -50, 50, 10),
        Slider("contrast", view("contrast"), stored["contrast"], -50, 50, 10),
        Toggle(view("grey"), stored["grey"], key="grey"),
    ], [
        BarAction("check", view("save"), do("store", id=row["id"], copy=False)),
        BarAction("plus", view("save_copy"), do("store", id=row["id"], copy=True), rare=True),
        BarAction("close", view("discard"), BACK, rare=True),
    ])  # fmt: skip
