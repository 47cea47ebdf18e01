"""A contact sheet: every screen of every app in one image, a row per app."""

from collections.abc import Sequence
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from hexathlon.tasks.bilingual import LANGUAGES
from hexathlon.tasks.gui.world.apps.names import APP_NAMES
from hexathlon.tasks.gui.world.kit.looks import LOOKS, Appearance
from hexathlon.tasks.gui.world.kit.paint import ScreenPainter
from hexathlon.tasks.gui.world.system.explore import reachable_screens
from hexathlon.tasks.gui.world.system.phone import Phone
from hexathlon.tasks.gui.world.system.plan import PhonePlan

__all__ = ["write_contact_sheet"]

_THUMB = (270, 600)
_GAP = 8
_LABEL = 16
_PHONE_ROWS = ("home", "shade", "recents")


def write_contact_sheet(path: Path, apps: Sequence[str] = APP_NAMES, most: int = 12) -> int:
    """Draw the screens reachable by taps, cycling through looks, themes, font sizes and languages.

    Args:
        path: The PNG file.
        apps: Names of apps.
        most: Maximum number of screens per app.

    Returns:
        The number of screens.
    """
    rows = [("phone", _phone_screens())]
    looks = list(LOOKS.values())
    for place, app in enumerate(apps):
        appearance = Appearance(looks[place % len(looks)], place % 4 == 3,
                                1.3 if place % 7 == 6 else 1.0)  # fmt: skip
        phone = _phone(appearance, LANGUAGES[place % 5 == 4])
        painter = ScreenPainter(appearance.size)
        images = []
        for screen in reachable_screens(phone, app)[:most]:
            phone.load(screen.state)
            images.append((f"{screen.app} {screen.name}", _shot(painter, phone)))
        rows.append((f"{app}, {appearance.look.name}", images))
    width = max(len(images) for _, images in rows) * (_THUMB[0] + _GAP) + _GAP
    height = len(rows) * (_THUMB[1] + _LABEL + _GAP) + _GAP
    sheet = Image.new("RGB", (width, height), (64, 66, 72))
    pencil, font = ImageDraw.Draw(sheet), ImageFont.load_default(13)
    y = _GAP
    for title, images in rows:
        x = _GAP
        for place, (name, image) in enumerate(images):
            text = f"{title}: {name}" if place == 0 else name
            pencil.text((x, y), text, fill=(235, 235, 235), font=font)
            sheet.paste(image, (x, y + _LABEL))
            x += _THUMB[0] + _GAP
        y += _THUMB[1] + _LABEL + _GAP
    sheet.save(path)
    return sum(len(images) for _, images in rows)


def _phone(appearance: Appearance, language: str) -> Phone:
    plan = PhonePlan(3, "train", "zh" if language == "zh" else "en", 2, "2026-03-05T09:00:00")
    return Phone(plan, appearance)


def _phone_screens() -> list[tuple[str, Image.Image]]:
    images = []
    for place, look in enumerate(LOOKS.values()):
        phone = _phone(Appearance(look, place % 2 == 1), "en")
        phone.post_notice({"app": APP_NAMES[0], "title": "Reminder", "text": "At ten o'clock"})
        phone.open_app(APP_NAMES[0])
        name = _PHONE_ROWS[place % len(_PHONE_ROWS)]
        {"home": phone.home, "shade": phone.open_shade, "recents": phone.recents}[name]()
        images.append((f"{name}, {look.name}", _shot(ScreenPainter(phone.appearance.size), phone)))
    return images


def _shot(painter: ScreenPainter, phone: Phone) -> Image.Image:
    pixels = painter.paint(phone.scene)
    return Image.fromarray(pixels.copy()).resize(_THUMB, Image.Resampling.LANCZOS)
