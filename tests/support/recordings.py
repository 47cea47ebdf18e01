"""Recorded phone sessions for tests, in the published format."""

import json
from pathlib import Path
from typing import Any

from PIL import Image

WIDTH, HEIGHT = 540, 1200


def step(action: str, screenshot: str = "", **more: Any) -> dict[str, Any]:
    """Return a step; `bbox`, `elements` and the like go into their published fields."""
    outside = {key: more.pop(key) for key in ("elements", "check_options") if key in more}
    return {
        "screenshot": screenshot, "size": [WIDTH, HEIGHT],
        "action_content": {"action": action, **more}, **outside,
    }  # fmt: skip


def shopping_note() -> dict[str, Any]:
    """Return a session of five steps: open an app, add a note, type, save, report."""
    rows = [
        {"text": "Shopping", "bbox": [20, 100, 520, 180], "class_name": "row"},
        {"text": "", "bbox": [440, 1080, 520, 1160], "class_name": "button"},
    ]
    return {
        "goal": "Write down milk in Notes.",
        "episode_id": 1,
        "is_successful": True,
        "steps": [
            step("open", text="Notes", screenshot="images/1_0.png"),
            step("click", coordinate=[480, 1120], bbox=[440, 1080, 520, 1160], elements=rows),
            step("type", text="Milk"),
            step("click", coordinate=[40.5, 60.2], check_options={
                "action": "click", "coordinate": [40, 60], "candidate_bbox": [[10, 40, 70, 80]]}),
            step("terminate", status="success"),
        ],
    }  # fmt: skip


def scrolling() -> dict[str, Any]:
    """Return a session of three steps: swipe, go back, wait."""
    return {
        "goal": "Look around.",
        "steps": [
            step("swipe", coordinate=[270, 900], coordinate2=[270, 300]),
            step("system_button", button="Back"),
            step("long_press", coordinate=[100, 100], time=1),
        ],
    }


def write_recordings(folder: Path) -> Path:
    """Write all splits and one screenshot; return the folder."""
    (folder / "images").mkdir(parents=True)
    Image.new("RGB", (WIDTH, HEIGHT), (200, 10, 10)).save(folder / "images" / "1_0.png")
    lines = [shopping_note(), scrolling()]
    for split in ("train", "dev", "test"):
        rows = [
            {**line, "goal": f"{line['goal']} ({split} {n})"} for n in range(4) for line in lines
        ]
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"{split}.jsonl").write_text(text, "utf-8")
    return folder
