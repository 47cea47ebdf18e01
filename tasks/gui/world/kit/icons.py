"""Icons as short drawings on a grid of 24 by 24 units.

A drawing is a string of commands: `L x y x y …` a line, `P x y x y …` a filled polygon, `C x y r` a
filled disc, `O x y r` a circle, `R x0 y0 x1 y1 r` a frame, `F x0 y0 x1 y1 r` a filled rectangle,
both with rounded corners, `A x y r from to` an arc in degrees, and `E …` erases what the following
filled shape covers.
"""

from functools import lru_cache

from PIL import Image, ImageDraw

__all__ = ["ICONS", "icon_mask"]

ICONS: dict[str, str] = {
    "back": "L 14 5 7 12 14 19",
    "left": "L 14 5 7 12 14 19",
    "right": "L 10 5 17 12 10 19",
    "up": "L 5 15 12 8 19 15",
    "down": "L 5 9 12 16 19 9",
    "more": "C 12 5 2 C 12 12 2 C 12 19 2",
    "menu": "L 4 6 20 6 L 4 12 20 12 L 4 18 20 18",
    "plus": "L 12 4 12 20 L 4 12 20 12",
    "minus": "L 4 12 20 12",
    "close": "L 6 6 18 18 L 18 6 6 18",
    "check": "L 4 13 10 19 20 6",
    "search": "O 10 10 6 L 15 15 21 21",
    "edit": "P 4 20 5 15 15 5 19 9 9 19 E P 14 8 16 10 15 11 13 9",
    "delete": "L 4 7 20 7 L 9 7 9 4 15 4 15 7 R 6 7 18 21 2 L 10 11 10 17 L 14 11 14 17",
    "share": "C 6 12 3 C 18 5 3 C 18 19 3 L 6 12 18 5 L 6 12 18 19",
    "star": "L 12 3 15 9 21 10 16 14 18 21 12 17 6 21 8 14 3 10 9 9 12 3",
    "star!": "P 12 3 15 9 21 10 16 14 18 21 12 17 6 21 8 14 3 10 9 9",
    "heart": "L 12 20 4 12 4 7 8 4 12 8 16 4 20 7 20 12 12 20",
    "heart!": "P 12 20 4 12 4 7 8 4 12 8 16 4 20 7 20 12",
    "pin": "P 9 3 15 3 14 10 18 14 6 14 10 10 L 12 14 12 21",
    "archive": "R 3 4 21 9 1 R 5 9 19 20 1 L 10 13 14 13",
    "person": "C 12 8 4 P 4 21 5 16 9 14 15 14 19 16 20 21",
    "person_add": "C 10 8 4 P 3 21 4 16 7 14 13 14 16 16 17 21 L 19 6 19 12 L 16 9 22 9",
    "group": "C 9 9 3 C 16 9 3 P 3 19 4 15 7 13 11 13 14 15 15 19 P 16 19 15 14 19 13 22 16 22 19",
    "phone": "P 4 4 9 4 10 9 8 11 13 16 15 14 20 15 20 20 17 21 9 18 5 13 3 7",
    "mail": "R 3 5 21 19 2 L 3 7 12 13 21 7",
    "chat": "F 3 4 21 16 3 P 6 15 6 21 12 15 E F 7 8 17 9 0 E F 7 11 14 12 0",
    "send": "P 3 4 22 12 3 20 6 12 E P 6 11 14 12 6 13",
    "note": "F 5 3 19 21 2 E F 8 8 16 9 0 E F 8 12 16 13 0 E F 8 16 13 17 0",
    "gear": "C 12 12 7 L 12 2 12 22 L 2 12 22 12 L 5 5 19 19 L 5 19 19 5 E C 12 12 3",
    "wifi": "A 12 19 14 225 315 A 12 19 9 225 315 C 12 19 3",
    "bluetooth": "L 6 8 17 16 12 21 12 3 17 8 6 16",
    "airplane": "P 12 2 14 9 22 14 22 16 14 14 13 19 16 21 8 21 11 19 10 14 2 16 2 14 10 9",
    "battery": "R 7 4 17 21 2 F 10 2 14 4 0 F 9 9 15 19 1",
    "bell": "P 12 3 17 7 17 14 20 18 4 18 7 14 7 7 C 12 20 2",
    "lock": "F 5 11 19 21 2 A 12 11 5 180 360 L 7 11 7 10 L 17 11 17 10",
    "sun": "C 12 12 5 L 12 1 12 4 L 12 20 12 23 L 1 12 4 12 L 20 12 23 12 L 4 4 6 6 L 18 18 20 20 "
           "L 4 20 6 18 L 18 6 20 4",
    "moon": "C 12 12 9 E C 16 9 8",
    "info": "O 12 12 9 L 12 11 12 17 C 12 7 1",
    "grid": "F 4 4 10 10 1 F 14 4 20 10 1 F 4 14 10 20 1 F 14 14 20 20 1",
    "list": "C 5 6 2 C 5 12 2 C 5 18 2 L 10 6 21 6 L 10 12 21 12 L 10 18 21 18",
    "calendar": "R 4 5 20 20 2 F 4 5 20 10 1 L 8 3 8 7 L 16 3 16 7 F 7 13 10 16 0",
    "clock": "O 12 12 9 L 12 6 12 12 16 15",
    "alarm": "O 12 13 8 L 12 8 12 13 15 15 L 4 5 7 3 L 20 5 17 3",
    "timer": "O 12 13 8 L 12 13 12 8 L 9 2 15 2",
    "place": "P 12 22 5 11 5 7 9 3 15 3 19 7 19 11 E C 12 9 3",
    "map": "L 3 6 9 4 15 6 21 4 21 18 15 20 9 18 3 20 3 6 L 9 4 9 18 L 15 6 15 20",
    "work": "R 3 8 21 20 2 L 9 8 9 4 15 4 15 8 L 3 13 21 13",
    "cake": "F 4 12 20 21 1 L 12 12 12 7 C 12 5 1 E F 4 15 20 16 0",
    "home": "P 12 3 22 12 19 12 19 21 5 21 5 12 2 12 E F 10 14 14 21 0",
    "file": "L 6 3 15 3 19 7 19 21 6 21 6 3 L 14 3 14 8 19 8",
    "folder": "P 3 5 10 5 12 8 21 8 21 19 3 19",
    "image": "R 3 5 21 19 2 C 8 10 2 P 5 18 11 12 14 15 17 11 20 18",
    "camera": "F 3 7 21 20 2 P 8 7 10 4 14 4 16 7 E C 12 13 4",
    "music": "L 9 18 9 5 19 3 19 16 C 7 18 3 C 17 16 3",
    "podcast": "C 12 10 3 L 12 13 12 21 A 12 10 7 150 390 A 12 10 10 150 390",
    "play": "P 7 4 20 12 7 20",
    "pause": "F 6 4 10 20 0 F 14 4 18 20 0",
    "next": "P 5 4 15 12 5 20 F 16 4 19 20 0",
    "previous": "P 19 4 9 12 19 20 F 5 4 8 20 0",
    "mute": "P 3 9 8 9 13 4 13 20 8 15 3 15 L 16 9 22 15 L 22 9 16 15",
    "volume": "P 3 9 8 9 13 4 13 20 8 15 3 15 A 13 12 5 300 420 A 13 12 9 300 420",
    "block": "O 12 12 9 L 6 6 18 18",
    "cart": "L 2 4 5 4 8 16 18 16 21 7 6 7 C 9 20 2 C 17 20 2",
    "shop": "P 4 4 20 4 22 10 2 10 R 4 10 20 21 0 F 10 14 15 21 0",
    "bank": "P 12 3 22 9 2 9 L 5 10 5 18 L 10 10 10 18 L 14 10 14 18 L 19 10 19 18 L 2 20 22 20",
    "card": "R 2 5 22 19 2 F 2 8 22 12 0 L 5 16 10 16",
    "receipt": "P 5 2 19 2 19 22 16 20 14 22 12 20 10 22 8 20 5 22 E F 8 7 16 8 0 E F 8 11 16 12 0",
    "chart": "L 3 3 3 21 21 21 F 6 12 9 19 0 F 11 8 14 19 0 F 16 5 19 19 0",
    "tag": "P 3 3 12 3 21 12 12 21 3 12 E C 7 7 2",
    "filter": "P 3 4 21 4 14 13 14 20 10 18 10 13",
    "sort": "L 7 4 7 20 L 3 16 7 20 11 16 L 17 20 17 4 L 13 8 17 4 21 8",
    "refresh": "A 12 12 8 40 330 P 21 4 21 11 14 9",
    "undo": "L 9 5 4 10 9 15 L 4 10 15 10 19 13 19 17 15 20",
    "redo": "L 15 5 20 10 15 15 L 20 10 9 10 5 13 5 17 9 20",
    "crop": "L 6 2 6 18 22 18 L 2 6 18 6 18 22",
    "rotate": "A 12 13 7 300 600 P 13 2 13 10 19 6",
    "globe": "O 12 12 9 L 3 12 21 12 L 12 3 8 8 8 16 12 21 16 16 16 8 12 3",
    "bookmark": "P 6 3 18 3 18 21 12 16 6 21",
    "download": "L 12 3 12 15 L 7 10 12 15 17 10 L 4 20 20 20",
    "link": "R 2 9 12 15 3 R 12 9 22 15 3 L 8 12 16 12",
    "reply": "L 9 5 3 11 9 17 L 3 11 14 11 20 15 20 20",
    "forward": "L 15 5 21 11 15 17 L 21 11 10 11 4 15 4 20",
    "attach": "L 16 6 8 14 10 17 19 8 16 4 6 14 9 20 13 20 20 12",
    "erase": "L 9 5 21 5 21 19 9 19 2 12 9 5 L 12 9 18 15 L 18 9 12 15",
    "enter": "L 20 5 20 13 5 13 L 9 9 5 13 9 17",
    "mic": "F 9 2 15 14 3 A 12 11 7 0 180 L 12 18 12 22 L 8 22 16 22",
    "calls": "P 4 4 9 4 10 9 8 11 13 16 15 14 20 15 20 20 17 21 9 18 5 13 3 7 L 14 3 20 3 20 9",
    "flag": "L 5 2 5 22 P 5 3 20 3 16 8 20 13 5 13",
    "inbox": "R 3 4 21 20 2 L 3 14 8 14 10 17 14 17 16 14 21 14",
    "repeat": "L 4 11 4 6 18 6 L 15 3 18 6 15 9 L 20 13 20 18 6 18 L 9 15 6 18 9 21",
    "shuffle": "L 3 6 8 6 16 18 21 18 L 3 18 8 18 16 6 21 6 L 18 3 21 6 18 9 L 18 15 21 18 18 21",
    "key": "C 7 12 5 L 12 12 22 12 22 16 L 18 12 18 16 E C 7 12 2",
    "scale": "L 12 3 12 20 L 5 20 19 20 L 4 7 20 7 P 1 14 4 7 7 14 P 17 14 20 7 23 14",
}  # fmt: skip
"""Icons by name; those whose name ends with `!` are the filled form."""

