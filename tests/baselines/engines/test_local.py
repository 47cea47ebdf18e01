"""The torch engine: same numbers as the Hugging Face model, independent of the batch."""

import asyncio
import math
from contextlib import suppress

import pytest

torch = pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")
transformers = pytest.importorskip("transformers", reason="pip install 'hexathlon[train]'")

from hexathlon.baselines.distributed.transports import InProcessTransport, probe_of
from hexathlon.baselines.engines.errors import (
    ContextOverflow,
    EngineError,
    EngineMissing,
    WeightsDiffer,
)
from hexathlon.baselines.engines.local.decoder import LlamaDecoder, is_llama_shaped
from hexathlon.baselines.engines.local.engine import LocalEngine
from hexathlon.baselines.engines.local.sampler import RowSampling, entropies, sample
from hexathlon.baselines.engines.weights import Weights
from hexathlon.baselines.tokens.requests import EntropyScale, TokenRequest, TokenSampling
from hexathlon.tasks.seeding import generator_for

VOCABULARY = 97


def shape(**more):
    return {
        "vocab_size": VOCABULARY,
        "hidden_size": 48,
        "intermediate_size": 96,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 512,
        **more,
    }


FAMILIES = {
    "llama": (transformers.LlamaConfig, {}),
    "llama3 rope": (
        transformers.LlamaConfig,
        {
            "rope_parameters": {
                "rope_type": "llama3",
                "rope_theta": 10000.0,
                "factor": 8.0,
                "low_freq_factor": 1.0,
                "high_freq_factor": 4.0,
                "original_max_position_embeddings": 64,
            }
        },
    ),
    "biased": (transformers.LlamaConfig, {"attention_bias": True, "mlp_bias": True}),
    "qwen2": (transformers.Qwen2Config, {}),
    "qwen3": (transformers.Qwen3Config, {"head_dim": 16, "tie_word_embeddings": True}),
    "mistral": (transformers.MistralConfig, {"sliding_window": None}),
}


def model(name="qwen3", seed=0):
    kind, more = FAMILIES[name]
    torch.manual_seed(seed)
    made = transformers.AutoModelForCausalLM.from_config(
        kind(**shape(**more)), attn_implementation="sdpa"
    )
    with torch.no_grad():
        for weight in made.parameters():
            if weight.dim() > 1:
                weight.mul_(2.0)  # sharper than at initialisation, so that mistakes show
    return made.float().eval()


def prompts(count, longest=90):
    draw = generator_for("engine prompts", count)
    lengths = draw.integers(1, longest, size=count)
    return [draw.integers(0, VOCABULARY, size=int(length)).tolist() for length in lengths]


def request(ids, number=0, session="", **sampling):
    settings = {"temperature": 0.9, "max_tokens": 24, "seed": number, "stop_ids": (3,), **sampling}
    return TokenRequest(list(ids), TokenSampling(**settings), session)


def generate(engine, requests):
    async def run():
        return await asyncio.gather(*(engine.generate(one) for one in requests))

    return asyncio.run(run())


async def publish(engine, source, version):
    return await InProcessTransport(engine).publish(source, version)


def expected(reference, prompt, reply, temperature=0.9):
    """Log-probabilities by the Hugging Face model, over the whole sequence at once."""
    with torch.no_grad():
        logits = reference(torch.tensor([[*prompt, *reply.ids]])).logits[0]
    scores = (logits[len(prompt) - 1 : -1] / temperature).log_softmax(-1)
    return scores[range(len(reply.ids)), reply.ids].tolist()


@pytest.mark.parametrize("name", sorted(FAMILIES))
def test_logits_equal_hugging_face(name):
    reference = model(name)
    assert is_llama_shaped(reference.config)
    ids = torch.tensor([prompt[:20] + [1] * (20 - len(prompt[:20])) for prompt in prompts(5)])
    with torch.no_grad():
        wanted = reference(ids).logits
    for invariant in (False, True):
        decoder = LlamaDecoder(reference, 512, invariant=invariant)
        assert torch.allclose(decoder.logits(ids), wanted, atol=2e-5)


