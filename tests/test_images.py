"""An environment with images: played, recorded, verified, judged, shown on a page."""

import base64
import json
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hexathlon.baselines.harness.config import EvalConfig, ExecutionConfig, load_config
from hexathlon.baselines.harness.rescore import rescore_run
from hexathlon.baselines.harness.run import evaluate, resume
from hexathlon.baselines.harness.verify import verify_run
from hexathlon.envs.plugins import offer
from hexathlon.envs.registry import ENVIRONMENTS
from hexathlon.envs.testing import assert_conforms
from hexathlon.evaluators.content import Image
from hexathlon.evaluators.judged.file import judged_files, last_of_trials, read_judged
from hexathlon.evaluators.records import check_chain, read_content, read_records
from hexathlon.evaluators.records.plan import read_plan
from hexathlon.leaderboard.build import build
from hexathlon_cli.app import run as command
from hexathlon_cli.playing.session import Session
from support.chat_server import Body, ChatServer, _answer
from support.events import unregister
from support.judge_planted import blocks_of, choose_all, planted_reply, rules_of
from support.lights import LightsEnv

LIGHTS = "example/Lights-v0"
SOURCE = Path(__file__).parent / "support" / "lights.py"
DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "guides" / "plugins.md"
RUBRIC = """
id = "lights"
version = "1"
aggregator = "hard_gate"

[[criteria]]
id = "lit"
text = "The image shows a lit cell."
scope = "transcript"
why = "Only somebody who looks at the image can tell."
controls = [
    { label = "met", question = "Is a cell lit?", reply = "One cell is lit." },
    { label = "not_met", question = "Is a cell lit?", reply = "All cells are dark." },
]
"""


class Spotter(ChatServer):
    """Plays and judges by what it sees; stores every image that it receives."""

    def __init__(self) -> None:
        super().__init__()
        self.served = ["spotter"]
        self.images: list[tuple[str, Image]] = []

    async def _reply(self, receive: Any, send: Any, body: Body, model: str) -> None:
        await _answer(send, body, self._said(body))

    def _said(self, body: Body) -> Body:
        system = str(body["messages"][0]["content"])
        judging = system.startswith(("You check texts", "You find the lines"))
        images = _images_in(body["messages"])
        self.images += [("judge" if judging else "player", image) for image in images]
        if judging:
            return {"role": "assistant", "content": _judged(body, images)}
        if not images:
            return {"role": "assistant", "content": '{"ok": true}'}
        arguments = json.dumps({"cell": lit_cell(images[-1])})
        function = {"name": "press", "arguments": arguments}
        calls = [{"id": "call-1", "type": "function", "function": function}]
        return {"role": "assistant", "content": None, "tool_calls": calls}


def _images_in(messages: list[Body]) -> list[Image]:
    rows = [row for one in messages if isinstance(one["content"], list) for row in one["content"]]
    urls = [row["image_url"]["url"] for row in rows if row["type"] == "image_url"]
    assert all(url.startswith("data:image/png;base64,") for url in urls)
    return [Image.from_bytes(base64.b64decode(url.partition(",")[2])) for url in urls]


def _judged(body: Body, images: list[Image]) -> str:
    """Choose every line, then judge what is shown and answer the planted questions."""
    content = body["messages"][1]["content"]
    text = content if isinstance(content, str) else content[0]["text"]
    blocks = blocks_of(text)
    if "TOPICS" in blocks:
        return choose_all(blocks)
    verdict = json.dumps(_verdict(blocks["TRANSCRIPT"], images))
    rules = rules_of(text)
    return planted_reply(verdict, rules, blocks) if rules else verdict


def _verdict(shown: str, images: list[Image]) -> Body:
    """Judge a played trial by its image, a planted control by its words."""
    if images:
        lit = all(lit_cell(image) >= 0 for image in images)
        return {"evidence": "Press the lit cell.", "label": "met" if lit else "not_met"}
    for quote, label in (("One cell is lit.", "met"), ("All cells are dark.", "not_met")):
        if quote in shown:
            return {"evidence": quote, "label": label}
    return {"evidence": "Press the lit cell.", "label": "cannot_tell"}


