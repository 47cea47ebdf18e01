"""Speculative decoding: the same replies as without, and a length that follows measured costs."""

import asyncio
from itertools import count

import pytest

torch = pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")
transformers = pytest.importorskip("transformers", reason="pip install 'hexathlon[train]'")

from hexathlon.baselines.engines.local.decoder import LlamaDecoder
from hexathlon.baselines.engines.local.engine import LocalEngine
from hexathlon.baselines.engines.local.products import MOST_ROWS, steady_rows
from hexathlon.baselines.engines.local.speculation import NgramDrafter, Pace
from hexathlon.baselines.tokens.requests import EntropyScale, TokenRequest, TokenSampling
from hexathlon.tasks.seeding import generator_for

VOCABULARY = 61


def model(sharp=4.0, heads=4, kv_heads=2):
    """Return a model that repeats itself often, as a trained policy does."""
    torch.manual_seed(3)
    made = transformers.AutoModelForCausalLM.from_config(
        transformers.LlamaConfig(
            vocab_size=VOCABULARY,
            hidden_size=128,
            intermediate_size=256,
            num_hidden_layers=2,
            num_attention_heads=heads,
            num_key_value_heads=kv_heads,
            max_position_embeddings=300,
        )  # fmt: skip
    )
    with torch.no_grad():
        made.lm_head.weight.mul_(sharp)
    return made.float().eval()


def requests(temperature, amount=7, **more):
    draw = generator_for("speculated prompts")
    for number in range(amount):
        ids = draw.integers(0, VOCABULARY, size=int(draw.integers(2, 60))).tolist()
        settings = {
            "temperature": temperature, "max_tokens": 60, "seed": number, "stop_ids": (7,),
            "entropies": number % 2 == 0, **more,
        }  # fmt: skip
        yield TokenRequest(ids, TokenSampling(**settings))


def replies(asked, reference, speculate, batch=3, invariant=True):
    engine = LocalEngine(reference, batch=batch, invariant=invariant, speculate=speculate)
    engine.entropy_scale = EntropyScale(-1.0, 0.5, 1.5)  # read by requests with heat

    async def run():
        return await asyncio.gather(*map(engine.generate, asked))

    return asyncio.run(run()), engine.counts


@pytest.fixture
def always(monkeypatch):
    """Propose as many tokens as allowed, whatever a pass costs here."""
    monkeypatch.setattr(Pace, "choose", lambda pace, rows: pace.lengths[-1])


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("heads", [(4, 2), (4, 4), (8, 1)])
@pytest.mark.parametrize(
    "sampling", [(0.0, {}), (1.0, {}), (0.7, {"top_p": 0.9, "top_k": 20}), (1.0, {"heat": 0.3})]
)
def test_replies_are_those_without_speculation_bit_for_bit(heads, sampling):
    temperature, more = sampling
    reference, asked = model(8.0, *heads), list(requests(temperature, **more))
    plain, _ = replies(asked, reference, 0)
    for length in (1, 4, 9):
        ahead, counts = replies(asked, reference, length)
        assert ahead == plain
        assert counts["proposed"] > counts["accepted"] > 0


@pytest.mark.usefixtures("always")
def test_replies_without_invariance_have_the_same_tokens():
    reference, asked = model(), list(requests(1.0))
    plain, _ = replies(asked, reference, 0, invariant=False)
    ahead, _ = replies(asked, reference, 4, invariant=False)
    assert [reply.ids for reply in ahead] == [reply.ids for reply in plain]


@pytest.mark.usefixtures("always")
def test_a_reply_ends_at_its_limits():
    """At a stop token among accepted ones, at the last token allowed, and at the context's end."""
    reference = model(40.0)
    asked = [
        TokenRequest([*range(8, 20)] * 20, TokenSampling(temperature=0, max_tokens=100)),
        TokenRequest([*range(8, 20)] * 3, TokenSampling(temperature=0, max_tokens=5)),
        TokenRequest([30, 31] * 145, TokenSampling(temperature=0, max_tokens=100)),
    ]
    plain, _ = replies(asked, reference, 0)
    stopped = TokenRequest(
        asked[0].ids, TokenSampling(temperature=0, max_tokens=100, stop_ids=(plain[0].ids[20],))
    )
    ahead, _ = replies([*asked, stopped], reference, 6)
    assert ahead[:3] == plain
    assert (len(ahead[1].ids), ahead[1].finish) == (5, "length")
    assert (len(ahead[2].ids), ahead[2].finish) == (10, "length")
    end = plain[0].ids.index(plain[0].ids[20]) + 1
    assert (ahead[3].ids, ahead[3].finish) == (plain[0].ids[:end], "stop")