@pytest.mark.parametrize("name", ["qwen3", "llama3 rope"])
def test_log_probabilities_equal_the_learners(name):
    reference = model(name)
    asked = [request(prompt, number) for number, prompt in enumerate(prompts(24))]
    for one, reply in zip(asked, generate(LocalEngine(reference, batch=8), asked), strict=True):
        assert reply.log_probabilities == pytest.approx(
            expected(reference, one.ids, reply), abs=1e-5
        )


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_a_reply_does_not_depend_on_the_batch(temperature):
    reference = model()
    asked = [request(p, n, temperature=temperature) for n, p in enumerate(prompts(20))]
    together = generate(LocalEngine(reference, batch=20), asked)
    crowded = generate(LocalEngine(reference, batch=3), list(reversed(asked)))[::-1]
    alone = [generate(LocalEngine(reference), [one])[0] for one in asked]
    for first, *others in zip(together, crowded, alone, strict=True):
        for other in others:
            assert other.ids == first.ids
            assert other.log_probabilities == pytest.approx(first.log_probabilities, abs=1e-5)


def test_invariant_replies_do_not_depend_on_the_batch_bit_for_bit():
    reference = model()

    async def late(engine, number):
        for _ in range(7 * number % 11):
            await asyncio.sleep(0)
        return await episode(engine, number)

    async def run(batch, order):
        engine = LocalEngine(reference, batch=batch, rows=9, invariant=True)
        turns = await asyncio.gather(*(late(engine, number) for number in order))
        return dict(zip(order, turns, strict=True))

    first, *others = [
        asyncio.run(run(batch, order))
        for batch, order in [(9, range(9)), (9, range(8, -1, -1)), (2, range(9)), (1, range(9))]
    ]
    assert all(other == first for other in others)


def test_runs_repeat_bit_for_bit():
    asked = [request(prompt, number) for number, prompt in enumerate(prompts(16))]
    first, *others = [generate(LocalEngine(model(), batch=5), asked) for _ in range(3)]
    assert all(other == first for other in others)


def test_seeds_determine_the_draws():
    prompt = prompts(1)[0]
    same = generate(LocalEngine(model()), [request(prompt, 7), request(prompt, 7)])
    other = generate(LocalEngine(model()), [request(prompt, 8)])
    assert same[0] == same[1]
    assert same[0].ids != other[0].ids


async def episode(engine, number, turns=4):
    """Play a conversation whose prompt grows by each reply and an observation."""
    ids, replies = prompts(40)[number], []
    for turn in range(turns):
        reply = await engine.generate(request(ids, 10 * number + turn, f"episode {number}"))
        replies.append((list(ids), reply))
        ids = [*ids, *reply.ids, 11, 12, 13]
    return replies


def test_conversation_prefills_only_new_tokens():
    reference = model()
    engine = LocalEngine(reference, batch=4, rows=16)

    async def run():
        return await asyncio.gather(*(episode(engine, number) for number in range(10)))

    played = asyncio.run(run())
    total = sum(len(turns[-1][0]) for turns in played)
    drawn = sum(len(reply.ids) for turns in played for _, reply in turns[:-1])
    # Each turn prefills its observation and the last sampled token of the turn before.
    assert engine.counts["read"] == total - drawn + 10 * 3
    for turns in played:
        for prompt, reply in turns:
            assert reply.log_probabilities == pytest.approx(
                expected(reference, prompt, reply), abs=1e-5
            )


