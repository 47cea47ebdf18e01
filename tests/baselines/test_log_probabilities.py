"""Scores of a real, tiny checkpoint are log-probabilities."""

import math

import pytest

from hexathlon.baselines.roleplay.log_probabilities import CheckpointScorer, ScorerUnavailable
from hexathlon.evaluators.roleplay.emid import Exchange, role_play_shift

WORDS = ["<s>", "salt", "keep", "you", "storm", "lamp", "tide", "who", "are"]


def test_directory_without_checkpoint_is_rejected(tmp_path):
    with pytest.raises(ScorerUnavailable, match="config.json|pip install"):
        CheckpointScorer(tmp_path)


@pytest.fixture(scope="module")
def scorer(tmp_path_factory):
    torch = pytest.importorskip("torch", reason="scoring needs torch")
    transformers = pytest.importorskip("transformers", reason="scoring needs transformers")
    tokenizers = pytest.importorskip("tokenizers")
    torch.set_num_threads(1)
    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("checkpoint")
    vocabulary = {word: place for place, word in enumerate(WORDS)}
    model = tokenizers.models.WordLevel(vocabulary, unk_token="<s>")
    raw = tokenizers.Tokenizer(model)
    raw.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    transformers.PreTrainedTokenizerFast(tokenizer_object=raw, bos_token="<s>").save_pretrained(
        folder
    )
    config = transformers.GPT2Config(
        vocab_size=len(WORDS), n_embd=16, n_layer=1, n_head=2, n_positions=16,
        bos_token_id=0, eos_token_id=0,
    )  # fmt: skip
    transformers.GPT2LMHeadModel(config).save_pretrained(folder)
    return CheckpointScorer(folder)


def test_probabilities_of_single_tokens_sum_to_one(scorer):
    total = math.fsum(math.exp(scorer("who are you", word)) for word in WORDS[1:])
    assert total < 1.0
    assert total + math.exp(scorer("who are you", "unheard")) == pytest.approx(1.0, abs=1e-5)


def test_a_reply_is_scored_token_by_token(scorer):
    whole = scorer("who are", "you keep salt")
    parts = [("who are", "you"), ("who are you", "keep"), ("who are you keep", "salt")]
    assert whole == pytest.approx(math.fsum(scorer(*part) for part in parts), abs=1e-4)
    assert scorer.length("you keep salt") == 3
    assert scorer("who", "") == 0.0


def test_long_context_is_truncated_at_its_beginning(scorer):
    near = "lamp tide " * 6
    assert scorer("storm " * 40 + near, "salt keep you") == pytest.approx(
        scorer("storm " * 80 + near, "salt keep you"), abs=1e-5
    )
    with pytest.raises(ValueError, match="no room"):
        scorer("who", "salt " * 20)


def test_r_emid_from_a_checkpoint(scorer):
    rows = [Exchange(f"{w} you", f"{w} keep", f"keep {w}") for w in WORDS[1:]]
    shifted = [Exchange(f"{w} you", "tide tide", f"keep {w}") for w in WORDS[1:]]
    result = role_play_shift(scorer, rows, shifted, length=scorer.length)
    assert math.isfinite(result.value) and result.interval[0] <= result.value <= result.interval[1]
