"""The script that draws the sites for a person to look at."""

import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from support.chromium import skip_without_chromium

pytestmark = pytest.mark.browser

SCRIPT = Path(__file__).parents[3] / "scripts" / "web_contact_sheet.py"


def draw(*arguments: str) -> "subprocess.CompletedProcess[str]":
    skip_without_chromium()
    return subprocess.run(
        [sys.executable, str(SCRIPT), *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_pages_and_a_sheet(tmp_path):
    done = draw(str(tmp_path), "--site", "bank", "--look", "night", "--path", "/")
    assert done.returncode == 0, done.stderr
    pictures = {}
    for place in tmp_path.iterdir():
        with Image.open(place) as image:
            pictures[place.name] = image.copy()
    assert {name: image.size for name, image in pictures.items() if name.endswith("png")} == {
        f"bank-start-night-{width}-en.png": (width, 800) for width in (1280, 390)
    }
    assert pictures["bank-en.webp"].size == (512 + 156 + 3 * 8, 320 + 18 + 2 * 8)
    dark = pictures["bank-start-night-1280-en.png"].convert("L").getpixel((600, 700))
    assert dark < 60  # the style sheet was applied


def test_a_page_outside_is_named(tmp_path):
    done = draw(str(tmp_path), "--site", "bank", "--look", "night", "--width", "390",
                "--path", "\\@example.com/")  # fmt: skip
    assert done.returncode == 1 and "outside the sites" in done.stderr
