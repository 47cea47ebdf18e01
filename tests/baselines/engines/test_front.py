"""Policies that see: a convolutional encoder in place of the token embedding."""

import pytest

torch = pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")
pytest.importorskip("transformers", reason="pip install 'hexathlon[train]'")

import gymnasium
import numpy as np

from hexathlon.baselines.engines.local.decoder import LlamaDecoder
from hexathlon.baselines.engines.local.front import PatchEmbedding
from hexathlon.baselines.engines.local.loading import load_checkpoint
from hexathlon.baselines.tokens.patches import BLANK, FIRST_PATCH, patch_ids, places_of
from hexathlon.baselines.tokens.render import ChatRenderer
from hexathlon.baselines.warmstart.demonstrations import Demonstrator, Noise, sample_of, transcript
from hexathlon.baselines.warmstart.initial import (
    ModelShape,
    make_model,
    make_tokenizer,
    save_policy,
)
from hexathlon.evaluators.content import Image

SHAPE = ModelShape(vocabulary=300, width=32, layers=2, heads=2, kv_heads=1, feed_forward=64,
                   context=512, patches=4)  # fmt: skip


@pytest.fixture(scope="module")
def shown():
    noise = Noise(skipped=("wait",))
    with Demonstrator("pixels/GUIPixels-v0", gymnasium.make, noise, pictures=True) as player:
        return player.demonstrate("gui-pixels/settings_page/tiny/train/00000")


@pytest.fixture(scope="module")
def tokenizer(shown):
    texts = [message["content"] for message in transcript(shown, "compact")]
    return make_tokenizer(texts, 300, pictures=True)


@pytest.fixture(scope="module")
def model():
    return make_model(SHAPE, 300, 0).eval()


def ids(seed: int, words: int = 6):
    pixels = np.random.default_rng(seed).integers(0, 256, (30, 45, 3)).astype(np.uint8)
    return torch.tensor([[*range(words), *patch_ids(Image.from_array(pixels)), 7, 8]])


def test_demonstrations_show_the_request_and_pictures_only(shown, tokenizer):
    assert shown.opening.startswith("I want") and "switch" not in shown.opening
    assert shown.opening.endswith("<|image|>") and shown.turns[0][1] == "<|image|>"
    assert all(len(images) == 1 for images in shown.images[:-1]) and shown.reward == 1
    sample = sample_of(shown, "compact", ChatRenderer(tokenizer))
    patches = sample.ids >= FIRST_PATCH
    pictures = [image for images in shown.images[:-1] for image in images]
    assert sample.ids[patches].tolist() == [one for each in pictures for one in patch_ids(each)]
    assert 20 * len(pictures) < patches.sum() < 50 * len(pictures)  # of 99, most are blank
    assert not (patches & (sample.sampled | sample.observed)).any()


def test_the_decoder_computes_the_models_function(model):
    for seed in range(3):
        with torch.no_grad():
            wanted = model(input_ids=ids(seed)).logits
        found = LlamaDecoder(model, 512).logits(ids(seed))
        assert torch.allclose(found, wanted, atol=1e-4)


def test_what_follows_a_picture_depends_on_its_pixels(model):
    decoder = LlamaDecoder(model, 512)
    one, other = (decoder.logits(ids(seed))[0] for seed in (1, 2))
    assert torch.equal(one[:6], other[:6]) and not torch.allclose(one[-1], other[-1])


def test_a_checkpoint_keeps_the_encoder(model, tokenizer, tmp_path):
    save_policy(tmp_path / "policy", model, tokenizer)
    loaded = load_checkpoint(tmp_path / "policy").model
    assert isinstance(loaded.get_input_embeddings(), PatchEmbedding)
    assert loaded.state_dict().keys() == model.state_dict().keys()
    with torch.no_grad():
        assert torch.equal(loaded(input_ids=ids(1)).logits, model(input_ids=ids(1)).logits)


def test_a_patch_is_encoded_alike_whatever_else_a_pass_contains(model):
    front, many = model.get_input_embeddings(), ids(1)
    with torch.no_grad():
        whole = front(many)
        assert torch.equal(front(many[:, 6:7]), whole[:, 6:7])
        assert torch.equal(front(torch.cat([ids(2), many]))[1], whole[0])
    assert torch.allclose(front(many), whole, atol=1e-6)


def test_blank_patches_are_their_place_and_contents_weigh_as_much(model):
    front = model.get_input_embeddings()
    drawn = ids(1, words=0)[0, :-2]
    blank = drawn | BLANK
    with torch.no_grad():
        rows, columns = places_of(blank)
        place = front.row(rows) + front.column(columns)
        assert torch.allclose(front.encode(blank), place)
        contents = (front.encode(drawn) - place).norm(dim=-1)
    assert (contents > 0.5 * place.norm(dim=-1)).all()


def test_gradients_reach_the_encoder(model):
    model.zero_grad()
    model(input_ids=ids(1)).logits[0, -1].logsumexp(-1).backward()
    front = model.get_input_embeddings()
    assert all(part.grad is not None and part.grad.abs().sum() > 0 for part in front.parameters())
    model.zero_grad()


def test_texts_cannot_place_pictures(tokenizer):
    from hexathlon.baselines.codecs.parts import pictured

    assert pictured(["a <|image|> b"], "<|image|>") == (["a  b"], [])


def test_induction_and_patches_exclude_each_other():
    with pytest.raises(ValueError, match="exclude"):
        ModelShape(patches=4, induction=2)
