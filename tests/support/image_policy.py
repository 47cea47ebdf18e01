"""An untrained image-text model: a small Idefics3, which vLLM loads without torchvision."""

import json
from pathlib import Path
from typing import Any

from hexathlon.baselines.warmstart.initial import make_tokenizer
from support.policies import TEXTS

__all__ = ["IMAGE_TOKENS", "image_policy"]

_SIDE, _PATCH, _SHUFFLE = 224, 14, 2
IMAGE_TOKENS = (_SIDE // _PATCH // _SHUFFLE) ** 2
"""Number of tokens per image, whatever its size."""

_TEMPLATE = """{%- for message in messages -%}
<|im_start|>{{ message.role }}
{% if message.content is string %}{{ message.content }}{% else %}{% for part in message.content -%}
{% if part.type == "text" %}{{ part.text }}{% else %}<image>{% endif %}
{%- endfor %}{% endif %}<|im_end|>
{% endfor -%}
{%- if add_generation_prompt -%}<|im_start|>assistant
{% endif -%}"""


def image_policy(path: Path, context: int = 8_192) -> Path:
    """Write a checkpoint with random weights, a tokenizer and an image processor."""
    import torch
    from transformers import Idefics3Config, Idefics3ForConditionalGeneration

    tokenizer = make_tokenizer(TEXTS, 300)
    marks = ["<fake_token_around_image>", "<image>", "<end_of_utterance>", "<global-img>"]
    tokenizer.add_special_tokens({"additional_special_tokens": ["<|im_start|>", *marks]})
    tokenizer.chat_template = _TEMPLATE
    # Heads of 32, the smallest that vLLM supports on a CPU.
    text = {
        "model_type": "llama", "vocab_size": len(tokenizer), "hidden_size": 64, "head_dim": 32,
        "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 2,
        "num_key_value_heads": 1, "max_position_embeddings": context,
        "bos_token_id": None, "eos_token_id": tokenizer.eos_token_id,
        "pad_token_id": tokenizer.pad_token_id,
    }  # fmt: skip
    vision = {
        "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2,
        "num_attention_heads": 2, "image_size": _SIDE, "patch_size": _PATCH,
    }  # fmt: skip
    config = Idefics3Config(
        vision_config=vision, text_config=text, scale_factor=_SHUFFLE,
        image_token_id=tokenizer.convert_tokens_to_ids("<image>"),
        pad_token_id=tokenizer.pad_token_id,
    )  # fmt: skip
    torch.manual_seed(0)
    model: Any = Idefics3ForConditionalGeneration(config)
    with torch.no_grad():
        for weight in model.parameters():
            if weight.dim() > 1:
                weight.mul_(4.0)  # peaked distributions, so that differences are visible
    path.mkdir(parents=True)
    model.save_pretrained(str(path))
    tokenizer.save_pretrained(str(path))
    _write(path / "preprocessor_config.json", {
        "image_processor_type": "Idefics3ImageProcessor", "do_convert_rgb": True,
        "do_resize": True, "do_image_splitting": False, "do_rescale": True, "do_normalize": True,
        "do_pad": True, "rescale_factor": 1 / 255, "resample": 1,
        "size": {"longest_edge": _SIDE}, "max_image_size": {"longest_edge": _SIDE},
        "image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5],
    })  # fmt: skip
    _write(path / "processor_config.json", {
        "processor_class": "Idefics3Processor", "image_seq_len": IMAGE_TOKENS,
    })  # fmt: skip
    return path


def _write(path: Path, content: dict[str, Any]) -> None:
    path.write_text(json.dumps(content), encoding="utf-8")
