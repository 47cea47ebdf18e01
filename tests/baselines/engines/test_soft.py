"""Soft prefixes in the engine and the learner: the same embeddings at the same positions."""

import asyncio

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")
transformers = pytest.importorskip("transformers", reason="pip install 'hexathlon[train]'")

from hexathlon.baselines.algorithms.palette import fit_palette
from hexathlon.baselines.algorithms.samples import Sample
from hexathlon.baselines.engines.local.compiled import CompiledDecoder
from hexathlon.baselines.engines.local.decoder import LlamaDecoder
from hexathlon.baselines.engines.local.engine import LocalEngine
from hexathlon.baselines.engines.local.soft import PrefixTable, latent_of, read_prefixes
from hexathlon.baselines.kernels.library import KernelsMissing, kernels
from hexathlon.baselines.learner.batching import Example
from hexathlon.baselines.learner.learner import Learner, LearnerConfig
from hexathlon.baselines.tokens.patches import FIRST_PATCH
from hexathlon.baselines.tokens.requests import TokenRequest, TokenSampling
from hexathlon.baselines.tokens.soft import soft_ids
from hexathlon.baselines.warmstart.initial import ModelShape, make_model

VOCABULARY, WIDTH, TOKENS, LATENT = 97, 48, 3, 4
PROMPTS = [[5, 6, 7, 8, 9], [5, 6, 7, 20], [40], [5, 6, 7, 8, 9]]


@pytest.fixture(params=["off", "on"])
def compiled(request, monkeypatch):
    """Whether the compiled kernels are used, by the engine and by the learner."""
    if request.param == "off":
        monkeypatch.setenv("HEXATHLON_KERNELS", "off")
    kernels.cache_clear()
    if request.param == "on":
        try:
            kernels()
        except KernelsMissing as error:
            pytest.skip(str(error))
    yield request.param == "on"
    kernels.cache_clear()


def vae(seed: int = 0):
    generator = torch.Generator().manual_seed(4)
    return fit_palette(torch.randn(40, WIDTH, generator=generator), TOKENS, LATENT, 0.1, 30, seed)


def model(palette: bool = True):
    torch.manual_seed(0)
    config = transformers.Qwen3Config(
        vocab_size=VOCABULARY, hidden_size=WIDTH, intermediate_size=96, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=2, head_dim=16, max_position_embeddings=512,
        tie_word_embeddings=False,
    )  # fmt: skip
    made = transformers.AutoModelForCausalLM.from_config(config, attn_implementation="sdpa")
    with torch.no_grad():
        for weight in made.parameters():
            if weight.dim() > 1:
                weight.mul_(2.0)
    made = made.float().eval()
    if palette:
        read_prefixes(made, PrefixTable(vae().prefix, LATENT))
    return made


def replies(policy, prompts, **settings):
    """Sample a continuation of each prompt, all at once."""

    async def run():
        engine = LocalEngine(policy, **settings)
        sampling = [TokenSampling(seed=seed, max_tokens=8) for seed in range(len(prompts))]
        requests = [TokenRequest(ids, one) for ids, one in zip(prompts, sampling, strict=True)]
        try:
            return await asyncio.gather(*map(engine.generate, requests))
        finally:
            await engine.close()

    return asyncio.run(run())


def sample_of(prompt, reply) -> Sample:
    count = len(prompt) + len(reply.ids)
    sampled = np.arange(count) >= len(prompt)
    behaviour = np.concatenate([np.zeros(len(prompt)), reply.log_probabilities])
    turn = np.where(sampled, 0, -1)
    observed = np.zeros_like(sampled)
    return Sample(np.array([*prompt, *reply.ids]), sampled, observed, behaviour, turn, (1,))


def scores(policy, samples, **config):
    learner = Learner(policy, LearnerConfig(**config), 1)
    examples = [Example(s, np.zeros(len(s.ids)), s.sampled.astype(float)) for s in samples]
    return [score.numpy() for score in learner.score(examples)]


def test_the_decoders_read_the_decoded_prefix_as_the_model_reads_embeddings(compiled) -> None:
    policy, number = model(), 12345
    ids = torch.tensor([[*soft_ids(number, TOKENS), 5, 6, 7, 8]])
    prefix = vae().prefix(latent_of(number, LATENT))
    words = policy.get_input_embeddings().weight[ids[:, TOKENS:]]
    with torch.no_grad():
        wanted = policy(inputs_embeds=torch.cat([prefix[None], words], 1)).logits
        assert torch.allclose(policy(input_ids=ids).logits, wanted, atol=1e-5)
    decoder = CompiledDecoder(policy, 64) if compiled else LlamaDecoder(policy, 64)
    assert torch.allclose(decoder.logits(ids), wanted, atol=1e-4)
    other = decoder.logits(torch.tensor([[*soft_ids(54321, TOKENS), 5, 6, 7, 8]]))
    assert not torch.allclose(other[:, -1], wanted[:, -1], atol=1e-2)


@pytest.mark.parametrize("packing", [False, True])
def test_behaviour_and_training_agree_on_every_sampled_token(compiled, packing) -> None:
    """With a prefix as without one; a learner that omitted the prefix would not agree."""
    policy = model()
    prompts = [[*soft_ids(n, TOKENS), *ids] for n, ids in enumerate(PROMPTS)] + PROMPTS
    drawn = replies(policy, prompts, compiled=compiled)
    samples = [sample_of(*pair) for pair in zip(prompts, drawn, strict=True)]
    learned = scores(policy, samples, packing=packing)
    for sample, score in zip(samples, learned, strict=True):
        assert np.abs(score - sample.behaviour)[sample.sampled].max() < 1e-4
    steered = samples[: len(PROMPTS)]
    bare = [sample_of(ids, reply) for ids, reply in zip(PROMPTS, drawn, strict=False)]
    for sample, score in zip(steered, scores(policy, bare), strict=True):
        assert np.abs(score[-8:] - sample.behaviour[-8:]).max() > 1e-2


