"""Screenshots reach an engine that takes images: played, recorded, replayed, shown on a page."""

import asyncio
import base64
import itertools
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hexathlon.baselines.harness.config import EvalConfig, ExecutionConfig, load_config
from hexathlon.baselines.harness.rescore import rescore_run
from hexathlon.baselines.harness.run import evaluate
from hexathlon.baselines.harness.verify import verify_run
from hexathlon.envs.plugins import offer
from hexathlon.envs.registry import ENVIRONMENTS
from hexathlon.envs.web.chromium.driver import BrowserCrashed
from hexathlon.envs.web.chromium.tab import ChromiumTab
from hexathlon.evaluators.content import Image
from hexathlon.evaluators.records import read_content, read_records
from hexathlon.leaderboard.build import build
from support.chat_server import Body, ChatServer, _answer
from support.chromium import skip_without_chromium
from support.events import unregister
from support.web_window import WindowSource

pytestmark = pytest.mark.browser
WINDOW = "example/WebWindow-v0"
BUSY = "Unable to capture screenshot"


class Clicker(ChatServer):
    """Plays with the mouse: it finds the number of an element in the pixels of the screenshot.

    The text tells it which number; only the image shows where it is.
    """

    def __init__(self) -> None:
        super().__init__()
        self.served = ["clicker"]
        self.images: list[Image] = []
        self.places: list[tuple[int, int]] = []

    async def _reply(self, receive: Any, send: Any, body: Body, model: str) -> None:
        await _answer(send, body, self._said(body["messages"]))

    def _said(self, messages: list[Body]) -> Body:
        name, arguments = "finish", {"task_type": "MUTATE"}
        text, image = _seen(messages)
        number = _wanted(_request(messages), text)
        if number and image is not None:
            self.images.append(image)
            x, y = _place_of(number, image.array())
            self.places.append((x, y))
            name, arguments = "mouse_click", {"x": x + 2, "y": y + 2}
        function = {"name": name, "arguments": json.dumps(arguments)}
        calls = [{"id": f"call-{len(messages)}", "type": "function", "function": function}]
        return {"role": "assistant", "content": None, "tool_calls": calls}


def _rows(message: Body) -> list[Body]:
    content = message["content"]
    return content if isinstance(content, list) else [{"type": "text", "text": content or ""}]


def _seen(messages: list[Body]) -> tuple[str, Image | None]:
    """The text and the image that the environment showed last."""
    last = (
        max(at for at, message in enumerate(messages) if message["role"] == "assistant")
        if any(message["role"] == "assistant" for message in messages)
        else 0
    )
    rows = [row for message in messages[last:] for row in _rows(message)]
    text = "".join(row["text"] for row in rows if row["type"] == "text")
    urls = [row["image_url"]["url"] for row in rows if row["type"] == "image_url"]
    assert all(url.startswith("data:image/png;base64,") for url in urls)
    images = [Image.from_bytes(base64.b64decode(url.partition(",")[2])) for url in urls]
    return text, images[-1] if images else None


def _request(messages: list[Body]) -> str:
    text = "".join(row.get("text", "") for message in messages for row in _rows(message))
    match = re.search(r'Take "(.+?)" off this list', text)
    assert match
    return match[1]


def _wanted(place: str, text: str) -> int:
    """The number of the button to press: in the entry of the place, then in the dialog."""
    if "Removed." in text:
        return 0
    dialog = re.search(r'dialog "(.+?)"', text)
    within = rf'button "{dialog[1]}"' if dialog else rf'link "{place}" .*?button "Remove"'
    match = re.search(rf"{within} \[(\d+)\]", text, re.S)
    assert match, text
    return int(match[1])


def _place_of(number: int, pixels: Any) -> tuple[int, int]:
    """Find the mark of a number: the label in the window that looks most like this number."""
    found: list[tuple[float, int, int]] = []
    for label in _labels(number):
        windows = np.lib.stride_tricks.sliding_window_view(pixels, label.shape)[:, :, 0]
        edge = (windows[:, :, 0] == label[0]).all(axis=(2, 3))
        for y, x in np.argwhere(edge):
            difference = np.abs(windows[y, x].astype(int) - label.astype(int)).mean()
            found.append((float(difference), int(x), int(y) + len(label)))
    assert found, f"no mark has the colour of the mark {number}"
    _, x, y = min(found)
    return x, y