_GRID, _OVER = 24, 4


@lru_cache(maxsize=1024)
def icon_mask(name: str, size: int) -> Image.Image:
    """Return an icon as an `L` image of `size` pixels; a ring if there is no such icon."""
    drawing = ICONS.get(name) or ICONS.get(name.rstrip("!")) or "O 12 12 9"
    side = size * _OVER
    mask = Image.new("L", (side, side), 0)
    pencil = ImageDraw.Draw(mask)
    unit = side / _GRID
    stroke = max(_OVER, round(2 * unit))
    parts = drawing.split()
    place, ink = 0, 255
    while place < len(parts):
        command = parts[place]
        place += 1
        if command == "E":
            ink = 0
            continue
        numbers = []
        while place < len(parts) and not parts[place].isalpha():
            numbers.append(float(parts[place]))
            place += 1
        _draw(pencil, command, numbers, unit, stroke, ink)
        ink = 255
    return mask.resize((size, size), Image.Resampling.BOX)


def _draw(
    pencil: ImageDraw.ImageDraw, command: str, numbers: list[float], unit: float, stroke: int,
    ink: int,
) -> None:  # fmt: skip
    points = [value * unit for value in numbers]
    if command in ("L", "P"):
        pairs = list(zip(points[::2], points[1::2], strict=True))
        if command == "P":
            pencil.polygon(pairs, fill=ink)
            return
        pencil.line(pairs, fill=ink, width=stroke, joint="curve")
        half = stroke / 2
        for x, y in (pairs[0], pairs[-1]):
            pencil.ellipse((x - half, y - half, x + half, y + half), fill=ink)
    elif command in ("C", "O"):
        x, y, radius = points
        box = (x - radius, y - radius, x + radius, y + radius)
        if command == "C":
            pencil.ellipse(box, fill=ink)
        else:
            pencil.ellipse(box, outline=ink, width=stroke)
    elif command in ("R", "F"):
        left, top, right, bottom, radius = points
        box = (left, top, right, bottom)
        if command == "F":
            pencil.rounded_rectangle(box, radius, fill=ink)
        else:
            pencil.rounded_rectangle(box, radius, outline=ink, width=stroke)
    elif command == "A":
        x, y, radius = points[:3]
        box = (x - radius, y - radius, x + radius, y + radius)
        pencil.arc(box, numbers[3], numbers[4], fill=ink, width=stroke)
    else:
        raise ValueError(f"unknown drawing command {command!r}")