def test_shared_prompt_is_prefilled_once():
    reference = model()
    engine = LocalEngine(reference, batch=4, rows=6)
    first, second, third = (prompt[:30] + [50, 51, 52] for prompt in prompts(3))
    group = [request(first, number, f"s{number}") for number in range(8)]
    # The batch has four rows: the others start later, when a row with the same prefix may be idle
    # or evicted.
    together = generate(engine, [*group, request(second, 8), request(second, 9)])
    assert engine.counts["read"] == len(first) + len(second)
    engine.forget("s0")
    generate(engine, [request(third, 10)])
    again = generate(engine, [request(first, 11), request(third, 12)])
    assert engine.counts["read"] == len(first) + len(second) + len(third)
    alone = [generate(LocalEngine(reference), [one])[0] for one in group]
    for one, other in zip(together, alone, strict=False):
        assert one.ids == other.ids
        assert one.log_probabilities == pytest.approx(other.log_probabilities, abs=1e-5)
    assert len({tuple(reply.ids) for reply in together[:8]}) > 1
    for ids, reply in zip((first, third), again, strict=True):
        assert reply.log_probabilities == pytest.approx(expected(reference, ids, reply), abs=1e-5)


@pytest.mark.parametrize(("batch", "rows"), [(3, 3), (4, 9), (16, 16)])
def test_shared_openings_do_not_change_replies(batch, rows):
    """Run groups of conversations in few rows; some are forgotten, some aborted."""
    reference = model()
    engine = LocalEngine(reference, batch=batch, rows=rows)
    openings = prompts(6, longest=30)
    spoken = []

    async def talk(number):
        draw = generator_for("talk", number)
        session = f"talk {number}" if draw.random() < 0.7 else ""
        ids = list(openings[int(draw.integers(6))])
        for _ in range(int(draw.integers(0, 6))):
            await asyncio.sleep(0)
        for turn in range(int(draw.integers(1, 4))):
            reply = await engine.generate(
                request(ids, 10 * number + turn, session, max_tokens=int(draw.integers(1, 12)))
            )
            spoken.append((ids, reply))
            ids = [*ids, *reply.ids, 11, 12]
            if draw.random() < 0.1:
                await engine.abort(f"talk {int(draw.integers(40))}")
        if session:
            engine.forget(session)

    async def run():
        await asyncio.gather(*(talk(number) for number in range(40)))

    asyncio.run(run())
    assert engine.counts["read"] < sum(len(ids) for ids, _ in spoken)
    for ids, reply in spoken:
        if reply.ids:
            assert reply.log_probabilities == pytest.approx(
                expected(reference, ids, reply), abs=1e-5
            )


def test_evicted_rows_are_prefilled_again():
    reference = model()

    async def run(engine):
        return await asyncio.gather(*(episode(engine, number) for number in range(12)))

    roomy = asyncio.run(run(LocalEngine(reference, batch=12, rows=12)))
    tight = asyncio.run(run(LocalEngine(reference, batch=2, rows=2)))
    assert [[r.ids for _, r in turns] for turns in roomy] == [
        [r.ids for _, r in turns] for turns in tight
    ]


def test_rewritten_history_is_prefilled_from_the_difference():
    reference = model()
    engine = LocalEngine(reference)
    first, changed = [5, 6, 7, 8, 9, 10], [5, 6, 7, 20, 21]
    (reply,) = generate(engine, [request(first, 1, "s")])
    before = engine.counts["read"]
    (other,) = generate(engine, [request(changed, 2, "s")])
    assert engine.counts["read"] - before == 2
    assert other.ids == generate(LocalEngine(reference), [request(changed, 2)])[0].ids
    assert other.log_probabilities == pytest.approx(expected(reference, changed, other), abs=1e-5)
    assert reply.ids


