"""A small policy from scratch: a tokenizer of an event's own words and an untrained model.

The tokenizer is byte-level BPE, so no text is unknown to it; the model is a Qwen3. Both are saved
as a Hugging Face checkpoint.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import ascii_lowercase, ascii_uppercase
from typing import Any

from hexathlon.baselines.tokens.patches import IMAGE_TOKEN
from hexathlon.baselines.warmstart.induction import plant_induction

__all__ = [
    "CHAT_TEMPLATE",
    "ModelShape",
    "make_model",
    "make_tokenizer",
    "save_policy",
    "word_pieces",
]

CHAT_TEMPLATE = """{%- for message in messages -%}
<|im_start|>{{ message.role }}
{{ message.content }}<|im_end|>
{% endfor -%}
{%- if add_generation_prompt -%}<|im_start|>assistant
{% endif -%}"""

_CAPITAL = "\ue000"
"""Marks a capital; from the private use area, so it occurs in no text."""

_WORD = "\ue001"
"""Marks the beginning of a word."""

_APART = re.compile(rf"[^a-z0-9{_CAPITAL}{_WORD}].{{6,}}[^A-Za-z0-9\s{_CAPITAL}{_WORD}]")
"""A line whose first and last characters belong to no word."""

_NUMBER = re.compile(r" *\d+\. ")
"""The number of a list item; the same line has other numbers elsewhere."""

_SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")


@dataclass(frozen=True, slots=True)
class ModelShape:
    """Size of an untrained model."""

    vocabulary: int = 1024
    width: int = 128
    layers: int = 4
    heads: int = 4
    kv_heads: int = 2
    head_width: int = 0
    """Width of one head; 0 divides the model's width among the heads."""

    feed_forward: int = 384
    context: int = 1024
    rope_theta: float = 10_000.0
    induction: int = 0
    """Number of tokens that planted induction heads compare; 0 plants none. See `induction.py` for
    the shapes that have room for them."""

    patches: int = 0
    """Channels of the convolutional encoder of pictures; 0 for a policy that reads text only."""

    phrases: float = 0.0
    """Minimum share of texts with a line for it to become a single token; 0 for none."""

    def __post_init__(self) -> None:
        if not 0 <= self.phrases <= 1:
            raise ValueError(f"phrases must be a share from 0 to 1, got {self.phrases}")
        if self.patches < 0:
            raise ValueError(f"patches must be at least 0 channels, got {self.patches}")
        if self.patches and self.induction:
            raise ValueError("set induction or patches: planted heads exclude a picture encoder")
        if self.induction < 0:
            raise ValueError(f"induction must be at least 0 tokens, got {self.induction}")


def make_tokenizer(
    texts: Iterable[str], vocabulary: int, phrases: float = 0.0, *, pictures: bool = False
) -> Any:
    """Train a byte-level BPE tokenizer with a chat template.

    A word has the same tokens whatever precedes it, and a capital before a small letter is a mark
    and the small letter. So `overdraft limit`, `overdraft_limit` and `overdraftLimit` have the same
    word tokens, and a small model learns to copy names from one form to the other. A single space
    between two words takes no token; other separators have separate tokens. Digits are paired
    from the left. Every text without the two marks round-trips unchanged.

    Args:
        texts: Texts like those that the policy will read and write.
        vocabulary: Maximum number of tokens; a small corpus gives fewer.
        phrases: Minimum share of texts with a line for it to become a single token, of any length;
            0 for none. They take at most half of the vocabulary. Text that accompanies every task
            then costs almost nothing.
        pictures: Whether there is a token that stands for a picture.
    """
    from tokenizers import (
        AddedToken,
        Regex,
        Tokenizer,
        decoders,
        models,
        normalizers,
        pre_tokenizers,
        trainers,
    )
    from transformers import PreTrainedTokenizerFast

    raw = Tokenizer(models.BPE())
    capitals = [(x, _CAPITAL + x.lower()) for x in ascii_uppercase]
    raw.normalizer = normalizers.Sequence(
        [
            *(normalizers.Replace(Regex(f"{x}(?=[a-z])"), marked) for x, marked in capitals),
            *(
                normalizers.Replace(Regex(f"(?<![a-z0-9{_WORD}]){x}"), _WORD + x)
                for x in ascii_lowercase
            ),
            normalizers.Replace(Regex(f"(?<=[a-z0-9]) (?={_WORD})"), ""),
        ]
    )
    words = rf"{_WORD}?[a-z]+|[A-Z]+|\d{{1,2}}|[^A-Za-z\d{_WORD}]+"
    raw.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(words), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    raw.decoder = decoders.Sequence(
        [
            decoders.ByteLevel(),
            decoders.Replace(Regex(f"(?<=[a-z0-9]){_WORD}"), " "),
            decoders.Replace(_WORD, ""),
            *(decoders.Replace(marked, x) for x, marked in capitals),
        ]
    )
    texts = list(texts)
    lines = _phrases(texts, phrases)[: vocabulary // 2]
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary - len(lines) - pictures,
        special_tokens=list(_SPECIAL),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    raw.train_from_iterator(_without(texts, lines), trainer)
    raw.add_tokens([AddedToken(line, normalized=False) for line in lines])
    if pictures:
        raw.add_special_tokens([AddedToken(IMAGE_TOKEN, normalized=False)])
    tokenizer: Any = PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=raw,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        additional_special_tokens=["<|im_start|>"],
    )
    tokenizer.chat_template = CHAT_TEMPLATE
    return tokenizer


