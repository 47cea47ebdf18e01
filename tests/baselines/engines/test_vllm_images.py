"""A real engine reads the screenshots of the web event: vLLM with a small image-text model."""

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")
pytest.importorskip("transformers", reason="pip install 'hexathlon[train]'")

from hexathlon.baselines.engines.served.server import VllmServer
from hexathlon.baselines.harness.config import ExecutionConfig, load_config
from hexathlon.baselines.harness.run import evaluate
from hexathlon.envs.plugins import offer
from hexathlon.evaluators.content import Image
from hexathlon.evaluators.records import read_content, read_records
from support.chromium import skip_without_chromium
from support.events import unregister
from support.image_policy import IMAGE_TOKENS, image_policy
from support.served import vllm_server
from support.web_window import WindowSource

pytestmark = [pytest.mark.vllm, pytest.mark.browser, pytest.mark.timeout(900)]
WINDOW = "example/WebWindow-v0"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VllmServer]:
    skip_without_chromium()
    folder = tmp_path_factory.mktemp("images")
    with vllm_server(image_policy(folder / "policy"), folder / "log.txt") as started:
        yield started


@pytest.fixture(scope="module")
def played(server: VllmServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A trial in Chromium whose every turn is sampled by the server."""
    module = "support.web_window"
    offer(
        WINDOW, f"{module}:WebWindowEnv", family="example-window", title="The web in a window",
        tasksets=(WindowSource.name,), vector_entry_point=f"{module}:make_vector",
    )  # fmt: skip
    flags = {
        "model": f"endpoint:{server.url}/v1#{server.checkpoint}", "envs": (WINDOW,), "tasks": 1,
        "dialect": "json", "limit_turns": 2, "max_reply_tokens": 16,
    }  # fmt: skip
    run = tmp_path_factory.mktemp("images") / "run"
    evaluate(load_config(flags)[0], ExecutionConfig(fsync="never"), run)
    yield run
    unregister(WINDOW)


def images_of(run: Path) -> list[Image]:
    (record,) = read_records(run)
    fields = [record["opening"], *(step["observation"] for step in record["steps"])]
    parts = [part for field in fields for part in read_content(run, field)]
    return [part for part in parts if isinstance(part, Image)]


def asked(server: VllmServer, images: list[bytes]) -> dict[str, Any]:
    """Ask for one token about images; the reply has its log-probabilities."""
    urls = [f"data:image/png;base64,{base64.b64encode(image).decode()}" for image in images]
    parts = [{"type": "image_url", "image_url": {"url": url}} for url in urls]
    content = [{"type": "text", "text": "Count to 7."}, *parts]
    body = {
        "model": str(server.checkpoint), "messages": [{"role": "user", "content": content}],
        "max_tokens": 1, "temperature": 0.0, "logprobs": True, "top_logprobs": 5,
    }  # fmt: skip
    reply = httpx.post(f"{server.url}/v1/chat/completions", json=body, timeout=300.0)
    assert reply.status_code == 200, reply.text
    found: dict[str, Any] = reply.json()
    return found


def top(reply: dict[str, Any]) -> list[tuple[str, float]]:
    rows = reply["choices"][0]["logprobs"]["content"][0]["top_logprobs"]
    return [(row["token"], round(row["logprob"], 3)) for row in rows]


def test_a_trial_with_screenshots_is_played_to_its_end(played: Path) -> None:
    (record,) = read_records(played)
    assert record["status"] == "scored" and record["reward"] == 0.0
    assert len(record["steps"]) == 2
    assert len(images_of(played)) >= 2
    assert [step["tokens"]["output"] for step in record["steps"]] == [16, 16]


def test_each_image_takes_its_place_in_the_prompt(server: VllmServer, played: Path) -> None:
    picture = images_of(played)[0].png()
    used = [asked(server, [picture] * count)["usage"]["prompt_tokens"] for count in (0, 1, 2)]
    assert used[1] - used[0] >= IMAGE_TOKENS
    assert used[2] - used[1] == used[1] - used[0]


def test_the_reply_depends_on_the_pixels(server: VllmServer, played: Path) -> None:
    screenshot = images_of(played)[0]
    array = screenshot.array().copy()
    array[: len(array) // 2] = 255 - array[: len(array) // 2]
    changed = Image.from_array(array)
    seen = top(asked(server, [screenshot.png()]))
    assert top(asked(server, [screenshot.png()])) == seen
    assert top(asked(server, [changed.png()])) != seen
