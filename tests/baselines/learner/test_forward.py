"""The learner's own forward: the Hugging Face model's states and gradients, or its forward itself."""

import pytest

torch = pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")
pytest.importorskip("transformers", reason="pip install 'hexathlon[train]'")

from hexathlon.baselines.learner.batching import SharedPrefix
from hexathlon.baselines.learner.forward import fits, llama_states
from support.families import FAMILIES, VOCABULARY, model

ROWS, LENGTH, SHARED = 6, 20, 7


def asked():
    ids = torch.randint(0, VOCABULARY, (ROWS, LENGTH), generator=torch.Generator().manual_seed(1))
    index = torch.tensor([0, 1, 1, 0, 2, 1])
    firsts = torch.tensor([0, 1, 4])
    ids[:, :SHARED] = ids[firsts[index], :SHARED]
    return ids, SharedPrefix(SHARED, firsts, index)


def trained(name):
    made = model(name).train()
    with torch.no_grad():
        for weight in made.parameters():
            if weight.dim() == 1:  # norms at 1 would hide a forgotten weight
                weight.add_(torch.randn_like(weight) * 0.3)
    return made.get_decoder()


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("name", sorted(FAMILIES))
def test_states_and_gradients_are_those_of_the_hugging_face_model(name, shared):
    decoder = trained(name)
    assert fits(decoder)
    ids, prefix = asked()
    wanted = decoder(input_ids=ids, use_cache=False).last_hidden_state
    weight = torch.randn_like(wanted)
    wanted_gradients = torch.autograd.grad((wanted * weight).sum(), list(decoder.parameters()))
    states = llama_states(decoder, ids, prefix if shared else None)
    gradients = torch.autograd.grad((states * weight).sum(), list(decoder.parameters()))
    torch.testing.assert_close(states, wanted, rtol=0, atol=2e-5)
    for (part, _), one, other in zip(
        decoder.named_parameters(), gradients, wanted_gradients, strict=True
    ):
        assert float((one - other).norm()) <= 5e-5 * float(other.norm()), part


def test_what_it_does_not_compute_goes_through_the_model() -> None:
    from peft import LoraConfig, get_peft_model

    assert not fits(torch.nn.Linear(2, 2))
    assert not fits(model().bfloat16().get_decoder())
    dropping = model().train()
    dropping.config.attention_dropout = 0.1
    assert not fits(dropping.get_decoder())
    assert fits(dropping.eval().get_decoder())
    saving = model().train()
    saving.gradient_checkpointing_enable()
    assert not fits(saving.get_decoder())
    adapted = get_peft_model(model(), LoraConfig(r=2, target_modules=["v_proj"]))
    assert not fits(adapted.get_base_model().get_decoder())
    with torch.autocast("cpu", torch.bfloat16):
        assert not fits(model().get_decoder())
