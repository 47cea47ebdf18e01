"""The package tinker trains and samples through our service."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from bridges.contract import installed
from bridges.guide import example

if not installed("tinker", "0.38"):
    pytest.skip("scripts/bridges tinker", allow_module_level=True)
pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")

import tinker
from tinker import types

from hexathlon.baselines.agents.checkpoint import open_policy
from hexathlon.baselines.bridges.tinker.app import TinkerApp
from hexathlon.baselines.bridges.tinker.service import TinkerService
from hexathlon.baselines.engines.local.loading import load_checkpoint
from support.gateways import served
from support.policies import untrained_policy

PROMPT = [5, 6, 7, 8]
SAID = [9, 10, 11]


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return untrained_policy(tmp_path_factory.mktemp("tinker") / "tiny")


@pytest.fixture
def address(checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    policy = open_policy(checkpoint, "auto", 4)
    base = load_checkpoint(checkpoint).model
    service = TinkerService(policy, base, "tiny", checkpoint, tmp_path / "saved")
    monkeypatch.setenv("TINKER_TELEMETRY", "0")
    with served(TinkerApp(service)) as url:
        yield url


@pytest.fixture
def client(address: str) -> Any:
    return tinker.ServiceClient(base_url=address, api_key="tml-any")


def datum(**inputs: Any) -> types.Datum:
    whole = PROMPT + SAID
    count = len(whole) - 1
    arrays = {name: [0.0] * (count - len(SAID)) + row for name, row in inputs.items()}
    return types.Datum(
        model_input=types.ModelInput.from_ints(whole[:-1]),
        loss_fn_inputs={"target_tokens": whole[1:], **arrays},
    )


def supervised(client: Any, **settings: Any) -> Any:
    training = client.create_lora_training_client(base_model="tiny", **settings)
    example = datum(weights=[1.0] * len(SAID))
    losses = []
    for _ in range(4):
        result = training.forward_backward([example], "cross_entropy").result()
        losses.append(result.metrics["loss:sum"])
        training.optim_step(types.AdamParams(learning_rate=1e-2)).result()
    assert losses == sorted(losses, reverse=True) and losses[-1] < losses[0] - 0.5
    return training


def scores(sampler: Any) -> list[float]:
    prompt = types.ModelInput.from_ints(PROMPT + SAID)
    values: list[float] = sampler.compute_logprobs(prompt).result()
    return values


def test_the_guides_client_runs(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("peft", reason="pip install 'hexathlon[lora]'")
    text = example("tinker_client.py").replace("http://127.0.0.1:8002", address)
    exec(text.replace('base_model="policy"', 'base_model="tiny"'), {})
    said = capsys.readouterr().out
    assert "loss:sum" in said and said.count("stop_reason") == 4


def test_capabilities_name_the_model(client: Any) -> None:
    (model,) = client.get_server_capabilities().supported_models
    assert (model.model_name, model.max_context_length) == ("tiny", 256)


@pytest.mark.parametrize("rank", [4])
def test_cross_entropy_lowers_the_loss_and_the_sampler_follows(
    client: Any, checkpoint: Path, tmp_path: Path, rank: int
) -> None:
    pytest.importorskip("peft", reason="pip install 'hexathlon[lora]'")
    before = scores(client.create_sampling_client(base_model="tiny"))
    assert before[0] is None and len(before) == len(PROMPT + SAID)
    direct = open_policy(checkpoint, "auto", 1).engine.score([PROMPT + SAID])[0]
    assert before[1:] == pytest.approx(direct, abs=1e-6)
    training = supervised(client, rank=rank)
    assert training.get_info().model_data.tokenizer_id == str(checkpoint)
    at_once = scores(training.save_weights_and_get_sampling_client())
    path = training.save_weights_for_sampler("trained").result().path
    after = scores(client.create_sampling_client(model_path=path))
    assert after == at_once
    assert sum(after[-3:]) > sum(before[-3:]) + 0.5
    saved = tmp_path / "saved" / path.removeprefix("tinker://")
    stored = open_policy(saved, "auto", 1).engine.score([PROMPT + SAID])[0]
    assert after[1:] == pytest.approx(stored, abs=1e-5)


def test_samples_have_their_log_probabilities(client: Any) -> None:
    sampler = client.create_sampling_client(base_model="tiny")
    params = types.SamplingParams(max_tokens=8, temperature=1.0, seed=3)
    prompt = types.ModelInput.from_ints(PROMPT)
    first, again = (
        sampler.sample(prompt=prompt, num_samples=3, sampling_params=params).result()
        for _ in range(2)
    )
    assert [s.tokens for s in first.sequences] == [s.tokens for s in again.sequences]
    assert len({tuple(s.tokens) for s in first.sequences}) > 1
    for sequence in first.sequences:
        assert sequence.stop_reason == "length" and len(sequence.tokens) == 8
        whole = types.ModelInput.from_ints(PROMPT + sequence.tokens)
        assert sequence.logprobs == pytest.approx(
            sampler.compute_logprobs(whole).result()[len(PROMPT) :], abs=1e-5
        )


REFERENCE = {
    "importance_sampling": lambda ratio, advantage, log: -ratio * advantage,
    "ppo": lambda ratio, advantage, log: (
        -min(ratio * advantage, min(max(ratio, 0.8), 1.2) * advantage)
    ),
    "cispo": lambda ratio, advantage, log: -min(max(ratio, 0.8), 1.2) * log * advantage,
}


@pytest.mark.parametrize("loss", REFERENCE)
def test_losses_of_reinforcement_learning(client: Any, loss: str) -> None:
    training = client.create_lora_training_client(base_model="tiny", rank=2)
    old = [-3.0, -6.5, -7.0]
    advantages = [1.0, -0.5, 2.0]
    example = datum(weights=[1.0] * 3)
    plain = training.forward([example], "cross_entropy").result()
    values = plain.loss_fn_outputs[0]["logprobs"].tolist()[-3:]
    example = datum(logprobs=old, advantages=advantages)
    result = training.forward_backward([example], loss).result()
    rows = zip(values, old, advantages, strict=True)
    wanted = sum(REFERENCE[loss](math.exp(new - b), a, new) for new, b, a in rows)
    assert result.metrics["loss:sum"] == pytest.approx(wanted, rel=1e-4)
    step = training.optim_step(types.AdamParams(learning_rate=1e-2, grad_clip_norm=1.0)).result()
    assert step.metrics["grad_norm:mean"] > 0
    again = training.forward([datum(weights=[1.0] * 3)], "cross_entropy").result()
    assert again.loss_fn_outputs[0]["logprobs"].tolist()[-3:] != values


def test_custom_losses_are_computed_by_the_client(client: Any) -> None:
    training = client.create_lora_training_client(base_model="tiny", rank=2)

    def loss(data: Any, log_probabilities: Any) -> Any:
        value = -sum(row.sum() for row in log_probabilities)
        return value, {"mine": float(value)}

    losses = []
    for _ in range(3):
        result = training.forward_backward_custom([datum(weights=[1.0] * 3)], loss).result()
        losses.append(result.metrics["mine"])
        training.optim_step(types.AdamParams(learning_rate=1e-2)).result()
    assert losses == sorted(losses, reverse=True)


def test_saved_states_are_loaded_with_the_optimiser(client: Any) -> None:
    training = supervised(client, rank=2)
    path = training.save_state("middle").result().path
    assert path.startswith("tinker://") and path.endswith("/weights/middle")
    example = datum(weights=[1.0] * 3)

    def step(trained: Any) -> float:
        trained.forward_backward([example], "cross_entropy").result()
        trained.optim_step(types.AdamParams(learning_rate=1e-2)).result()
        loss: float = trained.forward([example], "cross_entropy").result().metrics["loss:sum"]
        return loss

    first = step(training)
    restored = client.create_training_client_from_state_with_optimizer(path)
    assert step(restored) == pytest.approx(first, rel=1e-5)


def test_faults_are_errors(client: Any) -> None:
    other = client.create_lora_training_client(base_model="other", rank=2)
    with pytest.raises(Exception, match="has the base model 'tiny'"):
        other.forward([datum(weights=[1.0] * 3)], "cross_entropy").result()
    training = client.create_lora_training_client(base_model="tiny", rank=2)
    with pytest.raises(Exception, match="needs the input 'logprobs'"):
        training.forward_backward([datum(advantages=[1.0] * 3)], "ppo").result()
    with pytest.raises(Exception, match="there is no loss 'stable_reinforce'"):
        training.forward_backward([datum(advantages=[1.0] * 3)], "stable_reinforce").result()


def test_gspo_clips_the_ratio_of_the_sequence(client: Any) -> None:
    training = client.create_lora_training_client(base_model="tiny", rank=2)
    plain = training.forward([datum(weights=[1.0] * 3)], "cross_entropy").result()
    values = plain.loss_fn_outputs[0]["logprobs"].tolist()[-3:]
    rows = {"advantages": [1.0, 1.0, 1.0], "sequence_ratio_mask": [1.0] * 3}
    for shift, ratio in ((0.0, 1.0), (-0.5, 1.0 + 4e-4), (0.5, math.exp(-0.5))):
        example = datum(logprobs=[value + shift for value in values], **rows)
        result = training.forward_backward([example], "gspo").result()
        assert result.metrics["loss:sum"] == pytest.approx(-3 * ratio, rel=1e-4)