def lit_cell(image: Image) -> int:
    lit = np.argwhere((image.array() == (250, 200, 0)).all(axis=2))
    return int(lit[0][0] // 4 * 32 + lit[0][1] // 4) if len(lit) else -1


@pytest.fixture(scope="module", autouse=True)
def lights() -> Iterator[None]:
    module = "support.lights"
    offer(
        LIGHTS, f"{module}:LightsEnv", family="example-lights", title="Find the lit cell",
        tasksets=("example-lights",), vector_entry_point=f"{module}:make_vector",
    )  # fmt: skip
    yield
    unregister(LIGHTS)
    assert LIGHTS not in ENVIRONMENTS


@pytest.fixture(scope="module")
def server() -> Iterator[Spotter]:
    with Spotter() as started:
        yield started


def config(model: str, **flags: Any) -> EvalConfig:
    return load_config({"model": model, "envs": (LIGHTS,), "tasks": 3, **flags})[0]


def play(path: Path, model: str = "agent:oracle", **flags: Any) -> Path:
    evaluate(config(model, **flags), ExecutionConfig(fsync="never"), path)
    return path


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory, server: Spotter) -> Path:
    return play(
        tmp_path_factory.mktemp("images") / "run",
        f"endpoint:{server.url}#spotter",
        dialect="openai",
    )


@pytest.fixture
def copied(played: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(played, tmp_path / "copy"))


def images_of(run: Path) -> list[Image]:
    parts = []
    for record in read_records(run):
        fields = [record["opening"], *(step["observation"] for step in record["steps"])]
        parts += [part for field in fields for part in read_content(run, field)]
    return [part for part in parts if isinstance(part, Image)]


def test_the_example_has_sixty_lines_and_is_in_the_guide() -> None:
    text = SOURCE.read_text()
    assert len([line for line in text.splitlines() if line.strip()]) <= 60
    assert f"```python\n{text}```" in DOCUMENT.read_text()


def test_the_conformance_kit_passes() -> None:
    assert_conforms(LIGHTS, fuzz=500)


def test_a_scripted_agent_plays_it(tmp_path: Path) -> None:
    run = play(tmp_path / "run")
    found = list(read_records(run))
    assert [record["reward"] for record in found] == [1.0] * 3
    first, second = found[0]["opening"]
    assert first == {
        "type": "text",
        "text": "Press the lit cell. Cells count from 0, row by row, 32 to a row.",
    }
    assert {**second, "sha256": ""} == {"type": "image", "sha256": "", "width": 128, "height": 96}
    assert b"base64" not in (run / "records.jsonl").read_bytes()
    names = {f"{image.sha256}.png" for image in images_of(run)}
    assert {path.name for path in (run / "media").iterdir()} == names
    assert verify_run(run).sound


def test_a_model_is_sent_the_image_as_it_was_drawn(played: Path, server: Spotter) -> None:
    found = list(read_records(played))
    assert [record["reward"] for record in found] == [1.0] * 3
    drawn = []
    for record in found:
        env = LightsEnv()
        options = {"task": record["key"]["task"]}
        observation, _ = env.reset(seed=record["key"]["seed"], options=options)
        drawn.append(Image.from_array(observation["image"]))
    seen = [image for who, image in server.images if who == "player"]
    assert {image.pixels for image in drawn} == {image.pixels for image in seen}


def test_a_run_is_verified_and_rescored(played: Path, tmp_path: Path) -> None:
    assert check_chain(played, read_plan(played)["plan_hash"]) == []
    assert verify_run(played).sound
    assert rescore_run(played, tmp_path / "again").changes == 0
    assert images_of(tmp_path / "again") == images_of(played)


def test_a_broken_run_is_resumed(copied: Path, played: Path) -> None:
    file = copied / "records.jsonl"
    file.write_bytes(file.read_bytes().splitlines(keepends=True)[0])
    shutil.rmtree(copied / "media")
    resumed = resume(copied, ExecutionConfig(fsync="never"))
    assert resumed.played == 2
    missing = verify_run(copied).findings
    assert len(missing) == 1 and "is missing" in missing[0].message
    assert len(list(read_records(copied))) == 3


