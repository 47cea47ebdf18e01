"""Reading of built leaderboard sites."""

import json
from pathlib import Path
from typing import Any

from hexathlon.leaderboard.packing import unpacked_lines, unpacked_text


def board_texts(site: Path) -> str:
    """Return the text of all board pages."""
    return "\n".join(page.read_text("utf-8") for page in sorted((site / "boards").glob("*.html")))


def board_page(site: Path, start: str = "") -> Path:
    """Return the page of the newest version of the first board, or of that which begins so."""
    return sorted((site / "boards").glob(f"{start}*.html"))[-1]


def lines_of(folder: Path) -> list[bytes]:
    """Return the record lines of a submission's folder."""
    return list(unpacked_lines(folder / "data"))


def index_of(folder: Path) -> dict[str, Any]:
    """Return the index of a submission's trials."""
    return json.loads(unpacked_text((folder / "data" / "index.js").read_bytes()))