@pytest.mark.slow
@pytest.mark.usefixtures("always")
def test_the_distribution_of_samples_fits_the_models():
    """Chi-squared over the second token, given the first, of 4,000 replies with other seeds."""
    reference, prompt = model(4.0), [5, 6, 7, 8, 5, 6, 7]
    settings = [TokenSampling(max_tokens=5, seed=seed) for seed in range(4000)]
    asked = [TokenRequest(prompt, one) for one in settings]
    ahead, counts = replies(asked, reference, 2, batch=2)
    assert counts["accepted"] > 50
    decoder = LlamaDecoder(reference, 300)
    first = max(range(VOCABULARY), key=lambda t: sum(reply.ids[0] == t for reply in ahead))
    seconds = [reply.ids[1] for reply in ahead if reply.ids[0] == first]
    expected = decoder.logits(torch.tensor([[*prompt, first]]))[0, -1].softmax(-1) * len(seconds)
    kept = expected >= 5
    observed = torch.bincount(torch.tensor(seconds), minlength=VOCABULARY)
    groups = [(observed[kept], expected[kept]), (observed[~kept].sum(), expected[~kept].sum())]
    statistic = sum(float(((seen - due) ** 2 / due).sum()) for seen, due in groups)
    freedom = int(kept.sum())
    assert freedom > 5
    assert statistic < freedom + 4 * (2 * freedom) ** 0.5


def test_a_pass_over_proposed_tokens_equals_single_passes():
    reference = model()
    decoder = LlamaDecoder(reference, 300, invariant=True)
    ids = torch.tensor([[*range(1, 41)], [*range(20, 60)]])

    def opened():
        store = decoder.store(4, 100)
        decoder.forward(ids[:, :30], torch.tensor([0, 0]), store, torch.tensor([29, 29]))
        return store

    store = opened()
    single = [
        decoder.forward(ids[:, place, None], torch.tensor([place] * 2), store, torch.tensor([0, 0]))
        for place in range(30, 40)
    ]
    together = decoder.verify(ids[:, 30:], torch.tensor([30, 30]), opened())
    assert torch.equal(together, torch.stack(single, 1))


@pytest.mark.parametrize("inputs", [48, 96, 128, 256, 520])
def test_products_of_steady_rows_do_not_depend_on_their_number(inputs):
    least = steady_rows(64, inputs, torch.float32, "cpu")
    rows, weight = torch.randn(64, inputs), torch.randn(64, inputs)
    whole = torch.nn.functional.linear(rows, weight)
    assert 1 <= least <= MOST_ROWS
    for number in range(least, 65):
        assert torch.equal(torch.nn.functional.linear(rows[:number], weight), whole[:number])


def test_the_drafter_follows_the_most_recent_text():
    drafter = NgramDrafter()
    drafter.observe([1, 2, 3, 4, 5])
    assert drafter.propose([9, 1, 2], 5) == [3, 4, 5]
    drafter.observe([1, 2, 8, 8, 8])
    assert drafter.propose([9, 1, 2], 4) == [8, 8, 8, 8]
    assert drafter.propose([3, 3], 4) == []


def test_the_drafter_forgets_the_oldest():
    drafter = NgramDrafter(entries=30)
    drafter.observe([1, 2, 3])
    for start in count(10, 10):
        drafter.observe(list(range(start, start + 10)))
        if start > 100:
            break
    assert drafter.propose([1, 2], 1) == []
    assert drafter.propose([108, 109], 1) == []
    assert drafter.propose([107, 108], 1) == [109]


def test_the_pace_stops_above_the_break_even_and_follows_acceptance():
    """A pass costs 1 at up to two rows, and its number of tokens above them."""
    pace = Pace(7)

    def play(rows, share):
        chosen = []
        for _ in range(400):
            length = pace.choose(rows)
            pace.measured(rows, length, 1.0 if rows <= 2 else 1.0 + length)
            pace.judged(round(10 * share), 10 - round(10 * share))
            chosen.append(length)
        return max(set(chosen[100:]), key=chosen[100:].count)

    assert play(1, 0.9) == 7
    assert play(64, 0.9) == 0
    assert play(1, 0.0) in pace.lengths
    assert pace.tokens(3) == pytest.approx(1.0, abs=0.01)


def test_lengths_chosen_by_measured_costs_change_no_reply():
    reference, asked = model(8.0), list(requests(1.0))
    assert replies(asked, reference, 6)[0] == replies(asked, reference, 0)[0]