def word_pieces(tokenizer: Any, longest: int = 4) -> list[str]:
    """Return the short lowercase words and parts of words among a tokenizer's tokens, sorted."""
    tokens = {tokenizer.decode([number]) for number in range(len(tokenizer))}
    return sorted(
        t for t in tokens if len(t) <= longest and t.isascii() and t.islower() and t.isalpha()
    )


def _phrases(texts: Sequence[str], share: float) -> list[str]:
    """Return the lines that at least a share of the texts contain, the most frequent first.

    Lines of numbered lists are compared without their numbers.
    """
    if share <= 0:
        return []
    counts = Counter(line for text in texts for line in {*map(_unnumbered, text.split("\n"))})
    frequent = [
        line
        for line, count in counts.items()
        if count >= share * len(texts) and _APART.fullmatch(line)
    ]
    heads = [f"<|im_start|>{role}\n" for role in ("system", "user", "assistant")]
    return [*heads, *sorted(frequent, key=lambda line: (-counts[line], line))]


def _unnumbered(line: str) -> str:
    return _NUMBER.sub("", line, count=1)


def _without(texts: Sequence[str], phrases: Sequence[str]) -> Iterator[str]:
    """Yield the texts without these lines."""
    known = set(phrases)
    for text in texts:
        yield "\n".join(line for line in text.split("\n") if _unnumbered(line) not in known)


def make_model(shape: ModelShape, vocabulary: int, seed: int) -> Any:
    """Return an untrained Qwen3 of this shape.

    Embeddings and head are separate: some servers keep a stale copy of tied ones when weights are
    updated in place.

    Raises:
        ValueError: If the shape has no room for its induction heads.
    """
    import torch
    from transformers import Qwen3Config, Qwen3ForCausalLM

    from hexathlon.baselines.engines.local.front import add_front

    torch.manual_seed(seed)
    config = Qwen3Config(
        vocab_size=vocabulary,
        hidden_size=shape.width,
        intermediate_size=shape.feed_forward,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        num_key_value_heads=shape.kv_heads,
        head_dim=shape.head_width or shape.width // shape.heads,
        max_position_embeddings=shape.context,
        tie_word_embeddings=False,
        rope_parameters={"rope_type": "default", "rope_theta": shape.rope_theta},
        use_cache=False,
    )
    config._attn_implementation = "sdpa"
    model = Qwen3ForCausalLM(config)  # type: ignore[no-untyped-call]
    # The head starts as a copy of the embeddings, not tied to them, so that copying is the first
    # thing that attention can learn.
    with torch.no_grad():
        model.lm_head.weight.copy_(model.model.embed_tokens.weight)
    if shape.patches:
        add_front(model, shape.patches)
    if shape.induction:
        plant_induction(model, shape.induction)
    return model


def save_policy(path: Path, model: Any, tokenizer: Any) -> None:
    """Write a checkpoint directory atomically: an interrupted write leaves none at `path`."""
    import shutil

    from hexathlon.baselines.engines.local.loading import quiet

    quiet()
    part = path.with_name(path.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    model.save_pretrained(str(part))
    tokenizer.save_pretrained(str(part))
    shutil.rmtree(path, ignore_errors=True)
    part.rename(path)
