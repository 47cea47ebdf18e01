"""Pictures in the paint program and the image viewer: only the pixels show what is in them."""

import base64
import hashlib
import struct
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from hexathlon.tasks.gui.desktop.draft import (
    DesktopDraft,
    DesktopScene,
    DesktopSolver,
    DesktopTemplate,
)
from hexathlon.tasks.gui.desktop.pilot import DesktopPilot
from hexathlon.tasks.gui.desktop.templates.moves import delete, look_into
from hexathlon.tasks.gui.desktop.templates.parts import done
from hexathlon.tasks.gui.desktop.words import TOPICS, shared
from hexathlon.tasks.source import Script

__all__ = ["TEMPLATES"]

_Pixels = NDArray[np.uint8]

_COLOURS = {
    "red": (200, 30, 30), "green": (30, 150, 50), "blue": (30, 60, 200), "yellow": (230, 210, 40),
    "violet": (130, 50, 160), "orange": (240, 140, 30),
}  # fmt: skip
_TURNS = {
    "a quarter turn clockwise": ("Rotate Clockwise", Image.Transpose.ROTATE_270),
    "a quarter turn anti-clockwise": ("Rotate Anti-Clockwise", Image.Transpose.ROTATE_90),
    "mirrored left to right": ("Flip Horizontally", Image.Transpose.FLIP_LEFT_RIGHT),
    "upside down, mirrored top to bottom": ("Flip Vertically", Image.Transpose.FLIP_TOP_BOTTOM),
}
_ARRAYS: dict[str, Callable[[_Pixels], _Pixels]] = {
    "Rotate Clockwise": lambda pixels: np.rot90(pixels, -1),
    "Rotate Anti-Clockwise": lambda pixels: np.rot90(pixels, 1),
    "Flip Horizontally": lambda pixels: pixels[:, ::-1],
    "Flip Vertically": lambda pixels: pixels[::-1],
}


def _png(pixels: _Pixels) -> dict[str, str]:
    """Return a PNG file whose bytes do not depend on the version of a compressor."""
    height, width, _ = pixels.shape
    rows = b"".join(b"\0" + pixels[row].tobytes() for row in range(height))
    parts = [
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)),
        (b"IDAT", _stored(rows)), (b"IEND", b""),
    ]  # fmt: skip
    data = b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in parts
    )
    return {"base64": base64.b64encode(data).decode()}


def _stored(data: bytes) -> bytes:
    """Return data as a zlib stream of uncompressed blocks."""
    blocks = [data[at : at + 65_535] for at in range(0, len(data), 65_535)]
    packed = b"".join(
        struct.pack("<BHH", at == len(blocks) - 1, len(block), len(block) ^ 0xFFFF) + block
        for at, block in enumerate(blocks)
    )
    return b"\x78\x01" + packed + struct.pack(">I", zlib.adler32(data))


def _content(pixels: _Pixels) -> dict[str, Any]:
    height, width, _ = pixels.shape
    digest = hashlib.sha256(np.ascontiguousarray(pixels).tobytes()).hexdigest()
    return {"size": [width, height], "sha256": digest}


def _fields(scene: DesktopScene, ground: tuple[int, int, int]) -> _Pixels:
    """Draw a few rectangles on a background."""
    width, height = scene.number(40, 60), scene.number(24, 36)
    pixels = np.empty((height, width, 3), np.uint8)
    pixels[:] = ground
    for name in scene.sample([*_COLOURS], 3):
        left, top = scene.number(0, width - 12), scene.number(0, height - 10)
        pixels[top : top + scene.number(3, 8), left : left + scene.number(4, 9)] = _COLOURS[name]
    return pixels


def _turn(scene: DesktopScene) -> DesktopDraft | None:
    names = scene.sample(shared(TOPICS, scene.split), 3)
    pictures = {f"Pictures/{name}.png": _fields(scene, (240, 240, 235)) for name in names}
    path, near, _ = pictures
    words = scene.sample([*_TURNS], 2)
    entry, transpose = _TURNS[words[0]]
    right = np.asarray(Image.fromarray(pictures[path]).transpose(transpose))
    if not np.array_equal(right, _ARRAYS[entry](pictures[path])):
        return None
    outcomes = {_content(turned(pictures[path]))["sha256"] for turned in _ARRAYS.values()}
    if len({*outcomes, _content(pictures[path])["sha256"]}) != len(_ARRAYS) + 1:
        return None

    def turns(where: str, choice: str, save: bool = True) -> DesktopSolver:
        def make(pilot: DesktopPilot) -> Script:
            yield from pilot.open("Paint", where)
            yield from pilot.until("menu", "Image")
            yield from pilot.menu("Image", choice)
            if save:
                yield from pilot.keys("ctrl+s")

        return done(make)

    def by_button(pilot: DesktopPilot) -> Script:
        yield from pilot.open("Paint", path)
        yield from pilot.until("menu", "Image")
        yield from pilot.menu("Image", entry)
        yield from pilot.click("push button", "Save Image File")

    return DesktopDraft(
        instruction=f"The picture {path} should be {words[0]}. Change it with Paint and save it "
        "under its name.",
        files={name: _png(pixels) for name, pixels in pictures.items()},
        changed={path: {"kind": "image", "content": _content(right)}},
        solve=turns(path, entry),
        alternatives={"saved by the button": done(by_button)},
        mutants={"other way": turns(path, _TURNS[words[1]][0]), "other picture": turns(near, entry),
                 "not saved": turns(path, entry, False)},
        turns=20,
    )  # fmt: skip


def _by_colour(scene: DesktopScene) -> DesktopDraft:
    names = scene.sample(shared(TOPICS, scene.split), 4)
    grounds = scene.sample([*_COLOURS], 4)
    pictures = {f"{name}.png": _fields(scene, _COLOURS[ground])
                for name, ground in zip(names, grounds, strict=True)}  # fmt: skip
    at = scene.number(0, 3)
    gone = f"{names[at]}.png"
    others = [name for name in pictures if name != gone]

    def deletes(*chosen: str) -> DesktopSolver:
        def make(pilot: DesktopPilot) -> Script:
            yield from look_into(pilot, "Pictures")
            for name in chosen:
                yield from delete(pilot, name)

        return done(make)

    def looks_first(pilot: DesktopPilot) -> Script:
        for name in pictures:
            yield from pilot.open("Image Viewer", f"Pictures/{name}")
        yield from deletes(gone)(pilot)

    return DesktopDraft(
        instruction=f"One of the pictures in Pictures has a {grounds[at]} background. Delete it.",
        files={f"Pictures/{name}": _png(pixels) for name, pixels in pictures.items()},
        deleted=[f"Pictures/{gone}"],
        solve=looks_first,
        alternatives={"without looking": deletes(gone)},
        mutants={"another": deletes(others[0]), "two": deletes(gone, others[1]),
                 "none": done(lambda pilot: look_into(pilot, "Pictures"))},
        turns=30,
    )  # fmt: skip


TEMPLATES = (
    DesktopTemplate("turn-picture", ("easy", "medium"), _turn),
    DesktopTemplate("picture-by-colour", ("medium",), _by_colour),
)