def _labels(number: int) -> Iterator[Any]:
    """The label of a mark as it is drawn at fractions of a pixel."""
    from PIL import Image as pillow

    from hexathlon.envs.web.chromium.marks import draw_marks

    for right, down in itertools.product((0.0, 0.25, 0.5, 0.75), repeat=2):
        blank = pillow.new("RGB", (80, 80), "white")
        draw_marks(blank, {number: (20.0 + right, 40.0 + down, 50.0, 30.0)})
        above = np.asarray(blank)[:40]
        places = np.argwhere((above != 255).any(axis=2))
        (top, left), (bottom, end) = places.min(axis=0), places.max(axis=0)
        yield above[top : bottom + 1, left : end + 1]


@pytest.fixture(scope="module", autouse=True)
def window() -> Iterator[None]:
    skip_without_chromium()
    module = "support.web_window"
    offer(
        WINDOW,
        f"{module}:WebWindowEnv",
        family="example-window",
        title="The web in a window",
        tasksets=(WindowSource.name,),
        vector_entry_point=f"{module}:make_vector",
    )
    yield
    unregister(WINDOW)
    assert WINDOW not in ENVIRONMENTS


def config(model: str) -> EvalConfig:
    return load_config({"model": model, "envs": (WINDOW,), "tasks": 1, "dialect": "openai"})[0]


@pytest.fixture(scope="module")
def server() -> Iterator[Clicker]:
    with Clicker() as started:
        yield started


@pytest.fixture(scope="module")
def played(window: None, tmp_path_factory: pytest.TempPathFactory, server: Clicker) -> Path:
    run = tmp_path_factory.mktemp("window") / "run"
    evaluate(config(f"endpoint:{server.url}#clicker"), ExecutionConfig(fsync="never"), run)
    return run


def shown(run: Path) -> list[Image]:
    (record,) = read_records(run)
    fields = [record["opening"], *(step["observation"] for step in record["steps"])]
    parts = [part for field in fields for part in read_content(run, field)]
    return [part for part in parts if isinstance(part, Image)]


def test_the_task_is_solved_from_the_pixels(played: Path, server: Clicker) -> None:
    (record,) = read_records(played)
    assert record["reward"] == 1.0
    assert [json.loads(step["action"])["name"] for step in record["steps"]] == [
        "mouse_click",
        "mouse_click",
        "finish",
    ]
    assert len(set(server.places)) == 2
    assert [image.sha256 for image in server.images] == [
        image.sha256 for image in shown(played)[:2]
    ]


def test_the_screenshots_are_recorded_beside_the_records(played: Path) -> None:
    images = shown(played)
    assert {(image.width, image.height) for image in images} == {(800, 600)}
    assert len({image.sha256 for image in images}) >= 3
    names = {path.name for path in (played / "media").iterdir()}
    assert names == {f"{image.sha256}.png" for image in images}


def test_the_run_is_rescored_without_a_browser(played: Path, tmp_path: Path) -> None:
    assert rescore_run(played, tmp_path / "again").changes == 0


def test_a_replay_draws_the_same_pixels(played: Path) -> None:
    report = verify_run(played)
    assert report.sound, report.findings
    assert report.replayed == 1


def test_a_changed_screenshot_is_named(played: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(played, tmp_path / "copy"))
    file = sorted((copy / "media").iterdir())[0]
    array = Image.from_bytes(file.read_bytes()).array()
    array[0, 0] ^= 1
    file.write_bytes(Image.from_array(array).png())
    report = verify_run(copy)
    assert not report.sound and file.name in report.findings[0].message


def test_the_site_stores_them(played: Path, tmp_path: Path) -> None:
    build([played], tmp_path / "site")
    stored = {path.name for path in (tmp_path / "site" / "media").iterdir()}
    assert stored == {path.name for path in (played / "media").iterdir()}


class BusySession:
    """Stands in for a session with Chromium that has no frame ready, which cannot be provoked."""

    def __init__(self, refusals: int, answer: str = BUSY) -> None:
        self._left = refusals
        self._answer = answer

    async def send(self, method: str, _: Any) -> dict[str, str]:
        if self._left:
            self._left -= 1
            raise RuntimeError(f"Protocol error ({method}): {self._answer}")
        return {"data": base64.b64encode(b"pixels").decode()}


@pytest.mark.parametrize(("refusals", "answer"), [(3, BUSY), (1, "Target closed")])
def test_a_browser_without_a_picture_is_a_fault(refusals: int, answer: str) -> None:
    with pytest.raises(BrowserCrashed, match=answer):
        asyncio.run(_tab_of(BusySession(refusals, answer)).picture())


def test_a_picture_is_asked_for_again_while_no_frame_is_ready() -> None:
    assert asyncio.run(_tab_of(BusySession(2)).picture()) == b"pixels"


def _tab_of(session: BusySession) -> ChromiumTab:
    tab = ChromiumTab.__new__(ChromiumTab)
    tab._session = session
    return tab