@pytest.mark.parametrize("change", ["pixels", "bytes", "missing"])
def test_a_changed_or_missing_image_is_named(copied: Path, change: str) -> None:
    file = sorted((copied / "media").iterdir())[0]
    if change == "missing":
        file.unlink()
    elif change == "bytes":
        file.write_bytes(file.read_bytes()[:-40])
    else:
        array = Image.from_bytes(file.read_bytes()).array()
        array[0, 0] += 1
        file.write_bytes(Image.from_array(array).png())
    found = verify_run(copied)
    assert not found.sound and found.replayed == 0
    assert file.name in found.findings[0].message
    assert ("is missing" if change == "missing" else "was changed") in found.findings[0].message


def test_another_encoding_of_the_same_image_is_the_same_image(copied: Path) -> None:
    from PIL import Image as pillow

    for file in (copied / "media").iterdir():
        before = file.read_bytes()
        with pillow.open(file) as opened:
            opened.load()
        opened.save(file, "PNG", compress_level=0)
        assert file.read_bytes() != before
    assert verify_run(copied).sound


@pytest.mark.parametrize("shown", [True, False])
def test_a_judge_looks_at_the_images(
    copied: Path, server: Spotter, tmp_path: Path, shown: bool
) -> None:
    (tmp_path / "lights.toml").write_text(RUBRIC)
    before = len([who for who, _ in server.images if who == "judge"])
    flags = ["--rubric", str(tmp_path / "lights.toml"), "--model", f"endpoint:{server.url}#spotter"]
    code = command(["judge", str(copied), *flags, *(["--images"] if shown else [])])
    lines = last_of_trials(read_judged(judged_files(copied)[0]).lines)
    seen = [image for who, image in server.images if who == "judge"][before:]
    if shown:
        assert code == 0
        assert [line["score"] for line in lines] == [1.0] * 3
        assert {image.sha256 for image in seen} == {image.sha256 for image in images_of(copied)}
        assert {name for line in lines for name in line["images"]} == {
            image.sha256 for image in images_of(copied)
        }
    else:
        assert code == 2 and not seen
        assert all(line["score"] is None and "images" not in line for line in lines)


@pytest.fixture(scope="module")
def page(played: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("images") / "site"
    build([played], out)
    return next(out.glob("runs/*/trial.html"))


def test_each_image_is_once_in_the_site(page: Path, played: Path) -> None:
    site = page.parents[2]
    assert {path.name for path in (site / "media").iterdir()} == {
        f"{image.sha256}.png" for image in images_of(played)
    }


@pytest.mark.browser
def test_a_browser_draws_the_image(page: Path) -> None:
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    program = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    if program is None:
        pytest.skip("no Chromium on this machine (Debian: chromium-headless-shell)")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox", "--disable-gpu"]
        )
        shown = browser.new_page()
        messages: list[str] = []
        shown.on("console", lambda message: messages.append(message.text))
        shown.goto(page.as_uri())
        image = shown.locator(".opening img")
        image.scroll_into_view_if_needed()
        images = shown.locator(".trajectory img")
        places = images.evaluate_all("all => all.map((one) => one.getAttribute('src'))")
        assert len(places) == 2
        assert all((page.parent / place).resolve().is_file() for place in places)
        shown.wait_for_function("document.querySelector('.opening img').complete")
        assert image.evaluate("image => [image.naturalWidth, image.naturalHeight]") == [128, 96]
        assert messages == []
        browser.close()


def test_a_player_is_told_where_the_image_is_stored(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    typed = iter(["press cell=0", "/quit"])
    monkeypatch.setattr("builtins.input", lambda _: next(typed))
    env = LightsEnv()
    _, details = env.reset(seed=1, options={"task": "example-lights/drawn/easy/test/00002"})
    assert not Session(env, details).play()
    shown = capsys.readouterr().out.replace("\n", "")
    told = re.findall(r"\[image, 128 x 96: ?(\S+\.png)\]", shown)
    assert len(told) == 2
    drawn = [part for message in env.transcript for part in message["content"]
             if isinstance(part, Image)]  # fmt: skip
    assert [Image.from_bytes(Path(path).read_bytes()) for path in told] == drawn
    assert all(Path(path).is_relative_to(tmp_path) for path in told)