def test_aborted_request_returns_its_tokens():
    engine = LocalEngine(model())

    async def run():
        waiting = [
            asyncio.ensure_future(
                engine.generate(request([5, 6], n, f"s{n}", max_tokens=400, stop_ids=()))
            )
            for n in range(3)
        ]
        while engine.counts["drawn"] < 30:
            await asyncio.sleep(0)
        await engine.abort("s1")
        aborted = await waiting[1]
        assert not waiting[0].done()
        await engine.abort()
        return aborted, [await waiting[0], await waiting[2]]

    aborted, others = asyncio.run(run())
    whole = generate(LocalEngine(model()), [request([5, 6], 1, max_tokens=400, stop_ids=())])[0]
    assert aborted.finish == "abort"
    assert aborted.ids == whole.ids[: len(aborted.ids)]
    assert 0 < len(aborted.ids) < 400
    assert {reply.finish for reply in others} == {"abort"}


def test_a_cancelled_caller_frees_its_row():
    engine = LocalEngine(model(), batch=1)

    async def run():
        first = asyncio.ensure_future(
            engine.generate(request([5], 0, "s", max_tokens=400, stop_ids=()))
        )
        while engine.counts["drawn"] < 5:
            await asyncio.sleep(0)
        first.cancel()
        return await engine.generate(request([6, 7], 1))

    assert asyncio.run(run()) == generate(LocalEngine(model()), [request([6, 7], 1)])[0]


def test_tokens_carry_the_version_of_new_weights():
    reference, other = model(), model(seed=1)
    engine = LocalEngine(reference)
    prompt = [5, 6, 7]

    async def run():
        waiting = asyncio.ensure_future(
            engine.generate(request(prompt, 0, max_tokens=40, stop_ids=(), temperature=1.0))
        )
        while engine.counts["drawn"] < 10:
            await asyncio.sleep(0)
        reference.load_state_dict(other.state_dict())
        assert await publish(engine, reference, 1) < 1e-4
        return await waiting

    reply = asyncio.run(run())
    old, new = reply.spans
    assert (old.version, old.start, new.version, new.end) == (0, 0, 1, 40)
    assert old.end == new.start
    by_old = expected(model(), prompt, reply, 1.0)[: old.end]
    by_new = expected(other, prompt, reply, 1.0)[old.end :]
    assert reply.log_probabilities == pytest.approx([*by_old, *by_new], abs=1e-5)


def test_update_drops_all_caches():
    reference, other = model(), model(seed=1)
    engine = LocalEngine(reference)
    (first,) = generate(engine, [request([5, 6, 7], 0, "s")])
    reference.load_state_dict(other.state_dict())
    asyncio.run(publish(engine, reference, 1))
    for asked in (request([5, 6, 7, *first.ids, 11], 1, "s"), request([5, 6, 7], 2, "t")):
        assert generate(engine, [asked])[0].ids == generate(LocalEngine(other), [asked])[0].ids


def held(model):
    return [weight.detach().clone() for weight in model.parameters()]


def same(first, second):
    return all(torch.equal(one, other) for one, other in zip(first, second, strict=True))


def test_weights_of_another_model_object_are_copied(tmp_path):
    other = model(seed=1)
    other.save_pretrained(str(tmp_path))
    asked = request([5, 6, 7], 0)
    (wanted,) = generate(LocalEngine(other), [asked])
    for weights in (
        Weights(probe_of(other), model=other),
        Weights(probe_of(other), folder=tmp_path),
    ):
        reference = model()
        engine = LocalEngine(reference)
        assert asyncio.run(engine.update(weights, 4)) < 1e-4
        assert same(held(reference), held(other))
        (reply,) = generate(engine, [asked])
        assert reply.ids == wanted.ids
        assert reply.spans == [(4, 0, len(reply.ids))]


def test_weights_of_another_shape_are_rejected(tmp_path):
    reference, other = model(), model("llama")
    engine, before = LocalEngine(reference), held(reference)
    probe = probe_of(reference)
    for weights, words in (
        (Weights(probe, model=other), "a different model"),
        (Weights(probe, folder=tmp_path), "no safetensors"),
    ):
        with pytest.raises(EngineError, match=words):
            asyncio.run(engine.update(weights, 1))
    assert same(held(reference), before)
    assert engine.version == 0
    assert generate(engine, [request([5], 1)]) == generate(LocalEngine(model()), [request([5], 1)])