def test_replies_depend_on_the_prefix_and_not_on_the_batch(compiled) -> None:
    policy = model()
    settings = {"compiled": compiled, "invariant": True}
    steered = [[*soft_ids(n, TOKENS), *PROMPTS[0]] for n in (1, 1, 2)]
    first, same, other = replies(policy, steered, **settings)
    (alone,) = replies(policy, steered[:1], **settings)
    assert (alone.ids, alone.log_probabilities) == (first.ids, first.log_probabilities)
    assert first.log_probabilities[0] != other.log_probabilities[0]
    again = replies(policy, steered, **settings)
    assert [reply.ids for reply in again] == [reply.ids for reply in (first, same, other)]


def test_speculation_proposes_no_soft_tokens_that_count(compiled) -> None:
    steered = [[*soft_ids(n, TOKENS), *[5, 6, 7, 8] * 6] for n in range(4)]
    settings = {"compiled": compiled, "invariant": True}
    plain, proposed = (replies(model(), steered, speculate=number, **settings) for number in (0, 6))
    assert [(r.ids, r.log_probabilities) for r in plain] == [
        (r.ids, r.log_probabilities) for r in proposed
    ]
    assert all(0 <= token < VOCABULARY for reply in proposed for token in reply.ids)


def test_without_soft_tokens_nothing_changes(compiled) -> None:
    plain, reading = model(palette=False), model()
    assert plain.state_dict().keys() == reading.state_dict().keys()
    found = [replies(policy, PROMPTS, compiled=compiled) for policy in (plain, reading)]
    assert found[0] == found[1]
    samples = [sample_of(*pair) for pair in zip(PROMPTS, found[0], strict=True)]
    updated = []
    for policy in (plain, reading):
        examples = [
            Example(s, s.sampled * (1.0 - number), s.sampled.astype(float))
            for number, s in enumerate(samples)
        ]
        Learner(policy, LearnerConfig(), 1).update(examples)
        updated.append(policy.state_dict())
    assert all(torch.equal(updated[0][name], updated[1][name]) for name in updated[0])


def test_an_update_trains_the_policy_and_leaves_the_prefix(compiled) -> None:
    """Also on prefixes that the engine has decoded before, in inference mode."""
    policy = model()
    prompts = [[*soft_ids(n, TOKENS), *ids] for n, ids in enumerate(PROMPTS)]
    drawn = replies(policy, prompts, compiled=compiled)
    samples = [sample_of(*pair) for pair in zip(prompts, drawn, strict=True)]
    embedding = policy.get_input_embeddings()
    before = embedding.weight.detach().clone()
    examples = [Example(s, s.sampled * 1.0, s.sampled.astype(float)) for s in samples]
    metrics = Learner(policy, LearnerConfig(), 1).update(examples)
    assert metrics["grad_norm"] > 0
    changed = (embedding.weight != before).any(1).nonzero()[:, 0].tolist()
    read = {token for s in samples for token in s.ids[TOKENS:-1].tolist()}
    assert set(changed) <= read and changed
    with torch.no_grad():
        prefix = embedding(torch.tensor(soft_ids(2, TOKENS)))
    assert torch.equal(prefix, vae().prefix(latent_of(2, LATENT)))


def test_a_model_with_pictures_reads_prefixes_too() -> None:
    shape = ModelShape(width=32, layers=1, heads=2, kv_heads=1, feed_forward=64, patches=2)
    policy = make_model(shape, 60, 0).eval()
    ids = torch.tensor([[3, FIRST_PATCH + 12345, 4]])
    with torch.no_grad():
        before = policy.get_input_embeddings()(ids)
    fitted = fit_palette(torch.randn(20, 32), TOKENS, LATENT, 0.1, 2, 0)
    read_prefixes(policy, PrefixTable(fitted.prefix, LATENT))
    with torch.no_grad():
        after = policy.get_input_embeddings()(torch.tensor([[*soft_ids(7, TOKENS), *ids[0]]]))
    assert torch.equal(after[:, TOKENS:], before)
    assert torch.equal(after[0, :TOKENS], fitted.prefix(latent_of(7, LATENT)))


def test_assigned_latents_take_precedence_and_forgotten_prefixes_return(monkeypatch) -> None:
    monkeypatch.setattr("hexathlon.baselines.engines.local.soft._KEPT", 2)
    fitted, latent = vae(), torch.full((LATENT,), 0.5)
    table = PrefixTable(fitted.prefix, LATENT, {9: latent})
    assert torch.equal(table.prefix(9), fitted.prefix(latent))
    first = table.prefix(1)
    assert len({tuple(table.prefix(n).flatten().tolist()) for n in (1, 2, 3, 4)}) == 4
    assert torch.equal(table.prefix(1), first)


def test_latents_are_standard_normal_and_follow_their_number() -> None:
    drawn = torch.stack([latent_of(number, LATENT) for number in range(2_000)])
    assert torch.equal(drawn[7], latent_of(7, LATENT))
    assert drawn.mean(0).abs().max() < 0.1 and (drawn.std(0) - 1).abs().max() < 0.1
    assert torch.corrcoef(drawn.T).fill_diagonal_(0).abs().max() < 0.1
