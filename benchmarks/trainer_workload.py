"""The workload for comparing trainers: model, prompts, reward, sizes.

Nothing of hexathlon is imported here, so that the peer's interpreter can read it too.
"""

from typing import Any

VOCABULARY, PAD, BEGIN, END = 259, 256, 257, 258
PROMPT, COMPLETION = 32, 64
GROUPS, MEMBERS = 8, 8
LEARNING_RATE = 1e-4


def make_model() -> Any:
    """Return an untrained Qwen3 of 1,017,600 parameters, identical on every machine."""
    import torch
    from transformers import Qwen3Config, Qwen3ForCausalLM

    torch.manual_seed(0)
    config = Qwen3Config(
        vocab_size=VOCABULARY,
        hidden_size=128,
        intermediate_size=512,
        num_hidden_layers=4,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=32,
        max_position_embeddings=512,
        tie_word_embeddings=True,
        pad_token_id=PAD,
        bos_token_id=BEGIN,
        eos_token_id=END,
    )
    return Qwen3ForCausalLM(config)


def prompts() -> list[str]:
    """Return 256 prompts of 32 bytes."""
    return [f"count {number:03d}: ".ljust(PROMPT, ".") for number in range(256)]


def reward(text: str) -> float:
    """Return the share of the letter a."""
    return text.count("a") / max(len(text), 1)


def encoded(text: str) -> list[int]:
    return list(text.encode())


def decoded(ids: list[int]) -> str:
    """Return the text of bytes as tokenizers decode them, without special tokens."""
    return bytes(token for token in ids if token < 256).decode(errors="replace")
