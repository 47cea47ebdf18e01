"""The compiled decoder: the numbers of the Hugging Face model, whatever else is in the pass."""

import pytest

torch = pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")
transformers = pytest.importorskip("transformers", reason="pip install 'hexathlon[train]'")

from hexathlon.baselines.engines.errors import EngineMissing
from hexathlon.baselines.engines.local.compiled import (
    BlockedStore,
    CompiledDecoder,
    compiled_cause,
)
from hexathlon.baselines.engines.local.decoder import LlamaDecoder
from hexathlon.baselines.engines.local.engine import LocalEngine
from hexathlon.baselines.kernels.library import KernelsMissing, kernels

try:
    kernels()
except KernelsMissing as error:
    pytest.skip(str(error), allow_module_level=True)

VOCABULARY = 97
SHAPES = {
    "qwen3": (transformers.Qwen3Config, {"head_dim": 16}),
    "wide heads": (transformers.Qwen3Config, {"head_dim": 128, "num_key_value_heads": 1}),
    "heads of three queries": (
        transformers.Qwen3Config, {"head_dim": 32, "num_attention_heads": 6},
    ),
    "biased": (
        transformers.LlamaConfig,
        {"head_dim": 64, "attention_bias": True, "mlp_bias": True, "intermediate_size": 90},
    ),
    "qwen2": (transformers.Qwen2Config, {"hidden_size": 64, "num_key_value_heads": 4}),
}  # fmt: skip


def model(name="qwen3"):
    kind, more = SHAPES[name]
    shape = {
        "vocab_size": VOCABULARY, "hidden_size": 48, "intermediate_size": 96,
        "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
        "max_position_embeddings": 512,
    }  # fmt: skip
    torch.manual_seed(0)
    made = transformers.AutoModelForCausalLM.from_config(
        kind(**{**shape, **more}), attn_implementation="sdpa"
    )
    with torch.no_grad():
        for weight in made.parameters():
            # Sharper than at initialisation, and norms and biases that matter.
            weight.copy_(
                2 * weight if weight.dim() > 1 else weight + 0.3 * torch.randn_like(weight)
            )
    return made.float().eval()


def ids(rows, tokens, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(0, VOCABULARY, (rows, tokens), generator=generator)


@pytest.mark.parametrize("name", sorted(SHAPES))
@pytest.mark.parametrize("tokens", [1, 2, 15, 16, 17, 33, 150])
def test_logits_equal_hugging_face(name, tokens):
    reference, given = model(name), ids(3, tokens)
    assert compiled_cause(reference) == ""
    with torch.no_grad():
        wanted = reference(given).logits
    result = CompiledDecoder(reference, 512).logits(given)
    assert torch.allclose(result, wanted, atol=2e-5 * float(wanted.abs().max()))


@pytest.mark.parametrize("name", sorted(SHAPES))
def test_a_token_is_the_same_in_every_pass_bit_for_bit(name):
    """Alone, in a prompt, among proposed tokens, and beside other rows of any number and length."""
    reference, given = model(name), ids(9, 70)
    decoder = CompiledDecoder(reference, 512)
    whole = decoder.logits(given)
    for rows in (1, 2, 3, 5, 9):
        assert torch.equal(decoder.logits(given[:rows]), whole[:rows])
        store = decoder.store(12, 100)
        start = torch.zeros(rows, dtype=torch.long)
        lengths = torch.arange(rows) * 7 + 1
        first = decoder.forward(given[:rows], start, store, lengths - 1, 2)
        assert torch.equal(first, whole[range(rows), lengths - 1])
        store = decoder.store(12, 100)
        decoder.forward(given[:rows, :40], start, store, start + 39)
        for place in range(40, 50):
            alone = decoder.forward(given[:rows, place, None], start + place, store, start)
            assert torch.equal(alone, whole[:rows, place])
        ahead = decoder.verify(given[:rows, 50:59], start + 50, store)
        assert torch.equal(ahead, whole[:rows, 50:59])


def test_rows_can_be_copied_swapped_and_grown():
    reference, given = model(), ids(4, 60)
    decoder = CompiledDecoder(reference, 512)
    whole, start = decoder.logits(given), torch.zeros(4, dtype=torch.long)
    store = decoder.store(6, 40)
    decoder.forward(given[:, :37], start, store, start + 36)
    store.copy(0, 5, 20)
    store.swap(1, 2, 37)
    store = store.grown(9, 100)
    assert isinstance(store, BlockedStore)
    assert (store.rows, store.length) == (9, 112)
    again = decoder.forward(given[[0, 2, 1, 3], 37, None], start + 37, store, start)
    assert torch.equal(again, whole[[0, 2, 1, 3], 37])
    copied = decoder.forward(given[:1, 20, None], start[:1] + 20, store, start, 5)
    assert torch.equal(copied, whole[:1, 20])


def test_new_weights_are_used():
    reference, given = model(), ids(2, 20)
    decoder = CompiledDecoder(reference, 512)
    before = decoder.logits(given)
    with torch.no_grad():
        reference.model.layers[1].mlp.up_proj.weight.mul_(1.5)
        wanted = reference(given).logits
    assert torch.equal(decoder.logits(given), before)
    decoder.refresh()
    assert torch.allclose(decoder.logits(given), wanted, atol=2e-5 * float(wanted.abs().max()))


def test_the_default_type_of_tensors_does_not_matter():
    reference, given = model("biased"), ids(2, 20)
    usual = CompiledDecoder(reference, 512).logits(given)
    torch.set_default_dtype(torch.float64)
    try:
        assert torch.equal(CompiledDecoder(reference, 512).logits(given), usual)
    finally:
        torch.set_default_dtype(torch.float32)


def test_other_models_are_left_to_torch():
    half = model()
    half.model.layers[1].mlp.down_proj.to(torch.bfloat16)
    assert "not torch.bfloat16 on cpu" in compiled_cause(half)
    kind, shape = transformers.Qwen3Config, {"num_hidden_layers": 1, "vocab_size": 20}
    narrow = transformers.AutoModelForCausalLM.from_config(
        kind(**shape, hidden_size=40, head_dim=16)
    )
    assert "multiple of 16, not 40" in compiled_cause(narrow)
    odd = transformers.AutoModelForCausalLM.from_config(kind(**shape, hidden_size=48, head_dim=24))
    assert "heads of width 24" in compiled_cause(odd)


def test_weights_that_are_no_numbers_give_none():
    reference = model()
    with torch.no_grad():
        reference.model.layers[0].self_attn.v_proj.weight[0, 0] = float("nan")
    assert bool(CompiledDecoder(reference, 512).logits(ids(1, 3)).isnan().any())


def test_the_engine_uses_it_where_it_runs():
    assert isinstance(LocalEngine(model())._decoder, CompiledDecoder)
    assert type(LocalEngine(model(), compiled=False)._decoder) is LlamaDecoder
    double = model().double()
    assert type(LocalEngine(double)._decoder) is LlamaDecoder
    with pytest.raises(EngineMissing, match="32-bit floats"):
        LocalEngine(double, compiled=True)