def test_failed_comparison_blocks_sampling_until_an_update_succeeds():
    reference = model()
    engine = LocalEngine(reference)
    stale = Weights(probe_of(model(seed=1)), model=reference)

    async def run():
        waiting = asyncio.ensure_future(
            engine.generate(request([5], 0, max_tokens=400, stop_ids=()))
        )
        while engine.counts["drawn"] < 5:
            await asyncio.sleep(0)
        with pytest.raises(WeightsDiffer, match="of engine and learner differ by"):
            await engine.update(stale, 1)
        for refused in (waiting, engine.generate(request([5]))):
            with pytest.raises(WeightsDiffer):
                await refused
        await publish(engine, reference, 2)
        return await engine.generate(request([5]))

    reply = asyncio.run(run())
    assert reply.spans == [(2, 0, len(reply.ids))]


def test_non_finite_weights_fail_the_comparison():
    reference = model()
    with torch.no_grad():
        reference.get_output_embeddings().weight[7] = float("nan")
    engine = LocalEngine(reference)
    with pytest.raises(WeightsDiffer, match="by nan"):
        asyncio.run(publish(engine, reference, 1))


def test_scores_are_log_probabilities():
    reference = model()
    ids = [5, 6, 7, 8]
    (result,) = LocalEngine(reference).score([ids])
    with torch.no_grad():
        wanted = reference(torch.tensor([ids])).logits[0].log_softmax(-1)
    assert result == pytest.approx([float(wanted[n, ids[n + 1]]) for n in range(3)], abs=1e-5)


@pytest.mark.parametrize(("top_p", "top_k"), [(0.7, 0), (1.0, 5), (0.7, 5), (1e-6, 0)])
def test_truncation_samples_only_likely_tokens(top_p, top_k):
    torch.manual_seed(0)
    logits = torch.randn(4000, 12)[:1].repeat(4000, 1)
    settings = [TokenSampling(top_p=top_p, top_k=top_k)] * 4000
    rows = RowSampling.of(settings, torch.device("cpu"))
    numbers = torch.rand(4000, 1)
    chosen, result = sample(logits, rows, numbers)
    share, order = logits[0].softmax(-1).sort(descending=True)
    kept = max(1, int(((share.cumsum(-1) - share) < top_p).sum()))
    if top_k:
        within = share[:top_k] / share[:top_k].sum()
        kept = max(1, int(((within.cumsum(-1) - within) < top_p).sum()))
    allowed = order[:kept]
    assert set(chosen.tolist()) == set(allowed.tolist())
    renormalised = logits[0][allowed].log_softmax(-1)
    for token, value in zip(chosen.tolist(), result.tolist(), strict=True):
        place = allowed.tolist().index(token)
        assert value == pytest.approx(float(renormalised[place]), abs=1e-5)


def test_draws_follow_the_distribution():
    torch.manual_seed(0)
    logits = torch.randn(1, 8).repeat(20_000, 1)
    rows = RowSampling.of([TokenSampling()] * 20_000, torch.device("cpu"))
    chosen, _ = sample(logits, rows, torch.rand(20_000, 1))
    result = torch.bincount(chosen, minlength=8) / 20_000
    assert torch.allclose(result, logits[0].softmax(-1), atol=0.015)


