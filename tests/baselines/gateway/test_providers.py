"""Evaluations of a provider's model: every API plays the same trials, and no key is recorded."""

from pathlib import Path
from typing import Any

import pytest

from hexathlon.baselines.agents.spec import PROVIDERS, parse_model
from hexathlon.baselines.engines.apis.base import ApiCall
from hexathlon.baselines.gateway.app import Gateway
from hexathlon.baselines.harness.errors import UsageError
from hexathlon.evaluators.records.plan import read_plan
from support.chat_server import solve
from support.events import records, toy_run
from support.gateways import Scripted, served


def solved(call: ApiCall) -> dict[str, Any]:
    return solve({"messages": call.request.messages, "tools": call.request.tools})


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_provider_plays_like_any_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, provider: str
) -> None:
    monkeypatch.setenv(PROVIDERS[provider].key, "s3cret")
    model = Scripted(solved)
    with served(Gateway(model)) as url:
        base = f"{url}/v1" if provider == "openai-responses" else url
        toy_run(tmp_path / "run", f"{provider}:{base}#m", tasks=4, concurrency=2)
    assert [record["reward"] for record in records(tmp_path / "run")] == [1.0] * 4
    planned = read_plan(tmp_path / "run")["model"]
    assert {name: planned[name] for name in ("kind", "name", "place", "provider", "dialect")} == {
        "kind": "provider", "name": "m", "place": base, "provider": provider, "dialect": "openai",
    }  # fmt: skip
    stored = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert b"s3cret" not in stored
    assert {call.model for call in model.calls} == {"m"}


def test_a_provider_without_a_key_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with pytest.raises(UsageError, match="set ANTHROPIC_API_KEY"):
        toy_run(tmp_path / "run", "anthropic:claude", tasks=1)


def test_the_spelling_names_model_and_address() -> None:
    spec = parse_model("gemini:gemini-3-pro")
    assert (spec.kind, spec.name, spec.place) == (
        "provider",
        "gemini-3-pro",
        PROVIDERS["gemini"].url,
    )
    assert parse_model("anthropic:http://127.0.0.1:9/#m").place == "http://127.0.0.1:9"
    assert spec.key_variable(None) == "GEMINI_API_KEY" and spec.key_variable("MINE") == "MINE"
