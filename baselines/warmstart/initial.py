"""A small policy from scratch: a tokenizer of an event's own words and an untrained model.

The tokenizer is byte-level BPE, so that nothing is ever unknown; the model has the shape of Qwen3.
Both are saved as any Hugging Face checkpoint is.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import ascii_lowercase, ascii_uppercase
from typing import Any

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
"""Marks a capital; of the private use area, so no text holds it."""

_WORD = "\ue001"
"""Marks where a word begins."""

_APART = re.compile(rf"[^a-z0-9{_CAPITAL}{_WORD}].{{6,}}[^A-Za-z0-9\s{_CAPITAL}{_WORD}]")
"""A line that begins and ends where no mark of a word is."""

_NUMBER = re.compile(r" *\d+\. ")
"""Before a line of a numbered list; the same line has other numbers elsewhere."""

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
    """Of one head; 0 shares the width among the heads."""

    feed_forward: int = 384
    context: int = 1024
    rope_theta: float = 10_000.0
    induction: int = 0
    """Tokens that heads which copy from the start compare; 0 begins without such heads. See
    `induction.py` for what the shape needs."""

    phrases: float = 0.0
    """Share of the texts in which a line has to stand for it to be one token; 0 makes none."""

    def __post_init__(self) -> None:
        if not 0 <= self.phrases <= 1:
            raise ValueError(f"phrases is a share of the texts, from 0 to 1; it is {self.phrases}")
        if self.induction < 0:
            raise ValueError(f"induction is a number of tokens, 0 or more; it is {self.induction}")


def make_tokenizer(texts: Iterable[str], vocabulary: int, phrases: float = 0.0) -> Any:
    """Train a byte-level BPE tokenizer with a chat template.

    A word is one token whatever stands before it, and a capital before a small letter is a mark
    and the small letter: so `overdraft limit`, `overdraft_limit` and `overdraftLimit` are told in
    the same words, and a small model learns to carry names from one to the other. A single blank
    between two words is no token; what else stands between them makes tokens of its own. Digits go
    in pairs from the left. Every text without the two marks comes back as it was.

    Args:
        texts: What the policy will read and write.
        vocabulary: Most tokens; a small corpus gives fewer.
        phrases: Share of the texts in which a line has to stand for it to be one token, whatever
            its length; 0 makes no such tokens. At most half of the vocabulary are such. What is
            said with every task, and who says it, is then read at next to no cost.
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
    whole = _phrases(texts, phrases)[: vocabulary // 2]
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary - len(whole),
        special_tokens=list(_SPECIAL),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    raw.train_from_iterator(_without(texts, whole), trainer)
    raw.add_tokens([AddedToken(phrase, normalized=False) for phrase in whole])
    made: Any = PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=raw,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        additional_special_tokens=["<|im_start|>"],
    )
    made.chat_template = CHAT_TEMPLATE
    return made


def word_pieces(tokenizer: Any, longest: int = 4) -> list[str]:
    """Return the short runs of letters among a tokenizer's tokens, each once, sorted."""
    told = {tokenizer.decode([number]) for number in range(len(tokenizer))}
    return sorted(
        t for t in told if len(t) <= longest and t.isascii() and t.islower() and t.isalpha()
    )


def _phrases(texts: Sequence[str], share: float) -> list[str]:
    """Return the lines that stand in at least a share of the texts, those in most first.

    The numbers of a list are left out of its lines.
    """
    if share <= 0:
        return []
    counts = Counter(line for text in texts for line in {*map(_unnumbered, text.split("\n"))})
    wanted = [
        line
        for line, count in counts.items()
        if count >= share * len(texts) and _APART.fullmatch(line)
    ]
    heads = [f"<|im_start|>{role}\n" for role in ("system", "user", "assistant")]
    return [*heads, *sorted(wanted, key=lambda line: (-counts[line], line))]


def _unnumbered(line: str) -> str:
    return _NUMBER.sub("", line, count=1)


def _without(texts: Sequence[str], phrases: Sequence[str]) -> Iterator[str]:
    """Yield the texts less these lines."""
    known = set(phrases)
    for text in texts:
        yield "\n".join(line for line in text.split("\n") if _unnumbered(line) not in known)


def make_model(shape: ModelShape, vocabulary: int, seed: int) -> Any:
    """Return an untrained Qwen3 of this shape.

    Embeddings and head are separate: some servers keep a stale copy of tied ones when weights are
    updated in place.

    Raises:
        ValueError: The shape has no room for the induction heads that it asks for.
    """
    import torch
    from transformers import Qwen3Config, Qwen3ForCausalLM

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
    # The head begins as a copy of the embeddings, not tied to them: to write what was read is then
    # the first thing that attention can learn.
    with torch.no_grad():
        model.lm_head.weight.copy_(model.model.embed_tokens.weight)
    if shape.induction:
        plant_induction(model, shape.induction)
    return model


def save_policy(path: Path, model: Any, tokenizer: Any) -> None:
    """Write a checkpoint directory; an interrupted write leaves none under the name."""
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
