"""Compiled layers give the results and gradients of transformers' own."""

import copy

import pytest

torch = pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")
transformers = pytest.importorskip("transformers", reason="pip install 'hexathlon[train]'")

from hexathlon.baselines.kernels.library import KernelsMissing, kernels
from hexathlon.baselines.learner import compiled
from hexathlon.baselines.learner.compiled import CompiledNorm, compile_layers
from hexathlon.baselines.learner.norms import fuse_norms

try:
    kernels()
except KernelsMissing as error:
    pytest.skip(str(error), allow_module_level=True)


@pytest.fixture(autouse=True)
def one_thread():
    """The kernels compute with one thread only."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


SHAPES = {
    "qwen3": (transformers.Qwen3Config, {"head_dim": 32}),
    "narrow heads": (transformers.Qwen3Config, {"head_dim": 16, "num_key_value_heads": 4}),
    "llama": (transformers.LlamaConfig, {"head_dim": 64, "attention_bias": True}),
    "qwen2": (transformers.Qwen2Config, {"hidden_size": 128}),
    "mistral": (transformers.MistralConfig, {"head_dim": 16, "sliding_window": None}),
}


def model(name="qwen3"):
    kind, more = SHAPES[name]
    shape = {
        "vocab_size": 61, "hidden_size": 48, "intermediate_size": 80, "num_hidden_layers": 2,
        "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 256,
    }  # fmt: skip
    torch.manual_seed(0)
    made = transformers.AutoModelForCausalLM.from_config(
        kind(**{**shape, **more}), attn_implementation="sdpa"
    )
    with torch.no_grad():
        for weight in made.parameters():
            weight.copy_(
                2 * weight if weight.dim() > 1 else weight + 0.3 * torch.randn_like(weight)
            )
    return made.float().train()


def changed(plain):
    """A copy with compiled layers: per layer attention, feed-forward and norms."""
    made = copy.deepcopy(plain)
    fuse_norms(made)
    assert compile_layers(made) >= 2 * 4 + 1
    assert type(made.model.layers[0].mlp).__name__.startswith("Compiled")
    assert type(made.model.layers[0].self_attn).__name__.startswith("Compiled")
    assert type(made.model.norm) is CompiledNorm
    assert made.state_dict().keys() == plain.state_dict().keys()
    return made


def passed(made, rows=3, tokens=41, **more):
    """Logits, and the gradients of all parameters that have one."""
    generator = torch.Generator().manual_seed(1)
    ids = torch.randint(0, 61, (rows, tokens), generator=generator)
    logits = made(input_ids=ids, use_cache=False, **more).logits
    weights = torch.linspace(-1, 1, logits.numel(), dtype=logits.dtype).view_as(logits)
    (logits.tanh() * weights).sum().backward()
    gradients = {name: p.grad for name, p in made.named_parameters() if p.grad is not None}
    return {"logits": logits.detach(), **gradients}


def error(result, exact):
    """The error as a fraction of the largest entry."""
    return float((result.double() - exact.double()).abs().max() / exact.abs().max())


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize("name", sorted(SHAPES))
def test_results_and_gradients_are_as_exact(name, fast, monkeypatch):
    monkeypatch.setattr(compiled, "has_fast_mkl", lambda: fast)
    plain = model(name)
    ours, theirs = passed(changed(plain)), passed(copy.deepcopy(plain))
    exact = passed(copy.deepcopy(plain).double())
    assert ours.keys() == theirs.keys() == exact.keys()
    for key, true in exact.items():
        assert ours[key].shape == true.shape
        assert error(ours[key], true) < max(3 * error(theirs[key], true), 2e-6), key


@pytest.mark.parametrize("tokens", [1, 63, 64, 65, 300])
def test_any_number_of_tokens(tokens):
    plain = model()
    ours, theirs = passed(changed(plain), 1, tokens), passed(plain, 1, tokens)
    for key, value in theirs.items():
        # A single token attends to itself alone: its query and key have no gradient but noise.
        if tokens > 1 or not any(part in key for part in ("q_", "k_")):
            assert error(ours[key], value) < 1e-5, key


@pytest.mark.parametrize("fast", [False, True])
def test_the_default_type_of_tensors_does_not_matter(fast, monkeypatch):
    monkeypatch.setattr(compiled, "has_fast_mkl", lambda: fast)
    plain = model()
    usual, again = passed(changed(plain)), changed(plain)
    torch.set_default_dtype(torch.float64)
    try:
        other = passed(again)
    finally:
        torch.set_default_dtype(torch.float32)
    assert all(torch.equal(other[key], value) for key, value in usual.items())


def test_positions_of_their_own_for_each_row():
    plain = model()
    positions = torch.stack([torch.arange(41) + begin for begin in (0, 5, 9)])
    ours = passed(changed(plain), position_ids=positions)
    theirs = passed(plain, position_ids=positions)
    assert all(error(ours[key], value) < 1e-5 for key, value in theirs.items())


def test_frozen_parameters_get_no_gradient():
    plain = model()
    for name, parameter in plain.named_parameters():
        parameter.requires_grad_("layers.0" in name and "up_proj" in name)
    ours, theirs = passed(changed(plain)), passed(plain)
    assert ours.keys() == theirs.keys() == {"logits", "model.layers.0.mlp.up_proj.weight"}
    assert all(error(ours[key], value) < 1e-5 for key, value in theirs.items())


def test_what_the_kernels_do_not_compute_is_left_to_torch():
    """Double precision, autocast, hooks and adapters, also those added later."""
    plain = model()
    double = passed(changed(plain).double())
    assert all(torch.equal(double[k], v) for k, v in passed(copy.deepcopy(plain).double()).items())
    with torch.autocast("cpu", torch.bfloat16):
        lower = passed(changed(plain))["logits"]
    assert error(lower, double["logits"]) > 1e-4
    hooked, calls = changed(plain), []
    hooked.model.layers[0].mlp.gate_proj.register_forward_hook(lambda *_: calls.append("gate"))
    hooked.model.layers[1].self_attn.q_proj.register_forward_hook(lambda *_: calls.append("q"))
    passed(hooked)
    assert calls == ["gate", "q"]


def test_several_threads_are_torchs():
    plain = model()
    made = changed(plain)
    ours = passed(made)
    torch.set_num_threads(2)
    theirs, again = passed(plain), passed(copy.deepcopy(plain))
    made.zero_grad()
    result = passed(made)
    assert all(torch.equal(again[key], value) for key, value in theirs.items())
    # Norms are those of `fuse_norms`.
    assert all(error(result[key], value) < 1e-5 for key, value in theirs.items())
    assert any(not torch.equal(result[key], value) for key, value in ours.items())


def test_training_repeats_bit_for_bit():
    first, second = passed(changed(model())), passed(changed(model()))
    assert all(torch.equal(second[key], value) for key, value in first.items())


def test_dropout_of_attention_is_kept():
    plain = model()
    for layer in plain.model.layers:
        layer.self_attn.attention_dropout = 0.5
    made = changed(plain)
    torch.manual_seed(3)
    first = passed(made)["logits"]
    assert error(passed(made)["logits"], first) > 1e-3
    made.eval()
    assert torch.equal(passed(made)["logits"], passed(made)["logits"])