def test_the_temperature_follows_the_entropy_of_requests_with_heat():
    """The lowest log-entropy is 0, the median 1 and the highest 1.3."""
    torch.manual_seed(0)
    scale, logarithms = EntropyScale(0.0, 1.0, 1.3), (0.0, 0.5, 1.0, 1.15, 1.3)
    rows = torch.stack([_of_entropy(torch.randn(40), math.exp(log)) for log in logarithms])
    cases = [(0.2, (0.8, 0.9, 1.0, 1.1, 1.2)), (0.0, (1.0,) * 5)]
    for heat, temperatures in cases:
        settings = RowSampling.of([TokenSampling(heat=heat)] * 5, torch.device("cpu"), scale)
        chosen, values = sample(rows, settings, torch.full((5, 1), 0.5))
        for row, token, value, warmth in zip(rows, chosen, values, temperatures, strict=True):
            expected = (row / warmth).log_softmax(-1)[token]
            assert float(value) == pytest.approx(float(expected), abs=1e-4)
    beyond = RowSampling.of([TokenSampling(heat=0.2)], torch.device("cpu"), scale)
    certain = torch.tensor([[9.0, 0.0, 0.0]])
    _, (value,) = sample(certain, beyond, torch.tensor([[0.5]]))
    assert float(value) == pytest.approx(float((certain / 0.8).log_softmax(-1)[0, 0]), abs=1e-6)


def _of_entropy(logits, nats):
    """Scale logits so that their distribution has an entropy."""
    low, high = 0.0, 100.0
    for _ in range(80):
        middle = (low + high) / 2.0
        if float(entropies(logits[None] * middle)) > nats:
            low = middle
        else:
            high = middle
    return logits * low


def test_prompt_beyond_context_is_rejected():
    with pytest.raises(ContextOverflow, match="prompt of 600 tokens .* context of 512"):
        generate(LocalEngine(model()), [request([1] * 600)])


def test_reply_ends_at_the_context_limit():
    (reply,) = generate(LocalEngine(model()), [request([1] * 500, max_tokens=99, stop_ids=())])
    assert (len(reply.ids), reply.finish) == (12, "length")


def test_damaged_weights_give_one_line_error():
    reference = model()
    with torch.no_grad():
        reference.model.norm.weight.fill_(float("nan"))
    with pytest.raises(EngineError, match="logits are not finite"):
        generate(LocalEngine(reference), [request([1, 2])])


def test_unsupported_architectures_are_rejected():
    config = transformers.GPT2Config(n_layer=1, n_head=2, n_embd=16, vocab_size=50)
    with pytest.raises(EngineMissing, match="gpt2"):
        LocalEngine(transformers.AutoModelForCausalLM.from_config(config))


def test_closed_engine_raises():
    async def run():
        engine = LocalEngine(model())
        await engine.close()
        await engine.generate(request([1]))

    with pytest.raises(EngineError, match="closed"):
        asyncio.run(run())


class TimeLimit(BaseException):
    """Raised from outside at any point, as a test's time limit is."""


@pytest.mark.parametrize(
    ("error", "told"),
    [(ValueError, "the model failed: ValueError"), (TimeLimit, "the engine stopped: TimeLimit")],
)
def test_an_error_that_ends_a_step_reaches_every_waiter(error, told):
    class Raising:
        """An unusable temperature, which is first read when a step runs."""

        def refuse(self, *_: object) -> bool:
            raise error

        def __lt__(self, other: object) -> bool:
            return False

        __float__ = __gt__ = __eq__ = refuse
        __hash__ = object.__hash__

    engine = LocalEngine(model(), batch=2)
    asked = [request(prompt, number, max_tokens=400) for number, prompt in enumerate(prompts(4))]
    asked[1] = request(prompts(4)[1], 1, temperature=Raising())

    async def run():
        waiting = [asyncio.ensure_future(engine.generate(one)) for one in asked]
        outcomes = await asyncio.gather(*waiting, return_exceptions=True)
        again = await engine.generate(request([5]))
        with suppress(TimeLimit):
            await asyncio.gather(*asyncio.all_tasks() - {asyncio.current_task()})
        return outcomes, again

    outcomes, again = asyncio.run(run())
    assert [type(outcome) for outcome in outcomes] == [EngineError] * 4
    assert all(told in str(outcome) for outcome in outcomes)
    assert again.ids
