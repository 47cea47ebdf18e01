"""The official clients receive a checkpoint's replies while they are sampled."""

from collections.abc import Iterator
from typing import Any

import pytest

openai = pytest.importorskip("openai", reason="scripts/bridges clients")
anthropic = pytest.importorskip("anthropic", reason="scripts/bridges clients")
genai = pytest.importorskip("google.genai", reason="scripts/bridges clients")
pytest.importorskip("torch", reason="scripts/bridges clients")

from hexathlon.baselines.agents.checkpoint import open_policy
from hexathlon.baselines.gateway.app import Gateway
from hexathlon.baselines.gateway.policy import PolicyAnswers
from hexathlon.baselines.gateway.token_routes import TokenRoutes
from hexathlon.baselines.tokens.requests import TokenSampling
from support.gateways import served
from support.policies import untrained_policy

TOKENS = 48
ASKED: Any = [{"role": "user", "content": "Count to 7."}]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Any]]:
    path = untrained_policy(tmp_path_factory.mktemp("streams") / "policy", 512)
    policy = open_policy(path, "auto", 4)
    answers = PolicyAnswers(*policy, "tiny", TokenSampling(max_tokens=TOKENS, temperature=0))
    with served(Gateway(answers, TokenRoutes(answers, policy.engine).paths())) as url:
        yield url, policy.engine


def test_openai_receives_text_before_the_reply_is_sampled(model: tuple[str, Any]) -> None:
    url, engine = model
    client = openai.OpenAI(base_url=f"{url}/v1", api_key="k", max_retries=0)
    whole = client.chat.completions.create(model="tiny", messages=ASKED)
    before = engine.counts["drawn"]
    pieces, drawn = [], []
    options = {"include_usage": True}
    for chunk in client.chat.completions.create(
        model="tiny", messages=ASKED, stream=True, stream_options=options, logprobs=True
    ):
        if chunk.choices and chunk.choices[0].delta.content:
            pieces.append(chunk.choices[0].delta.content)
            drawn.append(engine.counts["drawn"] - before)
    assert "".join(pieces) == whole.choices[0].message.content
    assert chunk.usage.completion_tokens == whole.usage.completion_tokens == TOKENS
    assert len(pieces) > TOKENS // 4 and drawn[0] < TOKENS // 2


def test_openais_other_routes(model: tuple[str, Any]) -> None:
    client = openai.OpenAI(base_url=f"{model[0]}/v1", api_key="k", max_retries=0)
    whole = client.responses.create(model="tiny", input="Count to 7.").output_text
    with client.responses.stream(model="tiny", input="Count to 7.") as events:
        seen = list(events)
    pieces = [each.delta for each in seen if each.type == "response.output_text.delta"]
    assert "".join(pieces) == seen[-1].response.output_text == whole
    assert len(pieces) > TOKENS // 4
    asked: Any = {"model": "tiny", "prompt": "Count", "max_tokens": TOKENS, "temperature": 0}
    whole = client.completions.create(**asked).choices[0].text
    pieces = [each.choices[0].text for each in client.completions.create(**asked, stream=True)]
    assert "".join(pieces) == whole and len(pieces) > TOKENS // 4


def test_anthropic_and_gemini(model: tuple[str, Any]) -> None:
    from google.genai import types

    claude = anthropic.Anthropic(base_url=model[0], api_key="k", max_retries=0)
    asked: Any = {"model": "tiny", "max_tokens": TOKENS, "messages": ASKED}
    whole = claude.messages.create(**asked)
    with claude.messages.stream(**asked) as events:
        pieces = list(events.text_stream)
        last = events.get_final_message()
    assert "".join(pieces) == last.content[0].text == whole.content[0].text
    assert last.usage.output_tokens == TOKENS and len(pieces) > TOKENS // 4
    google = genai.Client(api_key="k", http_options=types.HttpOptions(base_url=model[0]))
    given: Any = {"model": "tiny", "contents": "Count to 7."}
    text = google.models.generate_content(**given).text
    pieces = [each.text for each in google.models.generate_content_stream(**given)]
    assert "".join(pieces) == text and len(pieces) > TOKENS // 4
